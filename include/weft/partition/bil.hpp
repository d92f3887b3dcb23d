// SPDX-License-Identifier: BSL-1.0
/// Best imaginary level scheduling: levels as if every op got its best device.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/list/future_costs.hpp"
#include "weft/partition/list/schedule_builder.hpp"
#include "weft/schedule/queue_end.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weft::partition {

/// BIL: the best imaginary level of an op on a device is its compute time there plus the longest path to the end if
/// every consumer ran on the device that makes its path shortest. The imaginary makespan (BIM) there is the op's start
/// plus that level. With r ready ops, the one whose min(r, devices)-th smallest BIM is largest comes next (ties: the
/// next smaller BIM, and so on, then topologically first); an op that fits fewer devices counts with its largest BIM.
/// It goes to the device with the least BIM + compute time · max(r / devices − 1, 0), without insertion (ties: the
/// smaller device id).
///
/// Kinds, memory, colocation, slots and sends as in `list_scheduler`; a device that an op does not fit has no BIM.
/// Departs: levels count mean transfer times, because links differ. Ties between devices with the same revised BIM are
/// not broken by the sum of the others'.
/// Source: Oh, Ha, Euro-Par 1996. Complexity: O(devices · (n + m) + n · ready ops · devices log devices).
/// Memory: 8 bytes per op and device, by definition. Uses no randomness.
/// Choose it for unrelated devices with cheap transfers, and graphs that are not wide.
struct bil {
  template <class Problem>
  constexpr outcome<plan> operator()(const Problem& p, rng&, workspace& scratch) const {
    const auto& w = p.workload();
    const std::size_t k = p.num_devices();
    const auto level = list::future_costs(
      p, [&](op_id v, device_id d) { return p.compute_time(v, d); },
      [](op_id, op_id, device_id, double later) { return later; });
    list::schedule_builder<Problem, schedule::queue_end> b{p};
    graph::release_counter waiting{w, scratch.template take<std::uint32_t>()};
    auto position = scratch.template take<std::uint32_t>(p.num_ops());
    std::vector<op_id> ready;
    std::uint32_t number = 0;
    for (const op_id v : p.topological_order()) {
      position[v] = number++;
    }
    waiting.for_each_ready([&](op_id v) { ready.push_back(v); });
    std::vector<double> makespans(k, 0.0);
    std::vector<double> largest(k, 0.0);
    while (!ready.empty()) {
      const std::size_t last = std::min(ready.size(), k);
      std::size_t chosen = ready.size();
      for (std::size_t i = 0; i < ready.size(); ++i) {
        imaginary_makespans(b, ready[i], level, makespans);
        weft::sort(makespans);
        repeat_largest(makespans);
        if (chosen == ready.size() ||
            precedes(makespans, largest, last, position[ready[i]] < position[ready[chosen]])) {
          chosen = i;
          largest = makespans;
        }
      }
      const op_id v = std::exchange(ready[chosen], ready.back());
      const double crowd = std::max(static_cast<double>(ready.size()) / static_cast<double>(k) - 1, 0.0);
      ready.pop_back();
      imaginary_makespans(b, v, level, makespans);
      device_id best = none;
      double least = infinity;
      for (const device_id d : ids(k)) {
        if (!(makespans[d] < infinity)) {
          continue; // not allowed, or it would take for ever
        }
        if (const double revised = makespans[d] + rounded(p.compute_time(v, d) * crowd); revised < least) {
          best = d;
          least = revised;
        }
      }
      if (best == none) {
        return b.why_unplaced(v);
      }
      b.take(v, b.at(v, best));
      waiting.finish(w, v, [&](op_id c) { ready.push_back(c); });
    }
    return std::move(b).decided(scratch);
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// By device; infinite where v does not go.
  template <class Builder>
  static constexpr void imaginary_makespans(Builder& b, op_id v, const std::vector<double>& level,
                                            std::vector<double>& into) {
    for (const device_id d : ids(into.size())) {
      into[d] = b.allows(v, d) ? b.at(v, d).start + level[v * into.size() + d] : infinity;
    }
  }

  /// Ascending: puts the largest finite value in the place of infinite ones, if there is one.
  static constexpr void repeat_largest(std::vector<double>& values) {
    const auto finite = std::lower_bound(values.begin(), values.end(), infinity);
    if (finite != values.begin()) {
      std::fill(finite, values.end(), *(finite - 1));
    }
  }

  /// Both ascending: whether `a` has the larger value at the `count`-th place, or, if that is the same, before it.
  static constexpr bool precedes(const std::vector<double>& a, const std::vector<double>& b, std::size_t count,
                                 bool first) {
    for (std::size_t i = count; i-- > 0;) {
      if (a[i] != b[i]) {
        return a[i] > b[i];
      }
    }
    return first;
  }
};

} // namespace weft::partition
