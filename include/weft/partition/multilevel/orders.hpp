// SPDX-License-Identifier: BSL-1.0
/// Topological orders by different notions of locality, and the best way to cut an order into pieces.
#pragma once

#include "weft/core/heap.hpp"
#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/partition/multilevel/coarsen.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::partition::multilevel {

/// Vertices by their number, such as a level; of the same, by id. O(n).
inline std::vector<op_id> order_by(std::span<const std::uint32_t> number) {
  clusters c;
  c.of.assign(number.begin(), number.end());
  for (const std::uint32_t x : number) {
    c.count = std::max<std::size_t>(c.count, std::size_t{x} + 1);
  }
  return cluster_members{c}.vertex;
}

/// Each vertex right after what it still needs (`Inward`), or, from the last on backwards, right before what still
/// needs it. O(n + m).
template <bool Inward>
std::vector<op_id> depth_first_order(const weighted_dag& g) {
  const auto n = static_cast<op_id>(g.size());
  const rows& needs = Inward ? g.in : g.out;
  std::vector<std::uint32_t> next(n, none); // the edge to walk next; `none` if not seen
  std::vector<op_id> order, path;
  order.reserve(n);
  for (op_id i = 0; i < n; ++i) {
    const op_id start = Inward ? i : n - 1 - i;
    if (next[start] != none || (Inward ? g.out : g.in).degree(start) != 0) {
      continue; // met on the way from where it is needed
    }
    path.push_back(start);
    next[start] = needs.first[start];
    while (!path.empty()) {
      const op_id v = path.back();
      if (next[v] == needs.first[v + 1]) {
        order.push_back(v);
        path.pop_back();
      } else if (const op_id u = needs.to[next[v]++]; next[u] == none) {
        next[u] = needs.first[u];
        path.push_back(u);
      }
    }
  }
  if (!Inward) {
    std::reverse(order.begin(), order.end());
  }
  return order;
}

/// Greedy growing: of the vertices that may come next, the one that adds least to the weight of the edges that leave
/// what there is; of equal ones by random numbers. From the first on (`Forward`), or from the last on backwards. O((n +
/// m) log n).
template <bool Forward>
std::vector<op_id> growing_order(const weighted_dag& g, rng& random) {
  const auto n = static_cast<op_id>(g.size());
  const rows& on = Forward ? g.out : g.in;
  const rows& back = Forward ? g.in : g.out;
  std::vector<std::uint32_t> missing(n);
  std::vector<op_id> order;
  order.reserve(n);
  struct entry {
    double added;
    std::uint32_t tie;
    op_id v;
  };
  struct before {
    bool operator()(const entry& a, const entry& b) const {
      return a.added < b.added || (a.added == b.added && (a.tie < b.tie || (a.tie == b.tie && a.v < b.v)));
    }
  };
  const heap_operations<entry, before> heap;
  std::vector<entry> ready(n);
  std::size_t count = 0;
  const auto make_ready = [&](op_id v) {
    const double added = on.row_weight(v) - back.row_weight(v);
    heap.push(ready.data(), count++, {added, static_cast<std::uint32_t>(random() >> 32), v});
  };
  for (op_id v = 0; v < n; ++v) {
    if ((missing[v] = back.degree(v)) == 0) {
      make_ready(v);
    }
  }
  while (count > 0) {
    const op_id v = ready[0].v;
    heap.pop(ready.data(), count--);
    order.push_back(v);
    for (const op_id w : on.row(v)) {
      if (--missing[w] == 0) {
        make_ready(w);
      }
    }
  }
  if (!Forward) {
    std::reverse(order.begin(), order.end());
  }
  return order;
}

/// The order cut into one piece per limit, where the edges that pass weigh least, among the places that keep all pieces
/// to their limits: an end may be off its proportional place by the room that a limit leaves, or half of it if pieces
/// have two such ends. Where no op ends there, the nearest end of an op. O(n), and O(m) if edges have weights.
inline std::vector<std::uint32_t> cut_at_narrow_places(const weighted_dag& g, std::span<const op_id> order,
                                                       std::span<const double> limit) {
  double limits = 0;
  for (const double l : limit) {
    limits += l;
  }
  const double share = limits > 0 ? g.total_weight() / limits : 1; // of its limit, what a piece takes if all take alike
  const double ends = limit.size() > 2 ? 2 : 1;                    // of a piece, that may be elsewhere
  struct place {
    std::size_t at = 0; // in the order
    double weight = 0;  // of what is before it
    double passing = 0; // weight of the edges that lead over it
  };
  std::vector<std::uint32_t> part(g.size());
  place end;
  double middle = 0;
  for (std::uint32_t p = 0; p + 1 < limit.size(); ++p) {
    middle += rounded(limit[p] * share);
    const double room = std::min(limit[p], limit[p + 1]) * (1 - share) / ends;
    place best = end, here = end;
    double best_off = std::numeric_limits<double>::infinity();
    for (;;) {
      const double off = std::max(here.weight - middle, middle - here.weight);
      const bool closer = off < best_off;
      const bool narrower = here.passing < best.passing || (here.passing == best.passing && closer);
      if (off > room ? closer : best_off > room || narrower) {
        best = here;
        best_off = off;
      }
      if (here.at == order.size() || here.weight > middle + room) {
        break;
      }
      const op_id v = order[here.at++];
      here.weight += g.weight_of(v);
      here.passing += g.out.row_weight(v) - g.in.row_weight(v);
    }
    for (std::size_t i = end.at; i < best.at; ++i) {
      part[order[i]] = p;
    }
    end = best;
  }
  for (std::size_t i = end.at; i < order.size(); ++i) {
    part[order[i]] = static_cast<std::uint32_t>(limit.size() - 1);
  }
  return part;
}

/// The order cut so that no piece weighs more than `W / k + (1 - 1 / k) w` for k pieces, the total weight W and that of
/// the heaviest vertex w, or `most` if that is more. That is always possible (Pinar, Aykanat 2004, §2). O(n).
inline std::vector<std::uint32_t> cut_by_weight(const weighted_dag& g, std::span<const op_id> order,
                                                std::uint32_t parts, double most) {
  std::vector<std::uint32_t> part(g.size());
  std::uint32_t p = 0;
  double weight = 0;
  for (const op_id v : order) {
    const double w = g.weight_of(v);
    if (weight + w > most && weight > 0 && p + 1 < parts) {
      ++p;
      weight = 0;
    }
    part[v] = p;
    weight += w;
  }
  return part;
}

} // namespace weft::partition::multilevel
