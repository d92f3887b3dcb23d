// SPDX-License-Identifier: BSL-1.0
/// What a solver returns.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/ids.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace weft {

/// How a solve ended.
enum class status : std::uint8_t {
  solved,     ///< there is a plan and its makespan
  optimal,    ///< the same, and no plan is better
  infeasible, ///< it is proven that there is no plan; `result::reason` says why
  not_found,  ///< no plan was found, and there may be one; `result::reason` says what was in the way
  incomplete, ///< the plan's order contradicts the graph, so that some ops never run
};

constexpr std::string_view to_string(status s) {
  switch (s) {
  case status::solved: return "solved";
  case status::optimal: return "optimal";
  case status::infeasible: return "infeasible";
  case status::not_found: return "not_found";
  case status::incomplete: return "incomplete";
  }
  return "";
}

/// What a solve cost and what its run did.
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
  lower_bound bound = {}; ///< no plan that keeps to the reservations has a smaller makespan
  statistics stats = {};
  std::optional<infeasibility> reason = {}; ///< without a plan

  constexpr bool has_plan() const { return status == status::solved || status == status::optimal; }
  /// How far the makespan is above the bound: `gap_above(bound, makespan)`, so 0.25 means at most 25 % above the
  /// optimum; infinite without a plan that can be run.
  constexpr double gap() const {
    return has_plan() ? gap_above(bound.value, makespan) : std::numeric_limits<double>::infinity();
  }
};

} // namespace weft
