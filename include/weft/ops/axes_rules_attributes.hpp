// SPDX-License-Identifier: BSL-1.0
/// Rules for the axes of ops whose attributes matter, with the names that PyTorch gives these.
#pragma once

#include "weft/ops/axes_rules.hpp"
#include "weft/ops/index_expression.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::ops {

/// Index expressions of calls as PyTorch makes them, of which operands that are not given are left out. An empty one
/// says that the op stays whole.
namespace aten_expressions {

using namespace index_expression;

inline std::string matmul(const call& c) { return product(c); }
/// The operand that is added comes first.
inline std::string product_and_sum(const call& c) { return product(c, 1); }
/// Of rows of any number of dimensions and weights `f, k`.
inline std::string linear(const call& c) {
  if (c.rank(0) == 0 || c.rank(0) > max_rank || c.rank(1) != 2) {
    return {};
  }
  const auto rows = letters(c.rank(0) - 1);
  return rows + "z,yz" + (c.has_input(2) ? ",+y" : "") + "->" + rows + "y";
}
inline std::string convolve(const call& c) {
  return convolution(c, c.number("transposed", 0) != 0 ? 0 : c.number("groups", 1)); // one image after another
}
/// By batch and head; a mask has them or is repeated along them. Several queries to a head of keys stay together.
inline std::string attention(const call& c) {
  const auto rank = c.rank(0);
  if (rank < 3 || rank > max_rank || c.rank(1) != rank || c.rank(2) != rank || !c.has_output()) {
    return {};
  }
  const auto batch = letters(rank - 2);
  const auto operand = batch + "..";
  std::string text = operand + "," + operand + "," + operand;
  for (std::size_t k = 3; k < c.inputs.size(); ++k) {
    text += ",";
    for (std::size_t d = 0; d < c.rank(k); ++d) {
      const auto at = d + rank - std::min(rank, c.rank(k));
      text += at + 2 < rank && (*c.inputs[k])[d] == (*c.inputs[0])[at] ? batch[at] : '.';
    }
  }
  text += "->" + operand;
  for (std::size_t k = 1; k < c.outputs.size(); ++k) { // sums of rows, weights; seeds, which nobody splits
    const auto dims = c.has_output(k) ? c.outputs[k]->size() : 0;
    if (dims > 1 && dims != rank && dims + 1 != rank) {
      return {};
    }
    text += "," + (dims > 1 ? batch + (dims == rank ? ".." : ".") : std::string(dims, '.'));
  }
  return text;
}
/// Statistics of the batch are by channel, and then no part of it is enough.
inline std::string batch_normalisation(const call& c) {
  return channels_first(c, c.number("training", 0) != 0 ? '.' : 'n');
}
inline std::string gradient_of_batch_normalisation(const call& c) { return channels_first(c, '.'); }
/// Of the gradient, the images and the filters: those of images, filters and biases, as far as they are made, which
/// their shapes tell.
inline std::string gradient_of_convolution(const call& c) {
  const auto rank = c.rank(0);
  if (rank < 3 || c.rank(1) != rank || c.rank(2) != rank || c.inputs[1] == c.inputs[2] ||
      c.number("transposed", 0) != 0) {
    return {};
  }
  const auto is_bias = [](const auto& made) { return made && made->size() == 1; };
  const bool one = c.number("groups", 1) == 1; // else along the batch alone
  const bool by_channel = one && std::none_of(c.outputs.begin(), c.outputs.end(), is_bias); // which each would make
  const std::string window(rank - 2, '.'), channels = by_channel ? "c" : ".";
  const std::string image = "n" + channels + window, filter = (one ? "f" : ".") + channels + window;
  std::string text = (one ? "nf" : "n.") + window + "," + image + "," + filter;
  for (std::size_t k = 0; k < c.outputs.size(); ++k) {
    const auto& made = c.outputs[k];
    text += (k > 0 ? "," : "->") + (!made               ? std::string{}
                                    : made == c.inputs[1] ? image
                                    : made == c.inputs[2] ? filter
                                    : is_bias(made) && one ? "f"
                                                           : std::string(made->size(), '.'));
  }
  return text;
}
/// Of types such as `max_pool2d`, which also take one image without a batch: along its channels.
inline std::string images(const call& c) {
  const auto d = c.type.find("d", c.type.find_first_of("123"));
  const std::size_t space = d == c.type.npos ? 0 : static_cast<std::size_t>(c.type[d - 1] - '0');
  if (space != 0 && c.rank(0) == space + 1) {
    return outermost(c);
  }
  return space == 0 || c.rank(0) == space + 2 ? channels_first(c) : std::string{};
}
inline std::string layer_normalisation(const call& c) {
  const auto shape = c.numbers.find("normalized_shape");
  const std::size_t inner = c.has_input(1) ? c.rank(1) : shape != c.numbers.end() ? shape->second.size() : 0;
  const bool is_known = inner > 0 && inner <= c.rank(0) && c.rank(0) <= max_rank;
  return is_known ? rows(c, c.rank(0) - inner, c.rank(0)) : std::string{};
}
/// Of the gradient, what was normalised, and its statistics by row; those of weights and biases are sums over rows.
inline std::string gradient_of_layer_normalisation(const call& c) {
  const auto rank = c.rank(0), inner = c.has_input(4) ? c.rank(4) : std::size_t{0};
  if (inner == 0 || inner > rank || rank > max_rank || !c.has_input(1)) {
    return {};
  }
  const auto row = letters(rank - inner) + std::string(inner, '.');
  const auto operand = [&](const std::optional<call::extents>& dims) {
    return !dims ? "" : dims->size() == rank ? row : std::string(dims->size(), '.');
  };
  std::string text;
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    text += (k > 0 ? "," : "") + operand(c.inputs[k]);
  }
  for (std::size_t k = 0; k < c.outputs.size(); ++k) {
    text += (k > 0 ? "," : "->") + operand(c.outputs[k]);
  }
  return text;
}
/// Rows of the gradient go to those of the table that the numbers say; each part of the table takes its own.
inline std::string gradient_of_embedding(const call& c) {
  return c.rank(1) + 1 != c.rank(0) || c.rank(0) > max_rank
           ? std::string{}
           : letters(c.rank(0)) + "," + letters(c.rank(1)) + "->V" + letters(c.rank(0)).back();
}
/// All but the dimension `dim`, the innermost if it is not given, also of further inputs of as many.
inline std::string rows_of_dim(const call& c) {
  const auto at = dimension(c, c.number("dim", -1));
  if (!at) {
    return {};
  }
  auto text = letters(c.rank(0));
  text[*at] = '.';
  std::string all = text;
  for (std::size_t k = 1; k < c.inputs.size(); ++k) {
    all += "," + (c.inputs[k] == c.inputs[0] ? text : std::string(c.rank(k), '.'));
  }
  return all + outputs_like(c, text);
}
/// Over the dimensions `dim`, or all.
inline std::string reduction(const call& c, bool is_sum) {
  const auto rank = c.rank(0);
  if (rank > max_rank || !c.has_output()) {
    return {};
  }
  const auto given = c.numbers.find("dim");
  const auto goes = [&](std::size_t d) {
    return given == c.numbers.end() || given->second.empty() ||
           std::any_of(given->second.begin(), given->second.end(),
                       [&](std::int64_t axis) { return dimension(c, axis) == d; });
  };
  const auto [read, made] = reduced(rank, goes, c.outputs[0]->size() == rank, is_sum);
  std::string text = read + "->" + made;
  for (std::size_t k = 1; k < c.outputs.size(); ++k) {
    text += "," + (c.has_output(k) && c.outputs[k]->size() == made.size() ? made : "");
  }
  return text;
}
inline std::string sum(const call& c) { return reduction(c, true); }
inline std::string statistics(const call& c) { return reduction(c, false); }
/// Two dimensions change places: `dim0` and `dim1`.
inline std::string swapped(const call& c) {
  const auto a = dimension(c, c.number("dim0", 0)), b = dimension(c, c.number("dim1", 1));
  if (!a || !b) {
    return {};
  }
  call::extents order(c.rank(0));
  for (std::size_t d = 0; d < order.size(); ++d) {
    order[d] = static_cast<std::int64_t>(d == *a ? *b : d == *b ? *a : d);
  }
  return transposed(c, order);
}
inline std::string turned(const call& c) { return c.rank(0) == 2 ? "ab->ba" : std::string{}; }
inline std::string permuted(const call& c) {
  const auto order = c.numbers.find("dims");
  return order == c.numbers.end() || order->second.size() != c.rank(0) ? std::string{} : transposed(c, order->second);
}
/// One index along `dim`, which goes; or each of them, to an output of its own.
inline std::string without_dim(const call& c) {
  const auto at = dimension(c, c.number("dim", 0));
  if (!at) {
    return {};
  }
  auto read = letters(c.rank(0));
  auto made = read;
  read[*at] = '.';
  made.erase(*at, 1);
  std::string text = read + "->" + made;
  for (std::size_t k = 1; k < c.outputs.size(); ++k) {
    text += "," + made;
  }
  return text;
}
/// The other way round.
inline std::string with_dim(const call& c) {
  if (c.inputs.empty() || c.rank(0) + 1 > max_rank) {
    return {};
  }
  const auto rank = static_cast<std::int64_t>(c.rank(0)) + 1;
  auto axis = c.number("dim", 0);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) {
    return {};
  }
  const auto read = letters(c.rank(0));
  auto made = read;
  made.insert(static_cast<std::size_t>(axis), 1, '.');
  std::string text = read;
  for (std::size_t k = 1; k < c.inputs.size(); ++k) {
    text += "," + read;
  }
  return text + "->" + made;
}
/// Look-ups in the first input along `dim`.
inline std::string index_of_dim(const call& c) {
  const auto at = dimension(c, c.number("dim", 0));
  return at ? look_up(c, *at) : std::string{};
}

} // namespace aten_expressions

namespace axes_rules {

/// An expression that is made of the call, where it fits the operands.
template <std::string (*Expression)(const call&)>
void of_call(axes_finder& f) {
  const auto text = Expression(f.call());
  if (!text.empty() && f.fits(text)) {
    f.by_expression(text);
  }
}

inline constexpr auto matmul = of_call<aten_expressions::matmul>;
inline constexpr auto product_and_sum = of_call<aten_expressions::product_and_sum>;
inline constexpr auto linear = of_call<aten_expressions::linear>;
inline constexpr auto einsum = of_call<index_expression::einsum>;
inline constexpr auto convolve = of_call<aten_expressions::convolve>;
inline constexpr auto attention = of_call<aten_expressions::attention>;
inline constexpr auto batch_normalisation = of_call<aten_expressions::batch_normalisation>;
inline constexpr auto gradient_of_batch_normalisation = of_call<aten_expressions::gradient_of_batch_normalisation>;
inline constexpr auto gradient_of_convolution = of_call<aten_expressions::gradient_of_convolution>;
inline constexpr auto outermost = of_call<index_expression::outermost>;
inline constexpr auto layer_normalisation = of_call<aten_expressions::layer_normalisation>;
inline constexpr auto gradient_of_layer_normalisation = of_call<aten_expressions::gradient_of_layer_normalisation>;
inline constexpr auto gradient_of_embedding = of_call<aten_expressions::gradient_of_embedding>;
inline constexpr auto rows_of_dim = of_call<aten_expressions::rows_of_dim>;
inline constexpr auto matrices = of_call<index_expression::matrices>;
inline constexpr auto sum = of_call<aten_expressions::sum>;
inline constexpr auto statistics = of_call<aten_expressions::statistics>;
inline constexpr auto swapped = of_call<aten_expressions::swapped>;
inline constexpr auto turned = of_call<aten_expressions::turned>;
inline constexpr auto permuted = of_call<aten_expressions::permuted>;
inline constexpr auto without_dim = of_call<aten_expressions::without_dim>;
inline constexpr auto with_dim = of_call<aten_expressions::with_dim>;
inline constexpr auto index_of_dim = of_call<aten_expressions::index_of_dim>;
inline constexpr auto images = of_call<aten_expressions::images>;
inline constexpr auto first_like_output = of_call<index_expression::first_like_output>;

} // namespace axes_rules

} // namespace weft::ops
