// SPDX-License-Identifier: BSL-1.0
/// Checks the rules for ops with teams on the cores of their device (docs/execution_model.md).
#pragma once

#include "weft/concurrency/concepts.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/validate/occupation.hpp"

#include <algorithm>
#include <vector>

namespace weft::detail {

/// The threads of ops have hardware threads each, those of one op on different cores; a send has a core for itself.
inline auto fits_onto(const machine& m) {
  return [&m](const std::vector<shrunk_occupation>& running, const occupation& next) {
    std::uint32_t sends = 0;
    std::uint32_t threads = 0;
    std::uint32_t widest = 0;
    const auto count = [&](const occupation& x) {
      if (x.tensor != none) {
        ++sends;
      } else {
        threads += x.threads;
        widest = std::max(widest, x.threads);
      }
    };
    for (const auto& x : running) {
      count(*x.of);
    }
    count(next);
    return sends + widest <= m.cores() && threads <= (m.cores() - sends) * m.threads_per_core;
  };
}

/// Every team fits its device, and no op is faster than it would be alone, however its threads are laid out. One beside
/// which no other op runs is not slower either, but for the time that a change of its team takes.
template <class Problem>
void check_teams(const Problem& p, const placement& where, const trace& run, instant_comparison cmp,
                 std::vector<violation>& found) {
  std::vector<op_id> by_start;
  for (const op_id v : ids(p.num_ops())) {
    by_start.push_back(v);
  }
  std::sort(by_start.begin(), by_start.end(), [&](op_id a, op_id b) { return run.ops[a].start < run.ops[b].start; });
  std::vector<std::vector<op_id>> on(p.num_devices());
  for (const op_id v : by_start) {
    on[where[v]].push_back(v);
  }
  for (const device_id d : ids(p.num_devices())) {
    const machine& m = p.platform().machine(d);
    double busy = 0;
    for (std::size_t i = 0; i < on[d].size(); ++i) {
      const op_id v = on[d][i];
      const auto& r = run.ops[v];
      if (r.threads == 0 || r.threads > m.cores()) {
        found.push_back({.what = violation::kind::bad_team, .op = v, .device = d,
                         .expected = static_cast<double>(m.cores()), .actual = static_cast<double>(r.threads)});
        continue;
      }
      const double packed = p.cost().seconds(p.workload(), v, m, {r.threads, affinity::packed});
      const double spread = p.cost().seconds(p.workload(), v, m, {r.threads, affinity::spread});
      const double least = std::min(packed, spread);
      const double most = std::max(packed, spread) + m.resize_seconds;
      const bool alone = !cmp.before(r.start, busy) &&
                         (i + 1 == on[d].size() || !cmp.before(run.ops[on[d][i + 1]].start, r.finish));
      if (cmp.before(r.finish, r.start + least) || (alone && cmp.before(r.start + most, r.finish))) {
        found.push_back({.what = violation::kind::wrong_duration, .op = v, .device = d,
                         .expected = cmp.before(r.finish, r.start + least) ? least : most,
                         .actual = r.finish - r.start});
      }
      busy = std::max(busy, r.finish);
    }
  }
}

} // namespace weft::detail
