// SPDX-License-Identifier: BSL-1.0
/// The best way to run a step, and what its search may spend.
#pragma once

#include "weft/planner/choice.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/made_way.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace weft::planner {

/// The budget of a search for a plan with each op on one device.
struct search_budget {
  std::uint64_t moves = 400'000;
  double seconds = std::numeric_limits<double>::infinity();
};

/// The best way to run a step. It refers to the machine.
struct best_way {
  comparison ways = {};             ///< that were compared; `ways.best` is the one to take, null: `placed`
  std::optional<untaken> faster = {}; ///< a way that is faster, though not by enough
  /// The plan with each op on one device and the step that it is of; null if there is none, or if it cannot be the way
  /// to take.
  std::shared_ptr<const made_way> placed = {};

  /// The way to run; null if nothing was found that fits.
  const made_way* taken() const { return ways.best ? ways.best.get() : placed.get(); }
  explicit operator bool() const { return taken() != nullptr; }
};

} // namespace weft::planner
