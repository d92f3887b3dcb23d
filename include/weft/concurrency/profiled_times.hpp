// SPDX-License-Identifier: BSL-1.0
/// The best measured time of every op of a workload, out of a profile.
#pragma once

#include "weft/concurrency/op_classes.hpp"
#include "weft/concurrency/profile.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::concurrency {

/// Per op the seconds that a profile knows for it on a machine, with the number of threads with which it was fastest;
/// NaN where it knows nothing. An op is looked up by its name, `recompute/NAME` also by that of the op which it makes
/// again, and else by its class (`op_classes`). The machine of an entry is a name of your choice, such as that of a
/// device or a kind of device.
/// ```
/// cost::measured costs{cost::roofline{}, platform};
/// costs.add(device_kind::gpu, concurrency::profiled_times(w, io::read_profile_json("gpu.json"), "gpu"));
/// ```
/// Complexity: O((n + m) log classes + n log entries + measurements).
template <dataflow_workload W>
std::vector<double> profiled_times(const W& w, const profile& p, const std::string& machine) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  const auto shortest = [&](const std::string& op) {
    double seconds = nothing;
    for (auto at = p.entries().lower_bound({machine, op, 0, affinity::packed});
         at != p.entries().end() && at->first.machine == machine && at->first.op == op; ++at) {
      const double s = median(at->second);
      seconds = seconds <= s ? seconds : s;
    }
    return seconds;
  };
  const op_classes classes{w};
  std::vector<std::optional<double>> of_class(classes.num_classes());
  std::vector<double> seconds(static_cast<std::size_t>(w.num_ops()), nothing);
  for (const op_id v : ids(seconds.size())) {
    if constexpr (requires { std::string_view{w.name(v)}; }) {
      constexpr std::string_view again = "recompute/";
      const std::string_view name = w.name(v);
      seconds[v] = name.empty() ? nothing : shortest(std::string{name});
      if (seconds[v] != seconds[v] && name.starts_with(again)) {
        seconds[v] = shortest(std::string{name.substr(again.size())});
      }
    }
    if (seconds[v] != seconds[v]) {
      auto& known = of_class[classes.class_of(v)];
      known = known ? known : shortest(classes.key(classes.class_of(v)));
      seconds[v] = *known;
    }
  }
  return seconds;
}

} // namespace weft::concurrency
