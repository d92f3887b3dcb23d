// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/strategy.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <type_traits>
#include <vector>

namespace concurrency_strategy_test {

using namespace weft;
using namespace weft::concurrency;

/// The least that is a strategy.
constexpr strategy smallest{
  [](const time_table& t, const machine&) { return std::vector<team>(t.classes().num_classes()); },
  [](const run_view& v) { return std::optional{launch{v.ready.front()}}; }};

static_assert(concurrency_strategy<std::remove_const_t<decltype(smallest)>>);
static_assert(concurrency_strategy<std::remove_const_t<decltype(s1_s2_s3_s4)>>);
static_assert(!concurrency_strategy<int> && !concurrency_strategy<fill_idle> && !concurrency_strategy<best_threads>);

TEST_CASE("strategy: named compositions are what they are made of") {
  CHECK(s1.urgency == urgency::critical_path);
  CHECK(recommended.urgency == urgency::fifo);
  CHECK(recommended.threads.threads == 0);
  constexpr auto u = uniform(3, 5);
  CHECK(u.corun.count == 3);
  CHECK(u.threads.threads == 5);
  CHECK(u.urgency == urgency::fifo);
  CHECK(symmetric(3, 5).urgency == urgency::critical_path);
  const machine m{.sockets = 2, .cores_per_socket = 14};
  CHECK(per_socket(m).corun.count == 2);
  CHECK(smallest.interference.strikes == 3);
}

} // namespace concurrency_strategy_test
