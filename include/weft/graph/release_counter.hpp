// SPDX-License-Identifier: BSL-1.0
/// Counters of the inputs that ops wait for, which tell when an op becomes ready.
#pragma once

#include "weft/graph/edges.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::graph {

/// Per op, how many of its inputs are not there yet. `Counts` is what the numbers are kept in: a vector, or what a
/// workspace lends.
/// ```
/// graph::release_counter waiting{w};
/// waiting.for_each_ready([&](op_id v) { ready.push_back(v); });
/// for (std::size_t i = 0; i < ready.size(); ++i) {
///   waiting.finish(w, ready[i], [&](op_id c) { ready.push_back(c); });
/// }
/// ```
template <class Counts = std::vector<std::uint32_t>>
class release_counter {
public:
  constexpr release_counter() = default;
  /// No input is there. Throws as `count_in_degrees` does. Complexity: O(n + m); of a workload, O(n).
  template <class G>
  constexpr explicit release_counter(const G& g, Counts counts = {}) : missing_{std::move(counts)} {
    reset(g);
  }
  template <must_be::walkable G>
  constexpr void reset(const G& g) {
    count_in_degrees(g, missing_);
  }
  /// The same by numbers that are known already.
  constexpr void assign(std::span<const std::uint32_t> num_inputs) {
    missing_.assign(num_inputs.data(), num_inputs.data() + num_inputs.size());
  }

  constexpr bool is_ready(op_id v) const { return missing_[v] == 0; }

  /// Calls `visit(v)` for the ops that wait for nothing, in ascending order.
  template <class Visit>
  constexpr void for_each_ready(Visit visit) const {
    for (const op_id v : ids(missing_.size())) {
      if (is_ready(v)) {
        visit(v);
      }
    }
  }

  /// v is done: calls `visit(c)` for each op c that waited for nothing else, in the order of v's edges.
  template <must_be::walkable G, class Visit>
  constexpr void finish(const G& g, op_id v, Visit visit) {
    for_each_successor(g, v, [&](op_id c) {
      if (arrive(c)) {
        visit(c);
      }
    });
  }

  /// An input of v is there; whether it was the last one.
  constexpr bool arrive(op_id v) { return --missing_[v] == 0; }
  /// It is not there after all; whether v was ready.
  constexpr bool take_back(op_id v) { return missing_[v]++ == 0; }

private:
  Counts missing_;
};

template <class G>
release_counter(const G&) -> release_counter<>;

} // namespace weft::graph
