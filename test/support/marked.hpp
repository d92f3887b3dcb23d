// SPDX-License-Identifier: BSL-1.0
/// Workloads whose ops differ in all that copies of them have to keep.
#pragma once

#include "weft/workload/copy_ops.hpp"
#include "weft/workload/workload.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::test {

namespace detail {
struct marked_columns : workload {
  std::uint32_t slots(op_id v) const { return 2 + v % 3; }
  weft::output_memory output_memory(op_id v) const {
    return v % 2 == 0 ? weft::output_memory::view : weft::output_memory::over_input;
  }
};
} // namespace detail

/// The workload with ops of several slots each, none of which has its result in memory of its own.
inline workload marked(const workload& w) {
  const detail::marked_columns columns{w};
  workload_builder b;
  copy_ops(b, columns, [&](op_id v) { return w.resident_bytes(v); }, [&](tensor_id t) { return w.bytes(t); });
  return std::move(b).build();
}

/// Checks that copies have the slots of the ops in `origin`, and their results in the same memory; `none` is no copy.
inline void check_marks(const workload& made, const std::vector<op_id>& origin, const workload& of) {
  std::size_t copies = 0;
  for (const op_id v : ids(origin.size())) {
    if (const op_id from = origin[v]; from != none) {
      ++copies;
      REQUIRE(made.slots(v) == of.slots(from));
      REQUIRE(made.output_memory(v) == of.output_memory(from));
    }
  }
  CHECK(copies > 0);
}

} // namespace weft::test
