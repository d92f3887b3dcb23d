// SPDX-License-Identifier: BSL-1.0
#include "weft/io/text.hpp"
#include <doctest/doctest.h>

namespace io_text_test {

using weft::io::counted;

TEST_CASE("counted: the words for one, or for several") {
  constexpr auto text = "{op has|ops have} no weight; {its|their} work is 1";
  CHECK(counted(1, text) == "1 op has no weight; its work is 1");
  CHECK(counted(2, text) == "2 ops have no weight; their work is 1");
  CHECK(counted(0, "{op|ops}") == "0 ops");
  CHECK(counted(1, "step{|s} of it") == "1 step of it");
  CHECK(counted(3, "step{|s} of it") == "3 steps of it");
}

TEST_CASE("counted: braces without a choice in them are kept") {
  CHECK(counted(2, "") == "2 ");
  CHECK(counted(2, "{a} and {b|c}") == "2 {a} and c");
  CHECK(counted(2, "a | b {") == "2 a | b {");
  CHECK(counted(2, "open {x|y") == "2 open {x|y");
  CHECK(counted(1, "{}{|}}") == "1 {}}");
}

} // namespace io_text_test
