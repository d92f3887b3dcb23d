// SPDX-License-Identifier: BSL-1.0
// What shapes and costs are where a file declares them, where they depend on conditions, calls and operator sets, and
// of ops that the library at hand does not know. Figures are worked out by hand from the definitions of the ops.
#include "interop/onnx_models.hpp"
#include "weft/interop/onnx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace interop_onnx_cases_test {

using namespace weft;
using weft_test::onnx_model;
using dims = onnx_model::dims;

constexpr std::int32_t half = ::onnx::TensorProto::FLOAT16;
constexpr std::int32_t bytes8 = ::onnx::TensorProto::INT8;
constexpr std::int32_t int64 = ::onnx::TensorProto::INT64;

bool mentions(const std::vector<std::string>& notes, std::string_view text) {
  return std::any_of(notes.begin(), notes.end(), [&](const auto& n) { return n.find(text) != n.npos; });
}

/// Bytes of output `i` of an op.
byte_count bytes(const workload& w, op_id v, std::size_t i = 0) {
  return w.bytes(w.outputs(v)[static_cast<tensor_id>(i)]);
}

/// A model of one op of com.microsoft or of an operator set.
struct one_op : onnx_model {
  explicit one_op(std::int64_t version) : onnx_model{version} { m.add_opset_import()->set_domain("com.microsoft"); }
};

/// An op that nobody knows makes `a` of an 8 × 1024; the file says that its Relu `b` is 8 × 64.
onnx_model declared() {
  onnx_model m;
  m.input("x", {8, 1024}).weights("w", {64, 512}).declared("b", {8, 64});
  m.node("NoSuchOp", {"x"}, {"a"}, "my.ops");
  m.node("Relu", {"a"}, {"b"});
  m.node("MatMul", {"b", "w"}, {"y"});
  return m;
}

TEST_CASE("onnx: a shape that the file declares counts, not one that follows from an assumption") {
  const auto r = declared().read();
  CHECK(bytes(r.ops, 1) == 8 * 64 * 4);
  CHECK(r.ops.work(2) == 2 * 8 * 64 * 512);
  CHECK_FALSE(mentions(r.notes, "though ")); // what it contradicts was a guess
  const auto batched = declared().read({.batch = 32}); // declared with the batch of the file, 8
  CHECK(bytes(batched.ops, 1) == 32 * 64 * 4);
  CHECK(batched.ops.work(2) == 2 * 32 * 64 * 512);
}

TEST_CASE("onnx: a declared shape counts against an inferred one, too, unless options change extents") {
  onnx_model m;
  m.input("x", {4, 6}).declared("y", {4, 5});
  m.node("Relu", {"x"}, {"y"});
  const auto r = m.read();
  CHECK(bytes(r.ops, 0) == 4 * 5 * 4);
  CHECK(mentions(r.notes, "1 declared shape is taken, though another follows from the inputs: y"));
  CHECK(bytes(m.read({.batch = 2}).ops, 0) == 2 * 6 * 4);
  CHECK(m.read({.batch = 2}).notes.empty());
  CHECK(bytes(m.read({.batch = 4}).ops, 0) == 4 * 5 * 4); // changes nothing

  onnx_model named; // extents that the file leaves open are not declared
  named.input("x", {4, 6}).declared("y", {-1, 6});
  named.node("Relu", {"x"}, {"y"});
  CHECK(bytes(named.read().ops, 0) == 4 * 6 * 4);
  CHECK(named.read().notes.empty());
}

/// A function of domain `mine` that a node calls on x (64 × 256) and w (256 × 512).
struct with_function : onnx_model {
  with_function() : onnx_model{21} {
    m.add_opset_import()->set_domain("mine");
    input("x", {64, 256}).input("w", {256, 512});
  }
  ::onnx::FunctionProto& function(const std::string& name) {
    auto& f = *m.add_functions();
    f.set_domain("mine");
    f.set_name(name);
    f.add_input("p");
    f.add_input("q");
    f.add_output("r");
    return f;
  }
  static ::onnx::NodeProto& step(::onnx::FunctionProto& f, const std::string& type,
                                 const std::vector<std::string>& inputs, const std::string& output) {
    auto& n = *f.add_node();
    n.set_op_type(type);
    for (const auto& x : inputs) {
      n.add_input(x);
    }
    n.add_output(output);
    return n;
  }
  /// A field that came after the oldest library that weft is built with, as bytes.
  template <class Message>
  static void add_field(Message& m, std::uint32_t number, std::string_view content) {
    std::string field;
    weft::onnx::wire::put(field, number, content);
    REQUIRE(m.MergeFromString(field));
  }
};

TEST_CASE("onnx: functions of one name differ in their overload") {
  with_function m;
  auto& small = m.function("f");
  m.step(small, "Relu", {"p"}, "r");
  m.add_field(small, 13, "small");
  auto& large = m.function("f");
  m.step(large, "MatMul", {"p", "q"}, "r");
  m.add_field(large, 13, "large");
  m.add_field(m.node("f", {"x", "w"}, {"a"}, "mine"), 8, "small");
  m.add_field(m.node("f", {"x", "w"}, {"b"}, "mine"), 8, "large");
  const auto r = m.read().ops;
  CHECK(r.work(0) == 64 * 256);
  CHECK(bytes(r, 0) == 64 * 256 * 4);
  CHECK(r.work(1) == 2.0 * 64 * 256 * 512);
  CHECK(bytes(r, 1) == 64 * 512 * 4);
}

TEST_CASE("onnx: attributes of a function have defaults, in bodies inside it, too") {
  with_function m;
  auto& f = m.function("f");
  auto& join = m.step(f, "Concat", {"p", "p"}, "r");
  auto& axis = *join.add_attribute();
  axis.set_name("axis");
  axis.set_type(::onnx::AttributeProto::INT);
  axis.set_ref_attr_name("along");
  ::onnx::AttributeProto standard;
  standard.set_name("along");
  standard.set_type(::onnx::AttributeProto::INT);
  standard.set_i(1);
  m.add_field(f, 11, standard.SerializeAsString());
  m.node("f", {"x", "w"}, {"a"}, "mine");
  onnx_model::set(m.node("f", {"x", "w"}, {"b"}, "mine"), "along", 0);
  CHECK(bytes(m.read().ops, 0) == 64 * 512 * 4); // side by side
  CHECK(m.read().notes.empty());

  auto& branch = m.step(m.function("g"), "If", {"one"}, "r");
  branch.mutable_input(0)->assign("flag");
  auto& flag = *m.m.mutable_functions(1)->add_node();
  flag.set_op_type("Constant");
  flag.add_output("flag");
  auto& t = *flag.add_attribute();
  t.set_name("value");
  t.set_type(::onnx::AttributeProto::TENSOR);
  t.mutable_t()->set_data_type(::onnx::TensorProto::BOOL);
  t.mutable_t()->add_int32_data(1);
  m.m.mutable_functions(1)->mutable_node()->SwapElements(0, 1);
  auto& body = onnx_model::body(*m.m.mutable_functions(1)->mutable_node(1), "then_branch");
  *onnx_model::add_to(body, "Concat", {"p", "p"}, {"joined"}).add_attribute() = axis;
  body.add_output()->set_name("joined");
  m.add_field(*m.m.mutable_functions(1), 11, standard.SerializeAsString());
  m.node("g", {"x", "w"}, {"c"}, "mine");
  CHECK(bytes(m.read().ops, 2) == 64 * 512 * 4);
}

TEST_CASE("onnx: types that a function declares count, and its operator sets") {
  with_function m;
  auto& f = m.function("f");
  m.step(f, "NoSuchOp", {"p"}, "s").set_domain("my.ops");
  m.step(f, "MatMul", {"s", "q"}, "r");
  ::onnx::ValueInfoProto s;
  onnx_model::declare(s, "s", {30752, 256}, 1);
  m.add_field(f, 12, s.SerializeAsString());
  m.node("f", {"x", "w"}, {"a"}, "mine");
  const auto r = m.read().ops;
  CHECK(bytes(r, 0) == 30752.0 * 512 * 4);
  CHECK(r.work(0) == 2.0 * 30752 * 256 * 512 + 30752 * 256); // the unknown op 1 per element

  with_function old; // axes of Squeeze are an attribute up to operator set 12
  auto& g = old.function("g");
  onnx_model::set(old.step(g, "Unsqueeze", {"p"}, "r"), "axes", dims{0});
  auto& import = *g.add_opset_import();
  import.set_version(11);
  old.node("g", {"x", "w"}, {"a"}, "mine");
  CHECK(old.read().notes.empty());
}

/// x (64 × 1 × 256) without its middle extent if that is 1, times w (256 × 512).
onnx_model squeezed() {
  onnx_model m;
  m.input("x", {64, 1, 256}).weights("w", {256, 512}).integers("axes", {1}).integers("at", {1}).integers("one", {1});
  m.m.mutable_graph()->mutable_initializer(2)->clear_dims(); // scalars
  m.m.mutable_graph()->mutable_initializer(3)->clear_dims();
  m.node("Shape", {"x"}, {"s"});
  m.node("Gather", {"s", "at"}, {"d"});
  m.node("Equal", {"d", "one"}, {"c"});
  auto& branch = m.node("If", {"c"}, {"y"});
  auto& otherwise = onnx_model::body(branch, "else_branch");
  onnx_model::add_to(otherwise, "Exp", {"x"}, {"e"});
  otherwise.add_output()->set_name("e");
  auto& then = onnx_model::body(branch, "then_branch");
  onnx_model::add_to(then, "Squeeze", {"x", "axes"}, {"t"});
  then.add_output()->set_name("t");
  m.node("MatMul", {"y", "w"}, {"o"});
  return m;
}

TEST_CASE("onnx: a condition that follows from shapes chooses the branch") {
  const auto r = squeezed().read();
  CHECK(bytes(r.ops, 3) == 64 * 256 * 4);
  CHECK(r.ops.work(3) == 0); // Squeeze, not Exp
  CHECK(r.ops.work(4) == 2.0 * 64 * 256 * 512);
  REQUIRE(r.notes.size() == 1);
  CHECK(r.notes[0] == "3 ops work out sizes that are known before the model runs: they take no time");

  auto other = squeezed(); // the middle extent is 2: the other branch
  other.m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)
    ->set_dim_value(2);
  CHECK(other.read().ops.work(3) == 64 * 2 * 256);
  CHECK(other.read().ops.work(4) == 2.0 * 128 * 256 * 512);

  auto open = squeezed(); // nobody knows: the dearer one, with a note, as the shapes differ
  open.input("c", {}, ::onnx::TensorProto::BOOL);
  open.m.mutable_graph()->mutable_node(2)->set_output(0, "unused");
  CHECK(open.read().ops.work(3) == 64 * 256);
  CHECK(open.read().ops.work(4) == 2.0 * 64 * 256 * 512);
  CHECK(mentions(open.read().notes, "branches differ in shape"));
}

TEST_CASE("onnx: shapes decide conditions with comparisons, logic and reductions") {
  onnx_model m;
  m.input("x", {3, 4}).integers("two", {2});
  m.node("Shape", {"x"}, {"s"});
  m.node("ReduceMax", {"s"}, {"most"});
  m.node("Greater", {"most", "two"}, {"large"});
  m.node("Less", {"most", "two"}, {"small"});
  m.node("Not", {"large"}, {"not"});
  m.node("Or", {"not", "small"}, {"either"});
  auto& branch = m.node("If", {"either"}, {"y"});
  for (const auto& [name, type] : {std::pair{"then_branch", "Exp"}, {"else_branch", "Identity"}}) {
    auto& g = onnx_model::body(branch, name);
    onnx_model::add_to(g, type, {"x"}, {name});
    g.add_output()->set_name(name);
  }
  CHECK(m.read().ops.work(6) == 0);
}

TEST_CASE("onnx: windows of pools are counted as newer operator sets define them") {
  onnx_model m{19};
  m.input("x", {1, 64, 56, 56});
  auto& n = m.node("AveragePool", {"x"}, {"y"});
  onnx_model::set(n, "kernel_shape", dims{3, 3});
  onnx_model::set(n, "dilations", dims{4, 4});
  const auto r = m.read();
  CHECK(bytes(r.ops, 0) == 64 * 48 * 48 * 4); // 56 - 4 · 2
  CHECK(r.ops.work(0) == 64 * 48 * 48 * 9);
  CHECK(r.notes.empty());
  // A window of 2 each 3 steps over 7 elements and 1 of padding at the end: at 0, 3 and 6. Over 6 with one more of
  // padding, rounded up: at 0 and 3, as one at 6 would begin in the padding.
  for (const auto& [type, version] : {std::pair{"MaxPool", 12}, {"AveragePool", 11}, {"AveragePool", 19}}) {
    CAPTURE(type);
    for (const auto& [extent, windows] : {std::pair{7, 3}, {6, 2}}) {
      onnx_model ceiling{version};
      ceiling.input("x", {1, 1, extent});
      auto& pool = ceiling.node(type, {"x"}, {"y"});
      onnx_model::set(pool, "kernel_shape", dims{2});
      onnx_model::set(pool, "strides", dims{3});
      onnx_model::set(pool, "pads", dims{0, 1});
      onnx_model::set(pool, "ceil_mode", 1);
      CHECK(bytes(ceiling.read().ops, 0) == static_cast<byte_count>(windows) * 4);
    }
  }
}

TEST_CASE("onnx: distances between the rows of two matrices") {
  one_op m{17};
  m.input("x", {5, 7}).input("samples", {3, 7});
  m.node("CDist", {"x", "samples"}, {"y"}, "com.microsoft");
  const auto r = m.read();
  CHECK(bytes(r.ops, 0) == 5 * 3 * 4);
  CHECK(r.ops.work(0) == 5 * 3 * (3 * 7 + 1));
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: attention counts all keys, those in a cache too, and heads of values have a width of their own") {
  one_op decode{17}; // 32 heads of 128, of which four share keys and values; 2,047 tokens are cached
  decode.input("q", {1, 1, 4096}, half).input("k", {1, 1, 1024}, half).input("v", {1, 1, 1024}, half);
  decode.input("pk", {1, 8, 2047, 128}, half).input("pv", {1, 8, 2047, 128}, half);
  decode.input("lengths", {1}, ::onnx::TensorProto::INT32).input("total", {}, ::onnx::TensorProto::INT32);
  auto& gqa = decode.node("GroupQueryAttention", {"q", "k", "v", "pk", "pv", "lengths", "total"}, {"y", "rk", "rv"},
                          "com.microsoft");
  onnx_model::set(gqa, "num_heads", 32);
  onnx_model::set(gqa, "kv_num_heads", 8);
  const auto r = decode.read();
  CHECK(r.ops.work(0) == 2048.0 * 32 * (4 * 128 + 5));
  CHECK(bytes(r.ops, 0, 0) == 4096 * 2);
  CHECK(bytes(r.ops, 0, 1) == 8 * 2048 * 128 * 2);
  CHECK(bytes(r.ops, 0, 2) == 8 * 2048 * 128 * 2);
  CHECK(r.notes.empty());
  // The result has the size of the cache: what is new is written into it, and it is as full as can be.
  auto shared = decode;
  onnx_model::declare(*shared.m.mutable_graph()->add_value_info(), "rk", {1, 8, 2047, 128}, half);
  CHECK(shared.read().ops.work(0) == 2047.0 * 32 * (4 * 128 + 5));

  one_op packed{17}; // queries, keys and values side by side: (32 + 2 · 8) · 128
  packed.input("q", {2, 512, 6144}, half);
  auto& side = packed.node("GroupQueryAttention", {"q"}, {"y", "rk", "rv"}, "com.microsoft");
  onnx_model::set(side, "num_heads", 32);
  onnx_model::set(side, "kv_num_heads", 8);
  CHECK(packed.read().ops.work(0) == 2.0 * 512 * 512 * 32 * (4 * 128 + 5));
  CHECK(bytes(packed.read().ops, 0, 0) == 2 * 512 * 4096 * 2);
  CHECK(bytes(packed.read().ops, 0, 1) == 2 * 8 * 512 * 128 * 2);

  one_op stacked{17}; // batch × length × heads × 3 × width
  stacked.input("qkv", {2, 4096, 8, 3, 40}, half);
  onnx_model::set(stacked.node("MultiHeadAttention", {"qkv"}, {"y"}, "com.microsoft"), "num_heads", 8);
  CHECK(stacked.read().ops.work(0) == 2.0 * 4096 * 4096 * 8 * (4 * 40 + 5));
  CHECK(bytes(stacked.read().ops, 0) == 2 * 4096 * 320 * 2);

  onnx_model wide{23}; // heads of values have 16 numbers, those of keys 64; and a cache of 10
  wide.input("q", {2, 8, 5, 64}).input("k", {2, 4, 7, 64}).input("v", {2, 4, 7, 16});
  wide.input("pk", {2, 4, 10, 64}).input("pv", {2, 4, 10, 16});
  wide.node("Attention", {"q", "k", "v", "", "pk", "pv"}, {"y", "rk", "rv"});
  CHECK(wide.read().ops.work(0) == 2 * 5 * 17 * 8 * (2 * 64 + 2 * 16 + 5));
  CHECK(bytes(wide.read().ops, 0, 0) == 2 * 8 * 5 * 16 * 4);
  CHECK(bytes(wide.read().ops, 0, 1) == 2 * 4 * 17 * 64 * 4);
  CHECK(bytes(wide.read().ops, 0, 2) == 2 * 4 * 17 * 16 * 4);
  CHECK(wide.read().notes.empty());

  one_op own{17}; // com.microsoft.Attention makes Q and K of 96 and V of 48 numbers itself, and has a cache
  own.input("x", {2, 10, 64}).weights("w", {64, 240}).weights("b", {240}).input("past", {2, 2, 4, 30, 24});
  auto& projected = own.node("Attention", {"x", "w", "b", "", "past"}, {"y", "present"}, "com.microsoft");
  onnx_model::set(projected, "num_heads", 4);
  onnx_model::set(projected, "qkv_hidden_sizes", dims{96, 96, 48});
  CHECK(own.read().ops.work(0) == 2 * 10 * 240 * (2 * 64 + 1) + 2 * 10 * 40 * (2 * 96 + 2 * 48 + 5 * 4));
  CHECK(bytes(own.read().ops, 0, 0) == 2 * 10 * 48 * 4);
  CHECK(bytes(own.read().ops, 0, 1) == 2 * 2 * 4 * 40 * 24 * 4);
}

TEST_CASE("onnx: attention of packed sequences, of pages, and without scores") {
  one_op m{17};
  m.input("tokens", {30, 64})
    .weights("w", {64, 192})
    .weights("b", {192})
    .input("offset", {3, 16}, 6)
    .input("ends", {4}, 6);
  onnx_model::set(m.node("PackedAttention", {"tokens", "w", "b", "offset", "ends"}, {"a"}, "com.microsoft"),
                  "num_heads", 4);
  onnx_model::set(m.node("PackedMultiHeadAttention", {"tokens", "tokens", "tokens", "", "offset", "ends"}, {"p"},
                         "com.microsoft"),
                  "num_heads", 4);
  m.input("kc", {40, 16, 2, 16}).input("past", {3}, 6).input("blocks", {3, 8}, 6).input("kv", {30, 32});
  auto& paged = m.node("PagedAttention", {"tokens", "kv", "kv", "kc", "kc", "ends", "past", "blocks"},
                       {"g", "kco", "vco"}, "com.microsoft");
  onnx_model::set(paged, "num_heads", 4);
  onnx_model::set(paged, "kv_num_heads", 2);
  m.input("q3", {2, 7, 64}).input("k3", {2, 7, 32}).input("v3", {2, 7, 48}).input("decay", {2, 7, 2});
  auto& linear = m.node("LinearAttention", {"q3", "k3", "v3", "", "decay"}, {"l", "state"}, "com.microsoft");
  onnx_model::set(linear, "q_num_heads", 4);
  onnx_model::set(linear, "kv_num_heads", 2);
  const auto r = m.read();
  // 3 sequences of 10 tokens on average: 30 · 10 scores of 4 heads of 16.
  CHECK(r.ops.work(0) == 30 * 192 * (2 * 64 + 1) + 30 * 10 * (4 * 64 + 5 * 4));
  CHECK(bytes(r.ops, 0) == 30 * 64 * 4);
  CHECK(r.ops.work(1) == 30 * 10 * (4 * 64 + 5 * 4));
  CHECK(r.ops.work(2) == 30 * 8 * 16 * (4 * 64 + 5 * 4)); // each sequence has 8 blocks of 16 keys
  CHECK(bytes(r.ops, 2, 1) == 40 * 16 * 2 * 16 * 4);
  // Two states of 16 × 24: to decay 1, to add 2; four heads read them, 2 each.
  CHECK(r.ops.work(3) == 2 * 7 * 16 * 24 * (2 * (1 + 2) + 4 * 2));
  CHECK(bytes(r.ops, 3, 0) == 2 * 7 * 4 * 24 * 4);
  CHECK(bytes(r.ops, 3, 1) == 2 * 2 * 16 * 24 * 4);
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: quantised layers have the shapes and types of what they stand for") {
  one_op m{17};
  m.input("x", {1, 8, 10, 10}, bytes8).input("last", {1, 10, 10, 8}, bytes8).weights("s", {}).weights("z", {}, bytes8);
  m.weights("w", {16, 8, 3, 3}, bytes8).input("a", {64, 512}, bytes8).weights("b", {512, 512}, bytes8);
  m.node("QLinearConv", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"conv"}, "com.microsoft");
  onnx_model::set(m.node("QLinearConv", {"last", "s", "z", "w", "s", "z", "s", "z"}, {"conv2"}, "com.microsoft"),
                  "channels_last", 1);
  onnx_model::set(m.node("QLinearGlobalAveragePool", {"conv2", "s", "z", "s", "z"}, {"mean"}, "com.microsoft"),
                  "channels_last", 1);
  onnx_model::set(m.node("QLinearConcat", {"s", "z", "conv", "s", "z", "conv", "s", "z"}, {"join"}, "com.microsoft"),
                  "axis", 1);
  m.node("QGemm", {"a", "s", "z", "b", "s", "z"}, {"product"}, "com.microsoft");
  auto& pool = m.node("NhwcMaxPool", {"conv2"}, {"pool"}, "com.microsoft");
  onnx_model::set(pool, "kernel_shape", dims{2, 2});
  onnx_model::set(pool, "strides", dims{2, 2});
  m.input("h", {1, 12, 12, 4}, half).weights("f", {6, 4, 5, 5}, half);
  m.node("NhwcConv", {"h", "f"}, {"nhwc"}, "com.microsoft");
  const auto r = m.read();
  CHECK(bytes(r.ops, 0) == 16 * 8 * 8);
  CHECK(r.ops.work(0) == 16 * 64 * 2 * 8 * 9);
  CHECK(bytes(r.ops, 1) == 8 * 8 * 16);
  CHECK(bytes(r.ops, 2) == 16);
  CHECK(bytes(r.ops, 3) == 32 * 64);
  CHECK(r.ops.work(4) == 2 * 64 * 512 * 512); // 33.6 MFLOP
  CHECK(bytes(r.ops, 4) == 64 * 512 * 4);     // no scale for the result: it is not quantised
  CHECK(bytes(r.ops, 5) == 4 * 4 * 16);
  CHECK(bytes(r.ops, 6) == 8 * 8 * 6 * 2);
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: experts, and weights of four bits") {
  one_op m{17};
  m.input("x", {1, 16, 64}, half).input("route", {16, 8}, half).weights("up", {8, 256, 64}, half);
  m.weights("down", {8, 64, 256}, half).weights("up4", {8, 256, 32}, 2).weights("down4", {8, 64, 128}, 2);
  m.weights("scales", {8, 256}, half).weights("b4", {8192}, 2);
  onnx_model::set(m.node("MoE", {"x", "route", "up", "", "down"}, {"y"}, "com.microsoft"), "k", 2);
  onnx_model::set(m.node("QMoE", {"x", "route", "up4", "scales", "", "down4", "scales"}, {"z"}, "com.microsoft"), "k",
                  2);
  auto& bnb = m.node("MatMulBnb4", {"x", "b4", "scales"}, {"p"}, "com.microsoft");
  onnx_model::set(bnb, "K", 64);
  onnx_model::set(bnb, "N", 256);
  m.weights("table", {1000, 32}, 2).input("ids", {1, 16}, int64).weights("ts", {1000, 4}, half);
  m.node("GatherBlockQuantized", {"table", "ids", "ts"}, {"e"}, "com.microsoft");
  const auto r = m.read();
  // 16 tokens visit two experts each: two products with 64 × 256 weights, 256 activations; a softmax of 5 over 8.
  CHECK(r.ops.work(0) == 32 * (2 * 2 * 64 * 256 + 256) + 5 * 128);
  CHECK(bytes(r.ops, 0) == 16 * 64 * 2);
  // All eight experts are visited, and each of their weights is scaled, 2 FLOP.
  CHECK(r.ops.work(1) == 32 * (2 * 2 * 64 * 256 + 256) + 5 * 128 + 2 * 8 * 2 * 64 * 256);
  CHECK(r.ops.work(2) == 2 * 16 * 64 * 256 + 2 * 64 * 256);
  CHECK(bytes(r.ops, 2) == 16 * 256 * 2);
  CHECK(bytes(r.ops, 3) == 16 * 64 * 2); // two elements to a byte
  CHECK(r.notes.empty());
}

TEST_CASE(
  "onnx: einsum, one-hot, transforms, sizes and types follow from attributes and inputs of newer operator sets") {
  onnx_model m{21};
  m.input("q", {2, 12, 128, 64}).input("k", {2, 12, 384, 64}).input("i", {4, 512}, int64);
  m.integers("depth", {64}).weights("values", {2}).integers("axis", {2}).input("signal", {1, 8, 4096, 1});
  m.input("image", {1, 64, 56, 56}).integers("pads", {1, 2, 3, 4}).integers("space", {2, 3});
  onnx_model::set(m.node("Einsum", {"q", "k"}, {"scores"}), "equation", std::string{"bhid,bhjd->bhij"});
  onnx_model::set(m.node("Einsum", {"q", "k"}, {"same"}), "equation", std::string{"...id, ...jd"});
  onnx_model::set(m.node("OneHot", {"i", "depth", "values"}, {"hot"}), "axis", 1);
  m.node("DFT", {"signal", "", "axis"}, {"spectrum"});
  m.node("Pad", {"image", "pads", "", "space"}, {"padded"});
  auto& scales = *m.m.mutable_graph()->add_initializer();
  scales.set_name("scales");
  scales.set_data_type(::onnx::TensorProto::FLOAT);
  scales.add_dims(2);
  scales.add_float_data(2);
  scales.add_float_data(2);
  auto& resize = m.node("Resize", {"image", "", "scales"}, {"larger"});
  onnx_model::set(resize, "axes", dims{2, 3});
  onnx_model::set(resize, "mode", std::string{"linear"});
  const auto r = m.read();
  CHECK(bytes(r.ops, 0) == 2 * 12 * 128 * 384 * 4);
  CHECK(r.ops.work(0) == 2.0 * 2 * 12 * 128 * 384 * 64);
  CHECK(bytes(r.ops, 1) == 2 * 12 * 128 * 384 * 4); // the ellipsis, then i and j, which are there once
  CHECK(bytes(r.ops, 2) == 4 * 64 * 512 * 4);
  CHECK(bytes(r.ops, 3) == 8 * 4096 * 2 * 4);
  CHECK(r.ops.work(3) == doctest::Approx(8 * 5 * 4096 * 12)); // 5 n log2 n each
  CHECK(bytes(r.ops, 4) == 64 * (1 + 56 + 3) * (2 + 56 + 4) * 4);
  CHECK(bytes(r.ops, 5) == 64 * 112 * 112 * 4);
  CHECK(r.ops.work(5) == 64 * 112 * 112 * 4 * 2); // of four neighbours, a multiply-add each
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: a fused product may have its stack between rows and columns, and sums of extents are exact") {
  onnx_model m{17};
  m.m.add_opset_import()->set_domain("com.microsoft");
  m.input("a", {5, 2, 7}).input("b", {7, 2, 3});
  auto& product = m.node("FusedMatMul", {"a", "b"}, {"y"}, "com.microsoft");
  onnx_model::set(product, "transBatchA", 1);
  onnx_model::set(product, "transBatchB", 1);
  constexpr std::int64_t large = std::int64_t{1} << 45;
  m.input("scale", {}).input("zero", {}, ::onnx::TensorProto::UINT8).input("c", {large}, ::onnx::TensorProto::UINT8);
  onnx_model::set(m.node("QLinearConcat", {"scale", "zero", "c", "scale", "zero", "c", "scale", "zero"}, {"joined"},
                         "com.microsoft"),
                  "axis", std::int64_t{0});
  const auto r = m.read();
  CHECK(bytes(r.ops, 0) == 2 * 5 * 3 * 4);
  CHECK(r.ops.work(0) == 2 * (2 * 5 * 3) * 7);
  CHECK(bytes(r.ops, 1) == 2 * large);
}

TEST_CASE("onnx: quantising and back gives the types that operator sets after 19 define") {
  onnx_model m{21};
  m.input("x", {1024, 1024}, bytes8).weights("s", {}, half).weights("z", {}, ::onnx::TensorProto::INT16);
  m.input("y", {100}, half);
  m.node("DequantizeLinear", {"x", "s"}, {"a"});
  m.node("QuantizeLinear", {"y", "s"}, {"b"});
  m.node("QuantizeLinear", {"y", "s", "z"}, {"c"});
  onnx_model::set(m.node("QuantizeLinear", {"y", "s"}, {"d"}), "output_dtype", 22);
  const auto r = m.read().ops;
  CHECK(bytes(r, 0) == 1024 * 1024 * 2);
  CHECK(bytes(r, 1) == 100);
  CHECK(bytes(r, 2) == 200);
  CHECK(bytes(r, 3) == 50); // int4
  for (const std::int32_t type : {25, 26}) { // uint2, int2
    onnx_model two;
    two.input("x", {3, 5}, type);
    two.node("Identity", {"x"}, {"y"});
    CHECK(bytes(two.read().ops, 0) == 4); // 30 bits
  }
}

TEST_CASE("onnx: a model that imports no operator set is of the first one") {
  onnx_model m;
  m.m.clear_opset_import();
  m.input("x", {64, 256}).weights("w", {128, 512}).weights("bias", {512});
  onnx_model::set(m.node("Reshape", {"x"}, {"r"}), "shape", dims{64, -1, 128});
  m.node("MatMul", {"r", "w"}, {"p"});
  auto& add = m.node("Add", {"p", "bias"}, {"y"});
  onnx_model::set(add, "broadcast", 1);
  m.node("Relu", {"y"}, {"z"});
  const auto r = m.read();
  CHECK(r.ops.work(1) == 2.0 * 64 * 2 * 128 * 512);
  CHECK(bytes(r.ops, 3) == 64 * 2 * 512 * 4);
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: classical models and optimisers") {
  onnx_model m;
  m.m.add_opset_import()->set_domain("ai.onnx.ml");
  m.m.mutable_opset_import(1)->set_version(3);
  m.m.add_opset_import()->set_domain("ai.onnx.preview.training");
  m.m.mutable_opset_import(2)->set_version(1);
  m.input("x", {100, 4});
  auto& trees = m.node("TreeEnsembleRegressor", {"x"}, {"score"}, "ai.onnx.ml");
  onnx_model::set(trees, "nodes_treeids", dims{0, 0, 0, 0, 0, 0, 0, 1, 1, 1}); // of 7 and 3 nodes: 2 levels, and 1
  onnx_model::set(trees, "n_targets", 3);
  auto& linear = m.node("LinearRegressor", {"x"}, {"line"}, "ai.onnx.ml");
  auto& coefficients = *linear.add_attribute();
  coefficients.set_name("coefficients");
  coefficients.set_type(::onnx::AttributeProto::FLOATS);
  for (int i = 0; i < 8; ++i) {
    coefficients.add_floats(1);
  }
  onnx_model::set(linear, "targets", 2);
  m.input("rate", {}).input("step", {}, int64).input("p", {5, 6}).input("g", {5, 6});
  m.input("v", {5, 6}).input("h", {5, 6});
  m.node("Adam", {"rate", "step", "p", "g", "v", "h"}, {"p1", "v1", "h1"}, "ai.onnx.preview.training");
  const auto r = m.read();
  CHECK(r.ops.work(0) == doctest::Approx(100 * (2 + 1 + 1 + 1))); // comparisons, and an addition per tree
  CHECK(bytes(r.ops, 0) == 100 * 3 * 4);
  CHECK(r.ops.work(1) == 100 * 2 * 8);
  CHECK(bytes(r.ops, 1) == 100 * 2 * 4);
  CHECK(r.ops.work(2) == 14 * 30);
  CHECK(bytes(r.ops, 2, 2) == 30 * 4);
  CHECK(r.notes.empty());
}

TEST_CASE("onnx: every op that the library at hand has a schema for has a rule for its cost") {
  std::ifstream list{std::filesystem::path{__FILE__}.parent_path().parent_path() / "docs" / "onnx_operators.txt"};
  std::set<std::string> listed; // of which docs/onnx.md says what there is
  for (std::string line; std::getline(list, line);) {
    if (!line.starts_with("#")) {
      listed.insert(line.substr(0, line.find(' ')));
    }
  }
  const auto has_rule = [](const std::string& type) {
    const auto& bodies = weft::onnx::detail::control_flow;
    return std::find(std::begin(bodies), std::end(bodies), type) != std::end(bodies) ||
           weft::onnx::flop_of({.type = type});
  };
  std::size_t seen = 0;
  for (const auto& schema : ::onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    const auto& d = schema.domain();
    if (schema.Deprecated() || (!d.empty() && d != "ai.onnx.ml" && d != "ai.onnx.preview.training")) {
      continue;
    }
    const auto type = d.empty() ? schema.Name() : d + "." + schema.Name();
    CAPTURE(type);
    CHECK(has_rule(type));
    CHECK(listed.contains(type));
    ++seen;
  }
  CHECK(seen > 300);
  for (const auto& type : listed) {
    CAPTURE(type);
    CHECK(has_rule(type));
  }
  for (const char* type :
       {"com.microsoft.MoE", "com.microsoft.QMoE", "com.microsoft.PagedAttention",
        "com.microsoft.SparseAttention", "com.microsoft.DecoderMaskedMultiHeadAttention",
        "com.microsoft.DecoderMaskedSelfAttention", "com.microsoft.PackedMultiHeadAttention",
        "com.microsoft.PackedAttention", "com.microsoft.GatherBlockQuantized", "com.microsoft.MatMulBnb4",
        "com.microsoft.QuantizeLinear", "com.microsoft.DequantizeLinear"}) {
    CAPTURE(type);
    CHECK(weft::onnx::flop_of({.type = type}));
  }
}

TEST_CASE("onnx: inputs of the wrong kind do not reach inference functions") {
  // Each of these made a function of the library read what is not there, divide by 0 or loop without end.
  onnx_model m{17};
  auto& sequence = *m.m.mutable_graph()->add_input();
  sequence.set_name("list");
  sequence.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  m.input("x", {4, 2, 8, 8}).input("flat", {6}).integers("none", {0}).input("endless", {std::int64_t{1} << 40}, int64);
  m.m.mutable_graph()->mutable_initializer(0)->clear_dims();
  m.node("LayerNormalization", {"list", "flat"}, {"a", "b"});
  m.node("Gemm", {"x", "list"}, {"c"});
  onnx_model::set(m.node("MaxUnpool", {"x", "list"}, {"d"}), "kernel_shape", dims{1, 1});
  m.node("SplitToSequence", {"x", "none"}, {"e"});
  m.node("ConstantOfShape", {"endless"}, {"f"});
  CHECK(m.read().ops.num_ops() == 5);
}

#ifdef WEFT_REFERENCE_DATA
struct figure {
  const char* file;
  op_id op;
  double flop;
  double bytes; ///< of the first output
};

TEST_CASE("onnx: small models that show one thing each") {
  const std::filesystem::path root{WEFT_REFERENCE_DATA};
  if (root.empty()) {
    MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
    return;
  }
  const figure figures[] = {
    {"attention23_prompt3d.onnx", 0, 4.337e9, 512 * 4096 * 2}, // 512² scores of 32 heads: 4 · 128 + 5 each
    {"averagepool19.onnx", 0, 1.327e6, 64 * 48 * 48 * 4},
    {"com_layers.onnx", 1, 524288 + 4096 + 640, 16 * 64 * 2}, // MoE: 2 · 16 · 64 · 256, activations, softmax of 16 × 8
    {"com_layers.onnx", 14, 2 * 16 * 64 * 64, 16 * 64 * 2},   // Inverse: 2 n per element
    {"declared_overridden.onnx", 1, 512, 2048},
    {"declared_overridden.onnx", 2, 0.524e6, 8 * 512 * 4},
    {"dequantize19.onnx", 0, 2.0 * 1024 * 1024, 1024 * 1024 * 2}, // minus the zero, times the scale
    {"dft20.onnx", 0, 1.966e6, 8 * 4096 * 2 * 4},
    {"einsum_plain.onnx", 0, 2.0 * 2 * 12 * 128 * 384 * 64, 4.7186e6},
    {"function_declared.onnx", 0, 1, 1024 * 128 * 4}, // the comparison in its condition; a transposition is free
    {"function_declared.onnx", 1, 1024 * 128, 1024 * 128 * 4},
    {"function_default.onnx", 0, 0, 64 * 512 * 4},
    {"gqa_decode.onnx", 0, 33.88e6, 4096 * 2},
    {"gqa_prompt.onnx", 0, 4.337e9, 512 * 4096 * 2},
    {"if_squeeze.onnx", 4, 16.78e6, 64 * 512 * 4},
    {"mha_packed.onnx", 0, 44.29e9, 5.243e6},
    {"no_opset_import.onnx", 1, 2.0 * 64 * 2 * 128 * 512, 64 * 2 * 512 * 4},
    {"onehot.onnx", 0, 0, 4 * 512 * 64 * 4},
    {"overload.onnx", 0, 64 * 256, 64 * 256 * 4},
    {"overload.onnx", 1, 2.0 * 64 * 256 * 512, 64 * 512 * 4},
    {"resize18.onnx", 0, 2.0 * 4 * 64 * 112 * 112, 64 * 112 * 112 * 4},
    {"skipsln.onnx", 0, 6.0 * 512 * 4096, 512 * 4096 * 2}, // a sum, and 5 per element
    {"skipsln.onnx", 1, 512 * 4096, 512 * 4096 * 2},
  };
  for (const auto& f : figures) {
    CAPTURE(f.file);
    CAPTURE(f.op);
    const auto r = weft::onnx::read_model(root / "data" / "model_cases" / f.file).ops;
    CHECK(r.work(f.op) == doctest::Approx(f.flop).epsilon(0.01));
    CHECK(static_cast<double>(bytes(r, f.op)) == doctest::Approx(f.bytes).epsilon(0.01));
  }
}
#endif

} // namespace interop_onnx_cases_test
