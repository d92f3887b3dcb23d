// SPDX-License-Identifier: BSL-1.0
/// Axes of an op: which dimensions of its operands go together, and so along what it may be split.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/workload/op_catalogue.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// The axes of an op, as an index expression says them: `mk,kn->mn` of a matrix product has the axes m, n and k. Along
/// an axis the op may be done in parts of equal size that do not need each other: each part reads of an input with the
/// axis a part of that dimension, and the whole of an input without it, and makes a part of an output with the axis. Of
/// an output without it, each part makes one term of a sum (k above; a mean divides by the count of the whole).
struct op_axes {
  std::vector<std::uint64_t> extents = {};              ///< by axis: it can be split into what divides this
  std::vector<std::vector<std::uint32_t>> inputs = {};  ///< by input and dimension: its axis, or `none`
  std::vector<std::vector<std::uint32_t>> outputs = {}; ///< the same
};

namespace detail {

using op_shape = std::vector<std::uint64_t>;

class axes_finder {
public:
  axes_finder(std::span<const op_shape> inputs, std::span<const op_shape> outputs) : in_{inputs}, out_{outputs} {
    for (const auto& dims : in_) {
      a_.inputs.emplace_back(dims.size(), none);
    }
    for (const auto& dims : out_) {
      a_.outputs.emplace_back(dims.size(), none);
    }
  }
  op_axes result() && { return std::move(a_); }

  /// `n..c,..cf->n..f`: letters are axes, points are dimensions that stay whole; further operands stay whole.
  void by_expression(std::string_view text) {
    std::array<std::uint32_t, 128> axis{};
    axis.fill(none);
    const auto arrow = text.find("->");
    if (arrow == text.npos) {
      throw value_error("axes", "'" + std::string{text} + "' has no ->");
    }
    const auto take = [&](std::string_view side, std::vector<std::vector<std::uint32_t>>& operands,
                          std::span<const op_shape> shapes) {
      std::size_t k = 0, d = 0;
      for (const char c : side) {
        if (c == ',') {
          ++k;
          d = 0;
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
  }
  /// Nothing of what makes the output is split with it, such as its shape.
  void made() { along(a_.outputs[0], out_[0]); }
  /// The same as for elementwise ops, the other way round: what the output lacks of the first input is summed up.
  void sums() {
    along(a_.inputs[0], in_[0]);
    align(a_.outputs[0], out_[0], a_.inputs[0], in_[0]);
  }
  /// The dimensions of an operand that are those of the rows.
  enum class row_operand : std::uint8_t {
    whole,
    rows,   ///< all dimensions but the innermost
    vector, ///< a number per row
  };
  /// The first input's dimensions but the innermost. `input(k)` and `output(k)` say how operands go with them: by their
  /// place, since there may be as many rows as columns.
  template <class Input, class Output>
  void rows(Input input, Output output) {
    const auto rank = in_[0].size();
    if (rank < 2) {
      return;
    }
    std::vector<std::uint32_t> axes;
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      axes.push_back(add(in_[0][d]));
    }
    const auto give = [&](row_operand how, std::vector<std::uint32_t>& operand, const op_shape& dims) {
      if (how == row_operand::rows && dims.size() == rank) {
        std::copy(axes.begin(), axes.end(), operand.begin());
      } else if (how == row_operand::vector && dims.size() + 1 == rank) {
        std::copy(axes.begin(), axes.end(), operand.begin());
      } else if (how == row_operand::vector && dims.size() == 1) {
        tie(axes[0], operand, dims, 0);
      } else if (how != row_operand::whole) {
        for (const auto axis : axes) { // nobody knows where the rows are
          a_.extents[axis] = 1;
        }
      }
    };
    for (std::size_t k = 0; k < in_.size(); ++k) {
      give(input(k), a_.inputs[k], in_[k]);
    }
    for (std::size_t k = 0; k < out_.size(); ++k) {
      give(output(k), a_.outputs[k], out_[k]);
    }
  }
  /// Dimensions whose products are equal from the outermost on form groups; the outermost of a group that
  /// is no 1 has the axis.
  void reshape() {
    const auto &from = in_[0], &to = out_[0];
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
      const auto outermost = [](const op_shape& dims, std::size_t begin, std::size_t end) {
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
      const auto alike = [&](const op_shape& dims) {
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
    const auto axis = add(in_[0].back());
    const auto give = [&](std::vector<std::uint32_t>& operand, const op_shape& dims) {
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
  /// An update: all of the gradient, its last input.
  void update() { along(a_.inputs.back(), in_.back()); }

private:
  std::uint32_t add(std::uint64_t extent) {
    a_.extents.push_back(extent);
    return static_cast<std::uint32_t>(a_.extents.size() - 1);
  }
  /// Gives a dimension an axis; of extents that differ, what divides both can be split.
  void tie(std::uint32_t axis, std::vector<std::uint32_t>& operand, const op_shape& dims, std::size_t d) {
    operand[d] = axis;
    a_.extents[axis] = std::gcd(a_.extents[axis], dims[d]);
  }
  void along(std::vector<std::uint32_t>& operand, const op_shape& dims) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      operand[d] = add(dims[d]);
    }
  }
  /// From the innermost dimension on.
  static void align(std::vector<std::uint32_t>& operand, const op_shape& dims, const std::vector<std::uint32_t>& to,
                    const op_shape& whole) {
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

  std::span<const op_shape> in_, out_;
  op_axes a_;
};

constexpr bool is_one_of(std::string_view type, std::string_view list) {
  for (auto rest = list; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == type) {
      return true;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

} // namespace detail

/// The axes of an op, from its type and the shapes of its operands, and for types whose attributes matter from an index
/// expression such as `mk,nk->mn` (see `axes_finder::by_expression`). No axes if nobody knows how to split the type.
/// Throws `value_error` for an expression that does not fit the operands. Complexity: linear in dimensions.
/// Source: index expressions as in Einstein summation; splitting along them as in Xu et al., *GSPMD: General and
/// Scalable Parallelization for ML Computation Graphs*, 2021.
inline op_axes axes_of(std::string_view type, std::string_view expression, std::span<const detail::op_shape> inputs,
                       std::span<const detail::op_shape> outputs) {
  using detail::is_one_of;
  using row = detail::axes_finder::row_operand;
  detail::axes_finder find{inputs, outputs};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> expressions{
    {{"AvgPool", "n..c->n..c"},
     {"AvgPoolGrad", "n..c->n..c"},
     {"Conv2D", "n..c,..cf->n..f"},
     {"Conv2DBackpropFilter", "n..c,n..f->..cf"},
     {"Conv2DBackpropInput", "n..f,..cf->n..c"},
     {"LSTMBlockCell", "n.,n.,n.,..,.->n.,n.,n.,n.,n.,n.,n."},
     {"LSTMBlockCellGrad", "n.,n.,n.,..,.,n.,n.,n.,n.,n.,n.,n.,n.->n.,n."},
     {"MaxPool", "n..c->n..c"},
     {"MaxPoolGrad", "n..c,n..c,n..c->n..c"}}};
  for (const auto& [name, text] : expressions) {
    expression = expression.empty() && type == name ? text : expression;
  }
  const bool reads_and_makes = !inputs.empty() && !outputs.empty();
  if (!expression.empty()) {
    find.by_expression(expression);
  } else if ((type == "Identity" || is_elementwise(type, inputs.size())) && !outputs.empty()) {
    if (type != "Select" || (inputs.size() == 3 && inputs[0] == outputs[0])) { // else conditions are of rows
      find.elementwise();
    }
  } else if (type == "RandomUniform" && !outputs.empty()) {
    find.made();
  } else if ((type == "FusedBatchNorm" || type == "BatchNormInference") && outputs.size() == 1) {
    find.elementwise(); // with statistics that are known
  } else if (is_one_of(type, "BiasAddGrad L2Loss Sum") && reads_and_makes) {
    find.sums();
  } else if (is_one_of(type, "LayerNorm RMSNorm") && reads_and_makes) {
    find.rows([](std::size_t k) { return k == 0 ? row::rows : row::whole; },
              [](std::size_t k) { return k == 0 ? row::rows : row::vector; });
  } else if (type == "AddRMSNorm" && reads_and_makes) {
    find.rows([](std::size_t k) { return k < 2 ? row::rows : row::whole; }, [](std::size_t) { return row::rows; });
  } else if (is_one_of(type, "LayerNormGrad RMSNormGrad") && reads_and_makes) { // dy, x, scale, statistics
    find.rows([](std::size_t k) { return k < 2 ? row::rows : k == 2 ? row::whole : row::vector; },
              [](std::size_t k) { return k == 0 ? row::rows : row::whole; });
  } else if (is_one_of(type, "Softmax SoftmaxGrad") && reads_and_makes) {
    find.rows([](std::size_t) { return row::rows; }, [](std::size_t) { return row::rows; });
  } else if (type == "SoftmaxCrossEntropyWithLogits" && reads_and_makes) {
    find.rows([](std::size_t) { return row::rows; }, [](std::size_t k) { return k == 0 ? row::vector : row::rows; });
  } else if (type == "SparseSoftmaxCrossEntropyWithLogits" && reads_and_makes) {
    find.rows([](std::size_t k) { return k == 0 ? row::rows : row::vector; },
              [](std::size_t k) { return k == 0 ? row::vector : row::rows; });
  } else if (is_one_of(type, "FusedBatchNorm FusedBatchNormGrad") && reads_and_makes && !inputs[0].empty()) {
    find.channels();
  } else if (type == "Reshape" && reads_and_makes) {
    find.reshape();
  } else if (is_one_of(type, "ConcatV2 Pack Slice Split Tile Unpack") && reads_and_makes) {
    find.common();
  } else if (type == "Gather" && inputs.size() > 1 && !outputs.empty()) {
    find.gather();
  } else if (type == "UnsortedSegmentSum" && inputs.size() > 1 && !outputs.empty()) {
    find.segment_sum();
  } else if (type.starts_with("Apply") && !inputs.empty()) {
    find.update();
  }
  return std::move(find).result();
}

} // namespace weft
