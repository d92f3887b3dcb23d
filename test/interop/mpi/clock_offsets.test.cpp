// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/clock_offsets.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

namespace interop_mpi_clock_offsets_test {

namespace mpi = weft::mpi;

/// What ranks of one host read alike, set off by as much as a test wants.
struct wrong_clock {
  double ahead;
  double operator()() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() + ahead;
  }
};

TEST_CASE("clock_offsets: what clocks are apart lies within the bound") {
  const mpi::communicator all;
  const auto true_offset = [](int rank) { return rank * -1000.125; };
  for (const int trips : {1, 20}) {
    const auto offsets = mpi::clock_offsets(all, trips, wrong_clock{-true_offset(all.rank())});
    REQUIRE(offsets.size() == static_cast<std::size_t>(all.size()));
    CHECK(offsets[0].seconds == 0);
    CHECK(offsets[0].bound == 0);
    for (int r = 1; r < all.size(); ++r) {
      const auto& o = offsets[static_cast<std::size_t>(r)];
      CHECK(o.bound >= 0);
      CHECK(std::abs(o.seconds - true_offset(r)) <= o.bound + 1e-9);
    }
    CHECK(all.all_gather(offsets.back().seconds) == std::vector<double>(offsets.size(), offsets.back().seconds));
  }
}

TEST_CASE("clock_offsets: times of all ranks on one axis") {
  // [clock_offsets]
  const weft::mpi::communicator all;
  const auto before = weft::mpi::clock_offsets(all);
  const double started = MPI_Wtime(); // … of what is run and traced
  const auto after = weft::mpi::clock_offsets(all);
  const auto me = static_cast<std::size_t>(all.rank());
  const weft::mpi::common_time on_rank_0{before[me], after[me]};
  const double start = on_rank_0(started); // wrong by on_rank_0.bound() at most
  // [clock_offsets]
  CHECK(std::isfinite(start));
  CHECK(on_rank_0.bound() >= 0);
}

TEST_CASE("common_time: clocks that drift apart are the same time between two measurements") {
  const mpi::common_time steady{{.seconds = 5, .bound = 1e-6, .at = 100}};
  CHECK(steady(100) == 105);
  CHECK(steady(300) == 305);
  CHECK(steady.drift() == 0);
  CHECK(steady.bound() == 1e-6);
  const mpi::common_time drifting{{.seconds = 5, .bound = 1e-6, .at = 100}, {.seconds = 7, .bound = 2e-6, .at = 300}};
  CHECK(drifting.drift() == doctest::Approx(0.01));
  CHECK(drifting(100) == doctest::Approx(105));
  CHECK(drifting(200) == doctest::Approx(206));
  CHECK(drifting(300) == doctest::Approx(307));
  CHECK(drifting.bound() == 2e-6);
}

} // namespace interop_mpi_clock_offsets_test
