// SPDX-License-Identifier: BSL-1.0
#include "json_samples.hpp"
#include "support.hpp"

#include "weft/io/json_plan.hpp"

#include <doctest/doctest.h>

#include <string>

namespace io_json_plan_test {

namespace io = weft::io;
using weft_test::text_of;

template <class Read>
void check_refused(const std::vector<weft_test::wrong_file>& samples, const Read& read) {
  for (const auto& sample : samples) {
    const auto e = weft_test::parse_error_of([&] {
      std::istringstream in{sample.text};
      (void)read(in);
    });
    const std::string what = e.what();
    CAPTURE(sample.name);
    CAPTURE(what);
    CHECK(e.line == sample.line);
    CHECK(what.find("x.json:" + std::to_string(sample.line) + ": " + sample.path) == 0);
    CHECK(what.find(sample.phrase) != std::string::npos);
  }
}

TEST_CASE("json_plan: every wrong file is refused with file, line, path and reason") {
  check_refused(weft_test::wrong_plans(), [](std::istream& in) { return io::read_plan_json(in, "x.json"); });
  check_refused(weft_test::wrong_traces(), [](std::istream& in) { return io::read_trace_json(in, "x.json"); });
}

TEST_CASE("json_plan: random plans come back as they were written") {
  weft::rng random{3};
  for (int i = 0; i < 200; ++i) {
    weft::plan p;
    const auto n = random.below(60);
    for (weft::op_id v = 0; v < n; ++v) {
      p.placement.push_back(random.below(9) == 0 ? weft::none : random.below(5));
      p.order.push_back(weft::step::run(v));
      if (random.below(3) == 0) {
        p.order.push_back(weft::step::send(v, random.below(100), random.below(5)));
      }
    }
    random.shuffle(p.order);
    if (random.below(4) == 0) {
      p.order.clear();
    }
    const auto text = text_of([&](std::ostream& out) { io::write_plan_json(out, p); });
    std::istringstream in{text};
    const auto again = io::read_plan_json(in);
    REQUIRE(again == p);
    CHECK(text_of([&](std::ostream& out) { io::write_plan_json(out, again); }) == text);
  }
}

TEST_CASE("json_plan: what is told of a plan comes back to the last digit, whatever the texts hold") {
  io::plan_record r{.plan = {{0, 1, weft::none}, {weft::step::run(2), weft::step::run(0), weft::step::run(1)}},
                    .ops = {"", "\"quoted\\\n\"", "naïve"},
                    .devices = {"gpu0", "gpu0"},
                    .origin = io::plan_origin{.weft = "0.1.0",
                                              .model = "net.onnx",
                                              .model_format = "ONNX",
                                              .model_sha256 = "ab",
                                              .platform = "a \"platform\"",
                                              .options = {{"ba\"tch", {"32", ""}}, {"train", {}}},
                                              .notes = {"one", "two"},
                                              .objective = "energy",
                                              .value = 1.0 / 3,
                                              .unit = "J",
                                              .step_seconds = 0.1 + 0.2}};
  const auto text = text_of([&](std::ostream& out) { io::write_plan_json(out, r); });
  std::istringstream in{text};
  CHECK(io::read_plan_record_json(in) == r);
  r.ops[1] = "\xff";
  std::istringstream lossy{text_of([&](std::ostream& out) { io::write_plan_json(out, r); })};
  CHECK(io::read_plan_record_json(lossy).ops[1] == "\xef\xbf\xbd");
}

TEST_CASE("json_plan: random traces come back as they were written") {
  weft::rng random{4};
  for (int i = 0; i < 100; ++i) {
    weft::trace t;
    t.makespan = random.uniform(0, 1e6);
    const auto n = random.below(30);
    for (weft::op_id v = 0; v < n; ++v) {
      t.ops.push_back(
        {random.below(9) == 0 ? weft::none : random.below(5), random.uniform(0, 1), random.uniform(1, 1e9)});
      t.transfers.push_back(
        {v, random.below(5), random.below(5), random.uniform(), random.uniform(), 3, random.uniform()});
    }
    std::istringstream in{text_of([&](std::ostream& out) { io::write_trace_json(out, t); })};
    REQUIRE(io::read_trace_json(in) == t);
  }
}

} // namespace io_json_plan_test
