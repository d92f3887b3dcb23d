// SPDX-License-Identifier: BSL-1.0
/// What ops and transfers cost for `place`.
#pragma once

#include "model_file.hpp"
#include "options.hpp"

#include "weft/concurrency/profiled_times.hpp"
#include "weft/cost/compose.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/cost/measured.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/io/json_profile.hpp"
#include "weft/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace place {

/// Estimates: a roofline over FLOP and bytes, or, where work is itself a time, speeds relative to each other.
struct estimate : weft::cost::link_transfers {
  weft::cost::roofline by_shape = {};
  bool work_is_time = false;

  template <class W, class P>
  double compute_time(const W& w, weft::op_id v, const P& p, weft::device_id d) const {
    return work_is_time ? w.work(v) / p.speed(d) : by_shape.compute_time(w, v, p, d);
  }
};
using costs = weft::cost::cached<weft::cost::measured<estimate>>;
using problem = weft::problem<weft::workload, weft::platform<>, costs>;

/// What is thought of ops that were not measured. `table` must outlive the result.
inline estimate make_estimate(const options& o, const weft::model& m, const weft::cost::efficiency_table& table) {
  estimate base;
  base.work_is_time = m.work_is_time();
  base.by_shape.efficiencies = o.peak_rates ? nullptr : &table;
  return base;
}

/// `base`, with the times that the file or a profile brings in their place. Adds to `notes` what they
/// rest on. Throws `weft::error` if a profile has nothing for this platform.
inline costs make_costs(const options& o, const input& in, const weft::platform<>& devices,
                        const estimate& base, std::vector<std::string>& notes) {
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

} // namespace place
