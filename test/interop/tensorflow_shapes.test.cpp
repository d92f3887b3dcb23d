// SPDX-License-Identifier: BSL-1.0
// Shapes and work of single ops, as TensorFlow's shape functions and the counts of ops.hpp give them.
#include "interop/tensorflow_graphs.hpp"
#include "weft/interop/tensorflow.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace interop_tensorflow_shapes_test {

using namespace weft;
using dims = weft_test::tensor_dims;
using weft_test::attr, weft_test::constant, weft_test::flag, weft_test::ints, weft_test::node, weft_test::number;
using weft_test::placeholder, weft_test::type_attr, weft_test::word;

struct input {
  dims list = {}; ///< its extents, or its elements
  enum : std::uint8_t { fed, listed, single } is = fed;

  input() = default;
  input(std::initializer_list<std::int64_t> shape) : list{shape} {}
  input(dims l, decltype(is) what) : list{std::move(l)}, is{what} {}
};
input values(const dims& list) { return {list, input::listed}; }
input value(std::int64_t i) { return {dims{i}, input::single}; }

constexpr std::int64_t any = -1; // elements

/// One op on inputs whose shapes or values are known.
struct op_case {
  std::string op, attributes = {};
  std::vector<input> inputs = {};
  dims elements = {}; ///< of each output, in units of four bytes; others are not looked at
  std::optional<double> work = {};
};

/// With a batch of 2, where some extent is open.
workload read_with_batch(const std::string& text) {
  try {
    return tensorflow::reader{.batch = 2, .extent = 3}.read(text, "op").ops;
  } catch (const error& e) {
    if (std::string_view{e.what()}.find("the batch cannot be chosen") == std::string_view::npos) {
      throw;
    }
    return tensorflow::reader{.extent = 3}.read(text, "op").ops;
  }
}

void check(const std::vector<op_case>& cases) {
  for (const auto& c : cases) {
    CAPTURE(c.op);
    CAPTURE(c.attributes);
    std::string text;
    std::vector<std::string> names;
    for (const auto& i : c.inputs) {
      const auto& name = names.emplace_back("in" + std::to_string(names.size()));
      std::string elements;
      for (const auto element : i.list) {
        elements += "int_val: " + std::to_string(element) + " ";
      }
      text += i.is == input::fed
                ? placeholder(name, i.list)
                : constant(name, "DT_INT32", i.is == input::single ? dims{} : dims{std::ssize(i.list)}, elements);
    }
    text += node("op", c.op, names, c.attributes) + "versions { producer: 27 }";
    const auto w = read_with_batch(text);
    const auto op = static_cast<op_id>(w.num_ops() - 1);
    REQUIRE(w.outputs(op).size() >= c.elements.size());
    auto output = w.outputs(op).begin();
    for (const auto elements : c.elements) {
      const auto made = static_cast<std::int64_t>(w.bytes(*output++) / 4);
      if (elements != any) {
        CHECK(made == elements);
      }
    }
    if (c.work) {
      CHECK(w.work(op) == doctest::Approx(*c.work).epsilon(1e-12));
    }
  }
}

TEST_CASE("products") {
  check({
    {"MatMul", "", {{3, 4}, {4, 5}}, {15}, 2 * 3 * 4 * 5},
    {"MatMul", flag("transpose_a") + flag("transpose_b"), {{4, 3}, {5, 4}}, {}, 2 * 3 * 4 * 5},
    {"BatchMatMulV2", "", {{7, 1, 3, 4}, {6, 4, 5}}, {7 * 6 * 15}, 2 * 7 * 6 * 15 * 4},
    {"BatchMatMul", flag("adj_x") + flag("adj_y"), {{2, 4, 3}, {2, 5, 4}}, {}, 2 * 2 * 15 * 4},
    {"Einsum", word("equation", "bij,bjk->bik"), {{2, 3, 4}, {2, 4, 5}}, {30}, 2 * 2 * 60},
    {"Einsum", word("equation", "...x,xy->...y"), {{2, 3, 4}, {4, 5}}, {2 * 3 * 5}, 2 * 2 * 60},
    {"Einsum", word("equation", "...ij,...jk->...ik"), {{7, 1, 3, 4}, {2, 4, 5}}, {7 * 2 * 15}, 2 * 7 * 2 * 60},
  });
}

TEST_CASE("convolutions and their gradients") {
  const auto same = ints("strides", {1, 2, 2, 1}) + word("padding", "SAME");
  const auto valid = ints("strides", {1, 1, 1, 1}) + word("padding", "VALID");
  const double work = 2.0 * 2 * 14 * 14 * 8 * 5 * 5 * 3;
  check({
    {"Conv2D", same, {{2, 28, 28, 3}, {5, 5, 3, 8}}, {2 * 14 * 14 * 8}, work},
    {"Conv2D", valid, {{2, 28, 28, 3}, {5, 5, 3, 8}}, {2 * 24 * 24 * 8}},
    {"Conv2D", valid + ints("dilations", {1, 2, 2, 1}), {{2, 28, 28, 3}, {5, 5, 3, 8}}, {2 * 20 * 20 * 8}},
    {"Conv2D", ints("strides", {1, 1, 2, 2}) + word("padding", "SAME") + word("data_format", "NCHW"),
     {{2, 3, 28, 28}, {5, 5, 3, 8}}, {}, work},
    {"Conv2D",
     ints("strides", {1, 1, 1, 1}) + word("padding", "EXPLICIT") + ints("explicit_paddings",
     {0, 0, 1, 1, 2, 2, 0, 0}), {{1, 4, 4, 1}, {3, 3, 1, 1}}, {4 * 6}},
    {"Conv2DBackpropInput", same, {values({2, 28, 28, 3}), {5, 5, 3, 8}, {2, 14, 14, 8}}, {2 * 28 * 28 * 3}, work},
    {"Conv2DBackpropFilter", same, {{2, 28, 28, 3}, values({5, 5, 3, 8}), {2, 14, 14, 8}}, {5 * 5 * 3 * 8}, work},
    {"DepthwiseConv2dNative", same, {{2, 28, 28, 3}, {5, 5, 3, 4}}, {2 * 14 * 14 * 12}, 2.0 * 2 * 14 * 14 * 12 * 25},
    {"DepthwiseConv2dNativeBackpropInput", same, {values({2, 28, 28, 3}), {5, 5, 3, 4}, {2, 14, 14, 12}}, {},
     2.0 * 2 * 14 * 14 * 12 * 25},
    {"DepthwiseConv2dNativeBackpropFilter", same, {{2, 28, 28, 3}, values({5, 5, 3, 4}), {2, 14, 14, 12}}, {},
     2.0 * 2 * 14 * 14 * 12 * 25},
    {"Conv3D", ints("strides", {1, 1, 1, 1, 1}) + word("padding", "SAME"), {{1, 4, 4, 4, 2}, {3, 3, 3, 2, 5}}, {},
     2.0 * 64 * 27 * 2 * 5},
  });
}

TEST_CASE("pooling and normalisation") {
  const auto pool = ints("ksize", {1, 3, 3, 1}) + ints("strides", {1, 2, 2, 1});
  check({
    {"MaxPool", pool + word("padding", "SAME"), {{2, 9, 9, 4}}, {2 * 25 * 4}},
    {"MaxPool", pool + word("padding", "VALID"), {{2, 9, 9, 4}}, {2 * 16 * 4}},
    {"AvgPool", pool + word("padding", "VALID"), {{2, 9, 9, 4}}, {}, 2 * 16 * 4 * 9},
    {"MaxPoolGrad", pool, {{2, 9, 9, 4}, {2, 5, 5, 4}, {2, 5, 5, 4}}, {2 * 81 * 4}, 2 * 25 * 4 * 9},
    {"AvgPoolGrad", pool, {values({2, 9, 9, 4}), {2, 5, 5, 4}}, {2 * 81 * 4}, 2 * 25 * 4 * 9},
    {"FusedBatchNorm", "", {{2, 5, 5, 4}, {4}, {4}, {4}, {4}}, {200, any, any, any, 4}, 1600},
    {"FusedBatchNormGrad", "", {{2, 5, 5, 4}, {2, 5, 5, 4}, {4}, {4}, {4}}, {200, any, 4}, 2200},
  });
}

TEST_CASE("elementwise ops broadcast, and reductions take axes") {
  check({
    {"Add", "", {{2, 1, 3}, {4, 1}}, {24}},
    {"AddN", "", {{2, 3}, {2, 3}, {2, 3}}, {}, 12},
    {"Softmax", "", {{2, 3}}, {}, 30},
    {"Sum", "", {{2, 3, 4}, values({1})}, {8}, 24},
    {"Sum", "", {{2, 3, 4}, values({-1, 0})}, {3}},
    {"Mean", flag("keep_dims"), {{2, 3, 4}, values({0, 1, 2})}, {1}},
    {"Sum", "", {{2, 3, 4}, values({})}, {}, 0},
    {"ArgMax", "", {{2, 3, 4}, value(2)}, {12}}, // int64
    {"BiasAddGrad", "", {{2, 3, 4}}, {4}},
    {"BiasAddGrad", word("data_format", "NCHW"), {{2, 3, 4, 5}}, {3}},
    {"SoftmaxCrossEntropyWithLogits", "", {{6, 10}, {6, 10}}, {6, 60}, 300},
    {"L2Loss", "", {{6, 10}}, {1}},
    {"TopKV2", "", {{6, 10}, value(3)}, {any, 18}},
  });
}

TEST_CASE("moving data") {
  check({
    {"Reshape", "", {{6, 4}, values({-1, 8})}, {24}, 0},
    {"Transpose", "", {{6, 4}, values({1, 0})}, {24}},
    {"Concat", "", {value(1), {2, 3}, {2, 4}}, {14}},
    {"ConcatV2", "", {{2, 3}, {2, 4}, value(-1)}, {14}},
    {"Pack", number("axis", 1), {{2, 3}, {2, 3}}, {12}},
    {"Unpack", number("axis", 1) + number("num", 3), {{2, 3}}, {2}},
    {"Split", number("num_split", 3), {value(1), {2, 6}}, {4}},
    {"Slice", "", {{6, 8}, values({1, 2}), values({3, -1})}, {18}},
    {"Gather", "", {{100, 8}, values({1, 2, 3})}, {24}},
    {"GatherV2", "", {{100, 8}, values({1, 2, 3}), value(1)}, {300}},
    {"GatherNd", "", {{4, 5, 6}, {7, 2}}, {42}},
    {"Tile", "", {{2, 3}, values({4, 5})}, {120}},
    {"ExpandDims", "", {{2, 3}, value(0)}, {6}},
    {"Squeeze", "", {{2, 1, 3}}, {6}},
    {"Pad", "", {{2, 3}, values({1, 1, 2, 2})}, {28}},
    {"OneHot", "", {values({1, 2}), value(10), {}, {}}, {20}},
    {"Range", "", {value(2), value(10), value(3)}, {3}},
    {"Fill", "", {values({4, 5}), {}}, {20}},
    {"RandomUniform", type_attr("dtype", "DT_FLOAT"), {values({4, 5})}, {}, 20},
    {"RandomUniformInt", type_attr("T", "DT_INT32") + type_attr("Tout", "DT_INT64"), {values({4, 5}), {}, {}}, {40}},
    {"Cast", type_attr("DstT", "DT_DOUBLE"), {{4}}, {8}},
    {"Shape", "", {{4, 5}}, {2}},
  });
}

TEST_CASE("strided slices") {
  check({
    {"StridedSlice", "", {{10}, values({2}), values({8}), values({3})}, {2}},
    {"StridedSlice", "", {{10}, values({-3}), values({10}), values({1})}, {3}},
    {"StridedSlice", "", {{10}, values({9}), values({1}), values({-2})}, {4}},
    {"StridedSlice", number("begin_mask", 1) + number("end_mask", 1), {{10}, values({0}), values({0}), values({1})},
     {10}},
    {"StridedSlice", number("shrink_axis_mask", 1), {{10, 7}, values({4}), values({5}), values({1})}, {7}},
    {"StridedSlice", number("ellipsis_mask", 1), {{10, 7}, values({0, 1}), values({0, 3}), values({1, 1})}, {20}},
    {"StridedSlice", number("new_axis_mask", 1), {{10, 7}, values({0, 2}), values({0, 5}), values({1, 1})}, {21}},
    {"StridedSlice", "", {{10}, values({5}), values({5}), values({1})}, {0}},
  });
}

TEST_CASE("cells and updates") {
  check({
    {"LSTMBlockCell", "", {{4, 6}, {4, 8}, {4, 8}, {14, 32}, {32}}, {any, any, any, any, any, any, 32},
     2 * 4 * 14 * 32 + 14 * 32},
    {"ApplyAdam", "", {{5, 6}}, {}, 12 * 30},
    {"ResourceApplyMomentum", "", {{5, 6}}, {}, 4 * 30},
    {"AssignAddVariableOp", "", {{5, 6}, {5, 6}}, {}, 30},
    {"SparseApplyAdagrad", "", {{2, 6}, {2, 6}, {}, {3, 6}, values({0, 1, 0})}, {}, 4 * 18},
  });
}

TEST_CASE("shapes that are computed in the graph are followed") {
  // As dense layers and gradients of means do: [batch, -1] from the shape, axes from BroadcastGradientArgs.
  const auto number_of = [](const std::string& name, const dims& shape, int i) {
    return constant(name, "DT_INT32", shape, "int_val: " + std::to_string(i));
  };
  const auto text =
    placeholder("x", {6, 4, 5}) + node("shape", "Shape", {"x"}) + number_of("0", {1}, 0) + number_of("1", {1}, 1) +
    node("batch", "StridedSlice", {"shape", "0", "1", "1"}, number("shrink_axis_mask", 1)) + number_of("-1", {}, -1) +
    node("to", "Pack", {"batch", "-1"}) + node("flat", "Reshape", {"x", "to"}) +
    node("flat_shape", "Shape", {"flat"}) + node("prod", "Prod", {"flat_shape", "0"}) +
    node("ones", "Fill", {"flat_shape", "prod"}) + number_of("row", {1}, 20) +
    node("args", "BroadcastGradientArgs", {"flat_shape", "row"}) + node("sum", "Sum", {"flat", "args:1"}) +
    "versions { producer: 27 }";
  const auto w = tensorflow::reader{}.read(text, "x").ops;
  const auto bytes = [&](op_id v) { return w.bytes(*w.outputs(v).begin()); };
  CHECK(bytes(7) == 6 * 20 * 4);
  CHECK(bytes(10) == 6 * 20 * 4);
  CHECK(bytes(13) == 20 * 4);
  CHECK(w.work(13) == 120);
}

TEST_CASE("elements are followed through reals, and in lists that are no shapes") {
  // A quarter of an extent, rounded down, as image models scale their inputs, and an element of a long list.
  std::string list;
  for (int i = 0; i < 100; ++i) {
    list += " int_val: " + std::to_string(i);
  }
  const auto text =
    placeholder("x", {11}) + node("shape", "Shape", {"x"}) +
    node("real", "Cast", {"shape"}, type_attr("DstT", "DT_FLOAT")) +
    constant("quarter", "DT_FLOAT", {}, "float_val: 0.25") + node("scaled", "Mul", {"real", "quarter"}) +
    node("down", "Floor", {"scaled"}) + node("extent", "Cast", {"down"}, type_attr("DstT", "DT_INT32")) +
    constant("list", "DT_INT32", {100}, list) + constant("at", "DT_INT32", {1}, "int_val: 60") +
    constant("0", "DT_INT32", {}, "int_val: 0") + node("sixty", "GatherV2", {"list", "at", "0"}) +
    node("to", "ConcatV2", {"extent", "sixty", "0"}) + node("zeros", "Fill", {"to", "quarter"}) +
    "versions { producer: 27 }";
  const auto w = tensorflow::reader{}.read(text, "x").ops;
  CHECK(w.bytes(w.outputs(static_cast<op_id>(w.num_ops() - 1))[0]) == 2 * 60 * 4);
}

TEST_CASE("blocks of space become examples or channels, and back") {
  check({
    {"SpaceToBatchND", "", {{1, 64, 64, 32}, values({2, 2}), values({2, 2, 2, 2})}, {4 * 34 * 34 * 32}},
    {"SpaceToBatchND", "", {{3, 10, 7}, values({4}), values({1, 1})}, {12 * 3 * 7}, 0},
    {"BatchToSpaceND", "", {{4, 32, 32, 64}, values({2, 2}), values({0, 0, 0, 0})}, {64 * 64 * 64}},
    {"BatchToSpaceND", "", {{12, 3, 7}, values({4}), values({1, 1})}, {3 * 10 * 7}},
    {"SpaceToBatch", number("block_size", 2), {{1, 6, 8, 5}, values({1, 1, 0, 0})}, {4 * 4 * 4 * 5}},
    {"BatchToSpace", number("block_size", 2), {{4, 4, 4, 5}, values({1, 1, 0, 0})}, {1 * 6 * 8 * 5}},
  });
  // The number of elements stays, so what reads the result tells the extents apart: windows of 1 with a stride.
  const std::string pool =
    ints("ksize", {1, 1, 1, 1}) + ints("strides", {1, 2, 2, 1}) + word("padding", "SAME");
  const auto pooled = [&](const std::string& op) {
    const auto graph = placeholder("x", {1, 6, 6, 16}) + node("b", op, {"x"}, number("block_size", 2)) +
                       node("p", "MaxPool", {"b"}, pool) + "versions { producer: 27 }";
    const auto w = tensorflow::reader{}.read(graph, "net").ops;
    return w.bytes(w.outputs(2)[0]) / 4;
  };
  CHECK(pooled("SpaceToDepth") == 2 * 2 * 64);
  CHECK(pooled("DepthToSpace") == 6 * 6 * 4);
}

TEST_CASE("a dilated convolution as TensorFlow 1 writes it") {
#ifdef WEFT_REFERENCE_DATA
  const auto path = std::filesystem::path{WEFT_REFERENCE_DATA} / "data/model_cases/dilated.pbtxt";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: there is no " << path);
    return;
  }
  auto in = io::open_for_reading(path);
  const auto m = tensorflow::reader{}.read(io::read_all(in, "dilated"), "dilated.pbtxt");
  REQUIRE(m.ops.num_ops() == 9);
  const auto elements = [&](op_id v) { return m.ops.bytes(m.ops.outputs(v)[0]) / 4; };
  CHECK(elements(5) == 4 * 34 * 34 * 32);
  CHECK(elements(6) == 4 * 32 * 32 * 64);
  CHECK(elements(7) == 64 * 64 * 64);
  CHECK(elements(8) == 64 * 64 * 64);
  CHECK(m.ops.work(5) == 0);
  CHECK(m.ops.work(6) == 2.0 * 4 * 32 * 32 * 64 * 9 * 32);
  CHECK(m.ops.work(7) == 0);
  CHECK(m.notes.empty());
#endif
}

TEST_CASE("rows that are summed by their numbers are as many as the last number says") {
  dims many(500, 0);
  many.back() = 9;
  check({
    {"SegmentSum", "", {{1000, 64}, values({0, 0, 0, 1, 1})}, {2 * 64}, 64000},
    {"SegmentMax", "", {{3, 4, 5}, values({0, 0, 6})}, {7 * 20}},
    {"SegmentMin", "", {{500, 3}, values(many)}, {10 * 3}},
    {"SegmentMean", "", {{500, 3}, {500}}, {500 * 3}}, // the most that is possible
    {"SparseSegmentSum", "", {{100, 8}, values({5, 6, 7}), values({0, 0, 1})}, {2 * 8}, 24},
    {"SparseSegmentMeanWithNumSegments", "", {{100, 8}, values({5, 6}), values({0, 3}), value(9)}, {9 * 8}},
    {"UnsortedSegmentProd", "", {{100, 8}, {100}, value(7)}, {7 * 8}},
    {"Where", "", {{4, 5}}, {20 * 2 * 2}}, // of eight bytes
    {"Unique", "", {{50}}, {50, 50}},
  });
  const auto text = placeholder("x", {6}) + node("s", "SegmentSum", {"x", "x"}) + "versions { producer: 27 }";
  const auto m = tensorflow::reader{}.read(text, "net");
  REQUIRE(m.notes.size() == 1);
  CHECK(m.notes[0] == "1 output is as large as its data say: the most that is possible is taken");
}

TEST_CASE("quantised ops compute what the plain ones do, and tell ranges") {
  const std::string type = type_attr("Toutput", "DT_QINT32");
  const auto window = ints("strides", {1, 1, 1, 1}) + word("padding", "VALID") +
                      type_attr("out_type", "DT_QINT32");
  check({
    {"QuantizedMatMul", type, {{8, 64}, {64, 16}, {}, {}, {}, {}}, {8 * 16, 1, 1}, 2.0 * 8 * 64 * 16},
    {"QuantizedConv2D", window, {{1, 10, 10, 3}, {3, 3, 3, 7}, {}, {}, {}, {}}, {8 * 8 * 7, any, 1},
     2.0 * 8 * 8 * 7 * 27},
    {"QuantizeV2", type_attr("T", "DT_QUINT8"), {{40}, {}, {}}, {10}},
    {"Dequantize", type_attr("T", "DT_QUINT8"), {{40}, {}, {}}, {40}},
    {"Requantize", type_attr("out_type", "DT_QUINT8"), {{40}, {}, {}}, {10}},
    {"QuantizedRelu", "", {{40}, {}, {}}, {any, 1}},
    {"RequantizationRange", "", {{40}, {}, {}}, {1}},
    {"QuantizedConcat", "", {value(1), {2, 3}, {2, 4}, {}, {}, {}, {}}, {14}},
  });
}

TEST_CASE("diagonals and matrices") {
  check({
    {"MatrixDiag", "", {{3, 5}}, {3 * 25}},
    {"MatrixDiagPart", "", {{3, 5, 7}}, {3 * 5}},
    {"MatrixDiagV3", "", {{3, 5}, value(0), value(-1), value(-1), {}}, {3 * 25}},
    {"MatrixDiagV2", "", {{3, 5}, value(2), value(-1), value(-1), {}}, {3 * 49}},
    {"MatrixDiagV3", "", {{3, 5}, value(-2), value(-1), value(5), {}}, {3 * 7 * 5}},
    {"MatrixDiagV3", "", {{3, 2, 5}, values({0, 1}), value(5), value(6), {}}, {3 * 30}},
    {"MatrixDiagPartV3", "", {{3, 5, 7}, value(1), {}}, {3 * 5}},
    {"MatrixDiagPartV2", "", {{3, 5, 7}, values({-1, 2}), {}}, {3 * 4 * 5}},
    {"Diag", "", {{3, 4}}, {144}},
    {"DiagPart", "", {{3, 4, 3, 4}}, {12}},
  });
}

TEST_CASE("decompositions cost what textbooks say") {
  check({
    {"Cholesky", "", {{2, 30, 30}}, {2 * 900}, 2 * 30 * 30 * 30 / 3.0},
    {"Svd", "", {{4, 50, 20}}, {4 * 20, 4 * 50 * 20, 4 * 20 * 20}, 4 * (14.0 * 50 * 400 + 8 * 8000)},
    {"Svd", flag("compute_uv", false), {{20, 50}}, {20, 0}, 4.0 * 50 * 400 - 4.0 / 3 * 8000},
    {"Svd", flag("full_matrices"), {{50, 20}}, {any, 2500}},
    {"Qr", "", {{50, 20}}, {1000, 400}},
    {"Qr", flag("full_matrices"), {{50, 20}}, {2500}},
    {"SelfAdjointEigV2", "", {{7, 7}}, {7, 49}},
    {"SelfAdjointEigV2", flag("compute_v", false), {{6, 6}}, {}, 4.0 / 3 * 216},
    {"Lu", "", {{3, 7, 7}}, {any, 21}},
    {"MatrixDeterminant", "", {{3, 7, 7}}, {3}},
    {"MatrixInverse", "", {{7, 7}}, {}, 2 * 343},
    {"MatrixSolve", "", {{9, 9}, {9, 2}}, {18}, 2.0 / 3 * 729 + 2 * 81 * 2},
    {"MatrixTriangularSolve", "", {{9, 9}, {4, 9, 2}}, {4 * 18}},
    {"MatrixTriangularSolve", "", {{9, 9}, {9, 2}}, {}, 81 * 2},
    {"MatrixSolveLs", "", {{9, 4}, {9, 2}, {}}, {8}},
    {"FFT", "", {{3, 8}}, {}, 5 * 24 * 3},
    {"RFFT", "", {{3, 8}, values({8})}, {30}},
    {"RFFT", type_attr("Tcomplex", "DT_COMPLEX64"), {{3, 8}, values({8})}, {30}},
    {"IRFFT", "", {{3, 5}, values({8})}, {24}},
  });
}

TEST_CASE("patches, dilations, crops, lists of tensors") {
  const auto window = [](const std::string& padding) {
    return ints("ksizes", {1, 3, 3, 1}) + ints("strides", {1, 5, 5, 1}) + ints("rates", {1, 2, 2, 1}) +
           word("padding", padding);
  };
  check({
    {"ExtractImagePatches", window("VALID"), {{1, 10, 10, 2}}, {2 * 2 * 18}},
    {"ExtractImagePatches", window("SAME"), {{1, 11, 10, 2}}, {3 * 2 * 18}},
  });
  const auto morphology =
    ints("strides", {1, 1, 1, 1}) + ints("rates", {1, 2, 2, 1}) + word("padding", "VALID");
  check({
    {"Dilation2D", morphology, {{1, 10, 10, 4}, {3, 2, 4}}, {6 * 8 * 4}, 2.0 * 6 * 8 * 4 * 6},
    {"CropAndResize", "", {{2, 90, 90, 3}, {7, 4}, {7}, values({14, 15})}, {7 * 14 * 15 * 3}},
    {"MaxPoolWithArgmax", ints("ksize", {1, 2, 2, 1}) + ints("strides", {1, 2, 2, 1}) + word("padding", "VALID"),
     {{1, 8, 8, 3}}, {any, 48 * 2}}, // of eight bytes
    {"BlockLSTM", "", {value(5), {5, 2, 3}, {2, 7}, {2, 7}, {10, 28}}, {any, any, any, any, any, any, 5 * 2 * 7},
     5 * (2.0 * 2 * 280 + 14 * 14)},
    {"TensorListGetItem", "", {{20, 32, 8}, value(0), values({-1, 8})}, {32 * 8}},
    {"TensorListStack", number("num_elements", 9), {{-1, 32, 8}, values({-1, 8})}, {9 * 32 * 8}},
  });
}

} // namespace interop_tensorflow_shapes_test

