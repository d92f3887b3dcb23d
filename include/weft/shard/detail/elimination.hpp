// SPDX-License-Identifier: BSL-1.0
/// Exact minimisation over some nodes of a core, the others fixed: dynamic programming along an elimination order.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/elementary.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/shard/detail/core.hpp"
#include "weft/shard/detail/least.hpp"
#include "weft/shard/detail/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::shard::detail {

/// Limits on what a plan of elimination may take.
struct elimination_limits {
  double joint = 0; ///< combinations that one node's elimination looks at, at most
  double work = 0;  ///< the same of all nodes
  double tables = 1 << 18; ///< entries of the tables that stay, at most
};

/// A plan and its tables; kept from one use to the next for the sake of their memory.
class elimination {
public:
  elimination(const core& c, const weights& w) : core_{c}, weights_{w}, place_(c.num_nodes(), none) {}

  /// Plans to minimise over the nodes of `wanted`. Where tables would exceed the limits, nodes are left out, those
  /// with many neighbours first, by chance. Complexity: O(ops d²) for d neighbours at elimination.
  void plan(std::span<const std::uint32_t> wanted, const elimination_limits& limits, rng& random) {
    clear();
    neighbours_.resize(std::max(neighbours_.size(), core_.num_nodes()));
    for (const auto v : wanted) {
      place_[v] = open;
    }
    struct candidate {
      double cost;
      std::uint32_t v;
    };
    const auto later = [](const candidate& a, const candidate& b) {
      return a.cost != b.cost ? a.cost > b.cost : a.v > b.v;
    };
    std::vector<candidate> heap;
    for (const auto v : wanted) {
      auto& list = neighbours_[v];
      list.clear();
      for (const auto& l : core_.links(v)) {
        if (place_[l.to] == open) {
          list.push_back(l.to);
        }
      }
      std::sort(list.begin(), list.end());
      heap.push_back({joint(v), v});
    }
    std::make_heap(heap.begin(), heap.end(), later);
    salt_ = random();
    double spent = 0, stored = 0;
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      const auto [cost, v] = heap.back();
      heap.pop_back();
      if (place_[v] != open) {
        continue;
      }
      if (const double now = joint(v); now != cost) {
        heap.push_back({now, v});
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
      const double table = cost / static_cast<double>(core_.num_variants(v));
      if (cost > limits.joint || (!neighbours_[v].empty() && (spent + cost > limits.work ||
                                                              stored + table > limits.tables))) {
        heap.push_back({cost, v});
        std::push_heap(heap.begin(), heap.end(), later);
        leave_out(heap, random, later);
        continue;
      }
      spent += cost;
      stored += table;
      eliminate(v);
      for (const auto u : scope_of(order_.size() - 1)) {
        heap.push_back({joint(u), u});
        std::push_heap(heap.begin(), heap.end(), later);
      }
    }
    for (const auto v : wanted) {
      if (place_[v] == open) {
        place_[v] = none;
      }
    }
    lay_out();
  }

  /// The nodes that are minimised over, in their order.
  std::span<const std::uint32_t> nodes() const { return {order_.data(), order_.size()}; }
  bool is_free(std::uint32_t v) const { return place_[v] != none; }

  /// Minimises; `unary(v, costs)` adds the costs of node v by variant to `costs`, without those of edges. Writes the
  /// best variants of the nodes to x, whose other values stand. Returns the least cost of what depends on the nodes.
  /// Among equal variants the lowest is taken.
  template <class Unary>
  double minimise(std::span<std::uint32_t> x, Unary unary) {
    double constant = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const auto v = order_[k];
      double* const base = bases_.data() + first_base_[k];
      const auto n = core_.num_variants(v);
      std::fill(base, base + n, 0.0);
      unary(v, std::span<double>{base, n});
      for (const auto& l : core_.links(v)) {
        if (!is_free(l.to)) {
          const double* const row = weights_.row(core_.edges[l.edge], v, x[l.to]);
          for (std::size_t i = 0; i < n; ++i) {
            base[i] += row[i];
          }
        }
      }
      for (std::size_t f = first_factor_[k]; f < first_factor_[k + 1]; ++f) {
        if (factors_[f].unary) {
          const double* const table = tables_.data() + factors_[f].table;
          for (std::size_t i = 0; i < n; ++i) {
            base[i] += table[i];
          }
        }
      }
      constant += fill(k);
    }
    for (std::size_t k = order_.size(); k-- > 0;) {
      x[order_[k]] = best_of(k, x);
    }
    return constant;
  }

private:
  static constexpr std::uint32_t open = none - 1;

  /// A function of a node and of some of the scope: the table of an earlier node, or an edge to a later one.
  struct factor {
    std::size_t table = 0;     ///< into `tables_`
    std::uint32_t edge = none; ///< else this edge
    std::uint32_t from = none; ///< the earlier node's place
    bool unary = false;
  };

  std::span<const std::uint32_t> scope_of(std::size_t k) const {
    return {scopes_.data() + first_scope_[k], first_scope_[k + 1] - first_scope_[k]};
  }

  double joint(std::uint32_t v) const {
    double product = static_cast<double>(core_.num_variants(v));
    for (const auto u : neighbours_[v]) {
      product *= static_cast<double>(core_.num_variants(u));
    }
    return product;
  }

  void clear() {
    for (const auto v : order_) {
      place_[v] = none;
    }
    order_.clear();
    scopes_.clear();
    first_scope_.assign(1, 0);
  }

  void eliminate(std::uint32_t v) {
    place_[v] = static_cast<std::uint32_t>(order_.size());
    order_.push_back(v);
    auto& mine = neighbours_[v];
    for (const auto u : mine) {
      auto& list = neighbours_[u];
      merged_.clear();
      std::set_union(list.begin(), list.end(), mine.begin(), mine.end(), std::back_inserter(merged_));
      merged_.erase(std::remove_if(merged_.begin(), merged_.end(), [&](std::uint32_t w) { return w == v || w == u; }),
                    merged_.end());
      list.swap(merged_);
      scopes_.push_back(u);
    }
    first_scope_.push_back(scopes_.size());
  }

  template <class Heap, class Later>
  void leave_out(Heap& heap, rng& random, Later later) {
    std::uint32_t chosen = none;
    double worst = -1;
    const auto consider = [&](std::uint32_t v) {
      if (place_[v] == open) {
        // The same for a node throughout a plan, so that some nodes of many neighbours stay in.
        const double chance = 0.3 + rounded(static_cast<double>(rng::mix(salt_ + v) >> 11) * 0x1p-53);
        const double score = portable_log(joint(v)) * chance;
        if (score > worst) {
          worst = score;
          chosen = v;
        }
      }
    };
    for (int tries = 0; tries < 32; ++tries) {
      consider(heap[random.below(heap.size())].v);
    }
    for (std::size_t k = 0; chosen == none; ++k) {
      consider(heap[k].v);
    }
    place_[chosen] = none;
    for (const auto u : neighbours_[chosen]) {
      auto& list = neighbours_[u];
      list.erase(std::find(list.begin(), list.end(), chosen));
      heap.push_back({joint(u), u});
      std::push_heap(heap.begin(), heap.end(), later);
    }
  }

  /// Sorts scopes by elimination, finds what feeds into what, and makes room for tables.
  void lay_out() {
    const auto n = order_.size();
    std::size_t kept = 0; // nodes may have been left out since they came into a scope
    for (std::size_t k = 0; k < n; ++k) {
      const auto begin = std::exchange(first_scope_[k], kept);
      for (std::size_t s = begin; s < first_scope_[k + 1]; ++s) {
        if (is_free(scopes_[s])) {
          scopes_[kept++] = scopes_[s];
        }
      }
    }
    first_scope_[n] = kept;
    std::size_t size = 0, base = 0;
    first_table_.clear();
    first_base_.clear();
    first_factor_.assign(n + 1, 0);
    for (std::size_t k = 0; k < n; ++k) {
      std::uint32_t* const scope = scopes_.data() + first_scope_[k];
      const auto many = first_scope_[k + 1] - first_scope_[k];
      std::sort(scope, scope + many, [this](std::uint32_t a, std::uint32_t b) { return place_[a] < place_[b]; });
      first_table_.push_back(size);
      std::size_t entries = 1;
      for (std::size_t d = 0; d < many; ++d) {
        entries *= core_.num_variants(scope[d]);
      }
      size += many == 0 ? 0 : entries;
      first_base_.push_back(base);
      base += core_.num_variants(order_[k]);
      if (many > 0) {
        ++first_factor_[place_[scope[0]] + 1];
      }
      for (const auto& l : core_.links(order_[k])) {
        first_factor_[k + 1] += is_free(l.to) && place_[l.to] > k;
      }
    }
    for (std::size_t k = 0; k < n; ++k) {
      first_factor_[k + 1] += first_factor_[k];
    }
    factors_.assign(first_factor_[n], {});
    std::vector<std::size_t> next(first_factor_.begin(), first_factor_.end());
    for (std::size_t k = 0; k < n; ++k) {
      const auto scope = scope_of(k);
      if (!scope.empty()) {
        factors_[next[place_[scope[0]]]++] = {first_table_[k], none, static_cast<std::uint32_t>(k), scope.size() == 1};
      }
      for (const auto& l : core_.links(order_[k])) {
        if (is_free(l.to) && place_[l.to] > k) {
          factors_[next[k]++] = {0, l.edge, none, false};
        }
      }
    }
    if (tables_.size() < size) {
      tables_.resize(size);
    }
    if (bases_.size() < base) {
      bases_.resize(base);
    }
    if (sums_.empty()) {
      std::size_t widest = 0;
      for (const auto v : ids(core_.num_nodes())) {
        widest = std::max(widest, core_.num_variants(v));
      }
      sums_.resize(widest);
    }
  }

  /// The factors of place k that depend on more than its node: where each begins, and what a step in each dimension of
  /// the scope adds.
  void find_steps(std::size_t k) {
    const auto v = order_[k];
    const auto scope = scope_of(k);
    begins_.clear();
    steps_.clear();
    for (std::size_t f = first_factor_[k]; f < first_factor_[k + 1]; ++f) {
      const auto& x = factors_[f];
      if (x.unary) {
        continue;
      }
      const auto at = steps_.size();
      steps_.resize(at + scope.size(), 0);
      if (x.edge != none) {
        const auto& e = core_.edges[x.edge];
        const auto other = e.u == v ? e.v : e.u;
        begins_.push_back(weights_.row(e, v, 0));
        for (std::size_t d = 0; d < scope.size(); ++d) {
          steps_[at + d] = scope[d] == other ? core_.num_variants(v) : 0;
        }
      } else {
        begins_.push_back(tables_.data() + x.table);
        std::size_t stride = 1;
        std::size_t d = 0;
        for (const auto u : scope_of(x.from)) { // in the same order, after v itself
          if (u != v) {
            while (scope[d] != u) {
              ++d;
            }
            steps_[at + d] = stride;
          }
          stride *= core_.num_variants(u);
        }
      }
    }
  }

  /// Computes the table of place k; returns its value where the scope is empty.
  double fill(std::size_t k) {
    const auto n = core_.num_variants(order_[k]);
    const auto scope = scope_of(k);
    const double* const base = bases_.data() + first_base_[k];
    if (scope.empty()) {
      double least = base[0];
      for (std::size_t i = 1; i < n; ++i) {
        least = std::min(least, base[i]);
      }
      return least;
    }
    find_steps(k);
    const auto factors = begins_.size(), dims = scope.size();
    const double** const at = begins_.data();
    double* const sums = sums_.data();
    double* out = tables_.data() + first_table_[k];
    index_.assign(dims, 0);
    const auto first = core_.num_variants(scope[0]);
    for (;;) {
      for (std::size_t j = 0; j < first; ++j) { // the fastest dimension
        if (factors == 1) {
          *out++ = least_sum(base, at[0], n);
        } else if (factors == 2) {
          *out++ = least_sum(base, at[0], at[1], n);
        } else {
          for (std::size_t i = 0; i < n; ++i) {
            sums[i] = base[i] + at[0][i];
          }
          for (std::size_t f = 1; f + 1 < factors; ++f) {
            const double* const row = at[f];
            for (std::size_t i = 0; i < n; ++i) {
              sums[i] += row[i];
            }
          }
          *out++ = least_sum(sums, at[factors - 1], n);
        }
        for (std::size_t f = 0; f < factors; ++f) {
          at[f] += steps_[f * dims];
        }
      }
      for (std::size_t f = 0; f < factors; ++f) {
        at[f] -= steps_[f * dims] * first;
      }
      std::size_t d = 1;
      for (; d < dims; ++d) {
        const auto size = core_.num_variants(scope[d]);
        for (std::size_t f = 0; f < factors; ++f) {
          at[f] += steps_[f * dims + d];
        }
        if (++index_[d] < size) {
          break;
        }
        index_[d] = 0;
        for (std::size_t f = 0; f < factors; ++f) {
          at[f] -= steps_[f * dims + d] * size;
        }
      }
      if (d >= dims) {
        return 0;
      }
    }
  }
  static double least_sum(const double* a, const double* b, std::size_t n) {
    return least_of(n, [a, b](std::size_t i) { return a[i] + b[i]; });
  }
  static double least_sum(const double* a, const double* b, const double* c, std::size_t n) {
    return least_of(n, [a, b, c](std::size_t i) { return a[i] + b[i] + c[i]; });
  }

  std::uint32_t best_of(std::size_t k, std::span<const std::uint32_t> x) {
    const auto n = core_.num_variants(order_[k]);
    const auto scope = scope_of(k);
    double* const base = bases_.data() + first_base_[k];
    if (!scope.empty()) {
      find_steps(k);
      for (std::size_t f = 0; f < begins_.size(); ++f) {
        const double* row = begins_[f];
        for (std::size_t d = 0; d < scope.size(); ++d) {
          row += steps_[f * scope.size() + d] * x[scope[d]];
        }
        for (std::size_t i = 0; i < n; ++i) {
          base[i] += row[i];
        }
      }
    }
    return static_cast<std::uint32_t>(std::min_element(base, base + n) - base);
  }

  const core& core_;
  const weights& weights_;
  buffer<std::uint32_t> place_; ///< by node, in the order; `none` if it is fixed
  std::vector<std::vector<std::uint32_t>> neighbours_;
  std::vector<std::uint32_t> merged_;
  std::uint64_t salt_ = 0; ///< of this plan
  std::vector<std::uint32_t> order_, scopes_;
  std::vector<std::size_t> first_scope_, first_table_, first_base_, first_factor_;
  std::vector<factor> factors_;
  std::vector<const double*> begins_;
  std::vector<std::size_t> steps_, index_;
  std::vector<double> tables_, bases_, sums_;
};

} // namespace weft::shard::detail
