// SPDX-License-Identifier: BSL-1.0
/// A workload that was made of another one for several devices.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/workload.hpp"

#include <cstdint>
#include <vector>

namespace weft::parallel {

/// A workload with the device of each op, and the op that it is a copy or a part of.
struct parallel_workload {
  workload graph = {};
  weft::placement where = {};              ///< by op
  std::vector<op_id> origin = {};          ///< by op: the op that it came from; `none` in collectives
  std::vector<std::uint32_t> replica = {}; ///< by op: the replica, or the rank, that it belongs to
};

/// True if two steps have the same ops in the same order, of which only the sizes may be others, as with another batch.
template <class A, class B>
bool have_same_ops(const A& a, const B& b) {
  bool same = a.num_ops() == b.num_ops() && a.num_tensors() == b.num_tensors();
  for (op_id v = 0; same && v < a.num_ops(); ++v) {
    same = a.type(v) == b.type(v) && a.outputs(v).size() == b.outputs(v).size();
  }
  return same;
}

} // namespace weft::parallel
