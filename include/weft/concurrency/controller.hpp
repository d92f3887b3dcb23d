// SPDX-License-Identifier: BSL-1.0
/// The run state of a concurrency strategy on one machine: ready ops, running ops and idle cores.
#pragma once

#include "weft/concurrency/op_graph.hpp"
#include "weft/concurrency/strategy.hpp"
#include "weft/core/config.hpp"
#include "weft/graph/longest_path.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::concurrency {

/// For every op the longest way from it to an end of the graph, in predicted seconds with the chosen teams (by class),
/// transfers not counted: the ranks of critical-path order. Complexity: O(n + m).
inline std::vector<double> upward_rank(const op_graph& g, const time_table& times, std::span<const team> teams) {
  return graph::longest_to_sink(g, g.topological_order(),
                                [&](op_id v) { return times.seconds(v, teams[times.classes().class_of(v)]); });
}

/// The cores of a machine, handed out packed or spread.
class core_set {
public:
  explicit core_set(const machine& m)
      : sockets_{m.sockets}, per_tile_{m.cores_per_tile}, num_tiles_{m.tiles()}, users_(m.cores(), 0) {
    reset();
  }

  void reset() {
    std::fill(users_.begin(), users_.end(), std::uint8_t{0});
    idle_ = static_cast<std::uint32_t>(users_.size());
    single_ = 0;
  }
  std::uint32_t idle() const { return idle_; }     ///< cores without a user
  std::uint32_t single() const { return single_; } ///< cores with one
  std::uint8_t users(std::uint32_t core) const { return users_[core]; }

  /// Takes cores without a user for a team and appends them. Precondition: there are enough.
  void take(team t, std::vector<std::uint32_t>& into) {
    WEFT_ASSERT(t.threads <= idle_);
    std::uint32_t left = t.threads;
    for (std::uint32_t round = 0; t.affinity == affinity::spread && round < per_tile_ && left > 0; ++round) {
      for (std::uint32_t i = 0; i < num_tiles_ && left > 0; ++i) { // the first tile of every socket, then the second, …
        const std::uint32_t tile =
          num_tiles_ % sockets_ == 0 ? i % sockets_ * (num_tiles_ / sockets_) + i / sockets_ : i;
        const std::uint32_t core = tile * per_tile_ + round;
        left -= core < users_.size() && users_[core] == 0 ? use(core, into) : 0;
      }
    }
    for (std::uint32_t core = 0; left > 0; ++core) {
      left -= users_[core] == 0 ? use(core, into) : 0;
    }
  }
  /// Takes cores that have one user. Precondition: there are enough.
  void take_second(std::uint32_t threads, std::vector<std::uint32_t>& into) {
    WEFT_ASSERT(threads <= single_);
    for (std::uint32_t core = 0; threads > 0; ++core) {
      threads -= users_[core] == 1 ? use(core, into) : 0;
    }
  }
  /// Takes a core without a user so that nobody joins it: it counts twice. Precondition: there is one.
  void take_whole(std::vector<std::uint32_t>& into) {
    WEFT_ASSERT(idle_ > 0);
    const auto core = static_cast<std::uint32_t>(std::find(users_.begin(), users_.end(), 0) - users_.begin());
    use(core, into);
    use(core, into);
  }
  void release(std::span<const std::uint32_t> cores) {
    for (const auto core : cores) {
      if (users_[core] == 1) {
        ++idle_;
        --single_;
      } else {
        ++single_;
      }
      --users_[core];
    }
  }

private:
  std::uint32_t use(std::uint32_t core, std::vector<std::uint32_t>& into) {
    if (users_[core] == 0) {
      --idle_;
      ++single_;
    } else {
      --single_;
    }
    ++users_[core];
    into.push_back(core);
    return 1;
  }

  std::uint32_t sockets_;
  std::uint32_t per_tile_;
  std::uint32_t num_tiles_;
  std::uint32_t idle_ = 0;
  std::uint32_t single_ = 0;
  std::vector<std::uint8_t> users_; // per core
};

/// An op that runs, or a send (`what.op` is `none`), with what the controller keeps of it.
struct active_op {
  launch what = {};
  std::vector<std::uint32_t> cores = {};  ///< where its threads run
  std::vector<type_id> beside = {};       ///< op types that ran at the same time for a while, each once
  bool resized = false;                   ///< its type's last team had another number of threads
};

/// Drives one machine: tell it what becomes ready and what ends, ask it what to start. Times are seconds on any clock
/// that does not go back. Serves the simulator in virtual time and the executor in real time (under the executor's
/// lock: it is not thread-safe by itself). The workload's predictions come from a time table, which must outlive it;
/// the graph need not.
/// After the first run nothing is allocated, as long as no more ops are ready or run at once than before.
/// Complexity per event: O(ready) for a start plus what the co-run policy takes.
template <concurrency_strategy Strategy>
class controller {
public:
  controller(const time_table& times, const machine& m, const Strategy& s, const op_graph& g)
      : times_{&times}, machine_{m}, strategy_{s}, teams_{s.threads(times, m)}, cores_{m},
        memory_{times.classes().num_types(), s.interference}, last_threads_(times.classes().num_types(), 0) {
    if (times.classes().num_ops() != g.num_ops() || teams_.size() != times.classes().num_classes()) {
      throw value_error("controller", "a time table for " + std::to_string(times.classes().num_ops()) + " ops of " +
                                        std::to_string(times.classes().num_classes()) + " classes and " +
                                        std::to_string(teams_.size()) + " teams does not fit a graph of " +
                                        std::to_string(g.num_ops()) + " ops");
    }
    for (team& t : teams_) {
      t.threads = std::clamp(t.threads, 1u, std::min(m.cores(), times.max_threads()));
    }
    if (s.urgency == urgency::critical_path) {
      rank_ = upward_rank(g, times, teams_);
    }
  }

  /// Forgets the run, but keeps what was learned of interference.
  void reset() {
    ready_.clear();
    while (!views_.empty()) {
      drop(views_.size() - 1);
    }
    cores_.reset();
    std::fill(last_threads_.begin(), last_threads_.end(), 0u);
  }

  /// Forgets what was learned of interference, too.
  void forget() { memory_ = {times_->classes().num_types(), strategy_.interference}; }

  void on_ready(op_id v) {
    const auto at = std::upper_bound(ready_.begin(), ready_.end(), rank(v), [this](double r, op_id u) {
      return r > rank(u);
    });
    ready_.insert(at, v);
  }

  /// The index of an op that was started now, or nothing. `active()[index]` tells where it runs. Call it until it
  /// returns nothing.
  std::optional<std::size_t> start_next(double now) {
    if (ready_.empty()) {
      return {};
    }
    run_view view;
    view.now = now;
    view.ready = ready_;
    view.running = views_;
    view.cores = machine_.cores();
    view.idle_cores = cores_.idle();
    view.idle_second = machine_.threads_per_core > 1 ? cores_.single() : 0;
    view.smt_gain = machine_.smt_gain;
    view.times = times_;
    view.teams = teams_;
    view.joins = [](const void* self, op_id v) { return static_cast<const controller*>(self)->may_join(v); };
    view.context = this;
    auto chosen = strategy_.corun(view);
    if (!chosen && !views_.empty()) {
      return {};
    }
    if (!chosen) { // a co-run policy must start something when nothing runs, but no op is lost if it does not
      WEFT_ASSERT(false);
      chosen = launch{ready_.front(), view.chosen(ready_.front())};
    }
    return begin(*chosen, now);
  }

  /// Starts to send a tensor, which takes a core for itself, with all its hardware threads, for so many seconds.
  /// Returns its index, or nothing if no core is idle. Until it ends, co-run policies see it as something that runs.
  std::optional<std::size_t> start_send(double seconds, double now) {
    if (cores_.idle() == 0) {
      return {};
    }
    cores_.take_whole(enter({}).cores);
    views_.push_back({{}, now, now + seconds});
    return views_.size() - 1;
  }

  /// The op or send at this index has ended. The last active op takes its index. Learns from how long it took.
  void on_finish(std::size_t index, double now) { on_finish(index, now, now - views_[index].start); }

  /// The same where the op itself took `seconds`, less than from the decision to its end: threads must be woken.
  void on_finish(std::size_t index, double, double seconds) {
    const auto& a = active_[index];
    const auto& r = views_[index];
    if (!a.beside.empty()) {
      memory_.observe(type_of(a.what.op), a.beside, r.expected_finish - r.start, seconds);
    }
    cores_.release(a.cores);
    drop(index);
  }

  std::size_t num_active() const { return views_.size(); }
  std::size_t num_ready() const { return ready_.size(); }
  const active_op& active(std::size_t index) const { return active_[index]; }
  const running_op& running(std::size_t index) const { return views_[index]; }
  const core_set& cores() const { return cores_; }
  const interference_memory& interference() const { return memory_; }
  std::span<const team> teams() const { return teams_; }

private:
  double rank(op_id v) const { return rank_.empty() ? 0.0 : rank_[v]; }
  type_id type_of(op_id v) const { return times_->classes().type(times_->classes().class_of(v)); }

  /// What is active next, at the index `views_.size()`, without cores yet.
  active_op& enter(const launch& l) {
    if (views_.size() == active_.size()) {
      auto& fresh = active_.emplace_back();
      fresh.cores.reserve(std::max(machine_.cores(), 2u)); // ops change places, so that any of them may need as much
      fresh.beside.reserve(times_->classes().num_types());
    }
    auto& a = active_[views_.size()];
    a.what = l;
    a.cores.clear();
    a.beside.clear();
    return a;
  }

  std::size_t begin(const launch& l, double now) {
    const std::size_t index = views_.size();
    auto& a = enter(l);
    l.second ? cores_.take_second(l.team.threads, a.cores) : cores_.take(l.team, a.cores);
    auto& last = last_threads_[type_of(l.op)];
    a.resized = l.team.threads > 1 && last != 0 && last != l.team.threads;
    last = l.team.threads > 1 ? l.team.threads : last;
    const double alone = times_->seconds(l.op, l.team) + (a.resized ? machine_.resize_seconds : 0);
    const double predicted = l.second ? alone * 2 / machine_.smt_gain : alone;
    for (std::size_t i = 0; i < index; ++i) {
      if (active_[i].what.op == none) {
        continue;
      }
      add_once(active_[i].beside, type_of(l.op));
      add_once(a.beside, type_of(active_[i].what.op));
      if (l.second && share_a_core(active_[i], a)) {
        views_[i].expected_finish += predicted - alone; // both run at smt_gain / 2 of their speed
      }
    }
    views_.push_back({l, now, now + predicted});
    ready_.erase(std::find(ready_.begin(), ready_.end(), l.op));
    return index;
  }

  /// Each type counts once, however many of its ops there are: a pair is observed once per op.
  static void add_once(std::vector<type_id>& types, type_id t) {
    if (std::find(types.begin(), types.end(), t) == types.end()) {
      types.push_back(t);
    }
  }
  static bool share_a_core(const active_op& a, const active_op& b) {
    return std::any_of(b.cores.begin(), b.cores.end(), [&a](std::uint32_t core) {
      return std::find(a.cores.begin(), a.cores.end(), core) != a.cores.end();
    });
  }

  /// Moves the last active op to `index`, keeping the buffers of both.
  void drop(std::size_t index) {
    std::swap(active_[index], active_[views_.size() - 1]);
    views_[index] = views_.back();
    views_.pop_back();
  }

  bool may_join(op_id v) const {
    const auto& classes = times_->classes();
    double drawn = draw(v, teams_[classes.class_of(v)]);
    bool shares = false;
    for (const running_op& r : views_) {
      if (r.launch.op == none) {
        continue;
      }
      if (memory_.parted(type_of(v), type_of(r.launch.op))) {
        return false;
      }
      const double by_other = draw(r.launch.op, r.launch.team);
      shares = shares || by_other > 0;
      drawn += by_other;
    }
    return !shares || drawn <= machine_.bandwidth() * memory_.options().bandwidth_excess;
  }
  /// Bytes per second that an op draws from memory when it runs alone.
  double draw(op_id v, team t) const {
    const double seconds = times_->seconds(v, t);
    return seconds > 0 ? times_->memory_traffic(times_->classes().class_of(v)) / seconds : 0;
  }

  const time_table* times_;
  machine machine_;
  Strategy strategy_;
  std::vector<double> rank_; // by op; empty for first come, first served
  std::vector<team> teams_; // by class
  core_set cores_;
  interference_memory memory_;
  std::vector<op_id> ready_;        // the most urgent first
  std::vector<running_op> views_;   // what runs …
  std::vector<active_op> active_;   // … and the rest of what is known of it, same index; longer, to keep buffers
  std::vector<std::uint32_t> last_threads_; // by type: of the last team of more than one
};

} // namespace weft::concurrency
