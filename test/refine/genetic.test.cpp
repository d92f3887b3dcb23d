// SPDX-License-Identifier: BSL-1.0
#include "refine/search_checks.hpp"

#include "weft/refine/genetic.hpp"

#include <doctest/doctest.h>

namespace refine_genetic_test {

using namespace weft;
using refine::genetic;

genetic with(budget b) {
  genetic search;
  search.budget = b;
  return search;
}
genetic with_moves(std::uint64_t moves) { return with({.moves = moves}); }

TEST_CASE("genetic: never worse, within the constraints, and the same for the same seed") {
  test::never_worse<schedule::static_order>(with_moves, 60, 1, 700);
  test::never_worse<schedule::path_completion_time>(with_moves, 60, 2, 700);
  test::never_worse<schedule::fifo>(with_moves, 60, 3, 700);
}

TEST_CASE("genetic: small problems and constraints") { test::manages_small_problems(with_moves); }

TEST_CASE("genetic: ends at its target or when it is asked to, and tells how far it is") {
  test::heeds_its_budget(with);
}

} // namespace refine_genetic_test
