// SPDX-License-Identifier: BSL-1.0
/// Moves vertices between the parts of an acyclic partition, so that less is cut, and keeps it acyclic.
///
/// Parts are numbered so that edges lead to the same or a higher part. Then a vertex may go to any part from the
/// highest one of its predecessors to the lowest one of its successors.
#pragma once

#include "weft/core/heap.hpp"
#include "weft/core/rounding.hpp"
#include "weft/partition/multilevel/weighted_dag.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::partition::multilevel {

/// The weight of the edges between parts. O(n + m).
inline double cut_weight(const weighted_dag& g, std::span<const std::uint32_t> part) {
  double sum = 0;
  for (op_id v = 0; v < g.size(); ++v) {
    for (std::uint32_t e = g.out.first[v]; e < g.out.first[v + 1]; ++e) {
      sum += part[g.out.to[e]] != part[v] ? g.out.weight_of(e) : 0.0;
    }
  }
  return sum;
}

/// Numbers for the vertices that are, or were, at a boundary of parts: what is known about them takes no room for
/// others.
class boundary {
public:
  boundary(const weighted_dag& g, std::span<const std::uint32_t> part) : number_(g.size(), none) {
    for (op_id v = 0; v < g.size(); ++v) {
      bool inside = true;
      for (const op_id w : g.out.row(v)) {
        if (part[w] != part[v]) {
          inside = false;
          number(w);
        }
      }
      if (!inside) {
        number(v);
      }
    }
  }

  std::size_t size() const { return vertex_.size(); }
  op_id vertex(std::size_t i) const { return vertex_[i]; }
  bool has(op_id v) const { return number_[v] != none; }
  std::uint32_t operator[](op_id v) const { return number_[v]; }
  std::uint32_t number(op_id v) {
    if (number_[v] == none) {
      number_[v] = static_cast<std::uint32_t>(vertex_.size());
      vertex_.push_back(v);
    }
    return number_[v];
  }

private:
  std::vector<std::uint32_t> number_;
  std::vector<op_id> vertex_;
};

/// Gains of moves in cut edges. Only the parts at the two ends of where a vertex may go have neighbours of it, so four
/// numbers per vertex tell what each of its moves gains: these parts, and the weight of the edges to them.
class edge_gains {
public:
  edge_gains(const weighted_dag& g, std::span<std::uint32_t> part) : g_{g}, part_{part}, at_{g, part} { learn(); }

  const boundary& vertices() const { return at_; }

  /// Calls `visit(part, gain)` for each part that v could go to.
  template <class Visit>
  void for_each_move(op_id v, Visit visit) const {
    const sides& s = sides_[at_[v]];
    if (s.low.part != none && s.low.part != part_[v]) {
      visit(s.low.part, s.low.weight - (s.high.part == part_[v] ? s.high.weight : 0));
    }
    if (s.high.part != none && s.high.part != part_[v]) {
      visit(s.high.part, s.high.weight - (s.low.part == part_[v] ? s.low.weight : 0));
    }
  }

  /// Calls `changed(w)` for each vertex whose moves may gain something else now. Amortised O(degree).
  template <class Changed>
  void move(op_id v, std::uint32_t to, Changed changed) {
    const std::uint32_t from = part_[v];
    part_[v] = to;
    tell<true>(v, from, to, changed);
    tell<false>(v, from, to, changed);
  }

private:
  struct side {
    std::uint32_t part = none; // the nearest one of the neighbours on this side; none without neighbours
    std::uint32_t count = 0;   // of the edges to it
    double weight = 0;         // of them
  };
  struct sides {
    side low, high;
  };

  void learn() {
    for (std::size_t i = sides_.size(); i < at_.size(); ++i) {
      sides_.push_back({scan<false>(at_.vertex(i)), scan<true>(at_.vertex(i))});
    }
  }
  template <bool Up>
  side scan(op_id v) const {
    const rows& r = Up ? g_.out : g_.in;
    side s;
    for (std::uint32_t e = r.first[v]; e < r.first[v + 1]; ++e) {
      add<Up>(s, part_[r.to[e]], r.weight_of(e));
    }
    return s;
  }
  template <bool Up>
  static void add(side& s, std::uint32_t p, double w) {
    if (s.part == none || (Up ? p < s.part : p > s.part)) {
      s = {p, 1, w};
    } else if (p == s.part) {
      ++s.count;
      s.weight += w;
    }
  }

  /// Tells the neighbours above (`Up`), or below.
  template <bool Up, class Changed>
  void tell(op_id v, std::uint32_t from, std::uint32_t to, Changed& changed) {
    const rows& r = Up ? g_.out : g_.in;
    for (std::uint32_t e = r.first[v]; e < r.first[v + 1]; ++e) {
      const op_id n = r.to[e];
      if (!at_.has(n)) {
        at_.number(n); // with several edges to it, it is counted once, when all have their say
      } else if (at_[n] < sides_.size()) {
        sides& s = sides_[at_[n]];
        side& here = Up ? s.low : s.high;
        if (here.part == from) {
          --here.count;
          here.weight -= r.weight_of(e);
        } else if (Up ? to < here.part : to > here.part) {
          continue; // neither was the nearest nor is it now
        }
        if (here.count == 0) {
          here = scan<!Up>(n);
        } else {
          add<!Up>(here, to, r.weight_of(e));
        }
      }
    }
    learn();
    for (std::uint32_t e = r.first[v]; e < r.first[v + 1]; ++e) {
      changed(r.to[e]);
    }
  }

  const weighted_dag& g_;
  std::span<std::uint32_t> part_;
  boundary at_;
  std::vector<sides> sides_; // per number of a vertex at the boundary
};

/// The effort to spend on moves.
struct refinement {
  std::uint32_t passes = 4;   ///< each moves a vertex at most once
  std::size_t patience = 500; ///< a pass ends after so many moves without a new best, and goes back to that
};

/// Passes of Fiduccia and Mattheyses (DAC 1982) over the vertices at boundaries, for any number of parts. `Gains` says
/// what moves gain.
template <class Gains>
class refiner {
public:
  /// `part` is acyclic in the order of its numbers, and is changed. `limit` is the most that each part should weigh; no
  /// move makes a part heavier than that, unless it leaves one that is above its own limit by more.
  refiner(const weighted_dag& g, std::span<std::uint32_t> part, std::span<const double> limit)
      : g_{g}, part_{part}, limit_{limit}, weight_(limit.size(), 0), waiting_(limit.size()), gains_{g, part} {
    for (op_id v = 0; v < g.size(); ++v) {
      weight_[part[v]] += g.weight_of(v);
    }
  }

  /// How much is gained.
  double operator()(const refinement& o) {
    double total = 0;
    for (std::uint32_t i = 0; i < o.passes; ++i) {
      const double gained = pass(o.patience);
      total += gained;
      if (!(gained > 0)) {
        break;
      }
    }
    return total;
  }

private:
  struct entry {
    double gain;
    op_id v;
    std::uint32_t to;
  };
  struct before {
    bool operator()(const entry& a, const entry& b) const {
      return a.gain > b.gain || (a.gain == b.gain && (a.v < b.v || (a.v == b.v && a.to < b.to)));
    }
  };
  using queue = std::vector<entry>;
  struct move {
    op_id v;
    std::uint32_t from;
  };

  static void push(queue& q, const entry& e) {
    q.push_back(e);
    heap_operations<entry, before>{}.push(q.data(), q.size() - 1, e);
  }
  static entry pop(queue& q) {
    const entry e = q.front();
    heap_operations<entry, before>{}.pop(q.data(), q.size());
    q.pop_back();
    return e;
  }

  bool is_locked(op_id v) const {
    const std::uint32_t i = gains_.vertices()[v];
    return i < locked_.size() && locked_[i];
  }
  void offer(op_id v) {
    if (!is_locked(v)) {
      gains_.for_each_move(v, [&](std::uint32_t to, double gain) { push(queue_, {gain, v, to}); });
    }
  }
  /// Whether an entry still tells the truth.
  bool holds(const entry& e) const {
    bool same = false;
    gains_.for_each_move(e.v, [&](std::uint32_t to, double gain) { same = same || (to == e.to && gain == e.gain); });
    return same;
  }
  template <class Changed>
  void apply(op_id v, std::uint32_t to, Changed changed) {
    const double w = g_.weight_of(v);
    weight_[part_[v]] -= w;
    weight_[to] += w;
    gains_.move(v, to, changed);
  }

  double pass(std::size_t patience) {
    queue_.clear();
    locked_.assign(gains_.vertices().size(), 0);
    for (std::size_t i = 0; i < gains_.vertices().size(); ++i) {
      offer(gains_.vertices().vertex(i));
    }
    std::vector<move> moves;
    std::size_t kept = 0;
    double sum = 0, best = 0;
    while (!queue_.empty() && moves.size() - kept < patience) {
      const entry e = pop(queue_);
      if (is_locked(e.v) || !holds(e)) {
        continue;
      }
      const std::uint32_t from = part_[e.v];
      const double excess = weight_[e.to] + g_.weight_of(e.v) - limit_[e.to];
      if (excess > 0 && excess >= weight_[from] - limit_[from]) {
        push(waiting_[e.to], e);
        continue;
      }
      locked_.resize(gains_.vertices().size(), 0);
      locked_[gains_.vertices()[e.v]] = 1;
      moves.push_back({e.v, from});
      sum += e.gain;
      apply(e.v, e.to, [&](op_id w) { offer(w); });
      if (!waiting_[from].empty()) { // there is room again
        push(queue_, pop(waiting_[from]));
      }
      if (sum > best + rounded(1e-9 * best)) {
        best = sum;
        kept = moves.size();
      }
    }
    for (; moves.size() > kept; moves.pop_back()) {
      apply(moves.back().v, moves.back().from, [](op_id) {});
    }
    for (queue& q : waiting_) {
      q.clear();
    }
    return best;
  }

  const weighted_dag& g_;
  std::span<std::uint32_t> part_;
  std::span<const double> limit_; // per part
  std::vector<double> weight_;    // per part
  std::vector<queue> waiting_;    // per part, moves for which it has no room
  queue queue_;
  Gains gains_;
  std::vector<std::uint8_t> locked_; // per number of a vertex at the boundary
};

} // namespace weft::partition::multilevel
