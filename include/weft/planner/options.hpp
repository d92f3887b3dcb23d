// SPDX-License-Identifier: BSL-1.0
/// Options of the planner.
#pragma once

#include "weft/core/stop_pointer.hpp"
#include "weft/plan/contention.hpp"
#include "weft/planner/way.hpp"
#include "weft/workload/recomputation.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace weft::planner {

/// The next thing that the planner does, for those who wait for it.
struct attempt {
  enum class kind : std::uint8_t {
    way,              ///< it makes that way
    least_batch,      ///< it looks for the smallest batch for which that way pays
    ops_each_on_one   ///< it searches for a plan with each op on one device
  };
  kind is = kind::way;
  way how = {};
};

/// Options of `share` and `best`.
struct options {
  wanted_ways ways = {};
  contention_model contention = contention_model::none; ///< of transfers on links
  double least_gain = 0.05;  ///< by which each feature of a way has to make a step faster (`simplest_within`)
  std::uint64_t seed = 0;    ///< of the search for orders of micro-batches
  unsigned jobs = 1;         ///< threads of the search for splits of ops
  stop_pointer stop = nullptr; ///< ends with the best way so far; must outlive the work
  std::function<void(const attempt&)> on_attempt = {};
  /// Choices of what runs again for the backward pass, tried until all ways fit; empty: as the model does. A plan
  /// with each op on one device is searched for with the step as it is given.
  std::vector<std::optional<recomputation>> recomputations = {};
};

} // namespace weft::planner
