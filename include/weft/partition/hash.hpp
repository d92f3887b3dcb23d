// SPDX-License-Identifier: BSL-1.0
/// Round-robin in random order: the baseline.
#pragma once

#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace weft::partition {

/// Round-robin over the devices: first the colocation groups in ascending order, then the single ops in the random
/// order of the seed. A device that does not fit is skipped for the next one.
///
/// The first device decides where the large groups end up, by accident. So the same distribution is tried from up to
/// `starts` first devices, and the one whose busiest device is least busy is kept (ties: the first).
/// Departs: the published code always begins with device 0, and its order of groups depends on how they are numbered.
/// Source: [CP] §3. Complexity: O(starts · (n + components·devices)) at worst.
/// Choose it as the baseline that others have to beat.
struct hash {
  std::uint32_t starts = 16; ///< number of first devices to try; 1 starts with device 0, as the published code does

  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p, rng& random, workspace& scratch) const {
    auto sequence = scratch.take<component_id>(p.num_components());
    std::iota(sequence.begin(), sequence.end(), 0u);
    const auto single = std::find_if(sequence.begin(), sequence.end(), [&](component_id c) { return !p.is_group(c); });
    std::span singles{single, sequence.end()};
    random.shuffle(singles);

    const auto k = static_cast<device_id>(p.num_devices());
    const auto tries = std::clamp<std::uint32_t>(starts, 1, k);
    placement best;
    infeasibility failure;
    bool found = false;
    double least = 0;
    for (std::uint32_t i = 0; i < tries; ++i) {
      assignment a{p};
      if (const component_id stuck = deal(a, sequence, static_cast<device_id>(std::uint64_t{i} * k / tries), k);
          stuck != none) {
        if (i == 0) {
          failure = a.why_unplaced(stuck);
        }
        continue;
      }
      double busiest = 0;
      for (const device_id d : ids(k)) {
        busiest = std::max(busiest, a.load(d));
      }
      if (!found || busiest < least) {
        found = true;
        least = busiest;
        best = std::move(a).take();
      }
    }
    if (!found) {
      return failure;
    }
    return best;
  }

private:
  /// Returns a component that fits nowhere, if there is one.
  template <class Problem, class Sequence>
  static constexpr component_id deal(assignment<Problem>& a, const Sequence& sequence, device_id next, device_id k) {
    for (const component_id c : sequence) {
      const device_id d = a.first_fit(c, next);
      if (d == none) {
        return c;
      }
      a.place(c, d);
      next = next + 1 == k ? 0 : next + 1;
    }
    return none;
  }
};

} // namespace weft::partition
