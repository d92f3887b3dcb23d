// SPDX-License-Identifier: BSL-1.0
/// Mixture of experts: a router sends each row to a few of many dense layers, which can run apart from each other.
///
/// FLOP: top k: k per element; cumulative sum 1 per element; sending and bringing back are copies, except that results
/// are added up, 1 per element.
#pragma once

#include "weft/workload/nn/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::nn {

/// The k largest numbers of each row, and where they are (int32).
struct largest {
  tensor values;
  tensor indices;
};

/// TensorFlow's TopKV2 for a matrix with a row per example; its gradient puts those of the values where they were.
/// Throws `value_error` if a row has fewer than k numbers.
inline largest top_k(const tensor& x, std::uint64_t k) {
  detail::require(x.dims().size() == 2 && k > 0 && k <= x.dims()[1], "TopKV2", "rows need at least k > 0 numbers");
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    return {detail::data_op("ScatterNd", {call.dy[0], call.output(1)}, call.input().dims())};
  };
  const extents dims{x.dims()[0], k};
  const op_id v = x.net().add({.type = "TopKV2",
                               .inputs = {x},
                               .outputs = {{dims}, {dims}},
                               .work = detail::flop(k) * detail::flop(x.elements()),
                               .gradient = gradient});
  return {{x.net(), v, 0}, {x.net(), v, 1}};
}

/// Sizes of a mixture of experts.
struct expert_options {
  std::uint64_t experts = 8;
  std::uint64_t hidden = 3072; ///< units of an expert's first layer
  std::uint64_t chosen = 1;    ///< experts per row
  double capacity = 1.25;      ///< rows that an expert takes, over those that it would take if all took as many
  bool dropless = false;       ///< experts take whatever is sent to them: even shares, whatever the capacity
  bool gated = false;          ///< gated units (`swiglu`) in place of a ReLU
  bool gates_add_up = false;   ///< the gates of a row's experts are a softmax of their own, and so add up to 1
};

/// The number of rows that each expert takes; rows that the router sends beyond that are dropped.
inline std::uint64_t expert_capacity(std::uint64_t rows, const expert_options& o) {
  const double all = (o.dropless ? 1 : o.capacity) * static_cast<double>(rows) * static_cast<double>(o.chosen);
  return static_cast<std::uint64_t>(std::ceil(all / static_cast<double>(o.experts)));
}

/// The outputs of a mixture of experts.
struct expert_result {
  tensor y;       ///< of the extents of the rows that came in
  tensor balance; ///< a scalar that is small when experts are chosen equally often; a part of the loss
};

namespace detail {

/// The choices of a router for its rows, for `slots` of experts.
struct routing {
  tensor gates;   ///< a number per choice
  tensor choice;  ///< per slot the choice that it serves
  tensor row;     ///< … and that one's row
  tensor balance;
};

inline routing route(const tensor& x, const expert_options& o, std::uint64_t slots) {
  auto& net = x.net();
  const auto scope = net.scope("router");
  const auto choices = x.dims().at(0) * o.chosen;
  const auto scores = dense("gate", x, o.experts, false);
  const auto probabilities = softmax(scores);
  const auto best = top_k(o.gates_add_up ? scores : probabilities, o.chosen);
  const auto picked = net.add_tensor({.type = "OneHot",
                                      .inputs = {reshape(best.indices, {choices})},
                                      .outputs = {{{choices, o.experts}}}});
  const auto count = elementwise("Cumsum", {picked}, picked.dims());
  const auto place = reduce_sum(count * picked, {1});
  routing made;
  made.choice = net.add_tensor({.type = "ScatterNd",
                                .inputs = {place, best.indices},
                                .outputs = {{{slots}}},
                                .work = flop(choices)});
  made.row = o.chosen == 1 ? made.choice
                           : elementwise("FloorDiv", {made.choice, net.data("Const", "FloorDiv/y", {})}, {slots});
  made.gates = reshape(o.gates_add_up ? softmax(best.values) : best.values, {choices, 1});
  const auto used = reduce_mean(picked, {0});
  const auto expected = reduce_mean(probabilities, {0});
  const auto sum = reduce_sum(used * expected);
  made.balance = sum * net.data("Const", "balance", {});
  return made;
}

/// The two layers of an expert.
inline tensor expert(const tensor& x, const expert_options& o) {
  const auto rows = x.dims().at(0), width = x.dims().at(1);
  if (!o.gated) {
    return dense("output", relu(dense("hidden", x, o.hidden, false)), width, false);
  }
  return dense("down", swiglu(reshape(dense("gate_up", x, 2 * o.hidden, false), {rows, o.hidden, 2})), width, false);
}

} // namespace detail

/// Each row of x (rows × width) goes to the experts that a router (`router/…`, one product and a softmax) prefers, as
/// long as they have room; each expert is two dense layers with a ReLU or gated units between, without bias, under
/// `expert_0/…`, `expert_1/…`; the results are weighted by the router's numbers and added up per row. Rows are sent by
/// one Gather and a Split with an output per expert, so experts on several devices get their own rows alone.
/// Throws `value_error` unless 0 < chosen <= experts and the capacity is positive.
/// Source: Shazeer et al., *Outrageously Large Neural Networks*, arXiv 1701.06538 (dispatch as in tensor2tensor's
/// `SparseDispatcher`); Fedus, Zoph, Shazeer, *Switch Transformers*, arXiv 2101.03961 (capacity, balance loss); Jiang
/// et al., *Mixtral of Experts*, arXiv 2401.04088 (gated, dropless, a softmax of those chosen).
inline expert_result mixture_of_experts(const std::string& name, const tensor& x, const expert_options& o) {
  auto& net = x.net();
  const auto scope = net.scope(name);
  const auto rows = x.dims().at(0);
  detail::require(o.chosen > 0 && o.chosen <= o.experts && o.capacity > 0 && o.capacity < 1e6, "mixture_of_experts",
                  "needs 0 < chosen <= experts and a positive capacity");
  const auto way = detail::route(x, o, o.experts * expert_capacity(rows, o));
  const auto sent = split(gather(x, way.row), o.experts, 0);
  std::vector<tensor> made;
  for (std::uint64_t e = 0; e < o.experts; ++e) {
    const auto expert = net.scope("expert_" + std::to_string(e));
    made.push_back(detail::expert(sent[e], o));
  }
  const auto results = concat(made, 0);
  const auto weighted = results * gather(way.gates, way.choice);
  return {unsorted_segment_sum(weighted, way.row, rows), way.balance};
}

/// The number of experts that some of the rows are expected to choose, rounded, if each row chooses any of them as
/// often: experts · (1 − (1 − chosen / experts)^rows). One row takes `chosen` of them, many rows take all.
/// Precondition: 0 < chosen <= experts.
inline std::uint64_t expected_experts(std::uint64_t rows, const expert_options& o) {
  const double all = static_cast<double>(o.experts);
  const double idle = std::pow(1 - static_cast<double>(o.chosen) / all, static_cast<double>(rows));
  return std::max(o.chosen, static_cast<std::uint64_t>(std::llround(all * (1 - idle))));
}

namespace detail {

/// A product of rows with the matrices of the experts that each of them goes to, as one op. It reads the matrices of
/// those that are expected to run; the others are there, and wait for nothing.
inline tensor grouped_matmul(const std::string& name, op_spec op, const extents& matrix, std::uint64_t running,
                             std::uint64_t experts) {
  auto& net = op.inputs[0].net();
  const auto scope = net.scope(name);
  std::vector<tensor> idle;
  for (std::uint64_t e = 0; e < experts; ++e) {
    (e < running ? op.inputs : idle).push_back(net.make_variable("weights", matrix));
  }
  op.type = "GroupedMatMul";
  const auto made = net.add_tensor(std::move(op));
  for (const auto& weights : idle) {
    net.add_control(weights.op(), made.op());
  }
  return made;
}

} // namespace detail

/// One step of gated, dropless `mixture_of_experts` in the ways of a runtime that makes token after token: x has a row
/// per sequence. The router is a product, the choice of experts and a softmax of their scores; one op multiplies each
/// row with the first matrices of its experts (`gate_up`), one with the second, and adds up what they make of it
/// (`down`). They read the matrices of `expected_experts`: of those chosen for one row, and of nearly all for many. The
/// other matrices are held and not read. FLOP: those of the products of each row with its experts' matrices, and 2 per
/// element and expert to add up. No gradient.
/// Throws `value_error` unless 0 < chosen <= experts.
/// Source: Kwon et al., *Efficient Memory Management for Large Language Model Serving with PagedAttention*, arXiv
/// 2309.06180; `vllm-project/vllm`, `fused_moe.py`.
inline tensor decoding_experts(const std::string& name, const tensor& x, const expert_options& o) {
  detail::require(o.chosen > 0 && o.chosen <= o.experts, "decoding_experts", "needs 0 < chosen <= experts");
  auto& net = x.net();
  const auto scope = net.scope(name);
  const auto rows = x.dims().at(0), width = x.dims().at(1), running = expected_experts(rows, o);
  const auto choices = rows * o.chosen;
  largest best;
  tensor gates;
  {
    const auto router = net.scope("router");
    best = top_k(dense("gate", x, o.experts, false), o.chosen);
    gates = softmax(best.values);
  }
  std::string matrices; // their axes
  for (std::uint64_t e = 0; e < running; ++e) {
    matrices += ",kn";
  }
  const auto units = detail::flop(choices) * detail::flop(width) * detail::flop(o.hidden);
  const auto factors = detail::grouped_matmul("gate_up",
                                              {.type = {},
                                               .inputs = {x, best.indices},
                                               .outputs = {{{choices, 2 * o.hidden}}},
                                               .work = 4 * units,
                                               .axes = ".k,.." + matrices + "->.n"},
                                              {width, 2 * o.hidden}, running, o.experts);
  const auto hidden = swiglu(reshape(factors, {choices, o.hidden, 2}));
  return detail::grouped_matmul("down",
                                {.type = {},
                                 .inputs = {hidden, best.indices, gates},
                                 .outputs = {{{rows, width}}},
                                 .work = 2 * units + 2 * detail::flop(choices) * detail::flop(width),
                                 .axes = ".k,..,.." + matrices + "->.n"},
                                {o.hidden, width}, running, o.experts);
}

} // namespace weft::nn
