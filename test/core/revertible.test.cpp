// SPDX-License-Identifier: BSL-1.0
#include "weft/core/random.hpp"
#include "weft/core/revertible.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace core_revertible_test {

using weft::revertible;

TEST_CASE("revertible: a rollback brings back what was there at the last commit, whatever was set how often") {
  revertible<double> a{10, 1.5};
  weft::rng random{1};
  for (int round = 0; round < 100; ++round) {
    const std::vector<double> before = a.values();
    for (int k = 0; k < 30; ++k) {
      a.set(random.below(10), random.uniform());
    }
    CHECK_FALSE(a.is_settled());
    CHECK(a.values() != before);
    if (round % 3 == 0) {
      const std::vector<double> after = a.values();
      a.commit();
      a.rollback();
      CHECK(a.values() == after);
    } else {
      a.rollback();
      CHECK(a.values() == before);
    }
    CHECK(a.is_settled());
  }
}

TEST_CASE("revertible: what is settled stays, and changes are told") {
  revertible<int> a{3, 7};
  a.settle(1, 8);
  a.set(2, 9);
  std::vector<std::uint32_t> told;
  a.for_each_change([&](std::uint32_t i) { told.push_back(i); });
  CHECK(told == std::vector<std::uint32_t>{2});
  CHECK(a[2] == 9);
  a.rollback();
  CHECK(a.values() == std::vector<int>{7, 8, 7});
  a.fill(1);
  CHECK(a.values() == std::vector<int>{1, 1, 1});
}

TEST_CASE("revertible: several parts at once") {
  revertible<int> a{1, 1};
  revertible<double> b{1, 2};
  a.set(0, 3);
  CHECK_FALSE(weft::all_settled(a, b));
  b.set(0, 4);
  weft::rollback_all(a, b);
  CHECK(weft::all_settled(a, b));
  CHECK(a[0] == 1);
  CHECK(b[0] == 2);
  b.set(0, 5);
  weft::commit_all(a, b);
  weft::rollback_all(a, b);
  CHECK(b[0] == 5);
}

} // namespace core_revertible_test
