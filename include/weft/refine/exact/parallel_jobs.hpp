// SPDX-License-Identifier: BSL-1.0
/// Jobs with precedences on identical machines, and when each must start and finish to meet a makespan.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/core/time_grid.hpp"
#include "weft/graph/release_counter.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace weft::refine::exact {

/// A graph of jobs in compressed rows, both ways, for `machines` machines that are alike. Jobs are numbered in
/// topological order. Times are in any unit, in `double`.
struct parallel_jobs {
  std::size_t machines = 1;
  double grid = 0; ///< all times are multiples of it; 0 if there is no such unit
  std::vector<double> time;
  std::vector<std::uint32_t> first_after{0}, after;   ///< successors
  std::vector<std::uint32_t> first_before{0}, before; ///< predecessors

  std::size_t size() const { return time.size(); }
  std::size_t num_ops() const { return size(); } ///< for graph algorithms, as out_edges and target
  std::span<const std::uint32_t> out_edges(std::uint32_t v) const { return successors(v); }
  static std::uint32_t target(std::uint32_t e) { return e; }
  std::span<const std::uint32_t> successors(std::size_t v) const {
    return std::span{after}.subspan(first_after[v], first_after[v + 1] - first_after[v]);
  }
  std::span<const std::uint32_t> predecessors(std::size_t v) const {
    return std::span{before}.subspan(first_before[v], first_before[v + 1] - first_before[v]);
  }

  /// The same with time running backwards: job v becomes job size() - 1 - v.
  parallel_jobs reversed() const {
    const auto n = static_cast<std::uint32_t>(size());
    parallel_jobs r{machines, grid, {time.rbegin(), time.rend()}, {0}, {}, {0}, {}};
    for (std::uint32_t v = n; v-- > 0;) {
      for (const std::uint32_t u : predecessors(v)) {
        r.after.push_back(n - 1 - u);
      }
      for (const std::uint32_t u : successors(v)) {
        r.before.push_back(n - 1 - u);
      }
      r.first_after.push_back(static_cast<std::uint32_t>(r.after.size()));
      r.first_before.push_back(static_cast<std::uint32_t>(r.before.size()));
    }
    return r;
  }

  /// The least multiple of the grid that is no smaller, but for rounding errors; the value itself without a grid.
  double up(double value) const { return round_up(value, grid); }
};

/// A set of jobs as bits.
using job_set = std::vector<std::uint64_t>;

/// Rows of bits, one set of jobs per job.
class job_sets {
public:
  explicit job_sets(std::size_t n) : words_{(n + 63) / 64}, bits_(n * words_, 0) {}
  std::size_t words() const { return words_; }
  std::span<std::uint64_t> operator[](std::size_t v) { return std::span{bits_}.subspan(v * words_, words_); }
  std::span<const std::uint64_t> operator[](std::size_t v) const {
    return std::span{bits_}.subspan(v * words_, words_);
  }
  void insert(std::size_t v, std::size_t u) { bits_[v * words_ + u / 64] |= std::uint64_t{1} << (u % 64); }
  bool contains(std::size_t v, std::size_t u) const { return (bits_[v * words_ + u / 64] >> (u % 64) & 1) != 0; }

private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// For each job, all that come after it. Complexity: O(n m / 64).
inline job_sets descendants(const parallel_jobs& g) {
  job_sets below{g.size()};
  for (std::size_t v = g.size(); v-- > 0;) {
    auto mine = below[v];
    for (const std::uint32_t s : g.successors(v)) {
      const auto theirs = std::as_const(below)[s];
      for (std::size_t w = 0; w < below.words(); ++w) {
        mine[w] |= theirs[w];
      }
      below.insert(v, s);
    }
  }
  return below;
}

/// A lower bound for identical machines and jobs without precedences, as jobs are added: the work over the
/// number of machines; and of the largest k · machines + 1 some machine has k + 1, for each k. Both are a multiple of
/// the grid. Complexity: O(jobs) per job.
class packing_bound {
public:
  /// In a `g` of more than `max_ranked` jobs only work counts.
  explicit packing_bound(const parallel_jobs& g) : g_{g}, is_ranked_{g.size() <= max_ranked} {}

  /// Whether more than work counts.
  bool is_ranked() const { return is_ranked_; }

  void clear() {
    times_.clear();
    work_ = 0;
  }
  void add(double time) {
    work_ += time;
    if (is_ranked_ && time > 0) {
      times_.insert(std::upper_bound(times_.begin(), times_.end(), time, std::greater<>{}), time);
    }
  }
  double operator()() const {
    double least = g_.up(work_ / static_cast<double>(g_.machines));
    for (std::size_t k = 1, last = g_.machines; last < times_.size(); ++k, last += g_.machines) {
      least = std::max(least, std::accumulate(times_.begin() + static_cast<std::ptrdiff_t>(last - k),
                                              times_.begin() + static_cast<std::ptrdiff_t>(last + 1), 0.0));
    }
    return least;
  }

private:
  static constexpr std::size_t max_ranked = 400;

  const parallel_jobs& g_;
  bool is_ranked_;
  std::vector<double> times_; // the largest first
  double work_ = 0;
};

/// For each job, the time that must pass from its end to the end of all, at least: the longest path, or what its
/// descendants need of all machines, the one with the longest tails first: for any of their subsets, how long the
/// machines need for it and then the shortest tail among them. Complexity: O(n² log n), O(n³) for some hundred jobs.
inline std::vector<double> tails(const parallel_jobs& g, const job_sets& below) {
  std::vector<double> tail(g.size(), 0.0);
  struct descendant {
    double tail;
    double time;
  };
  buffer<descendant> after;
  packing_bound need{g};
  for (auto v = static_cast<std::uint32_t>(g.size()); v-- > 0;) {
    tail[v] = graph::max_over_successors(g, v, 0.0, [&](std::uint32_t s) { return g.time[s] + tail[s]; });
    after.clear();
    for (std::size_t u = v + 1; u < g.size(); ++u) {
      if (below.contains(v, u)) {
        after.emplace_back(tail[u], g.time[u]);
      }
    }
    weft::sort(after, [](const descendant& a, const descendant& b) {
      return a.tail != b.tail ? a.tail > b.tail : a.time > b.time;
    });
    need.clear();
    for (const auto& [rest, time] : after) {
      need.add(time);
      tail[v] = std::max(tail[v], need() + rest);
    }
  }
  return tail;
}

/// A schedule: when each job starts.
using start_times = std::vector<double>;

/// Always the job that can start first, of those the one with the longest tail, itself included (ties: the smaller
/// one). Complexity: O(n log n + m).
inline start_times list_schedule(const parallel_jobs& g, std::span<const double> tail) {
  struct open_job {
    double ready;
    double urgency;
    std::uint32_t job;
  };
  const auto later = [](const open_job& a, const open_job& b) {
    return a.ready != b.ready ? a.ready > b.ready : a.job > b.job;
  };
  const auto less_urgent = [](const open_job& a, const open_job& b) {
    return a.urgency != b.urgency ? a.urgency < b.urgency : a.job > b.job;
  };
  buffer<open_job> waiting; // a heap, the first to be ready in front
  buffer<open_job> ready;   // a heap, the most urgent in front
  std::vector<double> free(std::max<std::size_t>(1, std::min(g.machines, g.size())), 0.0); // a heap, the first in front
  std::vector<double> there(g.size(), 0.0);
  start_times start(g.size(), 0.0);
  graph::release_counter missing{g};
  missing.for_each_ready([&](std::uint32_t v) { waiting.push_back({0, g.time[v] + tail[v], v}); });
  std::make_heap(waiting.begin(), waiting.end(), later);
  double now = 0;
  while (!waiting.empty() || !ready.empty()) {
    now = std::max({now, free.front(), ready.empty() ? waiting.front().ready : now});
    while (!waiting.empty() && waiting.front().ready <= now) {
      ready.push_back(waiting.front());
      std::push_heap(ready.begin(), ready.end(), less_urgent);
      std::pop_heap(waiting.begin(), waiting.end(), later);
      waiting.pop_back();
    }
    const std::uint32_t v = ready.front().job;
    std::pop_heap(ready.begin(), ready.end(), less_urgent);
    ready.pop_back();
    start[v] = now;
    const double finish = now + g.time[v];
    std::pop_heap(free.begin(), free.end(), std::greater<>{});
    free.back() = finish;
    std::push_heap(free.begin(), free.end(), std::greater<>{});
    for (const std::uint32_t s : g.successors(v)) {
      there[s] = std::max(there[s], finish);
      if (missing.arrive(s)) {
        waiting.push_back({there[s], g.time[s] + tail[s], s});
        std::push_heap(waiting.begin(), waiting.end(), later);
      }
    }
  }
  return start;
}

/// The least makespan that every window of time allows. In a schedule of makespan T a job runs between its head and T
/// minus its tail; of a window [a, b], it must use what it overlaps in both extreme positions, and all jobs together no
/// more than machines · (b - a). Complexity: O(n² log n) per value that is tried; each is the least that the worst
/// window of the one before allows. Source: Fernandez, Bussell, IEEE TC 22, 1973. Up to some hundred jobs, also: what
/// has at least such a head and such a tail must be packed in between.
class window_bound {
public:
  double operator()(const parallel_jobs& g, std::span<const double> head, std::span<const double> tail) {
    double least = 0;
    double work = 0;
    for (std::size_t v = 0; v < g.size(); ++v) {
      least = std::max(least, head[v] + g.time[v] + tail[v]);
      work += g.time[v];
    }
    least = std::max({least, g.up(work / static_cast<double>(g.machines)), packed(g, head, tail)});
    for (int round = 0; round < 64; ++round) { // a bound that stops early is a bound
      const double more = excess(g, head, tail, least);
      if (more <= 1e-9 * least) {
        break;
      }
      least = g.up(least + more);
    }
    return least;
  }

private:
  static double packed(const parallel_jobs& g, std::span<const double> head, std::span<const double> tail) {
    packing_bound need{g};
    if (!need.is_ranked()) {
      return 0;
    }
    double least = 0;
    std::vector<std::uint32_t> by_tail(g.size());
    std::iota(by_tail.begin(), by_tail.end(), 0u);
    weft::sort(by_tail,
               [&](std::uint32_t u, std::uint32_t v) { return tail[u] != tail[v] ? tail[u] > tail[v] : u < v; });
    std::vector<double> from(head.begin(), head.end());
    weft::sort(from);
    from.erase(std::unique(from.begin(), from.end()), from.end());
    for (const double a : from) {
      need.clear();
      for (const std::uint32_t v : by_tail) {
        if (head[v] >= a) {
          need.add(g.time[v]);
          least = std::max(least, a + need() + tail[v]);
        }
      }
    }
    return least;
  }

  /// How much longer than T the makespan is, at least.
  double excess(const parallel_jobs& g, std::span<const double> head, std::span<const double> tail, double T) {
    double most = 0;
    by_start_.resize(g.size());
    std::iota(by_start_.begin(), by_start_.end(), 0u);
    const auto latest = [&](std::uint32_t v) { return T - tail[v] - g.time[v]; };
    weft::sort(by_start_, [&](std::uint32_t u, std::uint32_t v) { return latest(u) < latest(v); });
    const double machines = static_cast<double>(g.machines);
    double last = -1;
    std::vector<double> from(head.begin(), head.end());
    weft::sort(from);
    const std::size_t step = 1 + from.size() * from.size() / 1'000'000; // beyond 1000 jobs not all windows are tried
    for (std::size_t i = 0; i < from.size(); i += step) {
      const double a = from[i];
      if (a == last) {
        continue;
      }
      last = a;
      ends_.clear();
      double now = a;
      double load = 0;
      double slope = 0;
      std::size_t next = 0;
      while (next < by_start_.size() || !ends_.empty()) {
        const double start = next < by_start_.size() ? std::max(a, latest(by_start_[next])) : infinity;
        const double end = ends_.empty() ? infinity : ends_.front();
        if (end <= start) {
          load += rounded(slope * (end - now));
          now = end;
          slope -= 1;
          std::pop_heap(ends_.begin(), ends_.end(), std::greater<>{});
          ends_.pop_back();
          most = std::max(most, load / machines - (now - a));
          continue;
        }
        load += rounded(slope * (start - now));
        now = start;
        const std::uint32_t v = by_start_[next++];
        if (const double part = std::min(g.time[v], head[v] + g.time[v] - a); part > 0) {
          slope += 1;
          ends_.push_back(start + part);
          std::push_heap(ends_.begin(), ends_.end(), std::greater<>{});
        }
      }
    }
    return most;
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::uint32_t> by_start_;
  std::vector<double> ends_; // a heap, the first in front
};

} // namespace weft::refine::exact
