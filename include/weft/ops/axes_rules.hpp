// SPDX-License-Identifier: BSL-1.0
/// Rules for the axes of ops: which dimensions of their operands go together, and so along what they may be split.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/ops/call.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::ops {

/// The axes of an op, as an index expression says them: `mk,kn->mn` of a matrix product has the axes m, n and k. Along
/// an axis the op may be done in parts of equal size that do not need each other: each part reads of an input with the
/// axis a part of that dimension, and the whole of an input without it, and makes a part of an output with the axis. Of
/// an output without it, each part makes one term of a sum (k above; a mean divides by the count of the whole). An
/// input that is added to the result, such as a bias in `mk,kn,+n->mn`, one of these parts alone adds.
struct axes {
  std::vector<std::uint64_t> extents = {};              ///< by axis: it can be split into what divides this
  std::vector<std::vector<std::uint32_t>> inputs = {};  ///< by input and dimension: its axis, or `none`
  std::vector<std::vector<std::uint32_t>> outputs = {}; ///< the same
  std::vector<bool> added = {};                         ///< by input; empty: none is added to the result
  bool keeps_order = false; ///< the output has the numbers of the first input in their order, in another shape
};

/// The extents of an operand.
using shape = std::vector<std::uint64_t>;

/// True if the operands that an index expression names have as many dimensions as it says, by the ranks of inputs and
/// outputs; those that are not there have 0.
template <class RankOfInput, class RankOfOutput>
bool fits(std::string_view text, RankOfInput rank_of_input, RankOfOutput rank_of_output) {
  const auto fit = [](std::string_view side, const auto& rank, std::string_view mark) {
    for (std::size_t k = 0; !side.empty(); ++k) {
      const auto end = std::min(side.find(','), side.size());
      const std::size_t marks = side.starts_with(mark) ? mark.size() : 0;
      if (end != rank(k) + marks) {
        return false;
      }
      side.remove_prefix(std::min(end + 1, side.size()));
    }
    return true;
  };
  const auto arrow = text.find("->");
  return arrow != text.npos && fit(text.substr(0, arrow), rank_of_input, "+") &&
         fit(text.substr(arrow + 2), rank_of_output, "");
}

/// Finds the axes of a call of an op.
class axes_finder {
public:
  axes_finder(const ops::call& c, std::span<const shape> inputs, std::span<const shape> outputs)
      : call_{c}, in_{inputs}, out_{outputs} {
    for (const auto& dims : in_) {
      a_.inputs.emplace_back(dims.size(), none);
    }
    for (const auto& dims : out_) {
      a_.outputs.emplace_back(dims.size(), none);
    }
  }
  const ops::call& call() const { return call_; }
  std::span<const shape> inputs() const { return in_; }
  std::span<const shape> outputs() const { return out_; }
  bool has(std::size_t inputs, std::size_t outputs) const { return in_.size() >= inputs && out_.size() >= outputs; }
  axes result() && { return std::move(a_); }

  bool fits(std::string_view text) const {
    const auto rank_in = [](std::span<const shape> operands) {
      return [operands](std::size_t k) { return k < operands.size() ? operands[k].size() : 0; };
    };
    return ops::fits(text, rank_in(in_), rank_in(out_));
  }
  /// `n..c,..cf->n..f`: letters are axes, points are dimensions that stay whole, and so do further operands; `+` is in
  /// front of an input that is added to the result.
  void by_expression(std::string_view text) {
    std::array<std::uint32_t, 128> axis{};
    axis.fill(none);
    const auto arrow = text.find("->");
    if (arrow == text.npos) {
      throw value_error("axes", "'" + std::string{text} + "' has no ->");
    }
    const auto take = [&](std::string_view side, std::vector<std::vector<std::uint32_t>>& operands,
                          std::span<const shape> shapes) {
      std::size_t k = 0, d = 0;
      for (const char c : side) {
        if (c == ',') {
          ++k;
          d = 0;
          continue;
        }
        if (c == '+' && d == 0 && &operands == &a_.inputs) {
          a_.added.resize(in_.size(), false);
          if (k < in_.size()) { // it may be absent
            a_.added[k] = true;
          }
          continue;
        }
        if (k >= shapes.size() || d >= shapes[k].size()) {
          throw value_error("axes", "'" + std::string{text} + "' does not fit the operands of the op");
        }
        if (c != '.') {
          auto& a = axis[static_cast<unsigned char>(c) % axis.size()];
          a = a == none ? add(shapes[k][d]) : a;
          tie(a, operands[k], shapes[k], d);
        }
        ++d;
      }
    };
    take(text.substr(0, arrow), a_.inputs, in_);
    take(text.substr(arrow + 2), a_.outputs, out_);
  }

  /// Inputs are repeated along missing dimensions and those of extent 1.
  void elementwise() {
    along(a_.outputs[0], out_[0]);
    align_inputs(out_[0].size());
    for (std::size_t k = 1; k < out_.size(); ++k) {
      if (out_[k] == out_[0]) {
        a_.outputs[k] = a_.outputs[0];
      }
    }
  }
  /// Nothing of what makes the output is split with it, such as its shape.
  void made() { along(a_.outputs[0], out_[0]); }
  /// The same as for elementwise ops, the other way round: what the output lacks of the first input is summed up.
  void sums() {
    along(a_.inputs[0], in_[0]);
    align(a_.outputs[0], out_[0], a_.inputs[0], in_[0]);
  }
  /// The first input's dimensions but the innermost. A letter per operand says how it goes with them, by its place,
  /// since there may be as many rows as columns: `r`, all its dimensions but the innermost are those of the rows; `v`,
  /// it is a vector with a number per row; `w`, it is whole. The last letter of a side counts for further operands.
  void rows(std::string_view ins, std::string_view outs) {
    const auto rank = in_[0].size();
    if (rank < 2) {
      return;
    }
    std::vector<std::uint32_t> found;
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      found.push_back(add(in_[0][d]));
    }
    const auto give = [&](char how, std::vector<std::uint32_t>& operand, const shape& dims) {
      if ((how == 'r' && dims.size() == rank) || (how == 'v' && dims.size() + 1 == rank)) {
        std::copy(found.begin(), found.end(), operand.begin());
      } else if (how == 'v' && dims.size() == 1) {
        tie(found[0], operand, dims, 0);
      } else if (how != 'w') {
        for (const auto axis : found) { // nobody knows where the rows are
          a_.extents[axis] = 1;
        }
      }
    };
    for (std::size_t k = 0; k < in_.size(); ++k) {
      give(ins[std::min(k, ins.size() - 1)], a_.inputs[k], in_[k]);
    }
    for (std::size_t k = 0; k < out_.size(); ++k) {
      give(outs[std::min(k, outs.size() - 1)], a_.outputs[k], out_[k]);
    }
  }
  /// Dimensions whose products are equal from the outermost on form groups; the outermost of a group that
  /// is no 1 has the axis.
  void reshape() {
    const auto &from = in_[0], &to = out_[0];
    a_.keeps_order = true;
    for (std::size_t i = 0, j = 0; i < from.size() && j < to.size();) {
      const std::size_t first = i, other = j;
      std::uint64_t a = from[i++], b = to[j++];
      while (a != b) {
        if (a < b && i < from.size()) {
          a *= from[i++];
        } else if (b < a && j < to.size()) {
          b *= to[j++];
        } else {
          return;
        }
      }
      const auto outermost = [](const shape& dims, std::size_t begin, std::size_t end) {
        while (begin + 1 < end && dims[begin] == 1) {
          ++begin;
        }
        return begin;
      };
      const auto p = outermost(from, first, i), q = outermost(to, other, j);
      a_.inputs[0][p] = a_.outputs[0][q] = add(std::gcd(from[p], to[q]));
    }
  }
  /// Dimensions that all operands of as many dimensions as the first output have alike.
  void common() {
    for (std::size_t d = 0; d < out_[0].size(); ++d) {
      const auto alike = [&](const shape& dims) {
        return dims.size() != out_[0].size() || dims[d] == out_[0][d];
      };
      if (!std::all_of(in_.begin(), in_.end(), alike) || !std::all_of(out_.begin(), out_.end(), alike)) {
        continue;
      }
      const auto axis = add(out_[0][d]);
      for (std::size_t k = 0; k < in_.size(); ++k) {
        if (in_[k].size() == out_[0].size()) {
          a_.inputs[k][d] = axis;
        }
      }
      for (std::size_t k = 0; k < out_.size(); ++k) {
        if (out_[k].size() == out_[0].size()) {
          a_.outputs[k][d] = axis;
        }
      }
    }
  }
  /// Rows of the first input by the numbers in the second: of a part of the rows, what is not there is 0.
  void gather() {
    const auto n = in_[1].size();
    if (in_[0].empty() || out_[0].size() + 1 != in_[0].size() + n) {
      return;
    }
    a_.inputs[0][0] = add(in_[0][0]);
    for (std::size_t d = 0; d < n; ++d) {
      a_.inputs[1][d] = a_.outputs[0][d] = add(in_[1][d]);
    }
    for (std::size_t d = 1; d < in_[0].size(); ++d) {
      a_.inputs[0][d] = a_.outputs[0][n + d - 1] = add(in_[0][d]);
    }
  }
  /// Sums of the rows of the first input by the numbers in the second.
  void segment_sum() {
    const auto n = in_[1].size();
    if (in_[0].size() < n || out_[0].size() + n != in_[0].size() + 1) {
      return;
    }
    a_.outputs[0][0] = add(out_[0][0]);
    for (std::size_t d = 0; d < n; ++d) {
      a_.inputs[0][d] = a_.inputs[1][d] = add(in_[1][d]);
    }
    for (std::size_t d = n; d < in_[0].size(); ++d) {
      a_.inputs[0][d] = a_.outputs[0][d - n + 1] = add(in_[0][d]);
    }
  }
  /// The innermost dimension of all operands that have as many channels there.
  void channels() {
    if (in_[0].empty()) {
      return;
    }
    const auto axis = add(in_[0].back());
    const auto give = [&](std::vector<std::uint32_t>& operand, const shape& dims) {
      if (!dims.empty() && dims.back() == in_[0].back()) {
        operand.back() = axis;
      }
    };
    for (std::size_t k = 0; k < in_.size(); ++k) {
      give(a_.inputs[k], in_[k]);
    }
    for (std::size_t k = 0; k < out_.size(); ++k) {
      give(a_.outputs[k], out_[k]);
    }
  }
  /// An update: all of the gradient, its last input that is no number.
  void update() {
    for (std::size_t k = in_.size(); k-- > 0;) {
      if (!in_[k].empty()) {
        along(a_.inputs[k], in_[k]);
        return;
      }
    }
  }

private:
  std::uint32_t add(std::uint64_t extent) {
    a_.extents.push_back(extent);
    return static_cast<std::uint32_t>(a_.extents.size() - 1);
  }
  /// Gives a dimension an axis; of extents that differ, what divides both can be split.
  void tie(std::uint32_t axis, std::vector<std::uint32_t>& operand, const shape& dims, std::size_t d) {
    operand[d] = axis;
    a_.extents[axis] = std::gcd(a_.extents[axis], dims[d]);
  }
  void along(std::vector<std::uint32_t>& operand, const shape& dims) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      operand[d] = add(dims[d]);
    }
  }
  /// From the innermost dimension on.
  static void align(std::vector<std::uint32_t>& operand, const shape& dims, const std::vector<std::uint32_t>& to,
                    const shape& whole) {
    for (std::size_t i = 1; i <= std::min(dims.size(), whole.size()); ++i) {
      if (dims[dims.size() - i] == whole[whole.size() - i]) {
        operand[dims.size() - i] = to[whole.size() - i];
      }
    }
  }
  void align_inputs(std::size_t rank) {
    for (std::size_t k = 0; k < in_.size(); ++k) {
      if (in_[k].size() <= rank) {
        align(a_.inputs[k], in_[k], a_.outputs[0], out_[0]);
      }
    }
  }

  const ops::call& call_;
  std::span<const shape> in_, out_;
  axes a_;
};

/// Rules by what an op does; the catalogue names one for each type that can be split.
namespace axes_rules {

/// An index expression as a template argument.
template <std::size_t N>
struct expression {
  char text[N] = {};
  consteval expression(const char (&from)[N]) { std::copy(from, from + N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

/// One that holds for all ops of a type whose operands have as many dimensions.
template <expression E>
void by(axes_finder& f) {
  if (f.fits(E.view())) {
    f.by_expression(E.view());
  }
}
/// Rows as letters say it, such as `rw` and `rv` (see `axes_finder::rows`).
template <expression Inputs, expression Outputs>
void rows(axes_finder& f) {
  if (f.has(1, 1)) {
    f.rows(Inputs.view(), Outputs.view());
  }
}
/// A member of the finder, for ops that have at least so many inputs and outputs.
template <void (axes_finder::*Rule)(), std::size_t Inputs, std::size_t Outputs>
void rule(axes_finder& f) {
  if (f.has(Inputs, Outputs)) {
    (f.*Rule)();
  }
}
inline constexpr auto elementwise = rule<&axes_finder::elementwise, 0, 1>;
inline constexpr auto made = rule<&axes_finder::made, 0, 1>;
inline constexpr auto sums = rule<&axes_finder::sums, 1, 1>;
inline constexpr auto reshape = rule<&axes_finder::reshape, 1, 1>;
inline constexpr auto common = rule<&axes_finder::common, 1, 1>;
inline constexpr auto gather = rule<&axes_finder::gather, 2, 1>;
inline constexpr auto segment_sum = rule<&axes_finder::segment_sum, 2, 1>;
inline constexpr auto channels = rule<&axes_finder::channels, 1, 1>;
inline constexpr auto update = rule<&axes_finder::update, 1, 0>;

/// Conditions have the shape of what they choose of; else they are of rows.
inline void select(axes_finder& f) {
  if (f.has(3, 1) && f.inputs()[0] == f.outputs()[0]) {
    f.elementwise();
  }
}
/// Statistics of the batch are by channel; with those that are known, which give no others out, it is elementwise.
inline void batch_norm(axes_finder& f) {
  (f.outputs().size() == 1 ? elementwise : channels)(f);
}

} // namespace axes_rules

} // namespace weft::ops
