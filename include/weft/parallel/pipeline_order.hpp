// SPDX-License-Identifier: BSL-1.0
/// Pipelines of stages that work on micro-batches: what each device does in turn, the time and memory that takes, and
/// the schedules that are known by name.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::parallel {

/// The three things that a stage does for each micro-batch: the forward pass, the gradients that the stage before waits
/// for, and those that nobody waits for before the update, of its parameters.
enum class pass : std::uint8_t { forward, backward, weights };
inline constexpr std::size_t num_passes = 3;

constexpr const char* to_string(pass x) {
  return x == pass::forward ? "forward" : x == pass::backward ? "backward" : "weights";
}

/// A pass of a stage for one micro-batch.
struct pass_cost {
  double seconds = 0;
  double send_seconds = 0; ///< until the next stage, or the previous one in a backward pass, has what it needs of it
  byte_count taken = 0;    ///< memory, from its start on
  byte_count freed = 0;    ///< … from its end on
};

/// A stage of a pipeline. All that it takes for a micro-batch it frees again.
struct pipeline_stage {
  std::array<pass_cost, num_passes> cost = {}; ///< by pass
  std::uint32_t device = 0;

  const pass_cost& operator[](pass x) const { return cost[static_cast<std::size_t>(x)]; }
  pass_cost& operator[](pass x) { return cost[static_cast<std::size_t>(x)]; }

  /// The most memory that it takes for a micro-batch whose passes follow each other.
  byte_count peak() const {
    byte_count held = 0, most = 0;
    for (const auto& c : cost) {
      most = std::max(most, held + c.taken);
      held += c.taken - c.freed;
    }
    return most;
  }
};

/// A pipeline. A forward pass waits for that of the stage before, a backward pass for that of the stage after, those of
/// a stage for a micro-batch for each other. Devices do one pass at a time; what is sent takes none of their time.
struct pipeline_problem {
  std::vector<pipeline_stage> stages = {};
  std::vector<byte_count> capacity = {}; ///< bytes for micro-batches, by device
  std::uint32_t micro_batches = 1;
  bool trains = true; ///< there are backward passes

  std::size_t num_devices() const { return capacity.size(); }
  std::uint32_t num_stages() const { return static_cast<std::uint32_t>(stages.size()); }
  std::size_t passes_each() const { return trains ? num_passes : 1; } ///< of a stage for a micro-batch
};

/// A pass that a device does.
struct pipeline_step {
  parallel::pass pass = pass::forward;
  std::uint32_t stage = 0;
  std::uint32_t micro_batch = 0;
  friend bool operator==(const pipeline_step&, const pipeline_step&) = default;
};

/// The steps of each device, one after the other. Micro-batches are alike, so that each pass of a stage takes them by
/// their numbers.
using pipeline_order = std::vector<std::vector<pipeline_step>>;

/// An order as it runs.
struct pipeline_run {
  bool ends = false;                 ///< false: passes wait for each other forever, or some are missing
  std::vector<std::vector<double>> start = {}; ///< by device, of each step, in seconds
  double makespan = 0;               ///< seconds
  double longest_span = 0;           ///< seconds from a device's first step to the end of its last one, the most of any
  std::vector<byte_count> peak = {}; ///< by device: the most memory for micro-batches

  bool fits(const pipeline_problem& p) const {
    for (std::size_t d = 0; d < peak.size(); ++d) {
      if (peak[d] > p.capacity[d]) {
        return false;
      }
    }
    return ends;
  }
};

/// Throws `value_error` if a stage is on no device or frees other than it takes, for times that are no numbers of at
/// least 0, and without stages or micro-batches.
inline void check(const pipeline_problem& p) {
  const auto refuse = [](std::size_t s, const std::string& problem) {
    throw value_error("pipeline", "stage " + std::to_string(s) + " " + problem);
  };
  if (p.stages.empty() || p.micro_batches == 0) {
    throw value_error("pipeline", "it has " + std::to_string(p.stages.size()) + " stages and " +
                                    std::to_string(p.micro_batches) + " micro-batches; both must be at least 1");
  }
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    const auto& stage = p.stages[s];
    byte_count taken = 0, freed = 0;
    for (const auto& c : stage.cost) {
      if (!(c.seconds >= 0 && c.send_seconds >= 0 && c.seconds + c.send_seconds < std::numeric_limits<double>::max())) {
        refuse(s, "takes a time that is not a number of at least 0");
      }
      taken += c.taken;
      freed += c.freed;
      if (freed > taken) {
        refuse(s, "frees more than it has taken");
      }
    }
    if (taken != freed) {
      refuse(s, "takes " + std::to_string(taken) + " bytes for a micro-batch and frees " + std::to_string(freed));
    }
    if (stage.device >= p.num_devices()) {
      refuse(s, "is on device " + std::to_string(stage.device) + " of " + std::to_string(p.num_devices()));
    }
  }
}

/// The same with backward passes that end with the gradients of weights, as frameworks have them that do not take them
/// apart: what is sent is sent after both.
inline pipeline_problem with_whole_backward(pipeline_problem p) {
  for (auto& s : p.stages) {
    auto& whole = s[pass::backward];
    auto& weights = s[pass::weights];
    whole.seconds += weights.seconds;
    whole.taken += weights.taken;
    whole.freed += weights.freed;
    weights = {};
  }
  return p;
}

namespace detail {

/// The runs of orders of one pipeline, without allocations between them.
class pipeline_runner {
public:
  explicit pipeline_runner(const pipeline_problem& p)
      : p_{&p}, end_(num_passes * p.stages.size() * p.micro_batches, 0.0), done_(num_passes * p.stages.size()),
        next_(p.num_devices()), free_(p.num_devices()), waiting_(p.num_devices()) {}

  /// Calls `on_start(device, step, seconds, waited)` for each step that runs; `waited`: for another stage and not for
  /// its device. Returns whether all ran. `order[d][i]` has a `pass` and a `stage`.
  template <class Order, class OnStart>
  bool run(const Order& order, OnStart on_start) {
    reset();
    std::fill(next_.begin(), next_.end(), 0);
    stack_.clear();
    std::size_t left = 0;
    for (std::uint32_t d = 0; d < order.size(); ++d) {
      left += order[d].size();
      stack_.push_back(d);
      waiting_[d] = false;
    }
    while (!stack_.empty()) {
      const auto d = stack_.back();
      stack_.pop_back();
      waiting_[d] = true;
      while (next_[d] < order[d].size()) {
        const auto& x = order[d][next_[d]];
        const double arrival = arrives(x.pass, x.stage);
        if (arrival == never) {
          break;
        }
        const double start = std::max(arrival, free_[d]);
        on_start(d, next_[d], start, arrival > free_[d]);
        do_next(x.pass, x.stage, start);
        ++next_[d];
        --left;
        wake(x);
      }
    }
    return left == 0;
  }

  /// Begins anew, for orders that are made as they run: `arrives` tells what may come next, `do_next` does it.
  void reset() {
    std::fill(done_.begin(), done_.end(), 0);
    std::fill(free_.begin(), free_.end(), 0.0);
  }

  /// Does the pass for the stage's next micro-batch from `start` on.
  void do_next(pass x, std::uint32_t s, double start) {
    const auto at = index(x, s);
    auto& end = free_[p_->stages[s].device];
    end = start + p_->stages[s][x].seconds;
    end_[at * p_->micro_batches + done_[at]++] = end;
  }

  double free_at(std::size_t device) const { return free_[device]; }

  static constexpr double never = std::numeric_limits<double>::infinity();

  /// The time at which the next micro-batch of the pass could start, but for its device; `never` if not known yet.
  double arrives(pass x, std::uint32_t s) const {
    const auto k = done_[index(x, s)];
    if (k >= p_->micro_batches) {
      return never;
    }
    const auto of = [&](pass other, std::uint32_t stage, bool sent) {
      const auto at = index(other, stage);
      return done_[at] > k ? end_[at * p_->micro_batches + k] + (sent ? p_->stages[stage][other].send_seconds : 0)
                           : never;
    };
    if (x == pass::forward) {
      return s == 0 ? 0 : of(pass::forward, s - 1, true);
    }
    if (x == pass::weights) {
      return of(pass::backward, s, false);
    }
    const double own = of(pass::forward, s, false);
    const double after = s + 1 < p_->num_stages() ? of(pass::backward, s + 1, true) : own;
    return std::max(own, after);
  }

private:
  std::size_t index(pass x, std::uint32_t s) const { return static_cast<std::size_t>(x) * p_->stages.size() + s; }

  /// The devices that may have waited for this step.
  template <class Step>
  void wake(const Step& x) {
    const bool forward = x.pass == pass::forward;
    if (x.pass == pass::weights || (forward ? x.stage + 1 == p_->num_stages() : x.stage == 0)) {
      return;
    }
    const auto d = p_->stages[forward ? x.stage + 1 : x.stage - 1].device;
    if (waiting_[d]) {
      waiting_[d] = false;
      stack_.push_back(d);
    }
  }

  const pipeline_problem* p_;
  std::vector<double> end_;            // by pass, stage and micro-batch
  std::vector<std::uint32_t> done_;    // by pass and stage
  std::vector<std::size_t> next_;      // by device
  std::vector<double> free_;           // by device
  std::vector<std::uint8_t> waiting_;  // by device: not on the stack
  std::vector<std::uint32_t> stack_;   // devices to look at
};

/// Numbers the micro-batches of steps that have none yet.
inline pipeline_order numbered(const pipeline_problem& p, pipeline_order order) {
  std::vector<std::uint32_t> next(num_passes * p.stages.size(), 0);
  for (auto& steps : order) {
    for (auto& x : steps) {
      x.micro_batch = next[static_cast<std::size_t>(x.pass) * p.stages.size() + x.stage]++;
    }
  }
  return order;
}

} // namespace detail

/// An order as it runs: each device does its steps in turn, each as soon as it can.
/// Throws `value_error` like `check`. Complexity: O(steps).
inline pipeline_run run_pipeline(const pipeline_problem& p, const pipeline_order& order) {
  check(p);
  pipeline_run r;
  r.start.resize(p.num_devices());
  r.peak.assign(p.num_devices(), 0);
  std::size_t steps = 0;
  std::vector<std::uint32_t> next(num_passes * p.stages.size(), 0);
  bool in_turn = order.size() == p.num_devices();
  for (std::size_t d = 0; in_turn && d < order.size(); ++d) {
    steps += order[d].size();
    byte_count held = 0;
    for (const auto& x : order[d]) {
      in_turn = in_turn && x.stage < p.num_stages() && p.stages[x.stage].device == d &&
                (p.trains || x.pass == pass::forward) &&
                x.micro_batch == next[static_cast<std::size_t>(x.pass) * p.stages.size() + x.stage]++;
      if (!in_turn) {
        break;
      }
      held += p.stages[x.stage][x.pass].taken;
      r.peak[d] = std::max(r.peak[d], held);
      held -= std::min(held, p.stages[x.stage][x.pass].freed); // more only where the order never ends
    }
  }
  if (!in_turn || steps != p.passes_each() * p.stages.size() * p.micro_batches) {
    return r;
  }
  detail::pipeline_runner runner{p};
  r.ends = runner.run(order, [&](std::uint32_t d, std::size_t, double start, bool) { r.start[d].push_back(start); });
  for (std::size_t d = 0; d < p.num_devices(); ++d) {
    r.makespan = std::max(r.makespan, runner.free_at(d));
    r.longest_span = std::max(r.longest_span, r.start[d].empty() ? 0 : runner.free_at(d) - r.start[d].front());
  }
  return r;
}

/// A schedule that is known by name.
enum class pipeline_schedule : std::uint8_t {
  gpipe,               ///< all forward passes, then all backward passes
  one_forward_one_backward,
  interleaved,         ///< … for several stages on each device, in groups of as many micro-batches as devices
  zero_bubble_1,       ///< … with the gradients of weights later, in the memory of one forward, one backward (ZB-H1)
  zero_bubble_2,       ///< … in twice that memory (ZB-H2)
};
inline constexpr std::array pipeline_schedules{
  pipeline_schedule::gpipe, pipeline_schedule::one_forward_one_backward, pipeline_schedule::interleaved,
  pipeline_schedule::zero_bubble_1, pipeline_schedule::zero_bubble_2};

constexpr const char* to_string(pipeline_schedule s) {
  constexpr std::array names{"GPipe", "1F1B", "interleaved 1F1B", "zero bubble H1", "zero bubble H2"};
  return names[static_cast<std::size_t>(s)];
}

namespace detail {

/// One forward, one backward: so many forward passes first, then in turn a backward and a forward pass; gradients of
/// weights so many backward passes later. Several stages of a device take turns after `group` micro-batches each.
inline std::vector<pipeline_step> in_turn(const std::vector<std::uint32_t>& stages, std::uint32_t micro_batches,
                                          std::uint32_t group, std::size_t first_forward, std::size_t delay) {
  std::vector<pipeline_step> forward, backward, steps;
  for (std::uint32_t begin = 0; begin < micro_batches; begin += group) {
    const auto count = std::min(group, micro_batches - begin);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      for (std::uint32_t k = 0; k < count; ++k) {
        forward.push_back({.pass = pass::forward, .stage = stages[i]});
        backward.push_back({.pass = pass::backward, .stage = stages[stages.size() - 1 - i]});
      }
    }
  }
  const auto total = forward.size();
  first_forward = std::min(first_forward, total);
  std::size_t f = 0, w = 0;
  while (f < first_forward) {
    steps.push_back(forward[f++]);
  }
  for (std::size_t b = 0; b < total; ++b) {
    if (b > 0 && f < total) {
      steps.push_back(forward[f++]);
    }
    steps.push_back(backward[b]);
    for (; w < total && (w + delay <= b || b + 1 == total); ++w) {
      steps.push_back({.pass = pass::weights, .stage = backward[w].stage});
    }
  }
  return steps;
}

} // namespace detail

/// The order of a schedule that is known by name; none if it is not for such a pipeline: all but GPipe and interleaved
/// 1F1B have one stage per device, in order; interleaved has several, the same number on each, device by device in
/// turn, and as many micro-batches as devices, or a multiple. It may need more memory than there is.
///
/// Throws `value_error` like `check`. Complexity: O(steps).
/// Source: Huang et al., *GPipe*, 2019; Narayanan et al., *PipeDream: Generalized Pipeline Parallelism for DNN
/// Training*, SOSP 2019; Narayanan et al., *Efficient Large-Scale Language Model Training on GPU Clusters Using
/// Megatron-LM*, SC 2021; Qi et al., *Zero Bubble Pipeline Parallelism*, ICLR 2024.
inline std::optional<pipeline_order> make_order(pipeline_schedule schedule, const pipeline_problem& p) {
  using enum pipeline_schedule;
  check(p);
  const auto devices = p.num_devices();
  std::vector<std::vector<std::uint32_t>> stages(devices);
  bool is_plain = p.stages.size() == devices, is_in_turn = p.stages.size() % devices == 0;
  for (std::uint32_t s = 0; s < p.num_stages(); ++s) {
    stages[p.stages[s].device].push_back(s);
    is_plain = is_plain && p.stages[s].device == s;
    is_in_turn = is_in_turn && p.stages[s].device == s % devices;
  }
  const auto m = p.micro_batches;
  const auto turns = p.stages.size() / devices;
  if ((schedule == interleaved && (!is_in_turn || turns < 2 || m % devices != 0)) ||
      (schedule != interleaved && schedule != gpipe && !is_plain)) {
    return std::nullopt;
  }
  pipeline_order order(devices);
  for (std::size_t d = 0; d < devices; ++d) {
    const auto after = devices - d; // stages from here on
    if (!p.trains || schedule == gpipe) {
      for (const auto x : {pass::forward, pass::backward, pass::weights}) {
        for (std::size_t i = 0; i < stages[d].size() && (p.trains || x == pass::forward); ++i) {
          const auto s = x == pass::backward ? stages[d][stages[d].size() - 1 - i] : stages[d][i];
          order[d].insert(order[d].end(), m, {.pass = x, .stage = s});
        }
      }
      continue;
    }
    const auto group = schedule == interleaved ? static_cast<std::uint32_t>(devices) : m;
    const auto first = schedule == interleaved     ? 2 * (after - 1) + (turns - 1) * devices + 1
                       : schedule == zero_bubble_2 ? 2 * after - 1
                                                   : after;
    const auto delay = schedule == zero_bubble_1 ? d : schedule == zero_bubble_2 ? 2 * d : 0;
    order[d] = detail::in_turn(stages[d], m, group, first, delay);
  }
  return detail::numbered(p, std::move(order));
}

} // namespace weft::parallel
