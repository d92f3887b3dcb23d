// SPDX-License-Identifier: BSL-1.0
#include "weft/io/tally.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace io_tally_test {

TEST_CASE("tally: a line for each assumption, with the most frequent names first") {
  weft::io::tally t;
  CHECK(t.notes().empty());
  for (const char* type : {"b", "a", "b", "c"}) {
    t.add("{op|ops} without a rule", type);
  }
  t.add("a thing");
  t.add("a thing");
  CHECK(t.notes() == std::vector<std::string>{"2 a thing", "4 ops without a rule: b (2), a, c"});
  for (int i = 0; i < 9; ++i) {
    t.add("many", "x" + std::to_string(i));
  }
  CHECK(t.notes()[1] == "9 many: x0, x1, x2, x3, x4, x5, …");
  t.add("zzz", "of\nlines");
  CHECK(t.notes()[2] == "1 zzz: of lines");
}

} // namespace io_tally_test
