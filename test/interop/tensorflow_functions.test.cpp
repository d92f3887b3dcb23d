// SPDX-License-Identifier: BSL-1.0
// Graphs that call functions: what comes out is the graph without calls.
#include "interop/reading.hpp"
#include "interop/tensorflow_graphs.hpp"
#include "weft/interop/tensorflow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace interop_tensorflow_functions_test {

using namespace weft;
using namespace weft_test;
using test::total_work;

model read(const std::string& text, const tensorflow::reader& r = {}) { return r.read(text, "net.pbtxt"); }
std::string refusal(const std::string& text, const tensorflow::reader& r = {}) {
  return refusal_of([&] { return read(text, r); });
}

/// Names, types, edges (from -> to, once), and work of a workload.
struct summary {
  std::map<std::string, std::pair<std::string, double>> ops = {};
  std::set<std::pair<std::string, std::string>> edges = {};
  bool operator==(const summary&) const = default;
};
summary summary_of(const workload& w) {
  summary s;
  for (const op_id v : ids(w.num_ops())) {
    s.ops[std::string{w.name(v)}] = {std::string{w.type(v)}, w.work(v)};
    for (const tensor_id t : w.inputs(v)) {
      s.edges.emplace(w.name(w.producer(t)), w.name(v));
    }
  }
  return s;
}

std::string variable(const std::string& name, const tensor_dims& dims) {
  return node(name, "VarHandleOp", {}, type_attr("dtype", "DT_FLOAT") + attr("shape", shape(dims)));
}
std::string scalar(const std::string& name, int value) {
  return constant(name, "DT_INT32", {}, "int_val: " + std::to_string(value));
}
std::string inner_scalar(const std::string& name, int value) { return "node_def" + scalar(name, value).substr(4); }
const std::string of_float = type_attr("T", "DT_FLOAT");
const std::string as_float = type_attr("dtype", "DT_FLOAT");
std::string function(const std::string& name, const std::vector<std::string>& arguments,
                     const std::vector<std::pair<std::string, std::string>>& returns, const std::string& nodes,
                     const std::vector<std::string>& effects = {}) {
  std::string text = "function { signature { name: '" + name + "'";
  for (const auto& a : arguments) {
    text += " input_arg { name: '" + a + "' type: DT_FLOAT }";
  }
  for (const auto& [key, value] : returns) {
    text += " output_arg { name: '" + key + "' type: DT_FLOAT }";
  }
  text += " }\n" + nodes;
  for (const auto& [key, value] : returns) {
    text += " ret { key: '" + key + "' value: '" + value + "' }";
  }
  for (const auto& e : effects) {
    text += " control_ret { key: '" + e + "' value: '" + e + "' }";
  }
  return text + " }\n";
}
std::string library(const std::string& functions) {
  return "library { " + functions + " } versions { producer: 1087 }";
}

/// A dense layer with variables that it gets as arguments.
const std::string dense =
  function("dense", {"x", "w", "b"}, {{"y", "relu:activations:0"}},
           inner("read_w", "ReadVariableOp", {"w"}, as_float) + inner("read_b", "ReadVariableOp", {"b"}, as_float) +
             inner("mm", "MatMul", {"x", "read_w:value:0"}, of_float) +
             inner("bias", "BiasAdd", {"mm:product:0", "read_b:value:0"}, of_float) +
             inner("relu", "Relu", {"bias:output:0"}, of_float));
const std::string parameters =
  variable("w1", {64, 128}) + variable("b1", {128}) + variable("w2", {128, 32}) + variable("b2", {32});
const std::string two_layers =
  function("net", {"x", "w1", "b1", "w2", "b2"}, {{"out", "id:output:0"}},
           inner("one", "StatefulPartitionedCall", {"x", "w1", "b1"}, calls("f", "dense")) +
             inner("two", "dense", {"one:output:0", "w2", "b2"}) +
             inner("id", "Identity", {"two:y:0", "^two"}, of_float)) + dense;
const std::string call_net =
  placeholder("x", {-1, 64}) + parameters +
  node("call", "StatefulPartitionedCall", {"x", "w1", "b1", "w2", "b2"}, calls("f", "net")) +
  node("y", "Identity", {"call"}, of_float);

/// The same written flat.
std::string flat_layer(const std::string& name, const std::string& x, const std::string& n) {
  return node(name + "/read_w", "ReadVariableOp", {"w" + n}, as_float) +
         node(name + "/read_b", "ReadVariableOp", {"b" + n}, as_float) +
         node(name + "/mm", "MatMul", {x, name + "/read_w"}, of_float) +
         node(name + "/bias", "BiasAdd", {name + "/mm", name + "/read_b"}, of_float) +
         node(name + "/relu", "Relu", {name + "/bias"}, of_float);
}
const std::string flat_net = placeholder("x", {-1, 64}) + parameters + flat_layer("call/one", "x", "1") +
                             flat_layer("call/two", "call/one/relu", "2") +
                             node("call/id", "Identity", {"call/two/relu"}, of_float) +
                             node("y", "Identity", {"call/id"}, of_float) + "versions { producer: 1087 }";

TEST_CASE("calls are replaced by the nodes of their functions, also nested and several times") {
  const auto m = read(call_net + library(two_layers), {.batch = 8});
  const auto flat = read(flat_net, {.batch = 8});
  CHECK(summary_of(m.ops) == summary_of(flat.ops));
  CHECK(total_work(m.ops) == total_work(flat.ops));
  CHECK(m.ops.work(op_called(m.ops, "call/two/mm")) == 2.0 * 8 * 128 * 32);
  const auto& w = m.ops;
  CHECK(w.group(op_called(w, "w1")) == w.group(op_called(w, "call/one/read_w")));
  CHECK(w.group(op_called(w, "b2")) == w.group(op_called(w, "call/two/read_b")));
  CHECK(w.group(op_called(w, "w1")) != w.group(op_called(w, "w2")));
  CHECK(w.resident_bytes(op_called(w, "w1")) == 64 * 128 * 4);
  const auto last = read(call_net + library(two_layers), {.batch = 8, .fetch = {"call:0"}});
  CHECK(last.ops.num_ops() == m.ops.num_ops() - 1);
}

TEST_CASE("calls that are kept cost what the function costs, and are where its variables are") {
  const auto m = read(call_net + library(two_layers), {.batch = 8, .keep_functions = true});
  const auto flat = read(flat_net, {.batch = 8});
  CHECK(m.ops.num_ops() == 7);
  CHECK(total_work(m.ops) == total_work(flat.ops));
  const auto call = op_called(m.ops, "call");
  CHECK(m.ops.bytes(m.ops.outputs(call)[0]) == 8 * 32 * 4);
  CHECK(m.ops.group(call) == m.ops.group(op_called(m.ops, "w2")));
}

TEST_CASE("what waits for a call waits for its effects, and they run though nobody reads them") {
  const auto effects = function("f", {"x", "v"}, {{"y", "s:y:0"}},
                                inner("s", "Square", {"x"}, of_float) + inner("unused", "Exp", {"x"}, of_float) +
                                  inner("add", "AssignAddVariableOp", {"v", "x"}, as_float), {"add"});
  const auto text = placeholder("x", {4}) + variable("v", {4}) + node("before", "NoOp") +
                    node("call", "StatefulPartitionedCall", {"x", "v", "^before"}, calls("f", "f")) +
                    node("after", "NoOp", {"^call"}) + library(effects);
  const auto s = summary_of(read(text, {.fetch = {"after"}}).ops);
  CHECK(s.ops.size() == 5);
  CHECK(s.edges == std::set<std::pair<std::string, std::string>>{{"x", "call/add"},
                                                                 {"v", "call/add"},
                                                                 {"before", "call/add"},
                                                                 {"call/add", "after"}});
  const auto empty = placeholder("x", {4}) + node("before", "NoOp") +
                     node("c", "PartitionedCall", {"^before"}, calls("f", "f")) +
                     node("d", "PartitionedCall", {"^c"}, calls("f", "f")) + node("after", "NoOp", {"^d"}) +
                     library(function("f", {}, {}, ""));
  CHECK(summary_of(read(empty, {.fetch = {"after"}}).ops).edges.contains({"before", "after"}));
}

TEST_CASE("outputs of ops inside functions are told by their names") {
  const auto f = function("f", {"x"}, {{"v", "top:values:0"}, {"i", "top:indices:0"}, {"p", "parts:output:1"}},
                          inner_scalar("k", 3) + inner_scalar("axis", 0) +
                            inner("top", "TopKV2", {"x", "k:output:0"}, of_float) +
                            inner("parts", "Split", {"axis:output:0", "x"}, attr("num_split", "i: 2") + of_float));
  const auto text = placeholder("x", {8, 10}) + node("c", "PartitionedCall", {"x"}, calls("f", "f")) +
                    node("a", "Identity", {"c"}, of_float) +
                    node("b", "Identity", {"c:1"}, type_attr("T", "DT_INT32")) +
                    node("d", "Identity", {"c:2"}, of_float) + library(f);
  const auto w = read(text).ops;
  const auto from = [&](std::string_view name) { return w.inputs(op_called(w, name))[0]; };
  CHECK(from("a") == w.outputs(op_called(w, "c/top"))[0]);
  CHECK(from("b") == w.outputs(op_called(w, "c/top"))[1]);
  CHECK(from("d") == w.outputs(op_called(w, "c/parts"))[1]);
  CHECK(w.bytes(from("d")) == 4 * 10 * 4);
  using namespace tensorflow::detail;
  const auto length = [](std::string_view attribute) { return attribute == "Nsparse" ? 2u : 3u; };
  CHECK(first_output(output_names("ParseExample"), "sparse_values", length) == 2);
  CHECK(first_output(output_names("ParseExample"), "dense_values", length) == 2 + 3 + 2);
  CHECK(first_output(output_names("FusedBatchNormV3"), "batch_variance", length) == 2);
  CHECK(output_names("Relu").empty());
  CHECK(output_names("TopK TopKV2").empty());
  const auto kept = read(text, {.keep_functions = true}).ops;
  CHECK(kept.bytes(kept.inputs(op_called(kept, "d"))[0]) == 4 * 10 * 4);
  const auto past = placeholder("x", {8}) + node("c", "PartitionedCall", {"x"}, calls("f", "f")) +
                    node("a", "Neg", {"c:7"}, of_float) + library(f);
  CHECK(refusal(past) == "net.pbtxt: output 7 of call 'c' is read, but function 'f' has 3");
}

TEST_CASE("attributes, colocations and devices of nodes are those of the call") {
  const auto f =
    "function { signature { name: 'f' input_arg { name: 'x' type_attr: 'T' } output_arg { name: 'y' type_attr: "
    "'T' } attr { name: 'T' type: 'type' } } " +
    inner("v", "VariableV2", {}, attr("dtype", "placeholder: 'T'") + attr("shape", shape({100}))) +
    inner("near", "Identity", {"x"},
          attr("T", "placeholder: 'T'") + attr("_class", "list { s: 'loc:@v' s: 'loc:@top' }")) +
    inner("y", "Add", {"near:output:0", "v:ref:0"}, " device: '/device:CPU:0'") + " ret { key: 'y' value: 'y:z:0' } }";
  const auto text =
    placeholder("x", {100}) + node("top", "NoOp") +
    node("c", "f", {"x"}, " device: '/device:GPU:0'" + type_attr("T", "DT_HALF")) +
    node("e", "PartitionedCall", {"x"}, attr("f", "func { name: 'f' attr { key: 'T' value { type: DT_DOUBLE } } }")) +
    library(f);
  const auto w = read(text, {.fetch = {"*"}}).ops;
  CHECK(w.resident_bytes(op_called(w, "c/v")) == 200);
  CHECK(w.resident_bytes(op_called(w, "e/v")) == 800);
  CHECK(w.group(op_called(w, "c/near")) == w.group(op_called(w, "c/v")));
  CHECK(w.group(op_called(w, "c/near")) == w.group(op_called(w, "top")));
  const auto whole = read(text, {.fetch = {"*"}, .keep_functions = true}).ops;
  REQUIRE(whole.outputs(op_called(whole, "c")).size() == 1);
  CHECK(whole.bytes(whole.outputs(op_called(whole, "c"))[0]) == 200);
  CHECK(whole.bytes(whole.outputs(op_called(whole, "e"))[0]) == 800);
  CHECK(w.kinds(op_called(w, "c/v")) == device_kind::gpu);
  CHECK(w.kinds(op_called(w, "c/y")) == device_kind::cpu);
}

TEST_CASE("names are unique, even if nodes are called like those inside a call") {
  const auto f =
    function("f", {"x"}, {{"y", "b:y:0"}}, inner("b", "Neg", {"x"}, of_float)) +
    function("g", {"x"}, {{"y", "c:y:0"}},
             inner("a", "PartitionedCall", {"x"}, calls("f", "f")) + inner("a/b", "Neg", {"a:output:0"}, of_float) +
               inner("a_1", "Neg", {"a/b:y:0"}, of_float) + inner("c", "Neg", {"a_1:y:0"}, of_float));
  const auto text = placeholder("x", {8}) + node("g", "PartitionedCall", {"x"}, calls("f", "g")) +
                    node("g/c", "Neg", {"g"}, of_float) + library(f);
  const auto s = summary_of(read(text).ops);
  std::set<std::string> names;
  for (const auto& [name, op] : s.ops) {
    names.insert(name);
  }
  CHECK(names == std::set<std::string>{"x", "g_1/a_2/b", "g_1/a/b", "g_1/a_1", "g_1/c", "g/c"});
}

const std::string branches =
  function("cheap", {"x"}, {{"y", "n:y:0"}}, inner("n", "Neg", {"x"}, of_float)) +
  function("dear", {"x"}, {{"y", "m:product:0"}}, inner("m", "MatMul", {"x", "x"}, of_float)) +
  function(
    "nested", {"x"}, {{"y", "inner:output:0"}},
    inner("p", "Const", {},
          type_attr("dtype", "DT_BOOL") + attr("value", "tensor { dtype: DT_BOOL tensor_shape { } bool_val: true }")) +
      inner("inner", "If", {"p:output:0", "x"}, calls("then_branch", "cheap") + calls("else_branch", "dear")));
std::string conditional(const std::string& yes, const std::string& no) {
  return placeholder("x", {16, 16}) +
         node("p", "Placeholder", {}, type_attr("dtype", "DT_BOOL") + attr("shape", "shape { }")) +
         node("if", "StatelessIf", {"p", "x"}, calls("then_branch", yes) + calls("else_branch", no)) +
         node("y", "Identity", {"if"}, of_float) + library(branches);
}

TEST_CASE("of conditionals the dearest branch is what runs, and it waits for its condition") {
  const auto m = read(conditional("cheap", "dear"));
  const auto s = summary_of(m.ops);
  CHECK(s.edges == std::set<std::pair<std::string, std::string>>{
                     {"x", "if/else_branch/m"}, {"p", "if/else_branch/m"}, {"if/else_branch/m", "y"}});
  CHECK(total_work(m.ops) == 2.0 * 16 * 16 * 16);
  CHECK(noted(m, "1 conditional: of its branches, only the costliest counts: 'if'"));
  const auto deep = read(conditional("nested", "cheap"));
  CHECK(deep.ops.work(op_called(deep.ops, "if/then_branch/inner/else_branch/m")) == 2.0 * 16 * 16 * 16);
  CHECK(noted(deep, "2 conditionals"));
  const auto whole = read(conditional("cheap", "dear"), {.keep_functions = true});
  CHECK(whole.ops.num_ops() == 4);
  CHECK(whole.ops.work(op_called(whole.ops, "if")) == 2.0 * 16 * 16 * 16);
  const auto one_of =
    placeholder("x", {16, 16}) + scalar("n", 1) +
    node("case", "Case", {"n", "x"}, attr("branches", "list { func { name: 'cheap' } func { name: 'dear' } }")) +
    library(branches);
  CHECK(summary_of(read(one_of).ops).ops.contains("case/branch_1/m"));
}

/// Counts from `first` while `compare`, and multiplies matrices.
std::string loop(const std::string& compare, const std::string& step, int first, int limit, int by, bool swap = false) {
  const auto cond =
    function("cond", {"i", "n", "x", "w"}, {{"c", "both:z:0"}},
             inner_scalar("most", 1000) +
               inner("less", compare, swap ? std::vector<std::string>{"n", "i"} : std::vector<std::string>{"i", "n"}) +
               inner("max", "Less", {"i", "most:output:0"}) + inner("both", "LogicalAnd", {"less:z:0", "max:z:0"}));
  const auto body =
    function("body", {"i", "n", "x", "w"}, {{"io", "next:output:0"}, {"no", "n"}, {"xo", "mm:product:0"}, {"wo", "w"}},
             inner_scalar("by", by) + inner("inc", step, {"i", "by:output:0"}, type_attr("T", "DT_INT32")) +
               inner("next", "Identity", {"inc:z:0"}, type_attr("T", "DT_INT32")) +
               inner("mm", "MatMul", {"x", "w"}, of_float));
  return placeholder("x", {32, 512}) + placeholder("w", {512, 512}) + scalar("zero", first) +
         scalar("ten", limit) +
         node("loop", "StatelessWhile", {"zero", "ten", "x", "w"}, calls("cond", "cond") + calls("body", "body")) +
         node("y", "Identity", {"loop:2"}, of_float) + library(cond + body);
}

TEST_CASE("loops cost their bodies times their trips, which are counted or told") {
  const double once = 2.0 * 32 * 512 * 512 + 1 + 3;
  const auto trips = [&](const std::string& text, const tensorflow::reader& r = {}) {
    const auto w = read(text, r).ops;
    return w.work(op_called(w, "loop")) / once;
  };
  const auto m = read(loop("Less", "AddV2", 0, 10, 1));
  CHECK(m.ops.work(op_called(m.ops, "loop")) == 10 * once);
  CHECK(m.ops.bytes(m.ops.inputs(op_called(m.ops, "y"))[0]) == 32 * 512 * 4);
  CHECK(noted(m, "1 loop counts as often as it runs: 'loop' 10 times"));
  CHECK(trips(loop("LessEqual", "AddV2", 0, 10, 1)) == 11);
  CHECK(trips(loop("Less", "AddV2", 0, 10, 3)) == 4);
  CHECK(trips(loop("LessEqual", "Add", 1, 10, 3)) == 4);
  CHECK(trips(loop("Less", "AddV2", 12, 10, 1)) == 0);
  CHECK(trips(loop("Greater", "Sub", 10, 0, 2)) == 5);
  CHECK(trips(loop("Greater", "AddV2", 0, 7, 1, true)) == 7);
  CHECK(trips(loop("Less", "AddV2", 0, 5000, 1)) == 1000); // as the second comparison says
  CHECK(trips(loop("NotEqual", "Mul", 0, 10, 1)) == 1);
  CHECK(read(loop("NotEqual", "Mul", 0, 10, 1)).assumed ==
        std::vector<assumed_size>{{assumed_size::option::trips, "loop", "While"}});
  CHECK(trips(loop("NotEqual", "Mul", 0, 10, 1), {.trips = {{"loop", 6}}}) == 6);
  CHECK(trips(loop("NotEqual", "Mul", 0, 10, 1), {.trips = {{"*", 5}}}) == 5);
  CHECK(trips(loop("Less", "AddV2", 0, 10, 1), {.trips = {{"loop", 3}}}) == 3);
  CHECK(refusal(loop("Less", "AddV2", 0, 10, 1), {.trips = {{"lop", 3}}}) ==
        "net.pbtxt: trips are given for 'lop', which is not a loop of the graph; there is 'loop'");
}

TEST_CASE("what a loop passes on through identities does not change, as TensorFlow 2 writes loops") {
  auto text = loop("Less", "AddV2", 0, 10, 1);
  const std::string_view as_it_is = "ret { key: 'no' value: 'n' }";
  text.replace(text.find(as_it_is), as_it_is.size(), "ret { key: 'no' value: 'n2:output:0' }");
  const auto at = text.find("node_def { name: 'mm'");
  text.insert(at, inner("n1", "Identity", {"n"}, type_attr("T", "DT_INT32")) +
                    inner("n2", "Identity", {"n1:output:0"}, type_attr("T", "DT_INT32")));
  CHECK(noted(read(text), "'loop' 10 times"));
}

TEST_CASE("a loop inside functions and loops is named by the calls on the way") {
  const auto text = loop("Less", "AddV2", 0, 10, 1);
  auto outer = text.substr(0, text.find("library"));
  outer = placeholder("x", {32, 512}) + placeholder("w", {512, 512}) +
          node("call", "PartitionedCall", {"x", "w"}, calls("f", "f")) + node("y", "Neg", {"call"}, of_float);
  const auto f = function("f", {"x", "w"}, {{"y", "loop:output:2"}},
                          inner_scalar("zero", 0) + inner_scalar("ten", 10) +
                            inner("loop", "While", {"zero:output:0", "ten:output:0", "x", "w"},
                                  calls("cond", "cond") + calls("body", "body")));
  auto functions = text.substr(text.find("library"));
  functions.insert(functions.find("function"), f);
  const auto w = read(outer + functions).ops;
  CHECK(w.work(op_called(w, "call/loop")) == 10 * (2.0 * 32 * 512 * 512 + 4));
  CHECK(total_work(read(outer + functions, {.trips = {{"call/loop", 2}}}).ops) ==
        2 * (2.0 * 32 * 512 * 512 + 4) + 32 * 512);
  const auto again =
    node("again", "PartitionedCall", {"call", "w"}, calls("f", "f")) + node("z", "Neg", {"again"}, of_float);
  const auto kept =
    read(outer + again + functions, {.trips = {{"call/loop", 2}, {"again/loop", 3}}, .keep_functions = true}).ops;
  CHECK(kept.work(op_called(kept, "call")) == 2 * (2.0 * 32 * 512 * 512 + 4));
  CHECK(kept.work(op_called(kept, "again")) == 3 * (2.0 * 32 * 512 * 512 + 4));
}

TEST_CASE("functions that call themselves, are broken, or multiply without end do no harm") {
  const auto self =
    function("self", {"a"}, {{"r", "s:output:0"}}, inner("s", "PartitionedCall", {"a"}, calls("f", "self")));
  const auto m = read(placeholder("x", {8}) + node("c", "PartitionedCall", {"x"}, calls("f", "self")) + library(self));
  CHECK(m.ops.work(op_called(m.ops, "c/s")) == 0);
  CHECK(noted(m, "function 'self' calls itself"));
  const auto call = [&](const std::string& name) {
    return placeholder("x", {8}) + node("c", "PartitionedCall", {"x"}, calls("f", name)) +
           library(function("broken", {}, {}, inner("s", "Neg", {"gone"})));
  };
  CHECK(noted(read(call("broken")), "'broken' cannot be looked into"));
  CHECK(read(call("gone")).ops.work(1) > 0);
  std::string twice = function("f0", {"a"}, {{"r", "s:y:0"}}, inner("s", "Neg", {"a"}, of_float));
  for (int i = 1; i < 40; ++i) {
    const auto before = "f" + std::to_string(i - 1);
    twice += function("f" + std::to_string(i), {"a"}, {{"r", "t:r:0"}},
                      inner("s", before, {"a"}) + inner("t", before, {"s:r:0"}));
  }
  const auto hostile = placeholder("x", {8}) + node("c", "f39", {"x"}) + library(twice);
  CHECK(refusal(hostile).find("functions call each other so often") != std::string::npos);
  CHECK(read(placeholder("x", {8}) + node("c", "f9", {"x"}) + library(twice)).ops.num_ops() == 1 + 512);
  const auto circle = placeholder("x", {8}) + node("c", "PartitionedCall", {"d"}, calls("f", "id")) +
                      node("d", "PartitionedCall", {"c"}, calls("f", "id")) + node("y", "Neg", {"d"}, of_float) +
                      library(function("id", {"a"}, {{"r", "a"}}, ""));
  CHECK(refusal(circle) == "net.pbtxt: calls of functions give each other what they return: the graph has a cycle");
}

TEST_CASE("inputs that calls multiply are bounded, and who waits for a call waits once for each op") {
  const auto adds =
    function("adds", {"x"}, {{"y", "sum:sum:0"}},
             inner("sum", "AddN", std::vector<std::string>(1000, "x"), of_float + attr("N", "i: 1000")));
  const auto shows = [&](std::size_t returns) {
    std::vector<std::pair<std::string, std::string>> all;
    for (std::size_t i = 0; i < returns; ++i) {
      all.emplace_back("r" + std::to_string(i), "n:y:0");
    }
    return function("shows", {"x"}, all, inner("n", "Neg", {"x"}, of_float));
  };
  std::string many = placeholder("x", {8});
  std::string waiting = placeholder("x", {8}) + node("c", "shows", {"x"});
  for (int i = 0; i < 700; ++i) {
    many += node("c" + std::to_string(i), "adds", {"x"});
    waiting += node("w" + std::to_string(i), "Neg", {"x", "^c"}, of_float);
  }
  CHECK(refusal(many + library(adds)).find("functions call each other so often") != std::string::npos);
  const auto w = read(waiting + library(shows(1000))).ops;
  CHECK(w.inputs(op_called(w, "w9")).size() == 2);
}

const std::vector<std::string> names{"/device:CPU:0", "/device:GPU:0", "/device:GPU:1"};
std::string placed(const std::string& bytes, const workload& w, const std::map<std::string, device_id>& where,
                   std::vector<std::string>* notes = nullptr) {
  std::vector<device_id> placement(w.num_ops(), none);
  for (const auto& [name, d] : where) {
    placement[op_called(w, name)] = d;
  }
  std::ostringstream out;
  const auto told = tensorflow::write_placed(out, bytes, w, placement, names);
  if (notes != nullptr) {
    *notes = told;
  }
  return out.str();
}

TEST_CASE("placements go back into functions") {
  const auto text = call_net + library(two_layers);
  const auto w = read(text).ops;
  std::vector<std::string> notes;
  const auto result =
    placed(text, w, {{"x", 0}, {"w1", 1}, {"call/id", 2}, {"call/one/mm", 1}, {"call/two/mm", 1}}, &notes);
  auto expected = text;
  const auto put = [&](const std::string& head, const std::string& device) {
    const auto at = expected.find(head);
    REQUIRE(at != std::string::npos);
    expected.insert(at + head.size(), " device: \"" + device + "\"");
  };
  put("name: 'x' op: 'Placeholder'", names[0]);
  put("name: 'w1' op: 'VarHandleOp'", names[1]);
  put("name: 'id' op: 'Identity' input: 'two:y:0' input: '^two'", names[2]);
  put("name: 'mm' op: 'MatMul' input: 'x' input: 'read_w:value:0'", names[1]);
  CHECK(result == expected);
  CHECK(notes.empty());
  const auto graph_def = tensorflow::schema::message_id::graph_def;
  const auto binary = tensorflow::from_text(text, graph_def, "x");
  CHECK(placed(binary, w, {{"x", 0}, {"w1", 1}, {"call/id", 2}, {"call/one/mm", 1}, {"call/two/mm", 1}}) ==
        tensorflow::from_text(expected, graph_def, "x"));
  CHECK(placed(binary, w, {}) == binary);

  const auto differ =
    placed(text, w, {{"call/one/mm", 1}, {"call/two/mm", 2}, {"call/one/relu", 2}, {"call/two/relu", 2}}, &notes);
  CHECK(differ.find("input: 'read_w:value:0' device: \"/device:GPU:0\"") != differ.npos);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] ==
        "function 'dense' has one device per node, but its calls are placed differently: those of 'call/one' are "
        "written, unlike 1 op of others, such as 'call/two'");
}

TEST_CASE("whatever reads the handle of a variable is where that is") {
  const auto text = variable("v", {64, 128}) + scalar("zero", 0) +
                    node("gather", "ResourceGatherNd", {"v", "zero"}, as_float + type_attr("Tindices", "DT_INT32")) +
                    node("shape", "VariableShape", {"v"}, type_attr("out_type", "DT_INT32")) +
                    node("count", "ResourceCountUpTo", {"v"}, attr("limit", "i: 7") + type_attr("T", "DT_INT32"));
  const auto w = read(text, {.fetch = {"*"}}).ops;
  for (const auto* const name : {"gather", "shape", "count"}) {
    CHECK(w.group(op_called(w, name)) == w.group(op_called(w, "v")));
  }
  CHECK(w.group(op_called(w, "v")) != none);
  const auto step = read(text, {.fetch = {"gather"}}).ops;
  CHECK(
    placed(text, step, {{"v", 2}}).find("name: 'count' op: 'ResourceCountUpTo' input: 'v' device: \"/device:GPU:1\"") !=
    std::string::npos);
}

TEST_CASE("placements go back into the branch that was read") {
  const auto text = conditional("cheap", "dear");
  const auto w = read(text).ops;
  const auto result = placed(text, w, {{"if/else_branch/m", 2}});
  CHECK(result.find("name: 'm' op: 'MatMul' input: 'x' input: 'x' device: \"/device:GPU:1\"") != result.npos);
}

} // namespace interop_tensorflow_functions_test
