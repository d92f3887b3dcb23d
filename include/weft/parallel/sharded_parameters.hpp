// SPDX-License-Identifier: BSL-1.0
/// The parameters of a step and the parts of them that devices hold, by the axes along which its ops are split.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/parallel/sharding.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::parallel {

namespace detail {

/// Notes the parts of what op v has along an axis, if they are not equal.
inline void note_unequal_parts(sharded_parameter& x, const split_model& m, op_id v, std::uint32_t axis,
                               std::uint32_t ranks) {
  const auto& a = m.axes[v];
  if (const auto part = a.part(axis, ranks); part.numerator > 1) {
    x.part = part;
    x.is_padded = axis < a.padded.size() && a.padded[axis];
  }
}

/// Parameters that ops hold which are no variables, and the rest of their resident bytes under the names of the ops:
/// those in parts with an op and those that are whole as two.
inline std::vector<sharded_parameter> held_parameters(const split_model& m, const std::vector<std::uint32_t>& axis,
                                                      std::uint32_t along, std::uint32_t ranks) {
  std::vector<sharded_parameter> found;
  auto next = m.held.begin();
  for (const op_id v : ids(axis.size())) {
    byte_count all = is_update(*m.ops, v) ? 0 : m.ops->resident_bytes(v);
    const auto& parts = m.axes[v].resident_parts;
    byte_count split = chosen_splits::in_parts(axis[v]) && !parts.empty() ? std::min(all, parts[axis[v]]) : 0;
    byte_count rounded = 0; // a byte of each parameter
    for (; next != m.held.end() && next->op == v; ++next) {
      const auto part = axis[v] < next->parts.size() ? next->parts[axis[v]] : std::uint32_t{none};
      split -= part != none ? std::min(split, next->bytes) : 0;
      all -= std::min(all, next->bytes);
      ++rounded;
      if (next->is_copy) {
        continue;
      }
      auto& x = found.emplace_back(sharded_parameter{.name = next->name,
                                                     .op = v,
                                                     .shape = next->shape,
                                                     .bytes = next->bytes,
                                                     .spec = std::vector<std::uint32_t>(next->shape.size(), none)});
      if (part != none) {
        x.spec[part] = along;
        note_unequal_parts(x, m, v, axis[v], ranks);
      }
    }
    split = std::min(split, all);
    for (const auto& [bytes, is_split] : {std::pair{split, true}, std::pair{all - split, false}}) {
      if (bytes > rounded) {
        found.push_back({.name = std::string{m.ops->name(v)} + (is_split || split == 0 ? "" : "/whole"),
                         .op = v,
                         .bytes = bytes,
                         .spec = is_split ? std::vector<std::uint32_t>{along} : std::vector<std::uint32_t>{}});
        is_split ? note_unequal_parts(found.back(), m, v, axis[v], ranks) : void();
      }
    }
  }
  return found;
}

} // namespace detail

/// The parameters of a model whose ops are split along `axis`, as `choose_splits` says, among the devices along the
/// mesh's axis number `along`, which are so many. Of a model without variables, what its ops hold: parameters with
/// their names, and other things, such as a cache, under the names of ops and without shapes. Throws `value_error` for
/// another number of ops.
/// Complexity: linear in ops.
inline std::vector<sharded_parameter> sharded_parameters(const split_model& m, const std::vector<std::uint32_t>& axis,
                                                         std::uint32_t along, std::uint32_t ranks) {
  if (axis.size() != m.axes.size()) {
    throw value_error("sharded_parameters", "the model has " + std::to_string(m.axes.size()) +
                                              " ops, and there are splits of " + std::to_string(axis.size()));
  }
  std::vector<sharded_parameter> found;
  for (const op_id v : ids(axis.size())) {
    if (!m.is_parameter[v]) {
      continue;
    }
    const auto& shape = m.axes[v].extents; // an axis of a variable is a dimension
    auto& x = found.emplace_back(sharded_parameter{.name = std::string{m.ops->name(v)},
                                                   .op = v,
                                                   .shape = shape,
                                                   .bytes = m.ops->resident_bytes(v),
                                                   .spec = std::vector<std::uint32_t>(shape.size(), none)});
    if (chosen_splits::in_parts(axis[v])) {
      x.spec[axis[v]] = along;
      detail::note_unequal_parts(x, m, v, axis[v], ranks);
    }
  }
  return found.empty() ? detail::held_parameters(m, axis, along, ranks) : found;
}

/// Splits a parameter further, along an axis of the mesh with so many devices: its first whole dimension that they
/// divide, if there is one.
inline void split_whole_dimension(sharded_parameter& x, std::uint32_t axis, std::uint32_t devices) {
  for (std::size_t i = 0; x.shape && i < x.shape->size() && !x.has_unequal_parts(); ++i) {
    if (x.spec[i] == none && (*x.shape)[i] % devices == 0) {
      x.spec[i] = axis;
      return;
    }
  }
}

/// The work that grows with the batch, by what ranks that split ops do of it.
struct split_work {
  double of_batch = 0; ///< each rank's part of it is a part of the batch
  double of_ops = 0;   ///< … a part of each example, such as columns of a product
  double whole = 0;    ///< each rank does all of it

  /// True if ranks are replicas with a part of the batch each, whatever the splits were made for: next to none of the
  /// work is done in another way. What does not grow with the batch, such as parameters and their updates, may lie in
  /// parts, which then is sharded data parallelism.
  bool is_data_parallel() const {
    constexpr double next_to_none = 0.01;
    const double all = of_batch + of_ops + whole;
    return of_batch > 0 && all - of_batch <= next_to_none * all;
  }
};

/// The work of a model whose ops are split along `axis`, as `choose_splits` says, among `ranks` devices; `replica` is
/// the same model with a part of the batch for each of them. `work_of` is the work of an op, such as its seconds. An
/// axis is one of the batch if it is as long in `replica` as a rank's part of it. Throws `value_error` if `replica` has
/// other ops. Complexity: linear in axes.
template <class WorkOf>
split_work work_in_parts(const split_model& m, const split_model& replica, std::uint32_t ranks,
                         const std::vector<std::uint32_t>& axis, WorkOf work_of) {
  if (axis.size() != m.axes.size() || replica.axes.size() != m.axes.size()) {
    throw value_error("work_in_parts", "the model has " + std::to_string(m.axes.size()) + " ops, a replica " +
                                         std::to_string(replica.axes.size()) + ", and there are splits of " +
                                         std::to_string(axis.size()));
  }
  split_work sum;
  for (const op_id v : ids(axis.size())) {
    const auto& whole = m.axes[v].extents;
    const auto& part = replica.axes[v].extents;
    if (whole == part && m.ops->work(v) == replica.ops->work(v)) {
      continue;
    }
    const bool in_parts = chosen_splits::in_parts(axis[v]);
    const bool of_batch = in_parts && whole.size() == part.size() && whole[axis[v]] == ranks * part[axis[v]];
    (of_batch ? sum.of_batch : in_parts ? sum.of_ops : sum.whole) += work_of(v);
  }
  return sum;
}

/// The parameters of a step that tells no shapes, all of them whole: what its ops hold, but for updates and for state
/// that only updates read. Ops without a name, or with that of another one, are called `op_7`. Complexity: O(n + m).
template <named_workload Workload>
std::vector<sharded_parameter> whole_parameters(const Workload& w) {
  std::vector<sharded_parameter> found;
  std::set<std::string_view> names;
  for (const op_id v : ids(w.num_ops())) {
    bool read = false, by_others = false;
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id reader : w.consumers(t)) {
        read = true;
        by_others = by_others || !is_update(w, reader);
      }
    }
    if (w.resident_bytes(v) > 0 && !is_update(w, v) && (by_others || !read)) {
      const std::string_view name = w.name(v);
      const bool usable = !name.empty() && names.insert(name).second;
      found.push_back({.name = usable ? std::string{name} : "op_" + std::to_string(v),
                       .op = v,
                       .bytes = w.resident_bytes(v)});
    }
  }
  return found;
}

} // namespace weft::parallel
