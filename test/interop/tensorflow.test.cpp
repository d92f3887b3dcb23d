// SPDX-License-Identifier: BSL-1.0
// Graphs in text and binary as workloads: inputs, devices, colocations, variables, constants, loops, functions, errors.
#include "interop/reading.hpp"
#include "interop/tensorflow_graphs.hpp"
#include "weft/interop/tensorflow.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace interop_tensorflow_test {

using namespace weft;
using namespace weft_test;

model read(const std::string& text, const tensorflow::reader& r = {}) {
  const auto m = r.read(text, "net.pbtxt");
  const auto bytes = tensorflow::from_text(text, tensorflow::schema::message_id::graph_def, "net.pbtxt");
  const auto again = r.read(bytes, "net.pb"); // both encodings say the same
  REQUIRE(again.ops.num_edges() == m.ops.num_edges());
  CHECK(again.notes == m.notes);
  return m;
}

std::string refusal(const std::string& text) {
  return refusal_of([&] { return tensorflow::reader{}.read(text, "net.pbtxt"); });
}

std::vector<byte_count> outputs(const model& m, op_id v) {
  std::vector<byte_count> bytes;
  for (const tensor_id t : m.ops.outputs(v)) {
    bytes.push_back(m.ops.bytes(t));
  }
  return bytes;
}

const std::string fed = placeholder("x", {-1, 784});
const std::string producer = "versions { producer: 27 }";
std::string near(const std::string& name) { return attr("_class", "list { s: 'loc:@" + name + "' }"); }

std::string variable(const std::string& name, const tensor_dims& dims) {
  return node(name, "VariableV2", {}, type_attr("dtype", "DT_FLOAT") + attr("shape", shape(dims))) +
         node(name + "/read", "Identity", {name}, type_attr("T", "DT_FLOAT") + near(name));
}

TEST_CASE("the width of floating-point numbers is told") {
  const auto width = [](const std::string& type) { return number_bits(read(placeholder("x", {8}, type))); };
  CHECK(width("DT_HALF") == 16);
  CHECK(width("DT_FLOAT") == 32);
  CHECK(width("DT_DOUBLE") == 64);
}

TEST_CASE("nodes become ops in their order, with shapes, work and edges") {
  const auto m = read(fed + variable("w", {784, 10}) +
                        node("y", "MatMul", {"x", "w/read"}, type_attr("T", "DT_FLOAT")) +
                        node("s", "Split", {"axis", "y"}, number("num_split", 2)) +
                        constant("axis", "DT_INT32", {}, "int_val: 1") + node("sum", "Add", {"s:1", "s", "^y"}) +
                        node("square", "Mul", {"sum", "sum:0", "^sum", "^x", "^x"}) + producer, {.batch = 64});
  const auto& w = m.ops;
  CHECK(m.format == "TensorFlow GraphDef");
  REQUIRE(w.num_ops() == 8);
  CHECK(w.name(3) == "y");
  CHECK(w.type(3) == "MatMul");
  CHECK(w.work(3) == 2.0 * 64 * 784 * 10);
  CHECK(outputs(m, 0) == std::vector<byte_count>{64 * 784 * 4, 0}); // and one for control edges
  CHECK(outputs(m, 1) == std::vector<byte_count>{8});
  CHECK(w.resident_bytes(1) == 784 * 10 * 4);
  CHECK(outputs(m, 2) == std::vector<byte_count>{784 * 10 * 4});
  CHECK(outputs(m, 4) == std::vector<byte_count>{64 * 5 * 4, 64 * 5 * 4});
  CHECK(w.inputs(6).size() == 3);
  CHECK(w.inputs(7).size() == 2); // each producer once, and no control edge where a tensor comes from it
  CHECK(w.group(1) == w.group(2));
  CHECK(w.num_groups() == 1);
  CHECK(m.assumed.empty());
}

TEST_CASE("devices and ops without kernels for other kinds constrain where an op runs") {
  const auto kinds = [](const std::string& op, const std::string& device) {
    return read("node { name: 'a' op: '" + op + "' device: '" + device + "' }").ops.kinds(0);
  };
  const kind_set cpu = device_kind::cpu, gpu = device_kind::gpu, tpu = device_kind::tpu;
  CHECK(kinds("NoOp", "").is_all());
  for (const char* const name : {"/gpu:0", "/device:GPU:3", "/job:w/replica:0/task:1/device:GPU:0", "GPU", "gpu:1",
                                 "/job:localhost/replica:0/task:0/device:XLA_GPU:0", "/job:a/gpu:*"}) {
    CAPTURE(name);
    CHECK(kinds("NoOp", name) == gpu);
  }
  CHECK(kinds("NoOp", "/job:localhost/replica:0/task:0/cpu:0") == cpu);
  CHECK(kinds("NoOp", "/device:TPU:0") == tpu);
  CHECK(kinds("NoOp", "/job:worker/task:3").is_all());
  CHECK(kinds("NoOp", "/device:ABACUS:0").is_all());
  CHECK(kinds("QueueDequeueManyV2", "") == cpu);
  CHECK(kinds("RestoreV2", "/device:GPU:0") == cpu);
  CHECK(read("node { name: 'a' op: 'Identity' attr { key: 'T' value { type: DT_STRING } } }").ops.kinds(0) == cpu);
  CHECK(noted(read("node { name: 'a' op: 'NoOp' device: '/device:ABACUS:0' }"), "kind of device that is not known"));
  CHECK(noted(read("node { name: 'a' op: 'NoOp' device: '/gpu:1' }"), "only the kind of device is kept"));
  CHECK_FALSE(noted(read("node { name: 'a' op: 'NoOp' device: '/gpu:0' }"), "only the kind"));
  CHECK(noted(read("node { name: 'a' op: 'SaveV2' device: '/gpu:0' }"), "the CPU is taken"));
}

TEST_CASE("colocation is transitive; a missing partner is noted; references keep their readers") {
  const auto m = read(node("a", "NoOp", {}, near("b")) + node("b", "NoOp", {}, near("c")) + node("c", "NoOp") +
                      node("d", "NoOp", {}, near("gone")) + node("v", "VarHandleOp", {}, attr("shape", shape({3}))) +
                      node("r", "ReadVariableOp", {"v"}) + node("u", "ResourceApplyGradientDescent", {"v", "r", "r"}));
  CHECK(m.ops.group(0) == m.ops.group(2));
  CHECK(m.ops.group(3) == none);
  CHECK(noted(m, "1 colocation names a node that is not in the file"));
  CHECK(m.ops.group(4) == m.ops.group(6));
  CHECK(m.ops.group(4) == m.ops.group(5));
  CHECK(m.ops.resident_bytes(4) == 12);
  CHECK(outputs(m, 4) == std::vector<byte_count>{8});
  CHECK(outputs(m, 5) == std::vector<byte_count>{12});
  CHECK(outputs(m, 6).empty());
  CHECK(m.ops.work(6) == 6);
}

/// A constant of that many floats, all stored or one for all.
std::string floats(std::int64_t count, bool stored, const std::string& device = "") {
  std::string content;
  for (std::int64_t i = 0; i < 4 * count; ++i) {
    content += "\\001";
  }
  auto text = constant("c", "DT_FLOAT", {count}, stored ? "tensor_content: '" + content + "'" : "float_val: 0");
  return text.insert(text.find("attr"), "device: '" + device + "' ");
}

TEST_CASE("large constants are parameters and stay with those that read them") {
  const auto reader = node("r", "Neg", {"i"});
  const auto identity = node("i", "Identity", {"c"});
  SUBCASE("one reader, through an Identity") {
    const auto m = read(floats(2000, true) + identity + reader);
    CHECK(outputs(m, 0) == std::vector<byte_count>{0});
    CHECK(outputs(m, 1) == std::vector<byte_count>{0});
    CHECK(outputs(m, 2) == std::vector<byte_count>{8000});
    CHECK(m.ops.resident_bytes(0) == 0);
    CHECK(m.ops.resident_bytes(2) == 8000);
    CHECK(m.ops.group(0) == m.ops.group(2)); // or its bytes would travel in every step
    CHECK(m.ops.group(1) == m.ops.group(2));
    CHECK(m.ops.group(2) != none);
    CHECK(noted(m, "1 constant is a parameter"));
    REQUIRE(m.parameters.size() == 1);
    CHECK(m.parameters[0].name == "c");
    CHECK(m.parameters[0].op == 2);
    CHECK(m.parameters[0].bytes == 8000);
  }
  SUBCASE("several readers stay together, whatever the order of nodes") {
    const auto m = read(reader + node("s", "Neg", {"c"}) + identity + floats(2000, true));
    CHECK(m.ops.resident_bytes(0) == 8000);
    CHECK(m.ops.resident_bytes(1) == 0);
    CHECK(m.ops.group(0) == m.ops.group(1));
    CHECK(m.ops.group(0) != none);
    CHECK(m.ops.group(3) == m.ops.group(0));
  }
  SUBCASE("readers that the graph keeps on different kinds of devices have a copy each") {
    const auto m = read(floats(2000, true) + node("r", "Neg", {"c"}, "device: '/gpu:0' ") +
                        node("s", "Neg", {"c"}, "device: '/cpu:0' "));
    CHECK(m.ops.resident_bytes(1) == 8000);
    CHECK(m.ops.resident_bytes(2) == 8000);
    CHECK(m.ops.group(0) == m.ops.group(1));
    CHECK(m.ops.group(2) == none);
    CHECK(noted(m, "a copy of it"));
  }
  SUBCASE("a constant that the graph keeps on a CPU does not bring its readers there") {
    const auto m = read(reader + identity + floats(2000, true, "/cpu:0"));
    CHECK(m.ops.kinds(0).is_all());
    CHECK(m.ops.group(0) != m.ops.group(2));
  }
  SUBCASE("small ones and repeated values are data") {
    CHECK(outputs(read(floats(1024, true) + identity), 0) == std::vector<byte_count>{4096});
    CHECK(outputs(read(floats(100000, false) + identity), 0) == std::vector<byte_count>{400000});
  }
  SUBCASE("nobody reads it") { CHECK(read(floats(2000, true)).ops.resident_bytes(0) == 8000); }
}

TEST_CASE("inputs without a shape get that of what reads them, or what the caller says") {
  const auto old = node("x", "Placeholder", {}, attr("shape", "shape { }")) +
                   constant("to", "DT_INT32", {4}, "int_val: [-1, 28, 28, 1]") + node("image", "Reshape", {"x", "to"});
  const auto m = read(old, {.batch = 32});
  CHECK(outputs(m, 0) == std::vector<byte_count>{32 * 784 * 4});
  CHECK(outputs(m, 2) == std::vector<byte_count>{32 * 784 * 4});
  CHECK(noted(m, "'x' [32, 784]"));
  CHECK(outputs(read(old + "versions { producer: 24 }"), 0) == std::vector<byte_count>{4}); // since then: a scalar
  const auto given = read(old, {.shapes = {{"x", {7, 28, 28}}}});
  CHECK(outputs(given, 0) == std::vector<byte_count>{7 * 784 * 4});
  for (const char* name : {"y", "to"}) { // nothing of that name, and no input
    CHECK_THROWS_WITH_AS((void)read(old, {.shapes = {{name, {7}}}}),
                         ("net.pbtxt: a shape is given for '" + std::string{name} +
                          "', which is neither an input of the graph nor an op that could have it; inputs are 'x'")
                           .c_str(),
                         parse_error);
  }
  CHECK(outputs(given, 2) == std::vector<byte_count>{7 * 784 * 4});
  const auto guessed = read(node("x", "Placeholder") + node("y", "Neg", {"x"}), {.batch = 5});
  CHECK(outputs(guessed, 1) == std::vector<byte_count>{20});
  CHECK(noted(guessed, "none can be inferred"));
  using option = assumed_size::option;
  CHECK(guessed.assumed == std::vector<assumed_size>{{option::shape, "x"}});
}

TEST_CASE("shapes that nobody tells are told, and can be given by the names of ops") {
  using option = assumed_size::option;
  const auto open = node("x", "Placeholder", {}, attr("shape", "shape { dim { size: -1 } dim { size: -1 } }")) +
                    node("a", "Mystery", {"x"}, attr("T", "type: DT_FLOAT")) + node("y", "Neg", {"a"});
  CHECK(read(open).assumed ==
        std::vector<assumed_size>{{option::batch}, {option::shape, "x"}, {option::shape, "a", "Mystery"}});
  const auto given = read(open, {.shapes = {{"x", {2, 3}}, {"a", {5, 7}}}});
  CHECK(given.assumed.empty());
  CHECK(outputs(given, 2) == std::vector<byte_count>{5 * 7 * 4});
}

TEST_CASE("loops count once, conditionals with both branches") {
  const auto m = read(constant("c", "DT_FLOAT", {}, "") + node("e", "Enter", {"c"}) + node("m", "Merge", {"e", "n"}) +
                      node("s", "Switch", {"m", "p"}) + node("p", "LoopCond", {"m"}) +
                      node("n", "NextIteration", {"s:1"}) + node("x", "Exit", {"s"}));
  CHECK(m.ops.num_edges() == 7);
  CHECK(noted(m, "1 loop of Enter and Exit: what is inside counts once"));
  CHECK(noted(m, "1 conditional:"));
}

TEST_CASE("a batch that nothing depends on is refused") {
  const auto fixed = placeholder("x", {4}) + producer;
  CHECK_THROWS_WITH_AS((void)read(fixed, {.batch = 8}),
                       doctest::Contains("the batch cannot be chosen: no extent is left open"),
                       error);
  CHECK(read(fixed).notes.empty());
  CHECK_NOTHROW((void)read(fed, {.batch = 8}));
}

TEST_CASE("ops without a formula are told") {
  const auto m = read(fed + node("y", "Frobnicate", {"x"}) + node("z", "Neg", {"y"}), {.batch = 3});
  CHECK(m.ops.work(1) == 3 * 784);
  CHECK(outputs(m, 1) == std::vector<byte_count>{3 * 784 * 4});
  CHECK(noted(m, "1 op of type 'Frobnicate' without a formula"));
}

TEST_CASE("what the file declares of shapes comes first, what the caller says of inputs before that") {
  const auto declared = "list { " + shape({-1, 7}) + " shape { unknown_rank: true } }";
  const auto m = read(
    fed + node("y", "Frobnicate", {"x"}, type_attr("T", "DT_HALF") + attr("_output_shapes", declared)), {.batch = 3});
  CHECK(outputs(m, 1).size() == 2);
  CHECK(outputs(m, 1)[0] == 3 * 7 * 2);
}

TEST_CASE("what is wrong is said in one line") {
  CHECK(refusal("node { name: 'a' op: 'NoOp' }\nnode { name: 'a' op: 'NoOp' }") ==
        "net.pbtxt:2: node 1 'a' has a name that another node has already: names must differ");
  CHECK(refusal("node { op: 'NoOp' }") == "net.pbtxt:1: node 0 '' has no name");
  CHECK(refusal("node { name: 'a' }") == "net.pbtxt:1: node 0 'a' has no op");
  CHECK(refusal("node { name: 'a' op: 'Neg'\ninput: 'b' }") ==
        "net.pbtxt:2: node 'a' has input 'b', but there is no node of that name");
  CHECK(refusal("node { name: 'a' op: 'Neg' input: 'a:x1y:z' }").find("the number of an output") != std::string::npos);
  CHECK(refusal("node { name: 'a' op: 'Neg' input: 'a:70000' }").find("from 0 to 65535") != std::string::npos);
  CHECK(refusal("node { name: 'a' op: 'Neg' input: 'a' }").find("the graph has a cycle: op 0 'a' -> op 0 'a'") !=
        std::string::npos);
  CHECK(refusal("node { name: 'a\\nb' op: 'Neg' input: 'a\\nb' }").find('\n') == std::string::npos);
  CHECK(
    refusal("") ==
    "net.pbtxt: not a TensorFlow graph: the formats understood are GraphDef, SavedModel and CostGraphDef, "
    "as text or binary");
  CHECK(refusal("{}").find("not a TensorFlow graph") != std::string::npos);
  const auto huge = fed + node("y", "Fill", {"n", "x"}) +
                    constant("n", "DT_INT64", {3}, "int64_val: 9223372036854775807");
  CHECK(refusal(huge).find("is too large") != std::string::npos);
  try {
    (void)tensorflow::reader{}.read(
      node("a", "Neg", {}, "device: '/gpu:0' ") + node("b", "Neg", {}, "device: '/cpu:0' " + near("a")), "net.pbtxt");
    FAIL("a group without a common kind was read");
  } catch (const parse_error& e) {
    CHECK_THROWS_AS(std::rethrow_if_nested(e), constraint_error);
  }
}

TEST_CASE("graphs are recognised by their content") {
  const tensorflow::reader r;
  const auto bytes = tensorflow::from_text(fed, tensorflow::schema::message_id::graph_def, "x");
  CHECK(r.recognises(fed));
  CHECK(r.recognises(bytes));
  CHECK(r.recognises(bytes.substr(0, bytes.size() / 2)));
  CHECK(r.recognises("# comment\n\n  node {"));
  CHECK(r.recognises("library {} versions { producer: 1 }"));
  CHECK(r.recognises(
    tensorflow::from_text("library {} versions { producer: 1 }", tensorflow::schema::message_id::graph_def, "x")));
  for (const std::string other : {"", "{\"format\": \"weft.workload\"}", "Id,(Outgoing) node", "50\n", "nodes", "node",
                                  "node1 -- a -- b", "% hyperdag\n1 2 3", "\x08\x07\x12\x07pytorch:", "<html>",
                                  "layer { name: 'x' }", "ir_version: 7 graph { node { } }"}) {
    CAPTURE(other);
    CHECK_FALSE(r.recognises(other));
  }
}

} // namespace interop_tensorflow_test
