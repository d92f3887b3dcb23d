// SPDX-License-Identifier: BSL-1.0
#include "weft/core/parallel.hpp"

#include "weft/core/error.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace core_parallel_test {

using namespace weft;

TEST_CASE("for_each_on_threads: every piece once, and the first exception at the end") {
  for (const unsigned threads : {1u, 2u, 7u}) {
    std::vector<int> done(20, 0);
    for_each_on_threads(20, threads, [&](unsigned k) { ++done[k]; });
    CHECK(done == std::vector<int>(20, 1));
    CHECK_THROWS_AS(for_each_on_threads(20, threads, [](unsigned k) {
                      if (k == 3) {
                        throw error("three");
                      }
                    }),
                    error);
  }
}

TEST_CASE("for_each_on_threads: after an exception nothing more begins") {
  unsigned calls = 0;
  CHECK_THROWS_AS(for_each_on_threads(20, 1, [&](unsigned k) {
                    ++calls;
                    if (k == 3) {
                      throw error("three");
                    }
                  }),
                  error);
  CHECK(calls == 4);
}

} // namespace core_parallel_test
