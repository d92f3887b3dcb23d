// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/detail/near_groups.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace near_groups_test {

using namespace weft;
using parallel::detail::near_groups;

TEST_CASE("near_groups: near items together, whatever they may cost to find") {
  constexpr std::uint32_t n = 24, per_node = 8;
  std::vector<double> seconds;
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = 0; b < n; ++b) {
      seconds.push_back(a == b ? 0 : a % 3 == b % 3 ? 1 : 5); // three nodes
    }
  }
  for (const std::uint32_t size : {1u, 2u, 4u, per_node}) {
    for (const auto max_work : std::vector<std::size_t>{0, 100, 1'000, 1'000'000}) {
      CAPTURE(size);
      CAPTURE(max_work);
      const auto groups = near_groups{n, size, seconds, max_work}(1);
      REQUIRE(groups.size() == n / size); // all are as near as the one that is needed
      std::set<std::uint32_t> items;
      for (const auto& g : groups) {
        CHECK(g.size() == size);
        for (const auto i : g) {
          CHECK(i % 3 == g.front() % 3);
          items.insert(i);
        }
      }
      CHECK(items.size() == n);
    }
  }
}

} // namespace near_groups_test
