// SPDX-License-Identifier: BSL-1.0
#include "small.hpp"

#include "support/rounds.hpp"

#include "weft/throughput/best.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/throughput/split.hpp"

#include <doctest/doctest.h>

namespace throughput_split_test {

using namespace weft;
using throughput::split_status;

/// n ops in a chain (or none of them connected) on `accelerators` and one core.
struct chain {
  workload ops;
  platform<uniform_links> devices;
  cost::staged times;

  chain(std::size_t n, std::size_t accelerators, bool connected = true)
      : ops{make(n, connected)}, devices{make_devices(accelerators), {}},
        times{{std::vector<double>(n, 1000), std::vector<double>(n, 1), std::vector<double>(n, 0.125)}} {}
  problem<workload, platform<uniform_links>, cost::staged> task() const { return {ops, devices, times}; }

private:
  static workload make(std::size_t n, bool connected) {
    workload_builder b;
    for (op_id v = 0; v < n; ++v) {
      b.add_op({.work = 1, .bytes = 0});
      if (v > 0 && connected) {
        b.add_edge(v - 1, v);
      }
    }
    return std::move(b).build();
  }
  static std::vector<device> make_devices(std::size_t accelerators) {
    std::vector<device> all(accelerators, device{.kind = device_kind::fpga});
    all.push_back({.kind = device_kind::cpu});
    return all;
  }
};

TEST_CASE("throughput: downset_split is the best contiguous split, linear_split is one") {
  rng random{3};
  int splits = 0;
  int equal = 0;
  for (int i = 0; i < weft::test::rounds(3000); ++i) {
    const auto s = weft_test::random_small(random);
    const auto p = s.staged();
    const double best = weft_test::brute_force(p).contiguous;
    const auto r = throughput::downset_split{}(p);
    REQUIRE(r.has_split() == (best < 1e300 && p.num_ops() > 0));
    const auto l = throughput::linear_split{}(p);
    REQUIRE(l.has_split() <= r.has_split());
    if (!r.has_split()) {
      continue;
    }
    ++splits;
    REQUIRE(r.status == split_status::optimal);
    REQUIRE(weft_test::about(r.period, best));
    REQUIRE(weft_test::about(r.period, throughput::period(p, r.placement(p))));
    REQUIRE(weft_test::is_allowed(p, r.placement(p)));
    REQUIRE(throughput::downset_split{.below = r.period * 0.999}(p).status == split_status::none_below);
    if (l.has_split()) {
      REQUIRE(l.period >= best - 1e-9);
      REQUIRE(weft_test::is_allowed(p, l.placement(p)));
      REQUIRE(weft_test::is_contiguous(p, l.placement(p)));
      equal += weft_test::about(l.period, best) ? 1 : 0;
    }
  }
  CHECK(splits > weft::test::rounds(2000));
  CHECK(equal > splits * 8 / 10);
}

TEST_CASE("throughput: downset_split is the best contiguous split of training graphs") {
  rng random{12};
  int splits = 0;
  for (int i = 0; i < weft::test::rounds(3000); ++i) {
    const auto s = weft_test::random_small(random, {.max_ops = 8, .training = true});
    const auto p = s.staged();
    if (p.num_ops() == 0 || !weft_test::has_no_orphans(p)) {
      continue;
    }
    const double best = weft_test::brute_force(p).contiguous;
    const auto r = throughput::downset_split{}(p);
    REQUIRE(r.has_split() == (best < 1e300));
    if (r.has_split()) {
      ++splits;
      REQUIRE(weft_test::about(r.period, best));
      REQUIRE(weft_test::is_contiguous(p, r.placement(p)));
    }
  }
  CHECK(splits > weft::test::rounds(500));
}

TEST_CASE("throughput: downset_split is the best contiguous split where transfers differ by many orders of magnitude") {
  rng random{13};
  int splits = 0;
  for (int i = 0; i < weft::test::rounds(3000); ++i) {
    auto s = weft_test::random_small(random, {.limits = false, .training = i % 2 == 0});
    const double huge = i % 3 == 0 ? 1e13 : i % 3 == 1 ? 1e16 : 1e100;
    for (double& seconds : s.times.transfer) {
      seconds *= random.below(2) == 0 ? huge : 1;
    }
    const auto p = s.staged();
    if (p.num_ops() == 0 || !weft_test::has_no_orphans(p)) {
      continue;
    }
    const double best = weft_test::brute_force(p).contiguous;
    const auto r = throughput::downset_split{}(p);
    REQUIRE(r.status == split_status::optimal);
    REQUIRE(weft_test::about(r.period, best));
    ++splits;
  }
  CHECK(splits > weft::test::rounds(1500));
}

TEST_CASE("throughput: linear_split respects constraints for any costs") {
  rng random{4};
  int splits = 0;
  for (int i = 0; i < weft::test::rounds(1000); ++i) {
    const auto s = weft_test::random_small(random, {.max_ops = 12, .max_devices = 4});
    const auto p = s.linear();
    const auto r = throughput::linear_split{}(p);
    if (r.has_split()) {
      ++splits;
      REQUIRE(weft_test::is_allowed(p, r.placement(p)));
      REQUIRE(weft_test::about(r.period, throughput::period(p, r.placement(p))));
    }
  }
  CHECK(splits > weft::test::rounds(700));
}

TEST_CASE("throughput: chains are cut evenly, in one pass or two") {
  const chain c{300, 3};
  const auto p = c.task();
  for (const std::size_t coarse : {std::size_t{1}, std::size_t{16}, std::size_t{128}, std::size_t{1000}}) {
    const auto r = throughput::linear_split{.coarse = coarse}(p);
    CHECK(r.status == split_status::feasible);
    CHECK(r.period == 100.25); // the middle piece imports and exports
    CHECK(r.num_downsets == 301);
  }
  CHECK(throughput::downset_split{}(p).period == 100.25);
  CHECK(throughput::downset_split{}(p).num_downsets == 301);
}

TEST_CASE("throughput: downset_split refuses graphs with too many downsets") {
  const chain c{40, 2, false};
  const auto p = c.task();
  const auto r = throughput::downset_split{.max_downsets = 5000}(p);
  CHECK(r.status == split_status::too_many_downsets);
  CHECK(!r.has_split());
  CHECK(to_string(r.status) == "too_many_downsets");
  CHECK(throughput::linear_split{}(p).period == 20);
}

TEST_CASE("throughput: splits of nothing, of one op, and out of budget") {
  const chain empty{0, 2};
  CHECK(throughput::downset_split{}(empty.task()).status != split_status::too_many_downsets);
  CHECK(throughput::linear_split{}(empty.task()).placement(empty.task()).empty());
  const chain one{1, 1};
  CHECK(throughput::downset_split{}(one.task()).period == 1);
  CHECK(throughput::linear_split{}(one.task()).period == 1);
  std::stop_source stop;
  stop.request_stop();
  const auto token = stop.get_token();
  const chain some{10, 2};
  CHECK(throughput::downset_split{.budget = {.stop = &token}}(some.task()).status == split_status::out_of_budget);
}

TEST_CASE("throughput: backward ops follow their group and do not count for contiguity") {
  workload_builder b; // 0 -> 1 -> 2 (forward) -> 3 -> 4 -> 5 (backward, colocated with 2, 1, 0)
  for (op_id v = 0; v < 6; ++v) {
    b.add_op({.work = 1, .bytes = 0, .type = v < 3 ? "forward" : "backward"});
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
  }
  for (op_id v = 0; v < 3; ++v) {
    b.colocate(v, 5 - v);
  }
  const auto w = std::move(b).build();
  const platform<uniform_links> devices{std::vector<device>(3, device{.kind = device_kind::fpga}), {}};
  const problem p{w, devices, cost::staged{{std::vector<double>(6, 1), std::vector<double>(6, 1),
                                            std::vector<double>(6, 0.25)}}};
  const auto r = throughput::downset_split{}(p);
  CHECK(r.num_downsets == 4);
  CHECK(r.period == 3); // the middle one: two ops, two tensors in, two out
}

TEST_CASE("throughput: many different devices are taken in line") {
  workload_builder b;
  for (op_id v = 0; v < 24; ++v) {
    b.add_op({.work = 1, .bytes = 0});
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
  }
  const auto w = std::move(b).build();
  std::vector<device> all;
  for (int i = 0; i < 12; ++i) {
    all.push_back({.speed = i % 2 == 0 ? 1.0 + 0.001 * i : 3.0 + 0.001 * i});
  }
  const platform<uniform_links> devices{std::move(all), {}};
  const problem p{w, devices};
  const auto r = throughput::linear_split{}(p);
  CHECK(r.period == doctest::Approx(1.0).epsilon(0.01));
}

/// A chain whose first op runs on cores only, on 40 accelerators and 30 cores; the others take 100 times as long there.
struct crowd {
  workload ops;
  platform<uniform_links> devices;
  cost::staged times;

  crowd(std::size_t n, double transfer)
      : ops{make(n)}, devices{make_devices(), {}}, times{{host_times(n), std::vector<double>(n, 1),
                                                          std::vector<double>(n, transfer)}} {}
  problem<workload, platform<uniform_links>, cost::staged> task() const { return {ops, devices, times}; }

private:
  static std::vector<double> host_times(std::size_t n) {
    std::vector<double> all(n, 100);
    all[0] = 1;
    return all;
  }
  static workload make(std::size_t n) {
    workload_builder b;
    for (op_id v = 0; v < n; ++v) {
      b.add_op({.work = 1, .bytes = 0, .kinds = v == 0 ? kind_set{device_kind::cpu} : kind_set::all()});
      if (v > 0) {
        b.add_edge(v - 1, v);
      }
    }
    return std::move(b).build();
  }
  static std::vector<device> make_devices() {
    std::vector<device> all(40, device{.kind = device_kind::fpga});
    all.resize(70, device{.kind = device_kind::cpu});
    return all;
  }
};

TEST_CASE("throughput: many devices of two classes are counted up to the number of blocks") {
  const crowd c{3, 0};
  const auto r = throughput::downset_split{}(c.task());
  CHECK(r.status == split_status::optimal);
  CHECK(r.period == 1);
  CHECK(throughput::linear_split{}(c.task()).period == 1);
}

TEST_CASE("throughput: a split with devices in line claims no optimum") {
  const crowd c{40, 0.25};
  const auto p = c.task();
  const auto r = throughput::downset_split{}(p);
  CHECK(r.status == split_status::feasible);
  CHECK(r.has_split());
  CHECK(throughput::downset_split{.below = 1e-3}(p).status == split_status::not_found);
  CHECK(throughput::linear_split{.below = 1e-3}(p).status == split_status::not_found);
  rng random{1};
  const auto found = throughput::best{.rounds = 1, .moves_per_round = 100}(p, random);
  REQUIRE(found);
  CHECK(found->period > found->bound * 1.001);
  CHECK(found->tried.back().method == "downset_split");
  CHECK(!found->contiguous_optimum);
}

} // namespace throughput_split_test
