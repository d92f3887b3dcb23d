// SPDX-License-Identifier: BSL-1.0
#include "support/offsets.hpp"
#include "support/rounds.hpp"

#include "weft/allocate/offsets.hpp"
#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

namespace allocate_offsets_test {

using namespace weft;
using allocate::fit;
using allocate::lifetime;

std::vector<lifetime> draw(rng& random, std::size_t most, bool with_alignments) {
  std::vector<lifetime> all(random.below(most + 1));
  const std::int64_t moments = random.between(1, 9);
  const auto unit = 1 + random.below(3);
  for (auto& x : all) {
    x.begin = random.between(-3, moments);
    x.end = x.begin + random.between(0, moments);
    x.bytes = unit * random.below(8);
    x.alignment = with_alignments ? 1 + random.below(6) : 1;
  }
  return all;
}

TEST_CASE("offsets: agree with all orders on small problems") {
  rng random{7};
  int without_room = 0, above_bound = 0, searched = 0;
  for (int repeat = 0; repeat < test::rounds(4000); ++repeat) {
    const auto all = draw(random, repeat % 10 == 0 ? 7 : 6, repeat % 2 == 1);
    INFO("problem ", repeat);
    const auto least = weft_test::least_by_brute_force(all);
    const auto found = allocate::least(all);
    REQUIRE(found.outcome == fit::found);
    REQUIRE(found.bytes == least);
    REQUIRE(found.is_least());
    REQUIRE(found.gap() == 0);
    REQUIRE(weft_test::wrong_with(all, found.offsets, least) == "");
    searched += found.nodes > 0;
    above_bound += least > allocate::live_bytes(all);
    for (byte_count less = 0; less < 4 && less < least; ++less) {
      const auto capacity = least - less;
      const auto fits = allocate::within(all, capacity);
      REQUIRE(fits.outcome == (less == 0 ? fit::found : fit::impossible));
      if (less == 0) {
        REQUIRE(weft_test::wrong_with(all, fits.offsets, capacity) == "");
        REQUIRE(fits.bytes == capacity);
      } else {
        REQUIRE(fits.offsets.empty());
        REQUIRE(fits.gap() == std::numeric_limits<double>::infinity());
        REQUIRE(fits.bound > capacity);
        REQUIRE(fits.bound <= least);
        ++without_room;
      }
    }
  }
  CHECK(without_room > test::rounds(8000));
  CHECK(above_bound > test::rounds(200)); // where the bound says nothing, the search proves it
  CHECK(searched > test::rounds(200));
}

TEST_CASE("offsets: what fits without a gap is found") {
  rng random{3};
  std::uint64_t nodes = 0;
  for (int repeat = 0; repeat < 30; ++repeat) {
    const auto all = weft_test::cut_up(random, 100, 40, 1000);
    const auto found = allocate::within(all, 1000);
    REQUIRE(found.outcome == fit::found);
    REQUIRE(weft_test::wrong_with(all, found.offsets, 1000) == "");
    REQUIRE(allocate::within(all, 999).outcome == fit::impossible);
    REQUIRE(allocate::least(all).is_least());
    nodes += found.nodes;
  }
  CHECK(nodes > 1000); // or lay_out would do
}

TEST_CASE("offsets: of any unit, at any time") {
  rng random{4};
  const auto all = weft_test::cut_up(random, 40, 30, 500);
  const auto plain = allocate::within(all, 500);
  auto scaled = all;
  for (auto& x : scaled) {
    x.begin = x.begin * 1'000'000'007 - 9'000'000'000'000'000'000;
    x.end = x.end * 1'000'000'007 - 9'000'000'000'000'000'000;
    x.bytes *= 12345;
    x.alignment = 5;
  }
  const auto large = allocate::within(scaled, 500 * 12345 + 12344);
  REQUIRE(plain.outcome == fit::found);
  REQUIRE(large.outcome == fit::found);
  CHECK(weft_test::wrong_with(scaled, large.offsets, 500 * 12345) == "");
  using limits = std::numeric_limits<std::int64_t>;
  const std::vector<lifetime> ever{{limits::min(), limits::max(), 3}, {0, 1, 4}};
  CHECK(allocate::least(ever).bytes == 7);
}

TEST_CASE("offsets: nothing to place") {
  CHECK(allocate::within({}, 0).outcome == fit::found);
  CHECK(allocate::least({}).is_least());
  const std::vector<lifetime> empty{{0, 0, 10}, {3, 1, 10}, {0, 5, 0}};
  const auto found = allocate::within(empty, 0);
  CHECK(found.outcome == fit::found);
  CHECK(found.offsets == std::vector<byte_count>{0, 0, 0});
}

TEST_CASE("offsets: a budget ends the search, and a repetition gives the same") {
  rng random{11};
  auto all = weft_test::cut_up(random, 300, 100, 4096);
  const auto some = allocate::within(all, 4096, {.moves = 50});
  CHECK(some.outcome == fit::unknown);
  CHECK(some.offsets.empty());
  CHECK(some.nodes == 50);
  CHECK(some.bound == 4096);
  const auto near = allocate::least(all, {.moves = 3000});
  CHECK(near.nodes <= 3000);
  CHECK(near.bound >= 4096);
  CHECK(weft_test::wrong_with(all, near.offsets, near.bytes) == "");
  CHECK(allocate::least(all, {.moves = 3000}).offsets == near.offsets);
  CHECK(allocate::lay_out(all).bytes >= near.bytes);
  std::stop_source stop;
  stop.request_stop();
  const auto token = stop.get_token();
  CHECK(allocate::within(all, 4096, {.stop = &token}).outcome == fit::unknown);
  CHECK(allocate::least(all, {.target = 1e9}).nodes == 0); // what lay_out finds is good enough
  double told = 0;
  const auto heard =
    allocate::least(all, {.moves = 3000, .on_progress = [&](const progress& x) { told = x.best; }});
  CHECK(told == static_cast<double>(heard.bytes));
}

TEST_CASE("offsets: with too many to search, the bound or what is found fast decides") {
  rng random{5};
  std::vector<lifetime> many(3000);
  for (auto& x : many) {
    x.begin = random.below(100'000);
    x.end = x.begin + 1 + random.below(3000);
    x.bytes = 1 + random.below(1000);
  }
  const auto found = allocate::least(many);
  CHECK(found.nodes == 0);
  CHECK(weft_test::wrong_with(many, found.offsets, found.bytes) == "");
  CHECK(allocate::within(many, found.bound - 1).outcome == fit::impossible);
  CHECK(allocate::within(many, found.bytes).outcome == fit::found);
  CHECK(allocate::within(many, found.bytes - 1).outcome == fit::unknown);
}

TEST_CASE("offsets: sums that overflow are refused, and an alignment of 0") {
  const auto message = [](const std::vector<lifetime>& all) {
    try {
      static_cast<void>(allocate::least(all));
    } catch (const value_error& e) {
      return std::string{e.what()};
    }
    return std::string{};
  };
  CHECK(message({{0, 1, 5}, {0, 1, 5, 0}}) == "lifetime 1: its alignment is 0; give 1 if any offset will do");
  CHECK(message({{0, 1, allocate::max_bytes - 1}}) == "");
  CHECK(message({{0, 1, allocate::max_bytes - 1}, {0, 1, 0}}) ==
        "lifetime 1: bytes and alignments add up to more than 2^60");
  CHECK(message({{0, 1, ~byte_count{0}}}) == "lifetime 0: bytes and alignments add up to more than 2^60");
  CHECK(message({{0, 1, 1, ~byte_count{0}}}) == "lifetime 0: bytes and alignments add up to more than 2^60");
}

} // namespace allocate_offsets_test
