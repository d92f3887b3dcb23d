// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/openmp.hpp"

#include "weft/execute/phased_executor.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace kernels_openmp_teams_test {

static_assert(weft::team_runner<weft::execute::openmp_teams>);

TEST_CASE("openmp: parallel regions of a kernel have as many threads as its team, on each runner by itself") {
  const auto size_of_region = [](std::uint32_t threads) {
    int size = 0;
    weft::execute::openmp_teams{}(weft::execute::seat{0, {threads}, {}}, [&] {
#pragma omp parallel
      {
#pragma omp single
        size = omp_get_num_threads();
      }
    });
    return size;
  };
  CHECK(size_of_region(3) == 3);
  int other = 0;
  std::thread{[&] { other = size_of_region(2); }}.join();
  CHECK(other == 2);
  const int before = omp_get_max_threads();
  CHECK(size_of_region(1) == 1);
  CHECK(omp_get_max_threads() == before); // the caller's own regions are as they were
}

TEST_CASE("openmp: workers are threads of a parallel region, and new ones where that has too few") {
  weft::execute::openmp_crew crew{2};
  static_assert(weft::worker_crew<weft::execute::openmp_crew>);
  const auto together = [&] { // each waits for all others
    std::atomic<int> here{0};
    std::array<std::atomic<int>, 3> calls{};
    crew.run(2, [&](std::uint32_t i) {
      ++calls[i];
      for (++here; here < 3;) {
        std::this_thread::yield();
      }
    });
    return calls[0] == 1 && calls[1] == 1 && calls[2] == 1;
  };
  CHECK(together());
  bool inside = false;
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    inside = together();
  }
  CHECK(inside);
}

} // namespace kernels_openmp_teams_test
