// SPDX-License-Identifier: BSL-1.0
// The smallest instances of the contest IOPDDL, which are compressed.
#include "weft/interop/gzip.hpp"
#include "weft/io/iopddl.hpp"
#include "weft/shard/best.hpp"

#include "support/rounds.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace interop_iopddl_contest_test {

using namespace weft;

#ifdef WEFT_REFERENCE_DATA
TEST_CASE("golden: small instances of the contest") {
  for (const auto& [name, best_known] : {std::pair{"B", std::int64_t{532'843}}, {"G", std::int64_t{217'039}}}) {
    const auto file = std::string{WEFT_REFERENCE_DATA} + "/data/iopddl/asplos-2025-iopddl-" + name + ".json.gz";
    interop::gzip_stream in{file};
    const auto p = io::read_iopddl(in, file);
    const auto found = shard::best(p, {.budget = {.moves = test::are_all_rounds ? 1500u : 200u}});
    CAPTURE(name);
    REQUIRE(found.has_choice());
    CHECK(shard::value_of(p, found.choice).feasible(p.limit()));
    CHECK(found.bound <= best_known);
    if (test::are_all_rounds) {
      CHECK(found.cost <= best_known * 115 / 100);
      CHECK(found.bound >= best_known * 80 / 100);
    }
  }
}
#else
TEST_CASE("golden: small instances of the contest") { MESSAGE("skipped: WEFT_REFERENCE_DATA is not set"); }
#endif

} // namespace interop_iopddl_contest_test
