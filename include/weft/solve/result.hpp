// SPDX-License-Identifier: BSL-1.0
/// The result of a solver.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/ids.hpp"
#include "weft/evaluate/evaluated_plan.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace weft {

/// The outcome of a solve.
enum class status : std::uint8_t {
  solved,     ///< there is a plan and its makespan
  optimal,    ///< the same, and no plan has a smaller value
  infeasible, ///< it is proven that there is no plan; `result::reason` says why
  not_found,  ///< no plan was found, and there may be one; `result::reason` says what was in the way
  incomplete, ///< some ops never run, as the plan's order contradicts the graph, or never end where the plan has them
  late,       ///< the plan misses a demand of the objective, such as a deadline; `result::score` says by how much
};

constexpr std::string_view to_string(status s) {
  switch (s) {
  case status::solved: return "solved";
  case status::optimal: return "optimal";
  case status::infeasible: return "infeasible";
  case status::not_found: return "not_found";
  case status::incomplete: return "incomplete";
  case status::late: return "late";
  }
  return "";
}

/// The status of a plan by its run and score. Sums in different orders may differ in the last digits, so a value
/// within 1e-9 of the bound counts as met. One below it does not: the bound is that of plans that keep to the
/// reservations.
constexpr status judge(const simulation& run, const score& s, const lower_bound& bound) {
  if (!run.complete || !(run.makespan < std::numeric_limits<double>::infinity())) {
    return status::incomplete;
  }
  if (s.violation > 0) {
    return status::late;
  }
  const bool met = s.value <= bound.value * (1 + 1e-9) && s.value >= bound.value * (1 - 1e-9);
  return met && s.value < std::numeric_limits<double>::infinity() ? status::optimal : status::solved;
}
/// The same for the makespan.
constexpr status judge(const simulation& run, const lower_bound& bound) { return judge(run, run.makespan, bound); }

/// Statistics of a solve and of its plan's run.
struct statistics {
  double partition_seconds = 0;  ///< wall-clock time of deciding where
  double simulate_seconds = 0;   ///< wall-clock time of running the plan in the simulator
  byte_count transfer_bytes = 0; ///< Σ over transfers of the tensor's size
  std::uint64_t num_events = 0;  ///< events of the simulation
};

/// A plan and how good it is; times in seconds.
struct result {
  weft::status status = status::not_found;
  weft::plan plan = {};
  double makespan = std::numeric_limits<double>::infinity(); ///< infinite without a plan that can be run
  weft::score score = makespan; ///< what was minimised: the makespan, if no objective was given
  lower_bound bound = {}; ///< no plan that keeps to the reservations has a smaller value of the score
  statistics stats = {};
  std::optional<infeasibility> reason = {}; ///< without a plan; prints with `<<`

  constexpr bool has_plan() const { return status == status::solved || status == status::optimal; }
  /// The same. To be asked first: without a plan, `plan` holds no device for any op.
  constexpr explicit operator bool() const { return has_plan(); }
  /// The gap of the score's value above the bound: `gap_above(bound, value)`, so 0.25 means at most 25 % above the
  /// optimum; infinite without a plan that can be run.
  constexpr double gap() const {
    return has_plan() ? gap_above(bound.value, score.value) : std::numeric_limits<double>::infinity();
  }

  /// Takes over a plan that was judged.
  constexpr void take(evaluated_plan&& x) {
    plan = std::move(x.plan);
    makespan = x.run.makespan;
    score = x.score;
    stats.transfer_bytes = x.run.transfer_bytes;
    stats.num_events = x.run.num_events;
    status = judge(x.run, x.score, bound);
  }
};

} // namespace weft
