// SPDX-License-Identifier: BSL-1.0
/// Problems of choosing a variant for every op: costs per op, costs per pair of variants on edges, memory over time.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/shard/cost_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace weft::shard {

/// A cost from here on means that a variant, or a pair of them, may not be chosen; nor may costs that add up to this.
inline constexpr std::int64_t never = 1'000'000'000'000'000'000;

/// The sum of two costs, each at most `never`; no more than that.
constexpr std::int64_t add_costs(std::int64_t a, std::int64_t b) { return std::min(a + b, never); }

/// When the bytes of an op count: in [begin, end). Empty if both are equal.
struct live_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool empty() const { return begin == end; }
  friend bool operator==(const live_range&, const live_range&) = default;
};

/// An edge between two ops with a matrix of costs: a row per variant of `from`, a column per variant of `to`.
struct variant_edge {
  op_id from = none;
  op_id to = none;
  std::uint32_t matrix = none; ///< equal matrices have equal ids
};

/// Ops, each with variants of which one is to be chosen. A choice costs what the chosen variants cost, and for every
/// edge what its matrix has for the variants of its two ends; at every moment, the bytes of the chosen variants of the
/// ops that are live then may be at most the limit. Costs and bytes are not negative, in units of the user's; costs of
/// `never` and more are kept as `never`. Ops and edges get dense ids in the order in which they are added. What is
/// added is checked, so a problem is valid at any time.
///
/// Memory: 16 bytes per variant, and 8 per entry of each matrix that is unlike all others.
class variant_problem {
public:
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

  /// Adds an op with a variant for each cost. Throws `value_error` if there is none, if there are not as many bytes as
  /// costs, for a negative number, for a live range that ends before it begins, or if bytes add up to more than
  /// `max_total_bytes`.
  op_id add_op(std::span<const std::int64_t> costs, std::span<const std::int64_t> bytes, live_range live = {}) {
    const auto v = static_cast<op_id>(num_ops());
    const auto refuse = [v](const std::string& problem) {
      return value_error("op " + std::to_string(v), problem);
    };
    if (costs.empty()) {
      throw refuse("it has no variants; give at least one");
    }
    if (bytes.size() != costs.size()) {
      throw refuse("it has " + std::to_string(costs.size()) + " costs but " + std::to_string(bytes.size()) +
                   " numbers of bytes; give one of each per variant");
    }
    if (live.end < live.begin) {
      throw refuse("its live range ends at " + std::to_string(live.end) + ", before it begins at " +
                   std::to_string(live.begin));
    }
    std::int64_t most = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (costs[i] < 0 || bytes[i] < 0) {
        throw refuse("variant " + std::to_string(i) + (costs[i] < 0 ? " has a cost of " : " has bytes of ") +
                     std::to_string(costs[i] < 0 ? costs[i] : bytes[i]) + "; they must not be negative");
      }
      most = std::max(most, bytes[i]);
    }
    if (most > static_cast<std::int64_t>(max_total_bytes) - total_bytes_) {
      throw refuse("the bytes of the largest variants of the ops add up to more than 2^62");
    }
    checked_count(first_.back() + costs.size(), "the variants", "variants");
    total_bytes_ += most;
    scratch_.assign(costs.data(), costs.data() + costs.size()); // they may be the problem's own
    scratch_.append(bytes.data(), bytes.data() + bytes.size());
    const std::int64_t* const middle = scratch_.data() + costs.size();
    for (const std::int64_t* c = scratch_.data(); c != middle; ++c) {
      costs_.push_back(std::min(*c, never));
    }
    bytes_.append(middle, scratch_.data() + scratch_.size());
    first_.push_back(costs_.size());
    live_.push_back(live);
    return v;
  }

  /// Adds an edge, with a cost for each pair of variants, row by row: that of variant i of `from` and j of `to` is
  /// `costs[i * num_variants(to) + j]`. Two ops may have several edges. From an op to itself only the diagonal counts.
  /// Throws `dangling_id_error` for an op that does not exist, `value_error` for a wrong number of costs or a negative
  /// one.
  std::uint32_t add_edge(op_id from, op_id to, std::span<const std::int64_t> costs) {
    const auto e = static_cast<std::uint32_t>(num_edges());
    const auto where = [e] { return "edge " + std::to_string(e); };
    for (const op_id v : {from, to}) {
      if (v >= num_ops()) {
        throw dangling_id_error(where(), "there is no op " + weft::detail::missing_id(v) + ", " +
                                           weft::detail::only_ops(num_ops()));
      }
    }
    const auto pairs = num_variants(from) * num_variants(to);
    if (costs.size() != pairs) {
      throw value_error(where(), "has " + std::to_string(costs.size()) + " costs; ops " + std::to_string(from) +
                                   " and " + std::to_string(to) + " have " + std::to_string(num_variants(from)) +
                                   " and " + std::to_string(num_variants(to)) + " variants, so " +
                                   std::to_string(pairs) + " are needed");
    }
    scratch_.assign(costs.data(), costs.data() + costs.size());
    for (auto& c : scratch_) {
      if (c < 0) {
        throw value_error(where(), "has a cost of " + std::to_string(c) + "; costs must not be negative");
      }
      c = std::min(c, never);
    }
    edges_.push_back({from, to, matrices_.add({scratch_.data(), scratch_.size()})});
    return e;
  }

  /// The most bytes at any moment. Throws `value_error` if it is negative.
  void set_limit(std::int64_t bytes) {
    if (bytes < 0) {
      throw value_error("the limit", "is " + std::to_string(bytes) + "; it must not be negative");
    }
    limit_ = bytes;
  }

  std::size_t num_ops() const { return live_.size(); }
  std::size_t num_edges() const { return edges_.size(); }
  std::size_t num_variants() const { return costs_.size(); } ///< of all ops
  std::size_t num_variants(op_id v) const { return first_[v + 1] - first_[v]; }
  std::span<const std::int64_t> costs(op_id v) const { return {costs_.data() + first_[v], num_variants(v)}; }
  std::span<const std::int64_t> bytes(op_id v) const { return {bytes_.data() + first_[v], num_variants(v)}; }
  /// When the bytes of v count.
  live_range live(op_id v) const { return live_[v]; }
  const variant_edge& edge(std::uint32_t e) const { return edges_[e]; }
  /// The costs of an edge, row by row.
  std::span<const std::int64_t> edge_costs(std::uint32_t e) const { return matrices_[edges_[e].matrix]; }
  /// The matrices that are unlike each other, and their entries.
  std::size_t num_matrices() const { return matrices_.size(); }
  std::size_t num_matrix_entries() const { return matrices_.num_values(); }
  std::span<const std::int64_t> matrix(std::uint32_t m) const { return matrices_[m]; }
  /// The most bytes at any moment; `no_limit` if there is none.
  std::int64_t limit() const { return limit_; }

private:
  buffer<std::int64_t> costs_, bytes_;
  buffer<std::size_t> first_ = buffer<std::size_t>(1); ///< by op, into both
  buffer<live_range> live_;
  buffer<variant_edge> edges_;
  cost_pool matrices_;
  buffer<std::int64_t> scratch_;
  std::int64_t limit_ = no_limit;
  std::int64_t total_bytes_ = 0;
};

/// What a choice costs and needs.
struct valuation {
  std::int64_t cost = 0; ///< `never` if it takes what may not be taken
  std::int64_t peak = 0; ///< bytes

  bool feasible(std::int64_t limit) const { return cost < never && peak <= limit; }
};

/// The cost and the peak of a choice: a variant for each op. Throws `value_error` if it is none.
/// Complexity: O(edges + ops log ops).
inline valuation value_of(const variant_problem& p, std::span<const std::uint32_t> choice) {
  if (choice.size() != p.num_ops()) {
    throw value_error("the choice", "has " + std::to_string(choice.size()) + " variants for " +
                                      std::to_string(p.num_ops()) + " ops");
  }
  valuation x;
  struct change {
    std::int64_t at, bytes;
  };
  std::vector<change> changes;
  changes.reserve(2 * p.num_ops());
  for (const op_id v : ids(p.num_ops())) {
    if (choice[v] >= p.num_variants(v)) {
      throw value_error("the choice", "op " + std::to_string(v) + " has no variant " + std::to_string(choice[v]));
    }
    x.cost = add_costs(x.cost, p.costs(v)[choice[v]]);
    if (const auto live = p.live(v); !live.empty()) {
      changes.push_back({live.begin, p.bytes(v)[choice[v]]});
      changes.push_back({live.end, -p.bytes(v)[choice[v]]});
    }
  }
  for (const auto e : ids(p.num_edges())) {
    const auto [from, to, matrix] = p.edge(e);
    x.cost = add_costs(x.cost, p.matrix(matrix)[choice[from] * p.num_variants(to) + choice[to]]);
  }
  std::sort(changes.begin(), changes.end(), [](const change& a, const change& b) {
    return a.at != b.at ? a.at < b.at : a.bytes < b.bytes; // what ends makes room first
  });
  std::int64_t level = 0;
  for (const auto& c : changes) {
    level += c.bytes;
    x.peak = std::max(x.peak, level);
  }
  return x;
}

} // namespace weft::shard
