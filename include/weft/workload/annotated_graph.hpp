// SPDX-License-Identifier: BSL-1.0
/// Makes a workload of a graph that you already have, without copying it.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/error.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <concepts>
#include <functional>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

namespace detail {
struct graph_must_outlive_the_annotated_graph {};
} // namespace detail

/// A span that no temporary container converts to.
template <class T>
class op_column : public std::span<const T> {
public:
  constexpr op_column() = default;
  template <std::ranges::contiguous_range R>
    requires std::constructible_from<std::span<const T>, const R&>
  constexpr op_column(R&& values) : std::span<const T>{std::as_const(values)} {
    static_assert(
      std::ranges::borrowed_range<R>,
      "weft: the columns of an annotated_graph are not copied, so that a temporary would be gone when they are "
      "read: give it a name, and keep it as long as the annotated_graph");
  }
};

/// Columns for a graph of your own, one entry per op; an empty one means the default. They are not copied.
struct op_columns {
  op_column<double> work;                     ///< work units (FLOP); required
  op_column<byte_count> bytes = {};           ///< size of the op's one output tensor; default 0
  op_column<byte_count> resident_bytes = {};  ///< parameters and state; default 0
  op_column<kind_set> kinds = {};             ///< where the op may run; default everywhere
  op_column<group_id> groups = {};            ///< dense colocation groups, or `none`; default no groups
};

namespace workload_parts {

/// The edges of G can be walked again and again, from begin to an end of the same type.
template <class G>
concept has_repeatable_edges = dataflow_graph<G> && requires(const G& g, op_id v) {
  { weft::out_edges(g, v) } -> std::ranges::forward_range;
  { weft::out_edges(g, v) } -> std::ranges::common_range;
};

} // namespace workload_parts

namespace why_not {
template <class G>
struct has_repeatable_edges : dataflow_graph<G> {
  static_assert(!weft::dataflow_graph<G> || workload_parts::has_repeatable_edges<G>,
                "weft: a workload walks the edges of its graph more than once: out_edges(op_id) must return a forward "
                "range whose begin and end are of the same type");
};
} // namespace why_not

namespace must_be {
template <class G>
concept has_repeatable_edges = workload_parts::has_repeatable_edges<G> || explained<why_not::has_repeatable_edges<G>>;
} // namespace must_be

/// A graph by reference, with columns: each op produces one tensor, which has the op's number, and every successor
/// consumes it. Successors are read from the graph itself. Predecessors are, too, if the graph has `in_edges`; if it
/// has not, an index of them (4 bytes per edge) is made, and nothing else.
/// Models `dataflow_workload`. The graph and the columns must outlive it; temporaries are refused.
template <must_be::has_repeatable_edges G>
class annotated_graph {
public:
  /// Throws `value_error`, `dangling_id_error`, `duplicate_edge_error`, `cycle_error`, `constraint_error`.
  /// Complexity: O(n + m log d).
  constexpr annotated_graph(const G& g, op_columns columns) : graph_{&g}, columns_{columns} {
    check_num_edges();
    (void)graph::topological_order(g);
    check_columns();
    check_edges();
    if constexpr (!bidirectional_dataflow_graph<G>) {
      index_predecessors();
    }
  }

  annotated_graph(const G&&, op_columns, detail::graph_must_outlive_the_annotated_graph = {}) = delete;
  /// Other columns are none: the compiler says so.
  template <class... Other>
  constexpr explicit annotated_graph(const G& g, const Other&...) : graph_{&g} {
    static_assert(sizeof...(Other) == 1 && (... && std::same_as<Other, op_columns>),
                  "weft: an annotated graph is made of a graph and op_columns: annotated_graph{graph, {.work = work}}");
  }

  constexpr std::size_t num_ops() const { return weft::num_ops(*graph_); }
  constexpr std::size_t num_tensors() const { return num_ops(); }
  constexpr std::size_t num_groups() const { return num_groups_; }

  constexpr auto outputs(op_id v) const { return id_range{v, v + 1}; }
  constexpr op_id producer(tensor_id t) const { return t; }
  constexpr auto consumers(tensor_id t) const {
    return end_points(weft::out_edges(*graph_, t), target_of{graph_});
  }
  constexpr auto inputs(op_id v) const {
    if constexpr (bidirectional_dataflow_graph<G>) {
      return end_points(weft::in_edges(*graph_, v), source_of{graph_});
    } else {
      return std::span{predecessors_}.subspan(first_[v], first_[v + 1] - first_[v]);
    }
  }

  constexpr double work(op_id v) const { return columns_.work[v]; }
  constexpr byte_count bytes(tensor_id t) const { return at(columns_.bytes, t, byte_count{0}); }
  constexpr byte_count resident_bytes(op_id v) const { return at(columns_.resident_bytes, v, byte_count{0}); }
  constexpr kind_set kinds(op_id v) const { return at(columns_.kinds, v, kind_set::all()); }
  constexpr group_id group(op_id v) const { return at(columns_.groups, v, group_id{none}); }

  constexpr const G& graph() const { return *graph_; }
  constexpr decltype(auto) out_edges(op_id v) const { return weft::out_edges(*graph_, v); }
  constexpr decltype(auto) in_edges(op_id v) const
    requires bidirectional_dataflow_graph<G>
  { return weft::in_edges(*graph_, v); }
  constexpr op_id source(const auto& e) const
    requires bidirectional_dataflow_graph<G>
  { return weft::source(*graph_, e); }
  constexpr op_id target(const auto& e) const { return weft::target(*graph_, e); }

private:
  struct source_of {
    const G* graph = nullptr;
    constexpr op_id operator()(const auto& e) const { return weft::source(*graph, e); }
  };
  struct target_of {
    const G* graph = nullptr;
    constexpr op_id operator()(const auto& e) const { return weft::target(*graph, e); }
  };

  /// The ids at the other ends of some edges. Its iterators live as long as those of the edges.
  template <class Edges, class End>
  class id_view {
    using edge_iterator = std::ranges::iterator_t<const Edges>;

  public:
    class iterator {
    public:
      using value_type = op_id;
      using difference_type = std::ptrdiff_t;
      constexpr iterator() = default;
      constexpr iterator(edge_iterator at, End end) : at_{at}, end_{end} {}
      constexpr op_id operator*() const { return end_(*at_); }
      constexpr iterator& operator++() { return ++at_, *this; }
      constexpr iterator operator++(int) {
        auto old = *this;
        return ++at_, old;
      }
      friend constexpr bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

    private:
      edge_iterator at_{};
      End end_{};
    };

    constexpr id_view(Edges edges, End end) : edges_{std::move(edges)}, end_{end} {}
    constexpr iterator begin() const { return {std::ranges::begin(edges_), end_}; }
    constexpr iterator end() const { return {std::ranges::end(edges_), end_}; }
    constexpr std::size_t size() const { return static_cast<std::size_t>(std::ranges::distance(begin(), end())); }

  private:
    Edges edges_;
    End end_;
  };

  template <class Edges, class End>
  static constexpr auto end_points(Edges edges, End end) {
    return id_view<Edges, End>{std::move(edges), end};
  }

  template <class T>
  static constexpr T at(std::span<const T> column, std::size_t i, T fallback) {
    return column.empty() ? fallback : column[i];
  }

  constexpr void check_num_edges() const {
    std::size_t edges = 0;
    for (const op_id v : ids(num_ops())) {
      edges += static_cast<std::size_t>(std::ranges::distance(weft::out_edges(*graph_, v)));
    }
    (void)checked_count(edges, "graph", "edges");
  }

  constexpr void check_columns() {
    const auto n = num_ops();
    const auto check_size = [n](const char* column, std::size_t size, bool required) {
      if (size != n && (required || size != 0)) {
        throw value_error(std::string{"column '"} + column + "'", "has " + std::to_string(size) +
                                                                    " entries for a graph of " + std::to_string(n) +
                                                                    " ops");
      }
    };
    check_size("work", columns_.work.size(), true);
    check_size("bytes", columns_.bytes.size(), false);
    check_size("resident_bytes", columns_.resident_bytes.size(), false);
    check_size("kinds", columns_.kinds.size(), false);
    check_size("groups", columns_.groups.size(), false);
    for (const op_id v : ids(n)) {
      if (!(work(v) >= 0 && work(v) <= std::numeric_limits<double>::max())) {
        throw value_error("op " + std::to_string(v) + ": work", "must be finite and not negative");
      }
      if (group(v) != none) {
        num_groups_ = std::max<std::size_t>(num_groups_, std::size_t{group(v)} + 1);
      }
    }
    if (num_groups_ > n) {
      throw value_error("column 'groups'", "number the groups 0, 1, 2, … without gaps, and use `none` for no group");
    }
    buffer<kind_set> allowed(num_groups_, kind_set::all());
    for (const op_id v : ids(n)) {
      const kind_set left = group(v) == none ? kinds(v) : allowed[group(v)] = allowed[group(v)] & kinds(v);
      if (left.empty()) {
        throw constraint_error({v}, "op " + std::to_string(v) + ": no device kind is left that it and its group allow");
      }
    }
  }

  constexpr void check_edges() const {
    std::vector<op_id> seen_by(num_ops(), none);
    for (const op_id v : ids(num_ops())) {
      for (const op_id c : consumers(v)) {
        if (seen_by[c] == v) {
          throw duplicate_edge_error(v, c, std::to_string(v) + " -> " + std::to_string(c));
        }
        seen_by[c] = v;
      }
    }
  }

  constexpr void index_predecessors() {
    const auto n = num_ops();
    first_.assign(n + 1, 0);
    for (const op_id v : ids(n)) {
      for (const op_id c : consumers(v)) {
        ++first_[c + 1];
      }
    }
    for (std::size_t v = 0; v < n; ++v) {
      first_[v + 1] += first_[v];
    }
    predecessors_.assign(first_[n], 0);
    auto next = first_;
    for (const op_id v : ids(n)) {
      for (const op_id c : consumers(v)) {
        predecessors_[next[c]++] = v;
      }
    }
  }

  const G* graph_;
  op_columns columns_;
  std::size_t num_groups_ = 0;
  std::vector<std::uint32_t> first_;    // only for graphs without in_edges
  std::vector<op_id> predecessors_;
};

} // namespace weft
