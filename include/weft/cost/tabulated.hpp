// SPDX-License-Identifier: BSL-1.0
/// Compute times kept in memory: one type for all costs that are known only at run time.
#pragma once

#include "weft/core/shared.hpp"
#include "weft/cost/concepts.hpp"
#include "weft/cost/linear.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::cost {

/// Compute times of any cost model, asked for once per op and device class and then read from memory; transfers over
/// the platform's links, whatever those of the model are. Made for one workload and one platform, and keeps nothing of
/// the model. Devices whose times are all the same become one class, also where the model has no classes.
///
/// A program that chooses between tables, rooflines and measured times at run time has one type of problem with it, so
/// that every strategy is compiled once. Complexity: O(ops × classes) time and 8 bytes for each of these, which copies
/// share.
/// ```
/// const problem p{w, q, cost::tabulated{cost::table{seconds, w.num_ops(), q.num_devices()}, w, q}};
/// ```
class tabulated : public link_transfers {
public:
  template <class Cost, class W, class P>
    requires cost_parts::has_compute_time<Cost, W, P>
  constexpr tabulated(const Cost& cost, const W& w, const P& p) : table_{table_of(cost, w, p)} {}

  template <class W, class P>
  constexpr double compute_time(const W&, op_id v, const P&, device_id d) const {
    return table_->seconds[v * table_->first_device.size() + table_->class_of[d]];
  }
  template <class W, class P>
  constexpr device_id device_class(const W&, const P&, device_id d) const {
    return table_->first_device[table_->class_of[d]];
  }
  template <class W, class P>
  constexpr const double* class_times(const W&, op_id v, const P&) const {
    return table_->seconds.data() + v * table_->first_device.size();
  }
  template <class W, class P>
  constexpr std::uint32_t class_number(const W&, const P&, device_id d) const {
    return table_->class_of[d];
  }

private:
  struct times {
    std::vector<double> seconds = {};         // of each op those of all classes, since that is how they are asked for
    std::vector<std::uint32_t> class_of = {}; // per device
    std::vector<device_id> first_device = {}; // per class
  };

  template <class Cost, class W, class P>
  static constexpr times table_of(const Cost& cost, const W& w, const P& p) {
    times made;
    const auto num_ops = static_cast<std::size_t>(w.num_ops());
    std::vector<double> columns; // of each class, one after another
    for (const device_id d : ids(p.num_devices())) {
      if constexpr (cost_parts::has_device_classes<Cost, W, P>) {
        if (const device_id first = cost.device_class(w, p, d); first != d) {
          made.class_of.push_back(made.class_of[first]);
          continue;
        }
      }
      const std::size_t num_classes = made.first_device.size();
      for (const op_id v : ids(num_ops)) {
        columns.push_back(cost.compute_time(w, v, p, d));
      }
      const double* const column = columns.data() + num_classes * num_ops;
      std::size_t same = 0; // the first class with these times
      while (same < num_classes && !std::equal(column, column + num_ops, columns.data() + same * num_ops)) {
        ++same;
      }
      if (same == num_classes) {
        made.first_device.push_back(d);
      } else {
        columns.resize(num_classes * num_ops);
      }
      made.class_of.push_back(static_cast<std::uint32_t>(same));
    }
    made.seconds.reserve(columns.size());
    for (const op_id v : ids(num_ops)) {
      for (std::size_t k = 0; k < made.first_device.size(); ++k) {
        made.seconds.push_back(columns[k * num_ops + v]);
      }
    }
    return made;
  }

  shared<times> table_;
};

} // namespace weft::cost
