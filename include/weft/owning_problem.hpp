// SPDX-License-Identifier: BSL-1.0
/// A problem that owns its workload and its platform, so that functions can return it and containers keep it.
#pragma once

#include "weft/core/shared.hpp"
#include "weft/cost/linear.hpp"
#include "weft/problem.hpp"

#include <utility>

namespace weft {

/// A problem with the workload and the platform that it refers to: copies share both, and the last one takes them with
/// it. It gives the problem as a pointer does, `*owned` and `owned->`, to whatever takes one:
/// ```
/// const weft::owning_problem owned{std::move(workload), std::move(platform)};
/// const auto r = weft::solve::best(*owned, {.seconds = 10});
/// ```
/// What the workload or the cost model refers to, such as the lists of an `annotated_graph`, has to outlive it still.
/// Problems made of it (`with_costs`, `with_capacities`, …) refer to its workload and platform. Throws what `problem`
/// throws. Construction: that of the problem, and a move of each part. Copy: O(1), and the cost model's.
template <class Workload, class Platform, class Cost = cost::linear>
class owning_problem {
public:
  using problem_type = problem<Workload, Platform, Cost>;

  constexpr explicit owning_problem(Workload w, Platform p, Cost cost = {})
      : workload_{std::move(w)}, platform_{std::move(p)}, problem_{*workload_, *platform_, std::move(cost)} {}

  constexpr const problem_type& operator*() const& { return problem_; }
  constexpr const problem_type& operator*() const&& = delete; // it would go at once: give the owner a name first
  constexpr const problem_type* operator->() const { return &problem_; }

private:
  shared<Workload> workload_; // both stay where they are when the owner is moved
  shared<Platform> platform_;
  problem_type problem_;
};

} // namespace weft
