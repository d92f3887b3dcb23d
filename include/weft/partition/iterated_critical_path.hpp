// SPDX-License-Identifier: BSL-1.0
/// Path after path, each on a device of its own.
#pragma once

#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace weft::partition {

/// ICP: repeatedly takes the path with the most work among the edges that no earlier path used. The path is cut at
/// placed ops, and where no device kind suits both sides. Each piece, with the components of its ops, goes to the
/// fitting device with the least compute time including the piece (ties: the smaller id). A piece that fits nowhere as
/// a whole is cut in two of about equal demand. Ends when every op is placed.
/// Departs: the published code compares loads without the piece, which makes slow idle devices attractive, and in
/// integers.
/// Source: [CP] §3. Complexity: O(paths · (n + m)), with at most m + n paths. Uses no randomness.
/// Choose it for graphs with few long paths and expensive transfers. Not for large ones: it is quadratic.
struct iterated_critical_path {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p, rng&, workspace& scratch) const {
    assignment a{p};
    longest_paths paths{p, scratch};
    std::vector<component_id> piece;
    for (std::size_t placed = 0; placed < p.num_ops();) {
      kind_set kinds = kind_set::all();
      const auto flush = [&]() -> component_id {
        for (const component_id c : piece) {
          placed += p.members(c).size();
        }
        const component_id failed = place_piece(p, a, piece);
        piece.clear();
        kinds = kind_set::all();
        return failed;
      };
      component_id failed = none;
      for (const op_id v : paths.take(a)) {
        const component_id c = p.component(v);
        if (a.is_placed(c) || (kinds & p.kinds(c)).empty()) {
          failed = std::min(failed, flush());
        }
        if (!a.is_placed(c) && std::find(piece.begin(), piece.end(), c) == piece.end()) {
          piece.push_back(c);
          kinds = kinds & p.kinds(c);
        }
      }
      failed = std::min(failed, flush());
      if (failed != none) {
        return a.why_unplaced(failed);
      }
    }
    return std::move(a).take();
  }

private:
  /// Places the components together, or in halves where they do not fit together. Returns one that fits nowhere.
  template <class Problem>
  static constexpr component_id place_piece(const Problem& p, assignment<Problem>& a,
                                            std::span<const component_id> piece) {
    if (piece.empty()) {
      return none;
    }
    kind_set kinds = kind_set::all();
    byte_count demand = 0;
    for (const component_id c : piece) {
      kinds = kinds & p.kinds(c);
      demand += p.demand(c);
    }
    device_id best = none;
    double best_time = 0;
    for (const device_id d : ids(p.num_devices())) {
      if (!kinds.contains(p.platform().kind(d)) || a.free(d) < demand) {
        continue;
      }
      double time = 0;
      for (const component_id c : piece) {
        time += p.component_time(c, d);
      }
      if (best == none || a.load(d) + time < a.load(best) + best_time) {
        best = d;
        best_time = time;
      }
    }
    if (best != none) {
      for (const component_id c : piece) {
        a.place(c, best);
      }
      return none;
    }
    if (piece.size() == 1) {
      return piece.front();
    }
    std::size_t cut = 0;
    for (byte_count half = 0; cut + 1 < piece.size() && (cut == 0 || half < demand / 2); ++cut) {
      half += p.demand(piece[cut]);
    }
    const component_id first = place_piece(p, a, piece.first(cut));
    return first != none ? first : place_piece(p, a, piece.subspan(cut));
  }

  /// The paths, longest first, over edges that are used up one by one.
  template <class Problem>
  class longest_paths {
  public:
    constexpr longest_paths(const Problem& p, workspace& scratch)
        : p_{&p}, used_{scratch.take<std::uint8_t>(p.num_edges())},
          first_input_{scratch.take<std::uint32_t>(p.num_ops())}, out_left_{scratch.take<std::uint32_t>(p.num_ops())},
          up_{scratch.take<double>(p.num_ops())}, back_{scratch.take<std::uint32_t>(p.num_ops())} {
      std::uint32_t next = 0;
      for (const op_id v : ids(p.num_ops())) {
        first_input_[v] = next;
        next += static_cast<std::uint32_t>(std::ranges::size(p.workload().inputs(v)));
        out_left_[v] = static_cast<std::uint32_t>(graph::out_degree(p.workload(), v));
      }
    }

    /// The ops of the next path, from its end to its start. Precondition: some op is not placed.
    constexpr std::span<const op_id> take(const assignment<Problem>& a) {
      const auto& w = p_->workload();
      op_id end = none;
      double longest = -1;
      for (const op_id v : p_->topological_order()) {
        up_[v] = 0;
        back_[v] = none;
        std::uint32_t edge = first_input_[v];
        for (const tensor_id t : w.inputs(v)) {
          const op_id u = w.producer(t);
          if (!used_[edge] && (back_[v] == none || up_[u] + w.work(u) > up_[v])) {
            up_[v] = up_[u] + w.work(u);
            back_[v] = edge;
          }
          ++edge;
        }
        const bool is_end = out_left_[v] == 0 && (back_[v] != none || a.device(v) == none);
        if (is_end && up_[v] + w.work(v) > longest) {
          longest = up_[v] + w.work(v);
          end = v;
        }
      }
      path_.assign(1, end);
      while (back_[path_.back()] != none) {
        const op_id v = path_.back();
        used_[back_[v]] = 1;
        op_id u = none;
        std::uint32_t edge = first_input_[v];
        for (const tensor_id t : w.inputs(v)) {
          if (edge++ == back_[v]) {
            u = w.producer(t);
          }
        }
        --out_left_[u];
        path_.push_back(u);
      }
      return path_;
    }

  private:
    const Problem* p_;
    workspace::scratch<std::uint8_t> used_;         // per edge, numbered by consumer
    workspace::scratch<std::uint32_t> first_input_; // per op: its first edge
    workspace::scratch<std::uint32_t> out_left_;    // per op: outgoing edges that are not used yet
    workspace::scratch<double> up_;                 // per op: work on the longest path to it
    workspace::scratch<std::uint32_t> back_;        // per op: the edge by which that path comes
    std::vector<op_id> path_;
  };
};

} // namespace weft::partition
