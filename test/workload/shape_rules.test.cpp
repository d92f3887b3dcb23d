// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/op_catalogue.hpp"
#include "weft/workload/shape_rules.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

namespace workload_shape_rules_test {

using namespace weft;

TEST_CASE("shape rules: a type has one rule in each format, and not the same one twice") {
  const auto& onnx = detail::onnx_shape_rules();
  const auto& tensorflow = detail::tensorflow_shape_rules();
  CHECK(onnx.size() > 180);
  CHECK(tensorflow.size() > 470);
  for (const auto* rules : {&onnx, &tensorflow}) {
    for (std::size_t i = 0; i < rules->size(); ++i) {
      const auto& [type, row] = (*rules)[i];
      CAPTURE(type);
      CHECK((i == 0 || (*rules)[i - 1].type < type));
      CHECK((row->infer == nullptr) == (row->source != shape_source::rule));
    }
  }
  for (const auto& [type, row] : onnx) {
    CAPTURE(type);
    const auto* const other = tensorflow_shape_rule(type);
    CHECK((other == nullptr || other == row || other->infer != row->infer));
  }
  CHECK(onnx_shape_rule("NoSuchOp") == nullptr);
  CHECK(tensorflow_shape_rule("") == nullptr);
}

TEST_CASE("shape rules: the FLOP of each op of TensorFlow with a rule are known, and those without outputs have none") {
  for (const auto& [type, row] : detail::tensorflow_shape_rules()) {
    CAPTURE(type);
    const auto* const facts = find_op({"tensorflow." + std::string{type}, type});
    REQUIRE(facts != nullptr);
    CHECK((facts->flop != nullptr));
    CHECK((facts->outputs == 0) == (row->source == shape_source::nothing));
  }
}

} // namespace workload_shape_rules_test
