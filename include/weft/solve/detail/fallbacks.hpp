// SPDX-License-Identifier: BSL-1.0
/// Partitioners for what good heuristics miss: expensive communication, and tight memory.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/sort.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/plan/plan.hpp"
#include "weft/throughput/packing.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// Everything on the device where it takes least in all, as far as it fits; where communication is expensive, nothing
/// better may exist. Ties: the smaller id.
struct one_device {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p) const {
    std::vector<double> load(p.num_devices(), 0.0);
    for (const op_id v : ids(p.num_ops())) {
      for (const device_id d : ids(p.num_devices())) {
        load[d] += p.compute_time(v, d);
      }
    }
    partition::assignment<Problem> made{p};
    for (component_id c = 0; c < p.num_components(); ++c) {
      const device_id d = made.best_fit(c, [&](device_id x) { return load[x]; });
      if (d == none) {
        return made.why_unplaced(c);
      }
      made.place(c, d);
    }
    return std::move(made).take();
  }
};

/// Everything on a single device, of those that may run all of it and have room for it the one where that takes least:
/// nothing is transferred, so it ends where any transfer would take for ever. Ties: the smaller id.
struct single_device {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p) const {
    double least = std::numeric_limits<double>::infinity();
    device_id best = none;
    for (const device_id d : ids(p.num_devices())) {
      double load = 0;
      byte_count left = p.capacity(d);
      bool fits = true;
      for (component_id c = 0; fits && c < p.num_components(); ++c) {
        fits = p.allows(c, d) && p.demand(c) <= left;
        left -= fits ? p.demand(c) : 0;
        load += p.component_time(c, d);
      }
      if (fits && load < least) {
        least = load;
        best = d;
      }
    }
    return best == none ? outcome<placement>{infeasibility{}} : outcome<placement>{placement(p.num_ops(), best)};
  }
};

/// Components in turn, the longest first, each where that device is least busy: stages of a pipeline are spread so.
/// `random`: their times count up to twice, so that the turns change.
struct balanced {
  rng* random = nullptr;

  template <class Problem>
  outcome<placement> operator()(const Problem& p) const {
    const auto least_time = [&](component_id c) {
      double least = std::numeric_limits<double>::infinity();
      for (const device_id d : ids(p.num_devices())) {
        least = p.allows(c, d) ? std::min(least, p.component_time(c, d)) : least;
      }
      return least;
    };
    std::vector<double> longest;
    std::vector<component_id> turns;
    for (component_id c = 0; c < p.num_components(); ++c) {
      longest.push_back(least_time(c) * (random == nullptr ? 1 : 1 + random->uniform()));
      turns.push_back(c);
    }
    weft::sort(turns, [&](component_id a, component_id b) {
      return longest[a] != longest[b] ? longest[a] > longest[b] : a < b;
    });
    std::vector<double> load(p.num_devices(), 0.0);
    partition::assignment<Problem> made{p};
    for (const component_id c : turns) {
      const device_id d = made.best_fit(c, [&](device_id x) { return load[x] + p.component_time(c, x); });
      if (d == none) {
        return made.why_unplaced(c);
      }
      made.place(c, d);
      load[d] += p.component_time(c, d);
    }
    return std::move(made).take();
  }
};

/// Any placement that fits, for problems whose memory is too tight for heuristics.
struct packing {
  template <class Problem>
  outcome<placement> operator()(const Problem& p) const {
    const throughput::flow<Problem> f{p};
    const auto device = throughput::pack(f);
    if (!device) {
      return device.error();
    }
    placement where(p.num_ops(), none);
    for (const op_id v : ids(p.num_ops())) {
      where[v] = (*device)[p.component(v)];
    }
    return where;
  }
};

} // namespace weft::solve::detail
