// SPDX-License-Identifier: BSL-1.0
/// The choice of tensors that wait on the host for their last readers, such that a step fits into a device's memory.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/core/stop_pointer.hpp"
#include "weft/platform/concepts.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/recomputation.hpp"
#include "weft/workload/offloaded.hpp"
#include "weft/workload/stored_as.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::solve {

/// The times of a step on one device, and of the link between this and its host, alike in both directions.
struct step_times {
  std::vector<double> ops;  ///< seconds of each op; 0 for those that run on the host
  double latency = 0;       ///< seconds of a transfer beside its bytes, with what sending takes of a device
  double bandwidth = std::numeric_limits<double>::infinity(); ///< bytes per second
  bool take_turns = true; ///< transfers wait for each other; else, as without contention, all may go at the same time
  double transfer(byte_count bytes) const { return latency + static_cast<double>(bytes) / bandwidth; }
};

/// The times of w on a device and its host by a cost model; of the two directions of the link, the slower one counts.
/// Complexity: that of n compute times.
template <named_workload Workload, class Platform, class Cost>
step_times times_on(const Workload& w, const Platform& q, const Cost& c, device_id device, device_id host) {
  step_times times{.ops = std::vector<double>(w.num_ops(), 0.0)};
  for (const op_id v : ids(w.num_ops())) {
    if (w.kinds(v).contains(q.kind(device))) {
      times.ops[v] = c.compute_time(w, v, q, device);
    }
  }
  for (const auto& [from, to] : {std::pair{device, host}, std::pair{host, device}}) {
    const auto line = c.transfer_line(w, q, from, to);
    times.latency = std::max(times.latency, line.latency() + c.send_overhead(w, q, from));
    times.bandwidth = std::min(times.bandwidth, line.bandwidth());
  }
  return times;
}

namespace detail {

/// The ops of a step as they follow each other in an order, each as soon as the one before ends.
struct one_after_another {
  std::vector<std::size_t> at;  ///< per op: its place in the order
  std::vector<double> begin{0}; ///< per place: seconds; and one more, when all have ended

  one_after_another(const step_times& times, const std::vector<op_id>& sequence) : at(sequence.size()) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      at[sequence[i]] = i;
      begin.push_back(begin.back() + times.ops[sequence[i]]);
    }
  }
};

} // namespace detail

/// A tensor that nobody reads for a while.
struct idle_tensor {
  tensor_id tensor = none;
  double seconds = 0;              ///< between two uses, of all such times the longest
  std::size_t last_before = 0;     ///< where in the order the use before that is
  std::vector<op_id> readers = {}; ///< those after it, in order
};

/// The tensors of w that are idle for some time if its ops follow each other in this order, such as what the forward
/// pass of a training step keeps for the backward pass; those that are idle longest come first, of equally long ones
/// those of smaller ids. Variables and what is made of them alone are none. Complexity: O(n + m log m).
template <named_workload Workload>
std::vector<idle_tensor> idle_tensors(const Workload& w, const step_times& times, const std::vector<op_id>& sequence) {
  const auto [at, begin] = detail::one_after_another{times, sequence};
  const auto parameters = made_of_parameters(w);
  std::vector<idle_tensor> found;
  for (const tensor_id t : ids(w.num_tensors())) {
    const op_id from = w.producer(t);
    if (w.bytes(t) == 0 || parameters[from]) {
      continue;
    }
    std::vector<op_id> uses{from};
    uses.insert(uses.end(), w.consumers(t).begin(), w.consumers(t).end());
    weft::sort(uses, [&at = at](op_id a, op_id b) { return at[a] < at[b]; });
    idle_tensor x{.tensor = t};
    std::size_t after = 0;
    for (std::size_t i = 1; i < uses.size(); ++i) {
      const double idle = begin[at[uses[i]]] - begin[at[uses[i - 1]] + 1];
      if (idle > x.seconds) {
        x.seconds = idle;
        x.last_before = at[uses[i - 1]];
        after = i;
      }
    }
    if (after > 0) {
      x.readers.assign(uses.begin() + static_cast<std::ptrdiff_t>(after), uses.end());
      found.push_back(std::move(x));
    }
  }
  weft::stable_sort(found, [](const idle_tensor& a, const idle_tensor& b) { return a.seconds > b.seconds; });
  return found;
}

/// A step some of whose tensors wait on the host.
struct offloaded_step {
  std::vector<round_trip> trips = {};
  workload graph = {};              ///< its ops are those of the step, and then those of the trips
  std::vector<op_id> sequence = {}; ///< all of these, each trip right after what sends it back
  byte_count bytes = 0;             ///< that are sent to the host, and as many back
};

/// The step with these tensors on the host while they are idle. All come back over one link, one after the other, each
/// as late as it may such that it is there when it is read, if ops take their times and nothing waits: from the last
/// one on, each transfer ends when the first reader starts, or the next transfer; or if they need not take turns, when
/// the first reader starts. It is sent back by the last op that
/// ends early enough for its message to reach the host by then, but by none before the tensor is idle. Of tensors with
/// one first reader, those of smaller ids come back first.
/// Complexity: O(n + m log m).
template <named_workload Workload>
offloaded_step offload(const Workload& w, const step_times& times, const std::vector<op_id>& sequence,
                       std::vector<idle_tensor> tensors) {
  const auto [at, begin] = detail::one_after_another{times, sequence};
  weft::sort(tensors, [&at = at](const idle_tensor& a, const idle_tensor& b) {
    return std::pair{at[a.readers.front()], a.tensor} > std::pair{at[b.readers.front()], b.tensor};
  });
  offloaded_step made;
  double link_free = std::numeric_limits<double>::infinity();
  for (auto& x : tensors) {
    const std::size_t first = at[x.readers.front()];
    link_free = (times.take_turns ? std::min(link_free, begin[first]) : begin[first]) -
                times.transfer(w.bytes(x.tensor));
    std::size_t after = first - 1;
    while (after > x.last_before && begin[after + 1] > link_free - times.latency) {
      --after;
    }
    made.bytes += w.bytes(x.tensor);
    made.trips.push_back({x.tensor, sequence[after], std::move(x.readers)});
  }
  std::reverse(made.trips.begin(), made.trips.end()); // in the order in which they come back
  made.graph = offloaded(w, made.trips);
  std::vector<std::vector<op_id>> back(w.num_ops()); // trips, by what sends them back
  for (std::size_t i = 0; i < made.trips.size(); ++i) {
    back[made.trips[i].after].push_back(static_cast<op_id>(w.num_ops() + i));
  }
  for (const op_id v : sequence) {
    made.sequence.push_back(v);
    made.sequence.insert(made.sequence.end(), back[v].begin(), back[v].end());
  }
  return made;
}

/// The verdict of a judge on an offloaded step.
struct step_verdict {
  byte_count lacks = 0; ///< bytes beyond what there is; 0: it fits
  double seconds = 0;
};

/// A run of a step on a device beside its host.
struct run_beside_host : step_verdict {
  weft::plan plan = {};
  trace run = {};
  std::vector<byte_count> peaks = {}; ///< per device of the platform
};

/// The run of a step's ops in its order, those that may on the device and the others on the host. Transfers take turns
/// on the link unless another network is given. `lacks` counts what either lacks.
/// Complexity: O((n + m) log(n + m)).
template <class Platform, class Cost, class Network = simulate::port_contention>
run_beside_host run_on(const offloaded_step& x, const Platform& q, const Cost& c, device_id device, device_id host,
                       Network network = {}) {
  const problem p{x.graph, q, c};
  using problem_type = std::remove_const_t<decltype(p)>;
  run_beside_host r;
  for (const op_id v : ids(p.num_ops())) {
    r.plan.placement.push_back(x.graph.kinds(v).contains(q.kind(device)) ? device : host);
  }
  for (const op_id v : x.sequence) {
    r.plan.order.push_back(step::run(v));
  }
  simulator<problem_type, schedule::static_order, Network> sim{p, {}, network};
  sim.run(r.plan, simulate::recorder{r.run});
  simulate::memory_tracker<problem_type> memory{p};
  memory.follow(r.plan.placement, r.run);
  r.peaks = memory.peaks();
  r.seconds = r.run.makespan;
  for (const device_id d : p.memories().of(std::array{device, host})) {
    r.lacks += r.peaks[d] - std::min(r.peaks[d], p.capacity(d));
  }
  return r;
}

/// Options of `least_offloading`.
struct offloading_options {
  std::vector<op_id> sequence = {};  ///< an order of all ops; empty: as in `order_within` for large steps
  std::size_t max_exact_tensors = 8; ///< up to so many idle tensors, at most 20, all of their subsets are looked at
  std::size_t max_trials = 100;      ///< of more: so many steps are judged
  stop_pointer stop = nullptr; ///< cooperative cancellation, after the first step; must outlive the work
};

/// The step that was chosen.
struct offloading_choice {
  offloaded_step step = {};
  step_verdict verdict = {};
  bool fits = false;     ///< if not, `step` is of those that were judged the one that lacks least
  bool is_exact = false; ///< all subsets were looked at
};

namespace detail {

/// The search of `least_offloading`.
template <class Workload, class Judge>
class offloading_search {
public:
  offloading_search(const Workload& w, const step_times& times, const offloading_options& o, Judge& judge)
      : w_{w}, times_{times}, options_{o}, judge_{judge},
        sequence_{o.sequence.empty() ? lazy_order(w) : o.sequence},
        tensors_{idle_tensors(w, times, sequence_)}, num_worthwhile_{sort_by_worth()} {}

  offloading_choice run() {
    const std::size_t n = tensors_.size();
    const bool exact = n <= std::min(options_.max_exact_tensors, std::size_t{20});
    chosen_ = subset(n, false);
    best_ = made(chosen_);
    if (best_.verdict.lacks == 0) {
      best_.is_exact = true;
    } else if (exact) {
      const std::uint32_t end = std::uint32_t{1} << n;
      for (std::uint32_t bits = 1; bits < end && !is_stopped(); ++bits) {
        subset chosen(n);
        for (std::size_t i = 0; i < n; ++i) {
          chosen[i] = (bits >> i & 1) != 0;
        }
        offer(std::move(chosen));
      }
      best_.is_exact = !is_stopped();
    } else {
      search();
    }
    best_.fits = best_.verdict.lacks == 0;
    return std::move(best_);
  }

private:
  using subset = std::vector<bool>; // of the idle tensors
  static constexpr std::size_t max_levels = 8;

  /// First those that the link has time to bring there and back while they are idle, unless they are so small that this
  /// is mostly latency. Returns their number.
  std::size_t sort_by_worth() {
    const auto rest = std::stable_partition(tensors_.begin(), tensors_.end(), [this](const idle_tensor& x) {
      const double trip = times_.transfer(w_.bytes(x.tensor));
      return x.seconds >= 2 * trip && trip >= 2 * times_.latency;
    });
    return static_cast<std::size_t>(rest - tensors_.begin());
  }

  bool is_stopped() const { return options_.stop != nullptr && options_.stop->stop_requested(); }
  bool may_try(std::size_t trials) const { return trials < options_.max_trials && !is_stopped(); }

  offloading_choice made(const subset& chosen) {
    std::vector<idle_tensor> some;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (chosen[i]) {
        some.push_back(tensors_[i]);
      }
    }
    offloading_choice x{.step = offload(w_, times_, sequence_, std::move(some))};
    x.verdict = judge_(std::as_const(x.step));
    return x;
  }

  /// The bytes that lack with these. The best so far is kept: what lacks least, then the fastest, then what sends
  /// least.
  byte_count offer(const subset& chosen) {
    auto x = made(chosen);
    const byte_count lacks = x.verdict.lacks;
    const auto rank = [](const offloading_choice& c) {
      return std::tuple{c.verdict.lacks, c.verdict.seconds, c.step.bytes};
    };
    if (rank(x) < rank(best_)) {
      best_ = std::move(x);
      chosen_ = chosen;
    }
    return lacks;
  }

  void search() {
    const std::size_t n = tensors_.size();
    std::size_t trials = 0;
    std::map<std::size_t, byte_count> lacks{{0, best_.verdict.lacks}}; // by the number that is sent
    const auto first = [&](std::size_t count) {
      subset chosen(n, false);
      std::fill_n(chosen.begin(), static_cast<std::ptrdiff_t>(count), true);
      ++trials;
      lacks[count] = offer(chosen);
      return lacks[count] == 0;
    };
    std::size_t enough = num_worthwhile_;
    bool fits = first(enough);
    // More of them, or fewer, if the host lacks memory.
    for (std::size_t k = 1; !fits && k <= max_levels && !is_stopped(); ++k) {
      enough = n * k / max_levels;
      fits = first(enough);
    }
    // What is sent in vain keeps the link busy, so that less may fit if more is sent: between the neighbours of the
    // number that lacks least.
    for (bool can_refine = true; !fits && can_refine && may_try(trials);) {
      const auto least = std::min_element(lacks.begin(), lacks.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      const std::size_t at = least->first;
      const std::size_t before = least == lacks.begin() ? at : std::prev(least)->first;
      const std::size_t behind = std::next(least) == lacks.end() ? at : std::next(least)->first;
      const bool is_below = at - before >= behind - at;
      can_refine = std::max(at - before, behind - at) > 1;
      enough = is_below ? before + (at - before) / 2 : at + (behind - at) / 2;
      fits = can_refine && first(enough);
    }
    const auto tried = lacks.find(enough);
    std::size_t too_few = tried == lacks.begin() || tried == lacks.end() ? 0 : std::prev(tried)->first;
    while (fits && enough - too_few > 1 && may_try(trials)) {
      const std::size_t middle = too_few + (enough - too_few) / 2;
      (first(middle) ? enough : too_few) = middle;
    }
    for (std::size_t i = n; i-- > 0 && may_try(trials);) { // what was idle least first
      if (chosen_[i]) {
        subset fewer = chosen_;
        fewer[i] = false;
        ++trials;
        offer(fewer);
      }
    }
  }

  const Workload& w_;
  const step_times& times_;
  const offloading_options& options_;
  Judge& judge_;
  std::vector<op_id> sequence_;
  std::vector<idle_tensor> tensors_;
  std::size_t num_worthwhile_;
  offloading_choice best_;
  subset chosen_;
};

} // namespace detail

/// The tensors to send to the host while they are idle, such that a step fits, with as little time lost as is found.
/// `judge(const offloaded_step&)` returns a `step_verdict`, such as that of a run on one device (`run_on`) or of a
/// search for plans.
/// ```
/// const auto times = solve::times_on(step, machine, cost::linear{}, gpu, cpu);
/// const auto chosen = solve::least_offloading(step, times, {}, [&](const solve::offloaded_step& x) {
///   return solve::run_on(x, machine, cost::linear{}, gpu, cpu);
/// });
/// ```
/// Nothing is sent if the step fits without. Else, of up to `max_exact_tensors` idle tensors, the best of all subsets:
/// the fastest step that fits, of equally fast ones that which sends least. Of more, those that are idle longest, as
/// many as bisection finds to be enough, of those that the link has time to bring there and back; if these are too few,
/// or more than the host can hold, another eighth of all tensors at a time; and then numbers beside the one that lacks
/// least. From these, tensors are left out as long as the step gets no slower.
/// For what to make again, first choose that (`least_recomputation`); what it keeps is idle as well.
///
/// Complexity: up to `max_trials`, or 2^tensors, steps and calls of `judge`, and two more.
/// Source: Rhu et al., *vDNN*, MICRO 2016; Peng et al., *Capuchin: Tensor-based GPU Memory Management for Deep
/// Learning*, ASPLOS 2020, for idle times as the criterion.
template <named_workload Workload, class Judge>
offloading_choice least_offloading(const Workload& w, const step_times& times, const offloading_options& options,
                                   Judge judge) {
  return detail::offloading_search<Workload, Judge>{w, times, options, judge}.run();
}

} // namespace weft::solve
