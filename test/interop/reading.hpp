// SPDX-License-Identifier: BSL-1.0
/// Questions that tests of readers ask of a model that was read.
#pragma once

#include "workload/summary.hpp"

#include "weft/workload/model.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace weft_test {

/// The op of that name, which must be there.
inline weft::op_id op_called(const weft::workload& w, std::string_view name) {
  const auto v = weft::test::find_op(w, name);
  if (v == weft::none) {
    FAIL("no op " << std::string{name});
  }
  return v;
}

/// Whether one of the notes has these words.
inline bool noted(const weft::model& m, std::string_view part) {
  return std::ranges::any_of(m.notes, [&](const std::string& n) { return n.find(part) != n.npos; });
}

} // namespace weft_test
