// SPDX-License-Identifier: BSL-1.0
/// Spot checks of the facts that a cost model states about its times.
#pragma once

#include "weft/cost/concepts.hpp"

namespace weft::cost {

namespace detail {
constexpr bool agree(double stated, double said, double tolerance) {
  const double difference = stated < said ? said - stated : stated - said;
  return stated == said || difference <= tolerance * (said < 0 ? -said : said) || stated != stated || said != said;
}
} // namespace detail

/// Compares what the model states (`amount`, `rate`, `transfer_line`, …) with the times that it says, for the first op
/// and the first tensor, on the first and the last device. Times that are not numbers agree with all: their use reports
/// them. O(1) times. A `problem` asserts it.
template <class C, class W, class P>
  requires cost_model_for<C, W, P>
constexpr bool facts_agree(const C& c, const W& w, const P& p) {
  const auto last = static_cast<device_id>(p.num_devices() - 1);
  bool agree = true;
  if (w.num_ops() > 0) {
    for (const device_id d : {device_id{0}, last}) {
      if constexpr (cost_parts::has_rates<C, W, P>) {
        agree = agree && detail::agree(c.amount(w, 0) / c.rate(w, p, d), c.compute_time(w, 0, p, d), 1e-12);
      }
      if constexpr (cost_parts::has_device_classes<C, W, P>) {
        agree = agree && detail::agree(c.compute_time(w, 0, p, c.device_class(w, p, d)), c.compute_time(w, 0, p, d), 0);
      }
      if constexpr (cost_parts::has_class_times<C, W, P>) {
        agree = agree && detail::agree(c.class_times(w, 0, p)[c.class_number(w, p, d)], c.compute_time(w, 0, p, d), 0);
      }
    }
  }
  if (w.num_tensors() > 0 && last > 0 && cost_parts::states_lines(c)) {
    if constexpr (cost_parts::has_transfer_lines<C, W, P>) {
      const auto line = c.transfer_line(w, p, 0, last);
      const auto bytes = static_cast<double>(w.bytes(0));
      agree = agree && detail::agree(line(bytes), c.transfer_time(w, 0, p, 0, last), 0) &&
              detail::agree(line.latency() + bytes / line.bandwidth(), line(bytes), 1e-12);
    }
    if constexpr (cost_parts::has_send_overheads<C, W, P>) {
      agree = agree && 
              detail::agree(cost_parts::send_overhead(c, w, p, 0, is_message(w, 0)), c.send_time(w, 0, p, 0, last), 0);
    }
  }
  return agree;
}

} // namespace weft::cost
