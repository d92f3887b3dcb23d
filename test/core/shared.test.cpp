// SPDX-License-Identifier: BSL-1.0
#include "weft/core/shared.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace core_shared_test {

using weft::shared;

/// Counts how many of it there are.
struct counted {
  int* alive = nullptr;
  constexpr explicit counted(int& n) : alive{&n} { ++*alive; }
  constexpr counted(counted&& other) noexcept : alive{other.alive} { ++*alive; }
  constexpr ~counted() { --*alive; }
};

/// How many values there are while copies come and go, and after the last has gone.
constexpr std::vector<int> lives() {
  int alive = 0;
  std::vector<int> seen;
  {
    shared first{counted{alive}};
    seen.push_back(alive);
    {
      const shared copy = first;
      shared other{counted{alive}};
      seen.push_back(alive);
      other = copy;
      seen.push_back(alive);
      first = std::move(other);
    }
    const shared last = std::move(first);
    seen.push_back(alive + (last->alive == &alive ? 0 : 100));
  }
  seen.push_back(alive);
  return seen;
}
static_assert(lives() == std::vector{1, 2, 1, 1, 0});

TEST_CASE("shared: copies are the same value, which goes with the last of them") {
  CHECK(lives() == std::vector{1, 2, 1, 1, 0});
  const shared a{std::vector{1, 2, 3}};
  const shared b = a;
  CHECK(&*a == &*b);
  CHECK(b->size() == 3);
}

} // namespace core_shared_test
