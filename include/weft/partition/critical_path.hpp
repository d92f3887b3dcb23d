// SPDX-License-Identifier: BSL-1.0
/// The critical path on the fastest device, the rest balanced.
#pragma once

#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <vector>

namespace weft::partition {

/// Finds the critical path by upward rank at average speed, gives its ops (with their components) to the fastest
/// device that they fit, and every other component, in the random order of the seed, to the fitting device with the
/// least assigned compute time. [CP] §3
///
/// An op's average time is the inverse of its mean rate over the devices (work / mean speed for linear costs), a
/// tensor's the mean transfer time from the first device to each other one. Ties on the path go to the smaller id.
/// Complexity: O(n·devices + m).
struct critical_path {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p, rng& random, workspace& scratch) const {
    assignment a{p};
    for (const op_id v : path(p, scratch)) {
      const component_id c = p.component(v);
      if (a.is_placed(c)) {
        continue;
      }
      const device_id d = a.best_fit(c, [&](device_id e) { return p.component_time(c, e); });
      if (d == none) {
        return a.why_unplaced(c);
      }
      a.place(c, d);
    }
    auto sequence = scratch.take<component_id>(p.num_components());
    std::iota(sequence.begin(), sequence.end(), 0u);
    random.shuffle(sequence);
    for (const component_id c : sequence) {
      if (a.is_placed(c)) {
        continue;
      }
      const device_id d = a.best_fit(c, [&](device_id e) { return a.load(e); });
      if (d == none) {
        return a.why_unplaced(c);
      }
      a.place(c, d);
    }
    return std::move(a).take();
  }

private:
  template <class Problem>
  static constexpr std::vector<op_id> path(const Problem& p, workspace& scratch) {
    const auto& w = p.workload();
    const auto k = static_cast<device_id>(p.num_devices());
    auto rank = scratch.take<double>(p.num_ops(), 0.0);
    auto next = scratch.take<op_id>(p.num_ops(), none);
    for (const op_id v : p.topological_order() | std::views::reverse) {
      double rest = 0;
      for (const tensor_id t : w.outputs(v)) {
        double transfer = 0;
        for (device_id d = 1; d < k; ++d) {
          transfer += p.transfer_time(t, 0, d) / (k - 1);
        }
        for (const op_id c : w.consumers(t)) {
          const double through = transfer + rank[c];
          if (next[v] == none || through > rest || (through == rest && c < next[v])) {
            rest = through;
            next[v] = c;
          }
        }
      }
      rank[v] = rest + average_time(p, v);
    }
    op_id at = none;
    for (const op_id v : ids(p.num_ops())) {
      if (at == none || rank[v] > rank[at]) {
        at = v;
      }
    }
    std::vector<op_id> result;
    for (; at != none; at = next[at]) {
      result.push_back(at);
    }
    return result;
  }

  template <class Problem>
  static constexpr double average_time(const Problem& p, op_id v) {
    double rate = 0;
    for (const device_id d : ids(p.num_devices())) {
      const double seconds = p.compute_time(v, d);
      if (seconds == 0) {
        return 0;
      }
      rate += 1 / seconds;
    }
    return static_cast<double>(p.num_devices()) / rate;
  }
};

} // namespace weft::partition
