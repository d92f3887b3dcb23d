// SPDX-License-Identifier: BSL-1.0
/// Short ops joined with what comes before or after them, to items that executors run as one.
#pragma once

#include "weft/concurrency/op_graph.hpp"
#include "weft/core/sort.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::execute {

/// Bounds for joining ops.
struct joining {
  double short_seconds = 1e-5; ///< an op that takes less is short: to hand it over costs as much
  double most_seconds = 5e-5;  ///< of short ops in an item: what waits for one of its ops waits that long for others
};

/// Divides ops into items. A short op joins the item that has all of its predecessors, else the one that has all of its
/// successors, so that the graph of items is as acyclic as that of the ops; all others are items of their own.
/// Complexity: O(n + m).
class items {
public:
  items() = default;

  /// `seconds` is by op.
  items(const concurrency::op_graph& g, std::span<const double> seconds, const joining& o = {})
      : item_of_(g.num_ops(), none) {
    const auto order = g.topological_order();
    std::vector<double> short_seconds(g.num_ops(), 0); // by item, which has the number of its first op at first
    std::vector<std::uint32_t> from(g.num_ops(), none); // by op: the item of its predecessors, `several` of more
    constexpr std::uint32_t several = none - 1;
    for (const op_id v : order) {
      const bool is_short = seconds[v] < o.short_seconds;
      const std::uint32_t before = from[v];
      const bool joins = is_short && before != none && before != several &&
                         short_seconds[before] + seconds[v] <= o.most_seconds;
      item_of_[v] = joins ? before : v;
      short_seconds[item_of_[v]] += is_short ? seconds[v] : 0;
      for (const op_id w : g.consumers(v)) {
        from[w] = from[w] == none || from[w] == item_of_[v] ? item_of_[v] : several;
      }
    }
    join_successors(g, seconds, o, short_seconds);
    number(order);
  }

  std::size_t num_items() const { return first_.empty() ? 0 : first_.size() - 1; }
  std::size_t num_ops() const { return item_of_.size(); }
  std::uint32_t item_of(op_id v) const { return item_of_[v]; }
  /// In an order in which they may run.
  std::span<const op_id> ops(std::uint32_t item) const {
    return std::span{ops_}.subspan(first_[item], first_[item + 1] - first_[item]);
  }

private:
  /// Items of short ops only, whose successors are all in one.
  void join_successors(const concurrency::op_graph& g, std::span<const double> seconds, const joining& o,
                       std::vector<double>& short_seconds) {
    const auto order = g.topological_order();
    std::vector<std::vector<op_id>> members(g.num_ops());
    for (const op_id v : order) {
      members[item_of_[v]].push_back(v);
    }
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::uint32_t item = order[i];
      if (members[item].empty()) {
        continue;
      }
      std::uint32_t only = none;
      bool may_join = true;
      for (const op_id v : members[item]) {
        may_join = may_join && seconds[v] < o.short_seconds;
        for (const op_id w : g.consumers(v)) {
          const std::uint32_t other = item_of_[w];
          may_join = may_join && (other == item || only == none || only == other);
          only = other == item ? only : other;
        }
      }
      if (may_join && only != none && short_seconds[only] + short_seconds[item] <= o.most_seconds) {
        for (const op_id v : members[item]) {
          item_of_[v] = only;
          members[only].push_back(v);
        }
        short_seconds[only] += short_seconds[item];
        members[item].clear();
      }
    }
  }

  /// Numbers items by their first op, and lists their ops.
  void number(std::span<const op_id> order) {
    std::vector<std::uint32_t> numbers(item_of_.size(), none);
    std::uint32_t count = 0;
    for (const op_id v : order) {
      auto& number = numbers[item_of_[v]];
      number = number == none ? count++ : number;
      item_of_[v] = number;
    }
    first_.assign(std::size_t{count} + 1, 0);
    for (const std::uint32_t i : item_of_) {
      ++first_[i + 1];
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      first_[i + 1] += first_[i];
    }
    ops_.resize(order.size());
    auto next = first_;
    for (const op_id v : order) {
      ops_[next[item_of_[v]]++] = v;
    }
  }

  std::vector<std::uint32_t> item_of_; // by op
  std::vector<std::uint32_t> first_;   // by item, into the next
  std::vector<op_id> ops_;
};

} // namespace weft::execute
