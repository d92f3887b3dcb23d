// SPDX-License-Identifier: BSL-1.0
// What kernels compute of parts of an op along one of its axes is, put together, what they compute of the whole.
#include "kernels/factory.hpp"
#include "kernels/transformers.hpp"

#include "small_networks.hpp"

#include "weft/ops/axes.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernels_parts_of_ops_test {

using namespace test;
using kernels::operand;
using weft::nn::attention_kernels;
using weft::nn::kernel_set;

/// A tensor with numbers of its own.
struct array {
  extents dims;
  numbers values;

  operand as_operand() { return {dims, values.data()}; }
};

/// The dimension of an operand that has the axis.
std::optional<std::size_t> dimension(const std::vector<std::uint32_t>& axes, std::uint32_t axis) {
  const auto found = std::find(axes.begin(), axes.end(), axis);
  return found == axes.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - axes.begin()));
}

/// One half along a dimension, or the whole.
array half(const array& whole, std::optional<std::size_t> d, std::size_t which) {
  if (!d) {
    return whole;
  }
  array part{whole.dims, {}};
  part.dims[*d] /= 2;
  std::size_t length = 1;
  for (std::size_t i = *d; i < part.dims.size(); ++i) {
    length *= part.dims[i];
  }
  for (std::size_t at = which * length; at < whole.values.size(); at += 2 * length) {
    const auto from = whole.values.begin() + static_cast<std::ptrdiff_t>(at);
    part.values.insert(part.values.end(), from, from + static_cast<std::ptrdiff_t>(length));
  }
  return part;
}

/// An op of a step that was run, with copies of what it reads.
class op_of_step {
public:
  op_of_step(const kernels::training_net& net, kernels::bound_step& step, weft::op_id v)
      : net_{*net.net}, op_{net.step.origin[v]}, spec_{net_[op_].op} {
    using extents = weft::ops::call::extents;
    weft::ops::call call{.type = spec_.type};
    for (const auto& t : spec_.inputs) {
      const auto values = step.values(t);
      in_.push_back({t.dims(), {values.begin(), values.end()}});
      call.inputs.emplace_back(extents(t.dims().begin(), t.dims().end()));
    }
    for (const auto& t : spec_.outputs) {
      call.outputs.emplace_back(extents(t.dims.begin(), t.dims.end()));
    }
    if (!spec_.axes.empty()) {
      call.texts["axes"] = spec_.axes;
    }
    axes_ = weft::ops::axes_of(call);
  }

  const std::string& type() const { return spec_.type; }

  /// Checks all axes that have halves.
  void check() {
    const auto whole = run(in_, weft::none);
    for (std::uint32_t axis = 0; axis < axes_.extents.size(); ++axis) {
      if (axes_.extents[axis] % 2 == 0 && !needs_places(axis)) {
        CAPTURE(axis);
        check(axis, whole);
      }
    }
  }

private:
  /// Of queries that ask no later keys, a part has to know its place.
  bool needs_places(std::uint32_t axis) const {
    const auto of_queries = dimension(axes_.inputs[0], axis);
    return spec_.attributes.causal && ((type() == "MaskedSoftmax" && of_queries == 3u) ||
                                       (type().starts_with("FusedAttention") && of_queries == 1u));
  }

  void check(std::uint32_t axis, const std::vector<array>& whole) {
    std::vector<std::vector<array>> made;
    for (const std::size_t which : {0u, 1u}) {
      std::vector<array> parts;
      for (std::size_t i = 0; i < in_.size(); ++i) {
        parts.push_back(half(in_[i], dimension(axes_.inputs[i], axis), which));
      }
      const bool adds_bias = type() == "Gemm" || (type() == "ProjectHeads" && parts.size() > 2);
      if (which == 1 && adds_bias && dimension(axes_.inputs[0], axis) == 1u) {
        std::fill(parts[2].values.begin(), parts[2].values.end(), 0.0f); // one term has the bias
      }
      made.push_back(run(parts, axis));
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CAPTURE(i);
      if (const auto d = dimension(axes_.outputs[i], axis)) {
        CHECK(difference(made[0][i].values, half(whole[i], d, 0).values) < rounding);
        CHECK(difference(made[1][i].values, half(whole[i], d, 1).values) < rounding);
      } else { // terms of a sum
        const auto &a = made[0][i].values, &b = made[1][i].values;
        CHECK(difference(table(a.size(), [&](auto at) { return a[at] + b[at]; }), whole[i].values) < rounding);
      }
    }
  }

  /// The outputs of a half along the axis, or of the whole.
  std::vector<array> run(std::vector<array> in, std::uint32_t axis) const {
    kernels::op_call call{.net = &net_, .op = op_, .in = {}, .out = {}, .kept = {}};
    call.forward = spec_.name.starts_with("gradients/") ? op_ : weft::none; // a rotation has to know that it turns back
    std::vector<array> out;
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
      auto dims = spec_.outputs[i].dims;
      if (const auto d = axis == weft::none ? std::nullopt : dimension(axes_.outputs[i], axis)) {
        dims[*d] /= 2;
      }
      out.push_back({dims, numbers(weft::nn::element_count(dims))});
    }
    for (auto& x : in) {
      call.in.push_back(x.as_operand());
    }
    for (auto& y : out) {
      call.out.push_back(y.as_operand());
    }
    kernels::make_kernel(call, 1).body();
    return out;
  }

  const weft::nn::network& net_;
  weft::op_id op_;
  const weft::nn::op_spec& spec_;
  std::vector<array> in_;
  weft::ops::axes axes_;
};

TEST_CASE("parts of ops: halves along each axis make the whole, of ops that join others") {
  const std::set<std::string> joined{
    "Gemm", "ProjectHeads", "ProjectHeadsGrad", "Einsum", "MaskedSoftmax", "SoftmaxGrad", "FusedAttention",
    "FusedAttentionGrad", "AddLayerNorm", "AddLayerNormGrad", "AddRMSNorm", "AddRMSNormGrad", "BatchNormRelu",
    "BatchNormReluGrad", "CrossEntropyGrad",
    "SoftmaxCrossEntropyGrad", "SparseSoftmaxCrossEntropyWithLogits", "RotaryEmbedding",
    "BiasAddGrad", "SwiGLU", "SwiGLUGrad", "BatchMatMulV2", "LayerNorm", "LayerNormGrad", "RMSNorm", "RMSNormGrad"};
  std::set<std::string> seen;
  const auto check_ops = [&](const kernels::training_net& net) {
    CAPTURE(net.name);
    auto step = net.bind();
    run_in_order(step);
    for (const auto v : weft::ids(net.step.graph.num_ops())) {
      if (joined.contains(std::string{net.step.graph.type(v)})) {
        op_of_step op{net, step, v};
        CAPTURE(net.step.graph.name(v));
        seen.insert(op.type());
        op.check();
      }
    }
  };
  auto small_gpt2 = kernels::small_gpt2;
  small_gpt2.layers = 1;
  auto small_bert = kernels::small_bert;
  small_bert.layers = 1;
  auto small_llama = kernels::small_llama;
  small_llama.layers = 1;
  for (const auto kernels : {kernel_set::separate, kernel_set::framework, kernel_set::compiled}) {
    for (const auto attention : {attention_kernels::separate, attention_kernels::fused}) {
      const weft::nn::network_options lowering{.kernels = kernels, .attention = attention};
      check_ops(kernels::gpt2(lowering, 2, small_gpt2));
      check_ops(kernels::bert(lowering, 2, small_bert));
      check_ops(kernels::llama(lowering, 2, small_llama));
    }
    check_ops(kernels::resnet_block_stack(
      {.batch = 4, .image = 8, .stages = 2, .blocks_per_stage = 1, .lowering = {.kernels = kernels}}));
  }
  CHECK(seen == joined);
}

} // namespace kernels_parts_of_ops_test
