// SPDX-License-Identifier: BSL-1.0
/// Costs of ops and transfers, the same for all tools.
#pragma once

#include "model_file.hpp"
#include "model_options.hpp"
#include "platforms.hpp"

#include "weft/instance.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/cost/linear.hpp"
#include "weft/cost/roofline.hpp"

#include <span>
#include <string>
#include <vector>

namespace tool {

/// The estimate for ops that were not measured: a roofline over FLOP and bytes, or work over speed, where work is in
/// another unit.
struct estimate : weft::cost::link_transfers {
  weft::cost::roofline by_shape = {};
  bool linear = false;

  template <class W, class P>
  double compute_time(const W& w, weft::op_id v, const P& p, weft::device_id d) const {
    return linear ? weft::cost::linear{}.compute_time(w, v, p, d) : by_shape.compute_time(w, v, p, d);
  }
  template <class W, class P>
  weft::device_id device_class(const W& w, const P& p, weft::device_id d) const {
    return by_shape.device_class(w, p, d); // of equal speeds, too
  }
};
using costs = weft::cost::lowered;
using problem = weft::instance;

/// Where ops take several slots at once, as tasks that ran on several cores do: gives the platforms as many slots as
/// such ops run at once, and the model ops of one slot each, with a note. Throws `weft::error` if that is not the
/// same.
void fit_slots(weft::model& m, std::span<target> platforms);

/// Typical efficiencies of a model that is read with these options.
weft::cost::efficiency_table efficiencies(const model_options& o,
                                          weft::cost::launches how = weft::cost::launches::single,
                                          bool counts_launches = true);

/// What ops of a model are thought to take on a platform. `table` must outlive the result. Throws `weft::error` if
/// work and speeds are of different units.
estimate make_estimate(const model_options& o, const input& in, const target& on,
                       const weft::cost::efficiency_table& table);

/// True if ops of the model are estimated by their types.
bool estimates_by_type(const model_options& o, const weft::model& m);

/// Has transfers of a model reach as much of the platform's links as is typical, if its ops are estimated by their
/// types and the platform has peak rates; else all of it.
void fit_links(const model_options& o, const weft::model& m, target& on);

/// Scales the tensors of a generated graph that is to have a ratio of communication to computation on this platform,
/// and notes it. Throws `weft::error` if the platform's links do not allow it, or whole bytes none within 1 %.
void fit_ccr(const model_options& o, input& in, const target& on, const weft::cost::efficiency_table& table);

/// `base`, with the times that the file or a profile brings in their place. Adds to `notes` what they
/// rest on. Throws `weft::error` if a profile has nothing for this platform.
costs make_costs(const model_options& o, const input& in, const target& on, const estimate& base,
                 std::vector<std::string>& notes);

/// What a period of training steps takes for granted; nothing for models that train nothing.
std::string about_updates(const weft::workload& w);

} // namespace tool
