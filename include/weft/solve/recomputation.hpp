// SPDX-License-Identifier: BSL-1.0
/// The choice of what a training step computes again, such that it fits into the memory of a device.
#pragma once

#include "weft/bound/device_memory.hpp"
#include "weft/core/sort.hpp"
#include "weft/platform/platform.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/graph_training_step.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::solve {

/// Options of `least_recomputation`.
struct recomputation_options {
  step_options step = {}; ///< of the training step; `recompute` is what is chosen
  /// Sets of forward ops that are made again together, such as the inside of each layer (`recomputed_ops` of
  /// workload/stored_as.hpp, by layer). Empty: each op with inputs by itself.
  std::vector<std::vector<op_id>> parts = {};
  std::size_t max_exact_parts = 10; ///< up to so many, at most 20, all of their subsets are looked at
  std::size_t max_trials = 300;     ///< of more parts: so many steps are judged
};

/// A training step that computes again as little as was found to be enough.
struct recomputation_choice {
  std::vector<op_id> recompute = {}; ///< for `step_options::recompute`, ascending
  expanded_step step = {};
  double more_work = 0;  ///< beyond the step that keeps everything, in FLOP
  bool fits = false;     ///< if not, `step` is of those that were judged the one that lacks least
  bool is_exact = false; ///< all subsets of the parts were looked at: if the judge is exact, so is the answer
};

/// An order of a step on one device.
struct order_on_one_device {
  std::vector<op_id> sequence = {};
  byte_count peak = 0;   ///< bytes at its worst moment
  byte_count lacks = 0;  ///< of these, beyond the capacity
  bool is_exact = false; ///< if this one lacks some, so does every other
};

namespace detail {

/// The search of `lazy_order`.
template <class Workload>
class lazy_order_search {
public:
  explicit lazy_order_search(const Workload& w)
      : w_{w}, missing_(w.num_ops(), 0), readers_(w.num_tensors(), 0), done_(w.num_ops(), false) {
    for (const op_id v : ids(w.num_ops())) {
      missing_[v] = static_cast<std::uint32_t>(w.inputs(v).size());
    }
    for (const tensor_id t : ids(w.num_tensors())) {
      readers_[t] = static_cast<std::uint32_t>(w.consumers(t).size());
    }
    for (const op_id v : ids(w.num_ops())) {
      demand(v);
    }
  }
  std::vector<op_id> take() && { return std::move(sequence_); }

private:
  void demand(op_id wanted) {
    std::vector<op_id> open{wanted};
    while (!open.empty()) {
      const op_id v = open.back();
      const std::size_t before = open.size();
      for (const tensor_id t : w_.inputs(v)) {
        if (!done_[w_.producer(t)]) {
          open.push_back(w_.producer(t));
        }
      }
      if (open.size() == before) {
        open.pop_back();
        run(v);
      }
    }
  }
  void run(op_id first) {
    std::vector<op_id> next{first};
    while (!next.empty()) {
      const op_id v = next.back();
      next.pop_back();
      if (done_[v]) {
        continue;
      }
      done_[v] = true;
      sequence_.push_back(v);
      for (const tensor_id t : w_.inputs(v)) {
        --readers_[t];
      }
      for (const tensor_id t : w_.inputs(v)) { // another reader may be the last now
        for (const op_id c : w_.consumers(t)) {
          consider(c, next);
        }
      }
      for (const tensor_id t : w_.outputs(v)) {
        for (const op_id c : w_.consumers(t)) {
          --missing_[c];
          consider(c, next);
        }
      }
    }
  }
  void consider(op_id v, std::vector<op_id>& next) const {
    if (done_[v] || missing_[v] > 0) {
      return;
    }
    byte_count made = 0;
    byte_count freed = 0;
    for (const tensor_id t : w_.outputs(v)) {
      made += readers_[t] > 0 ? w_.bytes(t) : 0;
    }
    for (const tensor_id t : w_.inputs(v)) {
      freed += readers_[t] == 1 ? w_.bytes(t) : 0;
    }
    if (made <= freed) {
      next.push_back(v);
    }
  }

  const Workload& w_;
  std::vector<std::uint32_t> missing_; // inputs, per op
  std::vector<std::uint32_t> readers_; // left, per tensor
  std::vector<bool> done_;
  std::vector<op_id> sequence_;
};

} // namespace detail

/// All ops in the order of their ids, each right after what it still waits for, so that what is made again is made when
/// it is wanted; but what frees as much memory as it takes runs as soon as it can. Complexity: O((n + m) n) at worst.
template <class Workload>
std::vector<op_id> lazy_order(const Workload& w) {
  return detail::lazy_order_search{w}.take();
}

namespace detail {

/// The search of `least_recomputation`.
template <class Workload>
class recomputation_search {
public:
  recomputation_search(const Workload& forward, const recomputation_options& options)
      : forward_{forward}, options_{options}, parts_{options.parts} {
    for (const op_id v : ids(forward.num_ops())) {
      if (options.parts.empty() && !forward.inputs(v).empty()) {
        parts_.push_back({v});
      }
    }
  }

  template <class Lacks>
  recomputation_choice run(Lacks& lacks) {
    best_ = made(subset(parts_.size(), false));
    plain_work_ = std::exchange(best_.choice.more_work, 0);
    best_.lacking = static_cast<double>(lacks(std::as_const(best_.choice.step.graph)));
    const bool exact = parts_.size() <= std::min(options_.max_exact_parts, std::size_t{20});
    if (best_.lacking > 0) {
      exact ? try_all(lacks) : search(lacks, best_.kept);
    }
    best_.choice.fits = !(best_.lacking > 0);
    best_.choice.is_exact = exact || (best_.choice.fits && best_.choice.recompute.empty());
    return std::move(best_.choice);
  }

private:
  using subset = std::vector<bool>; // of the parts
  struct candidate {
    recomputation_choice choice = {};
    subset chosen = {};
    byte_count kept = 0; // of the forward pass, for the backward pass
    double lacking = 0;
  };

  candidate made(subset chosen) const {
    candidate x{.chosen = std::move(chosen)};
    auto& ops = x.choice.recompute;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (x.chosen[i]) {
        ops.insert(ops.end(), parts_[i].begin(), parts_[i].end());
      }
    }
    weft::sort(ops);
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    auto how = options_.step;
    how.recompute = ops;
    x.choice.step = training_step_with_origins(forward_, how);
    const workload& w = x.choice.step.graph;
    for (const op_id v : ids(w.num_ops())) {
      x.choice.more_work += w.work(v);
    }
    x.choice.more_work -= plain_work_;
    for (const tensor_id t : ids(w.num_tensors())) {
      const auto& readers = w.consumers(t);
      const bool keeps = w.producer(t) < forward_.num_ops() &&
                         std::any_of(readers.begin(), readers.end(), [&](op_id c) { return c >= forward_.num_ops(); });
      x.kept += keeps ? w.bytes(t) : 0;
    }
    return x;
  }

  template <class Lacks>
  void try_all(Lacks& lacks) {
    struct option {
      double more_work;
      std::uint32_t bits;
    };
    buffer<option> all;
    const auto members = [this](std::uint32_t bits) {
      subset chosen(parts_.size());
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        chosen[i] = (bits >> i & 1) != 0;
      }
      return chosen;
    };
    for (std::uint32_t bits = 1; bits < std::uint32_t{1} << parts_.size(); ++bits) {
      all.push_back({made(members(bits)).choice.more_work, bits});
    }
    weft::sort(all, [](const option& a, const option& b) {
      return a.more_work != b.more_work ? a.more_work < b.more_work : a.bits < b.bits;
    });
    for (auto x = all.begin(); x != all.end() && !judge(lacks, members(x->bits));) {
      ++x;
    }
  }

  /// True if these fit, and may still be tried.
  template <class Lacks>
  bool offer(Lacks& lacks, subset chosen) {
    if (num_trials_ == options_.max_trials) {
      return false;
    }
    ++num_trials_;
    return judge(lacks, std::move(chosen));
  }

  /// True if these fit. The best so far is kept.
  template <class Lacks>
  bool judge(Lacks& lacks, subset chosen) {
    auto x = made(std::move(chosen));
    x.lacking = static_cast<double>(lacks(std::as_const(x.choice.step.graph)));
    const bool fits = !(x.lacking > 0);
    if (x.lacking != best_.lacking ? x.lacking < best_.lacking : x.choice.more_work < best_.choice.more_work) {
      best_ = std::move(x);
    }
    return fits;
  }

  template <class Lacks>
  void search(Lacks& lacks, byte_count kept_by_all) {
    const std::size_t n = parts_.size();
    struct rated {
      double price; // work for each byte
      std::size_t part;
    };
    buffer<rated> order;
    for (std::size_t i = 0; i < n; ++i) {
      subset alone(n, false);
      alone[i] = true;
      const auto x = made(std::move(alone));
      const double saved = static_cast<double>(kept_by_all) - static_cast<double>(x.kept);
      order.push_back({saved > 0 ? x.choice.more_work / saved : std::numeric_limits<double>::infinity(), i});
    }
    weft::sort(order, [](const rated& a, const rated& b) {
      return a.price != b.price ? a.price < b.price : a.part < b.part;
    });
    const auto cheapest = [&](std::size_t count) {
      subset chosen(n, false);
      for (std::size_t k = 0; k < count; ++k) {
        chosen[order[k].part] = true;
      }
      return chosen;
    };
    if (offer(lacks, cheapest(n))) {
      for (std::size_t too_few = 0, enough = n; enough - too_few > 1;) {
        const std::size_t middle = too_few + (enough - too_few) / 2;
        (offer(lacks, cheapest(middle)) ? enough : too_few) = middle;
      }
    }
    for (std::size_t k = 2; k < n; k = std::max(k + 1, k * 5 / 4)) {
      subset all_but(n, true);
      for (std::size_t i = k - 1; i < n; i += k) {
        all_but[i] = false;
      }
      offer(lacks, std::move(all_but));
    }
    for (bool changed = true; changed && num_trials_ < options_.max_trials;) {
      const subset before = best_.chosen;
      for (const std::size_t neighbours : {std::size_t{1}, std::size_t{2}}) {
        for (std::size_t k = 0; k + neighbours <= n; ++k) {
          subset next = best_.chosen;
          for (std::size_t i = 0; i < neighbours; ++i) {
            const std::size_t part = neighbours == 1 ? order[n - 1 - k].part : k + i; // the dearest first
            next[part] = !next[part];
          }
          offer(lacks, std::move(next));
        }
      }
      changed = best_.chosen != before;
    }
  }

  const Workload& forward_;
  const recomputation_options& options_;
  std::vector<std::vector<op_id>> parts_;
  double plain_work_ = 0;
  std::size_t num_trials_ = 0;
  candidate best_;
};

} // namespace detail

/// An order of all ops of w on one device of one slot, with a small peak: for steps of up to 64 ops one that keeps to
/// the capacity if there is any and not too much has to be looked at (bound/device_memory.hpp); else each op in the
/// order of the workload, but what was made again when it is wanted and what frees memory as soon as it can. The peak
/// is that of a simulated run. Complexity: O((n + m) n) at worst, and that of the search.
inline order_on_one_device order_within(const workload& w, byte_count capacity) {
  const platform<> one{std::vector<device>(1, {.memory_capacity = capacity}), link_matrix{1}};
  const problem p{w, one};
  using problem_type = std::remove_const_t<decltype(p)>;
  order_on_one_device found;
  bound::device_memory<problem_type> memory{p};
  if (memory.applies() && p.num_ops() > 0) {
    const auto all = ~std::uint64_t{0} >> (bound::device_memory<problem_type>::max_ops - p.num_ops());
    found.is_exact = !memory.fits(0, all) || !memory.gave_up();
    found.sequence = memory.sequence();
  }
  if (found.sequence.size() < p.num_ops()) {
    found.sequence = lazy_order(w);
  }
  plan x{placement(p.num_ops(), 0), {}};
  for (const op_id v : found.sequence) {
    x.order.push_back(step::run(v));
  }
  trace run;
  simulator<problem_type, schedule::static_order> sim{p};
  sim.run(x, simulate::recorder{run});
  simulate::memory_tracker<problem_type> peaks{p};
  peaks.follow(x.placement, run);
  found.peak = peaks.peaks().front();
  found.lacks = found.peak - std::min(found.peak, capacity);
  return found;
}

/// The ops to compute again so that a training step fits, at as little more work as is found. `lacks(step)` says how
/// many bytes a workload lacks, 0 if it fits: those of `order_within` on one device, or of what a plan of `solve::best`
/// on a machine lacks (`best_result::shortage`).
/// ```
/// const auto chosen = solve::least_recomputation(forward, {}, [&](const workload& step) {
///   return solve::order_within(step, 16'000'000'000).lacks;
/// });
/// ```
/// Of up to `max_exact_parts` parts, the subset with the least work that fits, all of them tried in the order of their
/// work. Of more, the parts are taken in the order of work for each byte that a part alone saves of what gradients
/// read of the forward pass, as many as bisection finds to be enough; or, as in a chain, all but each k-th, of which
/// k = √n needs O(√n) memory. From the best of these on, parts and pairs of neighbours are added or left out as long as
/// less is lacking, or, if nothing is, less work is left. Each op is made again at most once, in the backward pass
/// (`training_step`); what is dropped and made again several times (Griewank, Walther, *Revolve*, TOMS 26, 2000; Jain
/// et al., *Checkmate*, MLSys 2020) is not looked at.
///
/// Throws as `training_step` does. Complexity: 2^parts training steps, or one per part, and `max_trials` calls of
/// `lacks`.
/// Source: Chen, Xu, Zhang, Guestrin, *Training Deep Nets with Sublinear Memory Cost*, arXiv 1604.06174; Korthikanti
/// et al., *Reducing Activation Recomputation in Large Transformer Models*, MLSys 2023, for parts of layers.
template <named_workload Workload, class Lacks>
recomputation_choice least_recomputation(const Workload& forward, const recomputation_options& options, Lacks lacks) {
  return detail::recomputation_search<Workload>{forward, options}.run(lacks);
}

} // namespace weft::solve
