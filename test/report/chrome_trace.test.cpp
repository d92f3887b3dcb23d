// SPDX-License-Identifier: BSL-1.0
#include "weft/report/chrome_trace.hpp"

#include "weft/core/random.hpp"
#include "weft/platform/archetype.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/archetype.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace report_chrome_trace_test {

using namespace weft;
using json = nlohmann::json;

template <class W, class P>
json events(const trace& t, const W& w, const P& p, report::chrome_trace_options options = {}) {
  std::ostringstream out;
  report::write_chrome_trace(out, t, w, p, options);
  return json::parse(out.str())["traceEvents"];
}

/// Nanoseconds as Perfetto computes them: the product, cut off.
std::int64_t cut(const json& microseconds) {
  return static_cast<std::int64_t>(microseconds.get<double>() * 1000.0);
}

/// Checks what holds for every trace: time ascends, and slices of one track do not overlap, in whole nanoseconds.
void check_tracks(const json& all) {
  std::map<std::pair<int, int>, std::int64_t> free_from;
  std::set<std::pair<int, int>> named;
  double last = 0;
  for (const auto& e : all) {
    if (e["ph"] == "M") {
      if (e["name"] == "thread_name") {
        CHECK(named.emplace(e["pid"], e["tid"]).second);
      }
      continue;
    }
    CHECK(e["ts"].get<double>() >= last);
    last = e["ts"];
    CHECK(named.contains({e["pid"], e["tid"]}));
    if (e["ph"] == "X") {
      auto& end = free_from[{e["pid"], e["tid"]}];
      CHECK(cut(e["ts"]) >= end);
      end = cut(e["ts"]) + cut(e["dur"]);
    }
  }
}

std::size_t count(const json& all, const char* key, const char* value) {
  std::size_t n = 0;
  for (const auto& e : all) {
    n += e.contains(key) && e[key] == value ? 1u : 0u;
  }
  return n;
}

const json& find(const json& all, const char* name, const char* category) {
  for (const auto& e : all) {
    if (e["name"] == name && e.value("cat", "") == category) {
      return e;
    }
  }
  FAIL("no such event");
  return all;
}

TEST_CASE("chrome trace: ops, sends, transfers, names and arrows") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 64, .name = "a \"quoted\"", .type = "MatMul"});
  b.add_op({.work = 1, .name = "b"});
  b.add_op({.work = 1, .name = "c"});
  b.add_edge(0, 1);
  b.add_edge(0, 2);
  const auto w = std::move(b).build();
  platform p{std::vector<device>(2), link_matrix{2}};
  p.set_names({"left", "right"});
  trace t;
  t.ops = {{0, 0, .5}, {0, .75, 1}, {1, 2, 3}};
  t.transfers = {{.tensor = 0, .from = 0, .to = 1, .send_start = .5, .send_finish = .75, .start = .75, .arrival = 2}};
  t.makespan = 3;

  const auto all = events(t, w, p);
  check_tracks(all);
  CHECK(count(all, "ph", "X") == 5);
  CHECK(count(all, "cat", "op") == 3);
  CHECK(count(all, "cat", "send") == 1);
  CHECK(count(all, "cat", "transfer") == 1);
  CHECK(count(all, "name", "process_name") == 2);
  CHECK(count(all, "name", "thread_name") == 4);
  CHECK(count(all, "ph", "s") == 1);
  CHECK(count(all, "ph", "t") == 1);
  CHECK(count(all, "ph", "f") == 1);

  const auto& a = find(all, "a \"quoted\"", "op");
  CHECK(a["args"]["op"] == 0);
  CHECK(a["args"]["type"] == "MatMul");
  CHECK(a["ts"] == 0);
  CHECK(a["dur"] == 500'000);
  CHECK_FALSE(find(all, "b", "op")["args"].contains("type"));
  const auto& send = find(all, "send a \"quoted\"", "send");
  CHECK(send["pid"] == a["pid"]);
  CHECK(send["tid"] == a["tid"]);
  CHECK(send["ts"] == 500'000);
  CHECK(send["args"]["to"] == "right");
  const auto& transfer = find(all, "a \"quoted\"", "transfer");
  CHECK(transfer["pid"] != a["pid"]);
  CHECK(transfer["dur"] == 1'250'000);
  CHECK(transfer["args"]["bytes"] == 64);

  const auto without = events(t, w, p, {.transfers = false});
  check_tracks(without);
  CHECK(count(without, "cat", "transfer") == 0);
  CHECK(count(without, "cat", "send") == 1);
  CHECK(count(without, "cat", "flow") == 0);
  CHECK(count(events(t, w, p, {.flows = false}), "cat", "flow") == 0);
}

TEST_CASE("chrome trace: ops that overlap on a device get lanes of their own") {
  workload_builder b;
  for (int i = 0; i < 4; ++i) {
    b.add_op({.work = 1});
  }
  const auto w = std::move(b).build();
  const platform p{{device{.slots = 2}}, link_matrix{1}};
  trace t;
  t.ops = {{0, 0, 2}, {0, 0, 1}, {0, 1, 3}, {0, 2, 3}};
  t.makespan = 3;
  const auto all = events(t, w, p, {.transfers = false});
  check_tracks(all);
  CHECK(count(all, "name", "thread_name") == 2);
  CHECK(find(all, "op 0", "op")["tid"] != find(all, "op 1", "op")["tid"]);
}

TEST_CASE("chrome trace: neighbours do not overlap whatever the rounding, and idle devices have a track") {
  rng random{7};
  for (const double scale : {1e-6, 1e-3, 1., 1e3, 1e12}) {
    workload_builder b;
    trace t;
    double now = 0;
    for (int i = 0; i < 300; ++i) {
      b.add_op({.work = 1});
      const double finish = now + scale * static_cast<double>(random() % 1000) / 997;
      t.ops.push_back({1, now, finish});
      now = finish;
    }
    t.makespan = now;
    const auto w = std::move(b).build();
    const platform p{std::vector<device>(3), link_matrix{3}};
    const auto all = events(t, w, p);
    check_tracks(all);
    CHECK(count(all, "cat", "op") == 300);
    CHECK(count(all, "name", "thread_name") == 6);
    CHECK(all[0]["args"]["name"].get<std::string>().starts_with(scale > 1e6 ? "compute (times divided" : "compute"));
  }
}

TEST_CASE("chrome trace: whole microseconds survive the product with 1000 that readers cut off") {
  for (std::int64_t ns = 0; ns < 5000; ++ns) {
    const double us = std::stod(report::detail::microseconds(ns));
    CHECK(static_cast<std::int64_t>(us * 1000.0) == ns);
    CHECK(us == doctest::Approx(static_cast<double>(ns) / 1000));
  }
}

TEST_CASE("chrome trace: archetypes and empty traces are enough") {
  const auto all = events(trace{}, workload_archetype{}, platform_archetype{});
  CHECK(count(all, "ph", "X") == 0);
  CHECK(count(all, "name", "thread_name") == 2);
}

} // namespace report_chrome_trace_test
