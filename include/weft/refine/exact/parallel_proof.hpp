// SPDX-License-Identifier: BSL-1.0
/// A certificate that no schedule of jobs on identical machines is shorter, for others to check.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

namespace weft::refine::exact {

/// A schedule that refine::identical_devices found, and the reason why nothing less is possible: a schedule, and either
/// that windows of time are too narrow for what must run in them, or the walk of a search that found no schedule by
/// `refuted`. It is written as text, from which a program that knows the rules, but none of this code, can check both;
/// docs/exact.md tells the rules and the format, test/identical_devices_proof.py is such a program.
///
/// Only where all times are multiples of a unit, so that sums are exact; elsewhere, and where no op takes time, `unit`
/// is 0.
struct parallel_proof {
  std::size_t num_machines = 0;
  double unit = 0;
  std::vector<double> start;  ///< per op, in a schedule of length `makespan`
  double makespan = std::numeric_limits<double>::infinity();
  double bound = 0;           ///< no schedule is shorter
  double refuted = -1; ///< the longest makespan that a search found impossible; below the bound - unit: windows do
  bool is_backward = false;   ///< the search went from the last op to the first
  std::vector<op_id> walk;    ///< of the search: the op that is added next, or `none` where the last one is taken away

  /// Throws `error` where sums are not exact.
  void write(std::ostream& out) const {
    if (unit == 0 && makespan > 0) {
      throw error("no proof: times are not all multiples of a unit, so their sums are rounded");
    }
    const auto precision = out.precision(17);
    out << "weft proof 1: jobs on identical machines\nmachines " << num_machines << "\nunit " << unit << "\nmakespan "
        << makespan << "\nstarts";
    for (const double x : start) {
      out << ' ' << x;
    }
    out << "\nbound " << bound << '\n';
    if (refuted < bound - unit) {
      out << "by windows\n";
    } else {
      out << "by search " << (is_backward ? "backward" : "forward");
      std::size_t column = 0;
      for (const op_id v : walk) {
        out << (column++ % 32 == 0 ? '\n' : ' ');
        v == none ? out << '-' : out << v;
      }
      out << '\n';
    }
    out.precision(precision);
  }
};

} // namespace weft::refine::exact
