// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/workload.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace workload_copy_ops_test {

using namespace weft;

/// Op 0 makes tensors 0 and 2 for ops 1 and 2, and op 1 makes tensor 1 for op 2.
struct tensors_not_in_a_row {
  std::vector<std::vector<tensor_id>> read{{}, {0}, {1, 2}}, made{{0, 2}, {1}, {}};
  std::vector<std::vector<op_id>> readers{{1}, {2}, {2}};
  std::vector<op_id> makers{0, 1, 0};

  std::size_t num_ops() const { return 3; }
  std::size_t num_tensors() const { return 3; }
  std::size_t num_groups() const { return 0; }
  const std::vector<tensor_id>& inputs(op_id v) const { return read[v]; }
  const std::vector<tensor_id>& outputs(op_id v) const { return made[v]; }
  const std::vector<op_id>& consumers(tensor_id t) const { return readers[t]; }
  op_id producer(tensor_id t) const { return makers[t]; }
  byte_count bytes(tensor_id t) const { return 10 * (t + 1); }
  byte_count resident_bytes(op_id v) const { return v; }
  kind_set kinds(op_id) const { return kind_set::all(); }
  group_id group(op_id) const { return none; }
  double work(op_id v) const { return v; }
};
static_assert(dataflow_workload<tensors_not_in_a_row>);

template <class W>
workload copy_of(const W& w) {
  workload_builder b;
  copy_ops(b, w, [&](op_id v) { return w.resident_bytes(v); }, [&](tensor_id t) { return w.bytes(t); });
  return std::move(b).build();
}

TEST_CASE("copy_ops: an op's tensors need no ids in a row") {
  const workload made = copy_of(tensors_not_in_a_row{});
  REQUIRE(made.num_ops() == 3);
  REQUIRE(made.inputs(1).size() == 1);
  CHECK(made.bytes(made.inputs(1)[0]) == 10);
  REQUIRE(made.inputs(2).size() == 2);
  CHECK(made.bytes(made.inputs(2)[0]) + made.bytes(made.inputs(2)[1]) == 20 + 30);
  CHECK(made.resident_bytes(2) == 2);
}

TEST_CASE("copy_ops: slots, and where results lie, are kept") {
  workload_builder b;
  b.add_op({.bytes = 8});
  b.add_op({.bytes = 8, .slots = 3, .memory = output_memory::over_input});
  b.add_edge(0, 1);
  const workload made = copy_of(std::move(b).build());
  CHECK(made.slots(1) == 3);
  CHECK(made.output_memory(0) == output_memory::own);
  CHECK(made.output_memory(1) == output_memory::over_input);
}

} // namespace workload_copy_ops_test
