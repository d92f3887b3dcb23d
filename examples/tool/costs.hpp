// SPDX-License-Identifier: BSL-1.0
/// What ops and transfers cost, the same for all tools.
#pragma once

#include "model_file.hpp"
#include "model_options.hpp"

#include "weft/compiled.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/cost/roofline.hpp"

#include <string>
#include <vector>

namespace tool {

/// Estimates: a roofline over FLOP and bytes, or, where work is itself a time, speeds relative to each other.
struct estimate : weft::cost::link_transfers {
  weft::cost::roofline by_shape = {};
  bool work_is_time = false;

  template <class W, class P>
  double compute_time(const W& w, weft::op_id v, const P& p, weft::device_id d) const {
    return work_is_time ? w.work(v) / p.speed(d) : by_shape.compute_time(w, v, p, d);
  }
};
using costs = weft::cost::tabulated;
using problem = weft::compiled::tabulated;

/// What is thought of ops that were not measured. `table` must outlive the result.
inline estimate make_estimate(const model_options& o, const weft::model& m, const weft::cost::efficiency_table& table) {
  estimate base;
  base.work_is_time = m.work_is_time();
  base.by_shape.efficiencies = o.peak_rates ? nullptr : &table;
  return base;
}

/// `base`, with the times that the file or a profile brings in their place. Adds to `notes` what they
/// rest on. Throws `weft::error` if a profile has nothing for this platform.
costs make_costs(const model_options& o, const input& in, const weft::platform<>& devices, const estimate& base,
                 std::vector<std::string>& notes);

} // namespace tool
