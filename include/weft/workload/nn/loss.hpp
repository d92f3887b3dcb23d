// SPDX-License-Identifier: BSL-1.0
/// Losses: softmax and sigmoid cross entropy, and the penalty on large weights.
///
/// FLOP: softmax cross entropy 5 per logit, sigmoid cross entropy 9 per logit, L2 loss 2 per element.
#pragma once

#include "weft/workload/nn/reduce.hpp"

namespace weft::nn {

namespace detail {
/// The op that gives a vector of losses over the batch, and as a second output the logarithms of the sums of each row's
/// exponentials, from which its gradient, one op as well, makes the probabilities again, to compare them with the
/// labels. Unless kernels are compiled, the gradient is in single precision whatever the format of the logits, and so
/// are two more numbers per logit that it holds while it runs, their logarithms and the gradients of these: mixed
/// precision runs `torch.nn.functional.cross_entropy` on float32.
inline tensor softmax_loss_kernel(const char* type, const tensor& logits, const tensor& labels) {
  const bool widens = logits.net().kernels() == kernel_set::framework;
  const std::string of_labels = labels.dims().size() == 2 ? ",n." : ",n";
  const auto gradient = [widens, of_labels](const gradient_call& call) -> std::vector<tensor> {
    const auto& of_logits = call.input(0);
    op_spec o{.type = widens ? "CrossEntropyGrad" : "SoftmaxCrossEntropyGrad",
              .inputs = {call.dy[0], call.output(1), call.input(1), of_logits},
              .outputs = {of_logits.type()},
              .work = 4 * flop(of_logits.elements()),
              .axes = "n,n" + of_labels + ",n.->n."};
    if (widens) {
      o.outputs.push_back({of_logits.dims(), 2 * of_logits.type().element_bytes});
      o.axes += ",n.";
    }
    return {call.net.add_tensor(std::move(o))};
  };
  const extents rows{logits.dims()[0]};
  return logits.net().add_tensor({.type = type,
                                  .inputs = {logits, labels},
                                  .outputs = {{rows}, {rows}},
                                  .work = 5 * flop(logits.elements()),
                                  .gradient = gradient,
                                  .axes = "n." + of_labels + "->n,n"});
}

/// The ops that give a vector of losses over the batch, and as a second output the gradient of the logits.
inline tensor softmax_loss(const char* type, const tensor& logits, const tensor& labels) {
  if (logits.net().kernels() != kernel_set::separate) {
    return softmax_loss_kernel(type, logits, labels);
  }
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    const auto& g = call.dy[0];
    const auto column = data_op("ExpandDims", {g, call.net.constant("ExpandDims/dim")}, {g.dims()[0], 1});
    return {column * call.output(1)};
  };
  return logits.net().add_tensor({.type = type,
                                  .inputs = {logits, labels},
                                  .outputs = {{{logits.dims()[0]}}, {logits.dims()}},
                                  .work = 5 * flop(logits.elements()),
                                  .gradient = gradient});
}
} // namespace detail

/// The loss per example (softmax of the logits against a distribution of labels), a vector over the batch.
/// Throws `value_error` if logits and labels are not two matrices of one shape.
inline tensor softmax_cross_entropy(const tensor& logits, const tensor& labels) {
  detail::require(logits.dims().size() == 2 && logits.dims() == labels.dims(), "SoftmaxCrossEntropyWithLogits",
                  "logits and labels need the same two extents");
  return detail::softmax_loss("SoftmaxCrossEntropyWithLogits", logits, labels);
}

/// The same for labels that are class numbers, one per example.
/// Throws `value_error` if logits are not a matrix with a row per label.
inline tensor sparse_softmax_cross_entropy(const tensor& logits, const tensor& labels) {
  detail::require(logits.dims().size() == 2 && labels.dims() == extents{logits.dims()[0]},
                  "SparseSoftmaxCrossEntropyWithLogits", "needs a matrix of logits and a vector with a label per row");
  return detail::softmax_loss("SparseSoftmaxCrossEntropyWithLogits", logits, labels);
}

/// The loss per element of independent yes-no decisions, of the shape of the logits: max(x, 0) - x·z + log(1 + e^-|x|)
/// for logits x and labels z, with an op for each piece as `tf.nn.sigmoid_cross_entropy_with_logits` makes them.
/// Throws `value_error` if logits and labels differ in shape.
inline tensor sigmoid_cross_entropy(const tensor& logits, const tensor& labels) {
  detail::require(logits.dims() == labels.dims(), "logistic_loss", "logits and labels need the same shape");
  auto& net = logits.net();
  const auto scope = net.scope(net.fresh_name("logistic_loss"));
  const auto zeros = net.data("Const", "zeros_like", logits.type());
  const auto positive = greater_equal(logits, zeros);
  const auto rectified = select(positive, logits, zeros);
  const auto negated = negate(logits);
  const auto below_zero = select(positive, negated, logits);
  const auto difference = rectified - logits * labels;
  return difference + log1p(exp(below_zero));
}

/// Half the sum of the squares of all elements, a scalar.
inline tensor l2_loss(const tensor& x) {
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> { return {call.input() * call.dy[0]}; };
  return x.net().add_tensor({.type = "L2Loss",
                             .inputs = {x},
                             .outputs = {{}},
                             .work = 2 * detail::flop(x.elements()),
                             .gradient = gradient});
}

/// The L2 losses of all trainable kernels that the network has so far (of variables with at least two extents, not of
/// biases and normalisation), added up and scaled; a scalar to be added to a loss.
/// Throws `value_error` if there is no such variable.
inline tensor weight_decay(network& net) {
  const auto scope = net.scope("weight_decay");
  std::vector<tensor> terms;
  for (const auto& x : net.variables()) {
    if (x.trainable && x.value.dims().size() >= 2) {
      terms.push_back(l2_loss(x.value));
    }
  }
  detail::require(!terms.empty(), "weight_decay", "the network has no trainable kernel");
  const auto sum = add_n(terms);
  return sum * net.data("Const", "rate", {});
}

} // namespace weft::nn
