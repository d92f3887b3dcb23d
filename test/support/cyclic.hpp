// SPDX-License-Identifier: BSL-1.0
/// Workloads that no builder makes: one with a cycle, and one whose lists contradict each other.
#pragma once

#include "weft/workload/archetype.hpp"

#include <vector>

namespace weft::test {

/// 0 -> 1 -> 2 -> 1, 2 -> 3; each op has one output, of its own number.
struct with_cycle : workload_archetype {
  std::size_t num_ops() const { return 4; }
  std::size_t num_tensors() const { return 4; }
  std::vector<tensor_id> inputs(op_id v) const { return std::vector<std::vector<tensor_id>>{{}, {0, 2}, {1}, {2}}[v]; }
  id_range outputs(op_id v) const { return {v, v + 1}; }
  std::vector<op_id> consumers(tensor_id t) const { return std::vector<std::vector<op_id>>{{1}, {2}, {1, 3}, {}}[t]; }
  op_id producer(tensor_id t) const { return t; }
};

/// 1 has an input that 0 makes and hands to nobody.
struct contradictory : with_cycle {
  std::size_t num_ops() const { return 2; }
  std::size_t num_tensors() const { return 2; }
  std::vector<tensor_id> inputs(op_id v) const { return std::vector<tensor_id>(v); }
  std::vector<op_id> consumers(tensor_id) const { return {}; }
};

} // namespace weft::test
