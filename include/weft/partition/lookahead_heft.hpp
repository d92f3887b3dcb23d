// SPDX-License-Identifier: BSL-1.0
/// HEFT that looks at an op's consumers before it decides.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/partition/list_scheduler.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <vector>

namespace weft::partition {

namespace list {

/// The device from which the consumers can finish earliest: the least of the largest over the consumers of the earliest
/// finish, on any device, given what is scheduled so far. An op without consumers counts its own finish. Ties: the op's
/// earlier finish, then the smaller device id. O(devices² · consumers + devices · their inputs) per op.
struct earliest_consumers {
  template <class Builder>
  constexpr option operator()(Builder& b, op_id v, const ranking&, double group_weight) const {
    const auto& p = b.problem();
    const std::size_t k = p.num_devices();
    std::vector<consumer> ahead = consumers_of(b, v);
    option best;
    double least = 0;
    for (const device_id d : ids(k)) {
      if (!b.allows(v, d)) {
        continue;
      }
      const option o = b.at(v, d);
      double value = ahead.empty() ? o.finish : 0;
      for (const consumer& c : ahead) {
        value = std::max(value, earliest_finish(b, v, o, c));
      }
      if (b.placed().device(v) == none && !b.placed().alone(v) && group_weight != 0) {
        value += rounded(group_weight * p.others_time(v, d));
      }
      if (best.device == none || value < least || (value == least && o.finish < best.finish)) {
        best = o;
        least = value;
      }
    }
    return best;
  }

private:
  struct consumer {
    op_id op = none;
    std::vector<tensor_id> from = {};     // its inputs that v makes
    std::vector<double> others = {};      // per device: when those inputs are there that are scheduled already
  };

  template <class Builder>
  static constexpr std::vector<consumer> consumers_of(Builder& b, op_id v) {
    const auto& p = b.problem();
    const auto& w = p.workload();
    std::vector<consumer> list;
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id c : w.consumers(t)) {
        const auto known = std::find_if(list.begin(), list.end(), [c](const consumer& x) { return x.op == c; });
        if (known != list.end()) {
          known->from.push_back(t);
          continue;
        }
        consumer made;
        made.op = c;
        made.from.push_back(t);
        made.others.assign(p.num_devices(), 0.0);
        for (const tensor_id i : w.inputs(c)) {
          if (const op_id u = w.producer(i); u != v && b.is_scheduled(u)) {
            for (const device_id d : ids(p.num_devices())) {
              made.others[d] = std::max(made.others[d], b.rows().arrival_of(i, d));
            }
          }
        }
        list.push_back(std::move(made));
      }
    }
    return list;
  }

  /// v itself need not be booked for that: on its own device a consumer comes after it anyway.
  template <class Builder>
  static constexpr double earliest_finish(Builder& b, op_id v, const option& o, const consumer& c) {
    const auto& p = b.problem();
    double least = std::numeric_limits<double>::infinity();
    for (const device_id e : ids(p.num_devices())) {
      if (p.component(c.op) == p.component(v) ? e != o.device : !b.allows(c.op, e)) {
        continue;
      }
      double ready = c.others[e];
      for (const tensor_id t : c.from) {
        ready = std::max(ready, e == o.device ? o.finish
                                              : o.finish + p.send_time(t, o.device, e) +
                                                  p.transfer_time(t, o.device, e));
      }
      least = std::min(least, b.at(c.op, e, ready).finish);
    }
    return least;
  }
};

} // namespace list

/// Lookahead HEFT: ops in descending upward rank as for `heft`, each on the device from which its consumers can finish
/// earliest, with insertion (ties: the op's earlier finish, then the smaller device id).
///
/// Departs: each consumer is considered independently of the others.
/// Source: Bittencourt, Sakellariou, Madeira, PDP 2010. Complexity: O(devices² · m + devices · Σ of the consumers'
/// inputs) plus the gaps passed.
/// Choose it where a better plan is worth a few times HEFT's time, above all where transfers are expensive.
using lookahead_heft = list_scheduler<list::by_upward_rank, list::earliest_consumers>;

} // namespace weft::partition
