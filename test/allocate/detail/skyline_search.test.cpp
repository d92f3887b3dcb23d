// SPDX-License-Identifier: BSL-1.0
#include "support/rounds.hpp"

#include "weft/allocate/detail/skyline_search.hpp"

#include "support/offsets.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace allocate_skyline_search_test {

using namespace weft;
using allocate::lifetime;
using allocate::detail::answer;
using allocate::detail::skyline_search;

answer ask(skyline_search& s, const std::vector<lifetime>& all, byte_count capacity) {
  budget_meter meter{budget{}};
  const auto said = s.run(capacity, 10'000'000, meter);
  if (said == answer::yes) {
    std::vector<byte_count> offsets(all.size(), 0);
    s.write_offsets(offsets);
    CHECK(weft_test::wrong_with(all, offsets, capacity) == "");
  }
  return said;
}

TEST_CASE("skyline search: agrees with all orders, run after run") {
  rng random{9};
  for (int repeat = 0; repeat < test::rounds(3000); ++repeat) {
    std::vector<lifetime> all(1 + random.below(6));
    for (auto& x : all) {
      x.begin = random.below(6);
      x.end = x.begin + 1 + random.below(5);
      x.bytes = (1 + random.below(9)) * (repeat % 3 == 0 ? 4 : 1);
      x.alignment = repeat % 2 == 0 ? 1 : 1 + random.below(8);
    }
    INFO("problem ", repeat);
    const auto least = weft_test::least_by_brute_force(all);
    skyline_search s{all};
    for (int run = 0; run < 16; ++run) { // of every kind, and with what was learned for other capacities
      REQUIRE(ask(s, all, least - 1) == answer::no);
      REQUIRE(ask(s, all, least) == answer::yes);
    }
    REQUIRE(ask(s, all, least + random.below(10)) == answer::yes);
    REQUIRE(s.possible_height(least) == least);
    REQUIRE(s.possible_height(least - 1) >= least - 1);
  }
}

TEST_CASE("skyline search: never says no to what was cut from a whole") {
  rng random{2};
  int found = 0;
  for (int repeat = 0; repeat < 400; ++repeat) {
    const byte_count capacity = 40 + random.below(100);
    const byte_count unit = repeat % 3 == 0 ? 1 : 6;
    auto all = weft_test::cut_up(random, 8 + random.below(40), 4 + random.below(20), capacity);
    for (auto& x : all) {
      x.bytes *= unit;
      x.alignment = unit == 1 ? 1 : 1 + random.below(3);
    }
    if (repeat % 2 == 0) {
      all.pop_back(); // so that gaps can be left
    }
    skyline_search s{all};
    budget_meter meter{budget{}};
    for (int run = 0; run < 16; ++run) {
      const auto said = s.run(capacity * unit, 3000, meter);
      REQUIRE(said != answer::no);
      found += said == answer::yes;
    }
  }
  CHECK(found > 400 * 12);
}

} // namespace allocate_skyline_search_test
