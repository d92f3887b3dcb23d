// SPDX-License-Identifier: BSL-1.0
/// Ops of a network that move data without arithmetic: reshape, transpose, concatenate, split, stack, gather.
#pragma once

#include "weft/workload/nn/ops.hpp"

namespace weft::nn {

/// The same elements in another shape. Throws `value_error` if the number of elements differs.
inline tensor reshape(const tensor& x, extents dims) {
  detail::require(element_count(dims) == x.elements(), "Reshape",
                  detail::text(x.dims()) + " and " + detail::text(dims) + " differ in their number of elements");
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    const auto shape = detail::shape_constant(call.net, call.input());
    return {detail::data_op("Reshape", {call.dy[0], shape}, call.input().dims())};
  };
  const auto shape = x.net().constant("Reshape/shape", {dims.size() + 1});
  return detail::data_op("Reshape", {x, shape}, std::move(dims), gradient);
}

/// Extent i of the result is extent `permutation[i]` of x.
inline tensor transpose(const tensor& x, std::vector<std::size_t> permutation) {
  extents dims;
  std::vector<std::size_t> inverse(permutation.size(), 0);
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    dims.push_back(x.dims().at(permutation[i]));
    inverse.at(permutation[i]) = i;
  }
  const auto gradient = [inverse](const gradient_call& call) -> std::vector<tensor> {
    return {transpose(call.dy[0], inverse)};
  };
  const auto axes = x.net().constant("transpose/perm", {permutation.size()});
  std::string from, to;
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    from += static_cast<char>('a' + i);
    to += static_cast<char>('a' + permutation[i]);
  }
  return x.net().add_tensor({.type = "Transpose",
                             .inputs = {x, axes},
                             .outputs = {{std::move(dims), x.type().element_bytes}},
                             .gradient = gradient,
                             .name = "transpose",
                             .axes = from + "->" + to});
}

/// Joins tensors along an axis. Throws `value_error` if the other extents differ.
inline tensor concat(const std::vector<tensor>& parts, std::size_t axis) {
  auto dims = parts.front().dims();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto other = parts[i].dims();
    detail::require(other.size() == dims.size() && axis < dims.size(), "ConcatV2", "parts need the same rank");
    dims[axis] += other[axis];
    other[axis] = dims[axis];
    detail::require(other == dims, "ConcatV2", "parts may differ in extent " + std::to_string(axis) + " only");
  }
  const auto gradient = [n = parts.size()](const gradient_call& call) -> std::vector<tensor> {
    std::vector<tensor> sizes, offsets;
    if (call.net.bookkeeping()) {
      const auto rank = call.input().dims().size();
      const auto axis_number = call.net.constant("mod");
      std::vector<tensor> inputs{axis_number};
      for (std::size_t i = 0; i < n; ++i) {
        sizes.push_back(detail::shape_constant(call.net, call.input(i)));
        inputs.push_back(sizes.back());
      }
      const op_id v =
        call.net.add({.type = "ConcatOffset", .inputs = inputs, .outputs = std::vector<tensor_type>(n, {{rank}, 4})});
      for (std::uint32_t i = 0; i < n; ++i) {
        offsets.push_back({call.net, v, i});
      }
    }
    std::vector<tensor> slices(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (call.wanted[i]) {
        slices[i] = detail::data_op(
          "Slice", {call.dy[0], sizes.empty() ? tensor{} : offsets[i], sizes.empty() ? tensor{} : sizes[i]},
          call.input(i).dims());
      }
    }
    return slices;
  };
  auto inputs = parts;
  inputs.push_back(parts.front().net().constant("concat/axis"));
  return detail::data_op("ConcatV2", std::move(inputs), dims, gradient, "concat");
}

namespace detail {

/// The gradients of an op's outputs, with zeros where none arrived.
inline std::vector<tensor> complete(const gradient_call& call) {
  std::vector<tensor> gradients(call.dy.begin(), call.dy.end());
  for (std::uint32_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) {
      gradients[i] = call.net.data("Const", "zeros_like", call.output(i).type());
    }
  }
  return gradients;
}

inline std::vector<tensor> outputs_of(network& net, op_id v) {
  std::vector<tensor> all;
  for (std::uint32_t i = 0; i < net[v].op.outputs.size(); ++i) {
    all.push_back({net, v, i});
  }
  return all;
}

} // namespace detail

/// Cuts x into equal parts along an axis. Throws `value_error` if it does not divide.
inline std::vector<tensor> split(const tensor& x, std::size_t parts, std::size_t axis) {
  auto dims = x.dims();
  detail::require(axis < dims.size() && parts > 0 && dims[axis] % parts == 0, "Split",
                  detail::text(dims) + " does not divide into " + std::to_string(parts) + " parts");
  dims[axis] /= parts;
  const auto gradient = [axis](const gradient_call& call) -> std::vector<tensor> {
    return {concat(detail::complete(call), axis)};
  };
  const auto axis_number = x.net().constant("split/split_dim");
  const op_id v = x.net().add({.type = "Split",
                               .inputs = {x, axis_number},
                               .outputs = std::vector<tensor_type>(parts, {dims, x.type().element_bytes}),
                               .gradient = gradient,
                               .name = "split"});
  return detail::outputs_of(x.net(), v);
}

inline std::vector<tensor> unstack(const tensor& x, std::size_t axis);

/// Joins tensors of one shape along a new axis.
inline tensor stack(const std::vector<tensor>& parts, std::size_t axis = 0) {
  auto dims = parts.front().dims();
  for (const auto& part : parts) {
    detail::require(part.dims() == dims && axis <= dims.size(), "Pack", "all parts need the same shape");
  }
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), parts.size());
  const auto gradient = [axis](const gradient_call& call) { return unstack(call.dy[0], axis); };
  return detail::data_op("Pack", parts, dims, gradient, "stack");
}

/// The slices of x along an axis, without that axis.
inline std::vector<tensor> unstack(const tensor& x, std::size_t axis) {
  auto dims = x.dims();
  detail::require(axis < dims.size(), "Unpack", detail::text(dims) + " has no axis " + std::to_string(axis));
  const auto parts = dims[axis];
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto gradient = [axis](const gradient_call& call) -> std::vector<tensor> {
    return {stack(detail::complete(call), axis)};
  };
  const op_id v = x.net().add({.type = "Unpack",
                               .inputs = {x},
                               .outputs = std::vector<tensor_type>(parts, {dims, x.type().element_bytes}),
                               .gradient = gradient,
                               .name = "unstack"});
  return detail::outputs_of(x.net(), v);
}

inline tensor gather(const tensor& x, const tensor& indices);

/// The rows of x (along its outermost extents, as many as `segments` has) added up by the segment that each belongs to,
/// from 0 to count - 1: 1 FLOP per element of x.
inline tensor unsorted_segment_sum(const tensor& x, const tensor& segments, std::uint64_t count) {
  const auto rank = static_cast<std::ptrdiff_t>(segments.dims().size());
  const bool fits = x.dims().size() >= segments.dims().size() &&
                    std::equal(segments.dims().begin(), segments.dims().end(), x.dims().begin());
  detail::require(fits, "UnsortedSegmentSum", "each row needs a segment");
  extents dims{count};
  dims.insert(dims.end(), x.dims().begin() + rank, x.dims().end());
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    return {gather(call.dy[0], call.input(1))};
  };
  const auto number = x.net().constant("strided_slice");
  return x.net().add_tensor({.type = "UnsortedSegmentSum",
                             .inputs = {x, segments, number},
                             .outputs = {{std::move(dims)}},
                             .work = detail::flop(x.elements()),
                             .gradient = gradient});
}

/// The rows of x (along its outermost extent) that a tensor of indices names. The gradient adds rows up.
inline tensor gather(const tensor& x, const tensor& indices) {
  auto dims = indices.dims();
  dims.insert(dims.end(), x.dims().begin() + 1, x.dims().end());
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    return {unsorted_segment_sum(call.dy[0], call.input(1), call.input().dims()[0])};
  };
  return detail::data_op("Gather", {x, indices}, dims, gradient);
}

} // namespace weft::nn
