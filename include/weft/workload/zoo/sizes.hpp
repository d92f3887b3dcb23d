// SPDX-License-Identifier: BSL-1.0
/// Sizes of a bundled network that a text may give, such as `layers=24`.
#pragma once

#include "weft/core/config.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::zoo {

/// The name of a size, and the values that it may have.
struct size_key {
  std::string_view name;
  std::uint64_t least = 1;
  std::uint64_t largest = 1'000'000'000;
};

/// A size and its value, given in place of that of the network's source.
struct given_size {
  std::string_view name; ///< that of a `size_key`
  std::uint64_t value = 0;
};
using given_sizes = std::span<const given_size>;

/// A member of a network's options that a text may set: a number, or a flag (0 or 1).
template <class Options>
struct named_size {
  constexpr named_size(std::string_view name, std::uint64_t Options::* member, std::uint64_t largest = 1'000'000'000)
    : key{name, 1, largest}, number{member} {}
  constexpr named_size(std::string_view name, bool Options::* member) : key{name, 0, 1}, flag{member} {}

  size_key key;
  std::uint64_t Options::* number = nullptr;
  bool Options::* flag = nullptr;
};

/// More layers, or experts of one, than any published network has: each is some dozen ops.
inline constexpr std::uint64_t max_repeats = 10'000;

/// The sizes of a network that a text may give; specialised beside the options of each network that has some.
template <class Options>
inline constexpr std::array<named_size<Options>, 0> sizes_of{};

namespace detail {

template <class Options>
constexpr auto names_of_sizes() {
  std::array<size_key, std::size(sizes_of<Options>)> keys{};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = sizes_of<Options>[i].key;
  }
  return keys;
}

/// The names of a network's sizes, in the order of its options.
template <class Options>
inline constexpr auto size_keys = names_of_sizes<Options>();

/// Options with the given sizes in place of their own. Precondition: all of them are sizes of the options.
template <class Options>
Options resized(Options o, given_sizes given) {
  for (const auto& change : given) {
    for (const auto& size : sizes_of<Options>) {
      if (size.key.name != change.name) {
        continue;
      }
      if (size.flag != nullptr) {
        o.*size.flag = change.value != 0;
      } else {
        o.*size.number = change.value;
      }
    }
  }
  return o;
}

} // namespace detail

} // namespace weft::zoo
