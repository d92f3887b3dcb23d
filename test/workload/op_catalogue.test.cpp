// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/op_catalogue.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace workload_op_catalogue_test {

using namespace weft;
using extents = op_call::extents;

TEST_CASE("op catalogue: each type stands there once, with a rule that bears calls without shapes") {
  const auto& all = detail::ops_by_type();
  CHECK(all.size() > 500);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [type, facts] = all[i];
    CAPTURE(type);
    CHECK((i == 0 || all[i - 1].type < type));
    CHECK(find_op(type) == facts);
    if (facts->flop != nullptr) {
      CHECK(facts->flop({.type = type}) >= 0);
      for (const extents& dims : {extents{}, extents{0}, extents{2, 0, 3}}) {
        CHECK(facts->flop({.type = type, .inputs = {dims, dims, dims}, .outputs = {dims}}) >= 0);
      }
    }
  }
  CHECK(find_op("NoSuchOp") == nullptr);
  CHECK(find_op("") == nullptr);
}

TEST_CASE("op catalogue: views compute nothing, products and convolutions have gradients of products") {
  for (const auto& [type, facts] : detail::ops_by_type()) {
    CAPTURE(type);
    const bool shaped = facts->flop != nullptr && facts->use == op_use::view;
    CHECK((!shaped || facts->flop({.type = type, .inputs = {extents{5}}, .outputs = {extents{5}}}) == 0));
    CHECK((facts->gradient.differentiable || facts->gradient.reads == gradient_reads::nothing));
    CHECK((!facts->gradient.product || facts->flop == nullptr || facts->use != op_use::other ||
           type.starts_with("Depthwise") || type.starts_with("Sparse")));
  }
}

// [catalogue]
/// FLOP of a layer normalisation of 32 rows of 768 elements: 8 per element.
double normalisation() {
  const weft::op_call::extents rows{32, 768};
  return weft::find_op("LayerNormalization")->flop({.inputs = {rows}, .outputs = {rows}});
}
// [catalogue]

TEST_CASE("op catalogue: the example of the docs") {
  CHECK(normalisation() == 8 * 32 * 768);
}

TEST_CASE("op catalogue: a type is known by its plain name, too") {
  CHECK(facts_of("com.microsoft.FusedMatMul").use == op_use::product);
  CHECK(facts_of("_FusedConv2D").use == op_use::convolution);
  CHECK(facts_of("aten.Gemm").gradient.product);
  CHECK(facts_of("FusedBatchNormV9").gradient.reads == gradient_reads::inputs);
  CHECK(facts_of("V2").use == op_use::other);
  CHECK_FALSE(facts_of("example.com:ArgMax").gradient.differentiable);
  CHECK(facts_of("NoSuchOp").gradient.differentiable);
}

TEST_CASE("op catalogue: an Einsum broadcasts what its ellipsis stands for, extent by extent") {
  const auto flop = [](std::vector<std::optional<extents>> inputs, const char* equation) {
    return find_op("Einsum")->flop({.type = "Einsum", .inputs = std::move(inputs), .texts = {{"equation", equation}}});
  };
  CHECK(flop({extents{7, 1, 3, 4}, extents{2, 4, 5}}, "...ij,...jk->...ik") == 2 * 7 * 2 * 60);
  CHECK(flop({extents{7, 1, 3}, extents{1, 2, 3}}, "...i,...i->...") == 2 * 7 * 2 * 3);
}

} // namespace workload_op_catalogue_test
