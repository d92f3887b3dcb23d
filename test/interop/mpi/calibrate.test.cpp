// SPDX-License-Identifier: BSL-1.0
// What is found on machines of known links is tested under SMPI: test/interop/mpi/smpi.py. Here: that it is a platform
// at all, whatever this machine's times are.
#include "weft/interop/mpi/calibrate.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace interop_mpi_calibrate_test {

namespace mpi = weft::mpi;

const mpi::calibration_options quick{.sizes = {1, 1000, 100'000}, .trips = 3, .pairs = 2, .groups = 2};

TEST_CASE("calibrate: a device for each rank, a link for each pair, the same on all ranks") {
  const mpi::communicator all;
  const auto n = static_cast<weft::device_id>(all.size());
  std::vector<std::string> said;
  const auto made = mpi::calibrate(all, {.speed = 1e9 * (all.rank() + 1)}, quick,
                                   [&](const std::string& line) { said.push_back(line); });
  REQUIRE(made.platform.num_devices() == n);
  std::vector<double> numbers;
  for (weft::device_id a = 0; a < n; ++a) {
    CHECK(made.platform.speed(a) == 1e9 * (a + 1));
    CHECK(made.platform.name(a).ends_with("/rank" + std::to_string(a))); // they share a host
    for (weft::device_id b = 0; b < n; ++b) {
      if (a != b) {
        numbers.push_back(made.platform.latency(a, b));
        numbers.push_back(made.platform.bandwidth(a, b));
        CHECK(numbers.back() > 0);
        CHECK(std::isfinite(numbers.back()));
      }
    }
  }
  for (const auto& known : all.all_gather(std::span<const double>{numbers})) {
    CHECK(known == numbers);
  }
  REQUIRE(made.levels.size() == 2);
  CHECK(made.levels[0].groups == n);
  CHECK(made.levels[1].groups == 1);
  CHECK(made.levels[1].pairs == (n == 2 ? 1 : 2));
  CHECK(made.levels[1].typical_error <= made.levels[1].largest_error);
  CHECK(made.complete);
  CHECK(said.empty() == (all.rank() != 0));
}

TEST_CASE("calibrate: the platform is for problems as any other is") {
  // [calibrate]
  const weft::mpi::communicator all; // of MPI_COMM_WORLD, or of the communicator that you give
  const auto made = weft::mpi::calibrate(all, {.speed = 2e9}, {.seconds = 1}); // at most, or nearly so
  const weft::platform<>& cluster = made.platform; // the same on every rank
  // [calibrate]
  CHECK(cluster.num_devices() == static_cast<std::size_t>(all.size()));
}

TEST_CASE("calibrate: without time there is still a platform, which says so") {
  const mpi::communicator all;
  auto hasty = quick;
  hasty.seconds = 0;
  const auto made = mpi::calibrate(all, {}, hasty);
  CHECK(made.platform.num_devices() == static_cast<std::size_t>(all.size()));
  CHECK(made.platform.bandwidth(0, 1) > 0);
  CHECK_FALSE(made.complete);
  CHECK(made.levels[1].pairs == 1);
}

TEST_CASE("calibrate: one rank alone is a platform without links") {
  const mpi::communicator self{MPI_COMM_SELF};
  CHECK(mpi::calibrate(self, {}, quick).platform.num_devices() == 1);
}

TEST_CASE("calibrate: options that make no sense are told on all ranks") {
  const mpi::communicator all;
  for (const auto& sizes : {std::vector<std::size_t>{1}, std::vector<std::size_t>{8, 8}}) {
    auto wrong = quick;
    wrong.sizes = sizes;
    CHECK_THROWS_WITH_AS(mpi::calibrate(all, {}, wrong), doctest::Contains("in ascending order"), weft::value_error);
  }
  auto none = quick;
  none.trips = 0;
  CHECK_THROWS_WITH_AS(mpi::calibrate(all, {}, none), doctest::Contains("at least one round trip"), weft::value_error);
}

} // namespace interop_mpi_calibrate_test
