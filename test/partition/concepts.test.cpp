// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include <doctest/doctest.h>

#include <type_traits>

namespace partition_concepts_test {

using namespace weft;
using partition::decided;

/// Two ops on one device.
struct fixture {
  workload w = test::ops_of({1, 1}, {{0, 1}}).build();
  platform<uniform_links> q = test::equal_devices(1);
  problem<workload, platform<uniform_links>> p{w, q};
  fixture() = default;
  fixture(const fixture&) = delete;
};

const placement both{0, 0};
const infeasibility nothing_fits{.cause = infeasibility::kind::out_of_memory, .op = 1, .demand = 7};

/// Calls s with each list of parameters that a partitioner may take, and checks what comes back.
template <class Value, class Check>
void in_every_form(const Value& value, Check check) {
  const fixture f;
  check(test::decide([&](const auto&) { return value; }, f.p));
  check(test::decide([&](const auto&, rng&) { return value; }, f.p));
  check(test::decide([&](const auto&, rng&, workspace&) { return value; }, f.p));
}

template <class T>
void returns_value_or_outcome(const T& value, const order& steps, double bound) {
  const auto check = [&](const outcome<decided>& o) {
    REQUIRE(o);
    CHECK(o->plan.placement == both);
    CHECK(o->plan.order == steps);
    CHECK(o->bound == bound);
  };
  in_every_form(value, check);
  in_every_form(outcome<T>{value}, check);
  in_every_form(outcome<T>{nothing_fits}, [](const outcome<decided>& o) {
    REQUIRE_FALSE(o);
    CHECK(o.error() == nothing_fits);
  });
}

TEST_CASE("partition::run: every call form and every return type") {
  const order steps{step::run(0), step::run(1)};
  returns_value_or_outcome(both, {}, 0);
  returns_value_or_outcome(plan{both, steps}, steps, 0);
  returns_value_or_outcome(decided{{both, steps}, 3.5}, steps, 3.5);
}

TEST_CASE("partition::run: a function that only says why not") {
  in_every_form(nothing_fits, [](const outcome<decided>& o) {
    REQUIRE_FALSE(o);
    CHECK(o.error() == nothing_fits);
  });
}

TEST_CASE("partition::run: the random generator and the workspace of the caller") {
  const fixture f;
  rng random{42};
  workspace scratch;
  std::uint64_t drawn = 0;
  const workspace* lent = nullptr;
  (void)partition::run(
    [&](const auto&, rng& r, workspace& s) {
      drawn = r();
      lent = &s;
      return both;
    },
    f.p, random, scratch);
  rng same{42};
  CHECK(drawn == same());
  CHECK(random() == same());
  CHECK(lent == &scratch);
}

TEST_CASE("partition::run: of the problem alone, a seed's generator, and an own workspace") {
  const fixture f;
  std::uint64_t drawn = 0;
  const auto draws = [&](const auto&, rng& r, workspace& s) {
    drawn = r();
    CHECK(s.take<double>(3).size() == 3);
    return both;
  };
  CHECK(partition::run(draws, f.p)->plan.placement == both);
  CHECK(drawn == rng{0}());
  CHECK(partition::run(draws, f.p, 42)->plan.placement == both);
  CHECK(drawn == rng{42}());
  CHECK(partition::run([](const auto&) { return both; }, f.p)->plan.placement == both);
}

using fixture_problem = problem<workload, platform<uniform_links>>;

TEST_CASE("partition::run: of several call forms, the one with the most parameters") {
  struct {
    placement operator()(const fixture_problem&) const { return {}; }
    placement operator()(const fixture_problem&, rng&) const { return {0}; }
    placement operator()(const fixture_problem&, rng&, workspace&) const { return both; }
  } overloaded;
  CHECK(test::place(overloaded, fixture{}.p) == both);
}

TEST_CASE("partition::run: a partitioner may return a reference") {
  CHECK(test::place([](const auto&) -> const placement& { return both; }, fixture{}.p) == both);
  CHECK(both.size() == 2);
}

template <class R>
using returns = decltype([](const fixture_problem&) -> R { throw 0; });
static_assert(partitioner_for<returns<placement>, fixture_problem>);
static_assert(partitioner_for<returns<outcome<plan>>, fixture_problem>);
static_assert(partitioner_for<returns<outcome<decided>>, fixture_problem>);
static_assert(!partitioner_for<returns<void>, fixture_problem> && !partitioner_for<returns<double>, fixture_problem>);
static_assert(!partitioner_for<decltype([](int) { return placement{}; }), fixture_problem>);

} // namespace partition_concepts_test
