// SPDX-License-Identifier: BSL-1.0
#include "json_samples.hpp"
#include "support.hpp"

#include "weft/graph/adjacency.hpp"
#include "weft/io/json_workload.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <doctest/doctest.h>

#include <string>

namespace io_json_workload_test {

namespace io = weft::io;
using weft_test::text_of;

weft::workload workload_of(const std::string& text) {
  std::istringstream in{text};
  return io::read_workload_json(in, "w.json");
}

TEST_CASE("json_workload: a file as people write it") {
  const auto w = workload_of(R"({
    "$schema": "weft.workload.schema.json", "description": "two layers",
    "format": "weft.workload", "version": 1,
    "ops": [
      {"name": "loss", "work": 1e3, "inputs": ["layer", ["layer", 1], 2]},
      {"name": "layer", "type": "MatMul", "work": 2.5, "resident_bytes": 4e6, "slots": 4, "outputs": [4096, 0],
       "group": "g"},
      {"outputs": [8], "kinds": ["CPU", "kind9"], "group": 1},
      {"group": "g", "kinds": ["gpu"]},
      {"group": "1"}
    ]})");
  REQUIRE(w.num_ops() == 5);
  CHECK(w.num_edges() == 3);
  CHECK(w.num_tensors() == 3);
  CHECK(w.name(0) == "loss");
  CHECK(w.name(2).empty());
  CHECK(w.type(1) == "MatMul");
  CHECK(w.work(0) == 1000);
  CHECK(w.work(2) == 0);
  CHECK(w.resident_bytes(1) == 4'000'000);
  CHECK(w.slots(0) == 1);
  CHECK(w.slots(1) == 4);
  CHECK(w.bytes(0) == 4096);
  CHECK(w.bytes(1) == 0);
  CHECK(w.inputs(0).size() == 3);
  CHECK(w.kinds(2) == (weft::kind_set{weft::device_kind::cpu} | static_cast<weft::device_kind>(9)));
  CHECK(w.kinds(1).is_all());
  CHECK(w.num_groups() == 1); // 1 and "1" are different labels, and a group of one op is none
  CHECK(w.group(3) == w.group(1));
  CHECK(w.group(4) == weft::none);
}

TEST_CASE("json_workload: slots come back") {
  weft::workload_builder b;
  b.add_op({.work = 1});
  b.add_op({.work = 1, .slots = 4});
  const auto w = std::move(b).build();
  CHECK(weft_test::same(workload_of(weft_test::text_of([&](auto& out) { io::write_workload_json(out, w); })), w));
}

TEST_CASE("json_workload: roles come back, and are written where names and types do not say them") {
  weft::workload_builder b;
  b.add_op({.work = 1, .name = "mul_", .role = weft::op_role::update});
  b.add_op({.work = 1, .name = "mm", .role = weft::op_role::parameter_gradient});
  b.add_op({.work = 1, .name = "gradients/a", .role = weft::op_role::forward});
  b.add_op({.work = 1, .name = "gradients/b"});
  b.add_op({.work = 1, .name = "c"});
  const auto w = std::move(b).build();
  const auto text = weft_test::text_of([&](auto& out) { io::write_workload_json(out, w); });
  const auto again = workload_of(text);
  for (const weft::op_id v : weft::ids(w.num_ops())) {
    CHECK(again.role(v) == w.role(v));
  }
  std::size_t written = 0;
  for (auto at = text.find("\"role\""); at != text.npos; at = text.find("\"role\"", at + 1)) {
    ++written;
  }
  CHECK(written == 3);
}

TEST_CASE("json_workload: every wrong file is refused with file, line, path and reason") {
  for (const auto& sample : weft_test::wrong_workloads()) {
    const auto e = weft_test::parse_error_of([&] { (void)workload_of(sample.text); });
    const std::string what = e.what();
    CAPTURE(sample.name);
    CAPTURE(what);
    CHECK(e.file == "w.json");
    CHECK(e.line == sample.line);
    CHECK(what.find("w.json:" + std::to_string(sample.line) + ": " + sample.path) == 0);
    CHECK(what.find(sample.phrase) != std::string::npos);
  }
}

TEST_CASE("json_workload: what is not JSON is refused with its line") {
  struct wrong {
    std::string text;
    std::size_t line;
    std::string phrase;
  };
  for (const auto& [text, line, phrase] : {
         wrong{"", 1, "not valid JSON: syntax error"},
         wrong{"{\n\"format\": \"weft.workload\"\n\"version\": 1}", 3, "not valid JSON: syntax error"},
         wrong{"{\n\n\"a\": [1,\n2,]}", 4, "not valid JSON: syntax error"},
         wrong{"{\n\"a\": \"\xff\"}", 2, "not valid JSON"},
         wrong{"{\n\"a\": \"b\nc\"}", 2, "not valid JSON"},
         wrong{"{\n\"a\": [1,\n1e999]}", 3, "the number 1e999 is out of the range of a double"},
         wrong{"{\n\"a\": 1,\n\"b\": {\"a\": \"a\"}, \"c\": [\"a\", \"a\"],\n\"a\": 2}", 4,
               "the key \"a\" is given twice"},
       }) {
    const auto e = weft_test::parse_error_of([&] { (void)workload_of(text); });
    const std::string what = e.what();
    CAPTURE(what);
    CHECK(e.line == line);
    CHECK(what.find("w.json:" + std::to_string(line) + ": ") == 0);
    CHECK(what.find(phrase) != std::string::npos);
    CHECK(what.find('\n') == std::string::npos);
  }
}

TEST_CASE("json_workload: what is wrong with the graph as a whole is nested in the parse error") {
  const auto nested = [](const std::string& ops) {
    try {
      (void)workload_of(weft_test::workload_with(ops));
    } catch (const weft::parse_error& e) {
      std::rethrow_if_nested(e);
    }
  };
  CHECK_THROWS_AS(nested("{\"outputs\": [1], \"inputs\": [0]}"), weft::cycle_error);
  CHECK_THROWS_AS(nested("{\"kinds\": [\"cpu\"], \"group\": 1}, {\"kinds\": [\"gpu\"], \"group\": 1}"),
                  weft::constraint_error);
  CHECK_THROWS_AS(nested("{\"work\": 1.5e308}, {\"work\": 1.5e308}"), weft::value_error);
}

TEST_CASE("json_workload: random workloads come back as they were written") {
  weft::rng random{11};
  for (int i = 0; i < 300; ++i) {
    const auto w = weft_test::random_workload(random);
    const auto text = text_of([&](std::ostream& out) { io::write_workload_json(out, w); });
    CAPTURE(text);
    const auto again = workload_of(text);
    REQUIRE(weft_test::same(w, again));
    CHECK(text_of([&](std::ostream& out) { io::write_workload_json(out, again); }) == text);
  }
  const auto empty = text_of([](std::ostream& out) { io::write_workload_json(out, weft::workload{}); });
  CHECK(workload_of(empty).num_ops() == 0);
}

TEST_CASE("json_workload: names that are not UTF-8 do not make a file unreadable") {
  weft::workload_builder b;
  b.add_op({.bytes = 1, .name = "a\xff"});
  b.add_op({.bytes = 2, .name = "a\xfe"});
  b.add_op({.bytes = 4});
  b.add_edge(0, 2);
  b.add_edge(1, 2);
  const auto w = std::move(b).build();
  const auto again = workload_of(text_of([&](std::ostream& out) { io::write_workload_json(out, w); }));
  CHECK(again.name(1) == "a\xef\xbf\xbd");
  CHECK(again.inputs(2).size() == 2);
}

TEST_CASE("json_workload: writes any type of workload") {
  const std::vector<std::vector<weft::op_id>> g{{1, 2}, {2}, {}};
  const std::vector<double> work{1, 2, 3};
  const std::vector<weft::byte_count> bytes{4, 5, 6};
  const weft::annotated_graph w{g, {.work = work, .bytes = bytes}};
  const auto again = workload_of(text_of([&](std::ostream& out) { io::write_workload_json(out, w); }));
  CHECK(again.num_edges() == 3);
  CHECK(again.bytes(1) == 5);
  CHECK(again.work(2) == 3);
}

TEST_CASE("json_workload: damaged files are read or refused, nothing else") {
  weft::rng random{19};
  for (int i = 0; i < 400; ++i) {
    const auto w = weft_test::random_workload(random);
    const auto text = weft_test::damaged(random, text_of([&](std::ostream& out) { io::write_workload_json(out, w); }));
    CHECK(weft_test::reads_or_refuses(workload_of, text));
  }
}

} // namespace io_json_workload_test
