// SPDX-License-Identifier: BSL-1.0
/// Links, and the concepts of what connects devices: link by link, or by routes over shared links.
#pragma once

#include "weft/core/ids.hpp"

#include <concepts>
#include <cstddef>
#include <limits>

namespace weft {

/// A connection between two devices, or one direction of a cable.
struct link {
  double latency = 0;                                            ///< seconds, not negative
  double bandwidth = std::numeric_limits<double>::infinity();    ///< bytes per second, positive
  double joules_per_byte = 0;                                    ///< what it takes to move data, not negative
  friend constexpr bool operator==(const link&, const link&) = default;
};

/// Tells the link between any two different devices.
template <class L>
concept link_model = requires(const L& links, device_id a, device_id b) {
  { links(a, b) } -> std::convertible_to<link>;
};

/// A link model that knows which physical links, `0 … num_links() - 1`, a transfer passes, so that transfers can share
/// them. `link_at(l)` is one direction of link l; `visit_route(a, b, f)` calls `f(link_id)` for each link from a to b,
/// in order, and for none if a is b. `links(a, b)` is what the route amounts to: the sum of its latencies and
/// energies and the least of its bandwidths.
template <class L>
concept network_topology =
  link_model<L> && requires(const L& links, device_id a, device_id b, link_id l, void (&f)(link_id)) {
    { links.num_devices() } -> std::convertible_to<std::size_t>;
    { links.num_links() } -> std::convertible_to<std::size_t>;
    { links.link_at(l) } -> std::convertible_to<link>;
    links.visit_route(a, b, f);
  };

namespace why_not {
/// For link models that tell routes: a model that lacks one part of a topology would be taken for one without any.
template <class L>
struct network_topology {
  static constexpr bool tells_routes = requires(const L& links, device_id d, void (&f)(link_id)) {
    links.visit_route(d, d, f);
  };
#define WEFT_DETAIL_PART(call, requirement, member, result)                                                            \
  WEFT_DETAIL_HAS(tells_routes, (const L& links, link_id l), links.call, requirement,                                  \
                  "link model, which has a visit_route,", member, result, "network_topology")
  WEFT_DETAIL_PART(num_devices(), std::convertible_to<std::size_t>, "num_devices()", "a number");
  WEFT_DETAIL_PART(num_links(), std::convertible_to<std::size_t>, "num_links()", "a number");
  WEFT_DETAIL_PART(link_at(l), std::convertible_to<link>, "link_at(link_id)", "a weft::link");
#undef WEFT_DETAIL_PART
};
} // namespace why_not

/// A route as one link: the sums of the latencies and of the energies, in order, and the least bandwidth.
template <class T>
constexpr link along_route(const T& links, device_id from, device_id to) {
  link all;
  links.visit_route(from, to, [&](link_id l) {
    const link next = links.link_at(l);
    all.latency += next.latency;
    all.joules_per_byte += next.joules_per_byte;
    all.bandwidth = next.bandwidth < all.bandwidth ? next.bandwidth : all.bandwidth;
  });
  return all;
}

} // namespace weft
