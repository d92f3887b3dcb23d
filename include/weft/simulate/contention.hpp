// SPDX-License-Identifier: BSL-1.0
/// Networks on which transfers do not wait, or take turns at the ports of devices.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/core/ids.hpp"
#include "weft/partition/list/link_bookings.hpp"
#include "weft/plan/contention.hpp"
#include "weft/schedule/placed_flow.hpp"
#include "weft/simulate/detail/transfer_routes.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace weft::simulate {

/// Every transfer runs at full rate, however many there are.
struct no_contention {
  struct state {};
  template <class Problem>
  constexpr state state_for(const Problem&) const {
    return {};
  }
  template <class Problem>
  constexpr partition::list::no_bookings bookings_for(const Problem&) const {
    return {};
  }
};

/// Each device has one port for sending and one for receiving, and each port carries one transfer at a time. At every
/// instant, when all that ends then has freed its ports, the transfers that wait are looked at in the order of their
/// requests; each begins that finds both its ports free.
struct port_contention {
  static constexpr contention_model model = contention_model::port;
  /// Transfers from one device to another form a **route**, on which they go in the order of their requests. A route
  /// on which some wait is kept at one of its two ports, a busy one, and looked at again when that is free.
  ///
  /// Complexity: O(log devices) per transfer and route that is looked at; at each release these are, at most, the
  /// routes at the port whose other end is busy, and one more. Does not allocate after the constructor.
  class state {
  public:
    constexpr explicit state(std::size_t num_devices, std::size_t max_transfers)
        : num_devices_{static_cast<device_id>(num_devices)}, holder_(2 * num_devices, none),
          first_kept_(2 * num_devices + 1, 0), num_kept_(2 * num_devices, 0), is_touched_(2 * num_devices, 0),
          offers_(2 * num_devices, entry{}), grouped_{num_devices, max_transfers},
          kept_(2 * max_transfers, entry{}), waiting_(max_transfers, request_of{}) {
      touched_.reserve(2 * num_devices);
      routes_.reserve(max_transfers);
    }

    /// Nothing waits, all ports are free, and the transfers are these.
    constexpr void reset(std::span<const transfer> transfers) {
      num_requests_ = 0;
      touched_.clear();
      std::fill(holder_.begin(), holder_.end(), none);
      std::fill(num_kept_.begin(), num_kept_.end(), 0);
      std::fill(is_touched_.begin(), is_touched_.end(), 0);
      make_routes(transfers);
    }

    /// Transfer k may begin from now on.
    constexpr void request(std::uint32_t k, double now) {
      auto& x = waiting_[k];
      x.since = now;
      x.number = num_requests_++;
      x.next = none;
      auto& r = routes_[x.route];
      if (r.first != none) {
        waiting_[r.last].next = k;
        r.last = k;
        return;
      }
      r.first = r.last = k;
      if (holder_[r.from] == none && holder_[r.to] != none) {
        keep(x.route, r.to);
      } else {
        keep(x.route, r.from);
        touch(r.from);
      }
    }

    /// Transfer k has arrived.
    constexpr void release(std::uint32_t k) {
      const auto& r = routes_[waiting_[k].route];
      for (const std::uint32_t port : {r.from, r.to}) {
        if (holder_[port] == k) {
          holder_[port] = none;
          touch(port);
        }
      }
    }

    /// Begins what can begin now: `begin(k, since)`, for a transfer that could have begun at `since`, returns whether
    /// it takes any time.
    template <class Begin>
    constexpr void settle(double, Begin begin) {
      std::size_t num_offers = 0;
      const auto offer = [&](std::uint32_t port) {
        if (holder_[port] == none && num_kept_[port] > 0) {
          operations.push(offers_.data(), num_offers++, {kept_[first_kept_[port]].number, port});
        }
      };
      for (const std::uint32_t port : touched_) {
        is_touched_[port] = 0;
        offer(port);
      }
      touched_.clear();
      while (num_offers > 0) {
        const std::uint32_t port = offers_[0].what;
        operations.pop(offers_.data(), num_offers--);
        if (holder_[port] != none) {
          continue;
        }
        auto* const kept = &kept_[first_kept_[port]];
        const std::uint32_t at = kept->what;
        operations.pop(kept, num_kept_[port]--);
        auto& r = routes_[at];
        const std::uint32_t other = port == r.from ? r.to : r.from;
        if (holder_[other] != none) {
          keep(at, other);
        } else {
          const std::uint32_t k = r.first;
          r.first = waiting_[k].next;
          if (begin(k, waiting_[k].since)) {
            holder_[port] = holder_[other] = k;
          }
          if (r.first != none) {
            keep(at, port);
          }
        }
        offer(port);
      }
    }

  private:
    struct entry {
      std::uint32_t number = 0; ///< of a request
      std::uint32_t what = 0;   ///< a route or a port
    };
    struct sooner {
      constexpr bool operator()(const entry& a, const entry& b) const { return a.number < b.number; }
    };
    struct route {
      std::uint32_t from = 0; ///< the sender's out-port
      std::uint32_t to = 0;   ///< the receiver's in-port
      std::uint32_t first = none; ///< of the transfers that wait; `none` if none does
      std::uint32_t last = none;
    };
    struct request_of { ///< per transfer
      double since = 0;
      std::uint32_t number = 0;
      std::uint32_t route = 0;
      std::uint32_t next = none; ///< on its route
    };
    static constexpr heap_operations<entry, sooner> operations{};

    constexpr void touch(std::uint32_t port) {
      if (!is_touched_[port]) {
        is_touched_[port] = 1;
        touched_.push_back(port);
      }
    }

    constexpr void keep(std::uint32_t at, std::uint32_t port) {
      operations.push(&kept_[first_kept_[port]], num_kept_[port]++, {waiting_[routes_[at].first].number, at});
    }

    constexpr void make_routes(std::span<const transfer> transfers) {
      grouped_.assign(transfers);
      routes_.clear();
      std::fill(first_kept_.begin(), first_kept_.end(), 0);
      for (const auto& r : grouped_.routes()) {
        routes_.push_back({r.from, num_devices_ + r.to});
        ++first_kept_[r.from + 1];
        ++first_kept_[num_devices_ + r.to + 1];
      }
      for (std::uint32_t k = 0; k < transfers.size(); ++k) {
        waiting_[k].route = grouped_.route_of(k);
      }
      std::partial_sum(first_kept_.begin(), first_kept_.end(), first_kept_.begin());
    }

    device_id num_devices_;
    std::uint32_t num_requests_ = 0;
    std::vector<std::uint32_t> holder_;     // per port, senders first: the transfer that it carries, or `none`
    std::vector<std::uint32_t> first_kept_; // per port: where its heap begins
    std::vector<std::uint32_t> num_kept_;
    std::vector<std::uint32_t> touched_; // free ports that may have something to do
    std::vector<std::uint8_t> is_touched_;
    buffer<entry> offers_;           // a heap of free ports, by the first request that they know
    detail::transfer_routes grouped_;
    buffer<entry> kept_; // per port: a heap of routes, by their first requests
    std::vector<route> routes_;
    std::vector<request_of> waiting_; // per transfer
  };

  template <class Problem>
  constexpr state state_for(const Problem& p) const {
    return state{p.num_devices(), p.num_edges()};
  }
  template <class Problem>
  constexpr partition::list::link_bookings<Problem> bookings_for(const Problem& p) const {
    return partition::list::link_bookings<Problem>::of_ports(p);
  }
};

} // namespace weft::simulate
