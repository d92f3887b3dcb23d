// SPDX-License-Identifier: BSL-1.0
#include "weft/validate/violation.hpp"

#include <doctest/doctest.h>

#include <set>

namespace validate_violation_test {

using kind = weft::violation::kind;

TEST_CASE("violation: every kind has a line of its own, with the ids that matter") {
  std::set<std::string> lines;
  const auto last = static_cast<int>(kind::out_of_memory);
  for (int k = 0; k <= last; ++k) {
    const auto line = to_string(weft::violation{static_cast<kind>(k), 1, 2, 3, 4, 0.5, 0.25});
    CAPTURE(line);
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.find("unknown") == std::string::npos);
    lines.insert(line);
  }
  CHECK(lines.size() == static_cast<std::size_t>(last) + 1);
}

TEST_CASE("violation: numbers and ids are in the text") {
  CHECK(to_string(weft::violation{
          .what = kind::input_not_ready, .op = 7, .tensor = 2, .device = 1, .expected = 1.25, .actual = 0.1}) ==
        "op 7 starts at 0.1 s, but its input tensor 2 is on device 1 at 1.25 s");
  CHECK(to_string(weft::violation{.what = kind::device_overlap, .op = 7, .other = 3, .device = 1, .expected = 2,
                                  .actual = 1.5}) ==
        "op 7 starts on device 1 at 1.5 s, when every slot is busy, one with op 3 until 2 s");
  CHECK(to_string(weft::violation{.what = kind::device_overlap, .op = 7, .other = 3, .tensor = 5, .device = 1,
                                  .expected = 2, .actual = 1.5}) ==
        "the send of tensor 5 of op 7 starts on device 1 at 1.5 s, when every slot is busy, one with op 3 until 2 s");
}

} // namespace validate_violation_test
