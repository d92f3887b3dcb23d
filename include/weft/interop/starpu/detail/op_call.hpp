// SPDX-License-Identifier: BSL-1.0
/// The arguments of a task of StarPU: the op that it computes, and its codelet.
#pragma once

#include "weft/core/ids.hpp"

#include <cstddef>
#include <cstdint>

#include <starpu.h>

namespace weft::starpu::detail {

/// The argument of a task: it must outlive the task.
struct op_call {
  void (*run)(void* context, op_id v, void** buffers) = nullptr;
  void* context = nullptr;
  op_id op = none;
  std::uint32_t footprint = 0; ///< the same for ops that cost the same; for performance models
  std::size_t size = 0;        ///< bytes read and written; for regressions
};

inline void run_op_call(void* buffers[], void* argument) {
  const auto& call = *static_cast<const op_call*>(argument);
  call.run(call.context, call.op, buffers);
}

inline std::uint32_t footprint_of(starpu_task* task) { return static_cast<const op_call*>(task->cl_arg)->footprint; }
inline std::size_t size_of(starpu_task* task, unsigned) { return static_cast<const op_call*>(task->cl_arg)->size; }

/// For tasks on cores with any number of buffers, whose argument is an `op_call`.
inline starpu_codelet codelet() {
  starpu_codelet c;
  starpu_codelet_init(&c);
  c.cpu_funcs[0] = run_op_call;
  c.nbuffers = STARPU_VARIABLE_NBUFFERS;
  return c;
}

/// Frees a task that was never submitted.
inline void discard(starpu_task* task) {
  task->destroy = 0; // else StarPU insists on doing it itself
  starpu_task_destroy(task);
}

} // namespace weft::starpu::detail
