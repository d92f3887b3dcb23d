// SPDX-License-Identifier: BSL-1.0
/// A type that offers exactly what `shard::variant_model` asks.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/shard/variant_model.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::shard {

/// Models `variant_model` and nothing beyond it: no ops.
struct variant_model_archetype {
  std::size_t num_ops() const { return 0; }
  std::size_t num_variants(op_id) const { return 1; }
  std::int64_t cost(op_id, std::uint32_t) const { return 0; }
  std::int64_t bytes(op_id, std::uint32_t) const { return 0; }
  live_range live(op_id) const { return {}; }
  std::size_t num_edges() const { return 0; }
  std::pair<op_id, op_id> ends(std::uint32_t) const { return {none, none}; }
  std::int64_t edge_cost(std::uint32_t, std::uint32_t, std::uint32_t) const { return 0; }
  std::int64_t limit() const { return variant_problem::no_limit; }
};

static_assert(variant_model<variant_model_archetype>);

} // namespace weft::shard
