// SPDX-License-Identifier: BSL-1.0
/// Reductions of problems of choosing variants that keep an optimum.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/shard/detail/core.hpp"
#include "weft/shard/cost_pool.hpp"
#include "weft/shard/detail/make_core.hpp"
#include "weft/shard/detail/moments.hpp"
#include "weft/shard/detail/reducible.hpp"
#include "weft/shard/variant_problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::shard::detail {

/// Applies, until none changes anything or `max_rounds`:
///   - a variant goes that no variant of some neighbour can be with (arc consistency), or whose bytes do not fit even
///     if all others are smallest;
///   - a variant goes if another one of its node is never worse, whatever is chosen elsewhere, and no larger;
///   - an edge whose matrix is a sum of a row's and a column's costs becomes costs of its ends;
///   - a node whose variant follows from a neighbour's, as the only one that may be with it, is merged into that one.
/// A node with one variant becomes a fixed cost.
class reducer {
public:
  explicit reducer(const variant_problem& p) : p_{p}, moments_{p} { load(); }

  /// `over()` says whether to leave it at what was reduced so far.
  template <class Over>
  core run(Over over) {
    bool changed = true;
    for (int round = 0; round < max_rounds && changed && !infeasible_ && !over(); ++round) {
      remove_impossible();
      remove_too_large();
      if (infeasible_) {
        break;
      }
      changed = compact();
      changed |= drop_separable_edges();
      changed |= merge_determined();
      if (round < max_rounds - 1) {
        changed |= remove_dominated();
      }
    }
    // In this order: what is too large leaves neighbours with variants that nothing can be with.
    if (!infeasible_) {
      remove_too_large();
    }
    if (!infeasible_) {
      remove_impossible();
    }
    if (infeasible_) {
      core none_left;
      none_left.infeasible = true;
      return none_left;
    }
    compact();
    drop_separable_edges();
    return make_core(graph_, p_, moments_.count);
  }

private:
  static constexpr int max_rounds = 12;
  static constexpr std::uint64_t max_dominance_work = 200'000'000;

  using link = reducible::link;
  using node = reducible::node;
  using piece = reducible::piece;
  using view = reducible::view;
  view view_of(std::uint32_t v, const link& l) const { return graph_.view_of(v, l); }

  void load() {
    nodes_.resize(p_.num_ops());
    for (const op_id v : ids(p_.num_ops())) {
      auto& x = nodes_[v];
      const auto costs = p_.costs(v);
      x.cost.assign(costs.begin(), costs.end());
      x.alive.assign(costs.size(), 1);
      if (!moments_.of[v].empty()) {
        const auto bytes = p_.bytes(v);
        x.pieces.push_back({moments_.of[v], {bytes.begin(), bytes.end()}});
      }
      std::vector<std::uint32_t> variants(costs.size());
      for (const auto i : ids(costs.size())) {
        variants[i] = i;
      }
      x.ops.emplace_back(v, std::move(variants));
    }
    for (const auto e : ids(p_.num_edges())) {
      const auto [u, v, m] = p_.edge(e);
      const auto values = p_.matrix(m);
      if (u == v) {
        for (std::size_t i = 0; i < nodes_[u].size(); ++i) {
          nodes_[u].cost[i] = add_costs(nodes_[u].cost[i], values[i * nodes_[u].size() + i]);
        }
      } else {
        connect(u, v, {values, nodes_[v].size(), 1});
      }
    }
    for (auto& x : nodes_) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        x.alive[i] = x.cost[i] < never;
      }
    }
  }

  /// Adds an edge, to the one that there is.
  void connect(std::uint32_t u, std::uint32_t v, const view& costs) {
    const std::size_t rows = nodes_[u].size(), columns = nodes_[v].size();
    scratch_.resize(rows * columns);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        scratch_[i * columns + j] = costs.at(i, j);
      }
    }
    link* const l = find(u, v);
    if (l != nullptr) {
      const view have = view_of(u, *l);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
          scratch_[i * columns + j] = add_costs(scratch_[i * columns + j], have.at(i, j));
        }
      }
    }
    const auto m = pool_.add({scratch_.data(), scratch_.size()});
    if (l == nullptr) {
      nodes_[u].links.push_back({v, m, false});
      nodes_[v].links.push_back({u, m, true});
    } else {
      *l = {v, m, false};
      *find(v, u) = {u, m, true};
    }
  }

  link* find(std::uint32_t u, std::uint32_t v) {
    if (nodes_[v].links.size() < nodes_[u].links.size() && !has(v, u)) {
      return nullptr;
    }
    for (auto& l : nodes_[u].links) {
      if (l.to == v) {
        return &l;
      }
    }
    return nullptr;
  }
  bool has(std::uint32_t u, std::uint32_t v) const {
    return std::any_of(nodes_[u].links.begin(), nodes_[u].links.end(), [v](const link& l) { return l.to == v; });
  }
  void disconnect(std::uint32_t u, std::uint32_t v) {
    for (const auto& [a, b] : {std::pair{u, v}, std::pair{v, u}}) {
      auto& links = nodes_[a].links;
      for (auto& l : links) {
        if (l.to == b) {
          l = links.back();
          links.pop_back();
          break;
        }
      }
    }
  }

  // Arc consistency -------------------------------------------------------------------------------------------------

  void remove_impossible() {
    std::vector<std::uint32_t> waiting;
    std::vector<char> is_waiting(nodes_.size(), 1);
    for (const auto v : ids(nodes_.size())) {
      waiting.push_back(v);
    }
    while (!waiting.empty() && !infeasible_) {
      const auto v = waiting.back();
      waiting.pop_back();
      is_waiting[v] = 0;
      if (std::none_of(nodes_[v].alive.begin(), nodes_[v].alive.end(), [](char a) { return a != 0; })) {
        infeasible_ = true;
        return;
      }
      for (const auto& l : nodes_[v].links) {
        if (revise(l.to, v, l) && is_waiting[l.to] == 0) {
          is_waiting[l.to] = 1;
          waiting.push_back(l.to);
        }
      }
    }
  }
  /// Removes variants of w that no variant of v may be with.
  bool revise(std::uint32_t w, std::uint32_t v, const link& l) {
    const view costs = view_of(v, l);
    auto& at = nodes_[w].alive;
    const auto& from = nodes_[v].alive;
    bool changed = false;
    for (std::size_t j = 0; j < at.size(); ++j) {
      bool supported = false;
      for (std::size_t i = 0; at[j] != 0 && i < from.size() && !supported; ++i) {
        supported = from[i] != 0 && costs.at(i, j) < never;
      }
      if (at[j] != 0 && !supported) {
        at[j] = 0;
        changed = true;
      }
    }
    return changed;
  }

  // Memory ----------------------------------------------------------------------------------------------------------

  static std::int64_t smallest(const node& x, const piece& s) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < x.size(); ++i) {
      least = x.alive[i] != 0 ? std::min(least, s.bytes[i]) : least;
    }
    return least;
  }

  void remove_too_large() {
    if (infeasible_ || p_.limit() == variant_problem::no_limit) {
      return;
    }
    std::vector<std::int64_t> least(moments_.count + 1);
    for (const auto& x : nodes_) {
      for (const auto& s : x.pieces) {
        const auto bytes = smallest(x, s);
        least[s.live.begin] += bytes;
        least[s.live.end] -= bytes;
      }
    }
    std::int64_t level = 0;
    for (auto& t : least) {
      level += t;
      t = p_.limit() - level; // what is left
      infeasible_ = infeasible_ || (t < 0 && &t != &least.back());
    }
    if (infeasible_ || moments_.count == 0) {
      return;
    }
    least.pop_back();
    // The least over a range of moments, from tables of powers of two.
    std::vector<std::vector<std::int64_t>> over{least};
    for (std::size_t half = 1; 2 * half <= least.size(); half *= 2) {
      const auto& below = over.back();
      std::vector<std::int64_t> next(least.size() - 2 * half + 1);
      for (std::size_t t = 0; t < next.size(); ++t) {
        next[t] = std::min(below[t], below[t + half]);
      }
      over.push_back(std::move(next));
    }
    const auto room = [&](moment_range r) {
      std::size_t k = 0;
      while ((std::size_t{2} << k) <= r.end - r.begin) {
        ++k;
      }
      return std::min(over[k][r.begin], over[k][r.end - (std::size_t{1} << k)]);
    };
    for (auto& x : nodes_) {
      for (const auto& s : x.pieces) {
        const auto most = smallest(x, s) + room(s.live);
        for (std::size_t i = 0; i < x.size(); ++i) {
          x.alive[i] = x.alive[i] != 0 && s.bytes[i] <= most;
        }
        if (std::none_of(x.alive.begin(), x.alive.end(), [](char a) { return a != 0; })) {
          infeasible_ = true; // the pieces of a merged node that are smallest at one time are not at another
          return;
        }
      }
    }
  }

  // Compaction ------------------------------------------------------------------------------------------------------

  /// Renumbers the variants that are left. Whether any had gone.
  bool compact() {
    bool changed = false;
    std::vector<std::vector<std::uint32_t>> kept(nodes_.size());
    for (const auto v : ids(nodes_.size())) {
      for (const auto i : ids(nodes_[v].size())) {
        if (nodes_[v].alive[i] != 0) {
          kept[v].push_back(i);
        }
      }
      changed = changed || kept[v].size() < nodes_[v].size();
    }
    if (!changed) {
      return false;
    }
    cost_pool fresh;
    for (const auto u : ids(nodes_.size())) {
      for (auto& l : nodes_[u].links) {
        if (u < l.to) {
          const view costs = view_of(u, l);
          scratch_.clear();
          for (const auto i : kept[u]) {
            for (const auto j : kept[l.to]) {
              scratch_.push_back(costs.at(i, j));
            }
          }
          const auto m = fresh.add({scratch_.data(), scratch_.size()});
          l.matrix = m;
          fresh_links_.push_back({u, l.to, m});
        }
      }
    }
    for (const auto v : ids(nodes_.size())) {
      auto& x = nodes_[v];
      pick(x.cost, kept[v]);
      x.alive.assign(kept[v].size(), 1);
      for (auto& s : x.pieces) {
        pick(s.bytes, kept[v]);
      }
      for (auto& [op, variants] : x.ops) {
        pick(variants, kept[v]);
      }
      x.links.clear();
    }
    for (const auto& l : fresh_links_) {
      nodes_[l.u].links.push_back({l.v, l.matrix, false});
      nodes_[l.v].links.push_back({l.u, l.matrix, true});
    }
    fresh_links_.clear();
    pool_ = std::move(fresh);
    return true;
  }
  template <class T>
  static void pick(std::vector<T>& from, const std::vector<std::uint32_t>& kept) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      from[i] = from[kept[i]];
    }
    from.resize(kept.size());
  }

  // Edges that are sums ---------------------------------------------------------------------------------------------

  bool drop_separable_edges() {
    bool changed = false;
    for (const auto u : ids(nodes_.size())) {
      for (std::size_t k = 0; k < nodes_[u].links.size();) {
        const auto l = nodes_[u].links[k];
        if (u < l.to && separate(u, l)) {
          disconnect(u, l.to);
          changed = true;
        } else {
          ++k;
        }
      }
    }
    return changed;
  }
  bool separate(std::uint32_t u, const link& l) {
    const view costs = view_of(u, l);
    auto& a = nodes_[u].cost;
    auto& b = nodes_[l.to].cost;
    const auto corner = costs.at(0, 0);
    std::int64_t lowest = corner; // of the first row, which the columns get
    for (std::size_t j = 0; j < b.size(); ++j) {
      lowest = std::min(lowest, costs.at(0, j));
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) {
        if (costs.at(i, j) >= never || costs.at(i, j) - costs.at(0, j) != costs.at(i, 0) - corner) {
          return false;
        }
      }
    }
    // Rows get what makes columns' costs at least 0, and their least may be below: moved to the fixed cost.
    std::int64_t least_row = costs.at(0, 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      least_row = std::min(least_row, costs.at(i, 0));
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = add_costs(a[i], costs.at(i, 0) - least_row);
    }
    for (std::size_t j = 0; j < b.size(); ++j) {
      b[j] = add_costs(b[j], costs.at(0, j) - lowest);
    }
    graph_.fixed_cost = add_costs(graph_.fixed_cost, least_row - corner + lowest);
    return true;
  }

  // Nodes that follow from a neighbour ------------------------------------------------------------------------------

  bool merge_determined() {
    bool changed = false;
    for (const auto v : ids(nodes_.size())) {
      if (nodes_[v].size() < 2) {
        continue;
      }
      for (std::size_t k = 0; k < nodes_[v].links.size(); ++k) {
        const auto l = nodes_[v].links[k];
        if (follows(v, l) && pays(v, l.to)) {
          merge(v, l.to);
          changed = true;
          break;
        }
      }
    }
    return changed;
  }
  /// Whether a variant of l.to leaves v one; these are then in `image_`.
  bool follows(std::uint32_t v, const link& l) {
    const view costs = view_of(v, l);
    const auto n = nodes_[l.to].size();
    image_.assign(n, none);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < nodes_[v].size(); ++i) {
        if (nodes_[v].alive[i] != 0 && costs.at(i, j) < never) {
          if (image_[j] != none) {
            return false;
          }
          image_[j] = static_cast<std::uint32_t>(i);
        }
      }
      if (image_[j] == none) {
        return false; // arc consistency comes first
      }
    }
    return true;
  }
  /// Whether matrices do not grow much.
  bool pays(std::uint32_t v, std::uint32_t u) const {
    if (nodes_[u].size() <= nodes_[v].size()) {
      return true;
    }
    std::size_t others = 0;
    for (const auto& l : nodes_[v].links) {
      others += l.to != u ? nodes_[l.to].size() : 0;
    }
    return (nodes_[u].size() - nodes_[v].size()) * others <= nodes_[u].size() * nodes_[v].size();
  }
  void merge(std::uint32_t v, std::uint32_t u) {
    const auto image = image_;
    auto& x = nodes_[v];
    auto& into = nodes_[u];
    {
      const view costs = view_of(u, *find(u, v));
      for (std::size_t i = 0; i < into.size(); ++i) {
        into.cost[i] = add_costs(into.cost[i], add_costs(x.cost[image[i]], costs.at(i, image[i])));
        into.alive[i] = into.alive[i] != 0 && into.cost[i] < never;
      }
    }
    disconnect(u, v);
    while (!x.links.empty()) {
      const auto l = x.links.back();
      const view costs = view_of(v, l);
      std::vector<std::int64_t> rows;
      rows.reserve(into.size() * nodes_[l.to].size());
      for (std::size_t i = 0; i < into.size(); ++i) {
        for (std::size_t j = 0; j < nodes_[l.to].size(); ++j) {
          rows.push_back(costs.at(image[i], j));
        }
      }
      disconnect(v, l.to);
      connect(u, l.to, {rows, nodes_[l.to].size(), 1});
    }
    for (const auto& s : x.pieces) {
      auto same = std::find_if(into.pieces.begin(), into.pieces.end(),
                               [&](const piece& other) { return other.live == s.live; });
      if (same == into.pieces.end()) {
        same = into.pieces.insert(same, {s.live, std::vector<std::int64_t>(into.size())});
      }
      for (std::size_t i = 0; i < into.size(); ++i) {
        same->bytes[i] += s.bytes[image[i]];
      }
    }
    for (auto& [op, variants] : x.ops) {
      std::vector<std::uint32_t> mapped(into.size());
      for (std::size_t i = 0; i < into.size(); ++i) {
        mapped[i] = variants[image[i]];
      }
      into.ops.emplace_back(op, std::move(mapped));
    }
    x = node{};
    x.cost.assign(1, 0);
    x.alive.assign(1, 1);
  }

  // Dominance -------------------------------------------------------------------------------------------------------

  bool remove_dominated() {
    bool changed = false;
    for (const auto v : ids(nodes_.size())) {
      auto& x = nodes_[v];
      for (std::size_t i = 0; i < x.size() && dominance_work_ < max_dominance_work; ++i) {
        for (std::size_t better = 0; better < x.size() && x.alive[i] != 0; ++better) {
          if (better != i && x.alive[better] != 0 && dominates(v, better, i)) {
            x.alive[i] = 0;
            changed = true;
          }
        }
      }
    }
    return changed;
  }
  bool dominates(std::uint32_t v, std::size_t better, std::size_t i) {
    const auto& x = nodes_[v];
    ++dominance_work_;
    for (const auto& s : x.pieces) {
      if (s.bytes[better] > s.bytes[i]) {
        return false;
      }
    }
    std::int64_t slack = x.cost[i] - x.cost[better];
    // Every edge may make up for another, so that the sum decides, over all of them.
    for (const auto& l : x.links) {
      const view costs = view_of(v, l);
      std::int64_t most = std::numeric_limits<std::int64_t>::min();
      const auto& other = nodes_[l.to];
      dominance_work_ += other.size();
      for (std::size_t j = 0; j < other.size(); ++j) {
        if (other.alive[j] != 0 && costs.at(i, j) < never) {
          most = std::max(most, costs.at(better, j) - costs.at(i, j));
          if (costs.at(better, j) >= never) {
            return false;
          }
        }
      }
      if (most != std::numeric_limits<std::int64_t>::min()) {
        slack -= std::clamp(most, -never, never);
        slack = std::clamp(slack, -4 * never, 4 * never);
      }
    }
    return slack >= 0;
  }

  const variant_problem& p_;
  moments moments_;
  reducible graph_;
  std::vector<node>& nodes_ = graph_.nodes;
  cost_pool& pool_ = graph_.matrices;
  bool infeasible_ = false;
  std::uint64_t dominance_work_ = 0;
  buffer<std::int64_t> scratch_;
  std::vector<std::uint32_t> image_;
  buffer<core::edge> fresh_links_;
};

/// A smaller problem with the same least cost. `over()` says whether to leave it at what was reduced so far.
template <class Over>
core reduce(const variant_problem& p, Over over) {
  return reducer{p}.run(over);
}
inline core reduce(const variant_problem& p) {
  return reduce(p, [] { return false; });
}

} // namespace weft::shard::detail
