// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/profile.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace concurrency_profile_test {

using namespace weft;
using namespace weft::concurrency;
using doctest::Approx;
using numbers = std::vector<double>;

profile::key of(const std::string& op, std::uint32_t threads, affinity a = affinity::packed) {
  return {"here", op, threads, a};
}

TEST_CASE("median and trimmed_mean by hand") {
  CHECK(median({3}) == 3);
  CHECK(median({5, 1}) == 3);
  CHECK(median({9, 1, 4}) == 4);
  CHECK(median({8, 1, 4, 2}) == 3);
  CHECK(trimmed_mean({3}) == 3);
  CHECK(trimmed_mean({100, 2, 4, 0}) == 3);             // 2 and 4
  CHECK(trimmed_mean({100, 2, 4, 0}, 0) == 26.5);       // all
  CHECK(trimmed_mean({1, 2, 3, 4, 1000}, 0.4) == 3);    // the middle one
  CHECK(trimmed_mean({1, 2, 6, 1000}, 0.2) == 252.25);  // a fifth of four is none
}

TEST_CASE("combine: a spike changes nothing") {
  const auto calm = combine({1.0, 1.02, 0.98, 1.01, 0.99});
  CHECK(calm.seconds == 1);
  CHECK(calm.spread == Approx(1.4826 * 0.01));
  CHECK(calm.runs == 5);
  const auto spiked = combine({1.0, 1.02, 0.98, 1.01, 50.0});
  CHECK(spiked.seconds == Approx(1.01));
  CHECK(spiked.spread < 0.02);
}

TEST_CASE("profile: finds what was recorded, by machine, op, threads and affinity") {
  profile p;
  p.record(of("a", 1), 4);
  p.record(of("a", 1), 6);
  p.record(of("a", 2), 2);
  p.record(of("a", 2, affinity::spread), 3);
  p.record(of("b", 1), 9);
  CHECK(p.find(of("a", 1)) == estimate{5, 1.4826, 2});
  CHECK(p.find(of("a", 2))->seconds == 2);
  CHECK(p.find(of("a", 2, affinity::spread))->seconds == 3);
  CHECK_FALSE(p.find(of("a", 3)));
  CHECK_FALSE(p.find({"there", "a", 1}));
  CHECK(p.num_entries() == 4);
}

TEST_CASE("profile: keeps the latest runs only") {
  profile p;
  for (std::size_t i = 0; i < profile::max_runs + 10; ++i) {
    p.record(of("a", 1), i < 10 ? 1000 : static_cast<double>(i));
  }
  const auto& runs = p.entries().at(of("a", 1));
  CHECK(runs.size() == profile::max_runs);
  CHECK(runs.front() == 10);
  CHECK(runs.back() == static_cast<double>(profile::max_runs + 9));
}

TEST_CASE("profile: a curve has the medians of an op's entries, and no other op's") {
  profile p;
  for (const double s : {8.0, 8.5, 80.0}) {
    p.record(of("a", 1), s);
  }
  p.record(of("a", 4), 3);
  p.record(of("a", 4, affinity::spread), 2);
  p.record(of("aa", 2), 77);
  p.record({"hera", "a", 2}, 77);
  p.record({"there", "a", 2}, 77);
  const auto c = p.curve("here", "a");
  REQUIRE(c);
  CHECK(c->points(affinity::packed) == std::vector<sample>{{1, 8.5}, {4, 3}});
  CHECK(c->points(affinity::spread) == std::vector<sample>{{4, 2}});
  CHECK_FALSE(p.curve("here", "b"));
  CHECK_FALSE(p.curve("nowhere", "a"));
}

TEST_CASE("profile: merging adds the other's runs as later ones") {
  profile a;
  profile b;
  a.record(of("x", 1), 1);
  b.record(of("x", 1), 3);
  b.record(of("y", 1), 5);
  a.merge(b);
  CHECK(a.entries().at(of("x", 1)) == numbers{1, 3});
  CHECK(a.find(of("y", 1))->seconds == 5);
  for (std::size_t i = 0; i < profile::max_runs; ++i) {
    b.record(of("x", 1), 7);
  }
  a.merge(b);
  CHECK(a.entries().at(of("x", 1)) == numbers(profile::max_runs, 7));
  profile empty;
  empty.merge(a);
  CHECK(empty == a);
}

TEST_CASE("profile: merged with itself, it has every run twice") {
  profile p;
  for (const double s : {1.0, 2.0, 3.0}) {
    p.record(of("x", 1), s);
  }
  p.merge(p);
  CHECK(p.entries().at(of("x", 1)) == numbers{1, 2, 3, 1, 2, 3});
}

TEST_CASE("profile: warns if all that it knows is of other machines") {
  profile p;
  CHECK(p.warning_for("here").empty());
  p.record({"there", "a", 1}, 1);
  p.record({"there", "a", 2}, 1);
  p.record({"elsewhere", "a", 1}, 1);
  CHECK(p.warning_for("here") == "the profile was measured on 'elsewhere', 'there', not on this machine ('here'): its "
                                 "times are not used; profile again here");
  p.record(of("a", 1), 1);
  CHECK(p.warning_for("here").empty());
}

TEST_CASE("profile: bad measurements") {
  profile p;
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(p.record(of("a", 1), bad), value_error);
  }
  CHECK_THROWS_AS(p.record(of("a", 0), 1), value_error);
  CHECK(p.num_entries() == 0);
}

} // namespace concurrency_profile_test
