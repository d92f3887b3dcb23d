// SPDX-License-Identifier: BSL-1.0
/// Problems of choosing variants at random, and their least cost by trying everything; shares no code with the library.
#pragma once

#include "weft/core/random.hpp"
#include "weft/shard/variant_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace weft_test {

/// A problem as plain lists, which models `shard::variant_model`.
struct plain_variants {
  struct op {
    std::vector<std::int64_t> costs, bytes;
    std::int64_t begin = 0, end = 0;
  };
  struct edge {
    weft::op_id from = 0, to = 0;
    std::vector<std::vector<std::int64_t>> costs;
  };
  std::vector<op> ops;
  std::vector<edge> edges;
  std::int64_t most = weft::shard::variant_problem::no_limit;

  std::size_t num_ops() const { return ops.size(); }
  std::size_t num_variants(weft::op_id v) const { return ops[v].costs.size(); }
  std::int64_t cost(weft::op_id v, std::uint32_t i) const { return ops[v].costs[i]; }
  std::int64_t bytes(weft::op_id v, std::uint32_t i) const { return ops[v].bytes[i]; }
  weft::shard::live_range live(weft::op_id v) const { return {ops[v].begin, ops[v].end}; }
  std::size_t num_edges() const { return edges.size(); }
  std::pair<weft::op_id, weft::op_id> ends(std::uint32_t e) const { return {edges[e].from, edges[e].to}; }
  std::int64_t edge_cost(std::uint32_t e, std::uint32_t i, std::uint32_t j) const { return edges[e].costs[i][j]; }
  std::int64_t limit() const { return most; }
};

/// The cost of a choice; nothing if it takes what may not be taken, or exceeds the limit at some moment.
inline std::optional<std::int64_t> cost_of(const plain_variants& p, const std::vector<std::uint32_t>& x) {
  constexpr std::int64_t never = 1'000'000'000'000'000'000;
  std::uint64_t cost = 0; // no more than never
  const auto add = [&](std::int64_t c) { cost = std::min<std::uint64_t>(cost + static_cast<std::uint64_t>(c), never); };
  for (std::size_t v = 0; v < p.ops.size(); ++v) {
    add(p.ops[v].costs[x[v]]);
  }
  for (const auto& e : p.edges) {
    add(e.costs[x[e.from]][x[e.to]]);
  }
  for (const auto& at : p.ops) { // where an op begins, as many are live as ever
    std::int64_t used = 0;
    for (std::size_t v = 0; v < p.ops.size(); ++v) {
      used += p.ops[v].begin <= at.begin && at.begin < p.ops[v].end ? p.ops[v].bytes[x[v]] : 0;
    }
    if (used > p.most) {
      return std::nullopt;
    }
  }
  return cost < never ? std::optional{static_cast<std::int64_t>(cost)} : std::nullopt;
}

inline std::optional<std::int64_t> least_cost(const plain_variants& p) {
  std::optional<std::int64_t> least;
  std::vector<std::uint32_t> x(p.ops.size());
  for (;;) {
    if (const auto cost = cost_of(p, x); cost && (!least || *cost < *least)) {
      least = cost;
    }
    std::size_t v = 0;
    while (v < x.size() && ++x[v] == p.ops[v].costs.size()) {
      x[v++] = 0;
    }
    if (v == x.size()) {
      return least;
    }
  }
}

/// Limits tight and loose or none, costs of "never", edges from an op to itself and several between two ops, ops
/// without edges and without bytes.
inline plain_variants draw_variants(weft::rng& random, std::size_t max_ops, std::size_t max_variants) {
  constexpr std::int64_t never = 1'000'000'000'000'000'000;
  plain_variants p;
  const auto n = random.below(max_ops + 1);
  const bool mixed = random.below(4) == 0; // some costs are larger than others by powers of ten
  const std::int64_t unit = !mixed && random.below(10) == 0 ? 1'000'000'000'000 : 1 + random.below(3);
  const auto forbidden = random.below(5);
  const auto allowed = [&] {
    std::int64_t x = unit * random.below(20);
    for (auto power = mixed && random.below(4) == 0 ? random.below(17) : 0; power > 0; --power) {
      x *= 10;
    }
    return x;
  };
  const auto cost = [&] { return random.below(10) < forbidden ? never + random.below(2) : allowed(); };
  std::int64_t all = 0;
  for (std::size_t v = 0; v < n; ++v) {
    auto& op = p.ops.emplace_back();
    std::int64_t largest = 0;
    for (auto i = 1 + random.below(max_variants); i > 0; --i) {
      op.costs.push_back(random.below(3) == 0 ? cost() : allowed());
      op.bytes.push_back(random.below(10));
      largest = std::max(largest, op.bytes.back());
    }
    all += largest;
    op.begin = random.between(-2, 8);
    op.end = op.begin + random.below(6);
  }
  for (auto e = n == 0 ? 0 : random.below(2 * n + 1); e > 0; --e) {
    auto& edge = p.edges.emplace_back();
    edge.from = random.below(n);
    edge.to = random.below(n);
    edge.costs.resize(p.ops[edge.from].costs.size());
    for (auto& row : edge.costs) {
      for (std::size_t j = 0; j < p.ops[edge.to].costs.size(); ++j) {
        row.push_back(cost());
      }
    }
  }
  if (random.below(4) > 0) {
    p.most = random.below(3) == 0 ? random.between(0, all) : all * random.between(20, 80) / 100;
  }
  return p;
}

/// Ops in a band, so that much is live at once, and with more ops than can be enumerated.
inline plain_variants draw_band(weft::rng& random, std::size_t n, std::size_t variants, std::int64_t percent) {
  plain_variants p;
  std::int64_t all = 0;
  for (std::size_t v = 0; v < n; ++v) {
    auto& op = p.ops.emplace_back();
    for (std::size_t i = 0; i < variants; ++i) {
      op.costs.push_back(random.below(100));
      op.bytes.push_back(100 - op.costs.back() + random.below(20));
    }
    op.begin = static_cast<std::int64_t>(v);
    op.end = op.begin + 1 + random.below(10);
    for (std::size_t k = 1; k <= 3 && k <= v; ++k) {
      auto& edge = p.edges.emplace_back();
      edge.from = static_cast<weft::op_id>(v - k);
      edge.to = static_cast<weft::op_id>(v);
      edge.costs.assign(variants, std::vector<std::int64_t>(variants));
      for (auto& row : edge.costs) {
        for (auto& c : row) {
          c = random.below(8) == 0 ? 1'000'000'000'000'000'000 : random.below(60);
        }
      }
    }
    all = std::max<std::int64_t>(all, 600);
  }
  p.most = all * percent / 100;
  return p;
}

} // namespace weft_test
