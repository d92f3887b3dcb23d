// SPDX-License-Identifier: BSL-1.0
/// One network type for the models under which transfers affect each other, for programs that choose at run time.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/error.hpp"
#include "weft/core/heap.hpp"
#include "weft/partition/list/link_bookings.hpp"
#include "weft/plan/contention.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/fair_sharing.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace weft::simulate {

/// The network of that name: runs are those of `port_contention` or `fair_sharing`, to the last bit. (`no_contention`
/// has no state and no cost, and so a simulator of its own.)
struct any_network {
  contention_model model = contention_model::fair; ///< not `none`, for which `state_for` throws
  flow_weights weights = flow_weights::equal; ///< under `fair`

  template <class Platform>
  class state {
  public:
    template <class Problem>
    state(const any_network& which, const Problem& p) : arriving_(p.num_edges(), keyed_number{}) {
      if (which.model == contention_model::fair) {
        fair_.emplace(fair_sharing{which.weights}.state_for(p));
      } else {
        port_.emplace(port_contention{}.state_for(p));
      }
    }

    void reset(std::span<const transfer> transfers) {
      transfers_ = transfers;
      num_arriving_ = 0;
      fair_ ? fair_->reset(transfers) : port_->reset(transfers);
    }
    void request(std::uint32_t k, double now) {
      fair_ ? fair_->request(k, now) : port_->request(k, now);
    }
    template <class Begin>
    void settle(double now, Begin begin) {
      if (fair_) {
        fair_->settle(now, begin);
        return;
      }
      port_->settle(now, [&](std::uint32_t k, double possible) {
        keyed_heap.push(arriving_.data(), num_arriving_++, {now + transfers_[k].transfer_time, k});
        return begin(k, possible);
      });
    }
    void release(std::uint32_t k) {
      if (port_) {
        port_->release(k);
      }
    }
    bool idle() const { return fair_ ? fair_->idle() : num_arriving_ == 0; }
    double next() const {
      return fair_ ? fair_->next() : num_arriving_ > 0 ? arriving_[0].key : std::numeric_limits<double>::infinity();
    }
    template <class Arrive>
    void advance(double now, Arrive arrive) {
      if (fair_) {
        fair_->advance(now, arrive);
        return;
      }
      while (num_arriving_ > 0 && arriving_[0].key <= now) {
        const auto k = arriving_[0].number;
        keyed_heap.pop(arriving_.data(), num_arriving_--);
        arrive(k);
      }
    }

  private:
    std::optional<port_contention::state> port_;
    std::optional<fair_sharing::state<Platform>> fair_;
    std::span<const transfer> transfers_;
    buffer<keyed_number> arriving_; // a heap by time, under `port`
    std::size_t num_arriving_ = 0;
  };

  template <class Problem>
  state<typename Problem::platform_type> state_for(const Problem& p) const {
    if (model == contention_model::none) {
      throw value_error("any_network", "is of networks on which transfers affect each other; for none, use "
                                       "simulate::no_contention");
    }
    return {*this, p};
  }
  template <class Problem>
  constexpr partition::list::link_bookings<Problem> bookings_for(const Problem& p) const {
    using books = partition::list::link_bookings<Problem>;
    return model == contention_model::port ? books::of_ports(p) : books::of_routes(p);
  }
};

} // namespace weft::simulate
