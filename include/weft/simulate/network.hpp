// SPDX-License-Identifier: BSL-1.0
/// The concept of a network model, which says when transfers begin and when they arrive.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <concepts>
#include <span>

namespace weft::simulate {

/// S decides when transfers begin: `reset(transfers)` before a run; `request(k, now)` when transfer k may begin; and
/// `settle(now, begin)` when everything that ends at an instant has ended: it calls `begin(k, possible)` for each
/// transfer that begins now and could have begun at `possible`, which says whether that takes any time. `release(k)`,
/// if there is one, says that k has arrived.
template <class S>
concept holds_transfers = requires(S& s, std::span<const transfer> transfers, std::uint32_t k, double now,
                                   bool (*begin)(std::uint32_t, double)) {
  s.reset(transfers);
  s.request(k, now);
  s.settle(now, begin);
};

/// S knows when something happens next: `idle()` says whether nothing is under way, `next()` when, if something is.
template <class S>
concept has_instants = requires(const S& s) {
  { s.idle() } -> std::convertible_to<bool>;
  { s.next() } -> std::convertible_to<double>;
};

/// S decides when they arrive, too: `idle()` says whether nothing is under way; `next()` is the next instant at which
/// something happens on it if it is not idle; `advance(now, arrive)` lets it happen, and calls `arrive(k)` for all that
/// arrives then, by k. Without these a transfer arrives `transfer_time` after it began.
template <class S>
concept has_clock = holds_transfers<S> && has_instants<S> &&
                    requires(S& s, double now, void (*arrive)(std::uint32_t)) { s.advance(now, arrive); };

/// S has some part of a network's state; then it should have the whole.
template <class S>
concept resembles_network =
  requires(S& s, std::span<const transfer> transfers) { s.reset(transfers); } ||
  requires(S& s, std::uint32_t k, double now) { s.request(k, now); } ||
  requires(S& s, double now, bool (*begin)(std::uint32_t, double)) { s.settle(now, begin); } ||
  requires(S& s, double now, void (*arrive)(std::uint32_t)) { s.advance(now, arrive); };

/// A model of how transfers that are under way at the same time affect each other. A copyable value that holds options;
/// `n.state_for(problem)` makes what runs need. A state that has none of the members above lets transfers begin as soon
/// as they may and arrive `transfer_time` later. A transfer that is alone on the network takes that long under every
/// network.
template <class N, class Problem>
concept network_for = std::copy_constructible<N> && requires(const N& n, const Problem& p) { n.state_for(p); };

} // namespace weft::simulate
