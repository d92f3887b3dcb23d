// SPDX-License-Identifier: BSL-1.0
/// A lower bound by energetic reasoning: the work that must run within time windows, against the capacity there.
#pragma once

#include "weft/bound/communication_path.hpp"
#include "weft/bound/detail/relaxation.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::bound {

namespace detail {

/// Tries windows of one set of device types after the other. Keeps its buffers.
template <class Problem>
class window_bound {
public:
  constexpr window_bound(const relaxation<Problem>& r, const head_and_tail& around) : r_{r}, around_{around} {}

  /// The least makespan, at least `known`, that the windows allow.
  constexpr double operator()(double known) {
    if (r_.problem().num_ops() > max_ops || known <= 0 || !(known < infinity)) {
      return known;
    }
    const auto& all = r_.usable_types();
    known = of_types(all, known);
    for (const device_choice* choice : busiest(all.size())) {
      known = of_types(choice->types, known);
    }
    return known;
  }

private:
  static constexpr std::size_t max_choices = 4;
  static constexpr std::size_t max_ops = 20'000;        // beyond, windows cost more than the other bounds together
  static constexpr std::size_t max_look_ups = 600'000; // times of ops in windows

  struct piece {
    double head;
    double tail;
    std::uint32_t first; // of its times per type
    std::uint32_t last;
  };
  struct timed {
    double time;
    double weight;
  };

  /// Of the choices of fewer types than that, those whose ops have most to do per slot: an order in which the numbers
  /// of the ops do not count.
  constexpr buffer<const device_choice*> busiest(std::size_t num_types) const {
    buffer<const device_choice*> some;
    for (const device_choice& c : r_.choices()) {
      if (!c.types.empty() && c.types.size() < num_types) {
        some.push_back(&c);
      }
    }
    const auto per_slot = [&](const device_choice* c) {
      double slots = 0;
      for (const std::uint32_t i : c->types) {
        slots += rounded(r_.slots(i) * static_cast<double>(r_.types()[i].count));
      }
      return c->total_best / slots;
    };
    weft::sort(some, [&](const device_choice* a, const device_choice* b) {
      const double x = per_slot(a);
      const double y = per_slot(b);
      return x != y ? x > y : a->types < b->types;
    });
    some.resize(std::min(some.size(), max_choices));
    return some;
  }

  constexpr double of_types(const std::vector<std::uint32_t>& types, double known) {
    collect(types);
    if (pieces_.empty() || capacity_ <= 0) {
      return known;
    }
    // All pairs of a head and a tail for small problems, some of them for large ones.
    const std::size_t windows = max_look_ups / std::max<std::size_t>(1, times_.size());
    std::size_t side = 1;
    while ((side + 1) * (side + 1) <= windows) {
      ++side;
    }
    const auto heads = sample(side, &piece::head);
    const auto tails = sample(side, &piece::tail);
    for (const double from : heads) {
      for (const double rest : tails) {
        if (const double length = known - from - rest; length > 0) {
          known = std::max(known, from + rest + rounded(load(from, rest, length) / capacity_ * (1 - 1e-12)));
        }
      }
    }
    return known;
  }

  /// The ops that are confined to the types, their times there, and how much each type's time counts: in inverse
  /// proportion to the mean time of the ops that may run on all of them. Any weights are right, these are good.
  constexpr void collect(const std::vector<std::uint32_t>& types) {
    std::vector<double> weight(r_.types().size(), 1.0);
    if (const device_choice* const everywhere = r_.choice_of(types)) {
      for (std::size_t k = 0; k < types.size(); ++k) {
        if (everywhere->total[k] > 0 && everywhere->total_best > 0) {
          weight[types[k]] = everywhere->total_best / everywhere->total[k];
        }
      }
    }
    capacity_ = 0;
    for (const std::uint32_t i : types) {
      capacity_ += rounded(weight[i] * r_.slots(i) * static_cast<double>(r_.types()[i].count));
    }
    pieces_.clear();
    times_.clear();
    for (const op_id v : ids(r_.problem().num_ops())) {
      if (!r_.choice(v).is_within(types)) {
        continue;
      }
      const auto first = static_cast<std::uint32_t>(times_.size());
      for (const std::uint32_t i : r_.choice(v).types) {
        if (const double time = r_.time(v, i); time < infinity) {
          times_.push_back({time, weight[i]});
        }
      }
      pieces_.push_back({around_.head[v], around_.tail[v], first, static_cast<std::uint32_t>(times_.size())});
    }
  }

  /// Up to `count` different values, evenly among all of them; the least is one.
  constexpr std::vector<double> sample(std::size_t count, double piece::*member) const {
    std::vector<double> values;
    for (const piece& x : pieces_) {
      values.push_back(x.*member);
    }
    weft::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.size() > count) {
      for (std::size_t i = 0; i < count; ++i) {
        values[i] = values[i * values.size() / count];
      }
      values.resize(count);
    }
    return values;
  }

  /// The weighted time that must be spent within a window of that length, from `from` to `rest` before the end.
  constexpr double load(double from, double rest, double length) const {
    double sum = 0;
    for (const piece& x : pieces_) {
      const double outside = std::max({0.0, from - x.head, rest - x.tail});
      double least = infinity;
      for (std::uint32_t k = x.first; k < x.last; ++k) {
        least = std::min(least, times_[k].weight * std::min(length, times_[k].time - outside));
      }
      sum += std::max(0.0, least);
    }
    return sum;
  }

  const relaxation<Problem>& r_;
  const head_and_tail& around_;
  buffer<piece> pieces_;
  buffer<timed> times_;
  double capacity_ = 0; // weighted seconds per second
};

} // namespace detail

/// The least makespan T that all windows of time allow; seconds. In a plan of makespan T, an op runs between its head
/// (what must pass before it can start) and T minus its tail. Within a window [a, T - b] it spends at least its time
/// minus what fits before a, or minus what fits after T - b, whichever is more, or the whole window if it covers it.
/// All devices and slots together can spend no more than the window is long.
///
/// For devices that differ, the time on device d counts y_d: any y_d >= 0 are right, since the weighted load of an op
/// is at least that on the device where it is least, and the devices can spend Σ slots(d) · y_d per second. Heads and
/// tails are those of bound/communication_path.hpp. All devices are tried, and of the sets of devices that some
/// components allow the four with most to do per slot, with the ops that are confined to them. A window that is
/// overloaded at T raises T to where it no longer is.
///
/// Complexity: O(n · device types · windows): all pairs of a head and a tail for up to some 80 ops, fewer for more, so
/// that the product stays below about 600,000 per set of devices; none beyond 20,000 ops.
/// Source: Fernandez, Bussell, Bounds on the number of processors and time for multiprocessor optimal schedules, IEEE
/// TC 22(8), 1973, for identical processors and without communication.
template <class Problem>
constexpr double windows(const Problem& p) {
  const detail::relaxation<Problem> r{p};
  if (!r.feasible()) {
    return detail::infinity;
  }
  const auto around = detail::communication_paths(r);
  return detail::window_bound{r, around}(detail::longest(r, around));
}

} // namespace weft::bound
