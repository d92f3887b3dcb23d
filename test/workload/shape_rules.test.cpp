// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/op_catalogue.hpp"
#include "weft/workload/shape_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Calls `of` with an op call and with its inputs, of every number up to six and rank up to four, for each set of them
/// that may be left out.
template <class Of>
void with_inputs_left_out(std::string_view type, Of of) {
  for (std::size_t rank = 0; rank < 5; ++rank) {
    for (std::size_t count = 0; count < 6; ++count) {
      for (unsigned left_out = 0; left_out < 1u << count; ++left_out) {
        op_call o{.type = type, .version = 21};
        std::vector<shape_input> inputs;
        for (std::size_t i = 0; i < count; ++i) {
          const bool is_there = (left_out >> i & 1) == 0;
          inputs.push_back({.is_there = is_there, .element = elements::float32});
          o.inputs.push_back(is_there ? std::optional{op_call::extents(rank, 2)} : std::nullopt);
          o.values.push_back(is_there && rank == 1 ? std::optional{op_call::extents{1, 1}} : std::nullopt);
        }
        of(o, inputs);
      }
    }
  }
}

TEST_CASE("shape rules and FLOP: with any inputs left out, no extent is made up and work is a number") {
  constexpr std::uint32_t outputs[] = {0, 1};
  for (const auto* rules : {&detail::onnx_shape_rules(), &detail::tensorflow_shape_rules()}) {
    for (const auto& [type, row] : *rules) {
      CAPTURE(type);
      if (row->infer == nullptr) {
        continue;
      }
      with_inputs_left_out(type, [&, rule = row->infer](const op_call& o, const auto& inputs) {
        shape_call c{o, inputs, [](std::size_t) { return nullptr; }, outputs};
        rule(c);
        for (const auto& made : std::move(c).take()) {
          CHECK((!made.dims || std::ranges::all_of(*made.dims, [](std::int64_t d) { return d >= -1; })));
        }
      });
    }
  }
  for (const auto& [type, family] : detail::ops_by_type()) {
    CAPTURE(type);
    if (const auto flop = family->facts.flop) {
      with_inputs_left_out(type, [flop](op_call& o, const auto&) {
        o.outputs = {op_call::extents{2, 2}};
        CHECK(std::isfinite(flop(o)));
      });
    }
  }
}

} // namespace workload_shape_rules_test
