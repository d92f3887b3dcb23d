// SPDX-License-Identifier: BSL-1.0
/// JSON files that are wrong in one way each, with what the error must say. The schemas must refuse most of them, too.
#pragma once

#include "weft/parallel/sharding.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace weft_test {

struct wrong_file {
  const char* name;
  std::string text;
  std::size_t line;              ///< that the error names
  const char* path;              ///< JSON pointer that the error names
  const char* phrase;            ///< that the error contains
  bool refused_by_schema = true; ///< whether a JSON Schema can say that it is wrong
};

/// Text that comes before the fifth line of each file.
inline std::string workload_with(const std::string& ops) {
  return "{\n\"format\": \"weft.workload\",\n\"version\": 1,\n\"ops\": [\n" + ops + "\n]}\n";
}
inline std::string platform_with(const std::string& rest) {
  return "{\n\"format\": \"weft.platform\",\n\"version\": 1,\n\"description\": \"\",\n" + rest + "\n}\n";
}
/// Two devices of one name and a network, on the sixth line.
inline std::string network_with(const std::string& inside) {
  return platform_with(R"("devices": [{"name": "a", "kind": "cpu", "speed": 1},
{"name": "a", "kind": "cpu", "speed": 1}], "links": {"network": {)" +
                       inside + "}}");
}
inline std::string plan_with(const std::string& rest) {
  return "{\n\"format\": \"weft.plan\",\n\"version\": 1,\n\"placement\": [0, 1, null],\n" + rest + "\n}\n";
}
/// A plan's origin with this value for the option `batch`, and more members.
inline std::string origin_with(const std::string& batch, const std::string& more = "") {
  return R"("origin": {"weft": "1", "model": {"name": "m", "format": "ONNX"}, "platform": "p", "options": {"batch": )" +
         batch +
         R"(}, "notes": [], "objective": {"name": "makespan", "value": 1.5, "unit": "s"}, "step_seconds": 1.5)" + more +
         "}";
}

inline std::vector<wrong_file> wrong_workloads() {
  return {
    {"array", "\n[1]", 2, "", "expected an object"},
    {"no_format", "{\"version\": 1, \"ops\": []}", 1, "", "the key 'format' is missing"},
    {"other_format", "{\n\"format\": \"weft.platform\", \"version\": 1, \"ops\": []}", 2,
     "/format: ", "this is a 'weft.platform' file, expected 'weft.workload'"},
    {"no_version", "{\"format\": \"weft.workload\", \"ops\": []}", 1, "", "the key 'version' is missing"},
    {"other_version", "{\"format\": \"weft.workload\",\n\n\"version\": 2, \"ops\": []}", 3,
     "/version: ", "version 2 is not understood"},
    {"no_ops", "{\"format\": \"weft.workload\", \"version\": 1}", 1, "", "the key 'ops' is missing"},
    {"ops_object", "{\"format\": \"weft.workload\", \"version\": 1, \"ops\": {}}", 1,
     "/ops: ", "expected a list of ops"},
    {"unknown_role", workload_with("{\"role\": \"leader\"}"), 5, "/ops/0/role: ",
     "is not forward, gradient, parameter_gradient or update"},
    {"unknown_key", workload_with("{},\n{\"wrok\": 3}"), 6,
     "/ops/1/wrok: ", "unknown key; the keys here are name, type"},
    {"op_number", workload_with("{}, 7"), 5, "/ops/1: ", "expected an object, found 7"},
    {"name_number", workload_with("{\"name\": 7}"), 5, "/ops/0/name: ", "expected a string, found 7"},
    {"no_slots", workload_with("{\"slots\": 0}"), 5, "/ops/0/slots: ", "a whole number from 1 to"},
    {"negative_work", workload_with("{\"work\": -1}"), 5, "/ops/0/work: ", "a number that is not negative, found -1"},
    {"work_text", workload_with("{\"work\": \"5\"}"), 5, "/ops/0/work: ", "a number that is not negative"},
    {"fraction", workload_with("{\"resident_bytes\": 1.5}"), 5, "/ops/0/resident_bytes: ", "a whole number"},
    {"negative_bytes", workload_with("{\"outputs\": [4,\n-4]}"), 6, "/ops/0/outputs/1: ", "not negative, found -4"},
    {"too_many_bytes", workload_with("{\"outputs\": [18446744073709551615]}"), 5,
     "/ops/0/outputs/0: ", "a whole number from 0 to 4611686018427387903"},
    {"outputs_number", workload_with("{\"outputs\": 4}"), 5, "/ops/0/outputs: ", "a list of sizes in bytes"},
    {"unknown_kind", workload_with("{\"kinds\": [\"cpu\", \"xpu\"]}"), 5,
     "/ops/0/kinds/1: ", "unknown device kind 'xpu'"},
    {"no_kind", workload_with("{\"kinds\": []}"), 5, "/ops/0/kinds: ", "lists no device kind"},
    {"group_list", workload_with("{\"group\": [1]}"), 5, "/ops/0/group: ", "a name or a number"},
    {"inputs_name", workload_with("{\"inputs\": \"a\"}"), 5, "/ops/0/inputs: ", "a list of inputs"},
    {"input_null", workload_with("{\"inputs\": [null]}"), 5, "/ops/0/inputs/0: ", "the name or the number of an op"},
    {"input_triple", workload_with("{\"outputs\": [1]}, {\"inputs\": [[0, 0, 0]]}"), 5,
     "/ops/1/inputs/0: ", "or [op, number"},
    {"unknown_name", workload_with("{\"outputs\": [1]},\n{\"inputs\": [\"a\"]}"), 6,
     "/ops/1/inputs/0: ", "there is no op called 'a'", false},
    {"shared_name", workload_with("{\"name\": \"a\", \"outputs\": [1]}, {\"name\": \"a\"},\n{\"inputs\": [\"a\"]}"), 6,
     "/ops/2/inputs/0: ", "the ops 0 and 1 are both called 'a'", false},
    {"unknown_number", workload_with("{\"inputs\": [[9, 0]]}"), 5,
     "/ops/0/inputs/0/0: ", "there is no op 9: the workload has only op 0", false},
    {"negative_number", workload_with("{},\n{\"inputs\": [-1]}"), 6,
     "/ops/1/inputs/0: ", "there is no op -1: the workload has only the ops 0 to 1"},
    {"large_number", workload_with("{\"inputs\": [4294967296]}"), 5, "/ops/0/inputs/0: ", "there is no op 4294967296"},
    {"negative_output", workload_with("{\"outputs\": [1]},\n{\"inputs\": [[0, -1]]}"), 6,
     "/ops/1/inputs/0: ", "op 0 has no output -1"},
    {"unknown_output", workload_with("{\"outputs\": [1]},\n{\"inputs\": [[0, 1]]}"), 6,
     "/ops/1/inputs/0: ", "op 0 has no output 1, it has 1 outputs", false},
    {"twice", workload_with("{\"outputs\": [1]},\n{\"inputs\": [0, [0, 0]]}"), 6, "/ops/1/inputs/1: ", "listed twice",
     false},
    {"cycle",
     workload_with(
       "{},\n{\"name\": \"a\", \"outputs\": [1], \"inputs\": [2]},\n{\"outputs\": [1], \"inputs\": [\"a\"]}"),
     6, "/ops/1: ", "the graph has a cycle: op 1 'a' -> op 2 -> op 1 'a'", false},
    {"self", workload_with("{\"outputs\": [1], \"inputs\": [0]}"), 5, "/ops/0: ", "the graph has a cycle", false},
    {"group_kinds",
     workload_with("{},\n{\"group\": \"g\", \"kinds\": [\"cpu\"]},\n{\"group\": \"g\", \"kinds\": [\"gpu\"]}"), 6,
     "/ops/1: ", "colocated ops allow no common device kind: op 1 (cpu), op 2 (gpu)", false},
    {"overflow", workload_with("{\"outputs\": [4611686018427387903, 4611686018427387903]}"), 4,
     "/ops: ", "the bytes of all ops and tensors together overflow", false},
  };
}

inline std::vector<wrong_file> wrong_platforms() {
  const std::string two = "\"devices\": [{\"kind\": \"cpu\", \"speed\": 1, \"count\": 2}],\n";
  return {
    {"no_devices", platform_with("\"send_work\": 1"), 1, "", "the key 'devices' is missing"},
    {"empty", platform_with("\"devices\": []"), 5, "/devices: ", "there is no device"},
    {"no_speed", platform_with("\"devices\": [\n{\"kind\": \"cpu\"}]"), 6,
     "/devices/0: ", "the key 'speed' is missing"},
    {"no_kind", platform_with("\"devices\": [{\"speed\": 1}]"), 5, "/devices/0: ", "the key 'kind' is missing"},
    {"unknown_kind", platform_with("\"devices\": [{\"kind\": \"c\", \"speed\": 1}]"), 5,
     "/devices/0/kind: ", "unknown device kind 'c'"},
    {"zero_speed", platform_with("\"devices\": [{\"kind\": \"cpu\", \"speed\": 0}]"), 5,
     "/devices/0/speed: ", "a positive number, found 0"},
    {"zero_slots", platform_with("\"devices\": [{\"kind\": \"cpu\", \"speed\": 1, \"slots\": 0}]"), 5,
     "/devices/0/slots: ", "a whole number from 1"},
    {"unknown_key", platform_with("\"devices\": [{\"kind\": \"cpu\", \"speed\": 1, \"ram\": 0}]"), 5,
     "/devices/0/ram: ", "unknown key"},
    {"other_rates", platform_with("\"devices\": [{\"kind\": \"cpu\", \"speed\": 1, \"rates\": \"top\"}]"), 5,
     "/devices/0/rates: ", "expected \"peak\" or \"reached\", found \"top\""},
    {"negative_watts", platform_with("\"devices\": [{\"kind\": \"cpu\", \"speed\": 1, \"idle_watts\": -1}]"), 5,
     "/devices/0/idle_watts: ", "a number that is not negative, found -1"},
    {"less_when_busy", platform_with("\"devices\": [{\"kind\": \"cpu\", \"speed\": 1, \"idle_watts\": 1}]"), 5,
     "/devices/0: ", "'active_watts', what the device draws while it is busy, must not be less", false},
    {"negative_overhead", platform_with("\"devices\": [{\"kind\": \"cpu\", \"speed\": 1, \"send_overhead\": -1}]"), 5,
     "/devices/0/send_overhead: ", "a number that is not negative, found -1"},
    {"negative_joules", platform_with(two + "\"links\": {\"uniform\": {\"joules_per_byte\": -1}}"), 6,
     "/links/uniform/joules_per_byte: ", "a number that is not negative, found -1"},
    {"too_many", platform_with("\"devices\": [{\"kind\": \"cpu\", \"speed\": 1, \"count\": 10001}]"), 5,
     "/devices/0/count: ", "a whole number from 1 to 10000"},
    {"no_links", platform_with("\"devices\": [{\"kind\": \"cpu\", \"speed\": 1, \"count\": 2}]"), 1, "",
     "the key 'links' is missing", false},
    {"two_links", platform_with(two + "\"links\": {\"uniform\": {}, \"matrix\": {}}"), 6,
     "/links: ", "one of 'uniform'"},
    {"no_link", platform_with(two + "\"links\": {}"), 6, "/links: ", "one of 'uniform'"},
    {"link_key", platform_with(two + "\"links\": {\"uniform\": {\"rate\": 1}}"), 6,
     "/links/uniform/rate: ", "unknown key"},
    {"zero_bandwidth", platform_with(two + "\"links\": {\"uniform\": {\"bandwidth\": 0}}"), 6,
     "/links/uniform/bandwidth: ", "a positive number"},
    {"negative_latency", platform_with(two + "\"links\": {\"matrix\": {\"latency\": [[0, 1],\n[-1, 0]]}}"), 7,
     "/links/matrix/latency/1/0: ", "a number that is not negative, found -1"},
    {"rows", platform_with(two + "\"links\": {\"matrix\": {\"bandwidth\": [[null, 1]]}}"), 6,
     "/links/matrix/bandwidth: ", "has 1 entries for 2 devices", false},
    {"columns", platform_with(two + "\"links\": {\"matrix\": {\"bandwidth\": [[null, 1],\n[1]]}}"), 7,
     "/links/matrix/bandwidth/1: ", "has 1 entries for 2 devices", false},
    {"no_level", platform_with(two + "\"links\": {\"levels\": []}"), 6, "/links/levels: ", "at least one level"},
    {"level_size", platform_with(two + "\"links\": {\"levels\": [{}, {}]}"), 6,
     "/links/levels/0: ", "the key 'size' is missing", false},
    {"last_size", platform_with(two + "\"links\": {\"levels\": [{\"size\": 2},\n{\"size\": 2}]}"), 7,
     "/links/levels/1/size: ", "the last level holds everything", false},
    {"huge_levels", platform_with(two + "\"links\": {\"levels\": [{\"size\": 10000}, {\"size\": 10000}, {}]}"), 6,
     "/links/levels/1: ", "more than 10000 devices", false},
    {"network_links", network_with(""), 6, "/links/network: ", "the key 'links' is missing"},
    {"network_key", network_with(R"("links": [], "nodes": 3)"), 6, "/links/network/nodes: ", "unknown key"},
    {"network_node", network_with(R"("switches": ["hub"], "links": [{"between": [0, "hub"]},)"
                                  "\n" R"({"between": [1, "hbu"]}])"),
     7, "/links/network/links/1/between/1: ", "there is no device or switch called 'hbu'", false},
    {"network_number", network_with(R"("switches": 1, "links": [{"between": [0, 3]}])"), 6,
     "/links/network/links/0/between/1: ", "a whole number from 0 to 2", false},
    {"network_self", network_with(R"("links": [{"between": [0, 0]}])"), 6,
     "/links/network/links/0: ", "must join two different ones", false},
    {"network_three", network_with(R"("links": [{"between": [0, 1, 1]}])"), 6,
     "/links/network/links/0/between: ", "a list of two ends"},
    {"network_both", network_with(R"("links": [{"between": [0, 1], "to": 0}])"), 6,
     "/links/network/links/0: ", "write either"},
    {"network_half", network_with(R"("links": [{"from": 0}])"), 6,
     "/links/network/links/0: ", "the key 'to' is missing"},
    {"network_bandwidth", network_with(R"("links": [{"between": [0, 1], "bandwidth": 0}])"), 6,
     "/links/network/links/0/bandwidth: ", "a positive number"},
    {"network_twins", network_with(R"("switches": ["a",)" "\n" R"("a"], "links": [])"), 7,
     "/links/network/switches/1: ", "two switches are called 'a'", false},
    {"network_same_name", network_with(R"("links": [{"between": [0, "a"]}])"), 6,
     "/links/network/links/0/between/1: ", "several devices are called 'a'", false},
    {"network_apart", network_with(R"("links": [{"from": 0, "to": 1}])"), 6,
     "/links/network: ", "there is no route from device 1 to device 0", false},
    {"network_route", network_with(R"("links": [{"between": [0, 1]}], "routes": [)"
                                   "\n" R"({"from": 0, "to": 1, "over": [1]}])"),
     7, "/links/network/routes/0: ", "link 1 does not begin where the route has come to", false},
    {"network_no_link", network_with(R"("links": [], "routes": [{"from": 0, "to": 1, "over": [0]}])"), 6,
     "/links/network/routes/0: ", "there is no link 0", false},
    {"network_flag", network_with(R"("links": [], "spread": 1)"), 6, "/links/network/spread: ", "true or false"},
    {"send_work", platform_with(two + "\"links\": {\"uniform\": {}}, \"send_work\": -1"), 6,
     "/send_work: ", "not negative"},
  };
}

inline std::vector<wrong_file> wrong_plans() {
  return {
    {"no_arguments", "{\"format\": \"weft.plan\", \"version\": 1}", 1, "", "the key 'placement' is missing"},
    {"name", "{\"format\": \"weft.plan\", \"version\": 1, \"placement\": [\"gpu\"]}", 1,
     "/placement/0: ", "a whole number"},
    {"too_large", "{\"format\": \"weft.plan\", \"version\": 1, \"placement\": [4294967295]}", 1,
     "/placement/0: ", "from 0 to 4294967294"},
    {"step_text", plan_with("\"order\": [\"a\"]"), 5, "/order/0: ", "a whole number"},
    {"step_key", plan_with("\"order\": [0, 1, 2,\n{\"op\": 0, \"tensor\": 0, \"to\": 1, \"at\": 2}]"), 6,
     "/order/3/at: ", "unknown key"},
    {"step_missing", plan_with("\"order\": [{\"op\": 0, \"to\": 1}]"), 5, "/order/0: ", "the key 'tensor' is missing"},
    {"step_range", plan_with("\"order\": [0, 3]"), 5, "/order/1: ", "there is no op 3; the placement has 3 ops", false},
    {"step_twice", plan_with("\"order\": [0, 0]"), 5, "/order/1: ", "op 0 is in the order twice", false},
    {"few_names", plan_with("\"ops\": [\"a\", \"b\"]"), 5,
     "/ops: ", "there are 2 names of ops, and the placement has 3", false},
    {"name_number", plan_with("\"devices\": [\"a\",\n1]"), 6, "/devices/1: ", "expected a string"},
    {"origin_text", plan_with("\"origin\": \"somewhere\""), 5, "/origin: ", "expected an object"},
    {"origin_key", plan_with(origin_with("[\"32\"]", ",\n\"author\": 1")), 6, "/origin/author: ", "unknown key"},
    {"origin_option", plan_with(origin_with("32")), 5, "/origin/options/batch: ", "expected a list of strings"},
    {"step_left_out", plan_with("\"order\": [0, 2]"), 5, "/order: ", "op 1 is missing", false},
  };
}

inline std::vector<wrong_file> wrong_traces() {
  const std::string start = "{\n\"format\": \"weft.trace\",\n\"version\": 1,\n";
  return {
    {"no_makespan", start + "\"ops\": [], \"transfers\": []}", 1, "", "the key 'makespan' is missing"},
    {"negative_time",
     start + "\"makespan\": 1, \"transfers\": [],\n\"ops\": [{\"device\": 0, \"start\": -1, \"finish\": 1}]}", 5,
     "/ops/0/start: ", "not negative"},
    {"transfer_key", start + "\"makespan\": 1, \"ops\": [],\n\"transfers\": [{\"tensor\": 0}]}", 5,
     "/transfers/0: ", "the key 'from' is missing"},
  };
}

/// A profile with one entry, on the fifth line.
inline std::string profile_with(const std::string& entry) {
  return "{\n\"format\": \"weft.profile\",\n\"version\": 1,\n\"entries\": [\n" + entry + "\n]}\n";
}
/// Columns, parts along two axes, and a parameter of unknown shape.
inline weft::parallel::sharding sample_sharding() {
  return {.mesh = {{{"data", 2}, {"tensor", 2}}, {1, 2, 3, 4}},
          .parameters = {{.name = "kernel", .shape = {{4, 6}}, .bytes = 96, .spec = {weft::none, 1}},
                         {.name = "table", .shape = {{8, 2}}, .bytes = 64, .spec = {1, 0}},
                         {.name = "a \"name\"", .bytes = 8}},
          .batch = 8,
          .trains = true,
          .zero_stage = 2};
}

/// Nothing reads these files here: what they would say is for the schema.
inline std::vector<wrong_file> wrong_shardings() {
  const auto with = [](const std::string& mesh, const std::string& parameters, const std::string& rest = "") {
    return R"({"format": "weft.sharding", "version": 1, "model": "m", "platform": "p", "zero_stage": 0, "mesh": )" +
           mesh + R"(, "parameters": [)" + parameters +
           R"(], "jax": {"mesh": {"axis_shapes": [2], "axis_names": ["data"]}, "partition_specs": {}},
"pytorch": {"device_mesh": {"mesh_shape": [2], "mesh_dim_names": ["data"]}, "placements": {}})" + rest + "}";
  };
  const std::string mesh = R"({"axes": [{"name": "data", "size": 2}], "devices": ["a", "b"]})";
  const std::string vllm = R"(, "vllm": {"arguments": "--tensor-parallel-size 1"})";
  return {
    {"no_runtime", with(mesh, ""), 1, "", ""},
    {"no_axes", with(R"({"axes": [], "devices": ["a"]})", "", vllm), 1, "", ""},
    {"axis_of_nothing", with(R"({"axes": [{"name": "data", "size": 0}], "devices": ["a"]})", "", vllm), 1, "", ""},
    {"no_bytes", with(mesh, R"({"name": "x", "shape": [2], "spec": ["data"]})", vllm), 1, "", ""},
    {"spec_number", with(mesh, R"({"name": "x", "shape": [2], "bytes": 8, "spec": [0]})", vllm), 1, "", ""},
    {"no_arguments", with(mesh, "", R"(, "vllm": {})"), 1, "", ""},
    {"unknown_key", with(mesh, "", vllm + R"(, "x": 1)"), 1, "", ""},
  };
}

inline std::vector<wrong_file> wrong_profiles() {
  return {
    {"no_entries", "{\"format\": \"weft.profile\", \"version\": 1}", 1, "", "the key 'entries' is missing"},
    {"entry_number", profile_with("7"), 5, "/entries/0: ", "expected an object, found 7"},
    {"no_op", profile_with("{\"machine\": \"m\", \"threads\": 1, \"affinity\": \"packed\", \"seconds\": []}"), 5,
     "/entries/0: ", "the key 'op' is missing"},
    {"no_threads",
     profile_with("{\"machine\": \"m\", \"op\": \"a\", \"threads\": 0, \"affinity\": \"packed\", \"seconds\": []}"), 5,
     "/entries/0/threads: ", "a whole number from 1"},
    {"other_affinity",
     profile_with("{\"machine\": \"m\", \"op\": \"a\", \"threads\": 1, \"affinity\": \"close\", \"seconds\": []}"), 5,
     "/entries/0/affinity: ", "must be \"packed\" or \"spread\""},
    {"no_time",
     profile_with(
       "{\"machine\": \"m\", \"op\": \"a\", \"threads\": 1, \"affinity\": \"spread\", \"seconds\": [1,\n0]}"),
     6, "/entries/0/seconds/1: ", "a positive number"},
    {"unknown_key",
     profile_with(
       "{\"machine\": \"m\", \"op\": \"a\", \"threads\": 1, \"affinity\": \"packed\", \"seconds\": [],\n\"x\": 1}"),
     6, "/entries/0/x: ", "unknown key"},
  };
}

} // namespace weft_test
