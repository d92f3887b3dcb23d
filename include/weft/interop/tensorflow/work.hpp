// SPDX-License-Identifier: BSL-1.0
/// How much an op computes, and the types of its outputs.
#pragma once

#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/tensor_info.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>

namespace weft::tensorflow::detail {

/// The data type of output `port`: fixed by the op, told by an attribute, that of the shape's source (`otherwise`), or
/// that of the first input.
inline data_type type_of_output(const node& n, const op_family* family, std::uint32_t port,
                                std::span<const tensor_info* const> inputs, data_type otherwise) {
  const auto told = [&](std::initializer_list<std::string_view> keys, data_type default_type) {
    for (const auto key : keys) {
      if (const auto type = type_attribute(n, key, port)) {
        return *type;
      }
    }
    return default_type;
  };
  const auto op = n.op;
  const auto first = inputs.empty() ? otherwise : value_type(inputs[0]->type);
  if (family != nullptr) {
    switch (family->shape) {
    case shape_rule::shape:
    case shape_rule::shape_n:
    case shape_rule::size: return told({"out_type"}, dt::int32);
    case shape_rule::rank: return dt::int32;
    case shape_rule::arg_reduce: return told({"output_type"}, dt::int64);
    case shape_rule::top_k: return port == 1 ? told({"index_type"}, dt::int32) : told({"T"}, first);
    case shape_rule::merge: return port == 1 ? dt::int32 : told({"T"}, first);
    case shape_rule::concat_offset:
    case shape_rule::broadcast_args: return told({"T"}, dt::int32);
    case shape_rule::range: return told({"Tidx"}, dt::int32);
    case shape_rule::fill: return told({"T"}, inputs.size() > 1 ? inputs[1]->type : dt::float32);
    case shape_rule::gather:
    case shape_rule::gather_nd: return told({"Tparams"}, first);
    case shape_rule::like_second: return dt::boolean;
    case shape_rule::from_values: return told({"dtype", "T"}, first);
    case shape_rule::constant: return told({"dtype"}, otherwise);
    case shape_rule::argument: return told({"T"}, otherwise);
    case shape_rule::variable:
    case shape_rule::handle: return dt::reference + value_type(told({"dtype"}, dt::float32));
    case shape_rule::reference: return dt::reference + value_type(told({"T"}, first));
    case shape_rule::read_variable: return value_type(told({"dtype"}, first));
    case shape_rule::call: return told({"Tout"}, otherwise);
    default: break;
    }
  }
  constexpr std::string_view predicates[] = {"Equal",      "NotEqual", "Greater", "GreaterEqual", "Less",
                                             "LessEqual",  "All",      "Any",     "LogicalAnd",   "LogicalOr",
                                             "LogicalNot", "IsFinite", "IsInf",   "IsNan",        "ApproximateEqual"};
  if (std::ranges::find(predicates, op) != std::end(predicates)) {
    return dt::boolean;
  }
  if (op == "Cast") {
    return told({"DstT"}, first);
  }
  return told({"T", "dtype", "output_types", "component_types", "Tout", "tensor_type", "out_type", "type"}, first);
}

/// FLOP of an op with these inputs and outputs, by the counts of ops.hpp; for ops that are not known 1 per element of
/// the first output, and none for those that run on CPUs only.
inline double work_of(const node& n, const op_family* family, std::span<const tensor_info* const> in,
                      std::span<const tensor_info> out) {
  const auto input = [&](std::size_t i) { return i < in.size() && in[i]->known ? elements(in[i]->dims) : 0; };
  const auto rank = [&](std::size_t i) { return i < in.size() && in[i]->known ? in[i]->dims.size() : 0; };
  const double output = out.empty() ? 0 : elements(out[0].dims);
  if (family == nullptr) {
    return only_on_cpu(n.op) || out.empty() || is_reference(out[0].type) ? 0 : output;
  }
  const double factor = family->factor;
  /// 2 FLOP for each weight of the kernel at each position of an image with the kernel's last extent as channels.
  const auto convolution = [](double image, const nn::extents& kernel) {
    const auto channels = kernel.empty() ? 1 : static_cast<double>(kernel.back());
    return channels > 0 ? 2 * image / channels * elements(kernel) : 0;
  };
  const auto spatial = [](const nn::extents& kernel) {
    double area = 1;
    for (std::size_t i = 0; i + 2 < kernel.size(); ++i) {
      area *= static_cast<double>(kernel[i]);
    }
    return area;
  };
  const auto window = [&] {
    double area = 1;
    for (const auto k : integers_attribute(n, "ksize")) {
      area *= static_cast<double>(std::max<std::int64_t>(k, 1));
    }
    return area;
  };
  /// The inputs that are images or kernels, not vectors with their sizes.
  const auto image = [&](std::size_t which) -> const tensor_info* {
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (rank(i) > 2 && which-- == 0) {
        return in[i];
      }
    }
    return nullptr;
  };
  switch (family->work) {
  case work_rule::none: return 0;
  case work_rule::call: // of a function that is not there
  case work_rule::per_output: return factor * output;
  case work_rule::per_input: return factor * input(0);
  case work_rule::reduction: return !in.empty() && !out.empty() && in[0]->dims == out[0].dims ? 0 : factor * input(0);
  case work_rule::top_k: // k is the last extent of what comes out
    return out.empty() || out[0].dims.empty() ? 0 : input(0) * static_cast<double>(out[0].dims.back());
  case work_rule::sum: return in.empty() ? 0 : static_cast<double>(in.size() - 1) * output;
  case work_rule::update: return factor * input(0);
  case work_rule::scatter_update: return factor * input(2);
  case work_rule::sparse_update: {
    double largest = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      largest = is_reference(in[i]->type) ? largest : std::max(largest, input(i));
    }
    return factor * largest;
  }
  case work_rule::matmul: // the inner extent is what is left of the first matrix
    return out.empty() || out[0].dims.empty() || out[0].dims[0] == 0
             ? 0
             : 2 * output * (input(0) / static_cast<double>(out[0].dims[0]));
  case work_rule::batch_matmul: {
    const auto r = rank(0);
    return r < 2 ? 0 : 2 * output * static_cast<double>(in[0]->dims[r - (bool_attribute(n, "adj_x") ? 2 : 1)]);
  }
  case work_rule::einsum: { // each label stands for a loop
    const auto equation = text_attribute(n, "equation");
    const auto terms = io::split(equation.substr(0, equation.find("->")), ',');
    std::array<double, 128> extent;
    extent.fill(1);
    for (std::size_t i = 0; i < terms.size() && i < in.size(); ++i) {
      const auto labels = einsum_labels(terms[i], rank(i));
      for (std::size_t k = 0; labels && k < labels->size(); ++k) {
        auto& e = extent[static_cast<unsigned char>((*labels)[k]) & 127];
        e = e == 1 ? static_cast<double>(in[i]->dims[k]) : e; // an extent of 1 is repeated
      }
    }
    const double loops = std::accumulate(extent.begin(), extent.end(), 1.0, std::multiplies{});
    return in.size() > 1 ? 2 * loops : 0;
  }
  case work_rule::conv: return rank(1) > 2 ? convolution(output, in[1]->dims) : 0;
  case work_rule::conv_input_grad: // kernel, gradient
    return image(1) != nullptr ? convolution(elements(image(1)->dims), image(0)->dims) : 0;
  case work_rule::conv_filter_grad: // image, gradient
    return image(1) != nullptr && !out.empty() ? convolution(elements(image(1)->dims), out[0].dims) : 0;
  case work_rule::depthwise: return rank(1) > 2 ? 2 * output * spatial(in[1]->dims) : 0;
  case work_rule::depthwise_input_grad:
    return image(1) != nullptr ? 2 * elements(image(1)->dims) * spatial(image(0)->dims) : 0;
  case work_rule::depthwise_filter_grad:
    return image(1) != nullptr && !out.empty() ? 2 * elements(image(1)->dims) * spatial(out[0].dims) : 0;
  case work_rule::pool: return output * window();
  case work_rule::max_pool_grad: return input(2) * window();
  case work_rule::avg_pool_grad: return (image(0) != nullptr ? elements(image(0)->dims) : 0) * window();
  case work_rule::lstm:
    return rank(0) == 2 ? 2 * static_cast<double>(in[0]->dims[0]) * input(3) + factor * input(1) : 0;
  case work_rule::lstm_grad: return factor * input(1);
  }
  return 0;
}

} // namespace weft::tensorflow::detail
