// SPDX-License-Identifier: BSL-1.0
/// All orders of a small pipeline, by a dynamic program over what each device has done.
#pragma once

#include "weft/parallel/pipeline_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace weft::parallel::detail {

/// The best of all orders, and whether all were looked at.
struct best_of_orders {
  bool is_complete = true; ///< no order has a smaller value, or none that was asked for exists
  double value = std::numeric_limits<double>::infinity(); ///< seconds; infinite without an order
  pipeline_order order = {};
};

/// The orders of a pipeline, a step at a time. What a device may do next, and the memory that it then holds, depend
/// only on how many micro-batches each pass of each stage has done; and of two ways to the same numbers, one whose
/// times are all no later is no worse, whatever comes next. So it suffices to keep, for all numbers, the ways of which
/// none has no later times than another one. Of the longest span this holds for ways with the same times only, since a
/// device that begins earlier need not end earlier. Where there are more ways than `max_ways` after some number of
/// steps, those with the smallest bounds stay, and nothing is proven.
class every_pipeline_order {
public:
  static constexpr std::size_t max_steps = 18;   ///< of a pipeline that is looked at
  static constexpr std::size_t max_ways = 3'000; ///< after each number of steps

  every_pipeline_order(const pipeline_problem& p, bool by_span)
      : p_{p}, by_span_{by_span}, chains_{p.passes_each() * p.num_stages()}, width_{2 * p.num_devices() +
                                                                                    chains_ * p.micro_batches} {}

  bool is_small() const { return chains_ * p_.micro_batches <= max_steps; }

  /// The best order whose value is below that. Complexity: O(steps · ways · (passes · stages)² · micro-batches).
  best_of_orders operator()(double below) {
    best_of_orders best;
    std::vector<level> levels(1);
    levels[0].ways.push_back({});
    levels[0].counts.assign(chains_, 0);
    levels[0].times.assign(width_, 0);
    std::fill_n(levels[0].times.begin() + static_cast<std::ptrdiff_t>(p_.num_devices()), p_.num_devices(), not_begun);
    for (std::size_t i = 0; i < chains_ * p_.micro_batches; ++i) {
      auto next = after(levels.back(), below);
      best.is_complete = keep_best(next) && best.is_complete;
      levels.push_back(std::move(next));
    }
    const auto& last = levels.back().ways;
    if (last.empty()) {
      return best;
    }
    auto at = static_cast<std::uint32_t>(
      std::min_element(last.begin(), last.end(), [](const way& a, const way& b) { return a.bound < b.bound; }) -
      last.begin());
    best.value = last[at].bound;
    best.order.resize(p_.num_devices());
    for (std::size_t i = levels.size(); --i > 0; at = levels[i].ways[at].before) {
      const auto c = levels[i].ways[at].chain;
      best.order[p_.stages[stage_of(c)].device].push_back({.pass = pass_of(c), .stage = stage_of(c)});
    }
    for (auto& steps : best.order) {
      std::reverse(steps.begin(), steps.end());
    }
    return best;
  }

private:
  static constexpr double not_begun = -1;

  /// A way to some numbers of micro-batches: its last step, and a bound of what it may come to, in seconds.
  struct way {
    double bound = 0;
    std::uint32_t before = 0, chain = 0;
  };
  /// All ways of so many steps. Times of a way: by device until when it is busy, and when it began; then by pass, stage
  /// and micro-batch when what others wait for ended, and 0 for the rest.
  struct level {
    std::vector<way> ways;
    std::vector<std::uint32_t> counts; // by way, pass and stage
    std::vector<double> times;
  };

  std::uint32_t chain(pass x, std::uint32_t s) const { return static_cast<std::uint32_t>(x) * p_.num_stages() + s; }
  pass pass_of(std::uint32_t c) const { return static_cast<pass>(c / p_.num_stages()); }
  std::uint32_t stage_of(std::uint32_t c) const { return c % p_.num_stages(); }
  std::size_t end_of(std::uint32_t c, std::uint32_t k) const { return 2 * p_.num_devices() + c * p_.micro_batches + k; }

  /// When the next micro-batch of a pass may start, but for its device; infinite if it waits for what is not done.
  double arrival(const std::uint32_t* counts, const double* times, std::uint32_t c) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    const auto s = stage_of(c), k = counts[c];
    const auto of = [&](pass x, std::uint32_t stage) {
      const auto from = chain(x, stage);
      const double send = stage == s ? 0 : p_.stages[stage][x].send_seconds;
      return counts[from] > k ? times[end_of(from, k)] + send : never;
    };
    switch (pass_of(c)) {
    case pass::forward: return s == 0 ? 0 : of(pass::forward, s - 1);
    case pass::backward: return std::max(of(pass::forward, s), s + 1 < p_.num_stages() ? of(pass::backward, s + 1) : 0);
    default: return of(pass::backward, s);
    }
  }

  /// Forgets the ends that no step waits for any more, so that ways are compared by what matters.
  void forget(const std::uint32_t* counts, double* times) const {
    for (std::uint32_t c = 0; c < chains_; ++c) {
      const auto x = pass_of(c);
      const auto s = stage_of(c);
      std::uint32_t used = p_.micro_batches; // by all that wait for it
      if (x == pass::forward) {
        used = std::min(s + 1 < p_.num_stages() ? counts[chain(x, s + 1)] : used,
                        p_.trains ? counts[chain(pass::backward, s)] : used);
      } else if (x == pass::backward) {
        used = std::min(s > 0 ? counts[chain(x, s - 1)] : used, counts[chain(pass::weights, s)]);
      }
      std::fill_n(times + end_of(c, 0), std::min(used, counts[c]), 0.0);
    }
  }

  double bound(const std::uint32_t* counts, const double* times) const {
    const auto devices = p_.num_devices();
    std::vector<double> left(devices, 0);
    for (std::uint32_t c = 0; c < chains_; ++c) {
      const auto& stage = p_.stages[stage_of(c)];
      left[stage.device] += stage[pass_of(c)].seconds * (p_.micro_batches - counts[c]);
    }
    double most = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      const double begin = by_span_ && times[devices + d] != not_begun ? times[devices + d] : 0;
      const double end = by_span_ && times[devices + d] == not_begun ? 0 : times[d];
      most = std::max(most, end + left[d] - begin);
    }
    return most;
  }

  level after(const level& from, double below) const {
    level to;
    std::vector<std::uint32_t> counts(chains_);
    std::vector<double> times(width_);
    const auto devices = p_.num_devices();
    for (std::uint32_t i = 0; i < from.ways.size(); ++i) {
      const auto* const n = from.counts.data() + i * chains_;
      const auto* const t = from.times.data() + i * width_;
      for (std::uint32_t c = 0; c < chains_; ++c) {
        const auto& stage = p_.stages[stage_of(c)];
        const auto& cost = stage[pass_of(c)];
        const double at = n[c] < p_.micro_batches ? arrival(n, t, c) : std::numeric_limits<double>::infinity();
        if (at == std::numeric_limits<double>::infinity() ||
            held(n, stage.device) + cost.taken > p_.capacity[stage.device]) {
          continue;
        }
        std::copy_n(n, chains_, counts.begin());
        std::copy_n(t, width_, times.begin());
        const double start = std::max(at, t[stage.device]);
        times[stage.device] = times[end_of(c, counts[c])] = start + cost.seconds;
        ++counts[c];
        if (by_span_ && t[devices + stage.device] == not_begun) {
          times[devices + stage.device] = start;
        }
        forget(counts.data(), times.data());
        if (const double least = bound(counts.data(), times.data()); least < below) {
          to.ways.push_back({least, i, c});
          to.counts.insert(to.counts.end(), counts.begin(), counts.end());
          to.times.insert(to.times.end(), times.begin(), times.end());
        }
      }
    }
    return to;
  }

  byte_count held(const std::uint32_t* counts, std::size_t device) const {
    byte_count bytes = 0;
    for (std::uint32_t c = 0; c < chains_; ++c) {
      const auto& stage = p_.stages[stage_of(c)];
      bytes += stage.device == device ? counts[c] * (stage[pass_of(c)].taken - stage[pass_of(c)].freed) : 0;
    }
    return bytes;
  }

  /// Of ways with the same numbers, keeps those that no other one makes unnecessary; and of these the `max_ways` with
  /// the smallest bounds. False if that left some out.
  bool keep_best(level& of) const {
    std::vector<std::uint32_t> order(of.ways.size()), kept;
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    const auto counts = [&](std::uint32_t i) { return of.counts.begin() + static_cast<std::ptrdiff_t>(i * chains_); };
    const auto times = [&](std::uint32_t i) { return of.times.begin() + static_cast<std::ptrdiff_t>(i * width_); };
    const auto n = static_cast<std::ptrdiff_t>(chains_), m = static_cast<std::ptrdiff_t>(width_);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto [x, y] = std::mismatch(counts(a), counts(a) + n, counts(b));
      return x != counts(a) + n ? *x < *y
                                : std::lexicographical_compare(times(a), times(a) + m, times(b), times(b) + m);
    });
    std::size_t first = 0; // of those kept with the same numbers
    for (const auto i : order) {
      if (first < kept.size() && !std::equal(counts(i), counts(i) + n, counts(kept[first]))) {
        first = kept.size();
      }
      const bool is_needless = std::any_of(kept.begin() + static_cast<std::ptrdiff_t>(first), kept.end(), [&](auto j) {
        return by_span_ ? std::equal(times(j), times(j) + m, times(i))
                        : std::equal(times(j), times(j) + m, times(i), [](double a, double b) { return a <= b; });
      });
      if (!is_needless) {
        kept.push_back(i);
      }
    }
    const bool is_complete = kept.size() <= max_ways;
    if (!is_complete) {
      std::stable_sort(kept.begin(), kept.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return of.ways[a].bound < of.ways[b].bound; });
      kept.resize(max_ways);
    }
    level to;
    for (const auto i : kept) {
      to.ways.push_back(of.ways[i]);
      to.counts.insert(to.counts.end(), counts(i), counts(i) + n);
      to.times.insert(to.times.end(), times(i), times(i) + m);
    }
    of = std::move(to);
    return is_complete;
  }

  const pipeline_problem& p_;
  bool by_span_;
  std::size_t chains_, width_;
};

} // namespace weft::parallel::detail
