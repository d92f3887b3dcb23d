// SPDX-License-Identifier: BSL-1.0
#include "weft/core/unique_queue.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace core_unique_queue_test {

TEST_CASE("unique_queue: each number once, the least key first") {
  weft::unique_queue q{20};
  for (const std::uint32_t i : {7u, 3u, 19u, 3u, 0u, 7u, 12u}) {
    q.add(i, 100.0 - i);
  }
  q.add(5, 1);
  q.add(5, 1000);
  std::vector<std::uint32_t> out;
  while (!q.empty()) {
    out.push_back(q.pop());
  }
  CHECK(out == std::vector<std::uint32_t>{5, 19, 12, 7, 3, 0});
  q.add(3, 2); // what came out may come in again
  q.add(4, 1);
  CHECK(q.pop() == 4);
  q.add(4, 1);
  std::vector<std::uint32_t> left;
  q.clear([&](std::uint32_t i) { left.push_back(i); });
  CHECK(left.size() == 2);
  CHECK(q.empty());
  q.add(3, 5);
  CHECK(q.pop() == 3);
}

} // namespace core_unique_queue_test
