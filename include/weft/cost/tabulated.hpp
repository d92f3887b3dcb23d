// SPDX-License-Identifier: BSL-1.0
/// Compute times kept in memory: one type for all costs of which a program learns only when it runs.
#pragma once

#include "weft/cost/concepts.hpp"
#include "weft/cost/linear.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::cost {

/// Compute times of any cost model, asked for once per op and device class and then read from memory; transfers over
/// the platform's links, whatever those of the model are. Made for one workload and one platform, and keeps nothing of
/// the model. Devices whose times are all the same become one class, also where the model has no classes.
///
/// A program that chooses between tables, rooflines and measured times at run time has one type of problem with it, so
/// that every strategy is compiled once. Complexity: O(ops × classes) time and 8 bytes for each of these.
/// ```
/// const problem p{w, q, cost::tabulated{cost::table{seconds, w.num_ops(), q.num_devices()}, w, q}};
/// ```
class tabulated : public link_transfers {
public:
  template <class Cost, class W, class P>
    requires cost_parts::has_compute_time<Cost, W, P>
  constexpr tabulated(const Cost& cost, const W& w, const P& p) : num_ops_{static_cast<std::size_t>(w.num_ops())} {
    for (const device_id d : ids(p.num_devices())) {
      if constexpr (cost_parts::has_device_classes<Cost, P>) {
        if (const device_id first = cost.device_class(p, d); first != d) {
          class_.push_back(class_[first]);
          continue;
        }
      }
      const auto begin = seconds_.size();
      for (const op_id v : ids(num_ops_)) {
        seconds_.push_back(cost.compute_time(w, v, p, d));
      }
      device_id same = 0; // the first class with these times
      while (same < first_device_.size() && !std::equal(row(same), row(same + 1), seconds_.begin() + offset(begin))) {
        ++same;
      }
      if (same < first_device_.size()) {
        seconds_.resize(begin);
      } else {
        first_device_.push_back(d);
      }
      class_.push_back(same);
    }
  }

  template <class W, class P>
  constexpr double compute_time(const W&, op_id v, const P&, device_id d) const {
    return seconds_[class_[d] * num_ops_ + v];
  }
  template <class P>
  constexpr device_id device_class(const P&, device_id d) const {
    return first_device_[class_[d]];
  }

private:
  static constexpr std::ptrdiff_t offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }
  constexpr std::vector<double>::const_iterator row(std::size_t c) const {
    return seconds_.begin() + offset(c * num_ops_);
  }

  std::size_t num_ops_;
  std::vector<double> seconds_;         // one run of all ops per class
  std::vector<device_id> class_;        // per device
  std::vector<device_id> first_device_; // per class
};

} // namespace weft::cost
