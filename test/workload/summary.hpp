// SPDX-License-Identifier: BSL-1.0
/// Summaries of a whole workload for tests: totals, a fingerprint, ops by name and type.
#pragma once

#include "weft/core/random.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace weft::test {

inline double total_work(const workload& w) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.work(v);
  }
  return sum;
}

inline byte_count total_resident_bytes(const workload& w) {
  byte_count sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.resident_bytes(v);
  }
  return sum;
}

inline byte_count total_tensor_bytes(const workload& w) {
  byte_count sum = 0;
  for (const tensor_id t : ids(w.num_tensors())) {
    sum += w.bytes(t);
  }
  return sum;
}

inline std::size_t count_type(const workload& w, std::string_view type) {
  return static_cast<std::size_t>(std::ranges::count_if(ids(w.num_ops()), [&](op_id v) { return w.type(v) == type; }));
}

/// The work of all ops of these types.
inline double work_of_types(const workload& w, std::initializer_list<std::string_view> types) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += std::ranges::find(types, w.type(v)) != types.end() ? w.work(v) : 0;
  }
  return sum;
}

/// The multiply-add operations of all convolutions and matrix products, gradients included: half their FLOP.
inline double multiply_adds(const workload& w) {
  return work_of_types(w, {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "MatMul"}) / 2;
}

/// The op of that name, or `none`.
inline op_id find_op(const workload& w, std::string_view name) {
  for (const op_id v : ids(w.num_ops())) {
    if (w.name(v) == name) {
      return v;
    }
  }
  return none;
}

/// A number that depends on everything in the workload but its names.
inline std::uint64_t fingerprint(const workload& w) {
  std::uint64_t hash = w.num_ops();
  const auto mix = [&hash](std::uint64_t x) { hash = rng::mix(hash * 31 + x); };
  for (const op_id v : ids(w.num_ops())) {
    mix(std::bit_cast<std::uint64_t>(w.work(v)));
    mix(w.resident_bytes(v));
    mix(w.kinds(v).bits());
    mix(w.group(v));
    for (const tensor_id t : w.outputs(v)) {
      mix(w.bytes(t));
    }
    for (const tensor_id t : w.inputs(v)) {
      mix(t);
    }
  }
  return hash;
}

} // namespace weft::test
