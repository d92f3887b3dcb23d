// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/baselines.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace concurrency_baselines_test {

using namespace weft;
using namespace weft::concurrency;

using setting = std::pair<std::uint32_t, std::uint32_t>;

/// Notes which settings are tried; the time is a function of them.
template <class Seconds>
auto noting(std::set<setting>& tried, std::size_t& calls, Seconds seconds) {
  return [&tried, &calls, seconds](const auto& s) {
    const setting x{s.corun.count, s.threads.threads};
    tried.insert(x);
    ++calls;
    return seconds(x.first, x.second);
  };
}

TEST_CASE("manual_optimum: tries every setting that fits once and returns the best") {
  const machine m{.sockets = 2, .cores_per_socket = 6};
  std::set<setting> tried;
  std::size_t calls = 0;
  const auto best = manual_optimum(m, noting(tried, calls, [](auto inter, auto intra) {
                                     return inter == 3 && intra == 2 ? 1.0 : 2.0 + inter + intra;
                                   }));
  CHECK(best.inter == 3);
  CHECK(best.intra == 2);
  CHECK(best.seconds == 1);
  CHECK(calls == tried.size());
  for (std::uint32_t inter = 1; inter <= 12; ++inter) {
    for (std::uint32_t intra = 1; intra <= 12; ++intra) {
      CHECK(tried.contains({inter, intra}) == (inter * intra <= 12));
    }
  }
}

TEST_CASE("manual_optimum: of equals, fewer ops at a time, then fewer threads") {
  std::set<setting> tried;
  std::size_t calls = 0;
  const auto best = manual_optimum(machine{.cores_per_socket = 8}, noting(tried, calls, [](auto inter, auto intra) {
                                     return inter * intra >= 4 && inter > 1 ? 1.0 : 2.0;
                                   }));
  CHECK(best.inter == 2);
  CHECK(best.intra == 2);
}

TEST_CASE("best_symmetric: each share of the cores once, with as many executors as fit") {
  std::set<setting> tried;
  std::size_t calls = 0;
  const auto best = best_symmetric(machine{.cores_per_socket = 10}, noting(tried, calls, [](auto, auto intra) {
                                     return intra == 3 ? 1.0 : 2.0;
                                   }));
  CHECK(tried == std::set<setting>{{1, 10}, {2, 5}, {3, 3}, {5, 2}, {10, 1}});
  CHECK(calls == 5);
  CHECK(best.inter == 3);
  CHECK(best.intra == 3);
}

TEST_CASE("baselines: one core leaves no choice") {
  const auto one = [](const auto&) { return 7.0; };
  for (const auto& best : {manual_optimum(machine{}, one), best_symmetric(machine{}, one)}) {
    CHECK(best.inter == 1);
    CHECK(best.intra == 1);
    CHECK(best.seconds == 7);
  }
}

} // namespace concurrency_baselines_test
