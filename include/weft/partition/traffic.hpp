// SPDX-License-Identifier: BSL-1.0
/// What placing a component adds to the traffic between devices.
#pragma once

#include "weft/partition/assignment.hpp"

#include <span>
#include <vector>

namespace weft::partition {

/// Computes, for one component, the transfer time that each device would add with the neighbours that are placed
/// already: a tensor counts once per device that it goes to, and not at all where it goes already.
/// Complexity of `of`: O(devices · (inputs + outputs + placed neighbours)).
template <class Problem>
class added_traffic {
public:
  constexpr explicit added_traffic(const Problem& p)
      : problem_{&p}, seconds_(p.num_devices(), 0.0), has_tensor_(p.num_devices(), none) {}

  /// Seconds per device, valid until the next call.
  constexpr std::span<const double> of(component_id c, const assignment<Problem>& a) {
    const auto& w = problem_->workload();
    const auto k = problem_->num_devices();
    for (auto& s : seconds_) {
      s = 0;
    }
    for (const op_id v : problem_->members(c)) {
      for (const tensor_id t : w.inputs(v)) {
        const device_id from = a.device(w.producer(t));
        if (from == none) {
          continue;
        }
        mark_devices_with(t, a);
        for (const device_id d : ids(k)) {
          if (d != from && has_tensor_[d] != t) {
            seconds_[d] += problem_->transfer_time(t, from, d);
          }
        }
      }
      for (const tensor_id t : w.outputs(v)) {
        mark_devices_with(t, a);
        for (const device_id to : ids(k)) {
          if (has_tensor_[to] == t) {
            for (const device_id d : ids(k)) {
              if (d != to) {
                seconds_[d] += problem_->transfer_time(t, d, to);
              }
            }
          }
        }
      }
    }
    return seconds_;
  }

private:
  constexpr void mark_devices_with(tensor_id t, const assignment<Problem>& a) {
    for (auto& tensor : has_tensor_) {
      tensor = none;
    }
    for (const op_id c : problem_->workload().consumers(t)) {
      if (a.device(c) != none) {
        has_tensor_[a.device(c)] = t;
      }
    }
  }

  const Problem* problem_;
  std::vector<double> seconds_;
  std::vector<tensor_id> has_tensor_;
};

} // namespace weft::partition
