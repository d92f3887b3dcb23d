// SPDX-License-Identifier: BSL-1.0
/// The linear cost model: work over speed, bytes over bandwidth.
#pragma once

#include "weft/cost/concepts.hpp"

#include <type_traits>

namespace weft::cost {

/// Moving tensors over the platform's links; a base for models that only differ in compute time.
struct link_transfers {
  /// latency + bytes / bandwidth, in seconds.
  template <class W, platform_parts::has_links P>
  constexpr double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return p.latency(from, to) + static_cast<double>(w.bytes(t)) / p.bandwidth(from, to);
  }

  /// The platform's send work over the sender's speed; 0 if the platform charges none.
  template <class W, class P>
  constexpr double send_time(const W&, tensor_id, const P& p, device_id from, device_id) const {
    if constexpr (requires { p.send_work(); } && platform_parts::has_speeds<P>) {
      return p.send_work() / p.speed(from);
    } else {
      return 0;
    }
  }
};

/// `work(v) / speed(d)` seconds to compute, `latency + bytes / bandwidth` to transfer, `send_work / speed` to send:
/// the model of the critical-path paper ([CP] §2) and of most scheduling literature.
struct linear : link_transfers {
  template <class W, platform_parts::has_speeds P>
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return w.work(v) / p.speed(d);
  }

  template <platform_parts::has_speeds P>
  constexpr device_id device_class(const P& p, device_id d) const {
    device_id first = 0;
    while (p.speed(first) != p.speed(d)) {
      ++first;
    }
    return first;
  }
};

/// Whether C computes as `linear` does: it inherits its function and does not hide it.
template <class C, class W, class P>
concept computes_linearly = platform_parts::has_speeds<P> && requires {
  requires std::is_same_v<decltype(&C::template compute_time<W, P>),
                          double (linear::*)(const W&, op_id, const P&, device_id) const>;
};

/// Whether C computes send and transfer times as `link_transfers` does, that is, inherits both functions and
/// hides neither. Such times are a constant plus bytes / bandwidth for each pair of devices.
template <class C, class W, class P>
concept moves_over_links = platform_parts::has_links<P> && requires {
  requires std::is_same_v<decltype(&C::template transfer_time<W, P>),
                          double (link_transfers::*)(const W&, tensor_id, const P&, device_id, device_id) const>;
  requires std::is_same_v<decltype(&C::template send_time<W, P>),
                          double (link_transfers::*)(const W&, tensor_id, const P&, device_id, device_id) const>;
};

} // namespace weft::cost
