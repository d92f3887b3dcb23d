// SPDX-License-Identifier: BSL-1.0
/// Arguments of a StableHLO program that are weights by their use, for programs without names.
#pragma once

#include "weft/interop/stablehlo/costs.hpp"
#include "weft/interop/stablehlo/program.hpp"

#include <algorithm>
#include <span>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::stablehlo::detail {

/// The arguments of a function that a program treats as weights, also in what it calls and in bodies of loops:
/// - right operands of products without a batch (whose left operands keep their outermost axis) and of convolutions,
///   tables of look-ups, scales of batch norms, and what is repeated along the outermost axis, as biases are;
/// - state: what comes back updated element by element with the type of such an argument, as moments of optimisers do,
///   or updated in a part, as a key-value cache is.
/// Data: left operands of products and convolutions. Complexity: linear in the operations that calls
/// make, of which `most` are looked at, and in those for each result of the function that are updates.
class parameters_by_use {
public:
  parameters_by_use(const program& p, std::size_t most) : p_{p}, shown_(p.values.size(), none), left_{most} {}

  /// By argument of the function that has this body.
  std::vector<bool> operator()(region_id body) && {
    const auto& r = p_.regions[body];
    weights_.resize(r.num_arguments);
    data_.resize(r.num_arguments);
    for (std::uint32_t i = 0; i < r.num_arguments; ++i) {
      shown_[r.first_argument + i] = i;
    }
    look(body, 0);
    add_state(body);
    for (std::uint32_t i = 0; i < r.num_arguments; ++i) {
      weights_[i] = weights_[i] && !data_[i];
    }
    return std::move(weights_);
  }

private:
  void look(region_id r, int depth) {
    for (const auto number : p_.ops_in(r)) {
      if (left_ == 0 || depth > 100) {
        return;
      }
      --left_;
      const auto& o = p_.ops[number];
      const auto reads = p_.operands(o);
      const bool passes = std::ranges::any_of(reads, [&](value_id id) { return shown_[id] != none; }) && note_use(o);
      for (std::uint32_t i = 0; i < o.num_results; ++i) {
        shown_[o.first_result + i] = passes ? shown_[reads[i]] : none;
      }
      for (const auto inner : p_.regions_of(o)) {
        enter(o, inner, depth);
      }
      if (const auto callee = p_.body_of_callee(o); callee != none) {
        enter(o, callee, depth);
        const auto* end = p_.terminator(callee);
        for (std::uint32_t i = 0; end != nullptr && i < std::min(o.num_results, end->num_operands); ++i) {
          shown_[o.first_result + i] = shown_[p_.operands(*end)[i]];
        }
      }
    }
  }
  /// A region whose arguments, if it has as many, begin as the operands of the operation.
  void enter(const operation& o, region_id r, int depth) {
    const auto& inner = p_.regions[r];
    if (inner.num_arguments == o.num_operands) {
      std::vector<std::uint32_t> given;
      for (const auto id : p_.operands(o)) {
        given.push_back(shown_[id]);
      }
      std::ranges::copy(given, shown_.begin() + inner.first_argument);
    }
    look(r, depth + 1);
  }
  /// Says whether the results show the operands, as many as there are results.
  bool note_use(const operation& o) {
    const auto name = plain_name(o.name);
    const auto mark = [&](std::uint32_t i, std::vector<bool>& as) {
      if (const auto argument = i < o.num_operands ? shown_[p_.operands(o)[i]] : none; argument != none) {
        as[argument] = true;
      }
    };
    const auto& first = p_.operand_type(o, 0);
    if (name == "dot_general" || name == "dot") {
      const auto contracted = product_axes(p_, o, "contracting");
      const bool keeps_outermost = first.dims.size() < 2 || std::ranges::find(contracted, 0u) == contracted.end();
      mark(0, data_);
      if (keeps_outermost && p_.operand_type(o, 1).dims.size() > 1 && product_axes(p_, o, "batching").empty()) {
        mark(1, weights_);
      }
    } else if (name == "convolution" || name == "dynamic_conv") {
      mark(0, data_);
      mark(1, weights_);
    } else if (name == "gather" || name == "dynamic_gather" || name == "torch_index_select") {
      if (first.is_float && first.dims.size() > 1) {
        mark(0, weights_);
      }
    } else if (name.starts_with("batch_norm_")) {
      for (std::uint32_t i = 1; i < (name == "batch_norm_grad" ? 2 : o.num_operands); ++i) {
        mark(i, weights_);
      }
    } else if (name == "broadcast_in_dim" && first.is_float && !first.dims.empty()) {
      const auto dims = numbers_in(p_.attribute_of(o, p_.attribute_of(o, "dims").empty() ? "broadcast_dimensions"
                                                                                         : "dims"));
      const auto from = static_cast<std::size_t>(std::ranges::find(dims, 0u) - dims.begin());
      const auto repeated = extent(p_.result_type(o), 0);
      if (repeated > (from < dims.size() ? extent(first, from) : 1)) {
        mark(0, weights_);
      }
    }
    const bool shows = is_view(name) || name == "dynamic_slice" || name == "dynamic_reshape";
    return (shows && o.num_results == 1) || is_marker(p_, o);
  }

  void add_state(region_id body) {
    const auto& r = p_.regions[body];
    const auto* end = p_.terminator(body);
    std::vector<bool> of_weights(p_.types.size());
    for (std::uint32_t i = 0; i < r.num_arguments; ++i) {
      if (weights_[i] && !data_[i]) {
        of_weights[p_.values[r.first_argument + i].type] = true;
      }
    }
    std::vector<value_id> seen(p_.values.size(), none); // by which result
    for (const auto result : end == nullptr ? std::span<const value_id>{} : p_.operands(*end)) {
      std::vector<std::pair<value_id, bool>> open = {{result, false}}; // and whether a part of it is replaced
      while (!open.empty() && left_ > 0) {
        const auto [id, in_part] = open.back();
        open.pop_back();
        const auto& v = p_.values[id];
        if (std::exchange(seen[id], result) == result || v.type != p_.values[result].type) {
          continue;
        }
        --left_;
        if (v.op == none) {
          if (v.region == body && (in_part || of_weights[v.type])) {
            weights_[v.number] = true;
          }
          continue;
        }
        const auto& o = p_.ops[v.op];
        const bool part = o.name.ends_with("dynamic_update_slice");
        if (part || is_one_of(plain_name(o.name), {"add", "subtract", "multiply", "divide", "maximum", "minimum",
                                                   "select", "clamp", "sqrt", "call", "optimization_barrier"})) {
          for (const auto from : part ? p_.operands(o).first(1) : p_.operands(o)) {
            open.emplace_back(from, part);
          }
        }
      }
    }
  }

  const program& p_;
  std::vector<std::uint32_t> shown_; // by value: the argument that it shows
  std::vector<bool> weights_, data_; // by argument
  std::size_t left_;
};

} // namespace weft::stablehlo::detail
