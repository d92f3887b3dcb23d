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

} // namespace weft
