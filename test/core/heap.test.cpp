// SPDX-License-Identifier: BSL-1.0
#include "weft/core/heap.hpp"
#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <queue>
#include <vector>

namespace core_heap_test {

constexpr bool sorts_at_compile_time() {
  constexpr weft::heap_operations<int, std::less<>> heap{};
  std::array<int, 7> memory{};
  std::size_t size = 0;
  for (const int x : {5, 3, 9, 1, 7, 3, 8}) {
    heap.push(memory.data(), size++, x);
  }
  int previous = 0;
  while (size > 0) {
    if (memory[0] < previous) {
      return false;
    }
    previous = memory[0];
    heap.pop(memory.data(), size--);
  }
  return previous == 9;
}
static_assert(sorts_at_compile_time());

struct entry {
  int key;
  unsigned id;
};
struct before {
  bool operator()(const entry& a, const entry& b) const {
    return a.key != b.key ? a.key > b.key : a.id < b.id;
  }
};
struct after {
  bool operator()(const entry& a, const entry& b) const { return before{}(b, a); }
};

TEST_CASE("heap: agrees with std::priority_queue over random pushes and pops") {
  weft::rng random{17};
  for (int round = 0; round < 50; ++round) {
    const weft::heap_operations<entry, before> heap;
    std::vector<entry> memory(400);
    std::size_t size = 0;
    std::priority_queue<entry, std::vector<entry>, after> reference;
    const auto bias = random.below(60) + 30;
    for (unsigned i = 0; i < 400; ++i) {
      if (random.below(100) < bias || size == 0) {
        const entry e{static_cast<int>(random.below(20)), i}; // few keys, so many ties
        heap.push(memory.data(), size++, e);
        reference.push(e);
      } else {
        heap.pop(memory.data(), size--);
        reference.pop();
      }
      REQUIRE(size == reference.size());
      if (size > 0) {
        REQUIRE(memory[0].id == reference.top().id);
      }
    }
    while (size > 0) {
      REQUIRE(memory[0].id == reference.top().id);
      heap.pop(memory.data(), size--);
      reference.pop();
    }
  }
}

} // namespace core_heap_test
