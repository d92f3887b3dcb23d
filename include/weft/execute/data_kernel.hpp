// SPDX-License-Identifier: BSL-1.0
/// Kernels that are given the memory of their tensors.
#pragma once

#include "weft/core/explained.hpp"
#include "weft/core/ids.hpp"

#include <concepts>
#include <cstddef>
#include <span>

namespace weft {
namespace execute {

/// The memory that an op reads and writes on its device: a span of `bytes(tensor)` bytes for each of the workload's
/// `inputs(op)` and `outputs(op)`, in that order (empty for tensors of zero bytes), and its resident bytes, which
/// nobody else uses and which stay as they are from run to run. Addresses are the same in every run.
struct op_buffers {
  std::span<const std::span<const std::byte>> inputs = {};
  std::span<const std::span<std::byte>> outputs = {};
  std::span<std::byte> resident = {};
};

} // namespace execute

/// `k(op, buffers)` computes one op from the tensors that it reads into those that it writes. Calls for different ops
/// happen at the same time on different threads. An exception ends the run.
template <class K>
concept data_kernel = std::invocable<K&, op_id, const execute::op_buffers&>;

namespace why_not {
template <class K>
struct data_kernel {
  static_assert(weft::data_kernel<K>,
                "weft: with memory, a kernel is called with (op_id, const execute::op_buffers&), which this one cannot "
                "be; see docs/concepts/data_kernel.md");
};
} // namespace why_not

namespace must_be {
template <class K>
concept data_kernel = weft::data_kernel<K> || explained<why_not::data_kernel<K>>;
} // namespace must_be

} // namespace weft
