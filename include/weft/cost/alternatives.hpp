// SPDX-License-Identifier: BSL-1.0
/// Compute times of ops that can each run on some devices only, in a time of its own on each.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/shared.hpp"
#include "weft/cost/linear.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::cost {

/// An op takes the time that its list has for a device, and cannot run on devices that its list does not have;
/// transfers over the platform's links. As machines are eligible in a flexible job shop, or kernels exist for some
/// accelerators.
/// Memory: 16 bytes per entry of a list, which copies share.
class alternatives : public link_transfers {
public:
  struct entry {
    device_id device;
    double seconds;
    friend bool operator==(const entry&, const entry&) = default;
  };

  /// Adds ops one by one, in the order of their ids.
  class builder {
  public:
    /// Throws `value_error` if a time is negative or not finite, or if a device is in the list twice or no device is.
    void add_op(std::span<const entry> can) {
      const auto which = "alternatives of op " + std::to_string(made_.first.size() - 1);
      if (can.empty()) {
        throw value_error(which, "there is none: no device can run it");
      }
      for (std::size_t i = 0; i < can.size(); ++i) {
        if (!(can[i].seconds >= 0 && can[i].seconds < 1e300)) {
          throw value_error(which, "device " + std::to_string(can[i].device) +
                                     " must take a finite number of seconds, not negative");
        }
        for (std::size_t j = 0; j < i; ++j) {
          if (can[j].device == can[i].device) {
            throw value_error(which, "device " + std::to_string(can[i].device) + " is listed twice");
          }
        }
      }
      made_.entries.insert(made_.entries.end(), can.begin(), can.end());
      made_.first.push_back(made_.entries.size());
    }
    alternatives build() && { return alternatives{std::move(made_)}; }

  private:
    friend class alternatives;
    struct lists {
      std::vector<std::size_t> first{0}; // per op, and one at the end
      std::vector<entry> entries;
    };
    lists made_;
  };

  std::span<const entry> of(op_id v) const {
    return std::span{lists_->entries}.subspan(lists_->first[v], lists_->first[v + 1] - lists_->first[v]);
  }

  /// Infinite where the op cannot run. Complexity: O(alternatives of the op).
  template <class W, class P>
  double compute_time(const W&, op_id v, const P&, device_id d) const {
    for (const entry& e : of(v)) {
      if (e.device == d) {
        return e.seconds;
      }
    }
    return std::numeric_limits<double>::infinity();
  }

private:
  explicit alternatives(builder::lists made) : lists_{std::move(made)} {}
  shared<builder::lists> lists_;
};

} // namespace weft::cost
