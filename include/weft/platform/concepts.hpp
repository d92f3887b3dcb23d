// SPDX-License-Identifier: BSL-1.0
/// The concept of a platform: devices with kinds, speeds, capacities and slots, and links between them.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/platform/kinds.hpp"
#include "weft/platform/link.hpp"

#include <concepts>
#include <string_view>

namespace weft {
namespace platform_parts {

/// P has devices `0 … num_devices() - 1`, each with a kind and a name.
template <class P>
concept has_devices = requires(const P& p, device_id d) {
  { p.num_devices() } -> std::convertible_to<std::size_t>;
  { p.kind(d) } -> std::same_as<device_kind>;
};

/// Devices have limits: `memory_capacity(d)` in bytes; `slots(d)`, how many ops run at once.
template <class P>
concept has_limits = requires(const P& p, device_id d) {
  { p.memory_capacity(d) } -> std::convertible_to<byte_count>;
  { p.slots(d) } -> std::convertible_to<std::uint32_t>;
};

/// Devices have a rate: `speed(d)` in work units (usually FLOP) per second, positive.
template <class P>
concept has_speeds = requires(const P& p, device_id d) {
  { p.speed(d) } -> std::convertible_to<double>;
};

/// Different devices are linked: `latency(a, b)` in seconds, `bandwidth(a, b)` in bytes per second, positive.
template <class P>
concept has_links = requires(const P& p, device_id a, device_id b) {
  { p.latency(a, b) } -> std::convertible_to<double>;
  { p.bandwidth(a, b) } -> std::convertible_to<double>;
};

/// Transfers between devices go along routes of physical links that they may share: links `0 … num_links() - 1`, each
/// with `link_at(l)`, its latency and bandwidth in one direction; `visit_route(from, to, f)` calls `f(link_id)` for
/// every link from one device to another, in order, and for none from a device to itself. A pair's latency is the sum
/// of its route's, its bandwidth the least on it.
template <class P>
concept has_routes =
  has_links<P> && requires(const P& p, device_id from, device_id to, link_id l, void (&f)(link_id)) {
    { p.num_links() } -> std::convertible_to<std::size_t>;
    { p.link_at(l) } -> std::convertible_to<link>;
    p.visit_route(from, to, f);
  };

/// Devices draw power, in watts: `idle_watts(d)` as long as a run lasts, and up to `active_watts(d)`, which is not
/// less, while their slots are busy. Moving data takes `joules_per_byte(a, b)`, not negative.
template <class P>
concept has_power = requires(const P& p, device_id a, device_id b) {
  { p.idle_watts(a) } -> std::convertible_to<double>;
  { p.active_watts(a) } -> std::convertible_to<double>;
  { p.joules_per_byte(a, b) } -> std::convertible_to<double>;
};

} // namespace platform_parts

/// A platform as solvers need it. Times on it are a cost model's business; the models
/// in cost/ say which of `has_speeds` and `has_links` they need on top. See platform/archetype.hpp.
template <class P>
concept device_platform = platform_parts::has_devices<P> && platform_parts::has_limits<P>;

/// The kind of hardware of a device. That is its kind, unless the platform tells it apart from kinds of one's own, with
/// `hardware(d)`.
template <device_platform P>
constexpr device_kind hardware_kind(const P& p, device_id d) {
  if constexpr (requires { { p.hardware(d) } -> std::same_as<device_kind>; }) {
    return p.hardware(d);
  } else {
    return p.kind(d);
  }
}

/// The device whose memory d works in. That is d, unless the platform says by `memory_of(d)` that devices share one
/// memory, such as a processor and the GPU on its die: what any of them holds then counts in that one, and
/// `memory_capacity` is the same for all of them.
template <device_platform P>
constexpr device_id memory_of(const P& p, device_id d) {
  if constexpr (requires { { p.memory_of(d) } -> std::convertible_to<device_id>; }) {
    return p.memory_of(d);
  } else {
    return d;
  }
}

namespace why_not {
template <class P>
struct device_platform {
  static constexpr bool has_devices = requires(const P& p) { p.num_devices(); };
#define WEFT_DETAIL_PART(when, call, requirement, member, result)                                                      \
  WEFT_DETAIL_HAS(when, (const P& p, device_id d), p.call, requirement, "platform", member, result, "device_platform")
  WEFT_DETAIL_PART(true, num_devices(), std::convertible_to<std::size_t>, "num_devices()", "a number");
  WEFT_DETAIL_PART(has_devices, kind(d), std::same_as<device_kind>, "kind(device_id)", "a device_kind");
  WEFT_DETAIL_PART(has_devices, memory_capacity(d), std::convertible_to<byte_count>, "memory_capacity(device_id)",
                   "a number of bytes");
  WEFT_DETAIL_PART(has_devices, slots(d), std::convertible_to<std::uint32_t>, "slots(device_id)",
                   "a number, of ops that run at once");
#undef WEFT_DETAIL_PART
};
} // namespace why_not

} // namespace weft
