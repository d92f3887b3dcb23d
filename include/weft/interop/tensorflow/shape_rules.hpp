// SPDX-License-Identifier: BSL-1.0
/// Shapes, types and small values of an op's outputs from those of its inputs.
#pragma once

#include "weft/interop/tensorflow/structure_rules.hpp"

#include <string>
#include <vector>

namespace weft::tensorflow::detail {

/// Applies the rule of one op. Inputs that are not known leave outputs unknown; nothing throws on inputs that do not
/// fit together, since a graph may never have run.
class shape_rules : public structure_rules {
public:
  using structure_rules::structure_rules;

  /// A proposal per port.
  std::vector<proposal> apply() {
    switch (family_.shape) {
    case shape_rule::like_first: all(dims(0)); break;
    case shape_rule::identity: all(dims(0)); break;
    case shape_rule::each: each(); break;
    case shape_rule::like_second: all(dims(1)); break;
    case shape_rule::broadcast: elementwise(); break;
    case shape_rule::select: all(dims(1)); break;
    case shape_rule::scalar: all(list{}); break;
    case shape_rule::channels: channels(); break;
    case shape_rule::cross_entropy: cross_entropy(); break;
    case shape_rule::reduce: reduce(); break;
    case shape_rule::arg_reduce: remove_axis(0, scalar(1).value_or(0)); break;
    case shape_rule::without_last: remove_axis(0, -1); break;
    case shape_rule::top_k: top_k(); break;
    case shape_rule::matmul: matmul(); break;
    case shape_rule::batch_matmul: batch_matmul(); break;
    case shape_rule::einsum: einsum(); break;
    case shape_rule::conv: window(true, false); break;
    case shape_rule::depthwise: window(true, true); break;
    case shape_rule::pool: window(false, false); break;
    case shape_rule::conv_input_grad: shape_from(0, 0); break;
    case shape_rule::conv_filter_grad: shape_from(1, 1); break;
    case shape_rule::batch_norm: batch_norm(); break;
    case shape_rule::batch_norm_grad: batch_norm(); break;
    case shape_rule::lstm: all(dims(1)); break;
    case shape_rule::lstm_grad: lstm_grad(); break;
    case shape_rule::reference: all(dims(0)); break;
    case shape_rule::read_variable: all(dims(0)); break;
    case shape_rule::resource_gather: gather(); break;
    case shape_rule::shape: shape(); break;
    case shape_rule::shape_n: shape_n(); break;
    case shape_rule::rank:
    case shape_rule::size: all(list{}); break;
    case shape_rule::reshape: reshape(); break;
    case shape_rule::fill: shape_from(0, in_.size()); break;
    case shape_rule::from_values: shape_from(0, 0); break;
    case shape_rule::from_second_values: shape_from(1, 0); break;
    case shape_rule::from_third_values: shape_from(2, in_.size()); break;
    case shape_rule::concat_first: concat(0, 1, gives_ranges(n_.op) ? 1 + in_.size() / 3 : in_.size()); break;
    case shape_rule::concat_last: concat(in_.empty() ? 0 : in_.size() - 1, 0, in_.empty() ? 0 : in_.size() - 1); break;
    case shape_rule::pack: pack(); break;
    case shape_rule::unpack: remove_axis(0, integer_attribute(n_, "axis")); break;
    case shape_rule::split: split(); break;
    case shape_rule::split_v: split_v(); break;
    case shape_rule::slice: slice(); break;
    case shape_rule::strided_slice: strided_slice(); break;
    case shape_rule::transpose: transpose(); break;
    case shape_rule::gather: gather(); break;
    case shape_rule::gather_nd: gather_nd(); break;
    case shape_rule::tile: tile(); break;
    case shape_rule::expand_dims: expand_dims(); break;
    case shape_rule::squeeze: squeeze(); break;
    case shape_rule::pad: pad(); break;
    case shape_rule::one_hot: one_hot(); break;
    case shape_rule::range: range(); break;
    case shape_rule::broadcast_args: all(list{-1}); break;
    case shape_rule::concat_offset: all(dims(1)); break;
    case shape_rule::segment_sum: segment_sum(); break;
    case shape_rule::resize: resize(); break;
    case shape_rule::switch_: all(dims(0)); break;
    case shape_rule::merge: merge(); break;
    case shape_rule::dequeue: dequeue(); break;
    case shape_rule::space_to_batch: batch_of_blocks(true); break;
    case shape_rule::batch_to_space: batch_of_blocks(false); break;
    case shape_rule::space_to_depth: channels_of_blocks(true); break;
    case shape_rule::depth_to_space: channels_of_blocks(false); break;
    case shape_rule::patches: patches(false); break;
    case shape_rule::dilation: patches(true); break;
    case shape_rule::segments: segments(1); break;
    case shape_rule::sparse_segments: segments(2); break;
    case shape_rule::where: chosen_rows(rank_of(0)); break;
    case shape_rule::unique: chosen_rows(-1); break;
    case shape_rule::matrix_diag: matrix_of_diagonals(); break;
    case shape_rule::matrix_diag_part: diagonals_of_matrix(); break;
    case shape_rule::diag: diagonal(false); break;
    case shape_rule::diag_part: diagonal(true); break;
    case shape_rule::svd:
    case shape_rule::qr:
    case shape_rule::eigen:
    case shape_rule::lu:
    case shape_rule::determinant: matrix_parts(); break;
    case shape_rule::solve: solve(); break;
    case shape_rule::real_spectrum: real_spectrum(n_.op.starts_with("I")); break;
    case shape_rule::list_from_tensor: list_from_tensor(); break;
    case shape_rule::list_reserve: list_reserve(); break;
    case shape_rule::list_item: list_elements(2, false); break;
    case shape_rule::list_stack: list_elements(1, true); break;
    case shape_rule::crop_and_resize: crop_and_resize(); break;
    case shape_rule::block_lstm: all_steps(); break;
    case shape_rule::iterator: listed("output_shapes", std::nullopt); break;
    default: break; // found by whoever knows the whole graph
    }
    for (std::size_t i = 0; gives_ranges(n_.op) && i < ports_.size(); ++i) {
      out_[i] = ports_[i] > 0 || n_.op.starts_with("RequantizationRange") ? proposal{list{}} : std::move(out_[i]);
    }
    for (auto& o : out_) {
      o.at_most = at_most_;
    }
    return std::move(out_);
  }

private:
  void elementwise() {
    partial_shape shape = dims(0);
    for (std::size_t i = 1; shape && i < in_.size(); ++i) {
      const auto other = dims(i);
      shape = other ? broadcast(*shape, *other) : std::nullopt;
    }
    all(shape);
  }

  void channels() {
    if (const auto d = dims(0); d && !d->empty()) {
      const bool first = text_attribute(n_, "data_format").starts_with("NC");
      all(list{(*d)[first && d->size() > 2 ? 1 : d->size() - 1]});
    }
  }
  void cross_entropy() {
    if (const auto d = dims(0); d && !d->empty()) {
      set(0, list{d->front()});
      set(1, d);
    }
  }
  void top_k() {
    if (auto d = dims(0); d && !d->empty()) {
      d->back() = scalar(1).value_or(integer_attribute(n_, "k", -1));
      all(d);
    }
  }

  void reduce() {
    const auto d = dims(0);
    const auto* const axes = values(1);
    if (!d || axes == nullptr) {
      return;
    }
    std::vector<bool> gone(d->size(), false);
    for (const auto a : *axes) {
      if (const auto at = axis(a, d->size())) {
        gone[*at] = true;
      }
    }
    const bool keep = bool_attribute(n_, "keep_dims") || bool_attribute(n_, "keepdims");
    list shape;
    for (std::size_t i = 0; i < d->size(); ++i) {
      if (!gone[i] || keep) {
        shape.push_back(gone[i] ? 1 : (*d)[i]);
      }
    }
    set(0, std::move(shape));
  }

  void matmul() {
    const auto a = dims(0);
    const auto b = dims(1);
    if (a && b && a->size() == 2 && b->size() == 2) {
      set(0, list{(*a)[bool_attribute(n_, "transpose_a") ? 1 : 0], (*b)[bool_attribute(n_, "transpose_b") ? 0 : 1]});
    }
  }
  void batch_matmul() {
    set_product(bool_attribute(n_, "adj_x"), bool_attribute(n_, "adj_y"));
  }
  /// Labels are single letters; what an ellipsis stands for is broadcast.
  void einsum() {
    const auto equation = text_attribute(n_, "equation");
    const auto arrow = equation.find("->");
    const auto terms = io::split(equation.substr(0, arrow), ',');
    if (arrow == equation.npos || terms.size() != in_.size()) {
      return;
    }
    list size(128, -1);
    std::size_t unnamed = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const auto d = dims(i);
      const auto labels = d ? einsum_labels(terms[i], d->size()) : std::nullopt;
      const bool open = terms[i].find("...") != terms[i].npos;
      if (open && !labels) {
        return; // how many extents come out is not known
      }
      unnamed = open ? std::max(unnamed, labels->size() + 3 - terms[i].size()) : unnamed;
      for (std::size_t k = 0; labels && k < labels->size(); ++k) {
        auto& s = size[static_cast<unsigned char>((*labels)[k]) & 127];
        s = s == -1 || s == 1 ? (*d)[k] : s;
      }
    }
    const auto result = equation.substr(arrow + 2);
    const bool open = result.find("...") != result.npos;
    const auto labels = einsum_labels(result, open ? result.size() - 3 + unnamed : result.size());
    list shape;
    for (std::size_t k = 0; labels && k < labels->size() && k <= max_axes; ++k) {
      shape.push_back(size[static_cast<unsigned char>((*labels)[k]) & 127]);
    }
    if (labels && shape.size() <= max_axes) {
      set(0, std::move(shape));
    }
  }

  /// A window that slides over all extents but batch and channels: a convolution (the kernel's last extent gives the
  /// channels; times those of the image if it works on each alone) or pooling.
  void window(bool convolves, bool each_channel) {
    const auto x = dims(0);
    const auto k = convolves ? dims(1) : integers_attribute(n_, "ksize");
    if (!x || !k || x->size() < 3 || k->size() != x->size()) {
      return;
    }
    const bool channels_first = text_attribute(n_, "data_format").starts_with("NC");
    const auto strides = integers_attribute(n_, "strides");
    const auto dilations = integers_attribute(n_, "dilations");
    const auto padding = text_attribute(n_, "padding");
    const auto explicit_pads = integers_attribute(n_, "explicit_paddings");
    auto shape = *x;
    for (std::size_t i = 0; i + 2 < x->size(); ++i) {
      const auto at = i + (channels_first ? 2 : 1);
      const auto stride = std::max<std::int64_t>(1, at < strides.size() ? strides[at] : 1);
      const auto dilation = std::max<std::int64_t>(1, at < dilations.size() ? dilations[at] : 1);
      const auto width = std::clamp<std::int64_t>((*k)[convolves ? i : at], 1, 1 << 30);
      const auto reach = (width - 1) * std::min<std::int64_t>(dilation, 1 << 30) + 1;
      auto extent = std::min<std::int64_t>((*x)[at], std::int64_t{1} << 60);
      if (padding == "EXPLICIT" && 2 * at + 1 < explicit_pads.size()) {
        extent += std::clamp<std::int64_t>(explicit_pads[2 * at], 0, 1 << 30) +
                  std::clamp<std::int64_t>(explicit_pads[2 * at + 1], 0, 1 << 30);
      }
      shape[at] =
        padding == "SAME" ? (extent - 1) / stride + 1 : std::max<std::int64_t>(0, extent - reach) / stride + 1;
    }
    if (convolves) {
      const auto at = channels_first ? 1 : x->size() - 1;
      const auto c = std::min<std::int64_t>((*x)[at], 1 << 30);
      shape[at] = each_channel ? c * std::clamp<std::int64_t>(k->back(), 0, 1 << 30) : k->back();
    }
    all(shape);
  }

  /// x and vectors over its channels, or the gradients of that.
  void batch_norm() {
    const bool gradient = family_.shape == shape_rule::batch_norm_grad;
    all(dims(gradient ? 2 : 1));
    set(0, dims(0));
  }
  void lstm_grad() {
    set(0, dims(1));
    if (auto d = dims(1); d && d->size() == 2) {
      d->back() = std::min<std::int64_t>(d->back(), std::int64_t{1} << 60) * 4;
      set(1, d);
    }
    for (std::uint32_t i = 2; i < 5; ++i) {
      set(i, dims(i + 2));
    }
  }
};

} // namespace weft::tensorflow::detail
