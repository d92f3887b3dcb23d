// SPDX-License-Identifier: BSL-1.0
/// Max-min fair rates of flows over shared links, kept up to date as flows come and go.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/rounding.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace weft::simulate {

/// Rates by weighted max–min fairness: nobody could get more without taking from one whose rate, divided by its weight,
/// is no larger. Flows of one **class** take the same route with the same weight, so that they have the same rate, and
/// how many they are changes nothing but a number.
/// ```
/// r.add_link(capacity) …; r.add_class(route, weight) …; r.ready();
/// r.join(c); r.leave(c); r.settle([](c, rate) { … });
/// ```
/// The allocation is the one in which every class has a **bottleneck**: a link on its route that is full, on which
/// nobody's **level**, the rate divided by the weight, is higher. `settle` solves by progressive filling for the
/// classes that joined or left and for those whose bottlenecks are on their routes, as if all others kept their rates;
/// then takes in those others that this leaves without a bottleneck, and repeats until there are none.
/// Source: Bertsekas, Gallager, *Data Networks*, 2nd ed., 1992, §6.5.2. Complexity: of a `settle`, O(k log k) per
/// repetition for k links on the routes of the classes whose rates change, and a look at all classes on those whose
/// level changes; there are two repetitions at most, mostly. Does not allocate once `ready`.
class max_min_rates {
public:
  /// Without links and classes.
  void clear() {
    capacity_.clear();
    weight_.clear();
    via_.clear();
    first_.assign(1, 0);
  }
  /// Capacities are positive and finite; links are numbered from 0.
  void add_link(double capacity) { capacity_.push_back(capacity); }
  /// A class whose flows pass the links of the route, each once; there is at least one. Classes are numbered from 0.
  void add_class(std::span<const std::uint32_t> route, double weight) {
    via_.insert(via_.end(), route.begin(), route.end());
    first_.push_back(static_cast<std::uint32_t>(via_.size()));
    weight_.push_back(weight);
  }
  /// To be called when all links and classes are there; no flow is.
  void ready() {
    const std::size_t links = capacity_.size(), classes = weight_.size();
    first_place_.assign(links + 1, 0);
    for (const auto l : via_) {
      ++first_place_[l + 1];
    }
    for (std::size_t l = 0; l < links; ++l) {
      first_place_[l + 1] += first_place_[l];
    }
    places_.assign(via_.size(), 0);
    place_of_.assign(via_.size(), 0);
    num_here_.assign(links, 0);
    count_.assign(classes, 0);
    level_.assign(classes, 0);
    new_level_.assign(classes, 0);
    bottleneck_.assign(classes, none);
    class_mark_.assign(classes, 0);
    link_mark_.assign(links, 0);
    link_level_.assign(links, infinity);
    used_.assign(links, 0);
    num_updates_.assign(links, 0);
    filling_.assign(links, {});
    next_.assign(via_.size(), none);
    load_.assign(classes, 0);
    class_of_.clear();
    for (std::uint32_t c = 0; c < classes; ++c) {
      class_of_.insert(class_of_.end(), first_[c + 1] - first_[c], c);
    }
    changed_.clear();
    changed_.reserve(classes);
    is_changed_.assign(classes, 0);
    solving_.reserve(classes);
    touched_.reserve(links);
    queue_.assign(links, {});
    mark_ = 0;
  }

  /// Of each flow of the class, as of the last `settle`; 0 while it has none.
  double rate(std::uint32_t c) const { return rounded(weight_[c] * level_[c]); }

  void join(std::uint32_t c) {
    if (count_[c]++ == 0) {
      for (auto i = first_[c]; i < first_[c + 1]; ++i) {
        const auto l = via_[i];
        place_of_[i] = num_here_[l]++;
        places_[first_place_[l] + place_of_[i]] = i;
      }
    }
    note(c);
  }
  void leave(std::uint32_t c) {
    if (--count_[c] == 0) {
      level_[c] = 0;
      set_load(c, 0);
      for (auto i = first_[c]; i < first_[c + 1]; ++i) {
        const auto l = via_[i];
        const auto last = places_[first_place_[l] + --num_here_[l]];
        places_[first_place_[l] + place_of_[i]] = last;
        place_of_[last] = place_of_[i];
        if (num_here_[l] == 0) { // no rounding stays behind
          used_[l] = 0;
          link_level_[l] = infinity;
        }
      }
    }
    note(c);
  }

  /// Revises the rates; calls `changed(c, rate)` for each class with another rate than before, before `rate(c)` says
  /// it.
  template <class Changed>
  void settle(Changed changed) {
    if (changed_.empty()) {
      return;
    }
    next_mark();
    solving_.clear();
    for (const auto c : changed_) {
      is_changed_[c] = 0;
      if (count_[c] > 0) {
        take_in(c);
      }
      for (auto i = first_[c]; i < first_[c + 1]; ++i) {
        const auto l = via_[i];
        if (link_level_[l] < infinity) {
          for_each_on(l, [&](std::uint32_t other) {
            if (bottleneck_[other] == l) {
              take_in(other);
            }
          });
        }
      }
    }
    changed_.clear();
    do {
      fill();
    } while (take_in_others());
    for (const auto l : touched_) {
      link_level_[l] = filling_[l].level < infinity ? filling_[l].level : filling_[l].moved ? infinity : link_level_[l];
    }
    for (const auto c : solving_) {
      set_load(c, rounded(shares(c) * new_level_[c]));
      if (const double now = rounded(weight_[c] * new_level_[c]); now != rate(c)) {
        changed(c, now);
      }
      level_[c] = new_level_[c];
    }
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double slack = 1e-12; // relative: levels as close as that are the same
  void note(std::uint32_t c) {
    if (!is_changed_[c]) {
      is_changed_[c] = 1;
      changed_.push_back(c);
    }
  }
  void next_mark() {
    if (++mark_ == 0) {
      std::fill(class_mark_.begin(), class_mark_.end(), 0);
      std::fill(link_mark_.begin(), link_mark_.end(), 0);
      mark_ = 1;
    }
  }
  bool is_solved(std::uint32_t c) const { return class_mark_[c] == mark_; }
  bool take_in(std::uint32_t c) {
    if (is_solved(c)) {
      return false;
    }
    class_mark_[c] = mark_;
    solving_.push_back(c);
    return true;
  }

  double shares(std::uint32_t c) const { return rounded(weight_[c] * static_cast<double>(count_[c])); }
  template <class F>
  void for_each_on(std::uint32_t l, F f) const {
    for (auto at = first_place_[l]; at < first_place_[l] + num_here_[l]; ++at) {
      f(class_of_[places_[at]]);
    }
  }

  /// What a class takes of its links; sums are made anew now and then, so that they do not drift.
  void set_load(std::uint32_t c, double load) {
    const double more = load - load_[c];
    load_[c] = load;
    for (auto i = first_[c]; i < first_[c + 1]; ++i) {
      const auto l = via_[i];
      used_[l] += more;
      if (++num_updates_[l] == 100) {
        num_updates_[l] = 0;
        used_[l] = 0;
        for_each_on(l, [&](std::uint32_t other) { used_[l] += load_[other]; });
      }
    }
  }

  /// Levels of the classes that are solved for, as if the others kept theirs.
  void fill() {
    touched_.clear();
    for (const auto c : solving_) {
      new_level_[c] = infinity;
      for (auto i = first_[c]; i < first_[c + 1]; ++i) {
        const auto l = via_[i];
        auto& f = filling_[l];
        if (link_mark_[l] != mark_) {
          link_mark_[l] = mark_;
          touched_.push_back(l);
          f = {.free = capacity_[l] - used_[l]};
        }
        f.free += load_[c];
        ++f.num_open;
        next_[i] = f.first;
        f.first = i;
      }
    }
    std::size_t size = 0;
    for (const auto l : touched_) {
      link_mark_[l] = mark_ - 1; // for the next filling
      keyed_heap.push(queue_.data(), size++, {level_of(l, 0), l});
    }
    double reached = 0;
    while (size > 0) {
      const auto [level, l] = queue_[0];
      keyed_heap.pop(queue_.data(), size--);
      if (filling_[l].num_open == 0) {
        continue;
      }
      if (const double now = level_of(l, reached); now > level) {
        keyed_heap.push(queue_.data(), size++, {now, l});
        continue;
      }
      reached = level;
      filling_[l].level = level;
      for (auto i = filling_[l].first; i != none; i = next_[i]) {
        if (const auto c = class_of_[i]; new_level_[c] == infinity) {
          settle_at(c, level, l);
        }
      }
    }
  }
  /// At which level the classes without one would fill the link. It only rises while others are settled. What they want
  /// is summed up each time: taken off one by one, large weights would leave the small ones nothing but rounding.
  double level_of(std::uint32_t l, double reached) const {
    double wanted = 0;
    for (auto i = filling_[l].first; i != none; i = next_[i]) {
      if (const auto c = class_of_[i]; new_level_[c] == infinity) {
        wanted += shares(c);
      }
    }
    return std::max(reached, filling_[l].free / wanted);
  }

  void settle_at(std::uint32_t c, double level, std::uint32_t bottleneck) {
    new_level_[c] = level;
    bottleneck_[c] = bottleneck;
    const bool moved = level != level_[c];
    const double load = rounded(shares(c) * level);
    for (auto i = first_[c]; i < first_[c + 1]; ++i) {
      auto& f = filling_[via_[i]];
      f.free -= load;
      --f.num_open;
      f.moved |= moved;
    }
  }

  /// Others that are on the links of those solved for and now have no bottleneck, or took theirs away. Only where the
  /// level of a link has changed can there be any.
  bool take_in_others() {
    bool any = false;
    for (const auto l : touched_) {
      const double before = link_level_[l], now = filling_[l].level;
      const bool has_changed = now < infinity ? now < before * (1 - slack) || now > before * (1 + slack)
                                              : before < infinity && filling_[l].moved;
      if (has_changed) {
        for_each_on(l, [&](std::uint32_t c) {
          if (!is_solved(c) && (bottleneck_[c] == l || level_[c] > now * (1 + slack))) {
            any |= take_in(c);
          }
        });
      }
    }
    return any;
  }

  struct state_of_link { // while filling
    double free = 0;   ///< of its capacity
    std::uint32_t num_open = 0;            ///< classes without a level yet
    std::uint32_t first = none;            ///< entries of via_ of the classes that are solved for, by next_
    double level = infinity;               ///< at which it became full
    bool moved = false;                    ///< whether one of the classes got another level than it had
  };

  std::vector<double> capacity_;       // per link
  std::vector<double> weight_;         // per class
  std::vector<std::uint32_t> first_{0}; // per class: where its links begin
  std::vector<std::uint32_t> via_;     // links, class by class
  std::vector<std::uint32_t> class_of_; // per entry of via_
  std::vector<std::uint32_t> place_of_; // per entry of via_: where among those on the link
  std::vector<std::uint32_t> first_place_, num_here_; // per link: entries of via_ whose classes have flows …
  std::vector<std::uint32_t> places_;                 // … here
  std::vector<std::uint32_t> count_;                  // per class: flows
  std::vector<double> level_, new_level_;             // per class
  std::vector<std::uint32_t> bottleneck_;             // per class: a link
  std::vector<std::uint32_t> class_mark_, link_mark_;
  std::vector<double> load_;                       // per class: what all its flows take of a link
  std::vector<double> used_;                       // per link: Σ loads
  std::vector<double> link_level_;                 // per link: the highest level on it if it is full, else infinite
  std::vector<std::uint32_t> num_updates_;         // of used_
  std::vector<state_of_link> filling_;             // per link
  std::vector<std::uint32_t> next_;                // per entry of via_
  std::vector<std::uint32_t> changed_, solving_;   // classes
  std::vector<std::uint8_t> is_changed_;
  std::vector<std::uint32_t> touched_; // links
  buffer<keyed_number> queue_; // a heap of links by level
  std::uint32_t mark_ = 0;
};

} // namespace weft::simulate
