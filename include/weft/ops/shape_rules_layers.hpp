// SPDX-License-Identifier: BSL-1.0
/// Shapes of products, convolutions, pools and images.
#pragma once

#include "weft/ops/einsum_equation.hpp"
#include "weft/ops/shape_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

namespace weft::ops::shape_rules {

using numbers = call::extents;
using elements::boolean, elements::float32, elements::int64, elements::uint8;

inline void like_first(shape_call& c) { c.like(0, 0); }
/// Each output is like one input.
template <std::size_t Input>
void all_like(shape_call& c) {
  c.all_like(Input);
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
  auto joined = known::broadcast(stack_a, stack_b);
  if (!joined) {
    return std::nullopt;
  }
  auto& dims = *joined;
  dims.push_back(transposed_a ? a.back() : a[a.size() - 2]);
  dims.push_back(transposed_b ? b[b.size() - 2] : b.back());
  return dims;
}

template <std::size_t B, element_type Element>
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
inline void with_last(shape_call& c, std::size_t o, std::int64_t last, element_type element = 0) {
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

/// Each window becomes one example, with all that is in it as channels. Images are batch × space × channels.
inline void patches(shape_call& c) {
  const numbers* x = c.dims(0);
  const auto* kernel = c.list("kernel_shape");
  if (x == nullptr || kernel == nullptr || x->size() < 3 || kernel->size() + 2 != x->size()) {
    return;
  }
  if (const auto space = windowed(c, space_of(*x, true), *kernel)) {
    const auto channels = std::accumulate(kernel->begin(), kernel->end(), x->back(), times);
    c.set(0, image_of(x->front(), channels, *space, true));
  }
}

/// Images (batch × height × width × channels) of the size that input 1 holds.
inline void resized_images(shape_call& c) {
  if (const numbers* x = c.dims(0); x != nullptr && x->size() == 4) {
    const numbers* size = c.integers(1);
    const bool known = size != nullptr && size->size() == 2;
    c.set(0, {x->front(), known ? size->front() : -1, known ? size->back() : -1, x->back()});
  }
}

/// The number of channels, which are the second extent with `channels_last` of 0, else the last.
inline void channels(shape_call& c) {
  if (const numbers* x = c.dims(0); x != nullptr && !x->empty()) {
    const bool second = c.o.number("channels_last", 1) == 0 && x->size() > 2;
    c.set_all({second ? (*x)[1] : x->back()});
  }
}

/// x is input 0; all other outputs are like `Like`, such as vectors over the channels.
template <std::size_t Like>
void normalised(shape_call& c) {
  c.all_like(Like);
  c.like(0, 0);
}

/// Gradients of a cell of an LSTM: of the state (like input 1), of its four gates, and of the inputs from 4 on.
inline void lstm_grad(shape_call& c) {
  c.like(0, 1);
  if (const numbers* state = c.dims(1); state != nullptr && state->size() == 2) {
    c.set(1, {state->front(), times(state->back(), 4)});
  }
  for (std::size_t i = 2; i < 5; ++i) {
    c.like(i, i + 2);
  }
}
/// All steps of a recurrence: like x (input 1), with as many numbers as the state (input 2) has.
inline void all_steps(shape_call& c) {
  if (const numbers *x = c.dims(1), *state = c.dims(2); x && state && !x->empty() && !state->empty()) {
    auto dims = *x;
    dims.back() = state->back();
    c.set_all(dims);
  }
}

/// A number per example, and gradients like the logits.
inline void cross_entropy(shape_call& c) {
  if (const numbers* x = c.dims(0); x != nullptr && !x->empty()) {
    c.set(0, {x->front()});
    c.set(1, *x);
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
  if (x != nullptr && boxes != nullptr && size != nullptr && x->size() == 4 && size->size() == 2 && !boxes->empty()) {
    const bool last = c.o.number("channels_last", 0) != 0;
    c.set(0, image_of(boxes->front(), last ? x->back() : (*x)[1], *size, last));
  }
}

/// MaxUnpool, of which the third input says how large the image was.
inline void unpooled(shape_call& c) {
  if (const numbers* size = c.integers(2)) {
    c.set(0, *size);
  }
}

} // namespace weft::ops::shape_rules
