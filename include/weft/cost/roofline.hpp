// SPDX-License-Identifier: BSL-1.0
/// The roofline model: an op is bound by arithmetic or by memory traffic, whichever is slower.
#pragma once

#include "weft/cost/efficiency.hpp"
#include "weft/cost/linear.hpp"

#include <algorithm>

namespace weft::cost {

/// max(work / speed, bytes moved / memory bandwidth) + launch overhead, in seconds. The bytes moved are the op's
/// inputs, outputs and resident bytes, each once. With `efficiencies`, speed and bandwidth are what ops of the type
/// reach of them on the device's kind, the bytes are those that the type moves, and its overhead is added, unless the
/// op does nothing, for which nothing is launched. Where the platform says that its rates are what ops reach
/// (`reached_rates`), only the bytes that the type moves are taken from them.
/// Wrap it in `cached` (cost/compose.hpp) where it is asked often: types are looked up by name.
/// Source: Williams, Waterman, Patterson, CACM 52(4), 2009.
struct roofline : link_transfers {
  double launch_overhead = 0;                     ///< seconds per op, whatever it is
  const efficiency_table* efficiencies = nullptr; ///< not copied, must outlive the model; none: peak rates
  bool at_peak = false; ///< takes from `efficiencies` only which bytes ops move, on all devices

  template <class W, platform_parts::has_speeds P>
    requires requires(const P& p, device_id d) { p.memory_bandwidth(d); }
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    const efficiency e = of(w, v, p, d);
    const double bandwidth = e.memory * p.memory_bandwidth(d);
    const double kernel = std::max(w.work(v) / (e.compute * p.speed(d)), moved(w, v, e.moved) / bandwidth) +
                          e.bytes_per_flop * w.work(v) / bandwidth + e.overhead;
    const bool runs = efficiencies == nullptr || !does_nothing(w, v);
    return (runs ? std::max(kernel, e.launch) : 0) + launch_overhead;
  }
  template <class W, platform_parts::has_speeds P>
    requires requires(const P& p, device_id d) { p.memory_bandwidth(d); }
  constexpr device_id device_class(const W&, const P& p, device_id d) const {
    device_id first = 0;
    while (!are_alike(p, first, d)) {
      ++first;
    }
    return first;
  }

private:
  template <class P>
  static constexpr bool are_alike(const P& p, device_id a, device_id b) {
    bool alike = p.kind(a) == p.kind(b) && p.speed(a) == p.speed(b) && p.memory_bandwidth(a) == p.memory_bandwidth(b);
    if constexpr (requires { p.reached_rates(a); }) {
      alike = alike && p.reached_rates(a) == p.reached_rates(b);
    }
    return alike;
  }

  template <class W, class P>
  constexpr efficiency of(const W& w, op_id v, const P& p, device_id d) const {
    if (efficiencies == nullptr) {
      return {};
    }
    std::string_view type;
    if constexpr (requires { std::string_view{w.type(v)}; }) {
      type = w.type(v);
    }
    const efficiency e = efficiencies->of(type, p.kind(d));
    bool reached = at_peak;
    if constexpr (requires { p.reached_rates(d); }) {
      reached = reached || p.reached_rates(d);
    }
    return reached ? efficiency{.moved = e.moved} : e;
  }

  template <class W>
  static constexpr double moved(const W& w, op_id v, traffic kind) {
    double bytes = 0;
    int made = 0; // with known statistics an op makes none
    if (kind != traffic::none) {
      for (const tensor_id t : w.outputs(v)) {
        bytes += static_cast<double>(w.bytes(t));
        made += w.bytes(t) > 0;
      }
    }
    if (kind == traffic::outputs) {
      return 2 * bytes;
    }
    if (kind == traffic::all || kind == traffic::inputs_twice) {
      bytes += static_cast<double>(w.resident_bytes(v));
      for (const tensor_id t : w.inputs(v)) {
        bytes += (kind == traffic::all || made < 2 ? 1 : 2) * static_cast<double>(w.bytes(t));
      }
    }
    return bytes;
  }
};

} // namespace weft::cost
