// SPDX-License-Identifier: BSL-1.0
#include "costs.hpp"

#include "weft/concurrency/profiled_times.hpp"
#include "weft/cost/measured.hpp"
#include "weft/io/json_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tool {

costs make_costs(const model_options& o, const input& in, const weft::platform<>& devices, const estimate& base,
                 std::vector<std::string>& notes) {
  const auto& w = in.model.ops;
  weft::cost::measured<estimate> measured{base, devices};
  const auto add = [&](weft::kind_set kinds, std::vector<double> seconds, const std::string& source) {
    const auto count = std::count_if(seconds.begin(), seconds.end(), [](double s) { return !std::isnan(s); });
    notes.push_back(fmt::format("{} of {} ops take the times of {}, measured on {}", count, w.num_ops(), source,
                                weft::to_string(kinds)));
    measured.add(kinds, std::move(seconds));
    return count;
  };
  if (!o.profile.empty()) {
    const auto profile = weft::io::read_profile_json(o.profile);
    std::set<std::string> machines;
    for (const auto& [key, runs] : profile.entries()) {
      machines.insert(key.machine);
    }
    std::ptrdiff_t found = 0;
    for (const auto& machine : machines) {
      if (const auto kind = weft::parse_device_kind(machine)) {
        found += add(*kind, weft::concurrency::profiled_times(w, profile, machine), "'" + o.profile + "'");
      }
    }
    if (found == 0) {
      throw weft::error(fmt::format("{}: has no time for any op of this model; its machines must be called like kinds of "
                                    "devices (they are: {}) and its ops like those of the model",
                                    o.profile, fmt::join(machines, ", ")));
    }
  }
  if (!in.model.seconds.empty()) {
    add(in.model.measured_on, in.model.seconds, o.times.empty() ? "the model file" : "'" + o.times + "'");
  }
  if (!base.work_is_time) {
    notes.emplace_back(o.peak_rates ? "ops without a measured time reach peak rates"
                                    : "ops without a measured time reach typical shares of peak rates (docs/costs.md)");
  }
  return costs{measured, w, devices};
}

} // namespace tool
