// SPDX-License-Identifier: BSL-1.0
#include "weft/plan/order_origin.hpp"

#include <doctest/doctest.h>

using namespace weft;

TEST_CASE("order_origin: an order is a plan's own if it has one and the policy keeps to it") {
  const plan placed{{0, 1}};
  const plan ordered{{0, 1}, {step::run(1), step::run(0)}};
  CHECK(order_origin_of(placed, true) == order_origin::undecided);
  CHECK(order_origin_of(placed, false) == order_origin::undecided);
  CHECK(order_origin_of(ordered, true) == order_origin::own);
  CHECK(order_origin_of(ordered, false) == order_origin::replaced);
  static_assert(to_string(order_origin::own) == "own" && to_string(order_origin::replaced) == "replaced");
  static_assert(to_string(order_origin::undecided) == "undecided" && to_string(order_origin::unknown) == "unknown");
}
