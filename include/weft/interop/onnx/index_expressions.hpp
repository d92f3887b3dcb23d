// SPDX-License-Identifier: BSL-1.0
/// Index expressions of ONNX's ops whose attributes decide along which axes they may be split.
#pragma once

#include "weft/ops/call.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::onnx::detail {

/// Writes expressions for calls of ops; see `ops::axes_finder::by_expression`.
class index_expression {
public:
  /// The expression of a call with this type, without a domain. Empty: what the catalogue of ops says counts.
  static std::string of(const ops::call& c) {
    using rule = std::string (*)(const ops::call&);
    static constexpr std::pair<std::string_view, rule> rules[] = {
      {"AveragePool", channels_first},
      {"BatchNormalization", channels_first},
      {"Conv", convolution},
      {"Gather", gather},
      {"Gemm", gemm},
      {"GlobalAveragePool", channels_first},
      {"GlobalMaxPool", channels_first},
      {"InstanceNormalization", channels_first},
      {"LayerNormalization", normalisation},
      {"LogSoftmax", normalisation},
      {"MatMul", product},
      {"MaxPool", channels_first},
      {"RMSNormalization", normalisation},
      {"SimplifiedLayerNormalization", normalisation},
      {"Softmax", normalisation},
      {"Transpose", transpose},
    };
    const auto* const at = std::find_if(std::begin(rules), std::end(rules), [&](const auto& r) {
      return r.first == c.type;
    });
    if (at == std::end(rules) || !c.has_input(0) || !c.has_output(0)) {
      return {};
    }
    auto text = at->second(c);
    return fits(text, c) ? text : whole();
  }

private:
  /// What has a rule but cannot be split here: an expression without an axis.
  static std::string whole() { return "->"; }
  /// True if operands have as many dimensions as it says: a file may hold what ONNX does not allow.
  static bool fits(std::string_view text, const ops::call& c) {
    const auto arrow = text.find("->");
    const auto fit = [](std::string_view side, const auto& operands) {
      for (std::size_t k = 0; !side.empty(); ++k) {
        const auto end = std::min(side.find(','), side.size());
        const auto rank = k < operands.size() && operands[k] ? operands[k]->size() : 0;
        if (end > rank) {
          return false;
        }
        side.remove_prefix(std::min(end + 1, side.size()));
      }
      return true;
    };
    return fit(text.substr(0, arrow), c.inputs) && fit(text.substr(arrow + 2), c.outputs);
  }
  static std::string letters(std::size_t count, char first = 'a') {
    std::string text(count, first);
    std::iota(text.begin(), text.end(), first);
    return text;
  }

  /// Images, in which channels come after the batch; further operands have a number for each channel.
  static std::string channels_first(const ops::call& c) {
    const auto rank = c.rank(0);
    if (rank < 2 || c.rank(0) != c.outputs[0]->size() || c.outputs.size() > 1) {
      return whole();
    }
    const std::string image = "nc" + std::string(rank - 2, '.');
    std::string text = image;
    for (std::size_t i = 1; i < c.inputs.size(); ++i) {
      text += c.rank(i) == 1 ? ",c" : "," + std::string(c.rank(i), '.');
    }
    return text + "->" + image;
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
  /// Rows of all that lies before the axis; what is normalised stays whole.
  static std::string normalisation(const ops::call& c) {
    const auto rank = static_cast<std::int64_t>(c.rank(0));
    auto axis = c.number("axis", -1);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || rank > 20) {
      return whole();
    }
    const bool one = c.type.ends_with("Softmax"); // of one axis, the others after it are rows, too
    auto text = letters(static_cast<std::size_t>(rank));
    std::fill(text.begin() + axis, one ? text.begin() + axis + 1 : text.end(), '.');
    std::string all = text + "->";
    for (std::size_t i = 0; i < c.outputs.size(); ++i) {
      const bool same = c.has_output(i) && c.outputs[i]->size() == text.size();
      all += (i > 0 ? "," : "") + (same ? text : std::string(c.has_output(i) ? c.outputs[i]->size() : 0, '.'));
    }
    return all;
  }
  static std::string transpose(const ops::call& c) {
    const auto rank = c.rank(0);
    const auto given = c.numbers.find("perm");
    const auto from = letters(rank);
    std::string to;
    for (std::size_t i = 0; i < rank; ++i) {
      const auto k = given != c.numbers.end() && i < given->second.size()
                       ? static_cast<std::size_t>(given->second[i])
                       : rank - 1 - i;
      to += k < rank ? from[k] : '.';
    }
    return rank <= 20 ? from + "->" + to : whole();
  }
  /// The innermost dimensions of both; those before them go together where they are as long as in the result.
  static std::string product(const ops::call& c) {
    const auto rank = c.outputs[0]->size();
    if (c.rank(0) < 2 || c.rank(1) < 2 || rank < std::max(c.rank(0), c.rank(1)) || rank > 20) {
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
  /// What is looked up along an axis; indices take its place.
  static std::string gather(const ops::call& c) {
    const auto rank = static_cast<std::int64_t>(c.rank(0));
    auto axis = c.number("axis", 0);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || !c.has_input(1) || rank + static_cast<std::int64_t>(c.rank(1)) > 20) {
      return whole();
    }
    auto data = letters(c.rank(0));
    const auto indices = letters(c.rank(1), 'A');
    auto made = data;
    made.replace(static_cast<std::size_t>(axis), 1, indices);
    data[static_cast<std::size_t>(axis)] = axis == 0 ? data[0] : '.'; // of a part of the rows, what is not there is 0
    return data + "," + indices + "->" + made;
  }
};

} // namespace weft::onnx::detail
