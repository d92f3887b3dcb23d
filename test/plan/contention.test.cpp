// SPDX-License-Identifier: BSL-1.0
#include "weft/plan/contention.hpp"

#include <doctest/doctest.h>

namespace plan_contention_test {

TEST_CASE("contention_model: names") {
  CHECK(to_string(weft::contention_model::none) == "none");
  CHECK(to_string(weft::contention_model::port) == "port");
}

} // namespace plan_contention_test
