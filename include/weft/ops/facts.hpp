// SPDX-License-Identifier: BSL-1.0
/// Facts about a type of op: how much it computes, how it uses a device, the form of its gradient.
#pragma once

#include "weft/ops/call.hpp"

#include <cstdint>

namespace weft::ops {

/// The units of a device that an op uses. cost/efficiency.hpp says how well.
enum class device_use : std::uint8_t {
  other,       ///< arithmetic that the memory bounds
  product,     ///< dense products of matrices
  attention,   ///< products and a softmax between them whose scores stay on the chip
  convolution,
  recurrence,  ///< products that wait for each other, step by step
  batch_statistics, ///< arithmetic that reads its inputs for statistics, and again
  lookup,      ///< copies as much as it gives out of something larger
  view,        ///< a description of what is there already
  collective_start, ///< starts a collective on its device, whose kernel does all else of it there
  collective   ///< what that kernel does: a sum of two parts, or a part that goes on
};

/// The tensors of its forward op that a gradient reads besides the gradients of the outputs, and so keeps in memory
/// until then.
enum class gradient_reads : std::uint8_t {
  nothing,   ///< an addition, a reshape
  selectors, ///< the inputs that have no gradient themselves, such as the indices of a gather
  inputs,    ///< a multiplication
  outputs,   ///< a ReLU
  both       ///< a max pool
};

/// The rule by which an op is differentiated.
struct gradient_rule {
  bool differentiable = true;
  /// A sum of products of two operands, such as a matrix product: the gradient of each costs as much as the op, and
  /// reads the other one.
  bool product = false;
  bool parameters = true; ///< what the op holds is trained; else it is axes, a shape, limits
  gradient_reads reads = gradient_reads::both;
  bool variable = false; ///< what it holds, other ops read: without work and inputs it is a variable
};

/// The part of an op in an attention, the keys and values of which may be kept in a cache. What weighs keys without a
/// softmax, or takes but a window of them, is nothing of it.
enum class attention_part : std::uint8_t {
  nothing,
  softmax,
  whole ///< products and softmax in one op
};

class axes_finder;

/// The facts about ops of one type.
struct facts {
  double (*flop)(const call&) = nullptr; ///< FLOP from shapes and attributes; null if nobody knows
  device_use use = device_use::other;
  gradient_rule gradient = {};
  std::uint8_t outputs = 1; ///< how many it has; where an attribute says it, 1
  attention_part attends = attention_part::nothing;
  std::uint8_t numbers = 255; ///< so many of its outputs, the first ones, are numbers; others are masks or indices
  void (*axes)(axes_finder&) = nullptr; ///< finds the axes along which it may be split; null: see `axes_of`
  bool in_place = false; ///< each element of the output depends on the inputs' elements in its place alone
};

} // namespace weft::ops
