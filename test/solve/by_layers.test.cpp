// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/by_layers.hpp"

#include "simulate/random_problem.hpp"

#include "weft/cost/linear.hpp"
#include "weft/platform/presets.hpp"
#include "weft/validate/memory_shortage.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace solve_by_layers_test {

using namespace weft;

/// A chain of `layer.0` … with these works and parameters, between an embedding and a head of no work.
workload chain(const std::vector<double>& work, byte_count resident, byte_count bytes) {
  workload_builder b;
  op_id last = b.add_op({.work = 0, .bytes = bytes, .name = "embed/Gather"});
  for (std::size_t i = 0; i < work.size(); ++i) {
    const op_id v = b.add_op({.work = work[i],
                              .bytes = bytes,
                              .resident_bytes = resident,
                              .name = "layer." + std::to_string(i) + "/MatMul"});
    b.add_edge(last, v);
    last = v;
  }
  b.add_edge(last, b.add_op({.work = 0, .bytes = bytes, .name = "head/MatMul"}));
  return std::move(b).build();
}

/// The least largest sum of runs of consecutive works, by trying all cuts.
double least_period(const std::vector<double>& work, std::size_t begin, std::size_t devices) {
  double sum = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t end = begin; end <= work.size(); ++end) {
    if (end == work.size()) {
      least = std::min(least, sum);
    } else {
      if (devices > 1) {
        least = std::min(least, std::max(sum, least_period(work, end, devices - 1)));
      }
      sum += work[end];
    }
  }
  return least;
}

/// Each device has one run of consecutive parts, and ops are where their parts are.
template <class P>
void check_runs(const P& p, const partition::model_layers& l, const solve::by_layers_result& r) {
  REQUIRE(r.devices.size() == l.num_parts());
  std::vector<bool> seen(p.num_devices(), false);
  for (std::size_t i = 0; i < r.devices.size(); ++i) {
    if (i == 0 || r.devices[i] != r.devices[i - 1]) {
      CHECK_FALSE(seen[r.devices[i]]);
      seen[r.devices[i]] = true;
    }
  }
  for (const op_id v : ids(p.num_ops())) {
    const component_id c = p.component(v);
    const device_id d = r.devices[l.part[c]];
    if (p.kinds(c).contains(p.platform().kind(d))) {
      CHECK(r.placement[v] == d);
    }
  }
}

TEST_CASE("by_layers: chains on equal devices have the period that trying all cuts finds") {
  rng random{7};
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    std::vector<double> work;
    for (std::uint64_t n = 2 + random.below(7); n-- > 0;) {
      work.push_back(1 + static_cast<double>(random.below(20)));
    }
    const std::size_t k = 1 + random.below(4);
    const auto w = chain(work, 10, 0);
    const platform<uniform_links> q{std::vector<device>(k, {.kind = device_kind::gpu}), {}};
    const problem p{w, q};
    const auto l = partition::find_layers(p);
    REQUIRE(l.num_layers == work.size());
    const auto r = solve::by_layers(p, l, {.period = true, .ends_with_layers = random.below(2) == 0});
    REQUIRE(r.found);
    check_runs(p, l, r);
    CHECK(r.value == least_period(work, 0, k));
    const auto one = solve::by_layers(p, l);
    REQUIRE(one.found);
    CHECK(one.value == doctest::Approx(std::accumulate(work.begin(), work.end(), 0.0)));
  }
}

/// The least value of all ways to cut the parts into runs on devices of their own, by a judge who knows no borders: the
/// loads of a placement, or a run.
template <class P>
double least_of_all(const P& p, const partition::model_layers& l, bool period, std::vector<device_id>& devices) {
  if (devices.size() < l.num_parts()) {
    double least = std::numeric_limits<double>::infinity();
    for (const device_id d : ids(p.num_devices())) {
      const bool seen = std::find(devices.begin(), devices.end(), d) != devices.end();
      if (!seen || devices.back() == d) {
        devices.push_back(d);
        least = std::min(least, least_of_all(p, l, period, devices));
        devices.pop_back();
      }
    }
    return least;
  }
  placement where(p.num_ops());
  for (const op_id v : ids(p.num_ops())) {
    where[v] = devices[l.part[p.component(v)]];
  }
  if (period) {
    return throughput::period(p, where);
  }
  trace run;
  simulator{p, schedule::path_completion_time{}}.run(plan{where}, simulate::recorder{run});
  return memory_shortages(p, where, run).empty() ? run.makespan : std::numeric_limits<double>::infinity();
}

/// Sends whose time depends on who receives, and on the tensor.
struct sends_by_receiver : cost::linear {
  template <class W, class P>
  double send_time(const W&, tensor_id t, const P&, device_id, device_id to) const {
    return 0.25 * static_cast<double>((3 * t + 5 * to) % 17);
  }
};

TEST_CASE("by_layers: chains with sends have the period and the makespan that trying all cuts on all devices finds") {
  rng random{11};
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    std::vector<double> work;
    for (std::uint64_t n = 2 + random.below(3); n-- > 0;) {
      work.push_back(1 + static_cast<double>(random.below(8)));
    }
    const auto w = chain(work, 100, 1 + random.below(4));
    const std::size_t k = 2 + random.below(2);
    std::vector<device> devices;
    link_matrix links{k};
    for (device_id d = 0; d < k; ++d) {
      devices.push_back({.kind = device_kind::gpu,
                         .speed = random.below(3) == 0 ? 2.0 : 1.0,
                         .slots = 1 + static_cast<std::uint32_t>(random.below(4) == 0),
                         .send_overhead = static_cast<double>(random.below(5))});
      for (device_id e = 0; e < k; ++e) {
        links.set(d, e, {static_cast<double>(random.below(4)), random.below(2) == 0 ? 1.0 : 8.0});
      }
    }
    const auto check = [&](const auto& p, bool period) {
      CAPTURE(period);
      const auto l = partition::find_layers(p);
      REQUIRE(l.num_layers == work.size());
      const auto r = solve::by_layers(p, l, {.period = period});
      REQUIRE(r.found);
      check_runs(p, l, r);
      std::vector<device_id> tried;
      CHECK(r.value == doctest::Approx(least_of_all(p, l, period, tried)));
    };
    {
      const platform<link_matrix> q{devices, links};
      check(problem{w, q}, true);
      check(problem{w, q, sends_by_receiver{}}, true);
    }
    for (auto& d : devices) { // for two layers, so that a step needs several devices
      d.memory_capacity = 230;
    }
    if (2 * k >= work.size()) {
      const platform<link_matrix> q{devices, links};
      check(problem{w, q}, false);
      check(problem{w, q, sends_by_receiver{}}, false);
    }
  }
}

TEST_CASE("by_layers: devices that differ only in their links are tried in all orders") {
  const auto w = chain({1, 1, 1, 1}, 10, 1);
  link_matrix links{4, {.bandwidth = 0.01}};
  links.set(0, 2, {.bandwidth = 100});
  links.set(2, 1, {.bandwidth = 100});
  links.set(1, 3, {.bandwidth = 100});
  const platform<link_matrix> q{std::vector<device>(4, {.kind = device_kind::gpu}), links};
  const problem p{w, q};
  const auto l = partition::find_layers(p);
  const auto r = solve::by_layers(p, l, {.period = true});
  REQUIRE(r.found);
  CHECK(r.value == 1);
  CHECK(std::vector<device_id>(r.devices.begin() + 1, r.devices.end() - 1) == std::vector<device_id>{0, 2, 1, 3});
}

TEST_CASE("by_layers: more devices that are alike than there are layers do not matter") {
  const auto w = chain({3, 1, 2}, 10, 1);
  const platform<uniform_links> q{std::vector<device>(60, {.kind = device_kind::gpu, .memory_capacity = 50}), {}};
  const problem p{w, q};
  const auto r = solve::by_layers(p, partition::find_layers(p), {.period = true});
  REQUIRE(r.found);
  CHECK(r.value == 3);
  CHECK(r.capacity == 3000);
}

TEST_CASE("by_layers: memory decides how many devices there must be, and the host takes what accelerators cannot") {
  const auto w = chain(std::vector<double>(10, 1.0), 100, 1);
  std::vector<device> devices(3, {.kind = device_kind::gpu, .memory_capacity = 420});
  devices[0] = device{.kind = device_kind::cpu, .speed = 0.1, .memory_capacity = 10'000};
  {
    const platform<uniform_links> q{devices, {}};
    const problem p{w, q};
    const auto l = partition::find_layers(p);
    const auto r = solve::by_layers(p, l);
    REQUIRE(r.found); // four layers on each, the other two on the host
    check_runs(p, l, r);
    CHECK(std::count(r.devices.begin() + 1, r.devices.end() - 1, 0u) == 2);
  }
  devices.push_back(devices[1]);
  {
    const platform<uniform_links> q{devices, {}};
    const problem p{w, q};
    const auto l = partition::find_layers(p);
    const auto r = solve::by_layers(p, l);
    REQUIRE(r.found);
    CHECK(std::count(r.devices.begin(), r.devices.end(), 0u) == 0);
    CHECK_FALSE(solve::by_layers(p, l, {.devices = {1, 2}}).found);
    const auto order = solve::by_layers(p, l, {.devices = {3, 1, 2}});
    REQUIRE(order.found);
    CHECK(order.devices.front() == 3);
    CHECK(order.devices.back() == 2);
    const auto half = solve::by_layers(p.with_memory_share(0.5), l, {.devices = {1, 2, 3}});
    CHECK_FALSE(half.found);
    CHECK(half.resident == 1000);
    CHECK(half.capacity == 630);
  }
}

TEST_CASE("by_layers: of splits that take as long, the fullest device is the least full") {
  rng random{31};
  int uneven = 0;
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const std::size_t layers = 4 + random.below(8);
    workload_builder b;
    op_id last = b.add_op({.bytes = 1, .name = "embed/Gather"});
    std::vector<byte_count> held;
    for (std::size_t i = 0; i < layers; ++i) {
      held.push_back(1000 * (1 + random.below(9)));
      const op_id v = b.add_op({.work = 0.1, .bytes = 1, .resident_bytes = held.back(),
                                .name = "layer." + std::to_string(i) + "/MatMul"});
      b.add_edge(last, v);
      last = v;
    }
    b.add_edge(last, b.add_op({.bytes = 1, .name = "head/MatMul"}));
    const auto w = std::move(b).build();
    const byte_count all = std::accumulate(held.begin(), held.end(), byte_count{0});
    std::vector<device> gpus;
    for (const byte_count memory : {all * 3 / 4 + 100, random.below(2) == 0 ? all * 3 / 4 + 100 : all - 900}) {
      gpus.push_back({.kind = device_kind::gpu, .memory_capacity = memory});
    }
    const platform q{gpus, uniform_links{0, 1e3}};
    const problem p{w, q};
    const auto r = solve::by_layers(p, partition::find_layers(p));
    double least = 1; // of the cuts in two, all of which take as long
    for (const bool turned : {false, true}) {
      for (std::size_t cut = 1; cut < layers; ++cut) {
        const auto middle = held.begin() + static_cast<std::ptrdiff_t>(cut);
        const byte_count before = std::accumulate(held.begin(), middle, byte_count{0});
        const auto share = [&](byte_count bytes, bool second) {
          return static_cast<double>(bytes + 3) / static_cast<double>(gpus[second ? 1 : 0].memory_capacity);
        };
        least = std::min(least, std::max(share(before, turned), share(all - before, !turned)));
      }
    }
    if (!r.found) {
      CHECK(least > 0.98);
      continue;
    }
    double fullest = 0;
    for (const device_id d : ids(2u)) {
      byte_count bytes = 0;
      for (const op_id v : ids(w.num_ops())) {
        bytes += r.placement[v] == d ? w.resident_bytes(v) : 0;
      }
      fullest = std::max(fullest, static_cast<double>(bytes) / static_cast<double>(gpus[d].memory_capacity));
    }
    CHECK(fullest <= least + 0.002);
    uneven += gpus[0].memory_capacity != gpus[1].memory_capacity;
  }
  CHECK(uneven > 50);
}

TEST_CASE("by_layers: named devices are all used where that makes the period no longer, whatever sums round to") {
  for (const std::size_t layers : {16u, 17u, 33u, 40u}) {
    for (const double work : {1.0, 0.1}) {
      CAPTURE(layers);
      const auto w = chain(std::vector<double>(layers, work), 10, 1);
      const platform<uniform_links> q{std::vector<device>(16, {.kind = device_kind::gpu}),
                                      uniform_links{{.bandwidth = 1e3}}};
      const problem p{w, q};
      const auto l = partition::find_layers(p);
      std::vector<device_id> all(16);
      std::iota(all.begin(), all.end(), device_id{0});
      const auto r = solve::by_layers(p, l, {.period = true, .devices = all});
      REQUIRE(r.found);
      check_runs(p, l, r);
      CHECK(r.value == doctest::Approx(work * static_cast<double>((layers + 15) / 16)));
      CHECK(std::all_of(all.begin(), all.end(), [&](device_id d) {
        return std::find(r.devices.begin() + 1, r.devices.end() - 1, d) != r.devices.end() - 1; // with a layer
      }));
    }
  }
}

TEST_CASE("by_layers: a device whose use would make the period longer stays empty, named or not") {
  const auto w = chain({1, 1, 1, 1}, 10, 1);
  std::vector<device> devices(3, {.kind = device_kind::gpu});
  devices[1].speed = 0.1;
  const platform<uniform_links> q{devices, {}};
  const problem p{w, q};
  const auto l = partition::find_layers(p);
  const auto r = solve::by_layers(p, l, {.period = true, .ends_with_layers = true, .devices = {0, 1, 2}});
  REQUIRE(r.found);
  CHECK(r.value == 2);
  CHECK(std::count(r.devices.begin(), r.devices.end(), 1u) == 0);
}

TEST_CASE("by_layers: what no device may run is the reason, not memory") {
  workload_builder b;
  op_id last = b.add_op({.bytes = 4, .kinds = device_kind::cpu, .name = "input"});
  for (int i = 0; i < 4; ++i) {
    const op_id v = b.add_op({.work = 1, .bytes = 4, .name = "layer." + std::to_string(i) + "/MatMul"});
    b.add_edge(last, v);
    last = v;
  }
  const auto w = std::move(b).build();
  const platform<uniform_links> q{std::vector<device>(2, {.kind = device_kind::gpu}), {}};
  const problem p{w, q};
  for (const bool period : {false, true}) {
    const auto r = solve::by_layers(p, partition::find_layers(p), {.period = period});
    CHECK_FALSE(r.found);
    REQUIRE(r.reason);
    CHECK(r.reason->cause == infeasibility::kind::no_device_of_kind);
    CHECK(r.reason->op == 0);
    CHECK_FALSE(r.shortage);
  }
}

/// A training step of layers of equal work, backward twice as long as forward: each backward op reads what its layer
/// made.
workload training(std::size_t layers, byte_count kept) {
  workload_builder b;
  std::vector<op_id> forward;
  for (std::size_t i = 0; i < layers; ++i) {
    forward.push_back(b.add_op({.work = 1, .bytes = kept, .name = "layer." + std::to_string(i) + "/MatMul"}));
    if (i > 0) {
      b.add_edge(forward[i - 1], forward[i]);
    }
  }
  op_id last = none;
  for (std::size_t i = layers; i-- > 0;) {
    const op_id v = b.add_op({.work = 2, .bytes = 0, .name = "gradients/layer." + std::to_string(i) + "/MatMul"});
    b.add_edge(forward[i], v);
    if (last != none) {
      b.add_edge(last, v);
    }
    last = v;
  }
  return std::move(b).build();
}

TEST_CASE("by_layers: a period counts the memory of the steps in flight, a makespan that of one step") {
  const auto w = training(8, 10);
  const auto on = [](byte_count memory) {
    return platform<uniform_links>{std::vector<device>(4, {.kind = device_kind::gpu, .memory_capacity = memory}), {}};
  };
  { // the first of four stages keeps what its two layers made in four steps
    const auto q = on(100);
    const problem p{w, q};
    const auto r = solve::by_layers(p, partition::find_layers(p), {.period = true});
    REQUIRE(r.found);
    CHECK(r.value == 6);
  }
  { // a step takes 20 to 30 on each, but four stages of two layers up to 80
    const auto q = on(60);
    const problem p{w, q};
    const auto l = partition::find_layers(p);
    const auto r = solve::by_layers(p, l, {.period = true});
    REQUIRE(r.found);
    CHECK(r.value > 6);
    trace run;
    simulator{p, schedule::path_completion_time{}}.run(plan{r.placement}, simulate::recorder{run});
    for (const byte_count bytes : throughput::peaks_in_flight(p, r.placement, run, r.value)) {
      CHECK(bytes <= 60);
    }
  }
  { // eight layers of 10 on four devices fit for one step, and for no steps in flight
    const auto q = on(30);
    const problem p{w, q};
    const auto l = partition::find_layers(p);
    const auto r = solve::by_layers(p, l, {.period = true});
    CHECK_FALSE(r.found);
    REQUIRE(r.shortage);
    CHECK(r.shortage->peak > 30);
    CHECK(r.shortage->capacity == 30);
    CHECK(solve::by_layers(p, l).found);
  }
}

TEST_CASE("by_layers: what lives with the layers of a device counts in the memory that it works in") {
  const auto w = training(8, 10);
  const auto on = [](byte_count shared, byte_count own) {
    return platform<uniform_links>{{{.kind = device_kind::cpu, .memory_capacity = shared},
                                    {.kind = device_kind::gpu, .memory_of = 0},
                                    {.kind = device_kind::gpu, .memory_capacity = own}},
                                   {}};
  };
  for (const bool period : {false, true}) {
    CAPTURE(period);
    const auto q = on(70, 70);
    const problem p{w, q};
    const auto r = solve::by_layers(p, partition::find_layers(p), {.period = period});
    REQUIRE(r.found);
    CHECK(r.capacity == 140);
    for (const device_id d : {1u, 2u}) {
      CHECK(std::count(r.devices.begin(), r.devices.end(), d) > 0);
    }
    trace run;
    simulator{p, schedule::path_completion_time{}}.run(plan{r.placement}, simulate::recorder{run});
    CHECK(throughput::peaks_in_flight(p, r.placement, run, period ? r.value : 1e9)[0] <= 70);
  }
}

TEST_CASE("by_layers: devices of one memory keep to it together") {
  const auto w = chain(std::vector<double>(6, 1.0), 10, 0); // 60 of parameters
  const auto on = [](byte_count shared) {
    return platform<uniform_links>{{{.kind = device_kind::gpu, .memory_capacity = shared},
                                    {.kind = device_kind::gpu, .memory_of = 0},
                                    {.kind = device_kind::gpu, .memory_capacity = 40}},
                                   {}};
  };
  for (const byte_count shared : {20u, 30u, 40u}) { // with two layers on each device, the first two hold 40
    CAPTURE(shared);
    const auto q = on(shared);
    const problem p{w, q};
    const auto r = solve::by_layers(p, partition::find_layers(p), {.period = true});
    REQUIRE(r.found);
    CHECK(r.value == (shared == 20 ? 4 : shared == 30 ? 4 : 2));
    byte_count held = 0;
    for (const op_id v : ids(w.num_ops())) {
      held += r.placement[v] < 2 ? w.resident_bytes(v) : 0;
    }
    CHECK(held <= shared);
  }
}

TEST_CASE("by_layers: the faster device gets more, wherever it stands") {
  const auto w = chain(std::vector<double>(9, 1.0), 1, 0);
  std::vector<device> devices(2, {.kind = device_kind::gpu});
  devices[1].speed = 2;
  const platform<uniform_links> q{devices, {}};
  const problem p{w, q};
  const auto l = partition::find_layers(p);
  const auto r = solve::by_layers(p, l, {.period = true});
  REQUIRE(r.found);
  CHECK(std::count(r.devices.begin() + 1, r.devices.end() - 1, 1u) == 6);
  CHECK(r.value == 3);
}

TEST_CASE("by_layers: networks of the zoo in training and inference") {
  const auto q = presets::make("pcie_4gpu");
  for (const std::string name : {"bert_base", "gpt2_small", "resnet50", "gnmt", "ptb_lstm"}) {
    for (const bool training : {false, true}) {
      CAPTURE(name);
      CAPTURE(training);
      const auto w = training ? zoo::make(name) : zoo::make_inference(name);
      const problem p{w, q};
      const auto l = partition::find_layers(p);
      const auto one = solve::by_layers(p, l);
      const auto r = solve::by_layers(p, l, {.period = true});
      REQUIRE(one.found);
      REQUIRE(r.found);
      check_runs(p, l, r);
      check_runs(p, l, one);
      const double alone = throughput::period(p, one.placement); // one device has all
      CHECK(r.value <= alone);
      if (name == "resnet50" || name == "gnmt") { // in others the head reads the table of the embedding
        CHECK(r.value < 0.96 * alone);
      }
      trace run;
      simulator{p, schedule::path_completion_time{}}.run(plan{r.placement}, simulate::recorder{run});
      CHECK(memory_shortages(p, r.placement, run).empty());
    }
  }
}

} // namespace solve_by_layers_test
