// SPDX-License-Identifier: BSL-1.0
/// Compute times read from a table, as profiles and published examples give them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/cost/linear.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace weft::cost {

namespace detail {
struct seconds_must_outlive_the_table {};
} // namespace detail

/// `seconds[v * num_devices + d]` to compute op v on device d; transfers over the platform's links.
/// The table is not copied and must outlive the model; temporaries are refused. Shape: ops × devices, row-major.
struct table : link_transfers {
  /// Throws `value_error` if an entry is negative or not finite, or if there are not ops × devices of them.
  constexpr table(std::span<const double> seconds, std::size_t num_ops, std::size_t num_devices)
      : seconds_{seconds}, num_devices_{num_devices} {
    if (seconds.size() != num_ops * num_devices) {
      throw value_error("cost table", "has " + std::to_string(seconds.size()) + " entries, not " +
                                        std::to_string(num_ops) + " ops x " + std::to_string(num_devices) + " devices");
    }
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      if (!(seconds[i] >= 0 && seconds[i] < 1e300)) {
        throw value_error("cost table: op " + std::to_string(i / num_devices) + " on device " +
                            std::to_string(i % num_devices),
                          "must be a finite number of seconds, not negative");
      }
    }
  }

  template <std::ranges::contiguous_range Seconds>
    requires(!std::ranges::borrowed_range<Seconds>)
  table(Seconds&&, std::size_t, std::size_t, detail::seconds_must_outlive_the_table = {}) = delete;

  template <class W, class P>
  constexpr double compute_time(const W&, op_id v, const P&, device_id d) const {
    return seconds_[v * num_devices_ + d];
  }

private:
  std::span<const double> seconds_;
  std::size_t num_devices_;
};

} // namespace weft::cost
