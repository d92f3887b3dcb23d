// SPDX-License-Identifier: BSL-1.0
/// Kinds of devices and sets of them.
#pragma once

#include "weft/core/ids.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// The kind of a device. Values from 8 to 63 are free for kinds of your own; they are called `kind8` … `kind63`.
enum class device_kind : std::uint8_t { cpu, gpu, tpu, npu, fpga, dsp };

/// A set of device kinds, as a bit set of 64.
class kind_set {
public:
  constexpr kind_set() = default;
  constexpr kind_set(device_kind k) : bits_{std::uint64_t{1} << static_cast<unsigned>(k)} {}
  static constexpr kind_set all() { return from_bits(~std::uint64_t{0}); }
  static constexpr kind_set from_bits(std::uint64_t bits) {
    kind_set set;
    set.bits_ = bits;
    return set;
  }

  constexpr bool contains(device_kind k) const { return (bits_ >> static_cast<unsigned>(k)) & 1; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool is_all() const { return ~bits_ == 0; }
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool is_subset_of(kind_set other) const { return (bits_ & ~other.bits_) == 0; }
  friend constexpr kind_set operator&(kind_set a, kind_set b) { return from_bits(a.bits_ & b.bits_); }
  friend constexpr kind_set operator|(kind_set a, kind_set b) { return from_bits(a.bits_ | b.bits_); }
  friend constexpr bool operator==(kind_set, kind_set) = default;

private:
  std::uint64_t bits_ = 0;
};

namespace detail {
inline constexpr std::array<std::string_view, 6> kind_names{"cpu", "gpu", "tpu", "npu", "fpga", "dsp"};
}

/// The name of a kind, in lower case.
inline std::string to_string(device_kind k) {
  const auto i = static_cast<std::size_t>(k);
  return i < detail::kind_names.size() ? std::string{detail::kind_names[i]} : "kind" + std::to_string(i);
}

/// The names of the members, separated by `|`; `any` for all kinds.
inline std::string to_string(kind_set set) {
  if (set.is_all()) {
    return "any";
  }
  std::string text;
  for (unsigned i = 0; i < 64; ++i) {
    if (set.contains(static_cast<device_kind>(i))) {
      text += (text.empty() ? "" : "|") + to_string(static_cast<device_kind>(i));
    }
  }
  return text.empty() ? "none" : text;
}

/// The kind of that name (upper or lower case), if there is one.
inline std::optional<device_kind> parse_device_kind(std::string_view text) {
  std::string lower{text};
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (unsigned i = 0; i < 64; ++i) {
    if (lower == to_string(static_cast<device_kind>(i))) {
      return static_cast<device_kind>(i);
    }
  }
  return std::nullopt;
}

} // namespace weft
