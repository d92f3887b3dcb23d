// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/simplest_way.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace simplest_way_test {

using namespace weft;
using parallel::configuration;
using parallel::is_simpler;
using parallel::timed_way;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr configuration one_device{};
constexpr configuration data_4{.devices = 4, .replicas = 4};
constexpr configuration data_8{.devices = 8, .replicas = 8};
constexpr configuration tensor_4{.devices = 4, .ranks = 4};
constexpr configuration interleaved{.devices = 4, .stages = 4, .turns = 2, .micro_batches = 8};
constexpr configuration pipelined{.devices = 4, .stages = 4, .micro_batches = 8};
constexpr configuration accumulated{.devices = 4, .replicas = 4, .micro_batches = 2};
constexpr configuration tensor_and_pipeline{.devices = 4, .ranks = 2, .stages = 2, .micro_batches = 4};

std::size_t taken(const std::vector<timed_way>& ways, double least_gain = 0.05) {
  return parallel::simplest_within(ways, least_gain).number;
}

TEST_CASE("is_simpler: what a practitioner calls so") {
  const std::vector<configuration> in_order{
    one_device, data_4, tensor_4, data_8, accumulated, pipelined, interleaved,
  };
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    for (std::size_t j = 0; j < in_order.size(); ++j) {
      CHECK(is_simpler(in_order[i], in_order[j]) == (i < j));
    }
  }
  CHECK(is_simpler({.devices = 2, .stages = 2, .micro_batches = 4}, {.devices = 2, .stages = 2, .micro_batches = 8}));
  CHECK(is_simpler({.devices = 2, .replicas = 2}, {.devices = 2, .places_ops = true}));
  CHECK(is_simpler({.recomputes = true}, {.devices = 2, .places_ops = true, .on_unlike_devices = true}));
}

TEST_CASE("simplest_within: small gains are not worth turns, micro-batches, or a second kind of parallelism") {
  CHECK(taken({{interleaved, 0.97}, {pipelined, 1}}) == 1);
  CHECK(taken({{accumulated, 0.99}, {data_4, 1}}) == 1);
  CHECK(taken({{tensor_and_pipeline, 0.93}, {data_4, 1}}) == 1);
  CHECK(taken({{tensor_and_pipeline, 0.9}, {data_4, 1}}) == 0);
  CHECK(taken({{data_8, 0.96}, {data_4, 1}}) == 1);
  CHECK(taken({{data_8, 0.94}, {data_4, 1}}) == 0);
  CHECK(taken({{data_8, 0.96}, {one_device, 1}}) == 1);
  CHECK(taken({{data_8, 0.94}, {one_device, 1}}) == 0);
  CHECK(taken({{tensor_4, 0.97}, {data_4, 1}}) == 1);
  CHECK(taken({{{.devices = 2, .places_ops = true, .on_unlike_devices = true}, 0.92}, {one_device, 1}}) == 1);
  // A cheaper way of the same complexity is not taken where the simpler one is as good.
  CHECK(taken({{one_device, 1}, {data_8, 0.94}, {data_4, 0.98}}) == 1);
}

TEST_CASE("simplest_within: what is not taken, with what it gains and what would have been enough") {
  const std::vector<timed_way> ways{{data_4, 1}, {tensor_and_pipeline, 0.93}, {accumulated, 0.99}, {data_8, infinity}};
  const auto chosen = parallel::simplest_within(ways, 0.05);
  CHECK(chosen.number == 0);
  REQUIRE(chosen.not_taken.size() == 2);
  CHECK(chosen.not_taken[0].number == 1);
  CHECK(chosen.not_taken[0].gain == doctest::Approx(1 / 0.93 - 1));
  CHECK(chosen.not_taken[0].asked == doctest::Approx(0.1025));
  CHECK(chosen.not_taken[1].number == 2);
  CHECK(chosen.not_taken[1].asked == doctest::Approx(0.05));
  CHECK(!parallel::simplest_within(std::vector<timed_way>{{data_4, infinity}}, 0.05));
  CHECK(!parallel::simplest_within({}, 0.05));
  CHECK_THROWS_AS(parallel::simplest_within(ways, -0.1), value_error);
}

configuration random_configuration(std::mt19937& random) {
  const auto of = [&](unsigned most) { return static_cast<std::uint32_t>(random() % most); };
  configuration c{.replicas = 1u << of(3),
                  .ranks = 1u << of(3),
                  .stages = 1u << of(2),
                  .turns = 1 + of(2),
                  .micro_batches = std::uint64_t{1} << of(3),
                  .places_ops = of(8) == 0,
                  .shards_updates = of(4) == 0,
                  .recomputes = of(4) == 0,
                  .offloads = of(8) == 0};
  c.shards_parameters = c.shards_updates && of(2) == 0;
  c.devices = c.replicas * c.ranks * c.stages;
  return c;
}

std::vector<timed_way> random_ways(std::mt19937& random) {
  std::vector<timed_way> ways(1 + random() % 8);
  for (auto& w : ways) {
    w.how = random_configuration(random);
    w.seconds = random() % 9 == 0 ? infinity : 1 + static_cast<double>(random() % 40) / 100;
  }
  return ways;
}

double needed(std::uint32_t features, double gain) { return std::pow(1 + gain, static_cast<double>(features)); }

TEST_CASE("simplest_within: each feature pays, and nothing that is not taken would") {
  std::mt19937 random{7};
  for (int round = 0; round < 20'000; ++round) {
    const auto ways = random_ways(random);
    const double gain = 0.02 * static_cast<double>(random() % 6);
    const auto chosen = parallel::simplest_within(ways, gain);
    const bool any = std::any_of(ways.begin(), ways.end(), [](const auto& w) { return w.seconds < infinity; });
    REQUIRE(static_cast<bool>(chosen) == any);
    if (!any) {
      continue;
    }
    const auto& c = ways[chosen.number];
    std::size_t faster = 0;
    for (const auto& w : ways) {
      const auto own = w.how.complexity(), mine = c.how.complexity();
      if (own < mine) {
        CHECK(w.seconds > c.seconds * needed(mine - own, gain) * (1 - 1e-12));
      } else {
        CHECK(c.seconds <= w.seconds * needed(std::max(1u, own - mine), gain) * (1 + 1e-12));
      }
      CHECK(!(is_simpler(w.how, c.how) && w.seconds <= c.seconds));
      faster += w.seconds < c.seconds;
    }
    CHECK(chosen.not_taken.size() == faster);
    for (const auto& x : chosen.not_taken) {
      CHECK(x.gain > 0);
      CHECK(x.gain <= x.asked + 1e-12);
    }
    if (gain == 0) {
      CHECK(faster == 0);
    }
  }
}

TEST_CASE("simplest_within: neither the order nor needless ways nor the unit of time change the choice") {
  std::mt19937 random{11};
  for (int round = 0; round < 10'000; ++round) {
    auto ways = random_ways(random);
    const auto chosen = parallel::simplest_within(ways, 0.05);
    if (!chosen) {
      continue;
    }
    const auto c = ways[chosen.number];
    std::vector<timed_way> few; // without what another one makes needless
    for (std::size_t i = 0; i < ways.size(); ++i) {
      bool needless = false;
      for (std::size_t j = 0; j < ways.size(); ++j) {
        needless = needless || (j != i && makes_needless(ways[j], ways[i]) &&
                                (!makes_needless(ways[i], ways[j]) || j < i));
      }
      if (!needless) {
        few.push_back(ways[i]);
      }
    }
    std::shuffle(ways.begin(), ways.end(), random);
    for (const auto* some : {&ways, &few}) {
      const auto again = (*some)[parallel::simplest_within(*some, 0.05).number];
      CHECK(again.seconds == c.seconds);
      CHECK((!is_simpler(again.how, c.how) && !is_simpler(c.how, again.how)));
    }
    for (auto& w : ways) {
      w.seconds *= 0x1p-20;
    }
    CHECK(ways[parallel::simplest_within(ways, 0.05).number].seconds == c.seconds * 0x1p-20);
  }
}

TEST_CASE("is_simpler: a strict weak order") {
  std::mt19937 random{3};
  for (int round = 0; round < 20'000; ++round) {
    const auto a = random_configuration(random), b = random_configuration(random), c = random_configuration(random);
    CHECK(!is_simpler(a, a));
    CHECK(!(is_simpler(a, b) && is_simpler(b, a)));
    CHECK((!(is_simpler(a, b) && is_simpler(b, c)) || is_simpler(a, c)));
    const auto alike = [](const auto& x, const auto& y) { return !is_simpler(x, y) && !is_simpler(y, x); };
    CHECK((!(alike(a, b) && alike(b, c)) || alike(a, c)));
  }
}

} // namespace simplest_way_test
