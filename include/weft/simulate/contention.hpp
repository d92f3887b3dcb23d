// SPDX-License-Identifier: BSL-1.0
/// How transfers share the links.
#pragma once

#include "weft/core/ids.hpp"

#include <algorithm>
#include <vector>

namespace weft::simulate {

/// Every transfer runs at full rate, however many there are.
struct no_contention {
  class state {
  public:
    constexpr explicit state(std::size_t) {}
    constexpr void reset() {}
    /// When a transfer that could begin `now` begins; `seconds` is how long it takes.
    constexpr double reserve(double now, double, device_id, device_id) { return now; }
  };
};

/// Each device has one port for sending and one for receiving, and each port carries one transfer at a time. Ports
/// are granted in the order of request: a transfer begins as soon as it may and both ports are free of earlier ones.
struct port_contention {
  class state {
  public:
    constexpr explicit state(std::size_t num_devices)
        : sending_until_(num_devices, 0.0), receiving_until_(num_devices, 0.0) {}
    constexpr void reset() {
      std::fill(sending_until_.begin(), sending_until_.end(), 0.0);
      std::fill(receiving_until_.begin(), receiving_until_.end(), 0.0);
    }
    constexpr double reserve(double now, double seconds, device_id from, device_id to) {
      const double start = std::max({now, sending_until_[from], receiving_until_[to]});
      sending_until_[from] = receiving_until_[to] = start + seconds;
      return start;
    }

  private:
    std::vector<double> sending_until_;
    std::vector<double> receiving_until_;
  };
};

} // namespace weft::simulate
