// SPDX-License-Identifier: BSL-1.0
/// The interface of shape rules: a call of an op as a rule sees it, and what it works out of the outputs.
#pragma once

#include "weft/ops/call.hpp"
#include "weft/ops/element_type.hpp" // IWYU pragma: export
#include "weft/ops/known_tensor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::ops {

/// An input beside its extents, which are in the `call`.
struct shape_input {
  bool is_there = true;
  element_type element = elements::unknown;
};

/// An output, as far as a rule knows it.
struct shape_output {
  std::optional<call::extents> dims = {}; ///< -1 for an extent that is not known
  element_type element = elements::unknown;
};

/// A call whose outputs a rule works out. Where inputs do not fit together, rules leave outputs open.
class shape_call {
public:
  using extents = call::extents;
  /// The elements of an input, or null. It is asked only by rules that need more than few whole numbers.
  using elements_of = std::function<const known_tensor*(std::size_t)>;

  /// `outputs` are the numbers of those that count, ascending. All but `elements` must outlive this.
  shape_call(const call& call, std::span<const shape_input> inputs, elements_of elements,
             std::span<const std::uint32_t> outputs)
      : o{call}, inputs_{inputs}, elements_{std::move(elements)}, numbers_{outputs}, outputs_(outputs.size()) {}

  const call& o;

  std::size_t num_inputs() const { return inputs_.size(); }
  /// One more than the number of the last output that counts.
  std::size_t num_outputs() const { return numbers_.empty() ? 0 : numbers_.back() + std::size_t{1}; }
  std::span<const std::uint32_t> outputs() const { return numbers_; }
  /// The extents of an input, or null if it is absent or they are not known.
  const extents* dims(std::size_t i) const { return o.has_input(i) ? &*o.inputs[i] : nullptr; }
  /// The whole numbers in an input, or null.
  const extents* integers(std::size_t i) const { return i < o.values.size() && o.values[i] ? &*o.values[i] : nullptr; }
  element_type element(std::size_t i) const { return has(i) ? inputs_[i].element : elements::unknown; }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i].is_there; }
  /// The numbers in an input.
  std::optional<std::vector<double>> reals(std::size_t i) const {
    const auto* x = has(i) ? elements_(i) : nullptr;
    return x != nullptr ? std::optional{x->as_reals()} : std::nullopt;
  }
  /// The last of the whole numbers in an input.
  std::optional<std::int64_t> last(std::size_t i) const {
    const auto* x = has(i) ? elements_(i) : nullptr;
    const auto* whole = x != nullptr ? x->whole() : nullptr;
    return whole != nullptr && !whole->empty() ? std::optional{whole->back()} : std::nullopt;
  }
  /// A list among the attributes, or null.
  const extents* list(std::string_view name) const {
    const auto found = o.numbers.find(name);
    return found == o.numbers.end() ? nullptr : &found->second;
  }
  /// An attribute or, from some operator set on, an input that holds a list.
  const extents* list(std::string_view name, std::size_t input) const {
    return has(input) ? integers(input) : list(name);
  }
  /// An axis of a tensor of that rank; nothing if there is no such axis.
  static std::optional<std::size_t> position(std::int64_t axis, std::size_t rank) {
    return known::axis_of(axis, rank);
  }

  /// Says what an output is. An element of 0 means that of the first input.
  void set(std::size_t output, extents dims, element_type element = elements::unknown) {
    const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), output);
    if (at != numbers_.end() && *at == output) {
      outputs_[static_cast<std::size_t>(at - numbers_.begin())] = {
        std::move(dims), element != elements::unknown ? element : this->element(0)};
    }
  }
  /// An output is like an input.
  void like(std::size_t output, std::size_t input, element_type element = elements::unknown) {
    if (const auto* d = dims(input)) {
      set(output, *d, element != elements::unknown ? element : this->element(input));
    }
  }
  /// Each output has these extents.
  void set_all(const extents& dims) {
    for (const auto i : numbers_) {
      set(i, dims);
    }
  }
  void all_like(std::size_t input) {
    for (const auto i : numbers_) {
      like(i, input);
    }
  }
  /// Data decide how large outputs are: what the rule says is the most that is possible.
  void say_at_most() { at_most_ = true; }
  bool at_most() const { return at_most_; }

  /// Facts about each of `outputs()`.
  std::vector<shape_output> take() && { return std::move(outputs_); }

private:
  std::span<const shape_input> inputs_;
  elements_of elements_;
  std::span<const std::uint32_t> numbers_;
  std::vector<shape_output> outputs_;
  bool at_most_ = false;
};

/// A product that stays in range: more than any tensor has elements where it does not.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t large = std::int64_t{1} << 61;
  return a <= 0 || b <= 0 ? 0 : a > large / b ? large : a * b;
}

/// A sum of extents that stays in range: more than any tensor has where it does not.
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t large = std::int64_t{1} << 61;
  return std::min(std::clamp(a, std::int64_t{0}, large) + std::clamp(b, std::int64_t{0}, large), large);
}

} // namespace weft::ops
