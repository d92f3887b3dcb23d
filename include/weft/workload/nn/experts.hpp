// SPDX-License-Identifier: BSL-1.0
/// Mixture of experts: a router sends each row to a few of many dense layers, which can run apart from each other.
///
/// FLOP: top k: k per element; cumulative sum 1 per element; sending and bringing back are copies, except that results
/// are added up, 1 per element.
#pragma once

#include "weft/workload/nn/attention.hpp"

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
};

/// The number of rows that each expert takes; rows that the router sends beyond that are dropped.
inline std::uint64_t expert_capacity(std::uint64_t rows, const expert_options& o) {
  const double all = o.capacity * static_cast<double>(rows) * static_cast<double>(o.chosen);
  return static_cast<std::uint64_t>(std::ceil(all / static_cast<double>(o.experts)));
}

/// The outputs of a mixture of experts.
struct expert_result {
  tensor y;       ///< of the extents of the rows that came in
  tensor balance; ///< a scalar that is small when experts are chosen equally often; a part of the loss
};

/// Each row of x (rows × width) goes to the experts that a router (`router/…`, one product and a softmax) prefers, as
/// long as they have room; each expert is two dense layers with a ReLU between, without bias, under `expert_0/…`,
/// `expert_1/…`; the results are weighted by the router's numbers and added up per row. Rows are sent by one Gather
/// and a Split with an output per expert, so experts on several devices get their own rows alone.
/// Throws `value_error` unless 0 < chosen <= experts and the capacity is positive.
/// Source: Shazeer et al., *Outrageously Large Neural Networks*, arXiv 1701.06538 (dispatch as in tensor2tensor's
/// `SparseDispatcher`); Fedus, Zoph, Shazeer, *Switch Transformers*, arXiv 2101.03961 (capacity, balance loss).
inline expert_result mixture_of_experts(const std::string& name, const tensor& x, const expert_options& o) {
  auto& net = x.net();
  const auto scope = net.scope(name);
  const auto rows = x.dims().at(0);
  detail::require(o.chosen > 0 && o.chosen <= o.experts && o.capacity > 0 && o.capacity < 1e6, "mixture_of_experts",
                  "needs 0 < chosen <= experts and a positive capacity");
  const auto capacity = expert_capacity(rows, o);
  const auto choices = rows * o.chosen;
  const auto slots = o.experts * capacity;

  tensor gates, choice, row, balance; // a gate per choice; per slot the choice that it serves, and that one's row
  {
    const auto router = net.scope("router");
    const auto probabilities = softmax(dense("gate", x, o.experts, false));
    const auto best = top_k(probabilities, o.chosen);
    const auto picked = net.add_tensor({.type = "OneHot",
                                        .inputs = {reshape(best.indices, {choices})},
                                        .outputs = {{{choices, o.experts}}}});
    const auto count = detail::elementwise("Cumsum", {picked}, picked.dims());
    const auto place = reduce_sum(count * picked, {1});
    choice = net.add_tensor({.type = "ScatterNd",
                             .inputs = {place, best.indices},
                             .outputs = {{{slots}}},
                             .work = detail::flop(choices)});
    row = o.chosen == 1 ? choice
                        : detail::elementwise("FloorDiv", {choice, net.data("Const", "FloorDiv/y", {})}, {slots});
    gates = reshape(best.values, {choices, 1});
    const auto used = reduce_mean(picked, {0});
    const auto expected = reduce_mean(probabilities, {0});
    const auto sum = reduce_sum(used * expected);
    balance = sum * net.data("Const", "balance", {});
  }
  const auto sent = split(gather(x, row), o.experts, 0);
  std::vector<tensor> made;
  for (std::uint64_t e = 0; e < o.experts; ++e) {
    const auto expert = net.scope("expert_" + std::to_string(e));
    made.push_back(dense("output", relu(dense("hidden", sent[e], o.hidden, false)), x.dims().at(1), false));
  }
  const auto results = concat(made, 0);
  const auto weighted = results * gather(gates, choice);
  return {unsorted_segment_sum(weighted, row, rows), balance};
}

} // namespace weft::nn
