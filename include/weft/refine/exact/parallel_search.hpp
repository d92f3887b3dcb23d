// SPDX-License-Identifier: BSL-1.0
/// Depth-first search, with a memory of states, for a schedule of jobs on identical machines that meets a makespan.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/refine/exact/parallel_jobs.hpp"
#include "weft/refine/exact/state_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::refine::exact {

/// Adds job after job, in the order of their starts, each as early as it can on the machine that is free first. A node
/// of the search is a set of jobs that have started, and when those still running will end.
///
/// Of the next jobs, only those are tried that start before some job could have finished (Giffler and Thompson,
/// Operations Research 8, 1960), and none that some other job replaces: one as long, startable as early, which all of
/// the first one's successors wait for. A node is given up when
///  - a job cannot start as late as its tail demands;
///  - the jobs must do more before some moment than the machines can do until then;
///  - another node with the same jobs started was searched in vain, and had all of them done as early.
/// Each of the three rules and both choices only need that some schedule from the node at hand on exists: whatever is
/// dropped has a replacement that starts with more jobs done as early. So they can be combined.
class parallel_search {
public:
  enum class answer : std::uint8_t { yes, no, unknown };

  /// `tail[v]`: what must follow job v. The jobs must outlive the search.
  parallel_search(const parallel_jobs& g, std::span<const double> tail)
      : g_{g}, tail_(tail.begin(), tail.end()), replaced_by_{g.size()}, ready_(g.size(), 0.0),
        start_(g.size(), 0.0), started_(g.size(), 0), memory_{g.size()}, open_bits_((g.size() + 63) / 64, 0) {
    find_replacements();
  }

  /// Looks for a schedule that ends by `makespan`. `spend()` pays for one visited node and is false to end the search.
  /// Jobs are tried in the order of their starts, then of `priority`, the smallest first, which says what is urgent
  /// beyond the latest start; empty: nothing. `walk`, if there is one, becomes the way of the search: the job that is
  /// added, or `none` where it is taken away.
  template <class Spend>
  answer operator()(double makespan, Spend spend, std::span<const double> priority = {},
                    std::vector<std::uint32_t>* walk = nullptr) {
    prepare(makespan, priority);
    walk_ = walk;
    if (walk_ != nullptr) {
      walk_->clear();
    }
    const bool found = descend(spend);
    return found ? answer::yes : stopped_ ? answer::unknown : answer::no;
  }

  /// The schedule that the last search with the answer `yes` found.
  const start_times& schedule() const { return start_; }
  std::uint64_t visited() const { return visited_; }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct event {
    double time;
    std::uint32_t job;
    std::int32_t slope;
  };
  struct choice {
    double start;
    double urgency;
    std::uint32_t job;
  };

  /// u replaces v if it is as long and all successors of v wait for it; of two that replace each other, the smaller id.
  void find_replacements() {
    for (std::uint32_t v = 0; v < g_.size(); ++v) {
      const auto mine = g_.successors(v);
      // Candidates: predecessors of a successor, or all if there is none.
      const auto consider = [&](std::uint32_t u) {
        if (u == v || g_.time[u] != g_.time[v]) {
          return;
        }
        const auto theirs = g_.successors(u);
        if (theirs.size() >= mine.size() && std::includes(theirs.begin(), theirs.end(), mine.begin(), mine.end()) &&
            (theirs.size() > mine.size() || u < v)) {
          replaced_by_.insert(v, u);
        }
      };
      if (mine.empty()) {
        for (std::uint32_t u = 0; u < g_.size(); ++u) {
          consider(u);
        }
      } else {
        for (const std::uint32_t u : g_.predecessors(mine.front())) {
          consider(u);
        }
      }
    }
  }

  void prepare(double makespan, std::span<const double> priority) {
    tolerance_ = 1e-9 * makespan;
    latest_.resize(g_.size());
    urgency_.resize(g_.size());
    events_.clear();
    open_.clear();
    std::fill(open_bits_.begin(), open_bits_.end(), 0);
    for (std::uint32_t v = 0; v < g_.size(); ++v) {
      latest_[v] = makespan - tail_[v] - g_.time[v];
      urgency_[v] = latest_[v] + (priority.empty() ? 0 : priority[v]);
      events_.push_back({latest_[v], v, 1});
      events_.push_back({latest_[v] + g_.time[v], v, -1});
      ready_[v] = 0;
      started_[v] = 0;
    }
    missing_.reset(g_);
    missing_.for_each_ready([this](std::uint32_t v) { open(v); });
    weft::sort(events_, [](const event& a, const event& b) {
      return a.time != b.time ? a.time < b.time : a.slope != b.slope ? a.slope > b.slope : a.job < b.job;
    });
    free_.assign(std::min(g_.machines, g_.size() + 1), 0.0);
    running_.clear();
    choices_.resize(g_.size() + 1);
    now_ = 0;
    num_started_ = 0;
    stopped_ = false;
    memory_.clear();
  }

  void open(std::uint32_t v) {
    open_.push_back(v);
    open_bits_[v / 64] |= std::uint64_t{1} << (v % 64);
  }
  void close(std::uint32_t v) {
    open_.erase(std::find(open_.begin(), open_.end(), v));
    open_bits_[v / 64] &= ~(std::uint64_t{1} << (v % 64));
  }

  double earliest(std::uint32_t v) const { return std::max({ready_[v], now_, free_.front()}); }

  template <class Spend>
  bool descend(Spend& spend) {
    if (num_started_ == g_.size()) {
      return true;
    }
    ++visited_;
    if (!spend()) {
      stopped_ = true;
      return false;
    }
    if (overloaded() || known()) {
      return false;
    }
    auto& choices = choices_[num_started_];
    if (!collect(choices)) {
      return false;
    }
    for (const choice& c : choices) {
      const std::uint32_t v = c.job;
      const double finish = c.start + g_.time[v];
      const double was_now = now_;
      const double was_free = free_.front();
      note(v);
      begin(v, c.start);
      if (descend(spend)) {
        return true;
      }
      undo(v, finish, was_now, was_free);
      note(none);
      if (stopped_) {
        return false;
      }
    }
    return false;
  }

  void note(std::uint32_t step) {
    if (walk_ != nullptr) {
      walk_->push_back(step);
    }
  }

  /// The jobs to try next, the most urgent first; false if some job is late whatever is done.
  bool collect(buffer<choice>& choices) {
    choices.clear();
    double first_finish = infinity;
    double first_start = infinity;
    for (const std::uint32_t v : open_) {
      const double start = earliest(v);
      if (start > latest_[v] + tolerance_) {
        return false;
      }
      first_finish = std::min(first_finish, start + g_.time[v]);
      first_start = std::min(first_start, start);
    }
    if (first_finish <= first_start) { // a job that takes no time can go first, whatever follows
      for (const std::uint32_t v : open_) {
        if (g_.time[v] == 0 && earliest(v) == first_start) {
          choices.push_back({first_start, urgency_[v], v});
          return true;
        }
      }
    }
    for (const std::uint32_t v : open_) {
      const double start = earliest(v);
      if ((start < first_finish || start + g_.time[v] == first_finish) && !is_replaced(v, start)) {
        choices.push_back({start, urgency_[v], v});
      }
    }
    weft::sort(choices, [&](const choice& a, const choice& b) {
      return a.start != b.start     ? a.start < b.start
             : a.urgency != b.urgency           ? a.urgency < b.urgency
             : g_.time[a.job] != g_.time[b.job] ? g_.time[a.job] > g_.time[b.job]
                                                : a.job < b.job;
    });
    return true;
  }

  bool is_replaced(std::uint32_t v, double start) const {
    const auto by = replaced_by_[v];
    for (std::size_t w = 0; w < by.size(); ++w) {
      for (std::uint64_t bits = by[w] & open_bits_[w]; bits != 0; bits &= bits - 1) {
        const auto u = static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
        if (earliest(u) <= start) {
          return true;
        }
      }
    }
    return false;
  }

  /// Whether the jobs that have not started must do more before some moment than the machines can.
  bool overloaded() const {
    double load = 0;
    double room = 0;
    double slope = 0;
    double last = 0;
    std::size_t next = 0; // machine that is free next
    double width = 0;
    bool first = true;
    for (const event& e : events_) {
      if (started_[e.job]) {
        continue;
      }
      if (first) {
        if (e.time < now_ - tolerance_) {
          return true;
        }
        last = std::max(now_, free_.front());
        first = false;
      }
      if (e.time > last) {
        while (next < free_.size() && free_[next] < e.time) {
          const double from = std::max(free_[next], last);
          room += rounded(width * (from - last));
          load += rounded(slope * (from - last));
          if (load > room + tolerance_) {
            return true;
          }
          last = from;
          width += 1;
          ++next;
        }
        room += rounded(width * (e.time - last));
        load += rounded(slope * (e.time - last));
        last = e.time;
      }
      slope += e.slope;
      if (e.slope < 0 && load > room + tolerance_) {
        return true;
      }
    }
    return false;
  }

  /// Whether a node like this one, or a better one, was searched before; if not, remembers this one.
  bool known() { return memory_.visit(now_, running_); }

  void begin(std::uint32_t v, double start) {
    start_[v] = start;
    const double finish = start + g_.time[v];
    now_ = start;
    started_[v] = 1;
    ++num_started_;
    memory_.add(v);
    close(v);
    occupy(0, finish);
    running_.push_back({v, finish});
    for (const std::uint32_t s : g_.successors(v)) {
      ready_[s] = std::max(ready_[s], finish);
      if (missing_.arrive(s)) {
        open(s);
      }
    }
  }

  void undo(std::uint32_t v, double finish, double was_now, double was_free) {
    for (const std::uint32_t s : g_.successors(v)) {
      if (missing_.take_back(s)) {
        close(s);
      }
    }
    for (const std::uint32_t s : g_.successors(v)) {
      double there = 0;
      for (const std::uint32_t u : g_.predecessors(s)) {
        if (u != v && started_[u]) {
          there = std::max(there, start_[u] + g_.time[u]);
        }
      }
      ready_[s] = there;
    }
    running_.pop_back();
    const auto at = static_cast<std::size_t>(std::find(free_.begin(), free_.end(), finish) - free_.begin());
    occupy(at, was_free);
    open(v);
    memory_.remove(v);
    --num_started_;
    started_[v] = 0;
    now_ = was_now;
  }

  /// Changes when one machine is free, and keeps them sorted.
  void occupy(std::size_t at, double until) {
    while (at + 1 < free_.size() && free_[at + 1] < until) {
      free_[at] = free_[at + 1];
      ++at;
    }
    while (at > 0 && free_[at - 1] > until) {
      free_[at] = free_[at - 1];
      --at;
    }
    free_[at] = until;
  }

  const parallel_jobs& g_;
  std::vector<double> tail_;
  job_sets replaced_by_;
  double tolerance_ = 0;
  std::vector<double> latest_;  // start, per job
  std::vector<double> urgency_; // per job, the smallest first
  buffer<event> events_;  // sorted by time
  graph::release_counter<> missing_;
  std::vector<double> ready_;
  start_times start_;
  std::vector<std::uint8_t> started_;
  state_memory memory_;
  job_set open_bits_;
  std::vector<std::uint32_t> open_; // all predecessors have started
  std::vector<double> free_;        // per machine, ascending
  buffer<running_job> running_; // all that were started; those in the past are ignored
  buffer<buffer<choice>> choices_; // per depth
  double now_ = 0;
  std::size_t num_started_ = 0;
  bool stopped_ = false;
  std::uint64_t visited_ = 0;
  std::vector<std::uint32_t>* walk_ = nullptr;
};

} // namespace weft::refine::exact
