// SPDX-License-Identifier: BSL-1.0
/// The order of a tree's ops with the smallest peak of memory, and such an order for graphs that are nearly trees.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/detail/placed_live_ranges.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::refine::detail {

/// The order of [Liu]: what each subtree does to memory is a sequence of segments, each of which goes up a hill and
/// then down to a valley; of several subtrees, the segments are run by the height of their hills over the valleys
/// behind, the largest first, and hills that only lead to lower valleys become part of one segment.
class tree_search {
public:
  explicit tree_search(const placed_live_ranges& x) : x_{x}, after_(x.num_ops, none), subtrees_(x.num_ops + 1) {}

  /// Ops of a tree, in which each op's outputs are read by one op, in an order with the least peak. Of other graphs,
  /// the tree has an edge from each op to the reader that comes last in topological order, and an op that would run
  /// before its inputs are there waits for them.
  std::vector<op_id> order() {
    const auto sorted = topological({});
    std::vector<std::uint32_t> rank(x_.num_ops + 1, x_.num_ops);
    for (std::uint32_t i = 0; i < x_.num_ops; ++i) {
      rank[sorted[i]] = i;
    }
    for (const op_id v : sorted) {
      op_id parent = none;
      for (const auto k : x_.leads_to.positions(v)) {
        const op_id c = x_.leads_to.numbers[k];
        parent = parent == none || rank[c] > rank[parent] ? c : parent;
      }
      add(v);
      join(subtrees_[v], subtrees_[parent == none ? x_.num_ops : parent]);
    }
    auto& all = subtrees_[x_.num_ops];
    merge(all);
    std::uint32_t turn = 0;
    std::vector<std::uint32_t> turns(x_.num_ops, 0);
    for (const segment& s : all.segments) {
      for (op_id v = s.first; v != none; v = after_[v]) {
        turns[v] = turn++;
      }
    }
    return topological(turns);
  }

private:
  struct segment {
    std::int64_t hill = 0;   // bytes above where it begins
    std::int64_t valley = 0; // bytes above where it begins, at its end
    op_id first = none;      // its ops, linked by after_
    op_id last = none;
  };
  struct subtree {
    buffer<segment> segments;
    std::int64_t kept = 0; // bytes at their end
    bool is_merged = true;
  };

  /// Each op as soon as all that it waits for is there, those with the smallest turn first; without turns, by id.
  std::vector<op_id> topological(const std::vector<std::uint32_t>& turns) const {
    std::vector<std::uint32_t> waits{x_.waits.begin(), x_.waits.begin() + x_.num_ops};
    std::vector<op_id> ready;
    const auto later = [&](op_id a, op_id b) { return turns.empty() ? a > b : turns[a] > turns[b]; };
    const auto push = [&](op_id v) {
      ready.push_back(v);
      std::push_heap(ready.begin(), ready.end(), later);
    };
    for (op_id v = 0; v < x_.num_ops; ++v) {
      if (waits[v] == 0) {
        push(v);
      }
    }
    std::vector<op_id> order;
    while (!ready.empty()) {
      std::pop_heap(ready.begin(), ready.end(), later);
      const op_id v = ready.back();
      ready.pop_back();
      order.push_back(v);
      for (const auto k : x_.leads_to.positions(v)) {
        if (--waits[x_.leads_to.numbers[k]] == 0) {
          push(x_.leads_to.numbers[k]);
        }
      }
    }
    return order;
  }

  static void join(subtree& part, subtree& whole) {
    whole.is_merged = whole.segments.empty();
    whole.kept += part.kept;
    if (whole.is_merged) {
      std::swap(whole.segments, part.segments);
    } else {
      whole.segments.append(part.segments.begin(), part.segments.end());
    }
    part = {};
  }
  void merge(subtree& x) {
    if (x.is_merged) {
      return;
    }
    weft::stable_sort(x.segments,
                      [](const segment& a, const segment& b) { return a.hill - a.valley > b.hill - b.valley; });
    for (const segment& s : std::exchange(x.segments, {})) {
      append(x.segments, s);
    }
    x.is_merged = true;
  }

  /// Ends the segments of v's subtrees with v.
  void add(op_id v) {
    subtree& x = subtrees_[v];
    merge(x);
    std::int64_t hill = 0;
    std::int64_t left = 0;
    for (const auto k : x_.makes.positions(v)) {
      const std::uint32_t s = x_.makes.numbers[k];
      hill += static_cast<std::int64_t>(x_.bytes[s]);
      left += x_.holders[s] > 1 ? static_cast<std::int64_t>(x_.bytes[s]) : 0;
    }
    for (const auto k : x_.overwrites.positions(v)) {
      hill -= static_cast<std::int64_t>(x_.bytes[x_.overwrites.numbers[k]]);
    }
    const std::int64_t valley = left - x.kept;
    x.kept = left;
    append(x.segments, {x_.seconds[v] > 0 ? std::max(hill, valley) : valley, valley, v, v});
  }

  void append(buffer<segment>& row, segment next) {
    while (!row.empty() && (next.valley <= 0 || row.back().hill - row.back().valley <= next.hill)) {
      const segment before = row.back();
      row.pop_back();
      after_[before.last] = next.first;
      next = {std::max(before.hill, before.valley + next.hill), before.valley + next.valley, before.first, next.last};
    }
    row.push_back(next);
  }

  const placed_live_ranges& x_;
  std::vector<op_id> after_;
  std::vector<subtree> subtrees_; // per op; last: all
};

/// [Liu]: J. W. H. Liu, *An Application of Generalized Tree Pebbling to Sparse Matrix Factorization*, SIAM J. Algebraic
/// Discrete Methods 8, 1987. Complexity: O(n² log n) at worst, O((n + m) log n) where segments are few.
inline std::vector<op_id> tree_order(const placed_live_ranges& x) {
  return tree_search{x}.order();
}

} // namespace weft::refine::detail
