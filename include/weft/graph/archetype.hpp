// SPDX-License-Identifier: BSL-1.0
/// Types that offer exactly what the graph concepts ask, for checking that an algorithm asks no more.
#pragma once

#include "weft/graph/concepts.hpp"

#include <cstddef>
#include <iterator>

namespace weft::graph {

/// Models `dataflow_graph` and nothing beyond it: edges are opaque and can only be asked for their target.
class archetype {
public:
  class edge {
    friend archetype;
    op_id target_ = 0;
  };

  class edge_iterator {
  public:
    using value_type = edge;
    using difference_type = std::ptrdiff_t;
    edge operator*() const { return {}; }
    edge_iterator& operator++() { return *this; }
    void operator++(int) {}
    friend bool operator==(const edge_iterator&, std::default_sentinel_t) { return true; }
  };

  struct edge_range {
    edge_iterator begin() const { return {}; }
    std::default_sentinel_t end() const { return {}; }
  };

  std::size_t num_ops() const { return 0; }
  edge_range out_edges(op_id) const { return {}; }
  op_id target(const edge& e) const { return e.target_; }
};

/// Models `bidirectional_dataflow_graph` and nothing beyond it.
class bidirectional_archetype : public archetype {
public:
  edge_range in_edges(op_id) const { return {}; }
  op_id source(const edge&) const { return 0; }
};

static_assert(dataflow_graph<archetype> && !bidirectional_dataflow_graph<archetype>);
static_assert(bidirectional_dataflow_graph<bidirectional_archetype>);

} // namespace weft::graph
