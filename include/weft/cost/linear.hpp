// SPDX-License-Identifier: BSL-1.0
/// The linear cost model: work over speed, bytes over bandwidth.
#pragma once

#include "weft/cost/concepts.hpp"

namespace weft::cost {

/// The time of a tensor on a link, in seconds.
class link_line {
public:
  constexpr link_line(double latency, double bandwidth) : latency_{latency}, bandwidth_{bandwidth} {}
  constexpr double operator()(double bytes) const { return latency_ + bytes / bandwidth_; }
  constexpr double latency() const { return latency_; }
  constexpr double bandwidth() const { return bandwidth_; }

private:
  double latency_;
  double bandwidth_;
};

/// Moving tensors over the platform's links; a base for models that only differ in compute time.
struct link_transfers {
  using checked_type = link_transfers; ///< its times are as good as the platform's numbers

  /// latency + bytes / bandwidth, in seconds.
  template <class W, platform_parts::has_links P>
  constexpr double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return transfer_line(w, p, from, to)(static_cast<double>(w.bytes(t)));
  }
  template <class W, platform_parts::has_links P>
  constexpr link_line transfer_line(const W&, const P& p, device_id from, device_id to) const {
    return {p.latency(from, to), p.bandwidth(from, to)};
  }

  /// The sender's overhead and the platform's send work over the sender's speed; 0 if the platform charges none, and
  /// for messages of collectives that a kernel sends.
  template <class W, class P>
  constexpr double send_time(const W& w, tensor_id t, const P& p, device_id from, device_id) const {
    return is_message(w, t) ? message_overhead(w, p, from) : send_overhead(w, p, from);
  }
  template <class W, class P>
  constexpr double send_overhead(const W&, const P& p, device_id from) const {
    double seconds = 0;
    if constexpr (requires { p.send_overhead(from); }) {
      seconds += p.send_overhead(from);
    }
    if constexpr (requires { p.send_work(); } && platform_parts::has_speeds<P>) {
      seconds += p.send_work() / p.speed(from);
    }
    return seconds;
  }
  /// 0 on accelerators, where the kernel of the collective sends; a CPU posts each message. Where rates are what ops
  /// reach, so is the overhead.
  template <class W, class P>
  constexpr double message_overhead(const W& w, const P& p, device_id from) const {
    bool posts = true;
    if constexpr (device_platform<P>) {
      posts = hardware_kind(p, from) == device_kind::cpu;
    }
    if constexpr (requires { p.reached_rates(from); }) {
      posts = posts || p.reached_rates(from);
    }
    return posts ? send_overhead(w, p, from) : 0;
  }
};

/// `work(v) / speed(d)` seconds to compute, `latency + bytes / bandwidth` to transfer, `send_work / speed` to send:
/// the model of the critical-path paper ([CP] §2) and of most scheduling literature.
struct linear : link_transfers {
  using checked_type = linear; ///< its times are as good as the numbers of workload and platform

  template <class W, platform_parts::has_speeds P>
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return amount(w, v) / rate(w, p, d);
  }
  template <class W>
  constexpr double amount(const W& w, op_id v) const {
    return w.work(v);
  }
  template <class W, platform_parts::has_speeds P>
  constexpr double rate(const W&, const P& p, device_id d) const {
    return p.speed(d);
  }
  template <class W, platform_parts::has_speeds P>
  constexpr device_id device_class(const W&, const P& p, device_id d) const {
    device_id first = 0;
    while (first < d && p.speed(first) != p.speed(d)) {
      ++first;
    }
    return first;
  }
};

} // namespace weft::cost
