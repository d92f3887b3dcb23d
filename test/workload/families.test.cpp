// SPDX-License-Identifier: BSL-1.0
// Communication, heterogeneity, and the suite made of both.
#include "summary.hpp"

#include "weft/cost/generate/ccr.hpp"
#include "weft/cost/generate/suite.hpp"
#include "weft/problem.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace workload_families_test {

using namespace weft;

workload two_ops(double work, byte_count bytes) {
  workload_builder b;
  const op_id u = b.add_op({.work = work, .bytes = bytes, .resident_bytes = 7, .name = "u", .type = "T"});
  const op_id v = b.add_op({.work = 3 * work, .kinds = {device_kind::gpu}, .name = "v"});
  b.add_edge(u, v);
  b.add_control_edge(u, v);
  return std::move(b).build();
}

platform<> two_devices() {
  link_matrix links{2};
  links.set(0, 1, {.latency = 1, .bandwidth = 10});
  links.set(1, 0, {.latency = 3, .bandwidth = 5});
  return {{{.kind = device_kind::cpu, .speed = 2}, {.kind = device_kind::gpu, .speed = 4}}, links};
}

TEST_CASE("ccr_of: by hand") {
  // u takes 20/2 = 10 and 20/4 = 5, v only 60/4 = 15; so the mean is (7.5 + 15) / 2 = 11.25.
  // The edge with bytes takes 1 + 100/10 = 11 and 3 + 100/5 = 23; the control edge does not count.
  CHECK(generate::ccr_of(two_ops(20, 100), two_devices()) == doctest::Approx(17 / 11.25));
  CHECK(generate::ccr_of(two_ops(20, 0), two_devices()) == 0);
  CHECK(generate::ccr_of(two_ops(0, 100), two_devices()) == 0);
  CHECK(generate::ccr_of(workload{}, two_devices()) == 0);
  CHECK(generate::ccr_of(two_ops(20, 100), platform<uniform_links>{{{}}, {}}) == 0); // one device
}

TEST_CASE("with_ccr: the ratio asked for, and nothing else changes") {
  const auto p = two_devices();
  const auto w = two_ops(20'000'000, 100);
  for (const double ccr : {0.1, 1.0, 10.0}) {
    const auto scaled = generate::with_ccr(w, p, ccr);
    CHECK(generate::ccr_of(scaled, p) == doctest::Approx(ccr).epsilon(1e-6));
    CHECK(scaled.num_edges() == 2);
    CHECK(scaled.num_tensors() == 2);
    CHECK(scaled.bytes(1) == 0); // control
    CHECK(scaled.work(1) == w.work(1));
    CHECK(scaled.resident_bytes(0) == 7);
    CHECK(scaled.kinds(1) == w.kinds(1));
    CHECK(scaled.name(1) == "v");
    CHECK(scaled.type(0) == "T");
  }
  // also with constraints and groups, and with latencies
  const auto random = generate::layered({.shape = {.num_ops = 200}, .min_work = 1000, .max_work = 9000}, 3);
  const auto scaled = generate::with_ccr(random, p, 0.5);
  CHECK(generate::ccr_of(scaled, p) == doctest::Approx(0.5).epsilon(1e-3));
  CHECK(scaled.num_groups() == random.num_groups());
  for (const op_id v : ids(random.num_ops())) {
    CHECK(scaled.group(v) == random.group(v));
    CHECK(scaled.kinds(v) == random.kinds(v));
  }
}

TEST_CASE("with_ccr: a ratio of 0 leaves no bytes") {
  const platform<uniform_links> p{{{}, {.kind = device_kind::gpu}}, {{.bandwidth = 5}}};
  const auto silent = generate::with_ccr(two_ops(20, 100), p, 0);
  CHECK(silent.bytes(0) == 0);
  CHECK(silent.num_edges() == 2);
  CHECK(generate::ccr_of(silent, p) == 0);
  CHECK(generate::with_ccr(two_ops(20, 100), p, 1e-9).bytes(0) == 1);
}

TEST_CASE("with_ccr: what no factor can do is an error") {
  const auto p = two_devices();
  const auto w = two_ops(20, 100);
  CHECK_THROWS_AS(generate::with_ccr(w, p, -1), value_error);
  CHECK_THROWS_AS(generate::with_ccr(w, p, std::nan("")), value_error);
  CHECK_THROWS_WITH_AS(generate::with_ccr(w, p, 0.01), "with_ccr: the latencies alone take longer than that",
                       value_error);
  CHECK_THROWS_AS(generate::with_ccr(two_ops(20, 0), p, 1), value_error);
  CHECK_THROWS_AS(generate::with_ccr(two_ops(0, 10), p, 1), value_error);
  CHECK_THROWS_AS(generate::with_ccr(w, platform<uniform_links>{{{}, {}}, {}}, 1), value_error); // infinitely fast
  CHECK_THROWS_AS(generate::with_ccr(w, p, 1e300), value_error);
  CHECK_THROWS_AS(generate::with_ccr(w, platform<uniform_links>{{{.kind = device_kind::gpu}}, {}}, 1), value_error);
}

TEST_CASE("related_platform: speeds in the range, kinds by share") {
  const auto p = generate::related_platform({.devices = 40, .min_speed = 2, .max_speed = 8, .gpu_share = 0.25}, 1);
  std::set<double> speeds;
  for (const device_id d : ids(p.num_devices())) {
    CHECK(p.speed(d) >= 2);
    CHECK(p.speed(d) <= 8);
    CHECK(p.kind(d) == (d < 30 ? device_kind::cpu : device_kind::gpu));
    speeds.insert(p.speed(d));
  }
  CHECK(speeds.size() == 40);
  CHECK(*speeds.begin() < 3);
  CHECK(*speeds.rbegin() > 7);
  CHECK(generate::related_platform({.max_speed = 1}).speed(3) == 1);
  CHECK_THROWS_AS(generate::related_platform({.devices = 0}), value_error);
  CHECK_THROWS_AS(generate::related_platform({.min_speed = 0}), value_error);
  CHECK_THROWS_AS(generate::related_platform({.gpu_share = 2}), value_error);
}

TEST_CASE("range_based_costs: within beta around the work") {
  const auto w = generate::layered({.shape = {.num_ops = 500}}, 1);
  const auto seconds = generate::range_based_costs(w, 6, 1.5, 2);
  REQUIRE(seconds.size() == 3000);
  double relative = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const double mean = w.work(static_cast<op_id>(i / 6));
    CHECK(seconds[i] >= 0.25 * mean);
    CHECK(seconds[i] <= 1.75 * mean);
    relative += seconds[i] / mean / 3000;
  }
  CHECK(relative == doctest::Approx(1).epsilon(0.03));
  CHECK(generate::range_based_costs(w, 2, 0)[5] == w.work(2));
  CHECK_THROWS_AS(generate::range_based_costs(w, 2, 2.1), value_error);
}

TEST_CASE("cvb_costs: means and variations") {
  workload_builder b;
  for (int i = 0; i < 3000; ++i) {
    b.add_op({.work = 10});
  }
  const workload w = std::move(b).build();
  for (const double variation : {0.1, 0.5, 1.0}) {
    CAPTURE(variation);
    const auto seconds = generate::cvb_costs(w, 10, {.device_variation = variation}, 3);
    double mean = 0, square = 0;
    for (const double s : seconds) {
      CHECK(s > 0);
      mean += s / 30'000;
      square += s * s / 30'000;
    }
    CHECK(mean == doctest::Approx(10).epsilon(0.02));
    CHECK(std::sqrt(square - mean * mean) / mean == doctest::Approx(variation).epsilon(0.03));
  }
  // with both, squared variations multiply: 1 + c² = (1 + a²) (1 + b²)
  const auto both = generate::cvb_costs(w, 10, {.op_variation = 0.6, .device_variation = 0.3, .consistent = true}, 4);
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < both.size(); ++i) {
    mean += both[i] / 30'000;
    square += both[i] * both[i] / 30'000;
    CHECK((i % 10 == 0 || both[i] >= both[i - 1]));
  }
  CHECK(1 + (square - mean * mean) / (mean * mean) == doctest::Approx(1.36 * 1.09).epsilon(0.05));
  std::uint64_t bits = 0; // the same with every compiler
  for (const double s : both) {
    bits = rng::mix(bits ^ std::bit_cast<std::uint64_t>(s));
  }
  CHECK(bits == 7'717'886'142'630'093'044u);
  CHECK(generate::cvb_costs(w, 2, {.device_variation = 0})[1] == 10);
  CHECK_THROWS_AS(generate::cvb_costs(w, 2, {.device_variation = 1.5}), value_error);
}

TEST_CASE("suite: every family, ratio and heterogeneity once; sizes, ratios, determinism") {
  const auto entries = generate::suite();
  CHECK(entries.size() == generate::suite_families.size() * 9);
  std::set<std::string> names;
  std::uint64_t fingerprint = 0;
  for (const auto& e : entries) {
    CAPTURE(e.name());
    names.insert(e.name());
    const auto made = generate::make_suite_instance(e);
    CHECK(made.ops.num_ops() >= 60);
    CHECK(made.ops.num_ops() <= 600);
    CHECK(made.devices.num_devices() == 8);
    CHECK(generate::ccr_of(made.ops, made.devices, made.costs()) == doctest::Approx(e.ccr).epsilon(1e-6));
    const problem p{made.ops, made.devices, made.costs()};
    bool same = true, related = true;
    for (const op_id v : ids(p.num_ops())) {
      for (const device_id d : ids(8)) {
        same = same && p.compute_time(v, d) == p.compute_time(v, 0);
        related = related && p.compute_time(v, d) == made.ops.work(v) / made.devices.speed(d);
      }
    }
    CHECK(same == (e.devices == generate::heterogeneity::identical));
    CHECK(related == (e.devices != generate::heterogeneity::unrelated));
    fingerprint = rng::mix(fingerprint ^ test::fingerprint(made.ops));
  }
  CHECK(names.size() == entries.size());
  CHECK(names.contains("cholesky/ccr 0.1/related/1"));
  CHECK(fingerprint == 14'626'504'167'421'844'178u);
  CHECK(generate::suite(2).size() == 2 * entries.size());
  CHECK_THROWS_AS(generate::suite_workload("no such thing", 1), error);
  CHECK(generate::make_suite_instance({.family = "constrained"}).ops.num_groups() > 5);
}

TEST_CASE("generators: as the guide shows them") {
  // [generate]
  const auto raw = generate::cholesky({.tiles = 10, .size = 512});
  const auto devices = generate::related_platform({.devices = 4, .min_speed = 1e9, .max_speed = 4e9,
                                                   .all = {.latency = 1e-6, .bandwidth = 1e9}}, 7);
  const auto w = generate::with_ccr(raw, devices, 0.5); // transfers take half as long as ops, on average
  const auto seconds = generate::range_based_costs(w, devices.num_devices(), 1.0, 7); // or: unrelated devices
  const problem related{w, devices};
  const problem unrelated{w, devices, cost::table{seconds, w.num_ops(), devices.num_devices()}};
  // [generate]
  CHECK(generate::ccr_of(w, devices) == doctest::Approx(0.5));
  CHECK(related.num_ops() == 220);
  CHECK(unrelated.compute_time(3, 1) == seconds[3 * 4 + 1]);
}

} // namespace workload_families_test
