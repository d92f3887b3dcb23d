// SPDX-License-Identifier: BSL-1.0
/// Index expressions of ONNX's ops whose attributes decide along which axes they may be split.
#pragma once

#include "weft/ops/axes_rules.hpp"
#include "weft/ops/call.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weft::onnx::detail {

/// Writes expressions for calls of ops; see `ops::axes_finder::by_expression`.
class index_expression {
public:
  /// The expression of a call with this type, its domain in front unless that is ONNX's own; `version` is that of the
  /// operator set. Empty: what the catalogue of ops says counts.
  static std::string of(const ops::call& c) {
    using rule = std::string (*)(const ops::call&);
    static constexpr std::pair<std::string_view, rule> rules[] = {
      {"AveragePool", channels_first},
      {"BatchNormalization", batch_normalisation},
      {"Conv", convolution},
      {"Gather", gather},
      {"Gemm", gemm},
      {"GlobalAveragePool", channels_first},
      {"GlobalMaxPool", channels_first},
      {"InstanceNormalization", channels_first},
      {"LayerNormalization", normalisation},
      {"LogSoftmax", softmax},
      {"MatMul", product},
      {"Max", broadcast},
      {"MaxPool", channels_first},
      {"Mean", broadcast},
      {"Min", broadcast},
      {"RMSNormalization", normalisation},
      {"SimplifiedLayerNormalization", normalisation},
      {"Slice", slice},
      {"Softmax", softmax},
      {"Sum", broadcast},
      {"Transpose", transpose},
    };
    static constexpr std::string_view elementwise[] = {"com.microsoft.BiasAdd", "com.microsoft.FastGelu",
                                                       "com.microsoft.Gelu", "com.microsoft.QuickGelu"};
    if (c.type.find('.') != c.type.npos) { // the catalogue may know another op by the name without its domain
      return std::find(std::begin(elementwise), std::end(elementwise), c.type) != std::end(elementwise) ? "" : whole();
    }
    const auto* const at =
      std::find_if(std::begin(rules), std::end(rules), [&](const auto& r) { return r.first == c.type; });
    if (at == std::end(rules)) {
      return c.version < 7 && has_other_ranks(c) ? whole() : std::string{}; // broadcast by an attribute
    }
    auto text = c.has_input(0) && c.has_output(0) ? at->second(c) : whole();
    return text.empty() || fits(text, c) ? text : whole();
  }
  /// An expression without an axis.
  static std::string whole() { return "->"; }
  /// True if the operands that it names have as many dimensions as it says: a file may hold what ONNX does not allow.
  static bool fits(std::string_view text, const ops::call& c) {
    return ops::fits(
      text, [&](std::size_t k) { return c.rank(k); },
      [&](std::size_t k) { return c.has_output(k) ? c.outputs[k]->size() : 0; });
  }

private:
  static constexpr std::size_t max_rank = 20; // for which there are letters

  static bool has_other_ranks(const ops::call& c) {
    return std::any_of(c.inputs.begin(), c.inputs.end(), [&](const auto& x) { return x && x->size() != c.rank(0); });
  }
  static std::string letters(std::size_t count, char first = 'a') {
    std::string text(count, first);
    std::iota(text.begin(), text.end(), first);
    return text;
  }
  static std::optional<std::size_t> axis_of(const ops::call& c, std::int64_t otherwise) {
    const auto rank = static_cast<std::int64_t>(c.rank(0));
    auto axis = c.number("axis", otherwise);
    axis += axis < 0 ? rank : 0;
    return axis < 0 || axis >= rank || c.rank(0) > max_rank ? std::nullopt
                                                            : std::optional{static_cast<std::size_t>(axis)};
  }

  /// Images, in which channels come after the batch; further operands have a number for each channel.
  static std::string channels_first(const ops::call& c) {
    const auto rank = c.rank(0);
    if (rank < 2 || rank != c.outputs[0]->size() || c.outputs.size() > 1) {
      return whole();
    }
    const std::string image = "nc" + std::string(rank - 2, '.');
    std::string text = image;
    for (std::size_t i = 1; i < c.inputs.size(); ++i) {
      text += c.rank(i) == 1 ? ",c" : "," + std::string(c.rank(i), '.');
    }
    return text + "->" + image;
  }
  /// With statistics that are given; those of a batch need all of it.
  static std::string batch_normalisation(const ops::call& c) {
    const bool given = c.version >= 7 && c.number("training_mode", 0) == 0 && c.number("spatial", 1) != 0;
    return given ? channels_first(c) : whole();
  }
  static std::string convolution(const ops::call& c) {
    const auto rank = c.rank(0);
    if (rank < 2 || c.rank(1) != rank) {
      return whole();
    }
    const std::string window(rank - 2, '.');
    if (c.number("group", 1) != 1) {
      return "n." + window + "->n." + window;
    }
    const std::string sum = c.has_input(2) ? "." : "c"; // parts along the sum would add the biases again and again
    return "n" + sum + window + ",f" + sum + window + (c.has_input(2) ? ",f" : "") + "->nf" + window;
  }
  /// Rows of all that lies before the axis; what is normalised stays whole, and so does what it is scaled by.
  static std::string normalisation(const ops::call& c) {
    const auto axis = axis_of(c, -1);
    const auto has_rows = [&](const auto& x) { return x && x->size() > c.rank(0) - *axis; };
    return axis && std::none_of(c.inputs.begin() + 1, c.inputs.end(), has_rows) ? rows(c, *axis, c.rank(0)) : whole();
  }
  /// Rows of all other axes; until operator set 12 the axis stands for all from there on.
  static std::string softmax(const ops::call& c) {
    const bool one = c.version >= 13;
    const auto axis = axis_of(c, one ? -1 : 1);
    return axis ? rows(c, *axis, one ? *axis + 1 : c.rank(0)) : whole();
  }
  /// The dimensions from `begin` to `end` stay whole.
  static std::string rows(const ops::call& c, std::size_t begin, std::size_t end) {
    auto text = letters(c.rank(0));
    text.replace(begin, end - begin, end - begin, '.');
    std::string all = text + "->";
    for (std::size_t i = 0; i < c.outputs.size(); ++i) {
      const auto rank = c.has_output(i) ? c.outputs[i]->size() : 0;
      all += (i > 0 ? "," : "") + (rank == text.size() ? text : std::string(rank, '.'));
    }
    return all;
  }
  /// Element by element, from the innermost dimension on.
  static std::string broadcast(const ops::call& c) {
    const auto rank = c.outputs[0]->size();
    if (rank > max_rank || (c.version < 8 && has_other_ranks(c))) {
      return whole();
    }
    const auto made = letters(rank);
    std::string text;
    for (std::size_t k = 0; k < c.inputs.size(); ++k) {
      text += k > 0 ? "," : "";
      for (std::size_t d = 0; d < c.rank(k); ++d) {
        const auto to = d + rank - std::min(rank, c.rank(k));
        text += to < rank && (*c.inputs[k])[d] == (*c.outputs[0])[to] ? made[to] : '.';
      }
    }
    return text + "->" + made;
  }
  /// By the catalogue, if it does not turn an axis round.
  static std::string slice(const ops::call& c) {
    if (!c.has_input(4)) {
      return {};
    }
    const bool forward = c.values.size() > 4 && c.values[4] &&
                         std::all_of(c.values[4]->begin(), c.values[4]->end(), [](std::int64_t s) { return s > 0; });
    return forward ? std::string{} : whole();
  }
  static std::string transpose(const ops::call& c) {
    const auto rank = c.rank(0);
    if (rank > max_rank) {
      return whole();
    }
    const auto given = c.numbers.find("perm");
    const auto from = letters(rank);
    std::string to;
    for (std::size_t i = 0; i < rank; ++i) {
      const auto k = given != c.numbers.end() && i < given->second.size()
                       ? static_cast<std::size_t>(given->second[i])
                       : rank - 1 - i;
      to += k < rank ? from[k] : '.';
    }
    return from + "->" + to;
  }
  /// The innermost dimensions of both; those before them go together where they are as long as in the result.
  static std::string product(const ops::call& c) {
    const auto rank = c.outputs[0]->size();
    if (c.rank(0) < 2 || c.rank(1) < 2 || rank < std::max(c.rank(0), c.rank(1)) || rank > max_rank) {
      return whole();
    }
    const auto batch = letters(rank - 2);
    const auto operand = [&](std::size_t i, const char* inner) {
      std::string text;
      for (std::size_t d = 0; d + 2 < c.rank(i); ++d) {
        const auto to = d + rank - c.rank(i);
        text += (*c.inputs[i])[d] == (*c.outputs[0])[to] ? batch[to] : '.';
      }
      return text + inner;
    };
    return operand(0, "xz") + "," + operand(1, "zy") + "->" + batch + "xy";
  }
  static std::string gemm(const ops::call& c) {
    if (c.rank(0) != 2 || c.rank(1) != 2 || c.outputs[0]->size() != 2) {
      return whole();
    }
    const std::string sum = c.has_input(2) ? "." : "z"; // parts along the sum would add a third operand again and again
    std::string text = c.number("transA", 0) != 0 ? sum + "x," : "x" + sum + ",";
    text += c.number("transB", 0) != 0 ? "y" + sum : sum + "y";
    if (c.has_input(2)) {
      text += ",";
      const auto& added = *c.inputs[2];
      for (std::size_t d = 0; d < added.size(); ++d) {
        const auto to = d + 2 - std::min<std::size_t>(added.size(), 2);
        text += to > 1 || added[d] != (*c.outputs[0])[to] ? '.' : to == 0 ? 'x' : 'y';
      }
    }
    return text + "->xy";
  }
  /// Look-ups along an axis; indices take its place.
  static std::string gather(const ops::call& c) {
    const auto axis = axis_of(c, 0);
    if (!axis || !c.has_input(1) || c.rank(1) > max_rank) {
      return whole();
    }
    auto data = letters(c.rank(0));
    const auto indices = letters(c.rank(1), 'A');
    auto made = data;
    made.replace(*axis, 1, indices);
    data[*axis] = *axis == 0 ? data[0] : '.'; // of a part of the rows, what is not there is 0
    return data + "," + indices + "->" + made;
  }
};

} // namespace weft::onnx::detail
