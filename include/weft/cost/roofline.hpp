// SPDX-License-Identifier: BSL-1.0
/// The roofline model: an op is bound by arithmetic or by memory traffic, whichever is slower.
#pragma once

#include "weft/cost/efficiency.hpp"
#include "weft/cost/linear.hpp"

#include <algorithm>

namespace weft::cost {

/// max(work / speed, bytes moved / memory bandwidth) + launch overhead, in seconds. The bytes moved are the op's
/// inputs, outputs and resident bytes, each once. With `efficiencies`, speed and bandwidth are what ops of the type
/// reach of them on the device's kind, the bytes are those that the type moves, and its overhead is added.
/// Wrap it in `cached` (cost/compose.hpp) where it is asked often: types are looked up by name.
/// Source: Williams, Waterman, Patterson, CACM 52(4), 2009.
struct roofline : link_transfers {
  double launch_overhead = 0;                     ///< seconds per op, whatever it is
  const efficiency_table* efficiencies = nullptr; ///< not copied, must outlive the model; none: peak rates

  template <class W, platform_parts::has_speeds P>
    requires requires(const P& p, device_id d) { p.memory_bandwidth(d); }
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    const efficiency e = of(w, v, p.kind(d));
    return std::max(w.work(v) / (e.compute * p.speed(d)), moved(w, v, e.moved) / (e.memory * p.memory_bandwidth(d))) +
           (e.overhead + launch_overhead);
  }

private:
  template <class W>
  constexpr efficiency of(const W& w, op_id v, device_kind k) const {
    if (efficiencies == nullptr) {
      return {};
    }
    if constexpr (requires { std::string_view{w.type(v)}; }) {
      return efficiencies->of(w.type(v), k);
    } else {
      return efficiencies->of({}, k);
    }
  }

  template <class W>
  static constexpr double moved(const W& w, op_id v, traffic kind) {
    double bytes = 0;
    if (kind != traffic::none) {
      for (const tensor_id t : w.outputs(v)) {
        bytes += static_cast<double>(w.bytes(t));
      }
    }
    if (kind == traffic::outputs) {
      return 2 * bytes;
    }
    if (kind == traffic::all) {
      bytes += static_cast<double>(w.resident_bytes(v));
      for (const tensor_id t : w.inputs(v)) {
        bytes += static_cast<double>(w.bytes(t));
      }
    }
    return bytes;
  }
};

} // namespace weft::cost
