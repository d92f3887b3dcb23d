// SPDX-License-Identifier: BSL-1.0
/// Makes any `vector<vector<id>>`-like range of successor lists a dataflow graph, without a copy.
#pragma once

#include "weft/graph/concepts.hpp"

#include <concepts>
#include <iterator>
#include <ranges>

namespace weft {
namespace graph {

/// A random-access range whose v-th element lists the ids of the successors of op v.
template <class G>
concept adjacency_lists = std::ranges::random_access_range<const G> && std::ranges::sized_range<const G> &&
                          std::ranges::forward_range<std::ranges::range_reference_t<const G>> &&
                          std::integral<std::ranges::range_value_t<std::ranges::range_value_t<const G>>>;

/// An edge of a graph that has no edge objects of its own.
struct arc {
  op_id source = none;
  op_id target = none;
  friend constexpr bool operator==(const arc&, const arc&) = default;
};

/// The arcs between one op and each op of a list, towards the list (outgoing) or from it; owns nothing.
template <std::forward_iterator Iterator, bool Outgoing = true>
class arc_range {
public:
  class iterator {
  public:
    using value_type = arc;
    using difference_type = std::ptrdiff_t;
    constexpr iterator() = default;
    constexpr iterator(op_id here, Iterator there) : here_{here}, there_{there} {}
    constexpr arc operator*() const {
      const op_id there = to_id(*there_);
      return Outgoing ? arc{here_, there} : arc{there, here_};
    }
    constexpr iterator& operator++() { return ++there_, *this; }
    constexpr iterator operator++(int) {
      auto old = *this;
      return ++there_, old;
    }
    friend constexpr bool operator==(const iterator& a, const iterator& b) { return a.there_ == b.there_; }

  private:
    op_id here_ = none;
    Iterator there_{};
  };

  constexpr arc_range(op_id here, Iterator first, Iterator last) : here_{here}, first_{first}, last_{last} {}
  constexpr iterator begin() const { return {here_, first_}; }
  constexpr iterator end() const { return {here_, last_}; }

private:
  op_id here_;
  Iterator first_;
  Iterator last_;
};

} // namespace graph

template <graph::adjacency_lists G>
struct graph_access<G> {
  static constexpr auto num_ops(const G& g) { return std::ranges::size(g); }
  static constexpr auto out_edges(const G& g, op_id v) {
    const auto& list = g[v];
    return graph::arc_range{v, std::ranges::begin(list), std::ranges::end(list)};
  }
  static constexpr op_id source(const G&, const graph::arc& e) { return e.source; }
  static constexpr op_id target(const G&, const graph::arc& e) { return e.target; }
};

} // namespace weft
