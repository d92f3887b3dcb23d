// SPDX-License-Identifier: BSL-1.0
#include "weft/owning_problem.hpp"

#include "weft/cost/compose.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/annotated_graph.hpp"
#include "weft/workload/workload.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <utility>
#include <vector>

namespace owning_problem_test {

using namespace weft;

using owned = owning_problem<workload, platform<>>;

/// What a function could not return as a problem, which would refer to what ends with the function.
owned made() {
  workload w = test::diamond();
  platform<> q = test::three_devices();
  return owned{std::move(w), std::move(q)};
}

double solved(const owned& p) {
  return pipeline(partition::heft{}, schedule::static_order{})(*p).makespan;
}

TEST_CASE("owning_problem: returned, copied and moved, it is the problem that stays where it is") {
  const workload w = test::diamond();
  const platform<> q = test::three_devices();
  const double expected = pipeline(partition::heft{}, schedule::static_order{})(problem{w, q}).makespan;
  std::optional<owned> first{made()};
  const workload* const where = &(*first)->workload();
  std::vector<owned> kept(3, *first);
  kept.push_back(std::move(*first));
  first.reset();
  for (const owned& p : kept) {
    CHECK(&p->workload() == where);
    CHECK(p->demand(0) == problem{w, q}.demand(0));
    CHECK(solved(p) == expected);
  }
  kept.front() = made();
  CHECK(&kept.front()->workload() != where);
  kept.resize(1, made());
  CHECK(solved(kept.front()) == expected);
}

TEST_CASE("owning_problem: costs of one's own are kept, too, and problems made of it share what it derived") {
  const owning_problem p{test::diamond(), test::three_devices(), cost::scaled{cost::linear{}, 2}};
  const auto plain = p->with_costs(p->cost().base);
  CHECK(p->compute_time(1, 0) == 2 * plain.compute_time(1, 0));
  CHECK(p->topological_order().data() == plain.topological_order().data());
}

/// In constant expressions, too, and with what a workload of another type refers to kept by the caller.
constexpr double twice_as_slow() {
  const std::vector<std::vector<int>> successors{{1}, {}};
  const std::vector<double> work{1, 4};
  const auto make = [&] {
    return owning_problem{annotated_graph{successors, {.work = work}},
                          platform<uniform_links>{std::vector<device>(2), {}}, cost::scaled{cost::linear{}, 2}};
  };
  const auto p = make();
  return p->compute_time(1, 0);
}
static_assert(twice_as_slow() == 8);

} // namespace owning_problem_test
