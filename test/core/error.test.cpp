// SPDX-License-Identifier: BSL-1.0
#include "weft/core/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

namespace core_error_test {

using namespace std::string_literals;

static_assert(std::is_base_of_v<std::runtime_error, weft::error>);

TEST_CASE("error: each type says what and where, in one line and in fields") {
  const weft::value_error value{"op 3: work", "must be finite"};
  CHECK(value.what() == "op 3: work: must be finite"s);
  CHECK(value.where == "op 3: work");

  const weft::dangling_id_error dangling{"edge 1 -> 9", "no such op"};
  CHECK(dangling.what() == "edge 1 -> 9: no such op"s);
  CHECK(dangling.where == "edge 1 -> 9");

  const weft::duplicate_edge_error duplicate{1, 2, "a -> b"};
  CHECK(duplicate.what() == "duplicate edge a -> b: list each consumer of a tensor once"s);
  CHECK(duplicate.source == 1);
  CHECK(duplicate.target == 2);

  const weft::cycle_error cycle{{4, 5}, "4 -> 5 -> 4"};
  CHECK(cycle.what() ==
        "the graph has a cycle: 4 -> 5 -> 4; a dataflow graph must be acyclic (unroll loops first)"s);
  CHECK(cycle.ops == std::vector<weft::op_id>{4, 5});

  const weft::constraint_error constraint{{7}, "op 7 fits nowhere"};
  CHECK(constraint.what() == "op 7 fits nowhere"s);
  CHECK(constraint.ops == std::vector<weft::op_id>{7});
}

TEST_CASE("error: ids that do not exist are shown as they were meant, beside those that do") {
  CHECK(weft::detail::missing_id(7) == "7");
  CHECK(weft::detail::missing_id(static_cast<weft::op_id>(-1)) == "-1");
  CHECK(weft::detail::missing_id(static_cast<weft::op_id>(-20)) == "-20");
  CHECK(weft::detail::missing_id(std::size_t{1} << 40) == "1099511627776");
  CHECK(weft::detail::only_ops(0) == "no ops");
  CHECK(weft::detail::only_ops(1) == "only op 0");
  CHECK(weft::detail::only_ops(3) == "only the ops 0 to 2");
}

TEST_CASE("error: a parse error gives the file, and the line if there is one") {
  const weft::parse_error with_line{"graph.csv", 12, "expected a number"};
  CHECK(with_line.what() == "graph.csv:12: expected a number"s);
  CHECK(with_line.file == "graph.csv");
  CHECK(with_line.line == 12);
  CHECK(weft::parse_error{"graph.csv", 0, "is empty"}.what() == "graph.csv: is empty"s);
}

TEST_CASE("error: counts that ids can number, and others") {
  CHECK(weft::checked_count(weft::none, "graph", "ops") == weft::none);
  CHECK_THROWS_WITH_AS(weft::checked_count(std::size_t{weft::none} + 1, "graph", "ops"),
                       "graph: has 4294967296 ops; ids have 32 bits, so at most 4294967295 are possible",
                       weft::value_error);
}

} // namespace core_error_test
