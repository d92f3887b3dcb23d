// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/pin.hpp"

#include "weft/partition/first_device.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace partition_pin_test {

using namespace weft;
using partition::pin;

/// Of the 4 GPUs and the CPU of a machine.
platform<> machine() { return presets::make("pcie_4gpu"); }

workload model() {
  workload_builder b;
  for (const auto& [name, type] : std::vector<std::pair<std::string, std::string>>{
         {"/encoder/conv/Conv", "Conv"},
         {"/encoder/Relu", "Relu"},
         {"/decoder/layers.0/MatMul", "MatMul"},
         {"/decoder/layers.1/MatMul", "MatMul"},
         {"/head/NonMaxSuppression", "NonMaxSuppressionV5"},
         {"gradients//decoder/layers.1/MatMul/input", "MatMulGrad"},
         {"/text/Tokens", "ai.onnx.contrib.BertTokenizer"}}) {
    const op_id v = b.add_op({.work = 1, .bytes = 4, .name = name, .type = type});
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
  }
  return std::move(b).build();
}

/// The names of the devices on which each op may run.
std::vector<std::string> allowed(const workload& w, const platform<>& q) {
  std::vector<std::string> all;
  for (const op_id v : ids(w.num_ops())) {
    auto& names = all.emplace_back();
    for (const device_id d : ids(q.num_devices())) {
      names += w.kinds(v).contains(q.kind(d)) ? (names.empty() ? "" : " ") + std::string{q.name(d)} : "";
    }
  }
  return all;
}
std::vector<std::string> allowed(const std::vector<pin>& pins) {
  const auto w = model();
  const auto p = partition::pin_ops(w, machine(), pins);
  return allowed(p.ops, p.devices);
}
std::string refusal(const std::vector<pin>& pins, const workload& w = model(), const platform<>& q = machine()) {
  try {
    (void)partition::pin_ops(w, q, pins);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("pin: patterns") {
  using partition::matches;
  CHECK(matches("abc", "abc"));
  CHECK_FALSE(matches("abc", "abcd"));
  CHECK_FALSE(matches("abcd", "abc"));
  CHECK(matches("/decoder/*", "/decoder/a/b"));
  CHECK_FALSE(matches("/decoder/*", "/encoder/a"));
  CHECK(matches("*", ""));
  CHECK(matches("*/MatMul", "a/MatMul/b/MatMul"));
  CHECK(matches("a*b*c", "a-b-b-c"));
  CHECK_FALSE(matches("a*b*c", "a-c-b"));
  CHECK(matches("h?/x", "h3/x"));
  CHECK_FALSE(matches("h?/x", "h13/x"));
  CHECK_FALSE(matches("", "a"));
}

TEST_CASE("pin: by type, name and pattern, to kinds and devices") {
  const std::string all = "cpu gpu0 gpu1 gpu2 gpu3";
  CHECK(allowed({{"NonMaxSuppression", {"cpu"}}, {"/decoder/*", {"gpu1"}}}) ==
        std::vector<std::string>{all, all, "gpu1", "gpu1", "cpu", "gpu1", all});
  CHECK(allowed({{"/encoder/Relu", {"gpu2", "gpu3"}}, {"BertTokenizer", {"cpu"}}}) ==
        std::vector<std::string>{all, "gpu2 gpu3", all, all, all, all, "cpu"});
  CHECK(allowed({{"Conv", {"gpu"}}, {"/encoder/*", {"cpu", "gpu0"}}}) == // all pins hold
        std::vector<std::string>{"gpu0", "cpu gpu0", all, all, all, all, all});
  CHECK(allowed({{"ai.onnx.contrib.BertTokenizer", {"gpu0", "gpu1", "gpu2", "gpu3"}}}).back() == "gpu0 gpu1 gpu2 gpu3");
}

TEST_CASE("pin: ops that were for a kind stay so, and go with their groups") {
  workload_builder b;
  b.add_op({.work = 1, .kinds = device_kind::gpu, .name = "a", .type = "A"});
  b.add_op({.work = 1, .kinds = device_kind::gpu, .name = "b", .type = "B"});
  b.add_op({.work = 1, .name = "c", .type = "C"});
  b.add_op({.work = 1, .kinds = device_kind::cpu, .name = "d", .type = "D"});
  b.colocate(1, 2);
  const auto w = std::move(b).build();
  const auto p = partition::pin_ops(w, machine(), std::vector<pin>{{"c", {"gpu3"}}});
  CHECK(allowed(p.ops, p.devices) == std::vector<std::string>{"gpu0 gpu1 gpu2 gpu3", "gpu3", "gpu3", "cpu"});
  CHECK(p.ops.group(1) == p.ops.group(2));
  CHECK(p.notes == std::vector<std::string>{"1 op is pinned to gpu3 by 'c'"});
  CHECK(refusal({{"c", {"cpu"}}}, w) ==
        "pin 'c=cpu': op 2 'c' cannot be pinned to cpu: it, or an op with which it has to be, runs on gpu only");
  CHECK(refusal({{"d", {"gpu1"}}}, w) == "pin 'd=gpu1': op 3 'd' cannot be pinned to gpu1: it runs on cpu only");
  CHECK(refusal({{"b", {"gpu1"}}, {"c", {"gpu2"}}}, w) ==
        "pin 'c=gpu2': op 2 'c' is pinned to gpu2, and op 1 'b', with which it has to be, to gpu1 by 'b'; leave one of "
        "them out");
  const auto most = partition::pin_ops(w, machine(), std::vector<pin>{{"*", {"gpu0"}}});
  CHECK(allowed(most.ops, most.devices) == std::vector<std::string>{"gpu0", "gpu0", "gpu0", "cpu"});
  CHECK(most.notes ==
        std::vector<std::string>{"3 ops are pinned to gpu0 by '*'; 1 of its ops cannot run there, such as op 3 'd'"});
}

TEST_CASE("pin: devices are what they were, and names stand for kinds that were made") {
  const auto w = model();
  const auto q = presets::make("p3_8xlarge_x2");
  const auto p = partition::pin_ops(w, q, std::vector<pin>{{"Conv", {"node1/cpu"}}, {"Relu", {"node0/gpu2"}}});
  CHECK(allowed(p.ops, p.devices)[0] == "node1/cpu");
  CHECK(allowed(p.ops, p.devices)[1] == "node0/gpu2");
  const problem own{p.ops, p.devices};
  const problem plain{w, q};
  CHECK(partition::accelerators(own) == partition::accelerators(plain));
  CHECK(p.named("allows only " + to_string(p.ops.kinds(0)) + ".") == "allows only node1/cpu.");
  CHECK(p.named("any") == "any");
  const auto where = partition::first_device{}(own);
  REQUIRE(where);
  CHECK(q.name((*where)[0]) == "node1/cpu");
  CHECK(q.name((*where)[1]) == "node0/gpu2");
  CHECK(q.name((*where)[2]) == "node0/gpu0");
  CHECK(validate(own, *where).empty());
  CHECK_FALSE(validate(own, placement(w.num_ops(), 1)).empty());
}

TEST_CASE("pin: a kind that the platform has of its own stays, and all devices of a kind need none") {
  const auto w = model();
  const platform<uniform_links> q = [] {
    const auto kind8 = static_cast<device_kind>(8);
    platform<uniform_links> made{{{.kind = kind8}, {.kind = kind8}, {}}, {}};
    made.set_names({"x0", "x1", "host"});
    return made;
  }();
  const std::vector<pin> pins{{"Conv", {"x1"}}, {"Relu", {"kind8"}}, {"MatMul", {"host"}}};
  const auto p = partition::pin_ops(w, q, pins);
  CHECK(p.devices.kind(0) == static_cast<device_kind>(9));
  CHECK(p.devices.kind(1) == static_cast<device_kind>(10));
  CHECK(p.devices.kind(2) == device_kind::cpu);
  CHECK(p.devices.hardware(1) == static_cast<device_kind>(8));
  CHECK(p.ops.kinds(1).contains(p.devices.kind(0)));
  CHECK(p.ops.kinds(1).contains(p.devices.kind(1)));
  CHECK_FALSE(p.ops.kinds(0).contains(p.devices.kind(0)));
}

TEST_CASE("pin: what cannot be gets one line") {
  CHECK(refusal({{"Cnv", {"cpu"}}}) ==
        "pin 'Cnv=cpu': matches no op: it is neither the type nor the name of one, nor a pattern of names; types are "
        "Conv, Relu, MatMul, NonMaxSuppressionV5, MatMulGrad, ai.onnx.contrib.BertTokenizer");
  CHECK(refusal({{"Conv", {"gpu4"}}}) == "pin 'Conv=gpu4': 'gpu4' is neither a device of the platform nor a kind of "
                                         "device; it has cpu, gpu0, gpu1, gpu2, gpu3");
  CHECK(refusal({{"Conv", {"tpu"}}}).find("'tpu' is neither a device of the platform nor a kind") != std::string::npos);
  CHECK(refusal({{"Conv", {}}}) == "pin 'Conv=': needs ops and devices");
  CHECK(refusal({{"MatMul", {"gpu1"}}, {"/decoder/*", {"cpu", "gpu2"}}}) ==
        "pin '/decoder/*=cpu|gpu2': op 2 '/decoder/layers.0/MatMul' is pinned to cpu|gpu2, and to gpu1 by 'MatMul'; "
        "leave one of them out");
  CHECK(refusal({}).empty());
}

} // namespace partition_pin_test
