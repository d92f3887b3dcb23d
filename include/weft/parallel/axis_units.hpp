// SPDX-License-Identifier: BSL-1.0
/// Units of the axes of a model, and axes that leave weights whole.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/components.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/workload/stored_as.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weft::parallel {

/// Leaves to products and convolutions the axes along which all ranks need all of their weights, such as rows.
/// Complexity: linear in dimensions.
inline void keep_weights_whole(split_model& m) {
  const auto of_parameters = made_of_parameters(*m.ops);
  const auto is_product = [&](op_id v) {
    const auto use = ops::use_of(m.ops->type(v));
    return use == ops::device_use::product || use == ops::device_use::convolution;
  };
  for (const op_id v : ids(m.axes.size())) {
    std::size_t k = 0;
    for (const tensor_id t : m.ops->inputs(v)) {
      for (const auto axis : m.axes[v].inputs[k++]) {
        axis != none && is_product(v) && of_parameters[m.ops->producer(t)] ? m.axes[v].keep_whole(axis) : void();
      }
    }
    for (std::uint32_t axis = 0; axis < m.axes[v].resident_parts.size(); ++axis) {
      is_product(v) && m.axes[v].resident_parts[axis] > 0 ? m.axes[v].keep_whole(axis) : void();
    }
  }
  for (const auto& x : m.uses) {
    for (std::uint32_t axis = 0; axis < x.needed.size(); ++axis) {
      is_product(x.user) && x.needed[axis] != none && !x.changes ? m.axes[x.user].keep_whole(axis) : void();
    }
  }
}

namespace detail {

/// True if some output has the axis.
inline bool is_made_along(const split_axes& a, std::uint32_t axis) {
  return std::any_of(a.outputs.begin(), a.outputs.end(),
                     [&](const auto& made) { return std::find(made.begin(), made.end(), axis) != made.end(); });
}

} // namespace detail

/// Finds the units of axes, and vocabularies, of which something is looked up: ops that make and read a dimension of a
/// tensor have it along one axis each, and so has who uses what another op holds.
/// Complexity: linear in dimensions, nearly.
inline void find_units(split_model& m) {
  std::vector<std::size_t> first{0}; // by op: its first axis, among all
  for (const auto& a : m.axes) {
    first.push_back(first.back() + a.extents.size());
  }
  graph::disjoint_sets along{first.back()};
  const auto unite = [&](op_id u, std::uint32_t a, op_id v, std::uint32_t b) {
    if (a < m.axes[u].extents.size() && b < m.axes[v].extents.size()) {
      along.unite(static_cast<op_id>(first[u] + a), static_cast<op_id>(first[v] + b));
    }
  };
  const auto& w = *m.ops;
  for (const op_id v : ids(m.axes.size())) {
    std::size_t k = 0;
    for (const tensor_id t : w.inputs(v)) {
      const op_id from = w.producer(t);
      const auto& made = m.axes[from].outputs[t - *w.outputs(from).begin()];
      const auto& read = m.axes[v].inputs[k++];
      for (std::size_t d = 0; d < std::min(made.size(), read.size()); ++d) {
        unite(from, made[d], v, read[d]);
      }
    }
  }
  for (const auto& x : m.uses) {
    for (std::uint32_t a = 0; a < x.parts.size(); ++a) {
      for (std::uint32_t b = 0; x.parts[a] != none && b < x.needed.size(); ++b) {
        x.parts[a] == x.needed[b] ? unite(x.holder, a, x.user, b) : void();
      }
    }
  }
  struct set_of_axes {
    std::uint64_t unit = 0;
    bool is_vocabulary = false;
  };
  std::vector<set_of_axes> sets(first.back());
  for (const bool counts : {true, false}) {
    for (const op_id v : ids(m.axes.size())) {
      auto& a = m.axes[v];
      const bool looks_up = ops::use_of(w.type(v)) == ops::device_use::lookup;
      for (std::uint32_t k = 0; k < a.extents.size(); ++k) {
        auto& set = sets[along.find(static_cast<op_id>(first[v] + k))];
        if (!counts) {
          a.units.push_back(std::gcd(set.unit, a.extents[k]));
          a.padded.push_back(set.is_vocabulary);
        } else if (a.extents[k] > 1) { // others are whole anyway
          set.unit = std::gcd(set.unit, a.extents[k]);
          set.is_vocabulary = set.is_vocabulary || (looks_up && !detail::is_made_along(a, k));
        }
      }
    }
  }
}

} // namespace weft::parallel
