// SPDX-License-Identifier: BSL-1.0
/// Favourite children: at most one consumer per op that should follow it on its device, at most one producer per op.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/reversed.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/partition/cluster/mean_costs.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::partition::sct {

/// The linear program of favourite children, on any number of devices that are all alike. Choose a share from 0 to 1
/// for each arc, such that the arcs that leave an op share at most 1, as do those that enter it, and the makespan is
/// smallest: the longest path where op v takes `compute[v]` and arc a takes `(1 − share) · transfer`.
/// Published with x = 1 − share, start times s, `s_u + p_u + c_uv x_uv <= s_v`, and the makespan as variables.
struct program {
  struct arc {
    op_id from = none;
    op_id to = none;
    double transfer = 0; ///< seconds; the longest of the tensors that `to` reads from `from`
  };

  std::vector<double> compute;           ///< per op, seconds
  buffer<arc> arcs;                 ///< each pair of ops once, those that enter an op one after another
  std::vector<std::size_t> first_input;  ///< per op, plus the end: the arcs that enter it
  std::vector<op_id> order;              ///< the ops in a topological order

  constexpr std::size_t num_ops() const { return compute.size(); }
};

/// `s(program)` returns a share per arc that obeys the constraints, as small a makespan as it can.
template <class S>
concept program_solver = std::copy_constructible<S> && requires(const S& s, const program& lp) {
  { s(lp) } -> std::same_as<std::vector<double>>;
};

/// The program of a problem, with mean times. Complexity: O(n + m log d).
template <class Problem>
constexpr program program_of(const cluster::mean_costs<Problem>& costs) {
  const Problem& p = costs.problem();
  const auto& w = p.workload();
  program lp;
  lp.first_input.push_back(0);
  for (const op_id v : ids(p.num_ops())) {
    lp.compute.push_back(costs.compute(v));
    graph::for_each_predecessor(
      w, v, [&](op_id u, const flow_edge& e) { lp.arcs.push_back({u, v, costs.transfer(e.tensor, v)}); });
    const auto first = lp.arcs.begin() + static_cast<std::ptrdiff_t>(lp.first_input.back());
    const auto by_producer = [](const program::arc& a, const program::arc& b) {
      return a.from != b.from ? a.from < b.from : a.transfer > b.transfer;
    };
    weft::sort(lp.arcs.data() + lp.first_input.back(), lp.arcs.data() + lp.arcs.size(), by_producer);
    lp.arcs.erase(std::unique(first, lp.arcs.end(),
                              [](const program::arc& a, const program::arc& b) { return a.from == b.from; }),
                  lp.arcs.end());
    lp.first_input.push_back(lp.arcs.size());
  }
  lp.order.assign(p.topological_order().begin(), p.topological_order().end());
  return lp;
}

/// The makespan under some shares, in seconds; if `through` is not null, also the longest path through each arc.
/// Complexity: O(n + m).
constexpr double makespan_of(const program& lp, const std::vector<double>& share,
                             std::vector<double>* through = nullptr) {
  std::vector<double> finish(lp.num_ops(), 0.0);
  double makespan = 0;
  for (const op_id v : lp.order) {
    double start = 0;
    for (std::size_t a = lp.first_input[v]; a < lp.first_input[v + 1]; ++a) {
      start = std::max(start, finish[lp.arcs[a].from] + rounded((1 - share[a]) * lp.arcs[a].transfer));
    }
    finish[v] = start + lp.compute[v];
    makespan = std::max(makespan, finish[v]);
  }
  if (through != nullptr) {
    through->assign(lp.arcs.size(), 0.0);
    std::vector<double> after(lp.num_ops(), 0.0); // per op: from its finish to the end
    for (const op_id v : reversed(lp.order)) {
      const double from_start = lp.compute[v] + after[v];
      for (std::size_t a = lp.first_input[v]; a < lp.first_input[v + 1]; ++a) {
        const double rest = rounded((1 - share[a]) * lp.arcs[a].transfer) + from_start;
        (*through)[a] = finish[lp.arcs[a].from] + rest;
        after[lp.arcs[a].from] = std::max(after[lp.arcs[a].from], rest);
      }
    }
  }
  return makespan;
}

namespace detail {

/// Arcs with a transfer in descending order of `weight` (ties: the first), as long as both ends are free.
template <class Visit>
constexpr void match_greedily(const program& lp, const std::vector<double>& weight, Visit visit) {
  std::vector<std::size_t> sequence;
  for (std::size_t a = 0; a < lp.arcs.size(); ++a) {
    if (lp.arcs[a].transfer > 0) {
      sequence.push_back(a);
    }
  }
  weft::sort(sequence,
            [&](std::size_t a, std::size_t b) { return weight[a] != weight[b] ? weight[a] > weight[b] : a < b; });
  std::vector<std::uint8_t> has_child(lp.num_ops(), 0);
  std::vector<std::uint8_t> is_child(lp.num_ops(), 0);
  for (const std::size_t a : sequence) {
    if (!has_child[lp.arcs[a].from] && !is_child[lp.arcs[a].to]) {
      has_child[lp.arcs[a].from] = is_child[lp.arcs[a].to] = 1;
      visit(a);
    }
  }
}

constexpr double power(double x, std::uint32_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1, x *= x) {
    result *= (exponent & 1) != 0 ? x : 1;
  }
  return result;
}

} // namespace detail

/// Solves the program approximately and without a library, by the Frank-Wolfe method. Starts with the favourites that a
/// greedy choice by transfer time gives. Step k goes 2 / (k + 4) of the way towards the favourites that a greedy choice
/// gives by transfer · (longest path through the arc / makespan)^(8 + 2 k): where a smooth stand-in for the longest
/// path falls most, and the smoother the stand-in the earlier the step. Keeps the best shares met. Means of such
/// choices obey the constraints, since each of them does.
///
/// There is no guarantee; on generate::suite the makespan is 0.7 % above the optimum of the program in the geometric
/// mean and 7 % at worst (docs/clustering.md). Complexity: O(iterations · (n + m log m)).
struct averaged_matchings {
  std::uint32_t iterations = 200;

  constexpr std::vector<double> operator()(const program& lp) const {
    std::vector<double> weight(lp.arcs.size(), 0.0);
    std::vector<double> share(lp.arcs.size(), 0.0);
    std::vector<double> through;
    for (std::size_t a = 0; a < lp.arcs.size(); ++a) {
      weight[a] = lp.arcs[a].transfer;
    }
    detail::match_greedily(lp, weight, [&](std::size_t a) { share[a] = 1; });
    auto best = share;
    double makespan = makespan_of(lp, share, &through);
    double least = makespan;
    constexpr double never = std::numeric_limits<double>::infinity();
    for (std::uint32_t k = 1; k <= iterations && makespan > 0 && makespan < never; ++k) {
      for (std::size_t a = 0; a < weight.size(); ++a) {
        weight[a] = lp.arcs[a].transfer * detail::power(through[a] / makespan, 8 + 2 * k);
      }
      const double step = 2.0 / (k + 4);
      for (double& y : share) {
        y *= 1 - step;
      }
      detail::match_greedily(lp, weight, [&](std::size_t a) { share[a] += step; });
      makespan = makespan_of(lp, share, &through);
      if (makespan < least) {
        least = makespan;
        best = share;
      }
    }
    return best;
  }
};

/// The favourite child of each op, or `none`: arcs in descending order of their share, as long as it is at least
/// `threshold`, whose ends have no favourite yet (ties: larger transfer, then smaller ids). So the constraints still
/// hold where plain rounding, as published, breaks them. Complexity: O(m log m).
constexpr std::vector<op_id> favourites(const program& lp, const std::vector<double>& share, double threshold) {
  std::vector<std::size_t> chosen;
  for (std::size_t a = 0; a < lp.arcs.size(); ++a) {
    if (share[a] >= threshold && lp.arcs[a].transfer > 0) {
      chosen.push_back(a);
    }
  }
  weft::sort(chosen, [&](std::size_t a, std::size_t b) {
    return share[a] != share[b]                             ? share[a] > share[b]
           : lp.arcs[a].transfer != lp.arcs[b].transfer     ? lp.arcs[a].transfer > lp.arcs[b].transfer
                                                            : a < b;
  });
  std::vector<op_id> child(lp.num_ops(), none);
  std::vector<std::uint8_t> is_child(lp.num_ops(), 0);
  for (const std::size_t a : chosen) {
    if (child[lp.arcs[a].from] == none && !is_child[lp.arcs[a].to]) {
      child[lp.arcs[a].from] = lp.arcs[a].to;
      is_child[lp.arcs[a].to] = 1;
    }
  }
  return child;
}

} // namespace weft::partition::sct
