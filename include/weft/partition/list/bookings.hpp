// SPDX-License-Identifier: BSL-1.0
/// The interface between list schedulers and networks: transfers that are booked while a plan is made.
#pragma once

#include "weft/core/ids.hpp"

#include <concepts>

namespace weft::partition {

namespace list {

/// A tensor that an op needs.
struct made_input {
  double finish = 0; ///< of its producer
  tensor_id tensor = none;
  device_id from = none; ///< where its producer runs
};

/// Every transfer has the network to itself: there is nothing to book.
struct no_bookings {};

/// B keeps the books of one schedule in the making. `begin(v, made)` turns to the inputs of op v, all of which have
/// been made: `made(tensor)` is a `made_input`. Then `arrival(device, hopeless)` is when the last of them would be
/// there; it may stop at an earlier time of which `hopeless(time)` says that it is too late already. `book(device)` has
/// them sent. What is sent to a device once stays there. No arrival is earlier than a send and a transfer after the
/// finish.
template <class B>
concept transfer_bookings =
  requires(B& b, op_id v, device_id d, made_input (*made)(tensor_id), bool (*hopeless)(double)) {
    b.begin(v, made);
    { b.arrival(d, hopeless) } -> std::convertible_to<double>;
    b.book(d);
  };

/// The network on which transfers do not affect each other.
struct no_network {
  template <class Problem>
  constexpr no_bookings bookings_for(const Problem&) const {
    return {};
  }
};

} // namespace list

/// A network for which list schedulers can plan: `n.bookings_for(problem)` makes the books of a schedule. All networks
/// of simulate/ are.
template <class N, class Problem>
concept bookable_network_for = std::copy_constructible<N> && (requires(const N& n, const Problem& p) {
  { n.bookings_for(p) } -> list::transfer_bookings;
} || requires(const N& n, const Problem& p) {
  { n.bookings_for(p) } -> std::same_as<list::no_bookings>;
});

} // namespace weft::partition
