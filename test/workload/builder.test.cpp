// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/builder.hpp"

#include "support/graphs.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace workload_builder_test {

using namespace weft;

static_assert(dataflow_workload<workload> && bidirectional_dataflow_graph<workload>);

template <class Range>
std::vector<std::uint32_t> list(const Range& range) {
  return {range.begin(), range.end()};
}

using id_list = std::vector<std::uint32_t>;
constexpr auto most = workload_builder::max_total_bytes;

/// Builds what the function adds.
template <class Fill>
workload built(Fill fill) {
  workload_builder b;
  fill(b);
  return std::move(b).build();
}

TEST_CASE("builder: a diamond with names, types and numbers") {
  workload_builder b;
  const auto x = b.add_op({.work = 1, .bytes = 10, .name = "x", .type = "Input"});
  const auto left = b.add_op({.work = 2, .bytes = 20, .resident_bytes = 5, .name = "left", .type = "Conv"});
  const auto right = b.add_op({.work = 3, .bytes = 30, .kinds = device_kind::gpu, .type = "Conv"});
  const auto y = b.add_op({.work = 4, .name = "y", .type = "Add"});
  b.add_edge(right, y);
  b.add_edge(x, right);
  b.add_edge(x, left);
  b.add_edge(left, y);
  CHECK(b.num_ops() == 4);
  CHECK(b[left].name == "left");
  const workload w = std::move(b).build();

  CHECK(w.num_ops() == 4);
  CHECK(w.num_tensors() == 3);
  CHECK(w.num_edges() == 4);
  CHECK(w.num_groups() == 0);
  CHECK(list(w.outputs(x)) == id_list{0});
  CHECK(list(w.outputs(y)).empty());
  CHECK(list(w.inputs(y)) == id_list{1, 2});
  CHECK(list(w.inputs(x)).empty());
  CHECK(list(w.consumers(0)) == id_list{1, 2});
  CHECK(w.producer(2) == right);
  CHECK(w.bytes(1) == 20);
  CHECK(w.work(y) == 4);
  CHECK(w.resident_bytes(left) == 5);
  CHECK(w.resident_bytes(x) == 0);
  CHECK(w.kinds(right) == kind_set{device_kind::gpu});
  CHECK(w.kinds(x).is_all());
  CHECK(w.group(x) == none);
  CHECK(w.name(left) == "left");
  CHECK(w.name(right).empty());
  CHECK(w.type(left) == "Conv");
  CHECK(w.type(right) == "Conv");
  CHECK(w.type(y) == "Add");
}

TEST_CASE("builder: a few names and types among many ops") {
  workload_builder b;
  for (op_id v = 0; v < 6; ++v) {
    b.add_op({.work = 1.0 + v,
              .bytes = v == 1 ? std::optional<byte_count>{7} : std::nullopt,
              .resident_bytes = 10 * v,
              .kinds = v == 4 ? kind_set{device_kind::gpu} : kind_set::all(),
              .name = v == 2 ? "named" : "",
              .type = v == 1 || v == 4 ? "b" : v == 3 ? "a" : ""});
  }
  CHECK(b.add_output(0, 9) == 0); // added later, so it is not what came with the op
  CHECK_FALSE(b[0].bytes.has_value());
  CHECK(b[1].bytes == byte_count{7});
  CHECK(b[1].work == 2);
  CHECK(b[4].resident_bytes == 40);
  CHECK(b[4].kinds == kind_set{device_kind::gpu});
  CHECK(b.kinds(4) == kind_set{device_kind::gpu});
  CHECK(b[1].type == "b");
  CHECK(b[3].type == "a");
  CHECK(b[5].type.empty());
  CHECK(b[2].name == "named");
  CHECK(b[5].name.empty());
  b.reserve_edges(1);
  b.add_edge(1, 5);
  const auto w = std::move(b).build();
  const std::vector<std::string> types{"", "b", "", "a", "b", ""};
  for (const op_id v : ids(6u)) {
    CHECK(w.name(v) == (v == 2 ? "named" : ""));
    CHECK(w.type(v) == types[v]);
    CHECK(w.resident_bytes(v) == 10 * v);
  }
  CHECK(w.bytes(0) == 9);
  CHECK(w.bytes(1) == 7);
  CHECK(list(w.consumers(1)) == id_list{5});
}

TEST_CASE("builder: without names and types there are none") {
  const auto w = built([](auto& b) { b.add_op({.work = 1}); });
  CHECK(w.name(0).empty());
  CHECK(w.type(0).empty());
}

TEST_CASE("builder: an op's outputs have consecutive ids, in whatever order they were added") {
  workload_builder b;
  const auto split = b.add_op({.work = 1, .bytes = 1});
  const auto other = b.add_op({.work = 1, .bytes = 2});
  CHECK(b.add_output(split, 3) == 1);
  CHECK(b.add_output(other, 4) == 1);
  CHECK(b.add_output(split, 5) == 2);
  const auto sink = b.add_op({.work = 1});
  CHECK(b.add_output(sink, 6) == 0);
  b.add_edge(split, sink, 2);
  b.add_edge(split, sink, 0);
  b.add_edge(other, sink, 1);
  b.add_edge(split, other, 2);
  const workload w = std::move(b).build();
  CHECK(list(w.outputs(split)) == id_list{0, 1, 2});
  CHECK(list(w.outputs(other)) == id_list{3, 4});
  CHECK(list(w.outputs(sink)) == id_list{5});
  std::vector<byte_count> bytes;
  for (const tensor_id t : ids(w.num_tensors())) {
    bytes.push_back(w.bytes(t));
  }
  CHECK(bytes == std::vector<byte_count>{1, 3, 5, 2, 4, 6});
  CHECK(list(w.inputs(sink)) == id_list{0, 2, 4}); // two tensors of one op
  CHECK(list(w.consumers(2)) == id_list{1, 2});
  CHECK(list(w.consumers(1)).empty());
  CHECK(w.producer(4) == other);
}

TEST_CASE("builder: control edges of an op share one tensor of no bytes") {
  workload_builder b;
  const auto x = b.add_op({.work = 1, .bytes = 7});
  const auto y = b.add_op({.work = 1});
  const auto z = b.add_op({.work = 1});
  b.add_control_edge(x, y);
  b.add_control_edge(x, z);
  b.add_control_edge(y, z);
  b.add_edge(x, z);
  const workload w = std::move(b).build();
  CHECK(w.num_tensors() == 3);
  CHECK(w.bytes(1) == 0);
  CHECK(w.bytes(2) == 0);
  CHECK(list(w.consumers(1)) == id_list{1, 2});
  CHECK(list(w.inputs(z)) == id_list{0, 1, 2});
  CHECK(w.producer(2) == y);
}

TEST_CASE("builder: groups are joined transitively and numbered by their smallest op") {
  workload_builder b;
  for (int v = 0; v < 8; ++v) {
    b.add_op({.work = 1, .kinds = v == 2 ? kind_set{device_kind::gpu} : kind_set::all()});
  }
  b.colocate(6, 3);
  b.colocate(7, 2);
  b.colocate(5, 7);
  b.colocate(2, 5);
  b.colocate(4, 4); // alone, so no group
  const workload w = std::move(b).build();
  CHECK(w.num_groups() == 2);
  std::vector<group_id> groups;
  for (const op_id v : ids(w.num_ops())) {
    groups.push_back(w.group(v));
  }
  CHECK(groups == std::vector<group_id>{none, none, 0, 1, none, 0, 1, 0});
}

TEST_CASE("builder: a workload is a graph in both directions") {
  rng random{12};
  for (int round = 0; round < 30; ++round) {
    const std::size_t n = random.below(15) + 1u;
    auto arcs = test::random_dag(n, 0.4, random);
    random.shuffle(arcs);
    workload_builder b;
    for (std::size_t v = 0; v < n; ++v) {
      const auto id = b.add_op({.work = 1});
      for (auto outputs = random.below(3) + 1; outputs > 0; --outputs) {
        b.add_output(id, random.below(100));
      }
    }
    std::vector<std::uint32_t> num_outputs;
    for (const auto& [u, v] : arcs) {
      b.add_edge(u, v, 0);
    }
    const workload w = std::move(b).build();
    test::arcs out;
    test::arcs in;
    for (const op_id v : ids(n)) {
      for (const auto& e : weft::out_edges(w, v)) {
        CHECK(weft::source(w, e) == v);
        CHECK(w.producer(e.tensor) == v);
        CHECK(std::ranges::count(w.consumers(e.tensor), weft::target(w, e)) == 1);
        out.push_back({v, weft::target(w, e)});
      }
      for (const auto& e : weft::in_edges(w, v)) {
        CHECK(weft::target(w, e) == v);
        CHECK(std::ranges::count(w.inputs(v), e.tensor) == 1);
        in.push_back({weft::source(w, e), v});
      }
    }
    const auto key = [](const graph::arc& a) { return std::pair{a.source, a.target}; };
    std::ranges::sort(arcs, {}, key);
    std::ranges::sort(out, {}, key);
    std::ranges::sort(in, {}, key);
    CHECK(out == arcs);
    CHECK(in == arcs);
  }
}

TEST_CASE("builder: edges of several outputs say which tensor they carry") {
  workload_builder b;
  const auto x = b.add_op({.work = 1}); // no output: nothing to walk
  const auto y = b.add_op({.work = 1, .bytes = 1});
  b.add_output(y, 2);
  b.add_output(y, 3);
  const auto z = b.add_op({.work = 1});
  b.add_edge(y, x, 2);
  b.add_edge(y, z, 2);
  b.add_edge(y, z, 0);
  const workload w = std::move(b).build();
  std::vector<flow_edge> edges;
  for (const auto& e : w.out_edges(y)) {
    edges.push_back(e);
  }
  CHECK(edges == std::vector<flow_edge>{{y, z, 0}, {y, x, 2}, {y, z, 2}});
  CHECK(w.out_edges(x).begin() == w.out_edges(x).end());
}

TEST_CASE("builder: an empty workload") {
  const auto w = built([](auto&) {});
  CHECK(w.num_ops() == 0);
  CHECK(w.num_tensors() == 0);
  CHECK(workload{}.num_ops() == 0);
}

TEST_CASE("builder: numbers that make no sense are refused, and the op is named") {
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    workload_builder b;
    b.add_op({.work = 1});
    CHECK_THROWS_WITH_AS(b.add_op({.work = bad, .name = "conv"}), "op 1 'conv': work: must be finite and not negative",
                         value_error);
  }
  workload_builder b;
  CHECK_THROWS_WITH_AS(b.add_op({.bytes = static_cast<byte_count>(-4)}),
                       "op 0: bytes: 18446744073709551612 bytes is too large (was a negative number converted?)",
                       value_error);
  CHECK_THROWS_WITH_AS(b.add_op({.resident_bytes = most + 1, .name = "w"}),
                       "op 0 'w': resident_bytes: 4611686018427387904 bytes is too large (was a negative number "
                       "converted?)",
                       value_error);
  b.add_op({.work = 1, .bytes = 1, .name = "x"});
  CHECK_THROWS_WITH_AS(b.add_output(0, most + 1),
                       "op 0 'x': output 1: 4611686018427387904 bytes is too large (was a negative number converted?)",
                       value_error);
  CHECK_THROWS_WITH_AS(b.add_op({.kinds = {}, .name = "y"}), "op 1 'y': allows no device kind at all",
                       constraint_error);
}

TEST_CASE("builder: a refused op leaves nothing behind") {
  workload_builder b;
  CHECK_THROWS_AS(b.add_op({.bytes = 8, .resident_bytes = most + 1}), value_error);
  CHECK(b.num_ops() == 0);
  b.add_op({.work = 1, .bytes = 16});
  const workload w = std::move(b).build();
  CHECK(w.num_tensors() == 1);
  CHECK(w.bytes(0) == 16);
}

TEST_CASE("builder: totals that overflow are refused") {
  CHECK_NOTHROW(built([](auto& b) { b.add_op({.bytes = most / 2, .resident_bytes = most / 2}); }));
  CHECK_THROWS_AS(built([](auto& b) {
                    b.add_op({.bytes = most});
                    b.add_op({.resident_bytes = most});
                  }),
                  value_error);
  // A tensor counts again for every consumer, for each may sit on a device of its own.
  CHECK_THROWS_WITH_AS(built([](auto& b) {
                         b.add_op({.bytes = most / 2});
                         for (op_id v = 1; v <= 2; ++v) {
                           b.add_op({});
                           b.add_edge(0, v);
                         }
                       }),
                       "workload: the bytes of all ops and tensors together overflow 2^62", value_error);
  CHECK_THROWS_WITH_AS(built([](auto& b) {
                         b.add_op({.work = 1e308});
                         b.add_op({.work = 1e308});
                       }),
                       "workload: the work of all ops together is not a finite number", value_error);
}

TEST_CASE("builder: references to nothing are refused, and the call is named") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 1, .name = "a"});
  b.add_op({.work = 1});
  CHECK_THROWS_WITH_AS(b.add_edge(2, 1), "add_edge: there is no op 2: the workload has only the ops 0 to 1",
                       dangling_id_error);
  CHECK_THROWS_WITH_AS(b.add_edge(0, 9), "add_edge: there is no op 9: the workload has only the ops 0 to 1",
                       dangling_id_error);
  CHECK_THROWS_WITH_AS(b.add_edge(none, 1), "add_edge: there is no op -1: the workload has only the ops 0 to 1",
                       dangling_id_error);
  CHECK_THROWS_WITH_AS(b.add_control_edge(2, 0),
                       "add_control_edge: there is no op 2: the workload has only the ops 0 to 1",
                       dangling_id_error);
  CHECK_THROWS_AS(b.add_control_edge(0, 2), dangling_id_error);
  CHECK_THROWS_WITH_AS(b.colocate(0, 2), "colocate: there is no op 2: the workload has only the ops 0 to 1",
                       dangling_id_error);
  CHECK_THROWS_AS(b.colocate(2, 0), dangling_id_error);
  CHECK_THROWS_WITH_AS(b.add_output(2, 1), "add_output: there is no op 2: the workload has only the ops 0 to 1",
                       dangling_id_error);
  CHECK_THROWS_WITH_AS(b.add_edge(1, 0),
                       "edge op 1 -> op 0 'a': the producer has no output 0: give it `bytes` or call add_output first",
                       dangling_id_error);
  CHECK_THROWS_WITH_AS(b.add_edge(0, 1, 1),
                       "edge op 0 'a' -> op 1: the producer has no output 1: give it `bytes` or call add_output first",
                       dangling_id_error);
}

TEST_CASE("builder: an edge given twice is refused, and both ends are named") {
  try {
    (void)built([](auto& b) {
      b.add_op({.bytes = 1, .name = "a"});
      b.add_op({.bytes = 1, .name = "b"});
      b.add_op({});
      b.add_edge(0, 1);
      b.add_edge(1, 2);
      b.add_edge(0, 1);
    });
    FAIL("accepted a duplicate edge");
  } catch (const duplicate_edge_error& e) {
    CHECK(e.source == 0);
    CHECK(e.target == 1);
    CHECK(std::string{e.what()} ==
          "duplicate edge op 0 'a' -> op 1 'b': list each consumer of a tensor once");
  }
}

TEST_CASE("builder: a cycle is refused, and its ops are named") {
  try {
    (void)built([](auto& b) {
      for (const char* name : {"in", "a", "b", "out"}) {
        b.add_op({.bytes = 1, .name = name});
      }
      b.add_edge(0, 1);
      b.add_edge(1, 2);
      b.add_control_edge(2, 1);
      b.add_edge(2, 3);
    });
    FAIL("accepted a cycle");
  } catch (const cycle_error& e) {
    CHECK(e.ops == std::vector<op_id>{1, 2});
    CHECK(std::string{e.what()} == "the graph has a cycle: op 1 'a' -> op 2 'b' -> op 1 'a'; a dataflow graph must be "
                                   "acyclic (unroll loops first)");
  }
}

TEST_CASE("builder: a group without a common kind is refused, and those who disagree are named") {
  try {
    (void)built([](auto& b) {
      b.add_op({.kinds = device_kind::cpu, .name = "var"});
      b.add_op({.name = "anywhere"});
      b.add_op({.kinds = kind_set{device_kind::gpu} | device_kind::tpu});
      b.add_op({.kinds = device_kind::gpu, .name = "free"});
      b.colocate(0, 1);
      b.colocate(1, 2);
    });
    FAIL("accepted a group that can be nowhere");
  } catch (const constraint_error& e) {
    CHECK(e.ops == std::vector<op_id>{0, 1, 2});
    CHECK(std::string{e.what()} == "colocated ops allow no common device kind: op 0 'var' (cpu), op 2 (gpu|tpu)");
  }
}

TEST_CASE("workload: other kinds for its ops") {
  workload_builder b;
  for (int v = 0; v < 3; ++v) {
    b.add_op({.work = 1, .bytes = 4, .name = "op" + std::to_string(v), .type = "T"});
  }
  b.add_edge(0, 1);
  b.colocate(1, 2);
  const auto w = std::move(b).build();
  const kind_set cpu = device_kind::cpu, gpu = device_kind::gpu;
  const std::vector<kind_set> kinds{gpu, cpu | gpu, cpu};
  const auto made = w.with_kinds(kinds);
  for (const op_id v : ids(3u)) {
    CHECK(made.kinds(v) == kinds[v]);
    CHECK(w.kinds(v).is_all());
    CHECK(made.name(v) == w.name(v));
    CHECK(made.group(v) == w.group(v));
  }
  CHECK(made.num_edges() == 1);
  CHECK_THROWS_AS(w.with_kinds(std::vector<kind_set>{gpu}), value_error);
  CHECK_THROWS_AS(w.with_kinds(std::vector<kind_set>{gpu, gpu, cpu}), constraint_error);
  CHECK_THROWS_AS(w.with_kinds(std::vector<kind_set>{{}, gpu, gpu}), constraint_error);
}

} // namespace workload_builder_test
