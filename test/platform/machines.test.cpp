// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/machines.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace platform_machines_test {

using namespace weft;

TEST_CASE("machines: every entry is sound, and bears its name") {
  for (const auto& e : machines::entries) {
    const machine m = machines::make(e.name);
    CHECK(m.name == e.name);
    CHECK(m == e.make());
    CHECK_FALSE(e.description.empty());
    CHECK_NOTHROW(m.check());
    CHECK(m.cores() % m.cores_per_tile == 0);
    CHECK(m.cores_per_socket * m.core_bandwidth >= m.socket_bandwidth); // all cores can exhaust the memory
  }
  CHECK(std::is_sorted(machines::entries.begin(), machines::entries.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST_CASE("machines: what is on data sheets") {
  CHECK(machines::xeon_phi_7250().cores() == 68);
  CHECK(machines::xeon_phi_7250().tiles() == 34);
  CHECK(machines::xeon_phi_7250().threads_per_core == 4);
  CHECK(machines::epyc_9654_2s().cores() == 192);
  CHECK(machines::epyc_9654_2s().tiles() == 24);
  CHECK(machines::xeon_8480_2s().cores() == 112);
  CHECK(machines::graviton4().cores() == 96);
  CHECK(machines::graviton4().threads_per_core == 1);
}

TEST_CASE("machines: an unknown name is answered with the known ones") {
  CHECK_THROWS_WITH_AS(machines::make("i486"),
                       "machines: there is no machine 'i486'; choose one of epyc_9654_2s, graviton4, xeon_8480_2s, "
                       "xeon_phi_7250",
                       value_error);
}

} // namespace platform_machines_test
