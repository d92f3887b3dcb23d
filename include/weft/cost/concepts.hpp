// SPDX-License-Identifier: BSL-1.0
/// What a cost model is: seconds to compute an op on a device, and to move a tensor between devices.
#pragma once

#include "weft/platform/concepts.hpp"
#include "weft/workload/concepts.hpp"

#include <concepts>

namespace weft {
namespace cost_parts {

/// C tells how long op v takes on device d, in seconds, at least 0; infinite if v cannot run there. A `problem` throws
/// where a model says something else, and where no allowed device takes a finite time.
template <class C, class W, class P>
concept has_compute_time = requires(const C& c, const W& w, const P& p, op_id v, device_id d) {
  { c.compute_time(w, v, p, d) } -> std::convertible_to<double>;
};

/// C tells how long tensor t is under way from one device to another, in seconds.
template <class C, class W, class P>
concept has_transfer_time = requires(const C& c, const W& w, const P& p, tensor_id t, device_id from, device_id to) {
  { c.transfer_time(w, t, p, from, to) } -> std::convertible_to<double>;
};

/// C tells how long the sender's compute queue is busy before a transfer, in seconds. Optional; without it, 0.
template <class C, class W, class P>
concept has_send_time = requires(const C& c, const W& w, const P& p, tensor_id t, device_id from, device_id to) {
  { c.send_time(w, t, p, from, to) } -> std::convertible_to<double>;
};

/// C tells how long a device is busy to bring tensor t into it (`import_time`, once, however many of its ops consume
/// t) and to put an own tensor out (`export_time`, once, however many devices take it), in seconds. Optional: it says
/// that devices meet in host memory, and no two of them share a link.
template <class C, class W, class P>
concept has_staging_times = requires(const C& c, const W& w, const P& p, tensor_id t, device_id d) {
  { c.import_time(w, t, p, d) } -> std::convertible_to<double>;
  { c.export_time(w, t, p, d) } -> std::convertible_to<double>;
};

/// C says which devices cost the same, so that what is computed per class is not computed per device:
/// `device_class(p, d)`, a device with the same compute times as d, not larger than d. Optional.
template <class C, class P>
concept has_device_classes = requires(const C& c, const P& p, device_id d) {
  { c.device_class(p, d) } -> std::convertible_to<device_id>;
};

} // namespace cost_parts

/// Turns a workload and a platform into times. Models are small copyable values; see cost/linear.hpp for the usual one.
template <class C, class W, class P>
concept cost_model_for = std::copy_constructible<C> && cost_parts::has_compute_time<C, W, P> &&
                         cost_parts::has_transfer_time<C, W, P>;

namespace why_not {
template <class C, class W, class P>
struct cost_model_for {
  static constexpr bool asked = weft::dataflow_workload<W> && weft::device_platform<P>; // else they are what is wrong
  static_assert(cost_parts::has_compute_time<C, W, P> || !asked,
                "weft: this cost model lacks compute_time(workload, op_id, platform, device_id) const, in seconds, for "
                "such a workload and platform; the models in weft/cost/ need speed(device_id) of the platform; see "
                "docs/concepts/cost_model_for.md");
  static_assert(cost_parts::has_transfer_time<C, W, P> || !asked,
                "weft: this cost model lacks transfer_time(workload, tensor_id, platform, device_id from, device_id "
                "to) const, in seconds, for such a workload and platform; the models in weft/cost/ need latency(from, "
                "to) and bandwidth(from, to) of the platform; see docs/concepts/cost_model_for.md");
  static_assert(std::copy_constructible<C>,
                "weft: a cost model is kept by value, so it must be copyable; let it refer to its data; see "
                "docs/concepts/cost_model_for.md");
};
} // namespace why_not

} // namespace weft
