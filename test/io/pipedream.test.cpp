// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/pipedream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace io_pipedream_test {

using namespace weft;

std::string layer(const std::string& id, const std::string& description, double forward, double backward,
                  const std::string& activation, int parameters, const std::string& more = "") {
  return id + " -- " + description + " -- forward_compute_time=" + std::to_string(forward) +
         ", backward_compute_time=" + std::to_string(backward) + ", activation_size=" + activation +
         ", parameter_size=" + std::to_string(parameters) + ".000" + more + "\n";
}

const std::string lstm = layer("node1", "Input0", 0, 0, "8.0", 0) +
                         layer("node2", "LSTM(4, 2)", 1.5, 2.5, "[64.0; 16.0; 8.5]", 128, " -- stage_id=1") +
                         layer("node3", "__getitem__(1)", 0, 0, "16.0", 0) +
                         layer("node4", "Linear(a -- b)", 0.25, 0.5, "4.0", 32) +
                         "\tnode1 -- node2\n\tnode2 -- node3\n\tnode3 -- node4\n\tnode2 -- node4";

model read(const std::string& text, io::pipedream_reader how = {}) {
  return how.read(text, "g.txt");
}

/// `producer>consumer:bytes` in the order of the tensors.
std::string edges_of(const workload& w) {
  std::string text;
  for (const tensor_id t : ids(w.num_tensors())) {
    for (const op_id c : w.consumers(t)) {
      text += (text.empty() ? "" : " ") + std::to_string(w.producer(t)) + ">" + std::to_string(c) + ":" +
              std::to_string(w.bytes(t));
    }
  }
  return text;
}

TEST_CASE("pipedream: an op per layer with the time of both passes") {
  CHECK(io::pipedream_reader::recognises(lstm));
  const auto m = read(lstm);
  REQUIRE(m.ops.num_ops() == 4);
  CHECK(m.ops.name(1) == "node2");
  CHECK(m.ops.type(1) == "LSTM");
  CHECK(m.ops.type(3) == "Linear");
  CHECK(m.ops.work(1) == doctest::Approx(0.004));
  CHECK(m.seconds == std::vector<double>{m.ops.work(0), m.ops.work(1), m.ops.work(2), m.ops.work(3)});
  CHECK(m.measured_on == kind_set{device_kind::gpu});
  CHECK(m.ops.resident_bytes(1) == 128);
  CHECK(edges_of(m.ops) == "0>1:8 1>3:64 1>2:16 1>3:16 1>3:9 2>3:16");
  CHECK(m.notes.size() == 2); // the second tells of stages
}

TEST_CASE("pipedream: backward ops mirror the layers") {
  const auto m = read(lstm, {.backward_ops = true});
  REQUIRE(m.ops.num_ops() == 8);
  CHECK(m.ops.name(5) == "node2/backward");
  CHECK(m.ops.work(1) == doctest::Approx(0.0015));
  CHECK(m.ops.work(5) == doctest::Approx(0.0025));
  CHECK(m.ops.group(1) == m.ops.group(5));
  CHECK(m.ops.group(1) != m.ops.group(0));
  CHECK(m.ops.resident_bytes(5) == 0);
  CHECK(std::accumulate(m.seconds.begin(), m.seconds.end(), 0.0) == doctest::Approx(0.00475));
  const auto has = [&](op_id from, op_id to, byte_count bytes) {
    return std::ranges::any_of(m.ops.inputs(to),
                               [&](tensor_id t) { return m.ops.producer(t) == from && m.ops.bytes(t) == bytes; });
  };
  CHECK(has(3, 7, 4));  // what the layer made
  CHECK(has(1, 7, 64)); // what it read
  CHECK(has(7, 5, 64)); // gradients of what it read
  CHECK(has(7, 5, 9));
  CHECK(has(6, 5, 16));
  CHECK(has(5, 4, 8));
  CHECK_FALSE(has(6, 5, 64)); // the element reads one activation only
  CHECK_FALSE(has(1, 6, 64));
}

TEST_CASE("pipedream: what cannot be read says where and why") {
  const auto one = layer("a", "X", 1, 1, "1", 1);
  struct sample {
    std::string text;
    std::string error;
  };
  std::string many = layer("s", "X", 1, 1, "[" + std::string(40'000, ' ') + "1", 1);
  std::string sizes = "1";
  for (int i = 0; i < 5000; ++i) {
    sizes += ";1";
  }
  std::string wide = layer("s", "X", 1, 1, "[" + sizes + "]", 1);
  for (int i = 0; i < 100; ++i) {
    wide += layer("t" + std::to_string(i), "Y", 1, 1, "1", 1) + "s -- t" + std::to_string(i) + "\n";
  }
  for (const auto& [text, error] : {
         sample{"", "there is no layer"},
         sample{"hello\n", "g.txt:1: expected 'node -- description -- forward_compute_time=...' or an edge"},
         sample{one + "a -- b c\n", "g.txt:2: expected an edge 'node -- node', got 'a -- b c'"},
         sample{one + "\ta -- b\n", "g.txt:2: there is no layer 'b'"},
         sample{one + one, "g.txt:2: layer 'a' was already described on line 1"},
         sample{one + layer("b", "X", 1, 1, "1", 1) + "\ta -- b\n\ta -- b\n",
                "g.txt:4: the edge was already listed on line 3"},
         sample{one + layer("b", "X", 1, 1, "1", 1) + "\ta -- b\n\tb -- a\n",
                "g.txt:1: the layers form a cycle: a -> b -> a"},
         sample{one + "\ta -- a\n", "the layers form a cycle: a -> a"},
         sample{layer("a", "X", -1, 1, "1", 1), "forward_compute_time '-1.000000' is negative"},
         sample{layer("a", "X", 1, 1, "[1; 2", 1), "the list of activation sizes does not end"},
         sample{layer("a", "X", 1, 1, "[1;]", 1), "activation_size is empty"},
         sample{layer("a", "X", 1, 1, "1e300", 1), "activation_size '1e300' is too large"},
         sample{"a -- X -- forward_compute_time=1, depth=3\n", "unknown value 'depth=3'"},
         sample{"a -- X -- forward_compute_time=1\n", "a value is missing"},
         sample{wide, "the activations that all edges carry are too many"},
         sample{many, "the list of activation sizes does not end"},
       }) {
    const std::string what = weft_test::parse_error_of([&] { (void)read(text); }).what();
    CHECK_MESSAGE(what.find(error) != std::string::npos, what);
    CHECK(what.find('\n') == std::string::npos);
    CHECK_THROWS_AS((void)read(text, {.backward_ops = true}), weft::parse_error);
  }
}

} // namespace io_pipedream_test
