// SPDX-License-Identifier: BSL-1.0
#include "weft/planner/choice.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/way_text.hpp"
#include "weft/report/ways.hpp"

#include "weft/core/random.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace planner_ways_test {

using namespace weft;
using planner::way;
using planner::way_kind;
using which = planner::wanted_ways::which;

platform<> joined(std::vector<device> devices) {
  const link_matrix links{devices.size(), {}};
  return {std::move(devices), links};
}

bool same(const planner::wanted_ways& a, const planner::wanted_ways& b) {
  const auto one = [](std::uint32_t x) { return x == 0 ? 1 : x; };
  return a.of == b.of && one(a.replicas) == one(b.replicas) && one(a.ranks) == one(b.ranks) && a.stages == b.stages &&
         one(a.turns) == one(b.turns) && a.micro_batches == b.micro_batches && a.shards_updates == b.shards_updates &&
         a.shard_ranks.value_or(0) == b.shard_ranks.value_or(0) &&
         a.shards_parameters.value_or(false) == b.shards_parameters.value_or(false) &&
         a.splits_experts == b.splits_experts && a.by_speed == b.by_speed && a.examples == b.examples;
}

way random_way(rng& random) {
  way w{.kind = static_cast<way_kind>(random.below(3))}; // none that is placed
  const auto count = [&] { return static_cast<std::uint32_t>(1 + random.below(4)); };
  if (w.kind == way_kind::batch) {
    w.replicas = 1 + count();
    w.shards_updates = random.below(2) == 0;
    if (random.below(3) == 0) {
      for (std::uint32_t i = 0; i < w.replicas + count(); ++i) {
        w.examples.push_back(i < w.replicas ? 1 + random.below(9) : 0);
      }
    } else {
      w.shards_parameters = w.shards_updates && random.below(2) == 0;
      w.shard_ranks = w.shards_parameters && w.replicas == 4 ? 2 * static_cast<std::uint32_t>(random.below(2)) : 0;
      w.splits_experts = !w.shards_parameters && random.below(2) == 0;
    }
  } else if (w.kind == way_kind::ops) {
    w.replicas = count();
    w.ranks = 1 + count();
    w.splits_sequence = random.below(2) == 0;
    w.shards_updates = w.replicas > 1 && !w.splits_sequence && random.below(2) == 0;
    w.shards_parameters = w.shards_updates && random.below(2) == 0;
  } else {
    w.replicas = count();
    w.stages = count();
    w.ranks = count();
    w.turns = count();
    w.micro_batches = random.below(2) == 0 ? random.below(100) : 1000 * random.below(4'000'000'000);
    w.shards_updates = w.replicas > 1 && random.below(2) == 0;
  }
  return w;
}

TEST_CASE("ways: the text of a way asks for it alone") {
  rng random{7};
  for (int i = 0; i < 10'000; ++i) {
    const auto w = random_way(random);
    const auto text = to_string(w);
    CAPTURE(text);
    CHECK(same(planner::wanted_from(text), planner::only(w)));
  }
}

TEST_CASE("ways: texts") {
  CHECK(planner::wanted_from("auto").of == which::all);
  CHECK(planner::wanted_from("data").of == which::data);
  CHECK(planner::wanted_from("data").replicas == 0);
  CHECK(planner::wanted_from("tensor=4").ranks == 4);
  CHECK(planner::wanted_from("data=2,tensor=4").is_data_and_tensor());
  CHECK(planner::wanted_from("accumulate").stages == 1);
  CHECK(planner::wanted_from("accumulate=3").micro_batches == 3);
  CHECK(planner::wanted_from("data=3,by-speed=1+0+7").examples == std::vector<std::uint64_t>{1, 0, 7});
  CHECK(to_string(way{.kind = way_kind::stages, .micro_batches = 8}) == "accumulate=8");
  CHECK(to_string(way{.kind = way_kind::stages, .micro_batches = 0}) == "accumulate");
  CHECK(to_string(way{.kind = way_kind::placed}) == "none");
  CHECK(to_string(way{.replicas = 2, .examples = {5, 0, 3}}) == "data=3,whole,by-speed=5+0+3");
  for (const char* bad :
       {"", ",", "none", "tensors", "data=", "data=x", "data=1", "data=2,", "data=2,,whole", "data,sharded", "=2",
        "data=2,whole,sharded", "data=2,experts,by-speed", "data=2,by-speed=1", "data=2,by-speed=1+0",
        "data=2,tensor=1", "data=2,by-speed=1+", "data=4294967296", "data=-2", "data=2,whole=1", "tensor=4,by-speed",
        "tensor=4,sharded", "pipeline", "pipeline=0", "pipeline=2,pipeline=3", "pipeline=2,depth=3",
        "pipeline=2,sharded", "accumulate=0", "accumulate=2,micro-batches=3", "auto=2", "auto,data=2",
        "pipeline=2,whole,whole", "data=2,sharded,fully-sharded", "data=4,fully-sharded=3",
        "data=4,fully-sharded=4", "data=2,tensor=2,experts", "data=2,context=2,sharded", "data=2,tensor",
        "data=2,tensor=2,sharded,whole", "data=4,fully-sharded=1", "data=2,fully-sharded,experts",
        "data=2,fully-sharded,by-speed", "pipeline=2,data=2,fully-sharded"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(planner::wanted_from(bad), value_error);
  }
}

TEST_CASE("ways: every reason has a sentence, whose figures are all there") {
  using enum planner::reason::kind;
  const auto machine = joined(std::vector<device>(2, device{.kind = device_kind::gpu}));
  for (auto is = nothing; is <= error; is = static_cast<planner::reason::kind>(static_cast<int>(is) + 1)) {
    const planner::reason why{.is = is, .have = 3, .asked = 4, .device = 1, .name = "NAME"};
    const auto text = report::sentence(why, machine);
    CAPTURE(text);
    CHECK(text.empty() == (is == nothing));
    CHECK(text.find('{') == text.npos);
    CHECK(text.find('}') == text.npos);
    CHECK((text.empty() || text.back() != '.'));
  }
  CHECK(report::sentence({.is = no_experts, .asked = 2}, machine).starts_with("there are no experts"));
  CHECK(report::sentence({.is = fixed_batch, .batch = 8}, machine).starts_with("with a batch of 8: "));
  CHECK(report::sentence({.is = few_by_speed, .have = 1}, machine).ends_with("one device would get all samples"));
}

TEST_CASE("ways: names for tables") {
  const auto name = [](const way& w) { return report::name_of({.how = w}); };
  CHECK(name({.replicas = 4, .shards_updates = true}) == "4 × data, sharded updates");
  CHECK(name({.replicas = 4, .shards_updates = true, .shards_parameters = true}) == "4 × data, fully sharded");
  CHECK(name({.replicas = 4, .shards_updates = true, .splits_experts = true}) == "4 × data, experts, sharded");
  CHECK(name({.replicas = 2, .examples = {1, 2}}) == "2 × data by speed");
  CHECK(name({.kind = way_kind::ops, .replicas = 2, .ranks = 4}) == "2 × data, 4 × tensor");
  CHECK(name({.kind = way_kind::ops, .replicas = 2, .ranks = 4, .splits_sequence = true}) == "2 × data, 4 × context");
  CHECK(name({.kind = way_kind::stages, .micro_batches = 4}) == "gradient accumulation");
  CHECK(name({.kind = way_kind::stages, .replicas = 2, .stages = 3, .ranks = 4}) == "data 2, tensor 4, pipeline 3");
  const way both{.kind = way_kind::ops, .replicas = 2, .ranks = 4};
  CHECK(report::name_of({.how = both, .splits_batch = true}) == "8 × data");
}

TEST_CASE("ways: devices that are alike, that differ, and their memory") {
  const device gpu{.kind = device_kind::gpu, .speed = 4, .memory_capacity = 100};
  auto fast = gpu;
  fast.speed = 9;
  const auto two_kinds = joined({{.kind = device_kind::cpu, .speed = 50}, gpu, fast, gpu});
  CHECK(planner::alike_devices(two_kinds) == std::vector<device_id>{2}); // computes more than both others
  CHECK(planner::unlike_devices(two_kinds) == std::vector<device_id>{1, 2, 3});
  CHECK(planner::unlike_devices(two_kinds, 2).size() == 2);
  const auto alike = joined({{.kind = device_kind::cpu, .speed = 50}, gpu, gpu});
  CHECK(planner::alike_devices(alike) == std::vector<device_id>{1, 2});
  CHECK(planner::unlike_devices(alike).empty());
  CHECK(planner::memory_for_each(alike, {1, 2}) == 100);
  auto beside = gpu;
  beside.memory_of = 1;
  const auto one_memory = joined({{.kind = device_kind::cpu}, gpu, beside});
  CHECK(planner::memory_for_each(one_memory, {1, 2}) == 50);
  workload_builder b;
  b.add_op({.kinds = device_kind::cpu});
  b.add_op({});
  CHECK(planner::replica_on(2, std::move(b).build(), alike) == placement{0, 2});
}

std::shared_ptr<planner::made_way> made(std::uint32_t devices, double seconds) {
  auto x = std::make_shared<planner::made_way>();
  x->figures.how = {.replicas = devices};
  x->features = features_of(x->figures.how, false);
  x->run.makespan = x->figures.seconds = seconds;
  return x;
}

TEST_CASE("choice: features have to pay for themselves, and the line says which did not") {
  planner::comparison all;
  all.add(made(2, 97));
  all.add(made(4, 96));
  const auto machine = joined(std::vector<device>(4, device{.kind = device_kind::gpu}));
  auto alone = made(1, 100);
  alone->figures.how = {.kind = way_kind::placed};
  CHECK(report::strategy_of(*alone, 8, machine) == "each op on one device");
  CHECK(report::device_range(machine, {}).empty());
  const planner::placed_ops once{.way = {.seconds = 100}, .seconds = 100};
  const auto simple = planner::choose(all, once, 0.05);
  CHECK(!simple.shared);
  REQUIRE(simple.faster);
  CHECK(simple.faster->more == std::vector{parallel::feature::data});
  CHECK(report::sentence(*simple.faster, machine) ==
        "4 × data, which is 4.2 % faster: data parallelism would have to gain 5 %, since estimates are not more exact "
        "than that");
  CHECK(planner::choose(all, once, 0).shared->how().replicas == 4);
  CHECK(planner::choose(all, std::nullopt, 0.05).shared->how().replicas == 2);
  CHECK(!planner::choose({}, std::nullopt, 0.05).has_any);
  const planner::placed_ops waits{.way = {.how = {.devices = 2, .places_ops = true}, .seconds = 98}, .seconds = 90,
                                  .hand_overs = 3};
  const auto on_paper = planner::choose(all, waits, 0.05);
  REQUIRE(on_paper.faster);
  CHECK(report::sentence(*on_paper.faster, machine)
          .starts_with("each op on one device, 7.8 % faster on paper: it hands 3 tensors over"));
}

} // namespace planner_ways_test
