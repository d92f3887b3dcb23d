// SPDX-License-Identifier: BSL-1.0
#include "weft/core/budget.hpp"

#include <doctest/doctest.h>

#include <stop_token>
#include <vector>

namespace core_budget_test {

int spent(weft::budget_meter& meter, int limit) {
  int count = 0;
  while (count < limit && meter.spend()) {
    ++count;
  }
  return count;
}

TEST_CASE("budget_meter: of a budget in seconds the fraction rises to 1, whoever looks at it and when") {
  for (const std::uint64_t begin : {0u, 1u, 2u, 63u}) { // moves spent before the loop that looks every 64 of its own
    weft::budget_meter meter{{.seconds = 0.02}};
    for (std::uint64_t k = 0; k < begin; ++k) {
      CHECK(meter.spend());
    }
    double last = 0;
    for (std::uint64_t k = 0; meter.spend(); ++k) {
      if (k % 64 == 0) {
        CHECK(meter.fraction() >= last);
        last = meter.fraction();
      }
    }
    CHECK(meter.fraction() == 1);
  }
}

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

TEST_CASE("budget: the fraction of moves that is used up") {
  weft::budget_meter meter{{.moves = 8}};
  CHECK(meter.fraction() == 0);
  double last = 0;
  for (int k = 1; k <= 8; ++k) {
    REQUIRE(meter.spend());
    CHECK(meter.fraction() == k / 8.0);
    CHECK(meter.fraction() > last);
    last = meter.fraction();
  }
  CHECK_FALSE(meter.spend());
  CHECK(meter.fraction() == 1);
  CHECK_FALSE(meter.timed());
  CHECK(meter.budgeted_moves() == 8);
}

TEST_CASE("budget: the fraction of an unlimited budget stays at nothing, of an empty one it is all") {
  weft::budget_meter endless{weft::budget{}};
  CHECK(spent(endless, 1000) == 1000);
  CHECK(endless.fraction() < 1e-12);
  weft::budget_meter no_moves{{.moves = 0}};
  CHECK(no_moves.fraction() == 1);
}

TEST_CASE("budget: the fraction of time never falls, and ends at one") {
  weft::budget_meter meter{{.seconds = 0.002}};
  CHECK(meter.timed());
  double last = 0;
  while (meter.spend()) {
    const double now = meter.fraction();
    REQUIRE(now >= last);
    REQUIRE(now <= 1);
    last = now;
  }
  CHECK(meter.elapsed() >= 0.002);
  weft::budget_meter no_time{{.seconds = 0}};
  CHECK(no_time.fraction() <= 1);
}

TEST_CASE("budget: a target is met at the value, below it, and within rounding above it") {
  weft::budget_meter meter{{.target = 3}};
  CHECK_FALSE(meter.improved(4));
  CHECK_FALSE(meter.improved(3.000001));
  CHECK(meter.improved(3 * (1 + 1e-15)));
  CHECK(meter.improved(3));
  CHECK(meter.improved(2));
  weft::budget_meter none{weft::budget{}};
  CHECK_FALSE(none.improved(1e-300));
  CHECK(none.improved(0)); // nothing is shorter
}

TEST_CASE("budget: the listener hears of each better solution, when it is found") {
  std::vector<weft::progress> heard;
  weft::budget_meter meter{{.on_progress = [&](const weft::progress& p) { heard.push_back(p); }}};
  meter.improved(5);
  CHECK(spent(meter, 3) == 3);
  meter.improved(4);
  REQUIRE(heard.size() == 2);
  CHECK(heard[0].moves == 0);
  CHECK(heard[0].best == 5);
  CHECK(heard[1].moves == 3);
  CHECK(heard[1].best == 4);
  CHECK(heard[1].seconds >= heard[0].seconds);
}

TEST_CASE("stopwatch: runs forwards, and stands still at compile time") {
  constexpr double frozen = weft::stopwatch{}.seconds();
  static_assert(frozen == 0);
  const weft::stopwatch watch;
  const double first = watch.seconds();
  CHECK(first >= 0);
  CHECK(watch.seconds() >= first);
}

} // namespace core_budget_test
