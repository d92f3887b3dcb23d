// SPDX-License-Identifier: BSL-1.0
/// The ways that were compared, and the one to take.
#pragma once

#include "weft/parallel/simplest_way.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/way.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace weft::planner {

/// Steps whose ops and messages take so many times as long one after the other are not tried: little of that overlaps.
inline constexpr double most_overlap = 1.3;

/// The ways to share a step that were compared, and those that may be the ones to take.
struct comparison {
  std::vector<compared_way> ways = {};
  std::vector<std::shared_ptr<made_way>> kept = {}; ///< that fit, of which none makes another one needless
  std::shared_ptr<made_way> best = {};   ///< of these the one to take; null without any
  std::vector<reason> why_not = {};      ///< the reasons for which there are none, or no others
  /// All that were tried fit, also those that `ways` leaves out; of several choices of what runs again, with the last.
  bool all_fit = true;

  /// The fastest of those that are kept; null if there are none.
  const made_way* fastest() const {
    const auto at = std::min_element(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
      return a->timed().seconds < b->timed().seconds;
    });
    return at == kept.end() ? nullptr : at->get();
  }
  /// The seconds of its step; infinite if there are none.
  double least_seconds() const {
    const auto* const first = fastest();
    return first ? first->run.makespan : std::numeric_limits<double>::infinity();
  }

  /// Adds a way that could not be made, unless it is there with that reason.
  void add_misfit(const way& how, const reason& why) {
    all_fit = false;
    if (std::none_of(ways.begin(), ways.end(),
                     [&](const compared_way& w) { return w.how == how && w.why_not == why; })) {
      ways.push_back({.how = how, .why_not = why});
    }
  }

  /// Adds a way that was made, and keeps it if it may be the one to take.
  void add(std::shared_ptr<made_way> x) {
    ways.push_back(x->figures);
    all_fit = all_fit && x->fits();
    if (x->fits()) {
      keep(std::move(x));
    }
  }

  /// Keeps a way that fits, unless another one makes it needless.
  void keep(std::shared_ptr<made_way> x) {
    const auto timed = x->timed();
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const auto& other) { return parallel::makes_needless(other->timed(), timed); })) {
      return;
    }
    std::erase_if(kept, [&](const auto& other) { return parallel::makes_needless(timed, other->timed()); });
    kept.push_back(std::move(x));
  }

  /// The fastest first, what does not fit last.
  void sort() {
    std::stable_sort(ways.begin(), ways.end(), [](const compared_way& a, const compared_way& b) {
      return std::pair{static_cast<bool>(a.why_not), a.seconds} < std::pair{static_cast<bool>(b.why_not), b.seconds};
    });
  }
};

} // namespace weft::planner
