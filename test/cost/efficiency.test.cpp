// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/efficiency.hpp"

#include "weft/cost/roofline.hpp"
#include "weft/workload/generate/layered.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include <limits>
#include <tuple>

namespace cost_efficiency_test {

using namespace weft;

workload typed(const char* type) {
  workload_builder b;
  const auto x = b.add_op({.bytes = 1000});
  const auto y = b.add_op({.work = 80, .bytes = 40, .resident_bytes = 160, .type = type});
  b.add_edge(x, y);
  return std::move(b).build();
}

platform<uniform_links> devices() {
  return {{{.kind = device_kind::cpu, .speed = 1, .memory_bandwidth = 10},
           {.kind = device_kind::gpu, .speed = 10, .memory_bandwidth = 100}},
          uniform_links{}};
}

TEST_CASE("efficiencies: the last setting for a type and kind holds, then the kind's default, then the peak") {
  cost::efficiency_table t;
  CHECK(t.of("Conv", device_kind::gpu) == cost::efficiency{});
  t.set_default({.compute = 0.5});
  t.set_default({.compute = 0.25}, device_kind::gpu);
  t.set("Conv", {.compute = 0.75});
  t.set("Conv", {.compute = 0.625}, device_kind::cpu);
  CHECK(t.of("MatMul", device_kind::cpu).compute == 0.5);
  CHECK(t.of("MatMul", device_kind::gpu).compute == 0.25);
  CHECK(t.of("Conv", device_kind::gpu).compute == 0.75);
  CHECK(t.of("Conv", device_kind::cpu).compute == 0.625);
  t.set("Relu", {.compute = 0.125}, device_kind::tpu);
  CHECK(t.of("Relu", device_kind::gpu).compute == 0.25);
}

TEST_CASE("efficiencies: what cannot be is refused") {
  cost::efficiency_table t;
  CHECK_THROWS_WITH_AS(t.set("Conv", {.compute = 0}), doctest::Contains("'Conv'"), value_error);
  CHECK_THROWS_AS(t.set("Conv", {.memory = 1.5}), value_error);
  CHECK_THROWS_AS(t.set_default({.overhead = -1}), value_error);
  CHECK_THROWS_AS(t.set_default({.compute = std::numeric_limits<double>::quiet_NaN()}), value_error);
}

TEST_CASE("roofline with efficiencies: rates, traffic and overhead of the type") {
  const auto p = devices();
  cost::efficiency_table t;
  t.set("MatMul", {.compute = 0.5, .memory = 0.25, .overhead = 3}, device_kind::gpu);
  t.set("Gather", {.moved = cost::traffic::outputs});
  t.set("Reshape", {.moved = cost::traffic::none});
  cost::roofline c;
  c.efficiencies = &t;
  // 1200 bytes at 25 bytes/s are slower than 80 FLOP at 5 FLOP/s.
  CHECK(c.compute_time(typed("MatMul"), 1, p, 1) == 48 + 3);
  CHECK(c.compute_time(typed("MatMul"), 1, p, 0) == 120); // peaks of the CPU
  CHECK(c.compute_time(typed("Gather"), 1, p, 0) == 80);  // its work; 80 bytes take 8 s
  CHECK(c.compute_time(typed("Reshape"), 1, p, 0) == 80);
  c.launch_overhead = 1;
  CHECK(c.compute_time(typed("Reshape"), 1, p, 0) == 81);
}

TEST_CASE("typical efficiencies: dense products before all else, views free, calls cheaper on a CPU") {
  const auto t = cost::typical_efficiencies();
  for (const auto k : {device_kind::cpu, device_kind::gpu, device_kind::tpu}) {
    CHECK(t.of("MatMul", k).bytes_per_flop < t.of("Conv2D", k).bytes_per_flop);
    CHECK(t.of("MatMul", k).compute > t.of("FusedAttention", k).compute);
    CHECK(t.of("Conv2D", k).compute > t.of("Relu", k).compute);
    CHECK(t.of("Reshape", k).moved == cost::traffic::none);
    CHECK(t.of("GatherV2", k).moved == cost::traffic::outputs);
  }
  CHECK(t.of("Relu", device_kind::cpu).launch == 0);
  CHECK(t.of("Relu", device_kind::gpu).launch > t.of("Relu", device_kind::cpu).overhead);
}

TEST_CASE("typical efficiencies: work without a type, or of a type that nobody knows, is believed") {
  const auto table = cost::typical_efficiencies();
  for (const auto k : {device_kind::cpu, device_kind::gpu}) {
    CHECK(table.of("", k) == cost::efficiency{.moved = cost::traffic::none});
    CHECK(table.of("Relu", k).compute == 0.1);
    CHECK(table.of("AddGrad", k) == table.of("Add", k)); // the gradient of a known type
    for (const char* type : {"POTRF", "butterfly", "task", "Grad", "TaskGrad"}) {
      CAPTURE(type);
      CHECK(table.of(type, k).compute == 1);
      CHECK(table.of(type, k).overhead == table.of("Relu", k).overhead);
    }
  }
}

TEST_CASE("typical efficiencies: a graph takes launches away, and nothing else") {
  const auto single = cost::typical_efficiencies();
  const auto graph = cost::typical_efficiencies({.how = cost::launches::graph});
  for (const std::string type : {"MatMul", "Conv2D", "Relu", "Reshape", "AddChunk", "Gather", "PackBucket",
                                 "StartCollective",
                           "SomethingElse"}) {
    CAPTURE(type);
    auto expected = single.of(type, device_kind::gpu);
    expected.launch = 0;
    expected.overhead = std::min(expected.overhead, type == "MatMul" || type == "Conv2D" ? 1 : cost::graph_launch);
    CHECK(graph.of(type, device_kind::gpu) == expected);
    CHECK(graph.of(type, device_kind::cpu) == single.of(type, device_kind::cpu));
  }
}

TEST_CASE("roofline: a launch hides behind the kernel, or the kernel behind it; updates move more than operands") {
  const platform<> p{{device{.kind = device_kind::gpu, .speed = 10, .memory_bandwidth = 100}}, link_matrix{1}};
  cost::efficiency_table t;
  t.set("MatMul", {.overhead = 2, .launch = 9});
  t.set("ApplyAdam", {.bytes_per_flop = 5});
  t.set("FusedBatchNorm", {.moved = cost::traffic::inputs_twice});
  t.set("Relu", {});
  cost::roofline c;
  c.efficiencies = &t;
  CHECK(c.compute_time(typed("MatMul"), 1, p, 0) == 14); // 1200 bytes in 12 s, and 2 s
  t.set("MatMul", {.overhead = 2, .launch = 15});
  CHECK(c.compute_time(typed("MatMul"), 1, p, 0) == 15);
  const auto bytes = [&](const char* type) { return c.compute_time(typed(type), 1, p, 0) * 100; };
  CHECK(bytes("ApplyAdam") == bytes("Relu") + 5 * typed("Relu").work(1));
  CHECK(bytes("FusedBatchNorm") == bytes("Relu")); // with statistics that are known
  workload_builder b;
  const auto x = b.add_op({.bytes = 1000});
  const auto y = b.add_op({.bytes = 40, .type = "FusedBatchNorm"});
  b.add_output(y, 60);
  b.add_edge(x, y);
  CHECK(c.compute_time(std::move(b).build(), y, p, 0) * 100 == 2 * 1000 + 40 + 60);
}

TEST_CASE("typical efficiencies: a framework in Python launches more slowly than a runtime") {
  const auto gpu = device_kind::gpu;
  const auto single = cost::typical_efficiencies(), eager = cost::typical_efficiencies({.how = cost::launches::eager});
  CHECK(eager.of("Relu", gpu).launch > single.of("Relu", gpu).launch);
  CHECK(eager.of("ApplyAdam", gpu).launch == 0); // one kernel updates many parameters
  CHECK(eager.of("ApplyAdam", gpu).bytes_per_flop == 2);
  CHECK(eager.of("Reshape", gpu) == single.of("Reshape", gpu));
}

TEST_CASE("host: launches ops, but no views, messages and updates; a framework waits for ranks and stages") {
  using enum cost::launches;
  for (const char* type : {"Reshape", "AddChunk", "ApplyAdam", ""}) {
    CHECK(cost::host_seconds(type, eager) == 0);
  }
  CHECK(cost::host_seconds("Relu", graph) == 0);
  CHECK(cost::host_seconds("Relu", single) == cost::launch_seconds(single));
  CHECK(cost::host_seconds("Relu", eager) > cost::host_seconds("Relu", single));
  CHECK(cost::host_seconds("StartCollective", eager, 8) == 7 * cost::host_seconds("StartCollective", eager, 2));
  CHECK(cost::host_seconds("StartCollective", single, 8) == cost::host_seconds("StartCollective", single, 2));
  CHECK(cost::pass_launch_seconds(eager) > 0);
  CHECK(cost::pass_launch_seconds(single) == 0);
  const auto kernels = cost::typical_efficiencies({.how = eager, .counts_launches = false});
  CHECK(kernels.of("Relu", device_kind::gpu).launch == 0);
}

TEST_CASE("roofline: nothing is launched for an op that neither computes nor moves anything") {
  workload_builder b;
  const op_id sizes = b.add_op({.bytes = 0, .type = "Gather"});
  const op_id reads = b.add_op({.bytes = 0, .type = "Concat"});
  const op_id makes = b.add_op({.bytes = 8, .type = "Concat"});
  b.add_edge(sizes, reads);
  b.add_edge(reads, makes);
  const workload w = std::move(b).build();
  const auto table = cost::typical_efficiencies();
  cost::roofline model;
  model.efficiencies = &table;
  const platform<> gpu{{device{.kind = device_kind::gpu, .speed = 1e13, .memory_bandwidth = 1e12}}, link_matrix{1}};
  CHECK(cost::does_nothing(w, sizes));
  CHECK(cost::does_nothing(w, reads));
  CHECK_FALSE(cost::does_nothing(w, makes));
  CHECK(model.compute_time(w, sizes, gpu, 0) == 0);
  CHECK(model.compute_time(w, makes, gpu, 0) >= cost::launch_seconds(cost::launches::single));
  CHECK(cost::host_seconds(w, reads, cost::launches::eager) == 0);
  CHECK(cost::host_seconds(w, makes, cost::launches::eager) == cost::launch_seconds(cost::launches::eager));
}

TEST_CASE("typical efficiencies: integers are expanded, and wide numbers of images turned") {
  const auto gpu = device_kind::gpu;
  const auto plain = cost::typical_efficiencies(), narrow = cost::typical_efficiencies({.tensor_bits = 16}),
             expanded = cost::typical_efficiencies({.expands_weights = true});
  CHECK(expanded.of("MatMul", gpu).memory < plain.of("MatMul", gpu).memory);
  for (const char* type : {"Relu", "CachedAttention", "Einsum"}) { // which read no weights
    CHECK(expanded.of(type, gpu) == plain.of(type, gpu));
  }
  CHECK(narrow.of("Conv2D", gpu).bytes_per_flop < plain.of("Conv2D", gpu).bytes_per_flop);
  CHECK(narrow.of("MatMul", gpu) == plain.of("MatMul", gpu));
}

TEST_CASE("typical efficiencies: accelerators start a collective once and add on the way, a CPU adds by itself") {
  const auto t = cost::typical_efficiencies();
  const auto gpu = device_kind::gpu;
  for (const char* type : {"AddChunk", "PassChunk"}) {
    CHECK(t.of(type, gpu) == cost::efficiency{.moved = cost::traffic::none});
  }
  CHECK(t.of("StartCollective", gpu) ==
        cost::efficiency{.overhead = cost::collective_launch, .moved = cost::traffic::none});
  CHECK(t.of("PackBucket", gpu).overhead == cost::collective_launch);
  CHECK(t.of("PackBucket", gpu).moved == cost::traffic::all);
  CHECK(t.of("AddChunk", device_kind::cpu).moved == cost::traffic::all);
  CHECK(t.of("AddChunk", device_kind::cpu).overhead == 0);
  CHECK(t.of("StartCollective", device_kind::cpu).overhead == t.of("Relu", device_kind::cpu).overhead);
}

TEST_CASE("roofline with typical efficiencies: ops without a type take what the linear model says, bytes or not") {
  const auto table = cost::typical_efficiencies();
  cost::roofline typical;
  typical.efficiencies = &table;
  auto at_peak = typical;
  at_peak.at_peak = true;
  const auto w = generate::layered({}, 7);
  const auto p = devices();
  for (const op_id v : ids(w.num_ops())) {
    for (const device_id d : {0u, 1u}) {
      CHECK(typical.compute_time(w, v, p, d) == cost::linear{}.compute_time(w, v, p, d));
      CHECK(at_peak.compute_time(w, v, p, d) == cost::linear{}.compute_time(w, v, p, d));
    }
  }
}

TEST_CASE("roofline with efficiencies: of reached rates, and at the peak, only the bytes depend on the type") {
  const auto peaks = devices();
  const auto reached = peaks.changed([](device& d) { d.reached_rates = true; });
  cost::efficiency_table t;
  t.set_default({.compute = 0.5, .memory = 0.25, .overhead = 3});
  t.set("Reshape", {.compute = 0.5, .moved = cost::traffic::none});
  t.set("Gather", {.compute = 0.5, .moved = cost::traffic::outputs});
  cost::roofline c;
  c.efficiencies = &t;
  auto at_peak = c;
  at_peak.at_peak = true;
  // 80 FLOP at 1 or 10 FLOP/s; of 1200 bytes at 10 or 100 bytes/s all, none, or twice those of the output.
  for (const auto& [type, on_cpu, on_gpu] :
       {std::tuple{"MatMul", 120.0, 12.0}, {"Reshape", 80.0, 8.0}, {"Gather", 80.0, 8.0}}) {
    CAPTURE(type);
    const auto w = typed(type);
    CHECK(c.compute_time(w, 1, reached, 0) == on_cpu);
    CHECK(c.compute_time(w, 1, reached, 1) == on_gpu);
    CHECK(at_peak.compute_time(w, 1, peaks, 0) == on_cpu);
    CHECK(at_peak.compute_time(w, 1, peaks, 1) == on_gpu);
    CHECK(c.compute_time(w, 1, peaks, 0) > on_cpu);
  }
}

} // namespace cost_efficiency_test
