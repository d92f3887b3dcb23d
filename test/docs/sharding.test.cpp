// SPDX-License-Identifier: BSL-1.0
// The code of docs/sharding.md and docs/concepts/variant_model.md.
#include "weft/shard.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace docs_sharding_test {

// [variant_model]
/// Layers in a row. Each is split by rows or by columns over two devices, or is whole on both.
struct layers {
  enum variant : std::uint32_t { by_rows, by_columns, whole };
  std::vector<std::int64_t> weights; ///< bytes, by layer

  std::size_t num_ops() const { return weights.size(); }
  std::size_t num_variants(weft::op_id) const { return 3; }
  std::int64_t cost(weft::op_id, std::uint32_t i) const { return i == whole ? 20 : 10; } // microseconds
  std::int64_t bytes(weft::op_id v, std::uint32_t i) const { return i == whole ? weights[v] : weights[v] / 2; }
  weft::shard::live_range live(weft::op_id) const { return {0, 1}; } // weights stay
  std::size_t num_edges() const { return weights.size() - 1; }
  weft::shard::op_pair ends(std::uint32_t e) const { return {e, e + 1}; }
  std::int64_t edge_cost(std::uint32_t, std::uint32_t i, std::uint32_t j) const {
    return i == whole || (i == by_columns && j == by_rows) ? 0 : 15; // what has to be gathered
  }
  std::int64_t limit() const { return 600; } // bytes of a device
};
static_assert(weft::shard::variant_model<layers>);
// [variant_model]

TEST_CASE("docs: a model of one's own") {
  const auto found = weft::shard::best(layers{{100, 100, 100, 100}});
  CHECK(found.is_optimal());
  CHECK(found.cost == 55);
  CHECK(found.peak == 200);
}

TEST_CASE("docs: sharding") {
  // [sharding]
  weft::shard::variant_problem p;
  const std::vector<std::int64_t> times{40, 25}, bytes{64, 128};      // of two variants: split, and whole
  const auto first = p.add_op(times, bytes, {.begin = 0, .end = 2}); // the bytes count at moments 0 and 1
  const auto second = p.add_op(times, bytes, {.begin = 1, .end = 3});
  const std::vector<std::int64_t> resharding{0, 30, weft::shard::never, 5}; // split → whole costs 30, back may not be
  p.add_edge(first, second, resharding);
  p.set_limit(200);

  const auto found = weft::shard::best(p, {.budget = {.seconds = 10}, .jobs = 2});
  const bool is_proven = found.is_optimal(); // found.cost == found.bound; found.choice[v] is the variant of op v
  // [sharding]
  CHECK(is_proven);
  CHECK(found.cost == 80);
  CHECK(found.choice == std::vector<std::uint32_t>{0, 0});
}

} // namespace docs_sharding_test
