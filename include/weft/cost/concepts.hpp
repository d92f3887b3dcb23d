// SPDX-License-Identifier: BSL-1.0
/// The concept of a cost model: seconds to compute an op on a device, and to move a tensor between devices.
#pragma once

#include "weft/platform/concepts.hpp"
#include "weft/workload/concepts.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>

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

/// The class in which a member function was written, which a pointer to it tells even where another class inherits it.
template <class R, class Author, class... A>
std::type_identity<Author> declaring_class(R (Author::*)(A...) const);

/// Fact is stated by the class that has Function, or by one that inherits it. So a class that writes another Function
/// does not inherit what was said of the old one: it has to say it anew.
template <auto Fact, auto Function>
concept declared_with = std::is_base_of_v<typename decltype(declaring_class(Function))::type,
                                          typename decltype(declaring_class(Fact))::type>;

/// C says which devices cost the same, so that what is computed per class is not computed per device:
/// `device_class(w, p, d)`, a device with the same compute times as d, not larger than d. Optional; not inherited where
/// compute times are others.
template <class C, class W, class P>
concept has_device_classes = requires(const C& c, const W& w, const P& p, device_id d) {
  { c.device_class(w, p, d) } -> std::convertible_to<device_id>;
} && (requires {
  requires declared_with<&C::template device_class<W, P>, &C::template compute_time<W, P>>;
} || requires { requires declared_with<&C::device_class, &C::compute_time>; });

/// C's compute times are amounts over rates: `compute_time(w, v, p, d)` is `amount(w, v) / rate(w, p, d)`, but for
/// rounding. Optional; not inherited where compute times are others.
template <class C, class W, class P>
concept has_rates = requires(const C& c, const W& w, const P& p, op_id v, device_id d) {
  { c.amount(w, v) } -> std::convertible_to<double>;
  { c.rate(w, p, d) } -> std::convertible_to<double>;
} && (requires {
  requires declared_with<&C::template amount<W>, &C::template compute_time<W, P>>;
  requires declared_with<&C::template rate<W, P>, &C::template compute_time<W, P>>;
} || requires {
  requires declared_with<&C::amount, &C::compute_time>;
  requires declared_with<&C::rate, &C::compute_time>;
});

/// C has the times of an op side by side in memory, one for each class of devices: `class_times(w, v, p)` points to
/// them, `class_number(w, p, d)` is the place of d's among them, and what stands there is exactly
/// `compute_time(w, v, p, d)`. Optional; not inherited where compute times are others.
template <class C, class W, class P>
concept has_class_times = requires(const C& c, const W& w, const P& p, op_id v, device_id d) {
  { c.class_times(w, v, p) } -> std::convertible_to<const double*>;
  { c.class_number(w, p, d) } -> std::convertible_to<std::uint32_t>;
} && (requires {
  requires declared_with<&C::template class_times<W, P>, &C::template compute_time<W, P>>;
  requires declared_with<&C::template class_number<W, P>, &C::template compute_time<W, P>>;
} || requires {
  requires declared_with<&C::class_times, &C::compute_time>;
  requires declared_with<&C::class_number, &C::compute_time>;
});

/// Seconds by bytes between two devices: `l(bytes)`, which is `l.latency() + bytes / l.bandwidth()` but for rounding.
template <class L>
concept transfer_line = requires(const L& l, double bytes) {
  { l(bytes) } -> std::convertible_to<double>;
  { l.latency() } -> std::convertible_to<double>;
  { l.bandwidth() } -> std::convertible_to<double>;
};

/// C's transfers take a latency and a time in proportion to the bytes: `transfer_time(w, t, p, from, to)` is exactly
/// `transfer_line(w, p, from, to)` of the bytes of t. Optional; not inherited where transfer times are others. A model
/// that is made of others at run time has `has_lines()`, too, which says whether this and `has_send_overheads` hold.
template <class C, class W, class P>
concept has_transfer_lines = requires(const C& c, const W& w, const P& p, device_id d) {
  { c.transfer_line(w, p, d, d) } -> transfer_line;
} && (requires {
  requires declared_with<&C::template transfer_line<W, P>, &C::template transfer_time<W, P>>;
} || requires { requires declared_with<&C::transfer_line, &C::transfer_time>; });

/// C's sends depend on the sender alone: `send_time(w, t, p, from, to)` is exactly `send_overhead(w, p, from)`, but
/// for messages of collectives (`is_message`) if it `has_message_overheads`.
/// Optional; not inherited where send times are others.
template <class C, class W, class P>
concept has_send_overheads = requires(const C& c, const W& w, const P& p, device_id d) {
  { c.send_overhead(w, p, d) } -> std::convertible_to<double>;
} && (requires {
  requires declared_with<&C::template send_overhead<W, P>, &C::template send_time<W, P>>;
} || requires { requires declared_with<&C::send_overhead, &C::send_time>; });

/// C's sends of messages of collectives depend on the sender alone, too: they take `message_overhead(w, p, from)`.
/// Optional; not inherited where send times are others.
template <class C, class W, class P>
concept has_message_overheads = has_send_overheads<C, W, P> &&
                                requires(const C& c, const W& w, const P& p, device_id d) {
  { c.message_overhead(w, p, d) } -> std::convertible_to<double>;
} && (requires {
  requires declared_with<&C::template message_overhead<W, P>, &C::template send_time<W, P>>;
} || requires { requires declared_with<&C::message_overhead, &C::send_time>; });

/// The time of any send from there of a message of a collective, or else of any other tensor.
template <class C, class W, class P>
  requires has_send_overheads<C, W, P>
constexpr double send_overhead(const C& c, const W& w, const P& p, device_id from, bool of_message) {
  if constexpr (has_message_overheads<C, W, P>) {
    return of_message ? c.message_overhead(w, p, from) : c.send_overhead(w, p, from);
  } else {
    return c.send_overhead(w, p, from);
  }
}

/// The answer of a model's `has_lines()`: `has_transfer_lines` and `has_send_overheads` hold for it. True without one.
template <class C>
constexpr bool states_lines(const C& c) {
  if constexpr (requires { { c.has_lines() } -> std::same_as<bool>; }) {
    return c.has_lines();
  } else {
    return true;
  }
}

/// What a tensor costs on its way follows from its bytes and the two devices: transfers are lines, and sends, if there
/// are any, depend on the sender alone.
template <class C, class W, class P>
concept sends_by_bytes = has_transfer_lines<C, W, P> && (!has_send_time<C, W, P> || has_send_overheads<C, W, P>);

} // namespace cost_parts

/// Turns a workload and a platform into times. Models are small copyable values; see cost/linear.hpp for the usual one.
template <class C, class W, class P>
concept cost_model_for = std::copy_constructible<C> && cost_parts::has_compute_time<C, W, P> &&
                         cost_parts::has_transfer_time<C, W, P>;

namespace why_not {
template <class C, class W, class P>
struct cost_model_for {
  static constexpr bool asked = weft::dataflow_workload<W> && weft::device_platform<P>; // else they are what is wrong
  static_assert(!asked || requires(const C& c, const W& w, const P& p, op_id v, device_id d) {
                  c.compute_time(w, v, p, d);
                }, "weft: this cost model lacks compute_time(workload, op_id, platform, device_id) const, in seconds, "
                   "for such a workload and platform; the models in weft/cost/ need speed(device_id) of the platform; "
                   "see docs/concepts/cost_model_for.md");
  static_assert(!asked || requires(const C& c, const W& w, const P& p, tensor_id t, device_id from, device_id to) {
                  c.transfer_time(w, t, p, from, to);
                }, "weft: this cost model lacks transfer_time(workload, tensor_id, platform, device_id from, device_id "
                   "to) const, in seconds, for such a workload and platform; the models in weft/cost/ need "
                   "latency(from, to) and bandwidth(from, to) of the platform; see docs/concepts/cost_model_for.md");
  WEFT_DETAIL_RETURNS(asked, (const C& c, const W& w, const P& p, op_id v, device_id d), c.compute_time(w, v, p, d),
                      std::convertible_to<double>, "cost model", "compute_time", "a number of seconds",
                      "cost_model_for");
  WEFT_DETAIL_RETURNS(asked, (const C& c, const W& w, const P& p, tensor_id t, device_id d),
                      c.transfer_time(w, t, p, d, d), std::convertible_to<double>, "cost model", "transfer_time",
                      "a number of seconds", "cost_model_for");
  static_assert(std::copy_constructible<C>,
                "weft: a cost model is kept by value, so it must be copyable; let it refer to its data; see "
                "docs/concepts/cost_model_for.md");
};
} // namespace why_not

} // namespace weft
