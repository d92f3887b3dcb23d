// SPDX-License-Identifier: BSL-1.0
/// Depth-first from the most important sources, so that paths stay together.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/importance.hpp"
#include "weft/partition/traffic.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft::partition {

/// Visits the graph depth-first, from the sources in descending importance, and gives each component that it meets to
/// the fitting device with the smallest execution · traffic (see partition/traffic.hpp; ties: the smaller id). Of an
/// op's consumers, the one with the most remaining work comes first; ties are broken by the seed.
/// Departs: the published code truncates traffic to integers, so that small transfers count as none, and replaces 0 by
/// 10⁻⁶. With exact traffic, a factor of 10⁻⁶ pulls every connected part of the graph onto one device. So a term of 0
/// is replaced by `zero_term`.
/// Source: [CP] §3. Complexity: O(devices · (n + traffic of each op) + m log n).
/// Choose it to compare with [CP], or where neighbours have to stay together because transfers dominate all other
/// costs.
struct dfs {
  /// Replaces a term of 0, so that it does not cancel the other. If it is much smaller, every connected part of the
  /// graph ends up on one device.
  double zero_term = 0.01;

  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p, rng& random, workspace& scratch) const {
    const auto& w = p.workload();
    assignment a{p};
    execution_and_traffic<Problem> value{p, zero_term};
    auto seen = scratch.take<std::uint8_t>(p.num_ops());
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
        value.look_at(c, a);
        const device_id d = a.best_fit(c, [&](device_id e) { return value.product(e); });
        if (d == none) {
          return a.why_unplaced(c);
        }
        a.place(c, d);
      }
      children.clear();
      graph::for_each_successor(w, v, [&](op_id c) {
        if (!seen[c]) {
          children.push_back(c);
        }
      });
      weft::sort(children,
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
    weft::sort(result, [&](op_id u, op_id v) { // the most important last, where it is taken first
      return imp[u] != imp[v] ? imp[u] < imp[v] : tie[u] < tie[v];
    });
    return result;
  }
};

} // namespace weft::partition
