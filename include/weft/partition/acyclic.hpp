// SPDX-License-Identifier: BSL-1.0
/// Acyclic partitions of graphs: parts of about the same weight, such that what passes between them only flows from
/// lower to higher parts, and little does.
#pragma once

#include "weft/core/parallel.hpp"
#include "weft/partition/multilevel/search.hpp"
#include "weft/partition/multilevel/volume.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::partition {

/// The quantity that an acyclic partition minimises.
enum class cut {
  edges,  ///< edges between parts
  volume, ///< per tensor, other parts that take it; of a graph without tensors, what an op puts out is one
};

/// Requirements on an acyclic partition, and the effort to spend on it.
struct acyclic_options {
  std::uint32_t parts = 2;
  double imbalance = 0.03;    ///< a part may weigh this much more than the mean, as a share of it
  cut minimise = cut::edges;
  std::uint32_t effort = 0;   ///< how many further searches are made; the best one counts
  std::uint64_t seed = 1;     ///< of the random orders
  unsigned threads = 1;       ///< for further searches; does not change the result
};

/// An acyclic partition, and what it costs.
struct acyclic_partition {
  std::vector<std::uint32_t> part; ///< per op; no edge leads from a higher part to a lower one
  std::vector<double> weight;      ///< per part, of its ops
  double cut = 0;                  ///< the weight of the edges between parts
  double volume = 0;               ///< per tensor and other part that takes it, its heaviest edge to there
  double imbalance = 0;            ///< the heaviest part over the mean, less 1
};

/// Weights and costs of any partition of g into so many parts. O(n + m).
template <must_be::walkable G, class OpWeight = multilevel::unit_weight, class EdgeWeight = multilevel::unit_weight>
acyclic_partition measured(const G& g, std::vector<std::uint32_t> part, std::uint32_t parts, OpWeight op_weight = {},
                           EdgeWeight edge_weight = {}) {
  acyclic_partition result;
  result.weight.assign(parts, 0);
  std::vector<double> sent(parts, 0); // of one tensor, to each part
  std::vector<std::uint32_t> takers;
  const auto count_tensor = [&] {
    for (const std::uint32_t p : takers) {
      result.volume += std::exchange(sent[p], 0);
    }
    takers.clear();
  };
  double total = 0;
  for (const op_id v : ids(num_ops(g))) {
    const auto w = static_cast<double>(op_weight(v));
    result.weight[part[v]] += w;
    total += w;
    tensor_id last = none;
    graph::for_each_successor(g, v, [&](op_id c, const auto& e) {
      if constexpr (graph::has_tensors<G>) {
        if (std::exchange(last, e.tensor) != e.tensor) {
          count_tensor();
        }
      }
      if (part[c] != part[v]) {
        const auto bytes = static_cast<double>(edge_weight(e));
        result.cut += bytes;
        if (std::find(takers.begin(), takers.end(), part[c]) == takers.end()) {
          takers.push_back(part[c]);
        }
        sent[part[c]] = std::max(sent[part[c]], bytes);
      }
    });
    count_tensor();
  }
  result.imbalance = total > 0 ? *std::max_element(result.weight.begin(), result.weight.end()) * parts / total - 1 : 0;
  result.part = std::move(part);
  return result;
}

namespace detail {

/// The searches for one graph.
class acyclic_search {
public:
  acyclic_search(const multilevel::weighted_dag& g, const acyclic_options& o)
      : g_{g}, o_{o}, mean_{g.total_weight() / o.parts}, most_{mean_ * (1 + o.imbalance) * (1 + 1e-12)} {
    double heaviest = 0;
    for (op_id v = 0; v < g.size(); ++v) {
      heaviest = std::max(heaviest, g.weight_of(v));
    }
    always_possible_ = std::max(most_, (mean_ + heaviest - heaviest / o.parts) * (1 + 1e-12));
    if (o.minimise == cut::volume) {
      shared_ = multilevel::with_shared_outputs(g);
    }
  }

  /// The best of all searches: the one whose heaviest part is nearest to its limit if none keeps it, else that of the
  /// least cost, else the first one.
  std::vector<std::uint32_t> operator()() const {
    std::vector<candidate> found(std::size_t{o_.effort} + 1);
    for_each_on_threads(o_.effort + 1, o_.threads, [&](unsigned i) { found[i] = search(i); });
    return std::move(std::min_element(found.begin(), found.end(), [](const candidate& a, const candidate& b) {
                       return a.excess < b.excess || (a.excess == b.excess && a.cost < b.cost);
                     })->part);
  }

private:
  struct candidate {
    std::vector<std::uint32_t> part;
    double excess = 0; // of the heaviest part over what was asked for
    double cost = 0;
  };

  /// The first search is the quick one. The others differ in how they cut, from what, and how fast they coarsen, and go
  /// on until they gain nothing.
  candidate search(unsigned i) const {
    static constexpr std::array growths{3.0, 2.0, 4.0, 6.0};
    rng random{rng::mix(o_.seed + i)};
    const multilevel::weighted_dag& g = o_.minimise == cut::volume && i % 4 >= 2 ? shared_ : g_;
    const std::vector<double> limits(o_.parts, most_);
    const multilevel::search_options how{
      .growth = growths[i / 4 % growths.size()], .least_gain = i == 0 ? 0.25 : 0.125,
      .within_cut = i % 2 == 0, .cycles = i == 0 ? 0u : 4u};
    multilevel::cut_search cuts{how, random};
    candidate c;
    if (i == 0 || i % 4 == 3) {
      c.part = cuts(g, limits);
    } else {
      c.part = cuts.by_halves(g, limits);
      c.part = cuts.improved(g, std::move(c.part), limits);
    }
    if (o_.minimise == cut::volume) {
      reduce_volume(c.part, limits);
    }
    balance(g, c.part);
    c.excess = std::max(0.0, heaviest_part(c.part) - most_);
    c.cost = o_.effort == 0                ? 0 // there is nothing to compare it with
             : o_.minimise == cut::volume ? multilevel::volume_gains{g_, c.part}.volume()
                                          : multilevel::cut_weight(g_, c.part);
    return c;
  }

  double heaviest_part(std::span<const std::uint32_t> part) const {
    std::vector<double> weight(o_.parts, 0);
    for (op_id v = 0; v < g_.size(); ++v) {
      weight[part[v]] += g_.weight_of(v);
    }
    return *std::max_element(weight.begin(), weight.end());
  }

  void reduce_volume(std::vector<std::uint32_t>& part, std::span<const double> limits) const {
    multilevel::refiner<multilevel::volume_gains>{g_, part, limits}({});
  }

  /// Where a part is too heavy, cuts the parts anew in their order: as asked for if it can be, else as can always be.
  void balance(const multilevel::weighted_dag& g, std::vector<std::uint32_t>& part) const {
    for (const double most : {most_, always_possible_}) {
      if (heaviest_part(part) <= most_) {
        return;
      }
      part = multilevel::cut_by_weight(g, multilevel::order_by(part), o_.parts, most);
      const std::vector<double> limits(o_.parts, most);
      multilevel::refiner<multilevel::edge_gains>{g, part, limits}({});
      if (o_.minimise == cut::volume) {
        reduce_volume(part, limits);
      }
    }
  }

  const multilevel::weighted_dag& g_;
  acyclic_options o_;
  double mean_, most_;
  double always_possible_ = 0;
  multilevel::weighted_dag shared_; // for volumes
};

} // namespace detail

/// Parts of about the same weight of a graph or workload, numbered such that no edge leads to a lower part, and with as
/// little cut as a multilevel search finds. `op_weight(op)` and `edge_weight(edge)`, in any units, are 1 by default.
/// ```
/// const auto cut = partition::acyclic(g, {.parts = 8, .imbalance = 0.03});
/// device_of = cut.part[v];
/// ```
/// No part weighs more than `(1 + imbalance)` times the mean if the ops, in the order that is found, can be cut so;
/// else none weighs more than the mean and the heaviest op. Parts may be empty. Same options, same result, whatever
/// `threads`. Throws `value_error` for 0 parts, an imbalance or weight that is negative or not finite, and 2^32 edges
/// or more; `cycle_error`; `dangling_id_error`. Complexity: O(n + m) for the graph and O((n + m) log parts) for its cut
/// of at most 160,000 vertices; further searches take O((n + m) log parts) each, and as much for each round in which
/// they gain.
/// Memory: 40 to 60 bytes per edge beside the graph for two edges per op (docs/acyclic_partitioning.md); parallel
/// searches take that each. Source: the multilevel scheme of Herrmann, Özkaya, Uçar, Kaya, Çatalyürek, SIAM J. Sci.
/// Comput. 41(4), 2019, with other clusters, cuts, and moves; see partition/multilevel/.
template <must_be::walkable G, class OpWeight = multilevel::unit_weight, class EdgeWeight = multilevel::unit_weight>
acyclic_partition acyclic(const G& g, const acyclic_options& o = {}, OpWeight op_weight = {},
                          EdgeWeight edge_weight = {}) {
  if (o.parts == 0) {
    throw value_error("acyclic_options: parts", "must be at least 1");
  }
  if (!(o.imbalance >= 0 && o.imbalance <= std::numeric_limits<double>::max())) {
    throw value_error("acyclic_options: imbalance", "must be finite and not negative");
  }
  const auto numbered = multilevel::number(g, op_weight, edge_weight);
  auto found = detail::acyclic_search{numbered.dag, o}();
  std::vector<std::uint32_t> part(numbered.op.empty() ? 0 : found.size());
  for (op_id v = 0; v < part.size(); ++v) {
    part[numbered.op[v]] = found[v];
  }
  return measured(g, numbered.op.empty() ? std::move(found) : std::move(part), o.parts, op_weight, edge_weight);
}

} // namespace weft::partition
