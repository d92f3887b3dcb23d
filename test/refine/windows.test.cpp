// SPDX-License-Identifier: BSL-1.0
#include "refine/search_checks.hpp"

#include "weft/cost/table.hpp"
#include "weft/platform/generate.hpp"
#include "weft/refine/windows.hpp"

#include <doctest/doctest.h>

namespace refine_windows_test {

using namespace weft;
using refine::windows;

windows with(budget b) {
  windows search;
  search.budget = b;
  search.window = 6;
  return search;
}
windows with_moves(std::uint64_t moves) { return with({.moves = moves}); }

TEST_CASE("windows: never worse, within the constraints, and the same for the same seed") {
  test::never_worse<schedule::static_order>(with_moves, 300, 1, 400);
  test::never_worse<schedule::path_completion_time>(with_moves, 100, 2, 200);
  test::never_worse<schedule::fifo>(with_moves, 100, 3, 200);
  const auto as_a_whole = [](std::uint64_t moves) { return windows{.budget = {.moves = moves}}; };
  test::never_worse<schedule::static_order>(as_a_whole, 100, 4, 200);
}

TEST_CASE("windows: small problems and constraints") {
  test::manages_small_problems(with_moves);
  test::manages_small_problems([](std::uint64_t moves) { return windows{.budget = {.moves = moves}}; });
}

TEST_CASE("windows: ends at its target or when it is asked to, and tells how far it is") { test::heeds_its_budget(with); }

} // namespace refine_windows_test
