// SPDX-License-Identifier: BSL-1.0
#include "weft/core/budget.hpp"

#include <doctest/doctest.h>

#include <stop_token>

namespace {
int spent(weft::budget_meter& meter, int limit) {
  int count = 0;
  while (count < limit && meter.spend()) {
    ++count;
  }
  return count;
}
} // namespace

TEST_CASE("budget: moves are counted exactly") {
  weft::budget_meter meter{{.moves = 100}};
  CHECK_FALSE(meter.exhausted());
  CHECK(spent(meter, 1000) == 100);
  CHECK(meter.exhausted());
  CHECK(meter.used() == 100);
  CHECK_FALSE(meter.spend());
  CHECK(meter.used() == 100);
}

TEST_CASE("budget: no moves at all") {
  weft::budget_meter meter{{.moves = 0}};
  CHECK_FALSE(meter.spend());
  CHECK(meter.exhausted());
}

TEST_CASE("budget: the default never ends") {
  weft::budget_meter meter{weft::budget{}};
  CHECK(spent(meter, 100'000) == 100'000);
  CHECK_FALSE(meter.exhausted());
}

TEST_CASE("budget: no seconds left") {
  weft::budget_meter meter{{.seconds = 0}};
  CHECK_FALSE(meter.spend());
}

TEST_CASE("budget: a request to stop is seen within 64 moves") {
  std::stop_source source;
  const auto token = source.get_token();
  weft::budget_meter meter{{.stop = &token}};
  constexpr weft::budget constant{.moves = 3};
  CHECK(constant.moves == 3);
  CHECK(spent(meter, 10) == 10);
  source.request_stop();
  CHECK(spent(meter, 1000) <= 64);
  CHECK(meter.exhausted());
}

TEST_CASE("stopwatch: runs forwards, and stands still at compile time") {
  constexpr double frozen = weft::stopwatch{}.seconds();
  static_assert(frozen == 0);
  const weft::stopwatch watch;
  const double first = watch.seconds();
  CHECK(first >= 0);
  CHECK(watch.seconds() >= first);
}
