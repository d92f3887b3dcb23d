// SPDX-License-Identifier: BSL-1.0
/// The units of contiguous splits: components, contracted where they need each other's outputs.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/graph/strong_components.hpp"
#include "weft/throughput/flow.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::throughput::detail {

/// Whether v belongs to a backward pass: its type is "backward". Workloads without types have none.
template <class W>
constexpr bool is_backward(const W& w, op_id v) {
  if constexpr (requires { std::string_view{w.type(v)}; }) {
    return std::string_view{w.type(v)} == "backward";
  } else {
    return false;
  }
}

/// A split is **contiguous** if what its pieces hand to each other in the forward pass has no cycle. So order is asked
/// of edges between forward ops only; backward ops follow their component, and a component of backward ops only, which
/// has no forward twin, is ordered by its backward edges read in reverse, as its twin would be. Components on a cycle
/// of that order are one **block**. Blocks are numbered so that each comes after its predecessors.
/// Construction: O(n + m). Source: Tarnawski et al., NeurIPS 2020, section 5.3.
template <class Problem>
class blocks {
public:
  explicit blocks(const flow<Problem>& f) {
    const auto n = f.num_components();
    std::vector<std::vector<component_id>> after(n);
    order_components(f.problem(), after);
    contract(after);
    connect(after);
  }

  std::size_t size() const { return members_.size(); }
  std::uint32_t block(component_id c) const { return block_[c]; }
  const std::vector<component_id>& members(std::uint32_t b) const { return members_[b]; }
  const std::vector<std::uint32_t>& successors(std::uint32_t b) const { return successors_[b]; }
  const std::vector<std::uint32_t>& predecessors(std::uint32_t b) const { return predecessors_[b]; }

  /// The blocks, each after its predecessors and close behind the last of them: of those that are ready, the one
  /// that became ready last, ties by larger number.
  std::vector<std::uint32_t> depth_first_order() const {
    std::vector<std::uint32_t> ready;
    std::vector<std::uint32_t> order;
    const auto push = [&](std::uint32_t b) { ready.push_back(b); };
    graph::release_counter waiting{successors_};
    waiting.for_each_ready(push);
    while (!ready.empty()) {
      const std::uint32_t b = ready.back();
      ready.pop_back();
      order.push_back(b);
      waiting.finish(successors_, b, push);
    }
    return order;
  }

private:
  static void order_components(const Problem& p, std::vector<std::vector<component_id>>& after) {
    const auto& w = p.workload();
    std::vector<std::uint8_t> has_forward(p.num_components(), 0);
    for (const op_id v : ids(p.num_ops())) {
      if (!is_backward(w, v)) {
        has_forward[p.component(v)] = 1;
      }
    }
    for (const tensor_id t : ids(p.num_tensors())) {
      const op_id u = w.producer(t);
      const component_id from = p.component(u);
      for (const op_id v : w.consumers(t)) {
        const component_id to = p.component(v);
        if (from == to) {
          continue;
        }
        if (!is_backward(w, u) && !is_backward(w, v)) {
          after[from].push_back(to);
        } else if (is_backward(w, u) && is_backward(w, v) && !(has_forward[from] && has_forward[to])) {
          after[to].push_back(from);
        }
      }
    }
  }

  void contract(const std::vector<std::vector<component_id>>& after) {
    block_ = graph::strong_components(after);
    members_.resize(block_.empty() ? 0 : *std::ranges::max_element(block_) + 1);
    for (component_id c = 0; c < after.size(); ++c) {
      members_[block_[c]].push_back(c);
    }
  }

  void connect(const std::vector<std::vector<component_id>>& after) {
    successors_.resize(size());
    predecessors_.resize(size());
    for (component_id c = 0; c < after.size(); ++c) {
      for (const component_id s : after[c]) {
        if (block_[s] != block_[c]) {
          successors_[block_[c]].push_back(block_[s]);
        }
      }
    }
    for (std::uint32_t b = 0; b < size(); ++b) {
      auto& s = successors_[b];
      weft::sort(s);
      s.erase(std::unique(s.begin(), s.end()), s.end());
      for (const std::uint32_t t : s) {
        predecessors_[t].push_back(b);
      }
    }
  }

  std::vector<std::uint32_t> block_;                    // per component
  std::vector<std::vector<component_id>> members_;      // ascending
  std::vector<std::vector<std::uint32_t>> successors_;  // ascending
  std::vector<std::vector<std::uint32_t>> predecessors_;
};

} // namespace weft::throughput::detail
