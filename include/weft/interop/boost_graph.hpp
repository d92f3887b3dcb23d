// SPDX-License-Identifier: BSL-1.0
/// Makes a Boost.Graph `adjacency_list` a dataflow graph as it is, without a copy.
#pragma once

#include "weft/graph/concepts.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/graph/adjacency_list.hpp>

namespace weft {
namespace interop {

/// A pair of Boost's iterators as a range. Its iterators are those that C++20 ranges ask for, whatever Boost's own are.
template <class Iterator>
class boost_range {
public:
  class iterator {
  public:
    using value_type = std::remove_cvref_t<decltype(*std::declval<const Iterator&>())>;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(Iterator at) : at_{at} {}
    value_type operator*() const { return *at_; }
    iterator& operator++() { return ++at_, *this; }
    iterator operator++(int) {
      auto old = *this;
      return ++at_, old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

  private:
    Iterator at_{};
  };

  explicit boost_range(std::pair<Iterator, Iterator> range) : first_{range.first}, last_{range.second} {}
  iterator begin() const { return iterator{first_}; }
  iterator end() const { return iterator{last_}; }

private:
  Iterator first_;
  Iterator last_;
};

} // namespace interop

/// Vertices must be stored in a `vecS`, so that they have dense ids; the graph must be `directedS` (a `dataflow_graph`)
/// or `bidirectionalS` (a `bidirectional_dataflow_graph`). Properties are not looked at; hand columns to
/// `annotated_graph` (workload/annotated_graph.hpp). Edges must not change while the library works on the graph.
template <class OutEdges, class Direction, class VertexProperty, class EdgeProperty, class GraphProperty,
          class EdgeList>
  requires(!std::same_as<Direction, boost::undirectedS>)
struct graph_access<
  boost::adjacency_list<OutEdges, boost::vecS, Direction, VertexProperty, EdgeProperty, GraphProperty, EdgeList>> {
  using graph =
    boost::adjacency_list<OutEdges, boost::vecS, Direction, VertexProperty, EdgeProperty, GraphProperty, EdgeList>;
  using edge = typename boost::graph_traits<graph>::edge_descriptor;

  static std::size_t num_ops(const graph& g) { return boost::num_vertices(g); }
  static auto out_edges(const graph& g, op_id v) { return interop::boost_range{boost::out_edges(v, g)}; }
  static auto in_edges(const graph& g, op_id v)
    requires std::same_as<Direction, boost::bidirectionalS>
  {
    return interop::boost_range{boost::in_edges(v, g)};
  }
  static op_id source(const graph& g, const edge& e) { return static_cast<op_id>(boost::source(e, g)); }
  static op_id target(const graph& g, const edge& e) { return static_cast<op_id>(boost::target(e, g)); }
};

} // namespace weft
