// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/fastest_amount.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace fastest_amount_test {

using namespace weft;
using solve::amount_verdict;
using solve::fastest_amount;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("fastest_amount: a plan that fits by running ops elsewhere is not the end") {
  // Nothing again: six times the time on the host. All 24 parts again: a third more work.
  const auto step = [](std::uint32_t amount) {
    return amount < 10 ? amount_verdict{6.0 - 0.1 * amount, false} : amount_verdict{1 + amount / 72.0, true};
  };
  const auto found = fastest_amount(24, step);
  CHECK(found.amount == 10);
  CHECK(found.verdict.is_enough);
}

TEST_CASE("fastest_amount: ops elsewhere may be cheaper than ops again") {
  const auto step = [](std::uint32_t amount) {
    return amount < 10 ? amount_verdict{1.01, false} : amount_verdict{1 + amount / 72.0, true};
  };
  CHECK(fastest_amount(24, step).amount == 0);
}

TEST_CASE("fastest_amount: where it fits, one question; where nothing does, the last") {
  int asked = 0;
  CHECK(fastest_amount(24, [&](std::uint32_t) {
          ++asked;
          return amount_verdict{1, true};
        }).amount == 0);
  CHECK(asked == 1);
  std::uint32_t last = 0;
  const auto nothing = fastest_amount(24, [&](std::uint32_t amount) {
    last = amount;
    return amount_verdict{};
  });
  CHECK(nothing.verdict.seconds == infinity);
  CHECK(last == 24);
  CHECK(fastest_amount(0, [](std::uint32_t) { return amount_verdict{2, false}; }).verdict.seconds == 2);
}

TEST_CASE("fastest_amount: the best of all where more work is more time, in a few questions") {
  std::mt19937_64 random{7};
  const auto number = [&](double least, double most) { return std::uniform_real_distribution{least, most}(random); };
  for (int i = 0; i < 2000; ++i) {
    const auto most = static_cast<std::uint32_t>(number(0, 40)), enough = static_cast<std::uint32_t>(number(0, 45));
    const double work = number(0, 0.02), lack = number(0.1, 1); // of a part again, and of one that runs elsewhere
    const auto step = [&](std::uint32_t amount) {
      const double missing = amount < enough ? lack * (enough - amount) : 0;
      return amount_verdict{1 + work * amount + missing, amount >= enough};
    };
    int asked = 0;
    const auto found = fastest_amount(most, [&](std::uint32_t amount) {
      ++asked;
      return step(amount);
    });
    double best = infinity;
    for (std::uint32_t amount = 0; amount <= most; ++amount) {
      best = std::min(best, step(amount).seconds);
    }
    CHECK(found.verdict.seconds == best);
    CHECK(asked <= 3 + 2 * std::log2(most + 1.0));
  }
}

} // namespace fastest_amount_test
