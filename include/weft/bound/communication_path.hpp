// SPDX-License-Identifier: BSL-1.0
/// The critical path as a lower bound, when inputs either come from the same device or have to travel.
#pragma once

#include "weft/bound/cheapest_transfer.hpp"
#include "weft/bound/detail/one_machine.hpp"
#include "weft/bound/detail/relaxation.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::bound {

namespace detail {

/// Computes heads, or, against the edges, tails. "Before" means before in the direction of the run. Keeps its buffers.
template <class Problem>
class join_bound {
public:
  constexpr join_bound(const relaxation<Problem>& r, const std::vector<double>& cheapest, bool forward)
      : r_{r}, cheapest_{cheapest}, forward_{forward}, position_(r.problem().num_ops(), 0),
        head_(r.problem().num_ops(), 0), index_(r.problem().num_ops(), none) {}

  /// For each op, seconds that pass before it can start; `at_least(op, seconds of those before)` is known of it.
  template <class AtLeast>
  constexpr std::vector<double> operator()(AtLeast at_least) {
    const auto order = r_.problem().topological_order();
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      const op_id v = order[forward_ ? i : order.size() - 1 - i];
      position_[v] = i;
      head_[v] = std::max(earliest_start(v), at_least(v, std::as_const(head_)));
    }
    return std::move(head_);
  }
  constexpr std::vector<double> operator()() {
    return (*this)([](op_id, const std::vector<double>&) { return 0.0; });
  }

private:
  /// The number of ancestors of a join that are looked behind. More raise the bound by less than 0.2 % on the
  /// graphs of [CP] and cost as much again.
  static constexpr std::size_t window = 6;

  /// An op before the op v at hand.
  struct ancestor {
    op_id op;
    double path;    ///< seconds from its end to v's start, at least
    double journey; ///< the same if it is on another device than v, so that something travels on every path
    double arrival = 0; ///< when v can start at the earliest in that case
  };

  struct place {
    std::uint32_t position = 0;
    op_id op = none;
  };
  struct later {
    constexpr bool operator()(const place& a, const place& b) const { return a.position > b.position; }
  };
  static constexpr heap_operations<place, later> heap{};

  /// Calls visit(u, t) for each op u right before v and tensor t between them.
  template <class Visit>
  constexpr void for_each_before(op_id v, Visit visit) const {
    const auto& w = r_.problem().workload();
    const auto at_edge = [&](op_id u, const flow_edge& e) { visit(u, e.tensor); };
    if (forward_) {
      graph::for_each_predecessor(w, v, at_edge);
    } else {
      graph::for_each_successor(w, v, at_edge);
    }
  }

  constexpr double end(op_id u) const { return head_[u] + r_.best(u); }

  constexpr double earliest_start(op_id v) {
    double start = 0;
    op_id only = none;
    bool joins = false;
    for_each_before(v, [&](op_id u, tensor_id t) {
      const bool must_travel = r_.disjoint(r_.choice_index(u), r_.choice_index(v));
      start = std::max(start, end(u) + (must_travel ? cheapest_[t] : 0));
      joins = joins || (only != none && only != u);
      only = u;
    });
    return joins ? join(v, start) : start;
  }

  /// v starts at some x. An ancestor whose result cannot travel in time for x has to run on v's device, and all of
  /// those run there one after the other, before x. The least x that allows this is returned, but at least `start`.
  constexpr double join(op_id v, double start) {
    ancestors_.clear();
    frontier_.clear();
    for_each_before(v, [&](op_id u, tensor_id t) { meet(u, 0, cheapest_[t]); });
    for (std::size_t looked = 0; looked < window && !frontier_.empty(); ++looked) {
      const ancestor a = ancestors_[index_[frontier_[0].op]]; // all paths from it to v are known by now
      heap.pop(frontier_.data(), frontier_.size());
      frontier_.pop_back();
      const bool must_travel = r_.disjoint(r_.choice_index(a.op), r_.choice_index(v));
      const bool must_stay = r_.problem().component(a.op) == r_.problem().component(v);
      const double path = must_travel ? a.journey : a.path;
      const double journey = must_stay ? infinity : a.journey;
      if (end(a.op) + journey > start) { // nothing behind others can matter
        for_each_before(a.op, [&](op_id u, tensor_id t) {
          meet(u, r_.best(a.op) + path, r_.best(a.op) + std::min(cheapest_[t] + path, journey));
        });
      }
    }
    return start_after_locals(v, start);
  }

  constexpr void meet(op_id u, double path, double journey) {
    if (const auto i = index_[u]; i < ancestors_.size() && ancestors_[i].op == u) {
      ancestors_[i].path = std::max(ancestors_[i].path, path);
      ancestors_[i].journey = std::max(ancestors_[i].journey, journey);
      return;
    }
    index_[u] = static_cast<std::uint32_t>(ancestors_.size());
    ancestors_.push_back({u, path, journey});
    frontier_.push_back({});
    heap.push(frontier_.data(), frontier_.size() - 1, {position_[u], u});
  }

  constexpr double start_after_locals(op_id v, double start) {
    std::size_t kept = 0;
    for (ancestor a : ancestors_) {
      const bool must_stay = r_.problem().component(a.op) == r_.problem().component(v);
      a.arrival = must_stay ? infinity : end(a.op) + a.journey;
      if (r_.disjoint(r_.choice_index(a.op), r_.choice_index(v))) {
        start = std::max(start, a.arrival);
      } else if (a.arrival > start) {
        ancestors_[kept++] = a;
      }
    }
    ancestors_.resize(kept, ancestor{});
    weft::sort(ancestors_, [](const ancestor& a, const ancestor& b) {
      return a.arrival != b.arrival ? a.arrival > b.arrival : a.op < b.op;
    });
    by_head_.clear();
    for (std::uint32_t i = 0; i < kept; ++i) {
      by_head_.push_back(i);
    }
    weft::sort(by_head_, [&](std::uint32_t i, std::uint32_t j) {
      return head_[ancestors_[i].op] < head_[ancestors_[j].op];
    });
    if (locals(v, kept) <= start) {
      return start; // nothing has to travel
    }
    // With the first k ancestors local, v waits for them and for the arrival of the next. The former rises with k,
    // the latter falls.
    std::size_t low = 0;
    std::size_t high = kept;
    while (low < high) {
      const std::size_t k = low + (high - low) / 2;
      if (locals(v, k) >= ancestors_[k].arrival) {
        high = k;
      } else {
        low = k + 1;
      }
    }
    const double one_less = low == 0 ? infinity : ancestors_[low - 1].arrival;
    return std::max(start, std::min(locals(v, low), one_less));
  }

  /// When v can start if it shares its device with the first k ancestors.
  constexpr double locals(op_id v, std::size_t k) {
    const double slots = r_.choice(v).max_slots;
    jobs_.clear();
    for (const std::uint32_t i : by_head_) {
      if (i < k) {
        const auto& a = ancestors_[i];
        jobs_.push_back({head_[a.op], r_.best(a.op) / slots, a.path});
      }
    }
    return machine_.of_sorted(jobs_);
  }

  const relaxation<Problem>& r_;
  const std::vector<double>& cheapest_;   // per tensor
  bool forward_;
  std::vector<std::uint32_t> position_;   // per op, in the order of the run
  std::vector<double> head_;
  std::vector<std::uint32_t> index_;      // per op: where it is among the ancestors, if it is
  buffer<ancestor> ancestors_;
  buffer<place> frontier_;                // a heap, the last in the order of the run in front
  std::vector<std::uint32_t> by_head_;    // the ancestors that may be local
  buffer<job> jobs_;
  one_machine machine_;
};

/// `cheapest`: the least time that each tensor needs between different devices.
template <class Problem>
constexpr head_and_tail communication_paths(const relaxation<Problem>& r, const std::vector<double>& cheapest) {
  return {join_bound{r, cheapest, true}(), join_bound{r, cheapest, false}()};
}
template <class Problem>
constexpr head_and_tail communication_paths(const relaxation<Problem>& r) {
  return communication_paths(r, cheapest_transfers(r.problem(), r.usable_devices()));
}

} // namespace detail

/// The longest path, each op in its best time, and at every join the cheaper of two evils: seconds. An op starts at
/// some x; an input (or what an ancestor computed) that cannot reach another device by x, by the fastest link between
/// devices that some op may run on, must have been made on this device, and everything made on this device was made
/// one after the other. The least x for which both hold is a lower bound on the start, given those of the ancestors;
/// the same argument backwards bounds what follows an op, and the bound is the largest sum of both and the op.
///
/// Never below bound/critical_path.hpp. An input of an op that shares no device with it always travels, one of the
/// same colocation group never does. Where the cost model does not move tensors over links, see
/// bound/cheapest_transfer.hpp.
/// Complexity: O(n · device types + m log m) with a window of 6 ancestors behind each join.
/// Source: the argument of Papadimitriou and Yannakakis, Towards an architecture-independent analysis of parallel
/// algorithms, 1990, §2, for delays that differ.
template <class Problem>
constexpr double communication_path(const Problem& p) {
  const detail::relaxation<Problem> r{p};
  return r.feasible() ? detail::longest(r, detail::communication_paths(r)) : detail::infinity;
}

/// For each op, seconds that pass from its end to the end of all in every plan, by the same argument. Precondition:
/// each component is allowed on some device.
template <class Problem>
constexpr std::vector<double> communication_tails(const Problem& p) {
  return detail::communication_paths(detail::relaxation<Problem>{p}).tail;
}

} // namespace weft::bound
