// SPDX-License-Identifier: BSL-1.0
/// The order of layers in which each comes after those that it reads.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/edges.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace weft::partition::detail {

/// Layers 0 … `count` - 1 in an order in which each comes after those that it reads something of in the forward pass,
/// be it by way of ops that are in no layer; of those that may come next, the one with the smallest number. Where
/// layers read each other, the smallest number that is left comes next. `layer[c]` is that of component c, or `none`;
/// `is_gradient(v)` says which ops are not of the forward pass; nor is what follows them.
/// Complexity: O(n + m + count log count).
template <class Problem, class IsGradient>
std::vector<std::uint32_t> order_of_layers(const Problem& p, const std::vector<std::uint32_t>& layer,
                                           std::size_t count, IsGradient is_gradient) {
  const auto& w = p.workload();
  const auto node_of = [&](op_id v) { // a layer, or else a component
    const auto c = p.component(v);
    return layer[c] == none ? static_cast<std::uint32_t>(count + c) : layer[c];
  };
  std::vector<bool> is_forward(p.num_ops(), false);
  std::vector<std::uint32_t> waits(count + p.num_components(), 0);
  std::vector<std::vector<op_id>> members(count + p.num_components());
  for (const op_id v : p.topological_order()) {
    bool follows = is_gradient(v);
    graph::for_each_predecessor(w, v, [&](op_id u) { follows = follows || !is_forward[u]; });
    is_forward[v] = !follows;
    if (is_forward[v]) {
      members[node_of(v)].push_back(v);
      graph::for_each_predecessor(w, v, [&](op_id u) { waits[node_of(v)] += node_of(u) != node_of(v); });
    }
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready; // layers
  std::vector<std::uint32_t> open; // what is done, and others may have waited for
  const auto release = [&](std::uint32_t node) { node < count ? ready.push(node) : open.push_back(node); };
  for (std::uint32_t node = 0; node < waits.size(); ++node) {
    waits[node] == 0 ? release(node) : void();
  }
  std::vector<bool> done(count, false);
  std::vector<std::uint32_t> order;
  for (std::uint32_t first = 0; order.size() < count;) {
    while (!open.empty()) {
      const auto node = open.back();
      open.pop_back();
      for (const op_id v : members[node]) {
        graph::for_each_successor(w, v, [&](op_id u) {
          if (is_forward[u] && node_of(u) != node && --waits[node_of(u)] == 0) {
            release(node_of(u));
          }
        });
      }
    }
    while (done[first]) {
      ++first;
    }
    const auto next = ready.empty() ? first : ready.top();
    ready.empty() ? void() : ready.pop();
    if (!done[next]) {
      done[next] = true;
      order.push_back(next);
      open.push_back(next);
    }
  }
  return order;
}

} // namespace weft::partition::detail
