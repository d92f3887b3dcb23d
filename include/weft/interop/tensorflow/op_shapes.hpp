// SPDX-License-Identifier: BSL-1.0
/// The interface of TensorFlow's shape rules: an op with its inputs, and the proposals for its outputs.
#pragma once

#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/tensor_info.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// What a rule proposes for one output; extents of -1 are not known.
struct proposal {
  partial_shape dims = {};
  bool at_most = false; ///< data decide, and this is the most that is possible
};

/// What the rules of all ops need.
class op_shapes {
public:
  using list = std::vector<std::int64_t>;

  op_shapes(const graph& g, op_id v, const op_facts& family, std::span<const tensor_info* const> inputs,
            std::span<const source> sources, std::span<const std::uint32_t> ports)
      : g_{g}, n_{g[v]}, family_{family}, in_{inputs}, sources_{sources}, ports_{ports}, out_(ports.size()) {}

protected:
  bool has(std::size_t i) const { return i < in_.size() && in_[i]->known; }
  partial_shape dims(std::size_t i) const {
    return has(i) ? partial_shape{list(in_[i]->dims.begin(), in_[i]->dims.end())} : std::nullopt;
  }
  /// Whole numbers in an input, or null if these are not known.
  const list* values(std::size_t i) const {
    return i < in_.size() && in_[i]->values ? in_[i]->values->whole() : nullptr;
  }
  std::optional<std::int64_t> scalar(std::size_t i) const { return i < in_.size() ? in_[i]->number() : std::nullopt; }
  /// An axis counted from the end if negative; nothing if there is none.
  static std::optional<std::size_t> axis(std::int64_t a, std::size_t rank) {
    const auto n = static_cast<std::int64_t>(rank);
    return a >= -n && a < n ? std::optional{static_cast<std::size_t>(a < 0 ? a + n : a)} : std::nullopt;
  }
  std::int64_t rank_of(std::size_t i) const { return has(i) ? static_cast<std::int64_t>(in_[i]->dims.size()) : -1; }

  void all(const partial_shape& shape) {
    for (auto& o : out_) {
      o.dims = shape;
    }
  }
  /// For the output with that number, if anybody reads it.
  void set(std::uint32_t port, partial_shape shape) {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (ports_[i] == port) {
        out_[i] = {std::move(shape)};
        return;
      }
    }
  }
  /// For output 0: (stacks of) matrices of as many rows as the first input has, or columns if it is transposed, and as
  /// many columns as the second one has, or rows.
  void set_product(bool transposed_first, bool transposed_second) {
    const auto a = dims(0);
    const auto b = dims(1);
    if (!a || !b || a->size() < 2 || b->size() < 2) {
      return;
    }
    auto shape = broadcast({a->begin(), a->end() - 2}, {b->begin(), b->end() - 2});
    if (shape) {
      shape->push_back((*a)[a->size() - (transposed_first ? 1 : 2)]);
      shape->push_back((*b)[b->size() - (transposed_second ? 2 : 1)]);
      set(0, shape);
    }
  }

  const graph& g_;
  const node& n_;
  const op_facts& family_;
  std::span<const tensor_info* const> in_;
  std::span<const source> sources_;
  std::span<const std::uint32_t> ports_;
  std::vector<proposal> out_;
};

} // namespace weft::tensorflow::detail
