// SPDX-License-Identifier: BSL-1.0
/// Shapes of products, convolutions, pools and images.
#pragma once

#include "weft/interop/onnx/shape_rules.hpp"
#include "weft/workload/einsum_equation.hpp"

#include <algorithm>
#include <string_view>

namespace weft::onnx::detail::shapes {

inline constexpr std::int32_t float32 = ::onnx::TensorProto::FLOAT;
inline constexpr std::int32_t int64 = ::onnx::TensorProto::INT64;
inline constexpr std::int32_t uint8 = ::onnx::TensorProto::UINT8;

inline void like_first(shape_call& c) { c.like(0, 0); }
/// Each output is like the first input.
inline void all_like_first(shape_call& c) {
  for (std::size_t i = 0; i < c.num_outputs(); ++i) {
    c.like(i, 0);
  }
}

/// The extents of a stack of matrices; with this attribute of FusedMatMul, the first is that of rows.
inline numbers with_first_as_rows(const shape_call& c, numbers dims, std::string_view attribute) {
  if (c.o.number(attribute, 0) != 0) {
    std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
  }
  return dims;
}

/// A product of (stacks of) matrices `A` and `B`, either of which may be transposed first.
template <std::size_t B>
std::optional<numbers> product_of(const shape_call& c) {
  if (c.dims(0) == nullptr || c.dims(B) == nullptr || c.dims(0)->size() < 2 || c.dims(B)->size() < 2) {
    return std::nullopt;
  }
  const auto a = with_first_as_rows(c, *c.dims(0), "transBatchA");
  const auto b = with_first_as_rows(c, *c.dims(B), "transBatchB");
  const bool transposed_a = c.o.number("transA", 0) != 0;
  const bool transposed_b = c.o.number("transB", 0) != 0;
  const numbers stack_a(a.begin(), a.end() - 2);
  const numbers stack_b(b.begin(), b.end() - 2);
  auto dims = *broadcast({&stack_a, &stack_b});
  dims.push_back(transposed_a ? a.back() : a[a.size() - 2]);
  dims.push_back(transposed_b ? b[b.size() - 2] : b.back());
  return dims;
}

template <std::size_t B, std::int32_t Element>
void product(shape_call& c) {
  if (const auto dims = product_of<B>(c)) {
    c.set(0, *dims, Element);
  }
}
inline void product_of_eights(shape_call& c) { // GemmFloat8
  if (const auto dims = product_of<1>(c)) {
    c.set(0, *dims, static_cast<std::int32_t>(c.o.number("dtype", float32)));
  }
}
inline void quantised_gemm(shape_call& c) { // A, its scale and zero, B, its scale and zero, C, the scale and zero of Y
  if (const auto dims = product_of<3>(c)) {
    c.set(0, *dims, c.has(7) ? c.element(c.has(8) ? 8 : 0) : float32);
  }
}

/// Output `o` is like the first input, but for its innermost extent.
inline void with_last(shape_call& c, std::size_t o, std::int64_t last, std::int32_t element = 0) {
  if (const numbers* d = c.dims(0); d != nullptr && !d->empty() && last > 0) {
    auto dims = *d;
    dims.back() = last;
    c.set(o, dims, element);
  }
}
inline void named_columns(shape_call& c) { with_last(c, 0, c.o.number("N", 0)); }
inline void named_rows_or_columns(shape_call& c) { // MatMulBnb4
  with_last(c, 0, c.o.number(c.o.number("transB", 1) != 0 ? "N" : "K", 0));
}
inline void named_columns_and_sum(shape_call& c) { // MatMulNBitsMlp
  named_columns(c);
  c.like(1, 0);
}
inline void named_columns_of_three(shape_call& c) { // MatMulNBitsQkv
  with_last(c, 0, c.o.number("Nq", 0));
  with_last(c, 1, c.o.number("Nkv", 0));
  with_last(c, 2, c.o.number("Nkv", 0));
  c.like(3, 0);
}
inline void rows_of_second(shape_call& c) {
  if (const numbers* b = c.dims(1); b != nullptr && b->size() == 2) {
    with_last(c, 0, b->front());
  }
}
inline void last_of_third(shape_call& c) {
  if (const numbers* b = c.integers(2); b != nullptr && !b->empty()) {
    with_last(c, 0, b->back());
  }
}

inline void einsum(shape_call& c) {
  einsum_equation equation{c.o.text("equation", "")};
  for (std::size_t i = 0; i < c.num_inputs(); ++i) {
    if (c.dims(i) == nullptr || !equation.add(i, *c.dims(i))) {
      return;
    }
  }
  if (const auto dims = equation.result()) {
    c.set(0, *dims);
  }
}

/// How windows go over one extent.
struct windows {
  std::int64_t size = 1, stride = 1, dilation = 1, before = 0, after = 0;
  bool same = false;   ///< as many as steps fit, padded as needed
  bool ceiling = false; ///< the last may lie over the end, but begins inside

  /// How many there are; nothing if the numbers are out of range.
  std::optional<std::int64_t> over(std::int64_t extent) const {
    constexpr std::int64_t large = std::int64_t{1} << 40;
    for (const auto x : {size, stride, dilation}) {
      if (x < 1 || x > large) {
        return std::nullopt;
      }
    }
    if (extent < 0 || extent > large || before < -large || before > large || after < -large || after > large) {
      return std::nullopt;
    }
    if (same) {
      return (extent + stride - 1) / stride;
    }
    const auto room = extent + before + after - times(dilation, size - 1) - 1;
    if (room < 0) {
      return 0;
    }
    auto steps = ceiling ? (room + stride - 1) / stride : room / stride;
    if (ceiling && steps * stride >= extent + before) {
      --steps;
    }
    return steps + 1;
  }
};

/// The spatial extents that windows with these attributes make. Nothing if that is not known.
inline std::optional<numbers> windowed(const shape_call& c, const numbers& extents, const numbers& kernel) {
  const auto rank = extents.size();
  const auto entry = [rank](const numbers* list, std::size_t i, std::int64_t otherwise) {
    return list == nullptr || (list->size() != rank && list->size() != 2 * rank) ? otherwise : (*list)[i];
  };
  const auto padding = c.o.text("auto_pad", "NOTSET");
  const auto* pads = padding == "VALID" ? nullptr : c.list("pads");
  pads = pads != nullptr && pads->size() == 2 * rank ? pads : nullptr;
  numbers result;
  for (std::size_t i = 0; i < rank; ++i) {
    const windows w{.size = kernel[i],
                    .stride = entry(c.list("strides"), i, 1),
                    .dilation = entry(c.list("dilations"), i, 1),
                    .before = entry(pads, i, 0),
                    .after = entry(pads, rank + i, 0),
                    .same = padding.starts_with("SAME"),
                    .ceiling = c.o.number("ceil_mode", 0) != 0 && padding != "VALID"};
    const auto count = w.over(extents[i]);
    if (!count) {
      return std::nullopt;
    }
    result.push_back(*count);
  }
  return result;
}

/// The spatial extents of an image: batch × channels × space, or batch × space × channels.
inline numbers space_of(const numbers& image, bool channels_last) {
  return {image.begin() + (channels_last ? 1 : 2), image.end() - (channels_last ? 1 : 0)};
}
inline numbers image_of(std::int64_t batch, std::int64_t channels, numbers space, bool channels_last) {
  space.insert(channels_last ? space.end() : space.begin(), channels);
  space.insert(space.begin(), batch);
  return space;
}

/// A filter is output channels × channels of a group × kernel, whatever the layout of images is.
template <std::size_t Filter, bool ChannelsLast, std::size_t Like = 0>
void convolution(shape_call& c) {
  const numbers* x = c.dims(0);
  const numbers* w = c.dims(Filter);
  const bool last = ChannelsLast || c.o.number("channels_last", 0) != 0;
  if (x == nullptr || w == nullptr || x->size() < 3 || w->size() != x->size()) {
    return;
  }
  if (const auto space = windowed(c, space_of(*x, last), {w->begin() + 2, w->end()})) {
    c.set(0, image_of(x->front(), w->front(), *space, last), c.element(Like));
  }
}

template <bool ChannelsLast>
void pool(shape_call& c) {
  const numbers* x = c.dims(0);
  const auto* kernel = c.list("kernel_shape");
  const bool last = ChannelsLast || c.o.number("channels_last", 0) != 0;
  if (x == nullptr || kernel == nullptr || x->size() < 3 || kernel->size() + 2 != x->size()) {
    return;
  }
  if (const auto space = windowed(c, space_of(*x, last), *kernel)) {
    const auto dims = image_of(x->front(), last ? x->back() : (*x)[1], *space, last);
    c.set(0, dims);
    c.set(1, dims, int64); // where the largest are
  }
}

inline void global_pool(shape_call& c) {
  if (const numbers* x = c.dims(0); x != nullptr && x->size() >= 2) {
    const bool last = c.o.number("channels_last", 0) != 0;
    c.set(0, image_of(x->front(), last ? x->back() : (*x)[1], numbers(x->size() - 2, 1), last));
  }
}

/// Scales are input 1 in operator set 10 and 2 after it; sizes count before scales. Either may be of some axes only.
inline void resize(shape_call& c) {
  const numbers* x = c.dims(0);
  if (x == nullptr) {
    return;
  }
  const auto rank = x->size();
  numbers all(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    all[i] = static_cast<std::int64_t>(i);
  }
  const auto* given = c.list("axes");
  const auto& axes = given != nullptr ? *given : all;
  const bool by_size = c.has(3);
  const auto wanted = c.reals(by_size ? 3 : c.num_inputs() == 2 ? 1 : 2);
  if (!wanted || wanted->size() != axes.size()) {
    return;
  }
  const auto policy = c.o.text("keep_aspect_ratio_policy", "stretch");
  double common = policy == "not_larger" ? 1e9 : 0;
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = shape_call::position(axes[i], rank);
    if (!axis || !((*wanted)[i] >= 0 && (*wanted)[i] < 1e12)) {
      return;
    }
    at.push_back(*axis);
    const double scale = (*wanted)[i] / static_cast<double>(std::max<std::int64_t>((*x)[*axis], 1));
    common = policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
  }
  auto dims = *x;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto extent = static_cast<double>(dims[at[i]]);
    const double size = !by_size              ? std::floor(extent * (*wanted)[i])
                        : policy != "stretch" ? std::floor(extent * common + 0.5)
                                              : (*wanted)[i];
    if (!(size < 1e15)) {
      return;
    }
    dims[at[i]] = static_cast<std::int64_t>(size);
  }
  c.set(0, dims);
}

/// Space of the grid, channels of the input.
inline void grid_sample(shape_call& c) {
  const numbers* x = c.dims(0);
  const numbers* grid = c.dims(1);
  if (x != nullptr && grid != nullptr && x->size() >= 3 && grid->size() == x->size()) {
    numbers dims(x->begin(), x->begin() + 2);
    dims.insert(dims.end(), grid->begin() + 1, grid->end() - 1);
    c.set(0, dims);
  }
}

/// A place in the input, 2 or 3 coordinates, for each element of an output of the size that input 1 names.
inline void affine_grid(shape_call& c) {
  if (const numbers* size = c.integers(1); size != nullptr && size->size() >= 3) {
    numbers dims{size->front()};
    dims.insert(dims.end(), size->begin() + 2, size->end());
    dims.push_back(static_cast<std::int64_t>(size->size()) - 2);
    c.set(0, dims);
  }
}

inline void crop_or_pad(shape_call& c) { // CenterCropPad
  const numbers* x = c.dims(0);
  const numbers* shape = c.integers(1);
  if (x == nullptr || shape == nullptr) {
    return;
  }
  auto dims = *x;
  const auto* axes = c.list("axes");
  if (shape->size() > dims.size() || (axes != nullptr && axes->size() != shape->size())) {
    return;
  }
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const auto axis = shape_call::position(axes != nullptr ? (*axes)[i] : static_cast<std::int64_t>(i), dims.size());
    if (!axis) {
      return;
    }
    dims[*axis] = (*shape)[i];
  }
  c.set(0, dims);
}

/// Columns of blocks (batch × channels · block × blocks) become images.
inline void columns_to_image(shape_call& c) {
  const numbers* x = c.dims(0);
  const numbers* image = c.integers(1);
  const numbers* block = c.integers(2);
  if (x == nullptr || image == nullptr || block == nullptr || x->size() != 3) {
    return;
  }
  std::int64_t size = 1;
  for (const auto d : *block) {
    size = times(size, d);
  }
  if (size > 0) {
    c.set(0, image_of((*x)[0], (*x)[1] / size, *image, false));
  }
}

/// Crops of boxes (input 1), of a size that input 3 holds.
inline void crop_and_resize(shape_call& c) {
  const numbers* x = c.dims(0);
  const numbers* boxes = c.dims(1);
  const numbers* size = c.integers(3);
  if (x != nullptr && boxes != nullptr && size != nullptr && x->size() == 4 && !boxes->empty()) {
    c.set(0, image_of(boxes->front(), (*x)[1], *size, false));
  }
}

/// MaxUnpool, of which the third input says how large the image was.
inline void unpooled(shape_call& c) {
  if (const numbers* size = c.integers(2)) {
    c.set(0, *size);
  }
}

inline constexpr shape_row of_layers[] = {
  {"Gemm", product<1, 0>, shape_row::last},
  {"Einsum", einsum},
  {"com.microsoft.FusedGemm", product<1, 0>},
  {"com.microsoft.FusedMatMul", product<1, 0>},
  {"com.microsoft.FusedMatMulActivation", product<1, 0>},
  {"com.microsoft.TransposeMatMul", product<1, 0>},
  {"com.microsoft.GemmFastGelu", product<1, 0>},
  {"com.microsoft.GemmFloat8", product_of_eights},
  {"com.microsoft.MatMulInteger16", product<1, ::onnx::TensorProto::INT32>},
  {"com.microsoft.MatMulIntegerToFloat", product<1, float32>},
  {"com.microsoft.DynamicQuantizeMatMul", product<1, float32>},
  {"com.microsoft.QOrderedMatMul", product<2, 0>},
  {"com.microsoft.QGemm", quantised_gemm},
  {"com.microsoft.MatMulNBits", named_columns},
  {"com.microsoft.MatMulNBitsMlp", named_columns_and_sum},
  {"com.microsoft.MatMulNBitsQkv", named_columns_of_three},
  {"com.microsoft.MatMulBnb4", named_rows_or_columns},
  {"com.microsoft.MatMulFpQ4", last_of_third},
  {"com.microsoft.MatMulBlockQuantizedFp4Weight", rows_of_second},
  {"com.microsoft.MatMulBlockQuantizedFp8Weight", rows_of_second},
  {"com.microsoft.MoE", like_first},
  {"com.microsoft.QMoE", like_first},
  {"DeformConv", convolution<1, false>},
  {"com.microsoft.FusedConv", convolution<1, false>},
  {"com.microsoft.NhwcConv", convolution<1, true>},
  {"com.microsoft.NhwcFusedConv", convolution<1, true>},
  {"com.microsoft.QLinearConv", convolution<3, false, 7>},
  {"MaxPool", pool<false>},
  {"AveragePool", pool<false>},
  {"LpPool", pool<false>},
  {"com.microsoft.MaxpoolWithMask", pool<false>},
  {"com.microsoft.NhwcMaxPool", pool<true>},
  {"com.microsoft.QLinearAveragePool", pool<false>},
  {"GlobalLpPool", global_pool, shape_row::last},
  {"com.microsoft.QLinearGlobalAveragePool", global_pool},
  {"MaxUnpool", unpooled},
  {"Resize", resize, 18},
  {"GridSample", grid_sample, 20},
  {"com.microsoft.GridSample", grid_sample},
  {"AffineGrid", affine_grid},
  {"CenterCropPad", crop_or_pad},
  {"Col2Im", columns_to_image},
  {"com.microsoft.CropAndResize", crop_and_resize},
};

} // namespace weft::onnx::detail::shapes
