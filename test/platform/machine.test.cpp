// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/machine.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>

namespace platform_machine_test {

using weft::machine;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// What is said of a machine that is right but for one change.
std::string complaint(const std::function<void(machine&)>& change) {
  machine m{.name = "m", .threads_per_core = 2};
  change(m);
  try {
    m.check();
  } catch (const weft::value_error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("machine: cores, tiles, bandwidth") {
  const machine m{.sockets = 2, .cores_per_socket = 6, .cores_per_tile = 4, .socket_bandwidth = 5};
  CHECK(m.cores() == 12);
  CHECK(m.tiles() == 3);
  CHECK(m.bandwidth() == 10);
  CHECK(machine{.cores_per_socket = 5, .cores_per_tile = 2}.tiles() == 3); // the last has one core
  CHECK(to_string(weft::affinity::packed) == "packed");
  CHECK(to_string(weft::affinity::spread) == "spread");
  CHECK(weft::team{} == weft::team{1, weft::affinity::packed});
}

TEST_CASE("machine: check names what is wrong") {
  CHECK(complaint([](machine&) {}).empty());
  CHECK(complaint([](machine& m) { m.core_speed = 0; }) ==
        "machine 'm': core_speed: must be a positive number of FLOP per second");
  for (const auto& change : std::initializer_list<std::function<void(machine&)>>{
         [](machine& m) { m.sockets = 0; }, [](machine& m) { m.cores_per_socket = 0; },
         [](machine& m) { m.cores_per_tile = 0; }, [](machine& m) { m.threads_per_core = 0; },
         [](machine& m) { m.cores_per_socket = 65537; },
         [](machine& m) { m.sockets = m.cores_per_socket = 1u << 16; }, // the product overflows
         [](machine& m) { m.core_speed = infinite; }, [](machine& m) { m.core_speed = no_number; },
         [](machine& m) { m.core_bandwidth = 0; }, [](machine& m) { m.socket_bandwidth = -1; },
         [](machine& m) { m.tile_bandwidth = no_number; }, [](machine& m) { m.smt_gain = 0.9; },
         [](machine& m) { m.smt_gain = 2.1; }, [](machine& m) { m.smt_gain = no_number; },
         [](machine& m) { m.dispatch_seconds = -1; },
         [](machine& m) { m.fork_seconds = infinite; }, [](machine& m) { m.join_seconds = no_number; },
         [](machine& m) { m.resize_seconds = -1e-9; }}) {
    CHECK_FALSE(complaint(change).empty());
  }
  CHECK(complaint([](machine& m) { m.tile_bandwidth = infinite; }).empty());
  CHECK(complaint([](machine& m) { m.smt_gain = 2; }).empty());
  CHECK(complaint([](machine& m) { m.cores_per_socket = 65536; }).empty());
}

} // namespace platform_machine_test
