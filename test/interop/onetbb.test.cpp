// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/onetbb.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace interop_onetbb_test {

namespace execute = weft::execute;

static_assert(weft::team_runner<execute::tbb_arenas>);

TEST_CASE("onetbb: a kernel runs in an arena as large as its team") {
  execute::tbb_arenas arenas;
  for (const std::uint32_t threads : {1u, 2u, 3u, 2u}) {
    int seen = 0;
    arenas(execute::seat{0, {threads}, {}}, [&] { seen = tbb::this_task_arena::max_concurrency(); });
    CHECK(seen == static_cast<int>(threads));
  }
}

TEST_CASE("onetbb: an exception of a kernel comes through") {
  execute::tbb_arenas arenas;
  CHECK_THROWS_AS(arenas(execute::seat{1, {2}, {}}, [] { throw std::runtime_error{"no"}; }), std::runtime_error);
}

} // namespace interop_onetbb_test
