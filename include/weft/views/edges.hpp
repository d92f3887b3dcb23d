// SPDX-License-Identifier: BSL-1.0
/// The edges of a graph or workload as one range.
#pragma once

#include "weft/graph/concepts.hpp"
#include "weft/views/view.hpp"
#include "weft/workload/concepts.hpp"

#include <cstddef>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

namespace weft::views {

namespace detail {

/// The edges of a graph, op by op.
template <class G>
struct edge_rows {
  static std::size_t count(const G& g) { return weft::num_ops(g); }
  static decltype(auto) row(const G& g, std::size_t v) { return weft::out_edges(g, static_cast<op_id>(v)); }
  template <class Edge>
  static edge_of<G> edge(const G&, std::size_t, const Edge& e) { return e; }
};

/// The edges of a workload, tensor by tensor.
template <dataflow_workload W>
struct edge_rows<W> {
  static std::size_t count(const W& w) { return static_cast<std::size_t>(w.num_tensors()); }
  static decltype(auto) row(const W& w, std::size_t t) { return w.consumers(static_cast<tensor_id>(t)); }
  template <class Op>
  static flow_edge edge(const W& w, std::size_t t, const Op& consumer) {
    return {w.producer(static_cast<tensor_id>(t)), to_id(consumer), static_cast<tensor_id>(t)};
  }
};

} // namespace detail

/// See `edges`.
template <class G>
class edges_view : public view<edges_view<G>> {
  using rows = detail::edge_rows<G>;
  using row_type = decltype(rows::row(std::declval<const G&>(), 0));
  using row_value = std::remove_cvref_t<row_type>;
  /// Whether iterators end with the row: a container that was made for the call.
  static constexpr bool owns = !std::is_lvalue_reference_v<row_type> && !std::ranges::borrowed_range<row_type> &&
                               !std::is_trivially_copyable_v<row_value>;
  using listed = std::conditional_t<owns, const row_value&, row_type>;

public:
  edges_view() = default;
  explicit edges_view(const G& g) : graph_{&g} {}

  std::size_t size() const
    requires requires(const G& g) { static_cast<std::size_t>(g.num_edges()); }
  {
    return static_cast<std::size_t>(graph_->num_edges());
  }

private:
  friend ranges::range_access;
  class cursor {
  public:
    cursor() = default;
    cursor(const G& g, std::size_t row) : graph_{&g}, row_{row}, count_{rows::count(g)} {
      if (row_ < count_) {
        enter();
        skip_empty();
      }
    }
    auto read() const { return rows::edge(*graph_, row_, *at_); }
    void next() {
      ++at_;
      ++index_;
      skip_empty();
    }
    bool equal(const cursor& other) const { return row_ == other.row_ && index_ == other.index_; }

  private:
    void enter() {
      index_ = 0;
      if constexpr (owns) {
        kept_ = std::make_shared<const row_value>(rows::row(*graph_, row_));
        at_ = std::ranges::begin(*kept_);
        end_ = std::ranges::end(*kept_);
      } else {
        auto&& row = rows::row(*graph_, row_);
        at_ = std::ranges::begin(row);
        end_ = std::ranges::end(row);
      }
    }
    void skip_empty() {
      while (at_ == end_) {
        if (++row_ == count_) {
          index_ = 0;
          return;
        }
        enter();
      }
    }
    const G* graph_ = nullptr;
    std::size_t row_ = 0;
    std::size_t count_ = 0;
    std::size_t index_ = 0; // in the row
    std::ranges::iterator_t<listed> at_ = {};
    std::ranges::sentinel_t<listed> end_ = {};
    std::shared_ptr<const row_value> kept_ = {}; // by copies of the cursor, too
  };
  cursor begin_cursor() const { return {*graph_, 0}; }
  cursor end_cursor() const { return {*graph_, rows::count(*graph_)}; }

  const G* graph_ = nullptr;
};

/// All edges of a graph, op by op as `out_edges` lists them; of a workload a `flow_edge` for each consumer of each
/// tensor, tensor by tensor. Forward; sized where the graph knows `num_edges()`.
///
/// Of a graph that knows no sources of edges, such as one that lists targets, the edges are what it lists. The graph
/// outlives the view. Complexity: O(n + m) for the whole range, and an allocation per op where `out_edges` makes a
/// container.
template <class G>
  requires(dataflow_workload<G> || must_be::dataflow_graph<G>)
edges_view<G> edges(const G& g) {
  return edges_view<G>{g};
}
template <class G>
edges_view<G> edges(const G&& g) = delete; // would be read after its end

} // namespace weft::views
