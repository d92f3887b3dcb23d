// SPDX-License-Identifier: BSL-1.0
/// Index expressions of calls of ops, such as `ab,bc->ac`: along which dimensions they may be split.
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

/// Each makes one of the shapes and attributes of a call; see `axes_finder::by_expression`. A format of files knows
/// which attribute says what. There are letters for 20 dimensions; of what a file says, `fits` has to be asked.
namespace weft::ops::index_expression {

inline constexpr std::size_t max_rank = 20; // for which there are letters

/// One without an axis.
inline std::string whole() { return "->"; }

/// True if operands have as many dimensions as it says: a file may hold what its format does not allow.
inline bool fits(std::string_view text, const call& c) {
  return ops::fits(
    text, [&](std::size_t k) { return c.rank(k); },
    [&](std::size_t k) { return c.has_output(k) ? c.outputs[k]->size() : 0; });
}

inline std::string letters(std::size_t count, char first = 'a') {
  std::string text(count, first);
  std::iota(text.begin(), text.end(), first);
  return text;
}

/// A dimension of the first input, from the innermost if negative; nothing if there is none.
inline std::optional<std::size_t> dimension(const call& c, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(c.rank(0));
  axis += axis < 0 ? rank : 0;
  return axis < 0 || axis >= rank || c.rank(0) > max_rank ? std::nullopt
                                                          : std::optional{static_cast<std::size_t>(axis)};
}

/// Letters for an operand that is repeated along missing dimensions and those of other extents, from the innermost on.
inline std::string aligned(const call::extents& dims, const call::extents& to, std::string_view made) {
  std::string text;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto at = d + to.size() - std::min(to.size(), dims.size());
    text += at < to.size() && dims[d] == to[at] ? made[at] : '.';
  }
  return text;
}
/// Outputs of as many dimensions have the text's letters, where they are as long as the first input; others are whole.
inline std::string outputs_like(const call& c, const std::string& text) {
  std::string all = "->";
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    all += i > 0 ? "," : "";
    const auto rank = c.has_output(i) ? c.outputs[i]->size() : 0;
    all += rank != text.size() ? std::string(rank, '.') : aligned(*c.outputs[i], *c.inputs[0], text);
  }
  return all;
}

/// Element by element, for any number of inputs.
inline std::string broadcast(const call& c) {
  if (!c.has_output() || c.outputs[0]->size() > max_rank) {
    return whole();
  }
  const auto made = letters(c.outputs[0]->size());
  std::string text;
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    text += (k > 0 ? "," : "") + (c.has_input(k) ? aligned(*c.inputs[k], *c.outputs[0], made) : "");
  }
  return text + "->" + made;
}
/// The dimensions of the first input from `begin` to `end` stay whole, and so do the other inputs.
inline std::string rows(const call& c, std::size_t begin, std::size_t end) {
  auto text = letters(c.rank(0));
  text.replace(begin, end - begin, end - begin, '.');
  return text + outputs_like(c, text);
}
/// All but the two innermost dimensions.
inline std::string matrices(const call& c) {
  return c.rank(0) < 2 || c.rank(0) > max_rank ? std::string{} : rows(c, c.rank(0) - 2, c.rank(0));
}
/// The outermost dimension of the first input, which outputs have, too, if they are as long.
inline std::string outermost(const call& c) {
  if (c.rank(0) == 0) {
    return {};
  }
  const auto operand = [&](const call::extents& dims) {
    const bool has = !dims.empty() && dims[0] == (*c.inputs[0])[0];
    return has ? "n" + std::string(dims.size() - 1, '.') : std::string(dims.size(), '.');
  };
  std::string text = operand(*c.inputs[0]) + "->";
  for (std::size_t k = 0; k < c.outputs.size(); ++k) {
    text += (k > 0 ? "," : "") + (c.has_output(k) ? operand(*c.outputs[k]) : "");
  }
  return c.has_output() && operand(*c.outputs[0]).starts_with('n') ? text : std::string{};
}
/// The first input, repeated where it is shorter, and each output: what others say is read whole.
inline std::string first_like_output(const call& c) {
  if (!c.has_input(0) || !c.has_output() || c.outputs[0]->size() > max_rank) {
    return {};
  }
  const auto made = letters(c.outputs[0]->size());
  std::string text = aligned(*c.inputs[0], *c.outputs[0], made) + "->" + made;
  for (std::size_t k = 1; k < c.outputs.size(); ++k) {
    text += "," + (c.has_output(k) && c.outputs[k] == c.outputs[0] ? made : "");
  }
  return text;
}
/// Images, in which channels come after the batch; further operands have a number for each channel. With a point for
/// the batch that stays whole.
inline std::string channels_first(const call& c, char batch = 'n') {
  const auto rank = c.rank(0);
  if (rank < 2 || !c.has_output() || rank != c.outputs[0]->size()) {
    return whole();
  }
  const std::string image = std::string(1, batch) + "c" + std::string(rank - 2, '.');
  const auto operand = [&](const call::extents& dims) {
    return dims.size() == rank                                          ? image
           : dims.size() == 1 && dims[0] == (*c.inputs[0])[1] ? std::string{"c"}
                                                              : std::string(dims.size(), '.');
  };
  std::string text = image;
  for (std::size_t i = 1; i < c.inputs.size(); ++i) {
    text += "," + (c.has_input(i) ? operand(*c.inputs[i]) : "");
  }
  text += "->" + image;
  for (std::size_t i = 1; i < c.outputs.size(); ++i) {
    text += "," + (c.has_output(i) ? operand(*c.outputs[i]) : "");
  }
  return text;
}
/// Of images with channels after the batch and weights `f, c, …`; a third operand is a bias. In other than one group,
/// along the batch alone.
inline std::string convolution(const call& c, std::int64_t groups) {
  const auto rank = c.rank(0);
  if (rank < 2 || c.rank(1) != rank) {
    return whole();
  }
  const std::string window(rank - 2, '.');
  return groups != 1 ? "n." + window + "->n." + window
                     : "nc" + window + ",fc" + window + (c.has_input(2) ? ",+f" : "") + "->nf" + window;
}
/// The innermost dimensions of two inputs, the first of which is number `first`; those before them go together where
/// they are as long as in the result.
inline std::string product(const call& c, std::size_t first = 0) {
  const std::size_t second = first + 1;
  if (!c.has_output() || c.rank(first) < 2 || c.rank(second) < 2) {
    return whole();
  }
  const auto& made = *c.outputs[0];
  const auto rank = made.size();
  if (rank < std::max(c.rank(first), c.rank(second)) || rank > max_rank) {
    return whole();
  }
  const auto batch = letters(rank - 2);
  const auto operand = [&](std::size_t i, const char* inner) {
    std::string text;
    for (std::size_t d = 0; d + 2 < c.rank(i); ++d) {
      const auto to = d + rank - c.rank(i);
      text += (*c.inputs[i])[d] == made[to] ? batch[to] : '.';
    }
    return text + inner;
  };
  std::string text;
  for (std::size_t i = 0; i < first; ++i) { // what is added
    text += '+' + (c.has_input(i) ? aligned(*c.inputs[i], made, batch + "xy") : "") + ",";
  }
  return text + operand(first, "xz") + "," + operand(second, "zy") + "->" + batch + "xy";
}
/// Both sides of a reduction of `rank` dimensions, of which `goes(d)` says whether it is reduced, and then kept with
/// extent 1 if `keeps`. Parts of a sum are terms; other reductions need the whole.
template <class Goes>
std::pair<std::string, std::string> reduced(std::size_t rank, const Goes& goes, bool keeps, bool is_sum) {
  auto read = letters(rank);
  std::string made;
  for (std::size_t d = 0; d < rank; ++d) {
    made += !goes(d) ? std::string(1, read[d]) : keeps ? "." : "";
    read[d] = goes(d) && !is_sum ? '.' : read[d];
  }
  return {read, made};
}
/// The attribute `equation`, unless it leaves dimensions out, or has a letter twice in an operand.
inline std::string einsum(const call& c) {
  const auto equation = c.text("equation", {});
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text), [](char x) { return x != ' '; });
  bool plain = text.find("->") != text.npos && text.find_first_of(".+") == text.npos;
  for (std::size_t begin = 0; plain && begin < text.size();) { // a letter twice is a diagonal
    const auto end = std::min(text.find_first_of(",->", begin), text.size());
    auto operand = text.substr(begin, end - begin);
    std::sort(operand.begin(), operand.end());
    plain = std::adjacent_find(operand.begin(), operand.end()) == operand.end();
    begin = end + 1;
  }
  return plain ? text : whole();
}
/// The axes of the first input in that order.
inline std::string transposed(const call& c, const call::extents& order) {
  const auto from = letters(std::min(c.rank(0), max_rank));
  std::string to;
  for (const auto axis : order) {
    const auto at = dimension(c, axis);
    to += at ? from[*at] : '.';
  }
  return from + "->" + to;
}
/// Look-ups in `data` along an axis, whose place the dimensions of the indices take.
inline std::string look_up(const call& c, std::size_t axis) {
  if (!c.has_input(1) || c.rank(1) > max_rank) {
    return whole();
  }
  auto data = letters(c.rank(0));
  const auto indices = letters(c.rank(1), 'A');
  auto made = data;
  made.replace(axis, 1, indices);
  data[axis] = axis == 0 ? data[0] : '.'; // of a part of the rows, what is not there is 0
  return data + "," + indices + "->" + made;
}

} // namespace weft::ops::index_expression
