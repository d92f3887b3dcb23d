// SPDX-License-Identifier: BSL-1.0
/// A schedule in the making, op by op, the output of every list scheduler.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/partition/list/bookings.hpp"
#include "weft/partition/list/cost_rows.hpp"
#include "weft/partition/list/reservation.hpp"
#include "weft/partition/list/sort_by_key.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::partition::list {

/// A candidate slot for an op; times in seconds.
struct option {
  device_id device = none; ///< `none`: nowhere
  std::size_t slot = 0;    ///< of the device
  double available = 0;    ///< from when on the slot that is free first stays free
  double start = 0;
  double duration = 0;
  double finish = 0;
};

/// Sorts ops by start, ties by finish.
struct start_in {
  const buffer<schedule::interval>& times;
  constexpr double operator()(op_id v) const { return times[v].start; }
};
struct earlier_finish {
  const buffer<schedule::interval>& times;
  constexpr bool operator()(op_id u, op_id v) const { return times[u].finish < times[v].finish; }
};

/// Keeps the times at which ops run, on `Slot`s: `schedule::timeline` to insert into gaps, `schedule::queue_end` to
/// append. Places whole components, where `reservation::fits`; a tensor arrives a send and a transfer after its
/// producer finished, or when `Bookings` say on a network that they know, and sends are not booked on the sender.
/// Memory: cost_rows' and 48 bytes per op, and the slots'.
template <class Problem, class Slot, row_path Path = row_path::automatic, class Bookings = no_bookings>
class schedule_builder {
  static constexpr bool books = transfer_bookings<Bookings>;
  static_assert(
    books || std::same_as<Bookings, no_bookings>,
    "weft: what this network's bookings_for(problem) returns lacks begin(op, made), arrival(device, hopeless) "
    "or book(device); see docs/concepts/network_for.md");

public:
  using problem_type = Problem;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  constexpr explicit schedule_builder(const Problem& p, Bookings bookings = {})
      : bookings_{std::move(bookings)}, p_{&p}, placed_{p}, rows_{p, placed_}, slots_(p.num_devices()),
        available_(rows_.stride(), 0.0), last_gap_(rows_.stride(), -1.0), arrival_(rows_.stride(), 0.0),
        duration_(rows_.stride(), 0.0), bound_(rows_.stride(), 0.0), least_of_(rows_.stride() / row_block, 0.0) {
    sequence_.reserve(p.num_ops());
  }
  explicit schedule_builder(const Problem&&, Bookings = {}, weft::detail::problem_must_outlive_it = {}) = delete;
  schedule_builder(const schedule_builder&) = delete; // the rows refer to the reservation
  schedule_builder& operator=(const schedule_builder&) = delete;

  constexpr const Problem& problem() const { return *p_; }
  constexpr const reservation<Problem>& placed() const { return placed_; }
  /// The interval in which v runs, once it is scheduled.
  constexpr const schedule::interval& times(op_id v) const { return rows_.times(v); }
  constexpr bool is_scheduled(op_id v) const { return rows_.times(v).finish >= 0; }
  constexpr cost_rows<Problem, Path>& rows() { return rows_; }
  /// Per device, padded: from when on one of its slots stays free.
  constexpr std::span<const double> available() const { return available_; }
  constexpr std::size_t num_scheduled() const { return sequence_.size(); }

  /// The time when the last input of v is on d, exactly. Precondition: all that it waits for is scheduled.
  constexpr double arrival(op_id v, device_id d) {
    if constexpr (books) {
      turn_to(v);
      return bookings_.arrival(d, [](double) { return false; });
    } else {
      return rows_.arrival(v, d);
    }
  }

  /// Whether v may go there: where its component is, or where it fits.
  constexpr bool allows(op_id v, device_id d) const {
    const device_id there = placed_.device(v);
    return there == none ? placed_.fits(v, d) : there == d;
  }

  /// The slot that v would get on d, exactly. Precondition: all that it waits for is scheduled.
  constexpr option at(op_id v, device_id d) { return at(v, d, arrival(v, d)); }
  constexpr option at(op_id v, device_id d, double ready) { return ending(d, ready, p_->compute_time(v, d)); }

  /// The best option for v: the least `objective(option) + beyond[device]`, ties to the earlier finish, then to the
  /// smaller device id. The objective must not decrease in any of the option's times. `beyond` is empty or per device.
  /// If v is the first of a group, `group_weight` times the other members' compute time is added, too.
  ///
  /// Looks at estimates of all devices first, and exactly only at those that could be best by them.
  template <class Objective>
  constexpr option best(op_id v, Objective objective, std::span<const double> beyond, double group_weight) {
    if (const device_id there = placed_.device(v); there != none) {
      return at(v, there);
    }
    const bool fits_all = placed_.fits_everywhere(v);
    const bool alone = placed_.alone(v) || group_weight == 0;
    rows_.begin(v);
    if constexpr (books) {
      turn_to(v);
    }
    double smallest = fill_bounds(objective);
    if (!fits_all || !alone || !beyond.empty()) {
      smallest = adjust_bounds(v, fits_all, alone, beyond, group_weight);
    }
    const auto total = [&](const option& o) {
      double value = objective(o);
      if (!alone) {
        value += rounded(group_weight * p_->others_time(v, o.device));
      }
      return beyond.empty() ? value : value + beyond[o.device];
    };
    if (smallest == infinity) [[unlikely]] {
      return endless(v);
    }
    std::size_t block = 0;
    while (least_of_[block] != smallest) {
      ++block;
    }
    auto first = static_cast<device_id>(block * row_block);
    device_id within = row_block; // no branch, as none could be foreseen
    for (device_id i = row_block; i-- > 0;) {
      within = bound_[first + i] == smallest ? i : within;
    }
    first += within;
    option chosen = exactly(v, first);
    double least = total(chosen);
    double limit = could_be(least);
    bound_[first] = infinity;
    for (block = 0; block < least_of_.size(); ++block) {
      if (least_of_[block] > limit) {
        continue;
      }
      for (auto d = static_cast<device_id>(block * row_block); d < (block + 1) * row_block; ++d) {
        if (bound_[d] <= limit) {
          const option o = exactly(v, d, [&](const option& soonest) { return total(soonest) > limit; });
          if (const double value = total(o);
              value < least || (value == least && (o.finish != chosen.finish ? o.finish < chosen.finish
                                                                              : o.device < chosen.device))) {
            chosen = o;
            least = value;
            limit = could_be(least);
          }
        }
      }
    }
    return chosen;
  }

  /// Schedules v that way. Precondition: `allows(v, o.device)`, and nothing was scheduled since the option was made.
  /// Throws `value_error` if v runs nowhere in finite time.
  constexpr void take(op_id v, const option& o) {
    if (!(o.finish < infinity)) [[unlikely]] {
      p_->check_runs_somewhere(v);
    }
    placed_.place(v, o.device);
    if constexpr (books) {
      turn_to(v);
      bookings_.book(o.device);
    }
    auto& used = slots_[o.device];
    if (o.slot == used.size()) {
      used.push_back({});
    }
    used[o.slot].reserve(o.start, o.finish);
    update_device(o.device);
    rows_.set_times(v, o.device, {o.start, o.finish});
    sequence_.push_back(v);
  }

  constexpr infeasibility why_unplaced(op_id v) const { return placed_.why_unplaced(v); }

  /// The ops in the order of their start, ties by finish, then as they were scheduled. That order is topological, since
  /// an op that leads to another was scheduled before it and does not finish later than it starts.
  constexpr plan decided(workspace& scratch) && {
    sort_by_key({sequence_.data(), sequence_.size()}, start_in{rows_.times()}, earlier_finish{rows_.times()}, scratch);
    plan result{std::move(placed_).take(), {}};
    result.order.reserve(sequence_.size());
    for (const op_id v : sequence_) {
      result.order.push_back(step::run(v));
    }
    return result;
  }

private:
  /// The earliest gap in the slots that are in use, or else in the next one; ties to the slot with the smaller number.
  constexpr void find_gap(option& o, double ready) {
    auto& used = slots_[o.device];
    std::size_t s = 0;
    if (used.size() == p_->platform().slots(o.device)) {
      o.start = used[s++].earliest_gap(ready, o.duration);
    } else {
      o.slot = used.size();
      o.start = ready;
    }
    for (; s < used.size(); ++s) {
      const double start = used[s].earliest_gap(ready, o.duration);
      if (start < o.start || (start == o.start && s < o.slot)) {
        o.slot = s;
        o.start = start;
      }
    }
  }

  constexpr option ending(device_id d, double ready, double duration) {
    option o{d, 0, available_[d], 0, duration, 0};
    find_gap(o, ready);
    o.finish = o.start + o.duration;
    return o;
  }

  /// Where v, which never starts or finishes, would at least not run for ever.
  constexpr option endless(op_id v) {
    for (const device_id d : ids(p_->num_devices())) {
      if (placed_.fits(v, d) && p_->component_time(p_->component(v), d) < infinity) {
        return at(v, d);
      }
    }
    return {};
  }

  /// Precondition: the rows and the bookings are those of v, so that its times were checked.
  constexpr option exactly(op_id v, device_id d) {
    if constexpr (books) {
      return exactly(v, d, [](const option&) { return false; });
    } else {
      return ending(d, rows_.arrival(d), p_->unchecked_compute_time(v, d));
    }
  }
  /// Or any worse one, if v's soonest option by what is known of some inputs is `hopeless`.
  template <class Hopeless>
  constexpr option exactly(op_id v, device_id d, [[maybe_unused]] Hopeless hopeless) {
    if constexpr (books) {
      const double duration = p_->unchecked_compute_time(v, d);
      const auto too_late = [&](double ready) {
        return hopeless({d, 0, available_[d], ready, duration, ready + duration});
      };
      return ending(d, bookings_.arrival(d, too_late), duration);
    } else {
      return exactly(v, d);
    }
  }

  constexpr void turn_to(op_id v) {
    bookings_.begin(v, [this](tensor_id t) {
      const op_id u = p_->workload().producer(t);
      return made_input{times(u).finish, t, placed_.device(u)};
    });
  }

  constexpr void update_device(device_id d) {
    const auto& used = slots_[d];
    double free = used.size() < p_->platform().slots(d) ? 0 : used[0].end();
    double gap = -1;
    for (const Slot& s : used) {
      free = std::min(free, s.end());
      gap = std::max(gap, s.last_gap());
    }
    available_[d] = std::min(free, std::numeric_limits<double>::max()); // finite, as it is multiplied by 0
    last_gap_[d] = gap * (1 + 0x1p-44) + 1e-300; // a bound, fused or not
  }

  /// The largest estimate of what may be `least` seconds or fewer; finite, so that what is infinite stays out. A bound,
  /// fused or not.
  static constexpr double could_be(double least) {
    return std::min(least + (least < 0 ? -least : least) * 0x1p-43 + 1e-299, std::numeric_limits<double>::max());
  }

  /// Estimates the objective on each device, off by roundings: behind the last gap an op starts when the device is
  /// free, before it at best when its inputs are there. Returns the smallest.
  template <class Objective>
  constexpr double fill_bounds(Objective objective) {
    rows_.arrivals(arrival_);
    rows_.durations(duration_);
    const std::size_t stride = bound_.size();
    const double* __restrict const arrival = arrival_.data();
    const double* __restrict const duration = duration_.data();
    const double* __restrict const available = available_.data();
    const double* __restrict const last_gap = last_gap_.data();
    double* __restrict const bound = bound_.data();
    for (std::size_t d = 0; d < stride; ++d) { // a loop of its own, with numbers for truth, becomes vector instructions
      bound[d] = arrival[d] + duration[d] > last_gap[d] ? 1.0 : 0.0;
    }
    for (std::size_t d = 0; d < stride; ++d) {
      const double from = bound[d] * available[d];
      const double start = arrival[d] < from ? from : arrival[d];
      bound[d] = objective(option{none, 0, available[d], start, duration[d], start + duration[d]});
    }
    std::fill(bound + p_->num_devices(), bound + stride, infinity);
    return least_of_blocks();
  }

  /// What only some ops need: devices that take no more, the rest of the group, what comes beyond.
  constexpr double adjust_bounds(op_id v, bool fits_all, bool alone, std::span<const double> beyond,
                                 double group_weight) {
    for (double& bound : bound_) {
      bound = rows_.least(bound);
    }
    if (!alone) {
      rows_.add_others(group_weight, bound_);
    }
    for (const device_id d : ids(p_->num_devices())) {
      if (!fits_all && !placed_.fits(v, d)) {
        bound_[d] = infinity;
      } else {
        bound_[d] += beyond.empty() ? 0 : beyond[d]; // the same sum as of exact numbers, so it stays a bound
      }
    }
    return least_of_blocks();
  }

  /// Fills `least_of_`; returns the smallest bound.
  constexpr double least_of_blocks() {
    double smallest = infinity;
    for (std::size_t block = 0; block < least_of_.size(); ++block) {
      const double* const bound = bound_.data() + block * row_block;
      double half[row_block / 2];
      for (std::size_t i = 0; i < row_block / 2; ++i) {
        half[i] = std::min(bound[i], bound[i + row_block / 2]);
      }
      least_of_[block] = std::min(std::min(half[0], half[2]), std::min(half[1], half[3]));
      smallest = std::min(smallest, least_of_[block]);
    }
    return smallest;
  }

  [[no_unique_address]] Bookings bookings_;
  const Problem* p_;
  reservation<Problem> placed_;
  cost_rows<Problem, Path> rows_;
  buffer<buffer<Slot>> slots_;           // per device, those in use
  std::vector<double> available_;        // rows over devices
  std::vector<double> last_gap_;         // the last gap's end, and a little more
  std::vector<double> arrival_;          // of the op in hand, as the following
  std::vector<double> duration_;
  std::vector<double> bound_;
  std::vector<double> least_of_; // per block of `bound_`
  std::vector<op_id> sequence_;
};

} // namespace weft::partition::list
