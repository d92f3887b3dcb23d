// SPDX-License-Identifier: BSL-1.0
/// What all partitioners have in common.
#include "partition/place.hpp"
#include "simulate/random_problem.hpp"

#include "weft/refine/branch_and_bound.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/solve/registry.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <string>

namespace partition_constraints_test {

using namespace weft;
using test::drawn;
using test::drawn_problem;

/// The registry's strategies, the searches among them with small budgets.
registry<drawn_problem> all_partitioners() {
  auto r = registry<drawn_problem>::standard();
  registry<drawn_problem> small;
  for (const auto& name : r.partitioner_names()) {
    if (name == "iterated_local_search") {
      small.add_partitioner(name, refine::iterated_local_search<>{.search = {.budget = {.moves = 20}}});
    } else if (name == "branch_and_bound") {
      small.add_partitioner(name, refine::branch_and_bound{.budget = {.moves = 300}});
    } else {
      small.add_partitioner(name, *r.find_partitioner(name));
    }
  }
  return small;
}

TEST_CASE("partitioners: kinds, colocation and memory, always; the same seed, the same decision") {
  const auto all = all_partitioners();
  for (const auto& name : all.partitioner_names()) {
    CAPTURE(name);
    const auto& decide = *all.find_partitioner(name);
    rng random{41};
    int placed = 0;
    int failed = 0;
    workspace scratch; // one for all, as a caller may do
    for (int round = 0; round < 250; ++round) {
      CAPTURE(round);
      const drawn s{random, {.capacity = 40 + random.below(120)}};
      const std::uint64_t seed = random();
      rng first{seed};
      const auto got = decide(s.p, first, scratch);
      rng second{seed};
      workspace fresh;
      const auto again = decide(s.p, second, fresh);
      REQUIRE(got.has_value() == again.has_value());
      if (got) {
        ++placed;
        const auto wrong = validate(s.p, got->plan);
        CHECK_MESSAGE(wrong.empty(), (wrong.empty() ? "" : to_string(wrong.front())));
        CHECK(got->plan == again->plan);
        CHECK(got->bound == again->bound);
      } else {
        ++failed;
        const auto& why = got.error();
        CHECK(why == again.error());
        if (why.cause == infeasibility::kind::not_found) {
          CHECK(name == "branch_and_bound");
          continue;
        }
        REQUIRE(why.op < s.p.num_ops());
        const component_id c = s.p.component(why.op);
        CHECK(s.p.members(c).front() == why.op);
        CHECK(s.p.members(c).size() == why.num_members);
        CHECK(s.p.kinds(c) == why.kinds);
        CHECK(s.p.demand(c) == why.demand);
        CHECK(why.cause == infeasibility::kind::out_of_memory); // random problems have a device of every kind
        CHECK(why.demand > why.largest_free);
      }
    }
    CHECK(placed > 50);
    CHECK(failed > 10);
  }
}

TEST_CASE("partitioners: a component that fits no device is named") {
  // Components: {1, 4} (cpu, 60 + 20 bytes), 0, 2, 3.
  for (const bool of_kind : {false, true}) {
    workload_builder b;
    for (op_id v = 0; v < 5; ++v) {
      const bool member = v == 1 || v == 4;
      b.add_op({.work = 1.0 + v,
                .bytes = 0,
                .resident_bytes = member ? byte_count{40} : 1,
                .kinds = member ? kind_set{device_kind::cpu} : kind_set::all()});
    }
    b.colocate(1, 4);
    b.add_edge(0, 1);
    b.add_edge(1, 2);
    b.add_edge(2, 3);
    const workload w = std::move(b).build();
    const platform<> q{{{.kind = of_kind ? device_kind::cpu : device_kind::tpu, .memory_capacity = 79},
                        {.kind = device_kind::gpu, .memory_capacity = 1000}},
                       link_matrix{2}};
    const drawn_problem p{w, q};
    const auto all = all_partitioners();
    for (const auto& name : all.partitioner_names()) {
      CAPTURE(name);
      rng random{0};
      workspace scratch;
      const auto got = (*all.find_partitioner(name))(p, random, scratch);
      REQUIRE_FALSE(got);
      CHECK(got.error().cause ==
            (of_kind ? infeasibility::kind::out_of_memory : infeasibility::kind::no_device_of_kind));
      CHECK(got.error().op == 1);
      CHECK(got.error().num_members == 2);
      CHECK(got.error().kinds == kind_set{device_kind::cpu});
      CHECK(got.error().demand == 80);
      CHECK(got.error().largest_free <= 79);
    }
  }
}

TEST_CASE("partitioners: one device takes everything, and a workload without ops is placed") {
  const auto all = all_partitioners();
  rng draw{43};
  const drawn s{draw, {.max_devices = 1}};
  const workload nothing;
  const drawn_problem empty{nothing, s.q};
  for (const auto& name : all.partitioner_names()) {
    CAPTURE(name);
    rng random{0};
    workspace scratch;
    const auto one = (*all.find_partitioner(name))(s.p, random, scratch);
    REQUIRE(one);
    CHECK(one->plan.placement == placement(s.p.num_ops(), 0));
    const auto none_at_all = (*all.find_partitioner(name))(empty, random, scratch);
    REQUIRE(none_at_all);
    CHECK(none_at_all->plan.placement.empty());
  }
}

} // namespace partition_constraints_test
