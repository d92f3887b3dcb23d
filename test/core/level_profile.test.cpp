// SPDX-License-Identifier: BSL-1.0
#include "weft/core/level_profile.hpp"
#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace core_level_profile_test {

using weft::level_profile;

TEST_CASE("level_profile: the peak is the highest sum, and what ends makes room for what begins then") {
  level_profile p;
  CHECK(p.peak() == 0);
  p.add(1, 10);
  p.add(3, -10);
  CHECK(p.peak() == 10);
  p.add(3, 7);
  p.add(5, -7);
  CHECK(p.peak() == 10);
  p.add(2, 5);
  p.add(4, -5);
  CHECK(p.peak() == 15);
  p.remove(2, 5);
  p.remove(4, -5);
  CHECK(p.peak() == 10);
  p.clear();
  CHECK(p.peak() == 0);
}

TEST_CASE("level_profile: thousands of changes that come and go, many of them at the same moments") {
  level_profile p;
  std::vector<std::pair<double, std::int64_t>> there;
  weft::rng random{1};
  for (int k = 0; k < 6'000; ++k) {
    const bool grows = k % 3'000 < 1'500;
    if (there.empty() || random.below(4) < (grows ? 3u : 1u)) {
      const std::pair<double, std::int64_t> x{random.below(2) == 0 ? random.below(20) : random.uniform() * 20,
                                              static_cast<std::int64_t>(random.below(11)) - 5};
      there.push_back(x);
      p.add(x.first, x.second);
    } else {
      const auto i = random.below(there.size());
      p.remove(there[i].first, there[i].second);
      there[i] = there.back();
      there.pop_back();
    }
    if (k % 5 == 0) {
      auto sorted = there;
      std::sort(sorted.begin(), sorted.end());
      std::int64_t level = 0;
      std::int64_t highest = 0;
      for (const auto& x : sorted) {
        level += x.second;
        highest = std::max(highest, level);
      }
      REQUIRE(p.peak() == highest);
    }
  }
}

} // namespace core_level_profile_test
