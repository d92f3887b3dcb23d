// SPDX-License-Identifier: BSL-1.0
/// The pairs of devices between which tensors go.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace weft::simulate::detail {

/// Groups the transfers of a run by sender and receiver. `assign` does not allocate.
class transfer_routes {
public:
  struct route {
    device_id from = none;
    device_id to = none;
    std::uint32_t num_transfers = 0;
  };

  constexpr transfer_routes(std::size_t num_devices, std::size_t max_transfers)
      : first_of_sender_(num_devices + 1, 0), route_to_(num_devices, none), by_sender_(max_transfers, 0),
        route_of_(max_transfers, 0) {
    routes_.reserve(std::min(max_transfers, num_devices * num_devices));
  }

  /// Complexity: O(transfers + devices).
  constexpr void assign(std::span<const transfer> transfers) {
    std::fill(first_of_sender_.begin(), first_of_sender_.end(), 0);
    for (const transfer& x : transfers) {
      ++first_of_sender_[x.from + 1];
    }
    std::partial_sum(first_of_sender_.begin(), first_of_sender_.end(), first_of_sender_.begin());
    for (std::uint32_t k = 0; k < transfers.size(); ++k) {
      by_sender_[first_of_sender_[transfers[k].from]++] = k;
    }
    routes_.clear();
    std::fill(route_to_.begin(), route_to_.end(), none);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const transfer& x = transfers[by_sender_[i]];
      auto& at = route_to_[x.to];
      if (at == none || routes_[at].from != x.from) {
        at = static_cast<std::uint32_t>(routes_.size());
        routes_.push_back({x.from, x.to, 0});
      }
      ++routes_[at].num_transfers;
      route_of_[by_sender_[i]] = at;
    }
  }

  /// By sender; those of one in the order of their first transfers.
  constexpr std::span<const route> routes() const { return routes_; }
  constexpr std::uint32_t route_of(std::uint32_t k) const { return route_of_[k]; }

private:
  std::vector<std::uint32_t> first_of_sender_;
  std::vector<std::uint32_t> route_to_; // per device: the last route that led there
  std::vector<std::uint32_t> by_sender_;
  std::vector<std::uint32_t> route_of_; // per transfer
  std::vector<route> routes_;
};

} // namespace weft::simulate::detail
