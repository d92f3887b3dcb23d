// SPDX-License-Identifier: BSL-1.0
/// Slices that take a concatenation's gradient apart.
#pragma once

#include "kernels/data_movement.hpp"

namespace kernels {

namespace detail {

/// Whether any trained variable influences a tensor of the network's forward part.
inline bool depends_on_variables(const weft::nn::network& net, const weft::nn::tensor& t) {
  const auto& vars = net.variables();
  if (std::any_of(vars.begin(), vars.end(), [&](const auto& x) { return x.value == t; })) {
    return true;
  }
  const auto& op = net[t.op()].op;
  return op.gradient &&
         std::any_of(op.inputs.begin(), op.inputs.end(), [&](const auto& x) { return depends_on_variables(net, x); });
}

/// The tensors that the forward op joined: all inputs of a concatenation, x and h of an LSTM cell.
inline std::vector<weft::nn::tensor> joined_tensors(const op_call& call) {
  if (call.forward == weft::none) {
    throw unsupported_op(call, "only slices that belong to a gradient are known");
  }
  const auto& forward = (*call.net)[call.forward].op;
  return forward.type == "LSTMBlockCell" ? std::vector{forward.inputs[0], forward.inputs[2]} : forward.inputs;
}

/// The number of this slice among all slices of the same tensor, and how many there are.
struct slice_rank {
  std::size_t index = 0, count = 0;
};
inline slice_rank rank_of(const op_call& call) {
  const auto& net = *call.net;
  const auto& whole = net[call.op].op.inputs[0];
  slice_rank rank;
  for (const auto v : weft::ids(net.num_ops())) {
    if (net[v].op.type == "Slice" && net[v].op.inputs[0] == whole) {
      rank.index += v < call.op;
      ++rank.count;
    }
  }
  return rank;
}

/// Where in the whole the slice begins, along `axis`. The gradients are made in the order of the parts, but only of
/// parts that need one.
inline std::size_t slice_offset(const op_call& call, std::size_t axis) {
  const auto parts = joined_tensors(call);
  const auto rank = rank_of(call);
  std::size_t offset = 0, seen = 0;
  for (const auto& part : parts) {
    const bool has_slice = rank.count == parts.size() || depends_on_variables(*call.net, part);
    if (has_slice && seen++ == rank.index) {
      if (part.dims() != call.out[0].dims) {
        break;
      }
      return offset;
    }
    offset += part.dims()[axis];
  }
  throw unsupported_op(call, "it is not clear which part this is");
}

} // namespace detail

/// Slice(x) -> the part of x that belongs to one input of a concatenation.
inline std::function<void()> slice(const op_call& call, unsigned team) {
  const auto axis = detail::shorter_axis(call.out[0].dims, call.in[0].dims);
  return detail::join_or_cut(call.in[0], call.out, axis, detail::slice_offset(call, axis), true, team);
}

} // namespace kernels
