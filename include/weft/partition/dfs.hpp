// SPDX-License-Identifier: BSL-1.0
/// Depth-first from the most important sources, so that paths stay together.
#pragma once

#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/importance.hpp"
#include "weft/partition/traffic.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft::partition {

/// Visits the graph depth-first, from the sources in descending importance, and gives each component that it meets to
/// the fitting device with the smallest execution · traffic (both as in `mite`, ties to the smaller id). Of an op's
/// consumers the one with the most remaining work comes first; ties are broken by the seed. [CP] §3
/// Complexity: O(devices · (n + traffic of each op) + m log n).
struct dfs {
  /// What a term of 0 counts, so that it does not erase the other. Much smaller, and everything that hangs together
  /// ends up on one device.
  double zero_term = 0.01;

  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p, rng& random, workspace& scratch) const {
    const auto& w = p.workload();
    assignment a{p};
    added_traffic traffic{p};
    auto seen = scratch.take<std::uint8_t>(p.num_ops());
    auto seconds = scratch.take<double>(p.num_devices());
    // What is still to visit, the next one last. An op may wait more than once; only its first visit counts.
    const auto tie = random_ranks(p, random, scratch);
    const auto down = work_to_sink(p);
    auto waiting = sources(p, tie);
    std::vector<op_id> children;
    while (!waiting.empty()) {
      const op_id v = waiting.back();
      waiting.pop_back();
      if (seen[v]) {
        continue;
      }
      seen[v] = 1;
      if (const component_id c = p.component(v); !a.is_placed(c)) {
        const device_id d = choose(p, a, c, traffic.of(c, a), seconds);
        if (d == none) {
          return a.why_unplaced(c);
        }
        a.place(c, d);
      }
      children.clear();
      for (const tensor_id t : w.outputs(v)) {
        for (const op_id c : w.consumers(t)) {
          if (!seen[c]) {
            children.push_back(c);
          }
        }
      }
      std::sort(children.begin(), children.end(),
                [&](op_id x, op_id y) { return down[x] != down[y] ? down[x] < down[y] : tie[x] < tie[y]; });
      waiting.insert(waiting.end(), children.begin(), children.end());
    }
    return std::move(a).take();
  }

private:
  template <class Problem>
  static constexpr std::vector<op_id> sources(const Problem& p, std::span<const std::uint32_t> tie) {
    const auto imp = importance(p);
    std::vector<op_id> result;
    for (const op_id v : ids(p.num_ops())) {
      if (std::ranges::empty(p.workload().inputs(v))) {
        result.push_back(v);
      }
    }
    std::sort(result.begin(), result.end(), [&](op_id u, op_id v) { // the most important last, where it is taken first
      return imp[u] != imp[v] ? imp[u] < imp[v] : tie[u] < tie[v];
    });
    return result;
  }

  template <class Problem>
  constexpr device_id choose(const Problem& p, const assignment<Problem>& a, component_id c,
                             std::span<const double> traffic, std::span<double> seconds) const {
    double most_traffic = 0;
    double most_execution = 0;
    for (const device_id d : ids(p.num_devices())) {
      if (a.fits(c, d)) {
        seconds[d] = p.component_time(c, d);
        most_traffic = std::max(most_traffic, traffic[d]);
        most_execution = std::max(most_execution, a.load(d) + seconds[d]);
      }
    }
    const auto term = [this](double x) { return x == 0 ? zero_term : x; };
    return a.best_fit(c, [&](device_id d) {
      const double t = most_traffic > 0 ? term(traffic[d] / most_traffic) : 1;
      const double e = most_execution > 0 ? term((a.load(d) + seconds[d]) / most_execution) : 1;
      return t * e;
    });
  }
};

} // namespace weft::partition
