// SPDX-License-Identifier: BSL-1.0
#include "refine/search_checks.hpp"

#include "weft/refine/large_neighbourhood_search.hpp"

#include <doctest/doctest.h>

namespace refine_large_neighbourhood_search_test {

using namespace weft;
using refine::large_neighbourhood_search;

large_neighbourhood_search with(budget b) {
  large_neighbourhood_search search;
  search.budget = b;
  return search;
}
large_neighbourhood_search with_moves(std::uint64_t moves) { return with({.moves = moves}); }

TEST_CASE("large_neighbourhood_search: never worse, within the constraints, and the same for the same seed") {
  test::never_worse<schedule::static_order>(with_moves, 40, 1, 700);
  test::never_worse<schedule::path_completion_time>(with_moves, 40, 2, 700);
  test::never_worse<schedule::fifo>(with_moves, 40, 3, 700);
}

TEST_CASE("large_neighbourhood_search: small problems and constraints") { test::manages_small_problems(with_moves); }

TEST_CASE("large_neighbourhood_search: ends at its target or when it is asked to, and tells how far it is") {
  test::heeds_its_budget(with);
}

} // namespace refine_large_neighbourhood_search_test
