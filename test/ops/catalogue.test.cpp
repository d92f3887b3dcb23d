// SPDX-License-Identifier: BSL-1.0
#include "weft/ops/catalogue.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace workload_op_catalogue_test {

using namespace weft;
using extents = ops::call::extents;

TEST_CASE("op catalogue: each type stands there once, with a rule that bears calls without shapes") {
  const auto& all = ops::detail::ops_by_type();
  CHECK(all.size() > 500);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [type, family] = all[i];
    CAPTURE(type);
    const auto* const facts = &family->facts;
    CHECK((i == 0 || all[i - 1].type < type));
    CHECK(ops::find(type) == facts);
    if (facts->flop != nullptr) {
      CHECK(facts->flop({.type = type}) >= 0);
      for (const extents& dims : {extents{}, extents{0}, extents{2, 0, 3}}) {
        CHECK(facts->flop({.type = type, .inputs = {dims, dims, dims}, .outputs = {dims}}) >= 0);
      }
    }
  }
  CHECK(ops::find("NoSuchOp") == nullptr);
  CHECK(ops::find("") == nullptr);
}

TEST_CASE("op catalogue: views compute nothing, products and convolutions have gradients of products") {
  for (const auto& [type, family] : ops::detail::ops_by_type()) {
    CAPTURE(type);
    const auto* const facts = &family->facts;
    const bool shaped = facts->flop != nullptr && facts->use == ops::device_use::view;
    CHECK((!shaped || facts->flop({.type = type, .inputs = {extents{5}}, .outputs = {extents{5}}}) == 0));
    CHECK((facts->gradient.differentiable || facts->gradient.reads == ops::gradient_reads::nothing));
    CHECK((!facts->gradient.product || facts->flop == nullptr || facts->use != ops::device_use::other ||
           type.starts_with("Depthwise") || type.starts_with("Sparse")));
  }
}

// [catalogue]
/// FLOP of a layer normalisation of 32 rows of 768 elements: 8 per element.
double normalisation() {
  const weft::ops::call::extents rows{32, 768};
  return weft::ops::find("LayerNormalization")->flop({.inputs = {rows}, .outputs = {rows}});
}
// [catalogue]

TEST_CASE("op catalogue: the example of the docs") {
  CHECK(normalisation() == 8 * 32 * 768);
}

TEST_CASE("op catalogue: a type is known by its plain name, too") {
  CHECK(ops::facts_of("com.microsoft.FusedMatMul").use == ops::device_use::product);
  CHECK(ops::facts_of("_FusedConv2D").use == ops::device_use::convolution);
  CHECK(ops::facts_of("aten.Gemm").gradient.product);
  CHECK(ops::facts_of("FusedBatchNormV9").gradient.reads == ops::gradient_reads::inputs);
  CHECK(ops::facts_of("V2").use == ops::device_use::other);
  CHECK_FALSE(ops::facts_of("example.com:ArgMax").gradient.differentiable);
  CHECK(ops::facts_of("NoSuchOp").gradient.differentiable);
  CHECK(ops::use_of("com.microsoft.FusedMatMul") == ops::device_use::product);
  CHECK(ops::use_of("MatMulGrad") == ops::device_use::product);
  CHECK(ops::use_of("GatherGrad") == ops::device_use::other); // the catalogue knows what it is the gradient of
  CHECK(ops::use_of("LossGrad") == ops::device_use::other);
  CHECK(ops::use_of("AddChunk") == ops::device_use::collective);
  CHECK(ops::use_of("PackBucket") == ops::device_use::collective_start);
  for (const char* unknown : {"", "NoSuchOp", "NoSuchOpGrad", "Grad", "V2", "MATMUL"}) {
    CAPTURE(unknown);
    CHECK(ops::use_of(unknown) == std::nullopt);
  }
}

TEST_CASE("op catalogue: an Einsum broadcasts what its ellipsis stands for, extent by extent") {
  const auto flop = [](std::vector<std::optional<extents>> inputs, const char* equation) {
    return ops::find("Einsum")->flop(
      {.type = "Einsum", .inputs = std::move(inputs), .texts = {{"equation", equation}}});
  };
  CHECK(flop({extents{7, 1, 3, 4}, extents{2, 4, 5}}, "...ij,...jk->...ik") == 2 * 7 * 2 * 60);
  CHECK(flop({extents{7, 1, 3}, extents{1, 2, 3}}, "...i,...i->...") == 2 * 7 * 2 * 3);
}

TEST_CASE("op catalogue: an Einsum of one operand computes only what it sums") {
  const auto flop = [](extents dims, const char* equation) {
    return ops::find("Einsum")->flop({.type = "Einsum", .inputs = {dims}, .texts = {{"equation", equation}}});
  };
  CHECK(flop({3, 4}, "ij->ji") == 0);
  CHECK(flop({3, 3}, "ii->i") == 0);
  CHECK(flop({3, 4}, "ij->i") == 12);
  CHECK(flop({3, 3}, "ii") == 3);
  CHECK(flop({3, 4}, "...j->j") == 12);
}

TEST_CASE("op catalogue: FusedMatMul may have its stack between rows and columns") {
  const auto flop = [](extents a, bool transposed) {
    return ops::find("FusedMatMul")->flop({.type = "FusedMatMul",
                                         .inputs = {a, extents{2, 7, 3}},
                                         .outputs = {extents{2, 5, 3}},
                                         .numbers = {{"transA", {transposed}}, {"transBatchA", {1}}}});
  };
  CHECK(flop({5, 2, 7}, false) == 2 * 30 * 7);
  CHECK(flop({7, 2, 5}, true) == 2 * 30 * 7);
}

TEST_CASE("op catalogue: TensorFlow's batch normalisation takes statistics only in training") {
  for (const char* type : {"FusedBatchNorm", "FusedBatchNormV3"}) {
    const extents x{2, 4, 4, 3};
    const auto flop = ops::find(type)->flop;
    CHECK(flop({.type = type, .inputs = {x}}) == 8 * 96);
    CHECK(flop({.type = type, .inputs = {x}, .numbers = {{"is_training", {1}}}}) == 8 * 96);
    CHECK(flop({.type = type, .inputs = {x}, .numbers = {{"is_training", {0}}}}) == 2 * 96);
  }
}

TEST_CASE("op catalogue: real Fourier transforms cost the same both ways") {
  CHECK(ops::find("RFFT")->flop({.type = "RFFT", .inputs = {extents{3, 8}}, .outputs = {extents{3, 5}}}) ==
        2.5 * 24 * 3);
  CHECK(ops::find("IRFFT")->flop({.type = "IRFFT", .inputs = {extents{3, 5}}, .outputs = {extents{3, 8}}}) ==
        2.5 * 24 * 3);
  CHECK(ops::find("IRFFT2D")->flop({.type = "IRFFT2D", .inputs = {extents{3, 4, 5}}, .outputs = {extents{3, 4, 8}}}) ==
        2.5 * 96 * 5);
  CHECK(ops::find("FFT2D")->flop({.type = "FFT2D", .inputs = {extents{3, 4, 8}}, .outputs = {extents{3, 4, 8}}}) ==
        5 * 96 * 5);
}

TEST_CASE("op catalogue: GridSample reads as many neighbours as its mode asks for") {
  const auto flop = [](extents image, extents out, const char* mode) {
    return ops::find("GridSample")->flop(
      {.type = "GridSample", .inputs = {image, extents{}}, .outputs = {out}, .texts = {{"mode", mode}}});
  };
  const extents image{1, 2, 5, 5};
  const extents out{1, 2, 3, 3};
  CHECK(flop(image, out, "nearest") == 0);
  CHECK(flop(image, out, "bilinear") == 8 * 18);
  CHECK(flop(image, out, "linear") == 8 * 18);
  CHECK(flop(image, out, "bicubic") == 32 * 18);
  CHECK(flop(image, out, "cubic") == 32 * 18);
  CHECK(flop({1, 2, 5, 5, 5}, {1, 2, 3, 3, 3}, "linear") == 16 * 54);
}

TEST_CASE("op catalogue: forms of attention") {
  const extents q{2, 3, 4, 10, 8}; // batch, batch, heads, length, width: as if the batch was 6
  const extents k{2, 3, 4, 20, 8};
  const auto sdpa = [](const extents& a, const extents& b) {
    return ops::facts_of("aten.scaled_dot_product_attention")
      .flop({.type = "aten.scaled_dot_product_attention", .inputs = {a, b, b}, .outputs = {a}});
  };
  CHECK(sdpa(q, k) == sdpa({6, 4, 10, 8}, {6, 4, 20, 8}));
  CHECK(sdpa(q, k) == 6 * 10 * 20 * (2 * 32 + 2 * 32 + 5 * 4));

  const auto packed = ops::find("PackedAttention");
  CHECK(packed->flop({.type = "PackedAttention",
                      .inputs = {extents{20, 16}, extents{16, 40}, std::nullopt, extents{2, 10}, extents{3}},
                      .outputs = {extents{20, 8}},
                      .numbers = {{"num_heads", {2}}, {"qkv_hidden_sizes", {16, 16, 8}}}}) ==
        20 * 16 * 2 * 40 + 2 * 10 * 10 * (2 * 16 + 2 * 8 + 5 * 2));

  const auto decoder = [](std::int64_t fixed, std::int64_t uses_cache) {
    const extents x{1, 2, 16};
    const auto flag = [](std::int64_t is) { return std::optional{extents{is}}; };
    std::vector<std::optional<extents>> inputs{x, x, extents{16, 16}, extents{16, 32}, extents{48}, std::nullopt};
    inputs.insert(inputs.end(), 2, extents{2, 4, 30, 4});
    inputs.insert(inputs.end(), 4, extents{1});
    std::vector<std::optional<extents>> values(8);
    values.insert(values.end(), {flag(fixed), flag(uses_cache), flag(1), flag(0)});
    return ops::find("DecoderAttention")
      ->flop({.type = "DecoderAttention", .inputs = inputs, .outputs = {x}, .numbers = {{"num_heads", {4}}},
              .values = values});
  };
  const double product = 2 * 2 * 16 * 16;
  CHECK(decoder(0, 0) == 3 * product + 2 * 1 * (4 * 16 + 5 * 4));
  CHECK(decoder(0, 1) == 3 * product + 2 * 31 * (4 * 16 + 5 * 4));
  CHECK(decoder(1, 1) == product + 2 * 30 * (4 * 16 + 5 * 4));
}

} // namespace workload_op_catalogue_test
