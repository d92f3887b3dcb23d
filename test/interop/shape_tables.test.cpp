// SPDX-License-Identifier: BSL-1.0
#include "../ops/inputs_left_out.hpp"
#include "weft/interop/onnx/shape_table.hpp"
#include "weft/interop/tensorflow/shape_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace shape_tables_test {

using namespace weft;

void check_order(const auto& rules) {
  for (std::size_t i = 1; i < rules.size(); ++i) {
    CAPTURE(rules[i].type);
    CHECK(rules[i - 1].type < rules[i].type);
  }
}

void check_inputs_left_out(std::string_view type, void (*infer)(ops::shape_call&)) {
  constexpr std::uint32_t outputs[] = {0, 1};
  CAPTURE(type);
  test::with_inputs_left_out(type, [&](const ops::call& o, const auto& inputs) {
    ops::shape_call c{o, inputs, [](std::size_t) { return nullptr; }, outputs};
    infer(c);
    for (const auto& made : std::move(c).take()) {
      CHECK((!made.dims || std::ranges::all_of(*made.dims, [](std::int64_t d) { return d >= -1; })));
    }
  });
}

TEST_CASE("shape tables: a type of ONNX has one rule, and with any inputs left out no extent is made up") {
  const auto& rules = weft::onnx::detail::shape_rules();
  CHECK(rules.size() > 180);
  check_order(rules);
  CHECK(weft::onnx::detail::find_shape_rule("NoSuchOp") == nullptr);
  for (const auto& [type, row] : rules) {
    check_inputs_left_out(type, row->infer);
  }
}

TEST_CASE("shape tables: a type of TensorFlow has one rule or another source, and no extent is made up") {
  const auto& rules = tensorflow::detail::shape_rules();
  CHECK(rules.size() > 470);
  check_order(rules);
  CHECK(tensorflow::detail::find_shape_rule("") == nullptr);
  for (const auto& [type, row] : rules) {
    CAPTURE(type);
    CHECK((row->rule.infer == nullptr) == (row->rule.source != tensorflow::detail::shape_source::rule));
    if (row->rule.infer != nullptr) {
      check_inputs_left_out(type, row->rule.infer);
    }
  }
}

TEST_CASE("shape tables: the FLOP of each op of TensorFlow are known, and those without outputs have none") {
  for (const auto& [type, row] : tensorflow::detail::shape_rules()) {
    CAPTURE(type);
    const auto* const facts = tensorflow::detail::find_op(type);
    REQUIRE(facts != nullptr);
    CHECK((facts->flop != nullptr));
    CHECK((facts->outputs == 0) == (row->rule.source == tensorflow::detail::shape_source::nothing));
  }
}

} // namespace shape_tables_test
