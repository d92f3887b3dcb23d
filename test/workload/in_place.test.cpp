// SPDX-License-Identifier: BSL-1.0
// Ops that write over inputs: which they are, and what a run takes in memory then.
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/cost/linear.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/validate/memory.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/in_place.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace workload_in_place_test {

using namespace weft;

/// `input` → `first` → `second`, the last two of these types.
workload chain(const std::string& first, const std::string& second, byte_count second_bytes = 100) {
  workload_builder b;
  b.add_op({.bytes = 100, .type = "Placeholder"});
  b.add_op({.work = 1, .bytes = 100, .type = first});
  b.add_op({.work = 1, .bytes = second_bytes, .type = second});
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  return std::move(b).build();
}

std::vector<tensor_id> overwritten(const workload& w) {
  std::vector<tensor_id> found;
  for (const tensor_id t : ids(w.num_tensors())) {
    if (is_overwritten(w, t)) {
      found.push_back(t);
    }
  }
  return found;
}

byte_count peak(const workload& w) {
  const platform<> one{std::vector<device>(1), link_matrix{1}};
  const problem p{w, one, cost::linear{}};
  const placement where(w.num_ops(), 0);
  trace run;
  simulator{p, schedule::static_order{}}.run(plan{where, {}}, simulate::recorder{run});
  return peak_memory_of(p, where, run)[0];
}

TEST_CASE("in place: elementwise ops and views write over what no other op reads") {
  for (const std::string type : {"Relu", "Add", "BiasAdd", "Cast", "Reshape", "aten.relu", "stablehlo.tanh", "Where"}) {
    CAPTURE(type);
    CHECK(overwritten(with_shared_memory(chain("Conv", type))) == std::vector<tensor_id>{1});
  }
  for (const std::string type : {"Conv", "MatMul", "Transpose", "Concat", "CumSum", "Softmax", "Gather", "Mystery"}) {
    CAPTURE(type);
    CHECK(overwritten(with_shared_memory(chain("Conv", type))).empty());
  }
  CHECK(overwritten(chain("Conv", "Relu")).empty()); // unless it is asked for
  CHECK(overwritten(with_shared_memory(chain("Conv", "Relu"), false)).empty());
  CHECK(overwritten(with_shared_memory(chain("Conv", "Reshape"), false)).size() == 1);
}

TEST_CASE("in place: not what is fed, has another size, is read by others, or is a result") {
  CHECK(overwritten(with_shared_memory(chain("Relu", "Conv"))).empty());
  CHECK(overwritten(with_shared_memory(chain("Conv", "Cast", 50))).empty());
  const op_id result[] = {1};
  CHECK(overwritten(with_shared_memory(chain("Conv", "Relu"), true, result)).empty());

  workload_builder first; // of two, which reads what is no op's
  first.add_op({.work = 1, .bytes = 100, .type = "Conv"});
  first.add_op({.work = 1, .bytes = 100, .type = "Relu"});
  first.add_edge(0, 1);
  CHECK(overwritten(with_shared_memory(std::move(first).build())) == std::vector<tensor_id>{0});

  workload_builder b; // x → conv → relu → add ← conv
  for (const char* type : {"Placeholder", "Conv", "Relu", "Add"}) {
    b.add_op({.work = 1, .bytes = 100, .type = type});
  }
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  b.add_edge(1, 3);
  b.add_edge(2, 3);
  const auto w = with_shared_memory(std::move(b).build());
  CHECK(overwritten(w) == std::vector<tensor_id>{2}); // by Add; what Conv makes has two readers
}

TEST_CASE("in place: one of several inputs, and the same of a copy") {
  workload_builder b;
  b.add_op({.bytes = 100});
  for (int i = 0; i < 2; ++i) {
    b.add_op({.work = 1, .bytes = 100});
    b.add_edge(0, 1 + static_cast<op_id>(i));
  }
  b.add_op({.work = 1, .bytes = 100, .memory = output_memory::over_input});
  b.add_edge(1, 3);
  b.add_edge(2, 3);
  CHECK(b[3].memory == output_memory::over_input);
  const auto w = std::move(b).build();
  CHECK(overwritten(w) == std::vector<tensor_id>{1});
  CHECK(w.output_memory(3) == output_memory::over_input);
  CHECK(overwritten(w.with_output_memory(std::vector<output_memory>(4, output_memory::own))).empty());
  CHECK_THROWS_AS((void)w.with_output_memory({output_memory::view}), value_error);
  CHECK(peak(w) == 300); // what 1 reads beside the results of 1 and 2; without, 300 as well
}

TEST_CASE("in place: however ops are numbered, and beside what they say themselves") {
  for (const bool forward : {true, false}) {
    workload_builder b;
    for (op_id v = 0; v < 5; ++v) {
      b.add_op({.work = 1, .bytes = 100, .type = v == (forward ? 0u : 4u) ? "Conv" : "Relu"});
    }
    for (op_id v = 0; v + 1 < 5; ++v) {
      forward ? b.add_edge(v, v + 1) : b.add_edge(4 - v, 3 - v);
    }
    const auto w = with_shared_memory(std::move(b).build());
    CHECK(overwritten(w).size() == 4);
    CHECK(peak(w) == 100);
  }
  workload_builder b;
  b.add_op({.work = 1, .bytes = 100, .type = "Conv"});
  b.add_op({.work = 1, .bytes = 100, .type = "MyOp", .memory = output_memory::over_input});
  b.add_edge(0, 1);
  CHECK(overwritten(with_shared_memory(std::move(b).build())).size() == 1);
}

TEST_CASE("in place: not where it is unclear what is left") {
  for (const std::string type : {"Reshape", "Add"}) {
    workload_builder b; // two inputs of the result's size: either is as good for Add, but a view shows one of them
    for (int i = 0; i < 2; ++i) {
      b.add_op({.work = 1, .bytes = 16, .type = "Conv"});
    }
    b.add_op({.work = 1, .bytes = 16, .type = type});
    b.add_edge(0, 2);
    b.add_edge(1, 2);
    CHECK(overwritten(with_shared_memory(std::move(b).build())).size() == (type == "Add" ? 1 : 0));
  }
  workload_builder b; // the second output may be made of what the first one would be written over
  b.add_op({.work = 1, .bytes = 16, .type = "Conv"});
  b.add_op({.work = 1, .bytes = 16, .type = "Relu"});
  b.add_output(1, 16);
  b.add_edge(0, 1);
  CHECK(overwritten(with_shared_memory(std::move(b).build())).empty());
}

TEST_CASE("in place: a chain of elementwise ops takes one tensor") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 1, .type = "Placeholder"});
  for (op_id v = 1; v < 6; ++v) {
    b.add_op({.work = 1, .bytes = 100, .type = v == 1 ? "Conv" : "Relu"});
    b.add_edge(v - 1, v);
  }
  const auto w = std::move(b).build();
  CHECK(peak(w) == 200);
  CHECK(peak(with_shared_memory(w)) == 101);
}

/// A variable of 400 bytes with a reference, its read, and two products; the read is with the variable or not.
workload with_variable(bool together, const std::string& reads = "Identity") {
  workload_builder b;
  b.add_op({.bytes = 8, .resident_bytes = 400, .type = "VariableV2"});
  b.add_op({.bytes = 400, .type = reads});
  b.add_edge(0, 1);
  for (op_id v = 2; v < 4; ++v) {
    b.add_op({.work = 1, .bytes = 10, .type = "MatMul"});
    b.add_edge(1, v);
  }
  if (together) {
    b.colocate(0, 1);
  }
  return with_shared_memory(std::move(b).build());
}

TEST_CASE("in place: what variables hand on is a view of what they keep") {
  const auto resident = [](const workload& w, tensor_id t) { return is_resident(w, t); };
  CHECK(resident(with_variable(true), 0));
  CHECK(resident(with_variable(true), 1));
  CHECK(peak(with_variable(true)) == 410);
  CHECK_FALSE(resident(with_variable(false), 1));
  CHECK_FALSE(resident(with_variable(true, "Transpose"), 1));
  CHECK(overwritten(with_variable(true, "Relu")).empty()); // the parameters must stay
  CHECK(peak(with_variable(false)) == 810);

  // Tensors without bytes, which say when to start, are no inputs of anything.
  workload_builder b;
  b.add_op({.work = 1, .bytes = 0, .type = "NoOp"});
  b.add_op({.bytes = 8, .resident_bytes = 400, .type = "VariableV2"});
  b.add_op({.bytes = 400, .type = "Identity"});
  b.add_op({.bytes = 16, .type = "Placeholder"});
  b.add_op({.work = 1, .bytes = 16, .type = "Relu"});
  b.add_edge(1, 2);
  b.add_edge(3, 4);
  for (op_id v = 1; v < 4; ++v) {
    b.add_edge(0, v);
  }
  b.colocate(1, 2);
  const auto waits = with_shared_memory(std::move(b).build());
  CHECK(resident(waits, 1));
  CHECK(resident(waits, 2));
  CHECK(overwritten(waits).empty()); // what is fed must stay as well

  // Elsewhere it is a copy.
  const auto w = with_variable(true);
  const platform<> two{std::vector<device>(2), link_matrix{2}};
  const problem p{w, two, cost::linear{}};
  const placement where{0, 0, 0, 1};
  trace run;
  simulator{p, schedule::static_order{}}.run(plan{where, {}}, simulate::recorder{run});
  CHECK(peak_memory_of(p, where, run) == std::vector<byte_count>{410, 410});
}

} // namespace workload_in_place_test
