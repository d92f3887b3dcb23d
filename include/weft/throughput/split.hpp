// SPDX-License-Identifier: BSL-1.0
/// Contiguous splits by dynamic programming, over all downsets or along one order.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/graph/downsets.hpp"
#include "weft/plan/plan.hpp"
#include "weft/throughput/detail/splitting.hpp"
#include "weft/throughput/ledger.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::throughput {

/// The outcome of a split.
enum class split_status : std::uint8_t {
  optimal,           ///< no contiguous split has a smaller largest load
  feasible,          ///< a split, and there may be a better one
  none_below,        ///< no contiguous split is below the limit that was asked for, or none exists at all
  not_found,         ///< the program found none below the limit, and there may be one
  too_many_downsets, ///< the program was not run, since the graph has too many
  out_of_budget,     ///< ended before it was done
};

constexpr std::string_view to_string(split_status s) {
  switch (s) {
  case split_status::optimal: return "optimal";
  case split_status::feasible: return "feasible";
  case split_status::none_below: return "none_below";
  case split_status::not_found: return "not_found";
  case split_status::too_many_downsets: return "too_many_downsets";
  case split_status::out_of_budget: break;
  }
  return "out_of_budget";
}

/// A contiguous split, if there is one.
struct split_result {
  split_status status = split_status::none_below;
  std::vector<device_id> where = {}; ///< the device of every *component*; empty without a split
  double period = std::numeric_limits<double>::infinity();
  std::size_t num_downsets = 0; ///< that the program went over

  bool has_split() const { return !where.empty(); }
  /// The device of every op. Precondition: `has_split()`, or there is no op.
  template <class Problem>
  weft::placement placement(const Problem& p) const {
    weft::placement all(p.num_ops());
    for (const op_id v : ids(p.num_ops())) {
      all[v] = where[p.component(v)];
    }
    return all;
  }
};

/// The contiguous split of smallest period, for staged costs: exact, unless Π (min(devices, blocks) + 1) over classes
/// of devices that cost the same is above 1024. Then the pieces take devices in ascending order of ids only, and the
/// status is `feasible` or `not_found`, never `optimal` or `none_below`. Where devices share a memory, each piece is
/// looked at alone: if those of the best split are too much together, it is `not_found`. Devices of a class are
/// interchangeable; a device may stay empty. Ops of type "backward" go with their colocation group, and the loads of
/// both passes add up (throughput/detail/blocks.hpp says what contiguous means then).
///
/// Complexity: O(D² · (degree + device counts)) for D downsets of the blocks, of which there can be exponentially many;
/// memory O(D · (blocks / 64 + device counts)). Source: Tarnawski et al., NeurIPS 2020, section 5.1.
struct downset_split {
  std::size_t max_downsets = 20'000; ///< with more, the status is `too_many_downsets`
  double below = std::numeric_limits<double>::infinity(); ///< only smaller periods are of interest; saves much time
  weft::budget budget = {};

  template <staged_problem Problem>
  split_result operator()(const Problem& p) const {
    return (*this)(flow<Problem>{p});
  }
  template <class Problem>
    requires staged_problem<Problem>
  split_result operator()(const flow<Problem>& f) const {
    const stopwatch clock;
    const detail::blocks<Problem> b{f};
    const auto family = graph::all_downsets(b, max_downsets);
    if (!family) {
      return {.status = split_status::too_many_downsets};
    }
    split_result r{.num_downsets = family->size()};
    detail::splitting<Problem> program{f, b};
    if (auto where = program(*family, below, {.seconds = budget.seconds - clock.seconds(), .stop = budget.stop})) {
      r.status = program.exact() ? split_status::optimal : split_status::feasible;
      r.period = ledger<Problem>{f, *where}.period();
      r.where = std::move(*where);
    } else if (!program.exact()) {
      r.status = split_status::not_found;
    }
    if (!program.complete()) {
      r.status = split_status::out_of_budget;
    }
    return r;
  }
};

/// The best split along two orders, the topological one and a depth-first one: fast, for graphs of any size, and
/// optimal for chains with staged costs, but for the limit of `downset_split` on many devices of several classes. With
/// other costs, links are only estimated while splitting (throughput/detail/piece.hpp); `period` is exact. Pieces are
/// first cut from runs of blocks, to have a limit for the second pass, which can cut anywhere. The status is `feasible`
/// or `not_found`.
///
/// Complexity: O(b² · (degree + device counts) / devices) for b blocks, typically.
/// Source: Tarnawski et al., NeurIPS 2020, section 5.1 (there called DPL).
struct linear_split {
  std::size_t coarse = 128; ///< runs of blocks in the first pass
  double below = std::numeric_limits<double>::infinity(); ///< as in `downset_split`; of the estimate
  weft::budget budget = {};

  template <class Problem>
    requires requires { typename Problem::workload_type; }
  split_result operator()(const Problem& p) const {
    return (*this)(flow<Problem>{p});
  }
  template <class Problem>
  split_result operator()(const flow<Problem>& f) const {
    const stopwatch clock;
    const detail::blocks<Problem> b{f};
    detail::splitting<Problem> program{f, b};
    std::vector<std::uint32_t> order(b.size());
    std::iota(order.begin(), order.end(), 0u);
    split_result best{.status = split_status::not_found};
    const std::size_t long_stride = (order.size() + coarse - 1) / std::max<std::size_t>(1, coarse);
    for (int i = 0; i < 2; ++i) {
      double limit = below;
      for (const std::size_t stride : {long_stride, std::size_t{1}}) {
        if (stride == 0 || (stride == 1 && limit != below && order.size() <= coarse)) {
          continue; // nothing to split, or already done
        }
        const weft::budget left{.seconds = budget.seconds - clock.seconds(), .stop = budget.stop};
        const auto family = graph::prefixes(order, stride);
        best.num_downsets = std::max(best.num_downsets, family.size());
        if (auto where = program(family, limit, left)) {
          const double period = ledger<Problem>{f, *where}.period();
          limit = program.largest_load();
          if (period < best.period) {
            best.period = period;
            best.where = std::move(*where);
            best.status = split_status::feasible;
          }
        }
      }
      order = b.depth_first_order();
    }
    return best;
  }
};

} // namespace weft::throughput
