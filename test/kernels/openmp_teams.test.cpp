// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/openmp.hpp"

#include <doctest/doctest.h>

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

} // namespace kernels_openmp_teams_test
