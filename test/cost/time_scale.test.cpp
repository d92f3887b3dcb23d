// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/time_scale.hpp"

#include "weft/cost/linear.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace time_scale_test {

using namespace weft;
using kind = cost::time_scale::kind;

/// Four ops of this work, one of them for devices that there are none of, on two devices.
cost::time_scale scale(double work, double speed) {
  workload_builder b;
  for (int i = 0; i < 3; ++i) {
    b.add_op({.work = work});
  }
  b.add_op({.work = 1e30, .kinds = device_kind::tpu});
  const auto w = std::move(b).build();
  const platform<> q{{{.speed = speed / 2}, {.speed = speed}}, link_matrix{2}};
  return cost::time_scale_of(w, q, cost::linear{});
}

TEST_CASE("time_scale: years and less than a clock cycle are a sign of other units") {
  CHECK(scale(6, 2).is == kind::usual);
  CHECK(scale(6, 2).longest == 3);
  CHECK(scale(6, 2).shared == 4.5);
  CHECK(scale(1e9, 1).is == kind::too_long);
  CHECK(scale(cost::seconds_per_year, 1.4).is == kind::too_long);
  CHECK(scale(cost::seconds_per_year, 1.6).is == kind::usual);
  CHECK(scale(1e-3, 1e13).is == kind::too_short);
  CHECK(scale(1, 1e11).is == kind::usual);
  CHECK(scale(0, 1).is == kind::usual);
}

} // namespace time_scale_test
