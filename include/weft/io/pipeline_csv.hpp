// SPDX-License-Identifier: BSL-1.0
/// Writes the order of a pipeline's passes as PyTorch reads it.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/pipeline_order.hpp"

#include <ostream>

namespace weft::io {

/// The passes of each rank in turn, a line each, as `torch.distributed.pipelining` loads them with `_load_csv(file,
/// format="compute_only")`: `2F5` is the forward pass of stage 2 for micro-batch 5, `2I5` its backward pass for the
/// input, `2W5` that for the weights, and `2B5` both, where one of them takes no time.
/// Complexity: O(steps). Source: PyTorch 2.6, torch/distributed/pipelining/schedules.py, `_ComputationType` and
/// `_Action`.
inline void write_pipeline_csv(std::ostream& out, const parallel::pipeline_problem& p,
                               const parallel::pipeline_order& order) {
  using parallel::pass;
  for (const auto& steps : order) {
    const char* separator = "";
    for (const auto& x : steps) {
      const auto& stage = p.stages[x.stage];
      const bool is_whole = stage[pass::backward].seconds == 0 || stage[pass::weights].seconds == 0;
      // A whole backward pass is done when others wait for it, or on the first stage when its time comes.
      const bool comes_last = stage[pass::backward].seconds == 0;
      if (is_whole && x.pass == (comes_last ? pass::backward : pass::weights)) {
        continue;
      }
      const char letter = x.pass == pass::forward ? 'F' : is_whole ? 'B' : x.pass == pass::backward ? 'I' : 'W';
      out << separator << x.stage << letter << x.micro_batch;
      separator = ",";
    }
    out << '\n';
  }
}

} // namespace weft::io
