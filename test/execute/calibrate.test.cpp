// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/calibrate.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace execute_calibrate_test {

TEST_CASE("calibrate: what is measured is a machine, with the topology that was given") {
  std::vector<std::uint32_t> asked;
  const auto region = [&asked](std::uint32_t threads) { asked.push_back(threads); };
  const auto m = weft::execute::calibrate({.name = "here", .cores_per_socket = 2}, region);
  CHECK_NOTHROW(m.check());
  CHECK(m.name == "here");
  CHECK(m.cores() == 2);
  CHECK(m.core_speed > 1e6);
  CHECK(m.core_bandwidth > 1e6);
  CHECK(m.socket_bandwidth >= m.core_bandwidth);
  CHECK_FALSE(asked.empty());
  for (const auto threads : asked) {
    CHECK(threads == 2);
  }
}

TEST_CASE("calibrate: one core has no team") {
  bool asked = false;
  const auto m = weft::execute::calibrate({}, [&asked](std::uint32_t) { asked = true; });
  CHECK_FALSE(asked);
  CHECK(m.fork_seconds == 0);
  CHECK(m.join_seconds == 0);
}

} // namespace execute_calibrate_test
