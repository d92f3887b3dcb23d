// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/link_fit.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace interop_mpi_link_fit_test {

namespace mpi = weft::mpi;

std::vector<mpi::message_time> times_of(const weft::link& l) {
  std::vector<mpi::message_time> times;
  for (const double bytes : {1.0, 1e3, 1e4, 1e5, 1e6, 1e7}) {
    times.push_back({bytes, l.latency + bytes / l.bandwidth});
  }
  return times;
}

TEST_CASE("fit_link: finds the link that times come from") {
  const weft::link l{20e-6, 1.25e9};
  const auto times = times_of(l);
  const auto found = mpi::fit_link(times);
  CHECK(found.latency == doctest::Approx(l.latency).epsilon(1e-9));
  CHECK(found.bandwidth == doctest::Approx(l.bandwidth).epsilon(1e-9));
  CHECK(mpi::misfit(found, times) < 1e-9);
}

TEST_CASE("fit_link: one bad time, small or large, does not move it") {
  const weft::link l{20e-6, 1.25e9};
  for (std::size_t bad = 0; bad < 6; ++bad) {
    for (const double factor : {0.5, 5.0}) {
      auto times = times_of(l);
      times[bad].seconds *= factor;
      CAPTURE(bad);
      CAPTURE(factor);
      const auto found = mpi::fit_link(times);
      CHECK(found.latency == doctest::Approx(l.latency).epsilon(0.02));
      CHECK(found.bandwidth == doctest::Approx(l.bandwidth).epsilon(0.02));
    }
  }
}

TEST_CASE("fit_link: a latency is never negative, and a bandwidth always positive") {
  const std::vector<mpi::message_time> steeper{{10, 1e-6}, {1000, 300e-6}}, falling{{10, 2e-6}, {1000, 1e-6}};
  for (const auto& times : {steeper, falling}) {
    const auto found = mpi::fit_link(times);
    CHECK(found.latency >= 0);
    CHECK(found.bandwidth > 0);
    CHECK(found.bandwidth < 1e12);
  }
}

} // namespace interop_mpi_link_fit_test
