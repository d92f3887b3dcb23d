// SPDX-License-Identifier: BSL-1.0
/// Communication volume: the output of each vertex counts once for every other part that receives it.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/partition/multilevel/refine.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::partition::multilevel {

/// Per vertex, the weight of what it puts out: of its heaviest edge. O(n + m).
inline std::vector<double> output_weights(const weighted_dag& g) {
  std::vector<double> weight(g.size(), 0);
  for (op_id v = 0; v < g.size(); ++v) {
    for (std::uint32_t e = g.out.first[v]; e < g.out.first[v + 1]; ++e) {
      weight[v] = std::max(weight[v], g.out.weight_of(e));
    }
  }
  return weight;
}

/// The graph whose edges share the weight of what their vertex puts out: cut all, and the volume of one part is
/// counted. O(n + m).
inline weighted_dag with_shared_outputs(const weighted_dag& g) {
  const auto output = output_weights(g);
  weighted_dag s = g;
  s.out.weight.resize(g.num_edges());
  for (op_id v = 0; v < g.size(); ++v) {
    for (std::uint32_t e = g.out.first[v]; e < g.out.first[v + 1]; ++e) {
      s.out.weight[e] = output[v] / g.out.degree(v);
    }
  }
  s.in = s.out.reversed();
  return s;
}

/// Gains of moves in communication volume, for `refiner`. Memory: 8 bytes per edge.
class volume_gains {
public:
  volume_gains(const weighted_dag& g, std::span<std::uint32_t> part)
      : g_{g}, part_{part}, at_{g, part}, output_{output_weights(g)}, used_(g.size(), 0), takers_(g.num_edges()) {
    for (op_id v = 0; v < g.size(); ++v) {
      for (const op_id w : g.out.row(v)) {
        add(v, part[w]);
      }
    }
  }

  const boundary& vertices() const { return at_; }

  /// The volume. O(n + cut).
  double volume() const {
    double sum = 0;
    for (op_id v = 0; v < g_.size(); ++v) {
      sum += rounded(output_[v] * static_cast<double>(used_[v] - (takes(v, part_[v]) > 0)));
    }
    return sum;
  }

  /// Calls `visit(part, gain)` for each part that v could go to next to it, and at the ends of where it could go.
  template <class Visit>
  void for_each_move(op_id v, Visit visit) const {
    const std::uint32_t here = part_[v];
    std::uint32_t low = none, high = none;
    for (const op_id u : g_.in.row(v)) {
      low = low == none ? part_[u] : std::max(low, part_[u]);
    }
    for (const op_id w : g_.out.row(v)) {
      high = std::min(high, part_[w]);
    }
    low = low == none ? here : low;
    high = high == none ? here : high;
    const std::array<std::uint32_t, 4> to{low, low + 1 < here ? here - 1 : low, //
                                          high, high > here + 1 ? here + 1 : high};
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (to[i] != here && (i % 2 == 0 || to[i] != to[i - 1])) {
        visit(to[i], gain(v, to[i]));
      }
    }
  }

  /// Calls `changed(w)` for the neighbours, and for the other takers of what reached its first or last but one taker in
  /// a part, unless it has more than 64. O(degree · parts that take something) without those.
  template <class Changed>
  void move(op_id v, std::uint32_t to, Changed changed) {
    const std::uint32_t from = part_[v];
    part_[v] = to;
    const auto tell = [&](op_id w) {
      at_.number(w);
      changed(w);
    };
    for (const op_id u : g_.in.row(v)) {
      remove(u, from);
      add(u, to);
      tell(u);
    }
    for (const op_id u : g_.in.row(v)) {
      if (g_.out.degree(u) <= 64 && (takes(u, from) <= 1 || takes(u, to) <= 2)) {
        for (const op_id w : g_.out.row(u)) {
          if (w != v && at_.has(w)) {
            changed(w);
          }
        }
      }
    }
    for (const op_id w : g_.out.row(v)) {
      tell(w);
    }
  }

private:
  struct taker {
    std::uint32_t part, edges;
  };

  taker* find(op_id u, std::uint32_t p) {
    taker* const first = takers_.data() + g_.out.first[u];
    return std::find_if(first, first + used_[u], [&](const taker& t) { return t.part == p; });
  }
  std::uint32_t takes(op_id u, std::uint32_t p) const {
    const taker* const first = takers_.data() + g_.out.first[u];
    const taker* const last = first + used_[u];
    const taker* const t = std::find_if(first, last, [&](const taker& x) { return x.part == p; });
    return t == last ? 0 : t->edges;
  }
  void add(op_id u, std::uint32_t p) {
    taker* const t = find(u, p);
    if (t == takers_.data() + g_.out.first[u] + used_[u]) {
      ++used_[u];
      *t = {p, 0};
    }
    ++t->edges;
  }
  void remove(op_id u, std::uint32_t p) {
    taker* const t = find(u, p);
    if (--t->edges == 0) {
      *t = takers_[g_.out.first[u] + --used_[u]];
    }
  }

  double gain(op_id v, std::uint32_t to) const {
    const std::uint32_t from = part_[v];
    double sum = output_[v] * (static_cast<double>(takes(v, to) > 0) - static_cast<double>(takes(v, from) > 0));
    for (const op_id u : g_.in.row(v)) {
      sum += from != part_[u] && takes(u, from) == 1 ? output_[u] : 0.0;
      sum -= to != part_[u] && takes(u, to) == 0 ? output_[u] : 0.0;
    }
    return sum;
  }

  const weighted_dag& g_;
  std::span<std::uint32_t> part_;
  boundary at_;
  std::vector<double> output_;      // per vertex
  std::vector<std::uint32_t> used_; // per vertex, how many parts take what it puts out
  std::vector<taker> takers_;       // these, from the vertex's first edge on
};

} // namespace weft::partition::multilevel
