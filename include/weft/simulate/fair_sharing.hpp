// SPDX-License-Identifier: BSL-1.0
/// A network whose links are shared by all transfers that pass them.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/indexed_heap.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/partition/list/link_bookings.hpp"
#include "weft/plan/contention.hpp"
#include "weft/platform/concepts.hpp"
#include "weft/schedule/placed_flow.hpp"
#include "weft/simulate/detail/transfer_routes.hpp"
#include "weft/simulate/max_min_rates.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::simulate {

/// Every transfer takes the route of links from its sender to its receiver. It begins at once, is under way for the
/// latency of the route, and then moves its bytes at a rate that is revised whenever another begins or ends to do so:
/// links are shared by weighted max–min fairness (`max_min_rates`). Alone, it takes its `transfer_time`.
///
/// Routes and the capacities of their links are those of the platform (`has_routes`); without them every pair of
/// devices has a link of its own in each direction, and what shares it are the transfers between the two. Where a cost
/// model gives other times than latency + bytes / bandwidth, a transfer has as many bytes as make its time alone come
/// out.
///
/// This is the flow model CM02 of SimGrid without cross traffic, with `flow_weights::inverse_latency` to the letter.
/// Source: Casanova, Marchal, *A Network Model for Simulation of Grid Application*, INRIA RR-4596, 2002; Velho,
/// Schnorr, Casanova, Legrand, *On the Validity of Flow-Level TCP Network Models for Grid and Cloud Simulations*, ACM
/// TOMACS 23(4), 2013. Complexity: per begin and end, O(log transfers) and what `max_min_rates` needs for the pairs of
/// devices whose rates change; memory O(transfers + links + Σ lengths of the routes in use).
struct fair_sharing {
  flow_weights weights = flow_weights::equal;

  template <class Platform>
  class state {
  public:
    state(flow_weights rule, const Platform& p, std::size_t num_devices, std::size_t max_transfers)
        : rule_{rule}, platform_{&p}, grouped_{num_devices, max_transfers}, flows_(max_transfers, flow{}),
          queued_(max_transfers, keyed_number{}), timed_(max_transfers, keyed_number{}) {
      requested_.reserve(max_transfers);
      arrived_.reserve(max_transfers);
      number_of_link_.assign(num_links(p), none);
    }

    /// Nothing is under way, and the transfers are these.
    void reset(std::span<const transfer> transfers) {
      grouped_.assign(transfers);
      make_routes();
      for (std::uint32_t k = 0; k < transfers.size(); ++k) {
        const auto& r = routes_[grouped_.route_of(k)];
        const double latency = std::min(r.latency, transfers[k].transfer_time);
        const bool shares = r.shared != none && transfers[k].transfer_time < infinity;
        flows_[k] = {.latency = shares ? latency : transfers[k].transfer_time,
                     .seconds = shares ? transfers[k].transfer_time - latency : 0};
      }
      requested_.clear();
      num_timed_ = 0;
      finishing_.reset(routes_.size());
    }

    void request(std::uint32_t k, double now) {
      flows_[k].possible = now;
      requested_.push_back(k);
    }

    /// All that was requested begins, and rates are revised.
    template <class Begin>
    void settle(double now, Begin begin) {
      for (const auto k : requested_) {
        begin(k, flows_[k].possible);
        if (!(now < infinity)) { // after an op that takes for ever
          flows_[k].seconds = 0;
        }
        if (flows_[k].latency > 0 || flows_[k].seconds == 0) {
          keyed_heap.push(timed_.data(), num_timed_++, {now + flows_[k].latency, k});
        } else {
          join(k, now);
        }
      }
      requested_.clear();
      rates_.settle([&](std::uint32_t shared, double rate) {
        auto& r = routes_[route_of_class_[shared]];
        bring_up_to_date(r, now);
        r.rate = std::min(1.0, rate / r.bandwidth);
        touch(route_of_class_[shared]);
      });
      for (const auto at : touched_) {
        auto& r = routes_[at];
        r.touched = false;
        if (r.num_queued > 0) {
          const double left = queued_[r.first].key - r.done;
          finishing_.set(at, left > 0 ? now + left / r.rate : now);
        } else {
          finishing_.remove(at);
        }
      }
      touched_.clear();
    }

    bool idle() const { return num_timed_ == 0 && finishing_.empty(); }
    double next() const {
      const double first = num_timed_ > 0 ? timed_[0].key : infinity;
      return finishing_.empty() ? first : std::min(first, finishing_.first_key());
    }

    template <class Arrive>
    void advance(double now, Arrive arrive) {
      arrived_.clear();
      while (num_timed_ > 0 && timed_[0].key <= now) {
        const auto k = timed_[0].number;
        keyed_heap.pop(timed_.data(), num_timed_--);
        if (flows_[k].seconds == 0) {
          arrived_.push_back(k);
        } else {
          join(k, now);
        }
      }
      while (!finishing_.empty() && finishing_.first_key() <= now) {
        finish_first(now);
      }
      if (arrived_.size() > 1) {
        weft::sort(arrived_);
      }
      for (const auto k : arrived_) {
        arrive(k);
      }
    }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    struct flow {
      double latency = 0;  ///< until it takes part
      double seconds = 0;  ///< that it then needs alone
      double possible = 0;
    };
    /// The transfers between two devices that take part. They are equally fast, so what one that was there all the time
    /// would have done by now tells how far each is: those that end sooner are those with the smaller targets.
    struct route {
      double latency = 0;
      double bandwidth = infinity;
      double rate = 0;  ///< of one transfer, as a share of what it has alone
      double done = 0;  ///< seconds alone, since the first of those that are there began
      double since = 0; ///< as of when
      std::uint32_t shared = none; ///< its class in `rates_`; none if no link on it can be full
      std::uint32_t first = 0;     ///< of its heap
      std::uint32_t num_queued = 0;
      bool touched = false;
    };
    static std::size_t num_links(const Platform& p) {
      if constexpr (platform_parts::has_routes<Platform>) {
        return static_cast<std::size_t>(p.num_links());
      } else {
        return 0;
      }
    }

    void make_routes() {
      rates_.clear();
      routes_.clear();
      route_of_class_.clear();
      links_.clear();
      std::uint32_t first = 0;
      for (const auto& pair : grouped_.routes()) {
        route r;
        r.first = first;
        first += pair.num_transfers;
        via_.clear();
        add_links(pair.from, pair.to, r);
        if (!via_.empty()) {
          r.shared = static_cast<std::uint32_t>(route_of_class_.size());
          route_of_class_.push_back(static_cast<std::uint32_t>(routes_.size()));
          const bool by_latency = rule_ == flow_weights::inverse_latency && r.latency > 0;
          rates_.add_class(via_, by_latency ? 1 / r.latency : 1);
        }
        routes_.push_back(r);
      }
      for (const auto l : links_) {
        number_of_link_[l] = none;
      }
      rates_.ready();
      touched_.clear();
      touched_.reserve(routes_.size());
    }

    void add_links([[maybe_unused]] device_id from, [[maybe_unused]] device_id to, route& r) {
      if constexpr (platform_parts::has_routes<Platform>) {
        platform_->visit_route(from, to, [&](link_id l) {
          const auto& x = platform_->link_at(l);
          r.latency += x.latency;
          r.bandwidth = std::min(r.bandwidth, x.bandwidth);
          if (x.bandwidth < infinity) {
            if (number_of_link_[l] == none) {
              number_of_link_[l] = static_cast<std::uint32_t>(links_.size());
              links_.push_back(l);
              rates_.add_link(x.bandwidth);
            }
            if (std::find(via_.begin(), via_.end(), number_of_link_[l]) == via_.end()) {
              via_.push_back(number_of_link_[l]);
            }
          }
        });
      } else { // a link for each pair, on which one transfer goes at its full rate
        if constexpr (platform_parts::has_links<Platform>) {
          r.latency = platform_->latency(from, to);
        }
        r.bandwidth = 1;
        via_.push_back(static_cast<std::uint32_t>(routes_.size()));
        rates_.add_link(1);
      }
    }

    void touch(std::uint32_t at) {
      if (!routes_[at].touched) {
        routes_[at].touched = true;
        touched_.push_back(at);
      }
    }
    static void bring_up_to_date(route& r, double now) {
      r.done += rounded(r.rate * (now - r.since));
      r.since = now;
    }

    /// k begins to move its bytes.
    void join(std::uint32_t k, double now) {
      const auto at = grouped_.route_of(k);
      auto& r = routes_[at];
      if (r.num_queued == 0) {
        r.done = r.rate = 0;
        r.since = now;
      } else {
        bring_up_to_date(r, now);
      }
      keyed_heap.push(&queued_[r.first], r.num_queued++, {r.done + flows_[k].seconds, k});
      rates_.join(r.shared);
      touch(at);
    }
    /// All on the route that ends next that end together.
    void finish_first(double now) {
      const auto at = finishing_.first();
      finishing_.remove(at);
      auto& r = routes_[at];
      r.done = queued_[r.first].key;
      r.since = now;
      while (r.num_queued > 0 && queued_[r.first].key <= r.done) {
        arrived_.push_back(queued_[r.first].number);
        keyed_heap.pop(&queued_[r.first], r.num_queued--);
        rates_.leave(r.shared);
      }
      touch(at);
    }

    flow_weights rule_;
    const Platform* platform_;
    detail::transfer_routes grouped_;
    max_min_rates rates_;
    std::vector<route> routes_;
    std::vector<std::uint32_t> route_of_class_;
    std::vector<link_id> links_;                // those in use …
    std::vector<std::uint32_t> number_of_link_; // … and their numbers in `rates_`
    std::vector<std::uint32_t> via_;
    buffer<flow> flows_;    // per transfer
    buffer<keyed_number> queued_; // heaps, route by route, by what `done` is when they end
    buffer<keyed_number> timed_;  // a heap by time: ends of latencies, and arrivals where nothing is shared
    std::size_t num_timed_ = 0;
    indexed_heap finishing_; // routes by when the first of their transfers arrives
    std::vector<std::uint32_t> requested_, arrived_, touched_;
  };

  template <class Problem>
  state<typename Problem::platform_type> state_for(const Problem& p) const {
    return {weights, p.platform(), p.num_devices(), p.num_edges()};
  }
  template <class Problem>
  constexpr partition::list::link_bookings<Problem> bookings_for(const Problem& p) const {
    return partition::list::link_bookings<Problem>::of_routes(p);
  }
};

} // namespace weft::simulate
