// SPDX-License-Identifier: BSL-1.0
#include "weft/core/least_enough.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace core_least_enough_test {

using namespace weft;

static_assert(least_enough(1u, 100u, [](unsigned n) { return n * n >= 200; }) == 15u);

TEST_CASE("least_enough: each answer, between all ends") {
  for (unsigned first = 0; first < 20; ++first) {
    for (unsigned last = 0; last < 40; ++last) {
      for (unsigned least = 0; least < 45; ++least) {
        const auto found = least_enough(first, last, [&](unsigned n) {
          REQUIRE(n >= first);
          REQUIRE(n <= last);
          return n >= least;
        });
        const unsigned expected = least > first ? least : first;
        REQUIRE(found.has_value() == (expected <= last));
        REQUIRE(found.value_or(expected) == expected);
      }
    }
  }
}

TEST_CASE("least_enough: few questions, each asked once, also near the largest number") {
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> asked;
  const auto of = [&](std::uint64_t least) {
    return [&asked, least](std::uint64_t n) {
      asked.push_back(n);
      return n >= least;
    };
  };
  CHECK(least_enough(std::uint64_t{1}, largest, of(11)) == 11);
  CHECK(asked == std::vector<std::uint64_t>{1, 2, 4, 8, 16, 12, 10, 11});
  asked.clear();
  CHECK(least_enough(std::uint64_t{0}, largest, of(largest)) == largest);
  CHECK(asked.size() < 140);
}

TEST_CASE("least_enough: ends without an answer") {
  int questions = 3;
  const auto found = least_enough(1u, 1000u, [&](unsigned n) -> std::optional<bool> {
    return questions-- > 0 ? std::optional{n >= 3} : std::nullopt;
  });
  CHECK(found == 4u); // 1, 2 and 4; whether 3 is enough was not answered
  CHECK_FALSE(least_enough(1u, 1000u, [](unsigned) -> std::optional<bool> { return std::nullopt; }));
}

} // namespace core_least_enough_test
