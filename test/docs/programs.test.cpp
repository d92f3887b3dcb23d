// SPDX-License-Identifier: BSL-1.0
// What docs/executors.md shows of programs and memory.
#include "support/small_problem.hpp"

#include "weft/execute/memory.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/validate/program.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace docs_programs_test {

TEST_CASE("docs: a program, its memory, and a kernel with data") {
  weft::workload_builder ops;
  for (int i = 0; i < 4; ++i) {
    ops.add_op({.work = 1, .bytes = 8});
  }
  ops.add_edge(0, 1);
  ops.add_edge(0, 2);
  ops.add_edge(1, 3);
  ops.add_edge(2, 3);
  const weft::workload workload = std::move(ops).build();
  const weft::plan plan{{0, 1, 0, 1}};
  // [data_kernel]
  const auto kernel = [](weft::op_id, const weft::execute::op_buffers& b) { // the sum of all inputs, plus one
    for (std::size_t i = 0; i < b.outputs[0].size(); ++i) {
      auto sum = 1u;
      for (const auto& in : b.inputs) {
        sum += std::to_integer<unsigned>(in[i]);
      }
      b.outputs[0][i] = static_cast<std::byte>(sum);
    }
  };
  // [data_kernel]

  // [program]
  const weft::execute::program program{workload, plan, {.keep = {3}}}; // tensor 3 can be read after a run
  const weft::execute::memory memory{program};                         // an arena for each device
  weft::static_executor run{program};
  const auto report = run(kernel, memory);
  const auto result = memory.tensor(3);
  // [program]
  CHECK(report.num_finished == 4);
  CHECK(result[0] == std::byte{5});
  CHECK(weft::validate(workload, plan.placement, program).empty());
}

} // namespace docs_programs_test
