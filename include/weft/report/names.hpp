// SPDX-License-Identifier: BSL-1.0
/// Display names of ops and devices, also for workloads or platforms without names, and of times.
#pragma once

#include "weft/platform/concepts.hpp"
#include "weft/platform/device_memories.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/workload/concepts.hpp"

#include <string>
#include <string_view>
#include <vector>

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

/// The devices that work in the memory of d, such as `cpu and gpu0`; empty if d has it to itself.
/// Complexity: O(devices).
template <device_platform P>
std::string names_sharing_memory(const P& p, device_id d) {
  std::vector<std::string> names;
  device_memories<P>{p}.for_each_sharing(d, [&](device_id e) { names.push_back(device_name(p, e)); });
  std::string text;
  for (std::size_t i = 0; i < names.size() && names.size() > 1; ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

/// The memory of d in a sentence that says that it is short: `gpu0`, or `the memory that cpu and gpu0 share`.
template <device_platform P>
std::string memory_name(const P& p, device_id d) {
  const auto names = names_sharing_memory(p, d);
  return names.empty() ? device_name(p, d) : "the memory that " + names + " share";
}

/// The place of what d holds: `on gpu0`, or `in the memory that cpu and gpu0 share`.
template <device_platform P>
std::string in_memory_of(const P& p, device_id d) {
  return (names_sharing_memory(p, d).empty() ? "on " : "in ") + memory_name(p, d);
}

} // namespace weft::report
