// SPDX-License-Identifier: BSL-1.0
#include "weft/core/indexed_heap.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace core_indexed_heap_test {

TEST_CASE("indexed_heap: the first is always the least key, of equal ones the least id") {
  weft::rng random{3};
  weft::indexed_heap heap;
  for (const std::uint32_t capacity : {1u, 7u, 40u}) {
    heap.reset(capacity);
    std::vector<std::optional<double>> keys(capacity);
    for (int step = 0; step < 3000; ++step) {
      const auto id = random.below(capacity);
      if (random.below(3) == 0) {
        heap.remove(id);
        keys[id].reset();
      } else {
        keys[id] = random.below(10);
        heap.set(id, *keys[id]);
      }
      REQUIRE(heap.contains(id) == keys[id].has_value());
      const auto least = std::min_element(keys.begin(), keys.end(), [](const auto& a, const auto& b) {
        return a.has_value() != b.has_value() ? a.has_value() : a.has_value() && *a < *b;
      });
      REQUIRE(heap.empty() == !least->has_value());
      if (!heap.empty()) {
        REQUIRE(heap.first() == static_cast<std::uint32_t>(least - keys.begin()));
        REQUIRE(heap.first_key() == **least);
      }
    }
  }
}

} // namespace core_indexed_heap_test
