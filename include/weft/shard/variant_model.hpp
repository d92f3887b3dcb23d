// SPDX-License-Identifier: BSL-1.0
/// The concept of what variants can be chosen for: ops with variants, in a user's own types.
#pragma once

#include "weft/core/explained.hpp"
#include "weft/core/ids.hpp"
#include "weft/shard/variant_problem.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::shard {

/// The two ends of an edge.
using op_pair = std::pair<op_id, op_id>;

namespace model_parts {

/// M has ops `0 … num_ops() - 1`, each with variants `0 … num_variants(v) - 1`, their costs and bytes, and when the
/// bytes of an op count.
template <class M>
concept has_variants = requires(const M& m, op_id v, std::uint32_t i) {
  { m.num_ops() } -> std::integral;
  { m.num_variants(v) } -> std::integral;
  { m.cost(v, i) } -> std::integral;
  { m.bytes(v, i) } -> std::integral;
  { m.live(v) } -> std::same_as<live_range>;
};

/// M has edges `0 … num_edges() - 1`, the ops at their ends, and their costs for the variants of these.
template <class M>
concept has_edges = requires(const M& m, std::uint32_t e, std::uint32_t i, std::uint32_t j) {
  { m.num_edges() } -> std::integral;
  { m.ends(e) } -> std::same_as<op_pair>;
  { m.edge_cost(e, i, j) } -> std::integral;
};

/// M tells how many bytes may be live at once; `variant_problem::no_limit` if any number may.
template <class M>
concept has_limit = requires(const M& m) {
  { m.limit() } -> std::integral;
};

} // namespace model_parts

/// Ops with variants, edges with costs per pair of variants, a limit; see shard/archetype.hpp.
template <class M>
concept variant_model = model_parts::has_variants<M> && model_parts::has_edges<M> && model_parts::has_limit<M>;

} // namespace weft::shard

namespace weft::why_not {
template <class M>
struct variant_model {
  static constexpr bool has_ops = requires(const M& m) { m.num_ops(); };
  static_assert(has_ops, "weft: this variant model lacks num_ops() const, a number; see "
                         "docs/concepts/variant_model.md");
#define WEFT_DETAIL_PART(call, requirement, member, result)                                                            \
  WEFT_DETAIL_HAS(has_ops, (const M& m, op_id v, std::uint32_t e, std::uint32_t i), m.call, requirement,               \
                  "variant model", member, result, "variant_model")
  WEFT_DETAIL_PART(num_variants(v), std::integral, "num_variants(op_id)", "a whole number");
  WEFT_DETAIL_PART(cost(v, i), std::integral, "cost(op_id, variant)", "a whole number");
  WEFT_DETAIL_PART(bytes(v, i), std::integral, "bytes(op_id, variant)", "a whole number");
  WEFT_DETAIL_PART(live(v), std::same_as<shard::live_range>, "live(op_id)", "a shard::live_range");
  WEFT_DETAIL_PART(num_edges(), std::integral, "num_edges()", "a whole number");
  WEFT_DETAIL_PART(ends(e), std::same_as<shard::op_pair>, "ends(edge)", "a std::pair of two op ids");
  WEFT_DETAIL_PART(edge_cost(e, i, i), std::integral, "edge_cost(edge, variant, variant)",
                   "a whole number");
  WEFT_DETAIL_PART(limit(), std::integral, "limit()", "a whole number");
#undef WEFT_DETAIL_PART
};
} // namespace weft::why_not

namespace weft::must_be {
template <class M>
concept variant_model = shard::variant_model<M> || explained<why_not::variant_model<M>>;
} // namespace weft::must_be

namespace weft::shard {

/// The same problem as numbers. Throws what `variant_problem` throws for bad ones. Complexity: linear in the costs.
template <must_be::variant_model M>
variant_problem lower(const M& m) {
  variant_problem p;
  std::vector<std::int64_t> costs, bytes;
  for (const op_id v : ids(checked_count(static_cast<std::size_t>(m.num_ops()), "the variant model", "ops"))) {
    costs.clear();
    bytes.clear();
    const auto count = static_cast<std::size_t>(m.num_variants(v));
    for (const auto i : ids(checked_count(count, "an op of the variant model", "variants"))) {
      costs.push_back(static_cast<std::int64_t>(m.cost(v, i)));
      bytes.push_back(static_cast<std::int64_t>(m.bytes(v, i)));
    }
    p.add_op(costs, bytes, m.live(v));
  }
  for (const auto e : ids(checked_count(static_cast<std::size_t>(m.num_edges()), "the variant model", "edges"))) {
    const auto [from, to] = m.ends(e);
    costs.clear();
    if (from < p.num_ops() && to < p.num_ops()) { // add_edge refuses it if not
      for (const auto i : ids(p.num_variants(from))) {
        for (const auto j : ids(p.num_variants(to))) {
          costs.push_back(static_cast<std::int64_t>(m.edge_cost(e, i, j)));
        }
      }
    }
    p.add_edge(from, to, costs);
  }
  p.set_limit(static_cast<std::int64_t>(m.limit()));
  return p;
}

} // namespace weft::shard
