// SPDX-License-Identifier: BSL-1.0
/// A type that offers exactly what `dataflow_workload` asks.
#pragma once

#include "weft/workload/concepts.hpp"

#include <span>

namespace weft {

/// Models `dataflow_workload` and nothing beyond it: a workload without ops.
struct workload_archetype {
  std::size_t num_ops() const { return 0; }
  std::size_t num_tensors() const { return 0; }
  std::size_t num_groups() const { return 0; }
  std::span<const tensor_id> inputs(op_id) const { return {}; }
  std::span<const tensor_id> outputs(op_id) const { return {}; }
  std::span<const op_id> consumers(tensor_id) const { return {}; }
  op_id producer(tensor_id) const { return none; }
  byte_count bytes(tensor_id) const { return 0; }
  byte_count resident_bytes(op_id) const { return 0; }
  kind_set kinds(op_id) const { return kind_set::all(); }
  group_id group(op_id) const { return none; }
  double work(op_id) const { return 0; }
};

static_assert(dataflow_workload<workload_archetype>);

} // namespace weft
