// SPDX-License-Identifier: BSL-1.0
#include "costs.hpp"

#include "weft/concurrency/profiled_times.hpp"
#include "weft/cost/measured.hpp"
#include "weft/io/json_profile.hpp"
#include "weft/workload/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace tool {

namespace {

/// The times of the file, by the kinds of devices that they are of: those of an op which may not run on all that were
/// measured are of the others. Where work is seconds, that of ops which run on none of them is of their own devices.
std::map<std::uint64_t, std::vector<double>> times_by_kinds(const weft::model& m) {
  std::map<std::uint64_t, std::vector<double>> times;
  for (const weft::op_id v : weft::ids(m.seconds.size())) {
    auto kinds = m.ops.kinds(v) & m.measured_on;
    double seconds = m.seconds[v];
    if (kinds.empty()) {
      const bool own = m.unit == weft::work_unit::seconds && !m.measured_on.empty();
      kinds = own ? m.ops.kinds(v) : m.measured_on;
      seconds = own ? m.ops.work(v) : seconds;
    }
    if (!std::isnan(seconds)) {
      auto& column = times[kinds.bits()];
      column.resize(m.seconds.size(), std::numeric_limits<double>::quiet_NaN());
      column[v] = seconds;
    }
  }
  return times;
}

std::string what_estimates_rest_on(const model_options& o, const weft::model& m, const target& on) {
  if (m.unit == weft::work_unit::own) {
    return fmt::format("work and the speeds of {} are taken to be in the same unit: times are work / speed, "
                       "shown as seconds whatever their unit is",
                       on.name);
  }
  return !on.peaks       ? fmt::format("speeds of {} are taken to be what ops reach: work / speed", on.name)
         : o.peak_rates ? "ops without a measured time reach peak rates"
                        : "ops without a measured time reach a share of peak rates typical of their type";
}

} // namespace

estimate make_estimate(const model_options& o, const input& in, const target& on,
                       const weft::cost::efficiency_table& table) {
  const auto& m = in.model;
  if (m.unit == weft::work_unit::own && on.flops) {
    throw weft::error(fmt::format("'{}' ({}) does not say what its work is in, and the speeds of {} are FLOP/s: give "
                                  "--work flop or --work seconds, or a platform whose speeds are in the same unit as "
                                  "the work, such as identical:4 or a file",
                                  in.spec, m.format, on.name));
  }
  estimate base;
  base.by_shape.efficiencies = o.peak_rates ? nullptr : &table;
  base.linear = m.unit != weft::work_unit::flop || !on.peaks;
  return base;
}

std::string about_updates(const weft::workload& w) {
  const auto ops = weft::ids(w.num_ops());
  const bool trains = std::any_of(ops.begin(), ops.end(), [&](weft::op_id v) { return weft::is_update(w.type(v)); });
  const bool has_types = std::any_of(ops.begin(), ops.end(), [&](weft::op_id v) { return !w.type(v).empty(); });
  if (!trains && has_types) {
    return {};
  }
  return std::string{trains ? "" : "if the model is a training step: "} +
         "the period lets the next step begin before this one has updated the parameters, so gradients are of old ones, "
         "as in PipeDream; steps that wait for the updates take the step time each";
}

costs make_costs(const model_options& o, const input& in, const target& on, const estimate& base,
                 std::vector<std::string>& notes) {
  const auto& m = in.model;
  const auto& w = m.ops;
  weft::cost::measured<estimate> measured{base, on.devices};
  const auto add = [&](weft::kind_set kinds, std::vector<double> seconds, const std::string& source) {
    const auto count = std::count_if(seconds.begin(), seconds.end(), [](double s) { return !std::isnan(s); });
    notes.push_back(fmt::format("{} of {} ops take the times of {}, measured on {}", count, w.num_ops(), source,
                                kinds.empty() ? "devices that it does not name" : weft::to_string(kinds)));
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
  for (auto& [kinds, seconds] : times_by_kinds(m)) {
    add(weft::kind_set::from_bits(kinds), std::move(seconds), o.times.empty() ? "the model file" : "'" + o.times + "'");
  }
  const auto& devices = on.devices.devices();
  if (m.unit != weft::work_unit::seconds) {
    notes.push_back(what_estimates_rest_on(o, m, on));
  } else if (std::any_of(devices.begin(), devices.end(), [&](const auto& d) { return d.speed != devices[0].speed; })) {
    notes.emplace_back("devices of other speeds take times in proportion to their speeds");
  }
  return costs{measured, w, on.devices};
}

} // namespace tool
