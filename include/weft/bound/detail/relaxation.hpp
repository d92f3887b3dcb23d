// SPDX-License-Identifier: BSL-1.0
/// The relaxation that all bounds start from: classes of identical devices, allowed devices and best times of ops.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/error.hpp"
#include "weft/core/reversed.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/longest_path.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::bound::detail {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Devices that no bound can tell apart: same cost, kind, capacity and slots.
struct device_type {
  device_id representative = none;
  std::size_t count = 0;
};

/// The device types that some components are allowed on; no two choices have the same ones.
struct device_choice {
  /// The place of a type among `types`, their number if it is not there.
  constexpr std::size_t find(std::uint32_t type) const {
    std::size_t i = 0;
    while (i < types.size() && types[i] != type) {
      ++i;
    }
    return i;
  }
  /// Whether all types are among `others`, which are ascending, too.
  constexpr bool is_within(const std::vector<std::uint32_t>& others) const {
    return std::includes(others.begin(), others.end(), types.begin(), types.end());
  }

  std::vector<std::uint32_t> types;  ///< ascending
  std::uint32_t max_slots = 1;      ///< of one of these devices
  /// Per entry of `types`: Σ compute times of the ops with this choice; best times where those are infinite.
  std::vector<double> total;
  double total_best = 0;             ///< Σ best times of the ops with this choice
};

/// Complexity: O(n · types) cost look-ups. Memory: O(n + choices · types).
template <class Problem>
class relaxation {
public:
  constexpr explicit relaxation(const Problem& p) : problem_{&p} {
    find_types();
    find_choices();
    find_usable_devices();
    best_.assign(p.num_ops(), 0);
    std::vector<double> times;
    double sum = 0;
    for (const op_id v : ids(p.num_ops())) {
      auto& c = choices_[choice_index(v)];
      double least = infinity;
      times.clear();
      bool wrong = false; // checked at the end, as the loop is an inner one
      for (const std::uint32_t i : c.types) {
        const double seconds = time(v, i);
        wrong = wrong || !(seconds >= 0);
        times.push_back(seconds);
        least = std::min(least, seconds);
      }
      if (wrong) [[unlikely]] {
        p.check_compute_times(v);
      }
      if (least == infinity) [[unlikely]] {
        p.check_runs_somewhere(v);
      }
      for (std::size_t i = 0; i < times.size(); ++i) {
        c.total[i] += times[i] < infinity ? times[i] : least;
      }
      best_[v] = least;
      c.total_best += least;
      sum += least;
      feasible_ = feasible_ && least < infinity;
    }
    if (feasible_ && !(sum < infinity)) {
      throw value_error("the problem", "the least times of its ops add up to more seconds than a double can hold "
                                       "(1.8e308); give times in a larger unit");
    }
  }

  constexpr const Problem& problem() const { return *problem_; }
  constexpr const buffer<device_type>& types() const { return types_; }
  constexpr const buffer<device_choice>& choices() const { return choices_; }
  /// The choice of exactly these types; null if there is none.
  constexpr const device_choice* choice_of(const std::vector<std::uint32_t>& types) const {
    for (const device_choice& c : choices_) {
      if (c.types == types) {
        return &c;
      }
    }
    return nullptr;
  }
  constexpr std::uint32_t choice_index(op_id v) const { return choice_of_[problem_->component(v)]; }
  constexpr const device_choice& choice(op_id v) const { return choices_[choice_index(v)]; }
  /// The least time that v takes on a device that its component allows.
  constexpr double best(op_id v) const { return best_[v]; }
  /// The devices that some component is allowed on, ascending.
  constexpr const std::vector<device_id>& usable_devices() const { return usable_devices_; }
  /// Their types, ascending.
  constexpr const std::vector<std::uint32_t>& usable_types() const { return usable_types_; }
  /// Whether every component is allowed somewhere.
  constexpr bool feasible() const { return feasible_; }
  constexpr double time(op_id v, std::uint32_t type) const {
    return problem_->unchecked_compute_time(v, types_[type].representative); // the constructor looked at it
  }
  constexpr double slots(std::uint32_t type) const {
    return problem_->platform().slots(types_[type].representative);
  }
  /// Whether no device is in both choices.
  constexpr bool disjoint(std::uint32_t a, std::uint32_t b) const { return disjoint_[a * choices_.size() + b]; }

private:
  constexpr void find_types() {
    const auto& platform = problem_->platform();
    std::vector<device_id> class_of;
    for (const device_id d : ids(problem_->num_devices())) {
      class_of.push_back(problem_->device_class(d));
      const auto is_like = [&](device_id e) {
        return class_of[e] == class_of[d] && platform.kind(e) == platform.kind(d) &&
               problem_->capacity(e) == problem_->capacity(d) && platform.slots(e) == platform.slots(d) &&
               problem_->memories().alike(d, e);
      };
      std::uint32_t type = 0;
      while (type < types_.size() && !is_like(types_[type].representative)) {
        ++type;
      }
      if (type == types_.size()) {
        types_.push_back({d, 0});
      }
      ++types_[type].count;
      type_of_.push_back(type);
    }
  }

  constexpr void find_usable_devices() {
    std::vector<std::uint8_t> usable(types_.size(), 0);
    for (const auto& c : choices_) {
      for (const std::uint32_t i : c.types) {
        usable[i] = 1;
      }
    }
    for (std::uint32_t i = 0; i < types_.size(); ++i) {
      if (usable[i]) {
        usable_types_.push_back(i);
      }
    }
    for (const device_id d : ids(problem_->num_devices())) {
      if (usable[type_of_[d]]) {
        usable_devices_.push_back(d);
      }
    }
  }

  /// Components allow the same devices if they allow the same kinds and their demands lie between the same capacities.
  constexpr void find_choices() {
    buffer<byte_count> capacities;
    std::uint64_t kinds = 0;
    for (const auto& x : types_) {
      capacities.push_back(problem_->capacity(x.representative));
      kinds |= kind_set{problem_->platform().kind(x.representative)}.bits();
    }
    weft::sort(capacities);
    struct key {
      std::uint64_t kinds;
      std::size_t too_small; // how many capacities are
    };
    buffer<key> keys;
    std::vector<std::uint32_t> choice_of_key;
    for (component_id c = 0; c < problem_->num_components(); ++c) {
      const byte_count* const enough = std::lower_bound(capacities.begin(), capacities.end(), problem_->demand(c));
      const key k{problem_->kinds(c).bits() & kinds, static_cast<std::size_t>(enough - capacities.begin())};
      std::size_t number = 0;
      while (number < keys.size() && (keys[number].kinds != k.kinds || keys[number].too_small != k.too_small)) {
        ++number;
      }
      if (number == keys.size()) {
        keys.push_back(k);
        choice_of_key.push_back(add_choice(c));
      }
      choice_of_.push_back(choice_of_key[number]);
    }
    for (const auto& a : choices_) {
      for (const auto& b : choices_) {
        bool disjoint = true;
        for (std::size_t i = 0; i < a.types.size() && disjoint; ++i) {
          disjoint = b.find(a.types[i]) == b.types.size();
        }
        disjoint_.push_back(disjoint ? 1 : 0);
      }
    }
  }

  /// The number of the choice that c has, a new one if there is none yet.
  constexpr std::uint32_t add_choice(component_id c) {
    device_choice allowed;
    for (std::uint32_t i = 0; i < types_.size(); ++i) {
      if (const device_id d = types_[i].representative; problem_->allows(c, d)) {
        allowed.types.push_back(i);
        allowed.max_slots = std::max<std::uint32_t>(allowed.max_slots, problem_->platform().slots(d));
      }
    }
    if (const device_choice* const same = choice_of(allowed.types)) {
      return static_cast<std::uint32_t>(same - choices_.begin());
    }
    allowed.total.assign(allowed.types.size(), 0.0);
    choices_.push_back(std::move(allowed));
    return static_cast<std::uint32_t>(choices_.size() - 1);
  }

  const Problem* problem_;
  bool feasible_ = true;
  buffer<device_type> types_;
  std::vector<std::uint32_t> type_of_;   // per device
  std::vector<device_id> usable_devices_;
  std::vector<std::uint32_t> usable_types_;
  buffer<device_choice> choices_;
  std::vector<std::uint32_t> choice_of_; // per component
  std::vector<std::uint8_t> disjoint_;   // choices x choices
  std::vector<double> best_;
};

/// For each op, how much must pass before it can start and after it has finished; seconds.
struct head_and_tail {
  std::vector<double> head;
  std::vector<double> tail;
};

/// The longest paths to and from each op, every op in its best time and communication free. Complexity: O(n + m).
template <class Problem>
constexpr head_and_tail longest_paths(const relaxation<Problem>& r) {
  const auto& p = r.problem();
  const auto& w = p.workload();
  head_and_tail x{graph::longest_from_source(w, p.topological_order(), [&](op_id v) { return r.best(v); }),
                  std::vector<double>(p.num_ops(), 0.0)};
  for (const op_id v : reversed(p.topological_order())) {
    x.tail[v] = graph::max_over_successors(w, v, 0.0, [&](op_id c) { return r.best(c) + x.tail[c]; });
  }
  return x;
}

/// The longest path through any op.
template <class Problem>
constexpr double longest(const relaxation<Problem>& r, const head_and_tail& x) {
  double most = 0;
  for (const op_id v : ids(r.problem().num_ops())) {
    most = std::max(most, x.head[v] + r.best(v) + x.tail[v]);
  }
  return most;
}

} // namespace weft::bound::detail
