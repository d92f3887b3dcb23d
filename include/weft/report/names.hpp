// SPDX-License-Identifier: BSL-1.0
/// Display names of ops and devices, also for workloads or platforms without names, and of times.
#pragma once

#include "weft/platform/concepts.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/workload/concepts.hpp"

#include <string>
#include <string_view>

namespace weft::report {

/// A time in seconds with three digits and its unit, such as `12.3 ms`.
using detail::duration;

/// The op's name, or `op 12`.
template <dataflow_workload W>
std::string op_name(const W& w, op_id v) {
  if constexpr (requires { std::string_view{w.name(v)}; }) {
    if (const std::string_view name{w.name(v)}; !name.empty()) {
      return std::string{name};
    }
  }
  return "op " + std::to_string(v);
}

/// The op's type, empty if it has none.
template <dataflow_workload W>
std::string op_type(const W& w, op_id v) {
  if constexpr (requires { std::string_view{w.type(v)}; }) {
    return std::string{std::string_view{w.type(v)}};
  } else {
    return {};
  }
}

/// The device's name, or its kind and number such as `gpu 3`.
template <device_platform P>
std::string device_name(const P& p, device_id d) {
  if constexpr (requires { std::string_view{p.name(d)}; }) {
    if (const std::string_view name{p.name(d)}; !name.empty()) {
      return std::string{name};
    }
  }
  return to_string(hardware_kind(p, d)) + " " + std::to_string(d);
}

} // namespace weft::report
