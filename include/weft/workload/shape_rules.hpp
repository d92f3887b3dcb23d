// SPDX-License-Identifier: BSL-1.0
/// The shape rules by the names that the catalogue of ops has for them.
#pragma once

#include "weft/workload/op_facts.hpp"
#include "weft/workload/shape_rules_matrices.hpp"
#include "weft/workload/shape_rules_tensors.hpp"

#include <array>
#include <cstddef>

namespace weft {

namespace detail {

struct named_shape_rule {
  shape_rule name;
  void (*infer)(shape_call&);
};

namespace shapes = shape_rules;
inline constexpr named_shape_rule named_shape_rules[] = {
  {shape_rule::arg_reduce, shapes::without_axis},
  {shape_rule::batch_matmul, shapes::product<1, elements::unknown>},
  {shape_rule::batch_norm, shapes::normalised<1>},
  {shape_rule::batch_norm_grad, shapes::normalised<2>},
  {shape_rule::batch_to_space, shapes::batch_of_blocks<false>},
  {shape_rule::block_lstm, shapes::all_steps},
  {shape_rule::broadcast, shapes::broadcast},
  {shape_rule::broadcast_args, shapes::list},
  {shape_rule::cast, shapes::cast},
  {shape_rule::channels, shapes::channels},
  {shape_rule::compare, shapes::compare},
  {shape_rule::concat_first, shapes::concat},
  {shape_rule::concat_last, shapes::concat},
  {shape_rule::concat_offset, shapes::all_like<1>},
  {shape_rule::conv, shapes::convolution<1, false>},
  {shape_rule::conv_filter_grad, shapes::as_elements<1, 1>},
  {shape_rule::conv_input_grad, shapes::as_elements<0, 0>},
  {shape_rule::crop_and_resize, shapes::crop_and_resize},
  {shape_rule::cross_entropy, shapes::cross_entropy},
  {shape_rule::depth_to_space, shapes::channels_of_blocks<false>},
  {shape_rule::depthwise, shapes::convolution<1, false>},
  {shape_rule::determinant, shapes::determinant},
  {shape_rule::diag, shapes::diagonal<false>},
  {shape_rule::diag_part, shapes::diagonal<true>},
  {shape_rule::dilation, shapes::pool<true>},
  {shape_rule::each, shapes::each},
  {shape_rule::eigen, shapes::eigen},
  {shape_rule::einsum, shapes::einsum},
  {shape_rule::expand_dims, shapes::unsqueeze},
  {shape_rule::fill, shapes::as_elements<0, 99>},
  {shape_rule::from_second_values, shapes::as_elements<1, 0>},
  {shape_rule::from_third_values, shapes::as_elements<2, 99>},
  {shape_rule::from_values, shapes::as_elements<0, 0>},
  {shape_rule::gather, shapes::gather},
  {shape_rule::gather_nd, shapes::gather_nd},
  {shape_rule::identity, shapes::all_like<0>},
  {shape_rule::like_first, shapes::all_like<0>},
  {shape_rule::like_second, shapes::all_like<1>},
  {shape_rule::list_from_tensor, shapes::all_like<0>},
  {shape_rule::list_item, shapes::tensor_of_list<2, false>},
  {shape_rule::list_reserve, shapes::list_of_tensors},
  {shape_rule::list_stack, shapes::tensor_of_list<1, true>},
  {shape_rule::lstm, shapes::all_like<1>},
  {shape_rule::lstm_grad, shapes::lstm_grad},
  {shape_rule::lu, shapes::lu},
  {shape_rule::matmul, shapes::product<1, elements::unknown>},
  {shape_rule::matrix_diag, shapes::matrix_of_diagonals},
  {shape_rule::matrix_diag_part, shapes::diagonals_of_matrix},
  {shape_rule::merge, shapes::merge},
  {shape_rule::one_hot, shapes::one_hot},
  {shape_rule::pack, shapes::pack},
  {shape_rule::pad, shapes::pad},
  {shape_rule::patches, shapes::patches},
  {shape_rule::pool, shapes::pool<false>},
  {shape_rule::qr, shapes::qr},
  {shape_rule::range, shapes::range},
  {shape_rule::rank, shapes::scalar},
  {shape_rule::read_variable, shapes::all_like<0>},
  {shape_rule::real_spectrum, shapes::real_spectrum},
  {shape_rule::reduce, shapes::reduction<true>},
  {shape_rule::reference, shapes::all_like<0>},
  {shape_rule::reshape, shapes::reshape},
  {shape_rule::resize, shapes::resized_images},
  {shape_rule::resource_gather, shapes::gather},
  {shape_rule::scalar, shapes::scalar},
  {shape_rule::segment_sum, shapes::numbered_sums},
  {shape_rule::segments, shapes::sums<1>},
  {shape_rule::select, shapes::all_like<1>},
  {shape_rule::shape, shapes::shape},
  {shape_rule::shape_n, shapes::shape},
  {shape_rule::size, shapes::scalar},
  {shape_rule::slice, shapes::sized_slice},
  {shape_rule::solve, shapes::product<1, elements::unknown>},
  {shape_rule::space_to_batch, shapes::batch_of_blocks<true>},
  {shape_rule::space_to_depth, shapes::channels_of_blocks<true>},
  {shape_rule::sparse_segments, shapes::sums<2>},
  {shape_rule::split, shapes::split},
  {shape_rule::split_v, shapes::split},
  {shape_rule::squeeze, shapes::squeeze},
  {shape_rule::strided_slice, shapes::strided_slice},
  {shape_rule::svd, shapes::svd},
  {shape_rule::switch_, shapes::all_like<0>},
  {shape_rule::tile, shapes::tile},
  {shape_rule::top_k, shapes::top_k},
  {shape_rule::transpose, shapes::transpose},
  {shape_rule::unique, shapes::chosen<false>},
  {shape_rule::unpack, shapes::without_axis},
  {shape_rule::where, shapes::chosen<true>},
  {shape_rule::without_last, shapes::without_last},
};

inline constexpr auto shape_rules_by_name = [] {
  std::array<void (*)(shape_call&), 256> all{};
  for (const auto& rule : named_shape_rules) {
    all[static_cast<std::size_t>(rule.name)] = rule.infer;
  }
  return all;
}();

} // namespace detail

/// Works out the outputs of a call. Rules that need the whole graph or file, such as that of a variable, say nothing.
inline void infer_shapes(shape_rule rule, shape_call& c) {
  if (auto* const infer = detail::shape_rules_by_name[static_cast<std::size_t>(rule)]) {
    infer(c);
  }
}

} // namespace weft
