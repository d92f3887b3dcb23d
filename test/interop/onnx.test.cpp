// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/onnx.hpp"
#include "interop/onnx_models.hpp"
#include "weft/workload/frozen.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace interop_onnx_test {

using namespace weft;
using weft_test::onnx_model;
using weft_test::refusal;
using weft_test::total_resident_bytes;
using weft_test::total_work;

/// x (2×3) · w (3×4) + b, as Gemm, then Relu.
onnx_model dense() {
  onnx_model m;
  m.input("x", {2, 3}).weights("w", {3, 4}).weights("b", {4});
  m.node("Gemm", {"x", "w", "b"}, {"y"}).set_name("dense");
  m.node("Relu", {"y"}, {"z"});
  return m;
}

bool mentions(const std::vector<std::string>& notes, std::string_view text) {
  return std::any_of(notes.begin(), notes.end(), [&](const auto& n) { return n.find(text) != n.npos; });
}

TEST_CASE("onnx: a batch that no input has is refused") {
  onnx_model m;
  m.input("x", {}).weights("w", {3, 4});
  m.node("Mul", {"x", "w"}, {"y"});
  CHECK(m.read().ops.num_ops() == 1);
  CHECK(refusal([&] {
          return m.read({.batch = 4});
        }) == "test.onnx: the batch cannot be chosen: the model has no input with a first extent; leave out what "
              "chooses it");
}

TEST_CASE("onnx: nodes become ops in their order, with names, types, bytes, FLOP and resident parameters") {
  const auto m = dense().read();
  CHECK(m.format == "ONNX");
  CHECK(m.seconds.empty());
  REQUIRE(m.ops.num_ops() == 2);
  CHECK(m.ops.name(0) == "dense");
  CHECK(m.ops.name(1) == "z"); // it has none: that of its first output
  CHECK(m.ops.type(0) == "Gemm");
  CHECK(m.ops.work(0) == 2 * 2 * 4 * 3 + 2 * 4);
  CHECK(m.ops.work(1) == 8);
  CHECK(m.ops.resident_bytes(0) == (12 + 4) * 4);
  CHECK(m.ops.resident_bytes(1) == 0);
  REQUIRE(m.ops.num_edges() == 1);
  CHECK(m.ops.bytes(0) == 8 * 4);
  CHECK(m.ops.num_groups() == 0);
  CHECK(m.notes.empty());
}

TEST_CASE("onnx: the batch replaces a fixed, a named and an unknown first extent") {
  CHECK(total_work(dense().read({.batch = 20}).ops) == 10 * total_work(dense().read().ops));
  auto named = dense();
  named.m.mutable_graph()
    ->mutable_input(0)
    ->mutable_type()
    ->mutable_tensor_type()
    ->mutable_shape()
    ->mutable_dim(0)
    ->set_dim_param("N");
  CHECK(named.read().ops.bytes(0) == 4 * 4);
  CHECK(named.read({.batch = 5}).ops.bytes(0) == 5 * 4 * 4);
  CHECK(named.read({.dimensions = {{"N", 7}}}).ops.bytes(0) == 7 * 4 * 4);
  CHECK(refusal([&] {
          return named.read({.dimensions = {{"M", 7}}});
        }) == "test.onnx: no open dimension is called 'M'; there is 'N'");
  auto unknown = dense();
  unknown.m.mutable_graph()
    ->mutable_input(0)
    ->mutable_type()
    ->mutable_tensor_type()
    ->mutable_shape()
    ->mutable_dim(0)
    ->clear_value();
  CHECK(unknown.read({.batch = 3}).ops.bytes(0) == 3 * 4 * 4);
}

TEST_CASE("onnx: extents that nobody gave are told, and each can be given by its name") {
  onnx_model m;
  m.input("tokens", {-1, -1, 8});
  m.node("Relu", {"tokens"}, {"y"});
  m.m.mutable_graph()
    ->mutable_input(0)
    ->mutable_type()
    ->mutable_tensor_type()
    ->mutable_shape()
    ->mutable_dim(1)
    ->set_dim_param("seq");
  using option = assumed_size::option;
  CHECK(m.read().assumed == std::vector<assumed_size>{{option::batch}, {option::dimension, "seq"}});
  CHECK(m.read({.batch = 2, .dimensions = {{"seq", 16}}}).ops.work(0) == 2 * 16 * 8);
  CHECK(m.read({.unknown_dimension = 10}).ops.work(0) == 10 * 8);
  CHECK(m.read({.batch = 2, .dimensions = {{"seq", 16}}}).assumed.empty());

  onnx_model found;
  found.input("x", {4, -1}).input("scores", {9}).input("others", {9});
  found.node("NonZero", {"scores"}, {"at"});
  found.node("Transpose", {"at"}, {"rows"});
  found.node("NonZero", {"others"}, {"kept"});
  found.node("Neg", {"kept"}, {"negative"});
  auto& declared = *found.m.mutable_graph()->add_value_info();
  declared.set_name("kept");
  auto& type = *declared.mutable_type()->mutable_tensor_type();
  type.set_elem_type(::onnx::TensorProto::INT64);
  type.mutable_shape()->add_dim()->set_dim_value(1);
  type.mutable_shape()->add_dim()->set_dim_param("num_kept");
  CHECK(found.read({.unknown_dimension = 3}).assumed ==
        std::vector<assumed_size>{{option::dimension, "x.1", {}, 3},
                                  {option::dimension, "at.1", "NonZero", 3},
                                  {option::dimension, "num_kept", "NonZero", 3}}); // and not what follows from them
  const auto given = found.read({.dimensions = {{"x.1", 6}, {"at.1", 7}, {"num_kept", 5}}});
  CHECK(given.assumed.empty());
  CHECK(given.ops.bytes(*given.ops.outputs(1).begin()) == 7 * 8);
  CHECK(given.ops.work(3) == 5);
  onnx_model declared_otherwise; // what data decide changes no shape that the file fixes
  declared_otherwise.input("x", {3, 4});
  declared_otherwise.node("Relu", {"x"}, {"y"});
  declared_otherwise.node("NonZero", {"x"}, {"at"});
  declared_otherwise.output("y", {3, 8});
  CHECK(declared_otherwise.read({.dimensions = {{"at.1", 5}}}).ops.bytes(0) == declared_otherwise.read().ops.bytes(0));
  CHECK(refusal([&] {
          return found.read({.dimensions = {{"at.0", 7}}});
        }) == "test.onnx: no open dimension is called 'at.0'; there is 'NonZero', 'at.1', 'num_kept', "
             "'x.1'");
}

TEST_CASE("onnx: a reshape to constant extents follows the batch, and one computed from a shape does, too") {
  onnx_model m;
  m.input("x", {1, 3, 4}).integers("to", {1, 12}).weights("w", {12, 5});
  m.node("Reshape", {"x", "to"}, {"flat"});
  m.node("MatMul", {"flat", "w"}, {"y"});
  const auto read = m.read({.batch = 6});
  CHECK(read.ops.work(1) == 2 * 6 * 12 * 5);
  CHECK(mentions(read.notes, "adapted to the batch"));
  CHECK(m.read().notes.empty());

  onnx_model computed;
  computed.input("x", {-1, 3, 4}).integers("zero", {0}).integers("rest", {-1}).weights("w", {12, 5});
  computed.node("Shape", {"x"}, {"shape"});
  computed.node("Gather", {"shape", "zero"}, {"batch"});
  auto& join = computed.node("Concat", {"batch", "rest"}, {"to"});
  onnx_model::set(join, "axis", 0);
  computed.node("Reshape", {"x", "to"}, {"flat"});
  computed.node("MatMul", {"flat", "w"}, {"y"});
  const auto sized = computed.read({.batch = 6});
  CHECK(sized.ops.work(4) == 2 * 6 * 12 * 5);
  REQUIRE(sized.notes.size() == 1);
  CHECK(sized.notes[0] == "3 ops work out sizes that are known before the model runs: they take no time");
  for (const op_id v : {0u, 1u, 2u}) {
    CHECK(sized.ops.work(v) == 0);
    CHECK(sized.ops.bytes(sized.ops.outputs(v).front()) == 0);
    CHECK(sized.ops.resident_bytes(v) == 0);
  }
}

TEST_CASE("onnx: element types have their sizes") {
  const auto bytes = [](std::int32_t type) {
    onnx_model m;
    m.input("x", {3, 5}, type);
    m.node("Identity", {"x"}, {"y"});
    return m.read().ops.bytes(0);
  };
  const auto width = [](std::int32_t type) {
    onnx_model m;
    m.input("x", {3, 5}, type);
    m.node("Identity", {"x"}, {"y"});
    return number_bits(m.read());
  };
  CHECK(width(::onnx::TensorProto::FLOAT16) == 16);
  CHECK(width(::onnx::TensorProto::DOUBLE) == 64);
  CHECK(width(::onnx::TensorProto::INT64) == 32); // no floating-point number
  CHECK(bytes(::onnx::TensorProto::FLOAT) == 60);
  CHECK(bytes(::onnx::TensorProto::FLOAT16) == 30);
  CHECK(bytes(::onnx::TensorProto::BFLOAT16) == 30);
  CHECK(bytes(::onnx::TensorProto::INT8) == 15);
  CHECK(bytes(::onnx::TensorProto::BOOL) == 15);
  CHECK(bytes(::onnx::TensorProto::INT64) == 120);
  CHECK(bytes(::onnx::TensorProto::COMPLEX128) == 240);
  CHECK(bytes(22) == 8); // int4, two in a byte, which came later than this libonnx
}

TEST_CASE("onnx: small parameters are copied to their readers, large ones keep their readers together") {
  onnx_model m;
  m.input("x", {2, 32}).weights("small", {32}).weights("large", {32, 64});
  m.node("Add", {"x", "small"}, {"a"});
  m.node("Mul", {"x", "small"}, {"b"});
  m.node("MatMul", {"a", "large"}, {"c"});
  m.node("MatMul", {"b", "large"}, {"d"});
  const auto w = m.read().ops;
  CHECK(w.resident_bytes(0) == 128);
  CHECK(w.resident_bytes(1) == 128);
  CHECK(w.resident_bytes(2) == 32 * 64 * 4);
  CHECK(w.resident_bytes(3) == 0);
  CHECK(w.group(0) == none);
  CHECK(w.group(2) == w.group(3));
  CHECK(w.group(2) != none);
}

TEST_CASE("onnx: parameters keep the names that the file has for them, each with the op that holds it") {
  onnx_model m;
  m.input("x", {512, 64}).weights("q.weight", {64, 64}).weights("q.bias", {64}).weights("q.lora_A", {8, 64});
  m.node("Transpose", {"q.weight"}, {"onnx::MatMul_7"});
  m.node("Gemm", {"x", "onnx::MatMul_7", "q.bias"}, {"y"}).set_name("/q/Gemm");
  m.node("Identity", {"q.lora_A"}, {"same"});
  m.node("Gemm", {"y", "same"}, {"z"}).set_name("/q/lora/Gemm");
  const auto r = m.read();
  std::vector<std::string> names;
  byte_count bytes = 0;
  for (const auto& p : r.parameters) {
    names.push_back(p.name + "@" + std::to_string(p.op));
    bytes += p.bytes;
  }
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"q.bias@1", "q.lora_A@3", "q.weight@1"});
  CHECK(bytes == total_resident_bytes(r.ops));
  CHECK(frozen(r, "*,!lora_*").bytes == std::vector<byte_count>{0, 4 * (64 * 64 + 64), 0, 0});
  CHECK(frozen(r, "/q/Gemm,!*.bias").bytes == std::vector<byte_count>{0, 4 * 64 * 64, 0, 0});
}

TEST_CASE("onnx: constants, and what follows from them alone, are parameters without work") {
  onnx_model m;
  m.input("x", {4, 8}).integers("shape", {8, 16}).integers("axes", {0});
  m.node("ConstantOfShape", {"shape"}, {"w"});
  m.node("Exp", {"w"}, {"scaled"});
  m.node("Unsqueeze", {"scaled", "axes"}, {"view"});
  m.node("MatMul", {"x", "view"}, {"y"});
  const auto r = m.read();
  CHECK(r.ops.num_ops() == 4);
  CHECK(r.ops.num_edges() == 3);
  for (const op_id v : {0u, 1u, 2u}) {
    CHECK(r.ops.work(v) == 0);
    CHECK(r.ops.resident_bytes(v) == 0);
    CHECK(r.ops.bytes(v) == 0);
    CHECK(r.ops.group(v) == r.ops.group(3)); // with what reads them, so that nothing is sent
  }
  CHECK(r.ops.work(3) == 2 * 4 * 8 * 16);
  CHECK(r.ops.resident_bytes(3) == 8 * 16 * 4); // once, though it is seen through a view
  CHECK(mentions(r.notes, "2 ops make parameters"));
}

TEST_CASE("onnx: unknown ops cost what is assumed, and are told with their number") {
  onnx_model m;
  m.input("x", {2, 8});
  m.node("Mystery", {"x"}, {"a"}, "org.example");
  m.node("Mystery", {"a"}, {"b"}, "org.example");
  const auto r = m.read({.unknown_flop_per_element = 3});
  CHECK(r.ops.type(0) == "org.example.Mystery");
  CHECK(r.ops.work(0) == 3 * 16);
  CHECK(r.ops.bytes(0) == 64);
  CHECK(mentions(r.notes, "2 ops without a rule for their cost: 3 FLOP per output element: org.example.Mystery (2)"));
  m.declared("a", {2, 100});
  CHECK(m.read().ops.work(0) == 200);
}

TEST_CASE(
  "onnx: a loop costs its body times its iterations, a condition its dearer branch, and both read around them") {
  onnx_model m;
  m.input("x", {2, 8}).input("c", {}, ::onnx::TensorProto::BOOL).integers("ten", {10});
  m.m.mutable_graph()->mutable_initializer(0)->clear_dims(); // a scalar
  m.node("Relu", {"x"}, {"r"});
  auto& branch = m.node("If", {"c"}, {"chosen"});
  auto& then = onnx_model::body(branch, "then_branch");
  onnx_model::add_to(then, "Exp", {"r"}, {"t1"});
  onnx_model::add_to(then, "Exp", {"t1"}, {"t2"});
  onnx_model::declare(*then.add_output(), "t2", {2, 8}, 1);
  auto& otherwise = onnx_model::body(branch, "else_branch");
  onnx_model::add_to(otherwise, "Neg", {"r"}, {"e"});
  onnx_model::declare(*otherwise.add_output(), "e", {2, 8}, 1);
  auto& loop = m.node("Loop", {"ten", "", "chosen"}, {"last", "all"});
  auto& body = onnx_model::body(loop, "body");
  onnx_model::declare(*body.add_input(), "i", {}, ::onnx::TensorProto::INT64);
  onnx_model::declare(*body.add_input(), "go", {}, ::onnx::TensorProto::BOOL);
  onnx_model::declare(*body.add_input(), "state", {2, 8}, 1);
  onnx_model::add_to(body, "Add", {"state", "r"}, {"next"});
  onnx_model::add_to(body, "Identity", {"go"}, {"still"});
  onnx_model::declare(*body.add_output(), "still", {}, ::onnx::TensorProto::BOOL);
  onnx_model::declare(*body.add_output(), "next", {2, 8}, 1);
  onnx_model::add_to(body, "ReduceMean", {"next"}, {"mean"});
  onnx_model::declare(*body.add_output(), "mean", {1, 1}, 1);
  const auto r = m.read();
  REQUIRE(r.ops.num_ops() == 3);
  CHECK(r.ops.work(1) == 2 * 16);
  CHECK(r.ops.work(2) == 10 * (16 + 16));
  CHECK(r.ops.num_edges() == 3);   // r to both bodies, chosen to the loop
  CHECK(r.ops.bytes(2) == 64);     // the state after the loop
  CHECK(r.ops.bytes(3) == 10 * 4); // a number per iteration
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: a loop whose number of iterations is a limit that is never reached counts once") {
  onnx_model m;
  m.input("x", {4, 4}).input("go", {}, ::onnx::TensorProto::BOOL).integers("trips", {INT64_MAX}); // `while`
  m.m.mutable_graph()->mutable_initializer(0)->clear_dims();
  auto& body = onnx_model::body(m.node("Loop", {"trips", "go", "x"}, {"last", "all"}), "body");
  onnx_model::declare(*body.add_input(), "i", {}, ::onnx::TensorProto::INT64);
  onnx_model::declare(*body.add_input(), "continue", {}, ::onnx::TensorProto::BOOL);
  onnx_model::declare(*body.add_input(), "state", {4, 4}, 1);
  onnx_model::add_to(body, "MatMul", {"state", "state"}, {"next"});
  onnx_model::add_to(body, "Identity", {"continue"}, {"still"});
  onnx_model::declare(*body.add_output(), "still", {}, ::onnx::TensorProto::BOOL);
  onnx_model::declare(*body.add_output(), "next", {4, 4}, 1);
  onnx_model::declare(*body.add_output(), "next", {4, 4}, 1);
  const auto r = m.read();
  CHECK(r.ops.work(0) == 2 * 64);
  CHECK(r.assumed == std::vector<assumed_size>{{assumed_size::option::trips, "last", "Loop"}});
}

TEST_CASE("onnx: sparse initialisers have the shape that they stand for") {
  onnx_model m;
  m.input("x", {4, 64});
  auto& sparse = *m.m.mutable_graph()->add_sparse_initializer();
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->set_data_type(::onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(5);
  sparse.add_dims(64);
  sparse.add_dims(32);
  m.node("MatMul", {"x", "w"}, {"y"});
  const auto r = m.read();
  CHECK(r.ops.work(0) == 2 * 4 * 64 * 32);
  CHECK(r.ops.bytes(0) == 4 * 32 * 4);
  CHECK(r.ops.resident_bytes(0) == 64 * 32 * 4);
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: a Split into a number of parts, which older schemas do not know, has the shapes of its parts") {
  onnx_model m{18};
  m.input("x", {4, 7});
  auto& n = m.node("Split", {"x"}, {"a", "b", "c"});
  onnx_model::set(n, "axis", -1);
  onnx_model::set(n, "num_outputs", 3);
  const auto r = m.read();
  CHECK(r.ops.bytes(0) == 4 * 3 * 4);
  CHECK(r.ops.bytes(1) == 4 * 3 * 4);
  CHECK(r.ops.bytes(2) == 4 * 1 * 4);
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: attributes of newer operator sets do not keep inference from what it knows") {
  onnx_model m{21};
  m.input("x", {4, 8});
  auto& n = m.node("Cast", {"x"}, {"y"});
  onnx_model::set(n, "saturate", 1);
  onnx_model::set(n, "to", ::onnx::TensorProto::DOUBLE);
  const auto r = m.read();
  CHECK(r.ops.bytes(0) == 4 * 8 * 8);
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: a function is one op per call, with the cost of its body") {
  onnx_model m;
  m.m.add_opset_import()->set_domain("mine");
  auto& f = *m.m.add_functions();
  f.set_domain("mine");
  f.set_name("twice");
  f.add_input("a");
  f.add_output("c");
  for (const auto& [in, out] : {std::pair{"a", "b"}, {"b", "c"}}) {
    auto& n = *f.add_node();
    n.set_op_type("Relu");
    n.add_input(in);
    n.add_output(out);
  }
  m.input("x", {2, 8});
  m.node("twice", {"x"}, {"y"}, "mine");
  m.node("twice", {"y"}, {"z"}, "mine");
  const auto r = m.read();
  CHECK(r.ops.num_ops() == 2);
  CHECK(r.ops.work(1) == 32);
  CHECK(r.ops.bytes(0) == 64);
  CHECK(r.notes.empty());
  f.mutable_node(1)->set_op_type("twice");
  f.mutable_node(1)->set_domain("mine");
  CHECK(refusal([&] { return m.read(); }).find("nested deeper than") != std::string::npos);
}

TEST_CASE("onnx: nodes in any order are read, and keep it") {
  auto m = dense();
  m.m.mutable_graph()->mutable_node()->SwapElements(0, 1);
  const auto r = m.read();
  CHECK(r.ops.type(0) == "Relu");
  CHECK(r.ops.work(0) == 8);
  CHECK(r.ops.producer(r.ops.inputs(0)[0]) == 1);
}

TEST_CASE("onnx: what is wrong gets one line") {
  const weft::onnx::reader read;
  CHECK(refusal([&] { return read.read("", "f"); }) == "f: the file is empty, not an ONNX model");
  CHECK(refusal([&] { return read.read("{}", "f"); }).starts_with("f: not an ONNX model"));
  const auto whole = dense().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) { // opset_import comes last, which is not needed
    const auto told = refusal([&] { return read.read(whole.substr(0, size), "f"); });
    CHECK((told.starts_with("f: ") || size + 6 >= whole.size()));
    CHECK(told.find('\n') == std::string::npos);
  }
  onnx_model empty;
  empty.input("x", {1});
  CHECK(empty.read().ops.num_ops() == 0); // the format allows a graph without nodes
  CHECK(refusal([&] { return read.read("version https://git-lfs.github.com/spec/v1\noid x", "f"); }).find("Git LFS") !=
        std::string::npos);
  auto twice = dense();
  twice.node("Relu", {"z"}, {"y"}).set_name("again");
  CHECK(refusal([&] { return twice.read(); }) ==
        "test.onnx: tensor 'y' is an output of node 2 'again' and of node 0 'dense'; names of tensors must differ");
  auto over = dense();
  over.node("Relu", {"z"}, {"w"});
  CHECK(refusal([&] { return over.read(); }).find("an input or initializer of the graph") != std::string::npos);
  auto dangling = dense();
  dangling.node("Relu", {"no\nwhere"}, {"q"}).set_name("n");
  CHECK(refusal([&] { return dangling.read(); }) ==
        "test.onnx: node 2 'n' reads tensor 'no?where', which no node makes and which is not an input or initializer");
  auto untyped = dense();
  untyped.node("", {"z"}, {"q"}).set_name("n");
  CHECK(refusal([&] { return untyped.read(); }) == "test.onnx: node 2 'n' has no op type");
  onnx_model cycle;
  cycle.input("x", {1});
  cycle.node("Add", {"x", "b"}, {"a"});
  cycle.node("Relu", {"a"}, {"b"});
  CHECK(refusal([&] { return cycle.read(); }) ==
        "test.onnx: the nodes wait for each other in a cycle: node 0 'a' -> node 1 'b' -> node 0 'a'");
  try {
    (void)cycle.read();
  } catch (const parse_error& e) {
    CHECK_THROWS_AS(std::rethrow_if_nested(e), cycle_error);
  }
  onnx_model huge;
  huge.input("x", {std::int64_t{1} << 40, std::int64_t{1} << 40});
  huge.node("Relu", {"x"}, {"y"});
  CHECK(refusal([&] { return huge.read(); }).find("its shape must be damaged") != std::string::npos);
  onnx_model heavy;
  heavy.input("x", {1, std::int64_t{1} << 50});
  for (int i = 0; i < 4000; ++i) {
    heavy.node("Relu", {"x"}, {"y" + std::to_string(i)});
  }
  CHECK(refusal([&] { return heavy.read(); }).find("overflow 2^62") != std::string::npos);
}

TEST_CASE("onnx: attributes and ranks that would crash shape inference are refused, not the model") {
  onnx_model m;
  m.input("x", {1, 3, 8, 8}).weights("w", {4}).weights("k", {4, 3, 3, 3});
  m.node("Conv", {"x", "w"}, {"a"});
  onnx_model::set(m.node("Conv", {"x", "k"}, {"b"}), "strides", onnx_model::dims{0, 0});
  const auto r = m.read();
  CHECK(r.ops.num_ops() == 2);
  CHECK(mentions(r.notes, "2 nodes that shape inference refuses: Conv (2)"));
}

TEST_CASE("onnx: tensors of more axes than any has are refused, before a chain of ops doubles them") {
  onnx_model m;
  m.input("x0", {1, 1}, ::onnx::TensorProto::INT64);
  for (int i = 0; i < 14; ++i) {
    const auto from = "x" + std::to_string(i);
    m.node("Gather", {from, from}, {"x" + std::to_string(i + 1)});
  }
  CHECK(refusal([&] { return m.read(); }) == "test.onnx: tensor 'x6' has more than 64 axes: its shape must be damaged");
  const onnx_model::dims many(65, 1);
  onnx_model input;
  input.input("x", many);
  input.node("Relu", {"x"}, {"y"});
  CHECK(refusal([&] { return input.read(); }).find("'x' has more than 64 axes") != std::string::npos);
  onnx_model weights;
  weights.weights("w", many);
  weights.node("Relu", {"w"}, {"y"});
  CHECK(refusal([&] { return weights.read(); }).find("'w' has more than 64 axes") != std::string::npos);
  onnx_model declared;
  declared.input("x", {1}).declared("y", many);
  declared.node("Relu", {"x"}, {"y"});
  CHECK(refusal([&] { return declared.read(); }).find("'y' has more than 64 axes") != std::string::npos);
  onnx_model ruled; // by a rule of weft's own: 33 axes twice
  ruled.input("x", onnx_model::dims(33, 1)).input("at", onnx_model::dims(33, 1), ::onnx::TensorProto::INT32);
  ruled.m.add_opset_import()->set_domain("com.microsoft");
  ruled.node("GatherBlockQuantized", {"x", "at"}, {"y"}, "com.microsoft");
  CHECK(mentions(ruled.read().notes, "1 output with an unknown shape: taken to be as large as the largest input: "
                                     "GatherBlock"));
}

TEST_CASE("onnx: calls of large functions do not copy their constants again and again") {
  const auto model = [](bool refers, int calls) {
    onnx_model m;
    m.m.add_opset_import()->set_domain("mine");
    auto& f = *m.m.add_functions();
    f.set_domain("mine");
    f.set_name("f");
    f.add_input("a");
    f.add_output("c");
    auto& constant = *f.add_node();
    constant.set_op_type("Constant");
    constant.add_output("b");
    auto& value = *constant.add_attribute();
    value.set_name("value");
    value.set_type(::onnx::AttributeProto::TENSOR);
    value.mutable_t()->set_data_type(::onnx::TensorProto::FLOAT);
    value.mutable_t()->add_dims(1 << 20);
    value.mutable_t()->set_raw_data(std::string(4 << 20, '\0'));
    auto& n = *f.add_node();
    n.set_op_type("LeakyRelu");
    n.add_input("a");
    n.add_output("c");
    if (refers) {
      auto& alpha = *n.add_attribute();
      alpha.set_name("alpha");
      alpha.set_type(::onnx::AttributeProto::FLOAT);
      alpha.set_ref_attr_name("slope");
    }
    m.input("x", {4});
    for (int i = 0; i < calls; ++i) {
      m.node("f", {"x"}, {"y" + std::to_string(i)}, "mine");
    }
    return m;
  };
  CHECK(model(false, 2000).read().ops.num_ops() == 2000);
  CHECK(model(true, 100).read().ops.num_ops() == 100);
  CHECK(refusal([&] { return model(true, 2000).read(); }).find("expand to too many nodes") != std::string::npos);
}

TEST_CASE("onnx: a flood of tiny messages is refused before it takes memory") {
  std::string graph(20'000'000, '\0');
  for (std::size_t i = 0; i < graph.size(); i += 2) {
    graph[i] = 0x0a; // an empty node
  }
  std::string bytes{"\x08\x08"};
  weft::onnx::wire::put(bytes, 7, graph);
  CHECK(refusal([&] { return weft::onnx::reader{}.read(bytes, "f"); }).find("over 20 times its size") !=
        std::string::npos);
}

TEST_CASE("onnx: models are recognised by what they hold") {
  const weft::onnx::reader read;
  const auto whole = dense().bytes();
  CHECK(read.recognises(whole));
  CHECK(read.recognises(whole.substr(0, whole.size() / 2)));
  for (const std::string_view other :
       {"", "{\"format\": \"weft.workload\"}", "Id,RAM,x\n", "digraph {}", "42\n0 0 0\n", "node {\n  name: \"a\"\n}\n",
        "<html>", "\x08", "\x08\x01", "ir_version: 8 graph {}"}) {
    CHECK_FALSE(read.recognises(other));
  }
  std::string graph_def; // node { name: "a" op: "Const" } versions { producer: 27 }
  std::string node;
  weft::onnx::wire::put(node, 1, "a");
  weft::onnx::wire::put(node, 2, "Const");
  weft::onnx::wire::put(graph_def, 1, node);
  weft::onnx::wire::put(graph_def, 4, "\x08\x1b");
  CHECK_FALSE(read.recognises(graph_def));
  std::string saved_model{"\x08\x01"}; // saved_model_schema_version: 1, meta_graphs
  weft::onnx::wire::put(saved_model, 2, std::string(300, 'x'));
  CHECK_FALSE(read.recognises(saved_model));
}

#ifdef WEFT_REFERENCE_DATA
struct known {
  const char* file;
  std::size_t nodes;
  std::size_t edges;
  double multiply_adds; ///< published
  double parameters;    ///< published
};

TEST_CASE("onnx: real models have the counts of their files, and published multiply-adds and parameters within 5 %") {
  const std::filesystem::path root{WEFT_REFERENCE_DATA};
  if (root.empty()) {
    MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
    return;
  }
  // Multiply-adds and parameters: torchvision 0.15, table of classification weights (GFLOPS there are multiply-adds);
  // for AlexNet, Canziani et al., arXiv 1605.07678, which has its 227 x 227 input.
  const known models[] = {{"light_bvlc_alexnet.onnx", 40, 39, 0.72e9, 61.1e6},
                          {"light_densenet121.onnx", 1746, 1803, 2.83e9, 7.98e6},
                          {"light_resnet50.onnx", 415, 430, 4.09e9, 25.56e6},
                          {"light_squeezenet.onnx", 105, 112, 0.35e9, 1.24e6},
                          {"light_vgg19.onnx", 82, 81, 19.63e9, 143.67e6}};
  for (const auto& k : models) {
    CAPTURE(k.file);
    auto in = io::open_for_reading(root / "data" / "onnx" / k.file);
    auto bytes = io::read_all(in, k.file);
    const auto m = weft::onnx::reader{}.read(bytes, k.file);
    CHECK(m.ops.num_ops() == k.nodes);
    CHECK(m.ops.num_edges() == k.edges);
    CHECK(static_cast<double>(total_resident_bytes(m.ops)) / 4 == doctest::Approx(k.parameters).epsilon(0.05));
    if (std::string_view{k.file} == "light_bvlc_alexnet.onnx") { // its file says 224, which makes it a tenth smaller
      ::onnx::ModelProto larger;
      REQUIRE(larger.ParseFromString(bytes));
      for (auto& x : *larger.mutable_graph()->mutable_input()) {
        for (auto& d : *x.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
          d.set_dim_value(d.dim_value() == 224 ? 227 : d.dim_value());
        }
      }
      bytes = larger.SerializeAsString();
    }
    CHECK(total_work(weft::onnx::reader{}.read(bytes, k.file).ops) / 2 ==
          doctest::Approx(k.multiply_adds).epsilon(0.05));
    const auto batched = weft::onnx::reader{.batch = 4}.read(bytes, k.file);
    CHECK(total_work(batched.ops) == doctest::Approx(4 * total_work(weft::onnx::reader{}.read(bytes, k.file).ops)));
    CHECK(total_resident_bytes(batched.ops) == total_resident_bytes(m.ops));
  }
}
#endif

} // namespace interop_onnx_test
