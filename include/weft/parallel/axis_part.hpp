// SPDX-License-Identifier: BSL-1.0
/// The part of an axis, and of what lies along it, that each of several ranks has.
#pragma once

#include "weft/core/ids.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace weft::parallel {

/// The share of a whole that the first ranks have, `numerator` / `denominator` in lowest terms. The last one may have
/// less: rank r has what is from r times the share to r + 1 times it. Two tensors whose ranks have the same share lie
/// alike.
struct axis_part {
  std::uint64_t numerator = 1, denominator = 1;

  /// Of so many bytes, or other units, those of the first ranks, rounded up.
  constexpr byte_count of(byte_count all) const { return of(all, 0); }
  /// … of that rank.
  constexpr byte_count of(byte_count all, std::uint32_t rank) const {
    const auto units = end(rank) - begin(rank);
    return all / denominator * units + (all % denominator * units + denominator - 1) / denominator;
  }
  /// The share of the first ranks, or of that one.
  constexpr double share(std::uint32_t rank = 0) const {
    return static_cast<double>(end(rank) - begin(rank)) / static_cast<double>(denominator);
  }
  /// The places where a rank's part begins and ends, in units of the whole over the denominator.
  constexpr std::uint64_t begin(std::uint32_t rank) const { return std::min(rank * numerator, denominator); }
  constexpr std::uint64_t end(std::uint32_t rank) const { return std::min((rank + 1) * numerator, denominator); }

  friend constexpr bool operator==(const axis_part&, const axis_part&) = default;
  friend constexpr auto operator<=>(const axis_part&, const axis_part&) = default;
};

/// The part of an axis of that extent: ⌈extent / ranks⌉ of it for each rank, as far as there is any.
/// Precondition: the extent and the ranks are above 0.
constexpr axis_part part_of_axis(std::uint64_t extent, std::uint32_t ranks) {
  const auto each = (extent + ranks - 1) / ranks;
  const auto common = std::gcd(each, extent);
  return {each / common, extent / common};
}

/// The largest part of an axis over what equal parts would be; infinite if some rank would have nothing of it.
constexpr double excess_of_parts(std::uint64_t extent, std::uint32_t ranks) {
  const auto each = (extent + ranks - 1) / ranks;
  return each * (ranks - 1) >= extent ? std::numeric_limits<double>::infinity()
                                      : static_cast<double>(each * ranks) / static_cast<double>(extent);
}

/// Of so many bytes that rank `from` has a part of, what rank `to` has in other parts of the same dimension.
inline byte_count overlap(const axis_part& a, std::uint32_t from, const axis_part& b, std::uint32_t to,
                          byte_count all) {
  const auto at = [](std::uint64_t place, const axis_part& part) {
    return static_cast<double>(place) / static_cast<double>(part.denominator);
  };
  const double first = std::max(at(a.begin(from), a), at(b.begin(to), b));
  const double last = std::min(at(a.end(from), a), at(b.end(to), b));
  return last <= first ? 0 : static_cast<byte_count>(std::ceil((last - first) * static_cast<double>(all)));
}

} // namespace weft::parallel
