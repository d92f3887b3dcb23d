// SPDX-License-Identifier: BSL-1.0
/// Views of a placement: ops of a device, steps of an order, and edges between devices.
#pragma once

#include "weft/plan/plan.hpp"
#include "weft/views/edges.hpp"

#include <range/v3/view/filter.hpp>

namespace weft::views {

/// The ops that are placed on a device, ascending. Bidirectional. The placement outlives the view.
inline auto ops_on(const placement& where, device_id d) {
  return ranges::views::filter(ids(where.size()), [&where, d](op_id v) { return where[v] == d; });
}
inline void ops_on(const placement&& where, device_id d) = delete;

/// The steps that a device takes, in their order: those of ops that are placed on it. Bidirectional. The plan outlives
/// the view.
inline auto steps_of(const plan& p, device_id d) {
  return ranges::views::filter(p.order, [&p, d](const step& s) { return p.placement[s.op] == d; });
}
inline void steps_of(const plan&& p, device_id d) = delete;

/// The edges whose ends are on different devices, as `edges` lists them. Forward. Graph and placement outlive the view.
template <class G>
  requires dataflow_workload<G> || requires(const G& g, const edge_of<G>& e) { weft::source(g, e); }
auto cut_edges(const G& g, const placement& where) {
  if constexpr (dataflow_workload<G>) {
    return ranges::views::filter(edges(g), [&where](const flow_edge& e) { return where[e.source] != where[e.target]; });
  } else {
    return ranges::views::filter(edges(g), [&g, &where](const auto& e) {
      return where[weft::source(g, e)] != where[weft::target(g, e)];
    });
  }
}
template <class G>
void cut_edges(const G&& g, const placement& where) = delete;
template <class G>
void cut_edges(const G& g, const placement&& where) = delete;

} // namespace weft::views
