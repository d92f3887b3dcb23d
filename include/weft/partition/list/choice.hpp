// SPDX-License-Identifier: BSL-1.0
/// Device selection of list schedulers: finish, start, compute or available time, whichever is least.
#pragma once

#include "weft/partition/list/ranking.hpp"
#include "weft/partition/list/schedule_builder.hpp"

namespace weft::partition::list {

/// The device with the least `Objective`, counting what the ranking says comes beyond; ties as in
/// `schedule_builder::best`. O(devices · inputs).
template <class Objective>
struct least {
  [[no_unique_address]] Objective objective{};

  template <class Builder>
  constexpr option operator()(Builder& b, op_id v, const ranking& r, double group_weight) const {
    return b.best(v, objective, r.beyond_row(v, b.problem().num_devices()), group_weight);
  }
};

/// Objectives: what is least.
struct finish_time {
  constexpr double operator()(const option& o) const { return o.finish; }
};
struct start_time {
  constexpr double operator()(const option& o) const { return o.start; }
};
struct compute_time {
  constexpr double operator()(const option& o) const { return o.duration; }
};
struct available_time {
  constexpr double operator()(const option& o) const { return o.available; }
};

} // namespace weft::partition::list
