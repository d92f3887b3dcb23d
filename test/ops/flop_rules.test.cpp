// SPDX-License-Identifier: BSL-1.0
#include "inputs_left_out.hpp"
#include "weft/ops/catalogue.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace ops_flop_rules_test {

using namespace weft;

TEST_CASE("FLOP rules: with any inputs left out, work is a number") {
  for (const auto& [type, family] : ops::detail::ops_by_type()) {
    CAPTURE(type);
    if (const auto flop = family->facts.flop) {
      test::with_inputs_left_out(type, [flop](ops::call& o, const auto&) {
        o.outputs = {ops::call::extents{2, 2}};
        CHECK(std::isfinite(flop(o)));
      });
    }
  }
}

} // namespace ops_flop_rules_test
