// SPDX-License-Identifier: BSL-1.0
#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace core_random_test {

// The expected numbers come from an independent implementation of splitmix64 and xoshiro256** in Python, which was
// itself held against the vectors published with the two generators.

using weft::rng;
static_assert(std::uniform_random_bit_generator<rng>);

constexpr std::uint64_t nth(std::uint64_t seed, int n) {
  rng random{seed};
  for (int i = 1; i < n; ++i) {
    random();
  }
  return random();
}
static_assert(nth(42, 1) == 0x15780b2e0c2ec716);

TEST_CASE("random: splitmix64's published vector") {
  std::uint64_t state = 1234567;
  for (const std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                       4593380528125082431u, 16408922859458223821u}) {
    state += 0x9e3779b97f4a7c15u;
    CHECK(rng::mix(state) == expected);
  }
}

TEST_CASE("random: xoshiro256** seeded by splitmix64") {
  const auto first_four = [](std::uint64_t seed) {
    rng random{seed};
    std::array<std::uint64_t, 4> words{};
    std::ranges::generate(words, [&] { return random(); });
    return words;
  };
  CHECK(first_four(0) == std::array<std::uint64_t, 4>{0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0,
                                                      0x6aa594f1262d2d2c});
  CHECK(first_four(42) == std::array<std::uint64_t, 4>{0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1,
                                                       0xecb8ad4703b360a1});
  CHECK(nth(0, 1000) == 0x7aac8c483a2edd2f);
  CHECK(nth(42, 1000) == 0x8de5848c61ab8968);
  CHECK(nth(0xdeadbeef, 1000) == 0xf1c16d7f61082d10);
}

TEST_CASE("random: the default seed is 0") { CHECK(rng{}() == rng{0}()); }

TEST_CASE("random: below gives known numbers, also where many draws are rejected") {
  rng random{7};
  std::vector<std::uint32_t> drawn;
  for (const std::size_t bound : {1u, 2u, 3u, 10u, 100u, 1000u, 3'000'000'000u, 4'294'967'295u}) {
    drawn.push_back(random.below(bound));
  }
  CHECK(drawn == std::vector<std::uint32_t>{0, 0, 2, 9, 99, 872, 313307367, 1733906325});

  rng other{5}; // three in ten draws are rejected for this bound
  drawn.clear();
  for (int i = 0; i < 6; ++i) {
    drawn.push_back(other.below(3'000'000'001));
  }
  CHECK(drawn == std::vector<std::uint32_t>{1806246999, 1948640191, 2464650773, 1550141741, 2425984785, 1087611679});
}

TEST_CASE("random: below is uniform") {
  rng random{1};
  // A bound of 3 · 2^30 without rejection would hit the lowest third of a quarter twice as often as the rest.
  constexpr std::size_t bound = 3u << 30;
  std::array<int, 12> hits{};
  constexpr int draws = 120'000;
  for (int i = 0; i < draws; ++i) {
    ++hits[random.below(bound) / (bound / 12)];
  }
  double chi_squared = 0;
  for (const int h : hits) {
    chi_squared += (h - draws / 12.0) * (h - draws / 12.0) / (draws / 12.0);
  }
  CHECK(chi_squared < 31.3); // 11 degrees of freedom, probability 0.001
}

TEST_CASE("random: real numbers stay in their interval") {
  rng random{5};
  CHECK(random.uniform() == 0x1.275545e329532p-2);
  CHECK(random.uniform() == 0x1.344422b49a4c4p-1);
  CHECK(random.uniform() == 0x1.4c916399e1777p-1);
  double low = 1;
  double high = 0;
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = random.uniform();
    low = std::min(low, x);
    high = std::max(high, x);
    sum += random.uniform(-3, 5);
  }
  CHECK(low >= 0);
  CHECK(low < 0.01);
  CHECK(high < 1);
  CHECK(high > 0.99);
  CHECK(sum / 10'000 == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("random: between includes both ends") {
  rng random{3};
  std::map<std::int64_t, int> hits;
  for (int i = 0; i < 1000; ++i) {
    ++hits[random.between(-2, 2)];
  }
  CHECK(hits.size() == 5);
  CHECK(hits.begin()->first == -2);
  CHECK(hits.rbegin()->first == 2);
  CHECK(random.between(9, 9) == 9);
}

TEST_CASE("random: shuffle") {
  SUBCASE("gives a known permutation") {
    rng random{7};
    std::vector<int> v{0, 1, 2, 3, 4, 5, 6, 7};
    random.shuffle(v);
    CHECK(v == std::vector<int>{6, 0, 2, 3, 4, 7, 1, 5});
  }
  SUBCASE("gives every permutation equally often") {
    rng random{11};
    std::map<std::array<int, 3>, int> hits;
    for (int i = 0; i < 6000; ++i) {
      std::array<int, 3> v{1, 2, 3};
      random.shuffle(v);
      ++hits[v];
    }
    CHECK(hits.size() == 6);
    for (const auto& [permutation, count] : hits) {
      CHECK(count > 850);
      CHECK(count < 1150);
    }
  }
  SUBCASE("leaves empty and single ranges alone and draws nothing for them") {
    rng random{1};
    std::vector<int> empty;
    std::vector<int> single{4};
    random.shuffle(empty);
    random.shuffle(single);
    CHECK(single == std::vector<int>{4});
    CHECK(random() == nth(1, 1));
  }
}

} // namespace core_random_test
