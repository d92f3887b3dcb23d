// SPDX-License-Identifier: BSL-1.0
/// Cuts a graph whose ops have labels into few groups of one label each that can run one after the other.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/graph/topological_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::graph {

namespace detail {

/// One way after the other to take groups of ready ops, of which the one with the fewest groups is kept.
template <class G>
class group_sequence {
public:
  using groups = std::vector<std::vector<op_id>>;

  group_sequence(const G& g, std::span<const std::uint32_t> labels) : g_{g}, label_(labels.begin(), labels.end()) {
    auto known = label_;
    weft::sort(known, std::less<>{});
    known.erase(std::unique(known.begin(), known.end()), known.end());
    count_ = known.size();
    for (auto& label : label_) {
      label = static_cast<std::uint32_t>(std::lower_bound(known.begin(), known.end(), label) - known.begin());
    }
    depth_.assign(label_.size(), 0);
    const auto order = topological_order(g);
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      for_each_successor(g, *v, [&](op_id c) {
        depth_[*v] = std::max(depth_[*v], depth_[c] + (label_[c] != label_[*v] ? 1u : 0u));
      });
      least_ = std::max<std::size_t>(least_, depth_[*v] + 1);
    }
    least_ = std::max(least_, count_);
  }

  groups best() {
    const bool few = count_ <= max_starts;
    for (const bool deepest : {true, false}) {
      for (std::size_t first = 0; first < (few ? count_ : 1); ++first) {
        if (best_.empty() || best_.size() > least_) {
          attempt(few ? first : none_chosen, deepest);
        }
      }
    }
    return std::move(best_);
  }

private:
  static constexpr std::size_t max_starts = 8;
  static constexpr std::size_t none_chosen = std::numeric_limits<std::size_t>::max();

  /// The ready ops of one label.
  struct ready_ops {
    std::vector<op_id> ops = {};
    std::uint32_t depth = 0; ///< of the deepest
  };

  void attempt(std::size_t first, bool deepest) {
    std::vector<ready_ops> ready(count_);
    const auto add = [&](op_id v) {
      auto& of = ready[label_[v]];
      of.depth = of.ops.empty() ? depth_[v] : std::max(of.depth, depth_[v]);
      of.ops.push_back(v);
    };
    release_counter waiting{g_};
    waiting.for_each_ready(add);
    if (first != none_chosen && ready[first].ops.empty()) {
      return; // this label cannot come first
    }
    groups found;
    for (std::size_t left = label_.size(); left != 0; first = none_chosen) {
      if (!best_.empty() && found.size() + 1 >= best_.size()) {
        return;
      }
      const std::size_t next = first != none_chosen ? first : choose(ready, deepest);
      auto& group = found.emplace_back();
      std::swap(group, ready[next].ops);
      for (std::size_t i = 0; i < group.size(); ++i) { // what becomes ready with the label goes along
        waiting.finish(g_, group[i], [&](op_id c) { label_[c] == next ? group.push_back(c) : add(c); });
      }
      left -= group.size();
    }
    best_ = std::move(found);
  }

  std::size_t choose(const std::vector<ready_ops>& ready, bool deepest) const {
    const auto rank = [&](const ready_ops& r) {
      return deepest ? std::pair<std::size_t, std::size_t>{r.depth, r.ops.size()}
                     : std::pair<std::size_t, std::size_t>{r.ops.size(), r.depth};
    };
    std::size_t chosen = none_chosen;
    for (std::size_t k = 0; k < ready.size(); ++k) {
      if (!ready[k].ops.empty() && (chosen == none_chosen || rank(ready[k]) > rank(ready[chosen]))) {
        chosen = k;
      }
    }
    return chosen;
  }

  const G& g_;
  std::vector<std::uint32_t> label_; // from 0, without gaps
  std::vector<std::uint32_t> depth_; // how often the label changes at least on the way to the end
  std::size_t count_ = 0;
  std::size_t least_ = 0; // no sequence has fewer groups
  groups best_;
};

} // namespace detail

/// The ops in groups of one label each, so that every op is in the same group as its predecessors or in a later one:
/// groups can run one after the other. Of each group, ops come after their predecessors in it.
///
/// Small is the number of groups. A group takes all ops of its label that are ready, and what they make ready, so it
/// could not be longer where it stands. Which label is next: that of the op from which the label changes most often on
/// a way to the end; in a second attempt, the one with most ready ops. Both are tried with every label that can come
/// first, if there are at most 8 labels, and end early at the bound that the longest way gives; the fewest groups
/// count, ties go to the first found, and among labels to the least. With two labels the result is the minimum: then
/// only the first label is open. With more it need not be (the general problem is NP-hard, as shortest common
/// supersequences of many sequences are).
///
/// Precondition: a label per op. Throws `cycle_error`. Complexity: O(min(k, 8) (n + m + k · groups)) for k labels.
template <must_be::walkable G>
std::vector<std::vector<op_id>> sequential_groups(const G& g, std::span<const std::uint32_t> labels) {
  return detail::group_sequence<G>{g, labels}.best();
}

} // namespace weft::graph
