// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/hwloc.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace interop_hwloc_test {

namespace execute = weft::execute;

static_assert(weft::team_runner<execute::pinned<execute::kernel_threads>>);

TEST_CASE("hwloc: this machine is described in numbers that a machine may have") {
  const weft::local_topology topology;
  const auto m = topology.describe();
  CHECK_NOTHROW(m.check());
  CHECK(m.cores() == topology.num_cores());
  CHECK(m.cores() >= 1);
  CHECK(m.cores() * m.threads_per_core >= 1);
  CHECK_FALSE(m.name.empty());
  CHECK(m.cores() % m.cores_per_tile == 0);
}

TEST_CASE("hwloc: a thread may be bound, or the system says no, and its kernel runs either way") {
  std::thread{[] { // binding ends with the thread
    execute::pinned<execute::kernel_threads> pin;
    const std::vector<std::uint32_t> first{0}, nowhere{100'000};
    int calls = 0;
    pin(execute::seat{0, {1}, first}, [&] { ++calls; });
    pin(execute::seat{0, {1}, first}, [&] { ++calls; });
    pin(execute::seat{0, {1}, nowhere}, [&] { ++calls; });
    CHECK(calls == 3);
  }}.join();
}

} // namespace interop_hwloc_test
