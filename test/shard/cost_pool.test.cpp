// SPDX-License-Identifier: BSL-1.0
#include "weft/shard/cost_pool.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace shard_cost_pool_test {

using namespace weft;

TEST_CASE("cost_pool: equal arrays have one id, others and other tags their own") {
  shard::cost_pool pool;
  std::vector<std::uint32_t> ids;
  for (std::int64_t k = 0; k < 200; ++k) {
    const std::vector<std::int64_t> values{k, k + 1, k % 3};
    ids.push_back(pool.add(values));
    CHECK(ids.back() == k);
  }
  CHECK(pool.num_values() == 600);
  const std::vector<std::int64_t> again{77, 78, 2}, shorter{77, 78}, nothing;
  CHECK(pool.add(again) == 77);
  CHECK(pool.add(again, 3) == 200);
  CHECK(pool.add(again, 1) == 201);
  CHECK(pool.add(again, 3) == 200);
  CHECK(pool.add(shorter) == 202);
  CHECK(pool.add(nothing) == 203);
  CHECK(pool.add(nothing) == 203);
  CHECK(pool[77][1] == 78);
  CHECK(pool[202].size() == 2);
  CHECK(pool.size() == 204);
}

} // namespace shard_cost_pool_test
