// SPDX-License-Identifier: BSL-1.0
/// A state of an incremental schedule.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/plan.hpp"
#include "weft/schedule/changing_flow.hpp"

#include <limits>
#include <vector>

namespace weft::refine::detail {

/// By start, then by finish, then by label.
template <class Column, class Label>
void sort_by_time(std::vector<item_id>& order, const Column& start, const Column& duration, const Label& label) {
  weft::sort(order, [&](item_id a, item_id b) {
    const double x = start[a] + duration[a];
    const double y = start[b] + duration[b];
    return start[a] != start[b] ? start[a] < start[b] : x != y ? x < y : label[a] < label[b];
  });
}

/// What is needed to come back to a state, or to make a plan of it: cheap to take, without the graph.
struct schedule_snapshot {
  double value = std::numeric_limits<double>::infinity();
  double makespan = std::numeric_limits<double>::infinity();
  std::vector<device_id> device, destination;
  std::vector<double> start, duration, label;

  /// Placement, and every op and send in the order of its start.
  plan to_plan(const changing_flow& flow) const {
    std::vector<item_id> order;
    const auto is_send = [&](item_id i) { return destination[i - flow.num_ops()] != none && duration[i] > 0; };
    for (const item_id i : ids(start.size())) {
      if (flow.is_op(i) || is_send(i)) {
        order.push_back(i);
      }
    }
    sort_by_time(order, start, duration, label);
    plan result{device, {}};
    for (const item_id i : order) {
      result.order.push_back(flow.is_op(i) ? step::run(i)
                                            : step::send(flow.producer(i), flow.tensor(i),
                                                         destination[i - flow.num_ops()]));
    }
    return result;
  }
};

} // namespace weft::refine::detail
