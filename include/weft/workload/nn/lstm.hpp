// SPDX-License-Identifier: BSL-1.0
/// LSTM cells: one step as a dozen ops, or as the one op that TensorFlow fuses them to.
///
/// FLOP of a fused step: its product 2 N (X + H) 4H, and 14 per element of the state, as many as the ops of a basic
/// step; of LSTMBlockCellGrad: 12 per element of the state (an activation's gradient counts as 1).
/// Source: Zaremba, Sutskever, Vinyals, *Recurrent Neural Network Regularization*, arXiv 1409.2329.
#pragma once

#include "weft/workload/nn/shape_ops.hpp"

namespace weft::nn {

/// The state of an LSTM cell from step to step; both are batch × hidden.
struct lstm_state {
  tensor c;
  tensor h;
};

/// One step of TensorFlow's BasicLSTMCell, an op per line of arithmetic: c' = c·σ(f + 1) + σ(i)·tanh(j),
/// h' = tanh(c')·σ(o), where the gates i, j, f, o are the quarters of [x, h]·kernel + bias. For N examples, X inputs
/// and H hidden units: x is N × X, the kernel (X + H) × 4H, the bias 4H.
inline lstm_state basic_lstm_step(const tensor& x, const lstm_state& state, const tensor& kernel, const tensor& bias) {
  const auto gates = split(bias_add(matmul(concat({x, state.h}, 1), kernel), bias), 4, 1);
  const auto forget_bias = x.net().data("Const", "add/y", {});
  // One op per statement: C++ does not say which operand of an expression is made first.
  const auto forget = sigmoid(gates[2] + forget_bias);
  const auto kept = state.c * forget;
  const auto input = sigmoid(gates[0]);
  const auto candidate = tanh(gates[1]);
  const auto added = input * candidate;
  const auto c = kept + added;
  const auto shown = tanh(c);
  const auto output = sigmoid(gates[3]);
  return {c, shown * output};
}

/// The outputs of LSTMBlockCell, in their order; all are batch × hidden.
struct lstm_block {
  tensor i;  ///< input gate σ(i)
  tensor cs; ///< new cell state
  tensor f;  ///< forget gate σ(f + 1)
  tensor o;  ///< output gate σ(o)
  tensor ci; ///< cell input tanh(ci)
  tensor co; ///< cell output tanh(cs)
  tensor h;  ///< new hidden state co·o
};

namespace detail {

/// LSTMBlockCellGrad gives the gradients of the old cell state and of the gates; from the latter, ordinary ops make
/// those of x and h (a product and two slices), of the kernel (a product) and of the bias (a sum).
inline std::vector<tensor> lstm_block_gradient(const gradient_call& call) {
  auto& net = call.net;
  const auto& x = call.input(0);
  const auto& kernel = call.input(3);
  const auto hidden = call.input(1).dims()[1];
  const auto arrived = [&call](std::uint32_t i) {
    return call.dy[i] ? call.dy[i] : call.net.data("Const", "zeros_like", call.output(i).type());
  };
  std::vector<tensor> inputs = net[call.op].op.inputs;
  for (std::uint32_t i = 0; i < 6; ++i) {
    inputs.push_back(call.output(i));
  }
  inputs.push_back(arrived(1));
  inputs.push_back(arrived(6));
  const op_id v = net.add({.type = "LSTMBlockCellGrad",
                           .inputs = std::move(inputs),
                           .outputs = {{call.input(1).dims()}, {{x.dims()[0], 4 * hidden}}},
                           .work = 12 * flop(call.input(1).elements())});
  const tensor gates{net, v, 1};
  std::vector<tensor> given(5);
  given[1] = tensor{net, v, 0};
  if (call.wanted[0] || call.wanted[2]) {
    const auto both = matmul(gates, kernel, false, true);
    const auto part = [&](std::size_t i) {
      return data_op("Slice", {both, net.constant("Slice/begin", {2}), net.constant("Slice/size", {2})},
                     call.input(i).dims());
    };
    given[0] = call.wanted[0] ? part(0) : tensor{};
    given[2] = call.wanted[2] ? part(2) : tensor{};
  }
  if (call.wanted[3]) {
    given[3] = matmul(concat({x, call.input(2)}, 1), gates, true);
  }
  if (call.wanted[4]) {
    given[4] = net.add_tensor(
      {.type = "BiasAddGrad", .inputs = {gates}, .outputs = {{call.input(4).dims()}}, .work = flop(gates.elements())});
  }
  return given;
}

} // namespace detail

/// TensorFlow's LSTMBlockCell, a whole step in one op, without peepholes and without clipping the cell state. Inputs:
/// x (N × X), c (N × H), h (N × H), kernel ((X + H) × 4H), bias (4H); the gates i, ci, f, o are the quarters of
/// [x, h]·kernel + bias, and 1 is added to f. LSTMBlockCellGrad reads these five, the first six outputs, and the
/// gradients of cs and h; it gives the gradients of c (N × H) and of the gates (N × 4H).
/// Throws `value_error` for extents that do not fit. Source: TensorFlow, `tf.raw_ops.LSTMBlockCell` and the gradient
/// in `rnn_grad.py`, `lstm_ops.py`.
inline lstm_block lstm_block_cell(const tensor& x, const lstm_state& state, const tensor& kernel, const tensor& bias) {
  const auto& dims = state.c.dims();
  detail::require(x.dims().size() == 2 && dims.size() == 2 && state.h.dims() == dims && x.dims()[0] == dims[0] &&
                    kernel.dims() == extents{x.dims()[1] + dims[1], 4 * dims[1]} && bias.dims() == extents{4 * dims[1]},
                  "LSTMBlockCell",
                  "input " + detail::text(x.dims()) + ", state " + detail::text(dims) + ", kernel " +
                    detail::text(kernel.dims()) + " and bias " + detail::text(bias.dims()) + " do not fit together");
  auto& net = x.net();
  const double product = 2 * detail::flop(x.dims()[0]) * detail::flop(kernel.elements());
  const op_id v = net.add({.type = "LSTMBlockCell",
                           .inputs = {x, state.c, state.h, kernel, bias},
                           .outputs = std::vector<tensor_type>(7, {dims}),
                           .work = product + 14 * detail::flop(state.c.elements()),
                           .gradient = detail::lstm_block_gradient});
  const auto out = detail::outputs_of(net, v);
  return {out[0], out[1], out[2], out[3], out[4], out[5], out[6]};
}

/// One step as a fused op.
inline lstm_state fused_lstm_step(const tensor& x, const lstm_state& state, const tensor& kernel, const tensor& bias) {
  const auto block = lstm_block_cell(x, state, kernel, bias);
  return {block.cs, block.h};
}

/// The function that makes one step of an LSTM cell: `basic_lstm_step`, `fused_lstm_step`, or a function of yours.
using lstm_arithmetic = lstm_state (*)(const tensor& x, const lstm_state& state, const tensor& kernel,
                                       const tensor& bias);

/// An LSTM cell with the kernel and the bias that all its steps share.
class lstm_cell {
public:
  /// Makes the variables `name/kernel` ((inputs + hidden) × 4 hidden) and `name/bias` (4 hidden).
  lstm_cell(network& net, std::uint64_t inputs, std::uint64_t hidden, const std::string& name,
            lstm_arithmetic arithmetic)
      : net_{&net}, hidden_{hidden}, arithmetic_{arithmetic}, kernel_{net.make_variable(name + "/kernel",
                                                                                        {inputs + hidden, 4 * hidden})},
        bias_{net.make_variable(name + "/bias", {4 * hidden})} {}

  lstm_state zero_state(std::uint64_t batch) const {
    const auto c = net_->data("Fill", "zeros", {{batch, hidden_}});
    return {c, net_->data("Fill", "zeros", {{batch, hidden_}})};
  }

  /// One step for a batch of inputs (batch × inputs).
  lstm_state step(const tensor& x, const lstm_state& state) const { return arithmetic_(x, state, kernel_, bias_); }

private:
  network* net_;
  std::uint64_t hidden_;
  lstm_arithmetic arithmetic_;
  tensor kernel_;
  tensor bias_;
};

/// TensorFlow's BasicLSTMCell.
inline lstm_cell basic_lstm_cell(network& net, std::uint64_t inputs, std::uint64_t hidden) {
  return {net, inputs, hidden, "basic_lstm_cell", basic_lstm_step};
}

/// TensorFlow's LSTMBlockCell: the same arithmetic, one fused op per step.
inline lstm_cell fused_lstm_cell(network& net, std::uint64_t inputs, std::uint64_t hidden) {
  return {net, inputs, hidden, "lstm_cell", fused_lstm_step};
}

} // namespace weft::nn
