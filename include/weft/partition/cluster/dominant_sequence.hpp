// SPDX-License-Identifier: BSL-1.0
/// Dominant sequence clustering.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/partition/cluster/clustering.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::partition::cluster {

/// DSC: examines the ops in descending order of the longest path through them, as far as it is known (top level +
/// bottom level; ties: topologically first), among those whose producers have all been examined. An op joins the
/// cluster of the producer whose tensor would arrive last, after what is there, if it then starts sooner; it takes
/// with it those other producers that feed nothing else and stand alone, as long as that lets it start sooner still.
/// Else it gets a cluster of its own. If a longer path leads through an op that lacks a producer still, and that op
/// could start sooner in the cluster of one examined, that cluster is left to it (the paper's DSRW).
///
/// Beyond the paper: the first examined member of a component decides for all, and ops join only clusters that some
/// device could take as a whole. Parallel time is that of the schedule that DSC itself makes.
/// Source: Yang, Gerasoulis, IEEE TPDS 5(9), 1994. Complexity: O((n + m) log(n + m)).
struct dominant_sequence {
  template <class Problem>
  constexpr clustering operator()(const mean_costs<Problem>& costs) const {
    examination<Problem> e{costs};
    return e.run();
  }

private:
  template <class Problem>
  class examination {
  public:
    constexpr explicit examination(const mean_costs<Problem>& costs)
        : costs_{costs}, p_{costs.problem()}, sets_{p_}, waiting_{p_.workload()}, top_level_(p_.num_ops(), 0.0),
          finish_(p_.num_ops(), 0.0), last_producer_(p_.num_ops(), none), decided_(p_.num_components(), 0),
          size_(p_.num_components(), 0), free_(p_.num_components(), 0.0) {
      free_ops_.reserve(p_.num_ops() + 1);
      partly_free_.reserve(p_.num_edges() + 1);
      waiting_.for_each_ready([this](op_id v) { push(free_ops_, v); });
    }

    constexpr clustering run() {
      double end = 0;
      while (!free_ops_.empty()) {
        const op_id v = pop(free_ops_).op;
        examine(v);
        end = std::max(end, finish_[v]);
      }
      clustering result = sets_.take();
      result.parallel_time = end;
      return result;
    }

  private:
    struct entry {
      double priority = 0;
      std::uint32_t position = 0;
      op_id op = none;
    };
    struct dominant {
      constexpr bool operator()(const entry& a, const entry& b) const {
        return a.priority > b.priority || (a.priority == b.priority && a.position < b.position);
      }
    };
    static constexpr heap_operations<entry, dominant> operations{};

    /// A producer that might come along.
    struct candidate {
      double arrival; ///< of its tensor, if it stays where it is
      double ready;   ///< when it could start, if it came along
      op_id op;
    };

    constexpr double priority(op_id v) const { return top_level_[v] + costs_.bottom_level(v); }

    constexpr void push(buffer<entry>& heap, op_id v) {
      heap.push_back({});
      operations.push(heap.data(), heap.size() - 1, {priority(v), costs_.position(v), v});
    }
    constexpr entry pop(buffer<entry>& heap) {
      const entry top = heap.front();
      operations.pop(heap.data(), heap.size());
      heap.pop_back();
      return top;
    }

    constexpr void examine(op_id v) {
      const component_id c = p_.component(v);
      double start = top_level_[v];
      if (decided_[c]) { // another member has decided
        const component_id here = sets_.find(v);
        start = std::max(free_[here], ready_in(v, here));
      } else {
        decided_[c] = 1;
        if (const op_id u = last_producer_[v]; u != none && !is_reserved(sets_.find(u), v)) {
          start = join(v, sets_.find(u), start);
        }
      }
      const component_id here = sets_.find(v);
      ++size_[here];
      finish_[v] = free_[here] = start + costs_.compute(v);
      release_consumers(v);
    }

    constexpr void release_consumers(op_id v) {
      graph::for_each_successor(p_.workload(), v, [&](op_id c, const flow_edge& e) {
        const double there = finish_[v] + costs_.transfer(e.tensor, c);
        if (last_producer_[c] == none || there > top_level_[c]) {
          top_level_[c] = there;
          last_producer_[c] = v;
        }
        push(waiting_.arrive(c) ? free_ops_ : partly_free_, c);
      });
    }

    /// Whether `cluster` is left to an op on a longer path than v's that lacks a producer.
    constexpr bool is_reserved(component_id cluster, op_id v) {
      while (!partly_free_.empty() && (waiting_.is_ready(partly_free_.front().op) ||
                                       partly_free_.front().priority != priority(partly_free_.front().op))) {
        pop(partly_free_); // has become free, or has a later entry
      }
      if (partly_free_.empty() || partly_free_.front().priority <= priority(v)) {
        return false;
      }
      const op_id other = partly_free_.front().op;
      return sets_.find(last_producer_[other]) == cluster && free_[cluster] < top_level_[other];
    }

    /// When v's inputs are in a cluster, if it is a member.
    constexpr double ready_in(op_id v, component_id here) {
      return graph::max_over_predecessors(p_.workload(), v, 0.0, [&](op_id u, const flow_edge& e) {
        return finish_[u] + (sets_.find(u) == here ? 0 : costs_.transfer(e.tensor, v));
      });
    }

    /// Puts v and possibly some producers into a cluster if v then starts before `alone`, and returns its start.
    constexpr double join(op_id v, component_id here, double alone) {
      const component_id own = sets_.find(v);
      if (!sets_.can_unite(here, own)) {
        return alone;
      }
      double others = 0; // when the tensors of producers that stay where they are have come
      movable_.clear();
      graph::for_each_predecessor(p_.workload(), v, [&](op_id u, const flow_edge& e) {
        const component_id there = sets_.find(u);
        if (there == here) {
          return; // has finished before the cluster is free
        }
        const double time = finish_[u] + costs_.transfer(e.tensor, v);
        if (graph::out_degree(p_.workload(), u) == 1 && size_[there] == 1 && p_.members(p_.component(u)).size() == 1) {
          movable_.push_back({time, ready_in(u, here), u});
        } else {
          others = std::max(others, time);
        }
      });
      weft::sort(movable_, [&](const candidate& a, const candidate& b) {
        return a.arrival != b.arrival ? a.arrival > b.arrival : costs_.position(a.op) < costs_.position(b.op);
      });
      const auto rest = [&](std::size_t moved) {
        return moved < movable_.size() ? std::max(others, movable_[moved].arrival) : others;
      };
      // The more come along, the later the cluster is free and the sooner the rest has arrived: meet in the middle.
      std::size_t low = 0;
      std::size_t high = movable_.size();
      while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (free_after(here, middle) >= rest(middle)) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      std::size_t moved = low;
      double start = std::max(free_after(here, moved), rest(moved));
      if (low > 0) {
        if (const double fewer = std::max(free_after(here, low - 1), rest(low - 1)); fewer <= start) {
          moved = low - 1;
          start = fewer;
        }
      }
      if (start >= alone) {
        return alone;
      }
      here = sets_united(here, own);
      std::size_t fitting = 0;
      for (; fitting < moved; ++fitting) {
        const component_id there = sets_.find(movable_[fitting].op);
        if (!sets_.can_unite(here, there)) {
          break;
        }
        here = sets_united(here, there);
      }
      move(here, fitting);
      return std::max(free_[here], rest(fitting));
    }

    /// When the cluster would be free again if the first producers moved there, those that may start first first.
    constexpr double free_after(component_id here, std::size_t moved) {
      double time = free_[here];
      for_each_moved(moved, [&](const candidate& u) { time = std::max(time, u.ready) + costs_.compute(u.op); });
      return time;
    }

    constexpr void move(component_id here, std::size_t moved) {
      for_each_moved(moved, [&](const candidate& u) {
        finish_[u.op] = free_[here] = std::max(free_[here], u.ready) + costs_.compute(u.op);
      });
    }

    template <class F>
    constexpr void for_each_moved(std::size_t moved, F f) {
      moving_.assign(movable_.begin(), movable_.begin() + static_cast<std::ptrdiff_t>(moved));
      weft::sort(moving_, [&](const candidate& a, const candidate& b) {
        return a.ready != b.ready ? a.ready < b.ready : costs_.position(a.op) < costs_.position(b.op);
      });
      for (const candidate& u : moving_) {
        f(u);
      }
    }

    /// The name of the union, with the time and size of `a` (and the size of `b`).
    constexpr component_id sets_united(component_id a, component_id b) {
      const double free = free_[a];
      const std::uint32_t size = size_[a] + size_[b];
      const component_id name = sets_.unite(a, b);
      free_[name] = free;
      size_[name] = size;
      return name;
    }

    const mean_costs<Problem>& costs_;
    const Problem& p_;
    cluster_sets<Problem> sets_;
    graph::release_counter<> waiting_;     // inputs whose producers have not been examined
    std::vector<double> top_level_;        // per op: when its inputs from examined producers have come, if it is alone
    std::vector<double> finish_;           // per examined op
    std::vector<op_id> last_producer_;     // per op: the examined producer whose tensor comes last
    std::vector<std::uint8_t> decided_;    // per component: a member has been examined
    std::vector<std::uint32_t> size_;      // per set: examined ops
    std::vector<double> free_;             // per set
    buffer<entry> free_ops_;
    buffer<entry> partly_free_;       // also entries that are out of date
    buffer<candidate> movable_;
    buffer<candidate> moving_;
  };
};

} // namespace weft::partition::cluster
