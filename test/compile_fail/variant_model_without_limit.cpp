// SPDX-License-Identifier: BSL-1.0
// expect: weft: this variant model lacks limit\(\) const, a whole number
#include "weft/shard/best.hpp"

struct two_ways {
  std::size_t num_ops() const { return 1; }
  std::size_t num_variants(weft::op_id) const { return 2; }
  std::int64_t cost(weft::op_id, std::uint32_t i) const { return i; }
  std::int64_t bytes(weft::op_id, std::uint32_t) const { return 0; }
  weft::shard::live_range live(weft::op_id) const { return {}; }
  std::size_t num_edges() const { return 0; }
  weft::shard::op_pair ends(std::uint32_t) const { return {}; }
  std::int64_t edge_cost(std::uint32_t, std::uint32_t, std::uint32_t) const { return 0; }
#ifndef WEFT_COMPILE_FAIL
  std::int64_t limit() const { return 7; }
#endif
};

auto choose(const two_ways& m) {
  return weft::shard::best(m).cost;
}
