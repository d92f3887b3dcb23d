// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/pipeline_stages.hpp"

#include "weft/core/random.hpp"
#include "weft/cost/table.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace pipeline_stages_test {

using namespace weft;

std::vector<device_id> devices(std::size_t count) {
  const auto all = ids(count);
  return {all.begin(), all.end()};
}

/// A chain of layers with an op each.
workload layers(std::size_t count, kind_set kinds = kind_set::all()) {
  workload_builder b;
  for (std::size_t i = 0; i < count; ++i) {
    const auto v = b.add_op({.work = 1, .bytes = 8, .resident_bytes = 8, .kinds = kinds,
                             .name = "layer" + std::to_string(i) + "/op"});
    if (i > 0) {
      b.add_edge(v - 1, v);
    }
  }
  return std::move(b).build();
}

/// The time of the slowest stage of layers `begin` …, on devices `stage` …, at best.
double best(const std::vector<double>& seconds, std::size_t num_devices, std::size_t begin, std::size_t stage) {
  const auto num_layers = seconds.size() / num_devices;
  if (stage == num_devices) {
    return begin == num_layers ? 0 : std::numeric_limits<double>::infinity();
  }
  double found = std::numeric_limits<double>::infinity(), here = 0;
  for (std::size_t end = begin + 1; end <= num_layers; ++end) {
    here += seconds[(end - 1) * num_devices + stage];
    found = std::min(found, std::max(here, best(seconds, num_devices, end, stage + 1)));
  }
  return found;
}

TEST_CASE("pipeline_stages: consecutive layers, whose slowest stage is as fast as any cut's") {
  rng random{5};
  for (std::size_t num_layers = 2; num_layers <= 8; ++num_layers) {
    const workload step = layers(num_layers);
    for (std::size_t count = 1; count <= std::min<std::size_t>(num_layers, 4); ++count) {
      for (int trial = 0; trial < 20; ++trial) {
        std::vector<double> seconds(num_layers * count);
        for (auto& x : seconds) {
          x = static_cast<double>(1 + random.below(6));
        }
        const platform machine{std::vector<device>(count), uniform_links{}};
        const problem p{step, machine, cost::table{seconds, num_layers, count}};
        const auto where = parallel::pipeline_stages(p, devices(count));
        std::vector<double> of_stage(count, 0);
        for (const op_id v : ids(num_layers)) {
          of_stage[where[v]] += seconds[v * count + where[v]];
          REQUIRE((v == 0 ? where[v] == 0 : where[v] == where[v - 1] || where[v] == where[v - 1] + 1));
        }
        REQUIRE(where.back() == count - 1);
        CHECK(*std::max_element(of_stage.begin(), of_stage.end()) == best(seconds, count, 0, 0));
      }
    }
  }
}

/// The time of the slowest stage of the best cut of layers `begin` … into stages `stage` … that fit.
double best_within(const parallel::stage_memory& m, const std::vector<double>& seconds, std::size_t begin,
                   std::size_t stage) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (stage == m.in_flight.size()) {
    return begin == seconds.size() ? 0 : infinity;
  }
  double found = infinity, here = 0, fixed = 0, kept = 0, working = 0;
  for (std::size_t end = begin + 1; end <= seconds.size(); ++end) {
    here += seconds[end - 1];
    fixed += m.fixed[end - 1];
    kept += m.kept[end - 1];
    working = std::max(working, m.working[end - 1]);
    if (fixed + m.in_flight[stage] * kept + working <= m.capacity) {
      found = std::min(found, std::max(here, best_within(m, seconds, end, stage + 1)));
    }
  }
  return found;
}

TEST_CASE("pipeline_stages_within: a cut that fits is found wherever there is one, and none is faster") {
  rng random{11};
  int found_some = 0, found_none = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto num_layers = 2 + random.below(7);
    const auto num_stages = 1 + random.below(std::min<std::uint64_t>(num_layers, 4));
    const auto w = layers(num_layers);
    const platform p{std::vector<device>(num_stages), uniform_links{}};
    std::vector<double> seconds, times;
    parallel::stage_memory m;
    for (std::uint64_t k = 0; k < num_layers; ++k) {
      seconds.push_back(static_cast<double>(1 + random.below(9)));
      times.insert(times.end(), num_stages, seconds.back());
      m.fixed.push_back(static_cast<double>(random.below(20)));
      m.kept.push_back(static_cast<double>(random.below(20)));
      m.working.push_back(static_cast<double>(random.below(20)));
    }
    for (std::uint64_t s = 0; s < num_stages; ++s) {
      m.in_flight.push_back(static_cast<double>(num_stages - s));
    }
    m.capacity = static_cast<double>(20 + random.below(150));
    const problem q{w, p, cost::table{times, num_layers, num_stages}};
    const auto where = parallel::pipeline_stages_within(m, q, devices(num_stages));
    const double least = best_within(m, seconds, 0, 0);
    REQUIRE(where.has_value() == (least < std::numeric_limits<double>::infinity()));
    ++(where ? found_some : found_none);
    if (where) {
      std::vector<double> load(num_stages, 0);
      for (std::uint64_t k = 0; k < num_layers; ++k) {
        load[(*where)[k]] += seconds[k];
      }
      CHECK(*std::max_element(load.begin(), load.end()) == least);
      CHECK(std::is_sorted(where->begin(), where->end()));
    }
  }
  CHECK(found_some > 1000);
  CHECK(found_none > 1000);
  const auto two = layers(2);
  const platform one{std::vector<device>(1), uniform_links{}};
  CHECK_THROWS_AS(parallel::pipeline_stages_within({}, problem{two, one}, devices(1)), value_error);
}

TEST_CASE("pipeline_stages: of equally good cuts, the first stages take as few layers as possible") {
  const workload step = layers(4);
  const std::vector<double> seconds{1, 1, 1, 5}; // the last layer is the slowest stage anyhow
  const platform three{std::vector<device>(3), uniform_links{}};
  std::vector<double> of_each;
  for (const double s : seconds) {
    of_each.insert(of_each.end(), 3, s);
  }
  const problem p{step, three, cost::table{of_each, 4, 3}};
  CHECK(parallel::pipeline_stages(p, devices(3)) == placement{0, 1, 1, 2});
  CHECK(parallel::pipeline_stages(p, std::vector<device_id>{2, 0, 1}) == placement{2, 0, 0, 1}); // stage 0 on device 2
}

TEST_CASE("pipeline_stages: of whole networks, the forward pass goes on and the backward pass back") {
  for (const auto* name : {"ptb_lstm@2", "resnet50_cifar10@2", "gnmt@2", "gpt2_small@1x16"}) {
    CAPTURE(name);
    const workload step = zoo::make(name);
    constexpr std::size_t count = 4;
    const platform machine{std::vector<device>(count, {.speed = 1e12}), uniform_links{}};
    const problem p{step, machine};
    const auto where = parallel::pipeline_stages(p, devices(count));
    std::vector<bool> used(count, false);
    const auto is_awaited = [&](op_id v) { // by another gradient
      for (const tensor_id t : step.outputs(v)) {
        for (const op_id reader : step.consumers(t)) {
          if (step.name(reader).starts_with("gradients")) {
            return true;
          }
        }
      }
      return false;
    };
    for (const op_id v : ids(step.num_ops())) {
      used[where[v]] = true;
      for (const tensor_id t : step.inputs(v)) {
        const op_id from = step.producer(t);
        if (!step.name(v).starts_with("gradients")) {
          CHECK((is_update(step, v) || is_update(step, from) || where[from] <= where[v]));
        } else if (step.name(from).starts_with("gradients") && !step.inputs(from).empty() && is_awaited(v)) {
          CHECK(where[from] >= where[v]); // also into sums, which no layer's name is in
        }
      }
      CHECK(where[v] == where[p.members(p.component(v))[0]]); // variables are where their updates are
    }
    CHECK(std::find(used.begin(), used.end(), false) == used.end());
  }
}

TEST_CASE("with_free_sums: gradients of later stages do not follow sums to the first one") {
  for (const auto* name : {"gnmt@2", "ptb_lstm@2"}) {
    CAPTURE(name);
    const workload step = zoo::make(name), free = parallel::with_free_sums(step);
    REQUIRE(free.num_ops() == step.num_ops());
    CHECK(free.num_edges() == step.num_edges());
    constexpr std::size_t count = 4;
    const platform machine{std::vector<device>(count, {.speed = 1e12}), uniform_links{}};
    const auto backward_per_forward = [&](const workload& w) { // of times, at the stage where it is most
      const problem p{w, machine};
      const auto where = parallel::pipeline_stages(p, devices(count));
      std::vector<double> forward(count, 0), backward(count, 0);
      for (const op_id v : ids(w.num_ops())) {
        (w.name(v).starts_with("gradients/") ? backward : forward)[where[v]] += p.compute_time(v, where[v]);
      }
      double most = 0;
      for (std::size_t s = 0; s < count; ++s) {
        most = std::max(most, backward[s] / forward[s]);
      }
      return most;
    };
    CHECK(backward_per_forward(step) > 4);
    CHECK(backward_per_forward(free) < 2.5);
    for (const op_id v : ids(step.num_ops())) {
      const bool is_sum = step.type(v) == "AddN" && step.name(v).starts_with("gradients/");
      CHECK((!is_sum || free.group(v) == none));
      CHECK((!is_update(step, v) || free.group(v) != none)); // with its variable
    }
  }
}

TEST_CASE("pipeline_stages: gradients that are clipped once are clipped where their update is") {
  const workload step = parallel::with_free_sums(zoo::make("ptb_lstm@2")), other = zoo::make("ptb_lstm@4");
  const platform machine{std::vector<device>(3, {.speed = 1e12}), uniform_links{}};
  const problem p{step, machine};
  const auto repeated = parallel::repeated_ops(step, other);
  const auto where = parallel::pipeline_stages(p, devices(3), repeated);
  std::size_t clipped = 0;
  for (const op_id v : ids(step.num_ops())) {
    for (const tensor_id t : step.inputs(v)) {
      if (const op_id from = step.producer(t);
          is_update(step, v) && step.name(from).find("clip_by_global_norm") != step.name(from).npos) {
        ++clipped;
        CHECK(where[from] == where[v]);
      }
    }
  }
  CHECK(clipped > 4);
  for (const op_id v : ids(step.num_ops())) { // of gradients, only their norms are sent
    for (const tensor_id t : step.inputs(v)) {
      CHECK((step.type(v) != "L2Loss" || where[v] == where[step.producer(t)] || step.group(v) != none));
    }
  }
  CHECK_THROWS_AS(parallel::pipeline_stages(p, devices(3), {true}), value_error);
}

TEST_CASE("pipeline_stages: what no stage may do is where it may be first") {
  workload_builder b;
  const auto data = b.add_op({.bytes = 8, .kinds = device_kind::cpu, .name = "data"});
  for (const auto* name : {"layer0/op", "layer1/op"}) {
    const auto v = b.add_op({.work = 1, .bytes = 8, .kinds = device_kind::gpu, .name = name});
    b.add_edge(v - 1, v);
  }
  static_cast<void>(data);
  const workload step = std::move(b).build();
  const platform machine{{{.kind = device_kind::gpu}, {.kind = device_kind::cpu}, {.kind = device_kind::gpu}},
                         uniform_links{}};
  const problem p{step, machine};
  CHECK(parallel::pipeline_stages(p, std::vector<device_id>{2, 0}) == placement{1, 2, 0});
}

TEST_CASE("pipeline_stages: refuses more stages than layers, none, and devices that no op may be on") {
  const platform machine{std::vector<device>(3), uniform_links{}};
  const workload two = layers(2);
  const problem p{two, machine};
  CHECK_THROWS_WITH_AS(parallel::pipeline_stages(p, devices(3)),
                       "pipeline_stages: a step of 2 layers cannot be cut into 3 stages", value_error);
  CHECK_THROWS_AS(parallel::pipeline_stages(p, devices(0)), value_error);
  const platform mixed{{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}}, uniform_links{}};
  const workload for_gpus = layers(2, kind_set{device_kind::gpu});
  CHECK_THROWS_AS(parallel::pipeline_stages(problem{for_gpus, mixed}, devices(2)), value_error);
}

} // namespace pipeline_stages_test
