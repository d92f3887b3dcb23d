// SPDX-License-Identifier: BSL-1.0
/// Normalised rows, of a tensor and of a sum that layers add to.
///
/// FLOP: layer normalisation 8 per element and 11 for its gradient, as batch normalisation; RMS normalisation 4 (square
/// and mean 2, scale 2), its gradient 9 (two reductions 2 + 3, the combination 4); 1 for a sum before it.
#pragma once

#include "weft/workload/nn/layers.hpp"

#include <string>
#include <utility>
#include <vector>

namespace weft::nn {

namespace detail {
/// A way to normalise rows: the type of the op, its FLOP per element, and whether it adds an offset.
struct row_norm_rule {
  std::string type;
  double work = 0;
  double gradient_work = 0;
  bool has_offset = false;
};
inline const row_norm_rule layer_norm_rule{"LayerNorm", 8, 11, true};
inline const row_norm_rule rms_norm_rule{"RMSNorm", 4, 9, false};

inline std::vector<tensor> row_norm_parameters(const row_norm_rule& rule, network& net, std::uint64_t width) {
  std::vector<tensor> parameters{net.make_variable("gamma", {width})};
  if (rule.has_offset) {
    parameters.push_back(net.make_variable("beta", {width}));
  }
  return parameters;
}

/// Normalises the rows along the innermost extent; `parameters` are scale and, if there are two, offset. A number per
/// statistic and row goes to the gradient, which makes those of x and of all parameters.
inline tensor row_norm(const row_norm_rule& rule, const tensor& x) {
  require(!x.dims().empty(), rule.type.c_str(), "needs an extent to normalise along");
  std::vector<tensor> inputs{x};
  std::vector<tensor_type> outputs{{x.dims()}};
  for (const auto& parameter : row_norm_parameters(rule, x.net(), x.dims().back())) {
    inputs.push_back(parameter);
    outputs.push_back({{x.elements() / x.dims().back()}});
  }
  const auto gradient = [rule](const gradient_call& call) -> std::vector<tensor> {
    op_spec o{.type = rule.type + "Grad",
              .inputs = {call.dy[0], call.input(0), call.input(1)},
              .outputs = {},
              .work = rule.gradient_work * flop(call.input(0).elements())};
    const auto& forward = call.net[call.op].op;
    for (std::uint32_t i = 0; i < forward.inputs.size(); ++i) {
      o.outputs.push_back(forward.inputs[i].type());
      if (i > 0) {
        o.inputs.push_back(call.output(i));
      }
    }
    return outputs_of(call.net, call.net.add(std::move(o)));
  };
  return x.net().add_tensor({.type = rule.type,
                             .inputs = std::move(inputs),
                             .outputs = std::move(outputs),
                             .work = rule.work * flop(x.elements()),
                             .gradient = gradient});
}
} // namespace detail

/// Each row along the innermost extent, less its mean and divided by its deviation, with trainable scale and offset.
/// Source: Ba, Kiros, Hinton, *Layer Normalization*, arXiv 1607.06450.
inline tensor layer_norm(const std::string& name, const tensor& x) {
  const auto scope = x.net().scope(name);
  return detail::row_norm(detail::layer_norm_rule, x);
}

/// Each row divided by the root of the mean of its squares, with a trainable scale.
/// Source: Zhang, Sennrich, *Root Mean Square Layer Normalization*, arXiv 1910.07467.
inline tensor rms_norm(const std::string& name, const tensor& x) {
  const auto scope = x.net().scope(name);
  return detail::row_norm(detail::rms_norm_rule, x);
}

/// A sum of two tensors, and its normalised rows.
struct normalised_sum {
  tensor normalised;
  tensor sum;
};

namespace detail {

/// The rows of x + y, normalised, in one op that also gives the sum; of a network that is trained with the statistics
/// of the rows for its gradient, which makes one gradient of the sum for x and y, or if part of y is dropped (the mask
/// is made again from a seed), one for each.
inline normalised_sum add_row_norm(const row_norm_rule& rule, const tensor& x, const tensor& y, bool drops) {
  auto& net = x.net();
  require(x.dims() == y.dims() && x.dims().size() == 2, "normalised sum", "adds matrices of one shape");
  const std::size_t count = rule.has_offset ? 2 : 1; // of parameters
  op_spec o{.type = "Add" + rule.type,
            .inputs = {x, y},
            .outputs = {{x.dims()}, {x.dims()}},
            .work = (rule.work + 1 + (drops ? 3 : 0)) * flop(x.elements()),
            .axes = std::string{"r.,r."} + (count == 2 ? ",.,.->r.,r." : ",.->r.,r."),
            .attributes = {.drops = drops}};
  for (const auto& parameter : row_norm_parameters(rule, net, x.dims()[1])) {
    o.inputs.push_back(parameter);
  }
  if (net.training()) {
    o.axes += count == 2 ? ",r,r" : ",r";
    o.outputs.insert(o.outputs.end(), count, {{x.dims()[0]}});
    o.gradient = [rule, count, drops](const gradient_call& call) -> std::vector<tensor> {
      const auto sum = call.output(1), scale = call.input(2);
      op_spec g{.type = "Add" + rule.type + "Grad",
                .inputs = {call.dy[0] ? call.dy[0] : call.dy[1]},
                .outputs = {sum.type()},
                .work = (rule.gradient_work + 1 + (drops ? 1 : 0)) * flop(sum.elements()),
                .axes = "r.",
                .attributes = {.drops = drops}};
      if (call.dy[0] && call.dy[1]) {
        g.inputs.push_back(call.dy[1]);
        g.axes += ",r.";
      }
      g.inputs.insert(g.inputs.end(), {sum, scale});
      g.axes += ",r.,.";
      for (std::uint32_t i = 0; i < count; ++i) {
        g.inputs.push_back(call.output(2 + i));
        g.axes += ",r";
      }
      g.axes += drops ? "->r.,r." : "->r.";
      g.outputs.insert(g.outputs.end(), drops ? 1 : 0, sum.type());
      for (std::size_t i = 0; i < count; ++i) {
        g.outputs.push_back(scale.type());
        g.axes += ",.";
      }
      auto made = outputs_of(call.net, call.net.add(std::move(g)));
      if (!drops) {
        made.insert(made.begin(), made.front());
      }
      return made;
    };
  }
  const op_id v = net.add(std::move(o));
  return {{net, v, 0}, {net, v, 1}};
}

} // namespace detail

/// `rms_norm` of x + y as runtimes do it that only infer: one op, which also gives the sum.
inline normalised_sum add_rms_norm(const std::string& name, const tensor& x, const tensor& y) {
  const auto scope = x.net().scope(name);
  return detail::add_row_norm(detail::rms_norm_rule, x, y, false);
}

/// A sum that parts of a network add to, and read normalised. An addition and the normalisation after it are one op
/// where kernels are compiled, or if it `joins` them.
class residual_sum {
public:
  explicit residual_sum(const tensor& x, bool joins = false)
      : x_{x}, joins_{joins || x.net().kernels() == kernel_set::compiled} {}

  /// Adds y, a random part of which is zeroed before if `drops`.
  void add(const tensor& y, bool drops = false) {
    if (added_) { // of two in a row, only the second is joined
      x_ = x_ + (drops_ ? dropout("dropout", added_) : added_);
      added_ = {};
    }
    if (joins_) {
      added_ = y;
      drops_ = drops && x_.net().training();
    } else {
      x_ = x_ + (drops ? dropout("dropout", y) : y);
    }
  }
  tensor layer_norm(const std::string& name) { return normalised(detail::layer_norm_rule, name); }
  tensor rms_norm(const std::string& name) { return normalised(detail::rms_norm_rule, name); }

private:
  tensor normalised(const detail::row_norm_rule& rule, const std::string& name) {
    const auto scope = x_.net().scope(name);
    if (!added_) {
      return detail::row_norm(rule, x_);
    }
    const auto both = detail::add_row_norm(rule, x_, added_, drops_);
    added_ = {};
    x_ = both.sum;
    return both.normalised;
  }

  tensor x_;
  bool joins_;
  tensor added_ = {}; ///< not yet in x_
  bool drops_ = false;
};

} // namespace weft::nn
