// SPDX-License-Identifier: BSL-1.0
// Shapes and work of single ops, as TensorFlow's shape functions and the counts of ops.hpp give them.
#include "weft/interop/tensorflow.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace interop_tensorflow_shapes_test {

using namespace weft;
using dims = std::vector<std::int64_t>;

/// One op on inputs whose shapes or values are known.
class single_op {
public:
  explicit single_op(std::string type, std::string attributes = "")
      : type_{std::move(type)}, attributes_{std::move(attributes)} {}

  single_op& input(const dims& shape) {
    const auto name = next();
    text_ +=
      "node { name: '" + name +
      "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: " + "'shape' value { shape { " +
      extents(shape) + " } } } }\n";
    return *this;
  }
  single_op& values(const dims& list, bool scalar = false) {
    const auto name = next();
    text_ += "node { name: '" + name +
             "' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' " +
             "value { tensor { dtype: DT_INT32 tensor_shape { " +
             (scalar ? "" : extents({static_cast<std::int64_t>(list.size())})) + " } ";
    for (const auto i : list) {
      text_ += "int_val: " + std::to_string(i) + " ";
    }
    text_ += "} } } }\n";
    return *this;
  }
  single_op& value(std::int64_t i) { return values({i}, true); }

  /// Four-byte elements of output i; -1 if there is no such output.
  std::int64_t elements(std::size_t i = 0) {
    const auto& w = read();
    const auto outputs = w.outputs(static_cast<op_id>(w.num_ops() - 1));
    return i < outputs.size() ? static_cast<std::int64_t>(w.bytes(outputs.begin()[static_cast<std::ptrdiff_t>(i)]) / 4)
                              : -1;
  }
  double work() {
    const auto& w = read();
    return w.work(static_cast<op_id>(w.num_ops() - 1));
  }

private:
  static std::string extents(const dims& shape) {
    std::string text;
    for (const auto d : shape) {
      text += "dim { size: " + std::to_string(d) + " } ";
    }
    return text;
  }
  std::string next() {
    inputs_.push_back("in" + std::to_string(inputs_.size()));
    return inputs_.back();
  }
  const workload& read() {
    std::string node = "node { name: 'op' op: '" + type_ + "' " + attributes_;
    for (const auto& i : inputs_) {
      node += " input: '" + i + "'";
    }
    model_ = tensorflow::reader{.batch = 2, .extent = 3}.read(text_ + node + " } versions { producer: 27 }", "op");
    return model_.ops;
  }

  std::string type_;
  std::string attributes_;
  std::string text_;
  std::vector<std::string> inputs_;
  model model_;
};

std::string ints(const std::string& key, const dims& list) {
  std::string text = "attr { key: '" + key + "' value { list { ";
  for (const auto i : list) {
    text += "i: " + std::to_string(i) + " ";
  }
  return text + "} } } ";
}
std::string word(const std::string& key, const std::string& s) {
  return "attr { key: '" + key + "' value { s: '" + s + "' } } ";
}
std::string number(const std::string& key, std::int64_t i) {
  return "attr { key: '" + key + "' value { i: " + std::to_string(i) + " } } ";
}
std::string yes(const std::string& key) { return "attr { key: '" + key + "' value { b: true } } "; }

TEST_CASE("products") {
  CHECK(single_op{"MatMul"}.input({3, 4}).input({4, 5}).elements() == 15);
  CHECK(single_op{"MatMul"}.input({3, 4}).input({4, 5}).work() == 2 * 3 * 4 * 5);
  CHECK(single_op{"MatMul", yes("transpose_a") + yes("transpose_b")}.input({4, 3}).input({5, 4}).work() ==
        2 * 3 * 4 * 5);
  CHECK(single_op{"BatchMatMulV2"}.input({7, 1, 3, 4}).input({6, 4, 5}).elements() == 7 * 6 * 15);
  CHECK(single_op{"BatchMatMulV2"}.input({7, 1, 3, 4}).input({6, 4, 5}).work() == 2 * 7 * 6 * 15 * 4);
  CHECK(single_op{"BatchMatMul", yes("adj_x") + yes("adj_y")}.input({2, 4, 3}).input({2, 5, 4}).work() ==
        2 * 2 * 15 * 4);
  CHECK(single_op{"Einsum", word("equation", "bij,bjk->bik")}.input({2, 3, 4}).input({2, 4, 5}).elements() == 30);
  CHECK(single_op{"Einsum", word("equation", "bij,bjk->bik")}.input({2, 3, 4}).input({2, 4, 5}).work() == 2 * 2 * 60);
  CHECK(single_op{"Einsum", word("equation", "...x,xy->...y")}.input({2, 3, 4}).input({4, 5}).elements() == 2 * 3 * 5);
  CHECK(single_op{"Einsum", word("equation", "...x,xy->...y")}.input({2, 3, 4}).input({4, 5}).work() == 2 * 2 * 60);
  CHECK(single_op{"Einsum", word("equation", "...ij,...jk->...ik")}.input({7, 1, 3, 4}).input({2, 4, 5}).elements() ==
        7 * 2 * 15);
  CHECK(single_op{"Einsum", word("equation", "...ij,...jk->...ik")}.input({7, 1, 3, 4}).input({2, 4, 5}).work() ==
        2 * 7 * 2 * 60);
}

TEST_CASE("convolutions and their gradients") {
  const auto same = ints("strides", {1, 2, 2, 1}) + word("padding", "SAME");
  const auto valid = ints("strides", {1, 1, 1, 1}) + word("padding", "VALID");
  const double work = 2.0 * 2 * 14 * 14 * 8 * 5 * 5 * 3;
  CHECK(single_op{"Conv2D", same}.input({2, 28, 28, 3}).input({5, 5, 3, 8}).elements() == 2 * 14 * 14 * 8);
  CHECK(single_op{"Conv2D", same}.input({2, 28, 28, 3}).input({5, 5, 3, 8}).work() == work);
  CHECK(single_op{"Conv2D", valid}.input({2, 28, 28, 3}).input({5, 5, 3, 8}).elements() == 2 * 24 * 24 * 8);
  CHECK(
    single_op{"Conv2D", valid + ints("dilations", {1, 2, 2, 1})}.input({2, 28, 28, 3}).input({5, 5, 3, 8}).elements() ==
    2 * 20 * 20 * 8);
  CHECK(single_op{"Conv2D", ints("strides", {1, 1, 2, 2}) + word("padding", "SAME") + word("data_format", "NCHW")}
          .input({2, 3, 28, 28}).input({5, 5, 3, 8}).work() == work);
  CHECK(single_op{"Conv2D", ints("strides", {1, 1, 1, 1}) + word("padding", "EXPLICIT") +
                              ints("explicit_paddings", {0, 0, 1, 1, 2, 2, 0, 0})}
          .input({1, 4, 4, 1})
          .input({3, 3, 1, 1})
          .elements() == 4 * 6);
  CHECK(single_op{"Conv2DBackpropInput", same}
          .values({2, 28, 28, 3})
          .input({5, 5, 3, 8})
          .input({2, 14, 14, 8})
          .elements() == 2 * 28 * 28 * 3);
  CHECK(
    single_op{"Conv2DBackpropInput", same}.values({2, 28, 28, 3}).input({5, 5, 3, 8}).input({2, 14, 14, 8}).work() ==
    work);
  CHECK(single_op{"Conv2DBackpropFilter", same}
          .input({2, 28, 28, 3})
          .values({5, 5, 3, 8})
          .input({2, 14, 14, 8})
          .elements() == 5 * 5 * 3 * 8);
  CHECK(
    single_op{"Conv2DBackpropFilter", same}.input({2, 28, 28, 3}).values({5, 5, 3, 8}).input({2, 14, 14, 8}).work() ==
    work);
  CHECK(single_op{"DepthwiseConv2dNative", same}.input({2, 28, 28, 3}).input({5, 5, 3, 4}).elements() ==
        2 * 14 * 14 * 12);
  CHECK(single_op{"DepthwiseConv2dNative", same}.input({2, 28, 28, 3}).input({5, 5, 3, 4}).work() ==
        2.0 * 2 * 14 * 14 * 12 * 25);
  CHECK(single_op{"DepthwiseConv2dNativeBackpropInput", same}
          .values({2, 28, 28, 3})
          .input({5, 5, 3, 4})
          .input({2, 14, 14, 12})
          .work() == 2.0 * 2 * 14 * 14 * 12 * 25);
  CHECK(single_op{"DepthwiseConv2dNativeBackpropFilter", same}.input({2, 28, 28, 3}).values({5, 5, 3, 4})
          .input({2, 14, 14, 12}).work() == 2.0 * 2 * 14 * 14 * 12 * 25);
  CHECK(single_op{"Conv3D", ints("strides", {1, 1, 1, 1, 1}) + word("padding", "SAME")}
          .input({1, 4, 4, 4, 2})
          .input({3, 3, 3, 2, 5})
          .work() == 2.0 * 64 * 27 * 2 * 5);
}

TEST_CASE("pooling and normalisation") {
  const auto pool = ints("ksize", {1, 3, 3, 1}) + ints("strides", {1, 2, 2, 1});
  CHECK(single_op{"MaxPool", pool + word("padding", "SAME")}.input({2, 9, 9, 4}).elements() == 2 * 25 * 4);
  CHECK(single_op{"MaxPool", pool + word("padding", "VALID")}.input({2, 9, 9, 4}).elements() == 2 * 16 * 4);
  CHECK(single_op{"AvgPool", pool + word("padding", "VALID")}.input({2, 9, 9, 4}).work() == 2 * 16 * 4 * 9);
  CHECK(single_op{"MaxPoolGrad", pool}.input({2, 9, 9, 4}).input({2, 5, 5, 4}).input({2, 5, 5, 4}).elements() ==
        2 * 81 * 4);
  CHECK(single_op{"MaxPoolGrad", pool}.input({2, 9, 9, 4}).input({2, 5, 5, 4}).input({2, 5, 5, 4}).work() ==
        2 * 25 * 4 * 9);
  CHECK(single_op{"AvgPoolGrad", pool}.values({2, 9, 9, 4}).input({2, 5, 5, 4}).elements() == 2 * 81 * 4);
  CHECK(single_op{"AvgPoolGrad", pool}.values({2, 9, 9, 4}).input({2, 5, 5, 4}).work() == 2 * 25 * 4 * 9);
  single_op norm{"FusedBatchNorm"};
  norm.input({2, 5, 5, 4}).input({4}).input({4}).input({4}).input({4});
  CHECK(norm.elements(0) == 200);
  CHECK(norm.elements(4) == 4);
  CHECK(norm.work() == 1600);
  single_op back{"FusedBatchNormGrad"};
  back.input({2, 5, 5, 4}).input({2, 5, 5, 4}).input({4}).input({4}).input({4});
  CHECK(back.elements(0) == 200);
  CHECK(back.elements(2) == 4);
  CHECK(back.work() == 2200);
}

TEST_CASE("elementwise ops broadcast, and reductions take axes") {
  CHECK(single_op{"Add"}.input({2, 1, 3}).input({4, 1}).elements() == 24);
  CHECK(single_op{"AddN"}.input({2, 3}).input({2, 3}).input({2, 3}).work() == 12);
  CHECK(single_op{"Softmax"}.input({2, 3}).work() == 30);
  CHECK(single_op{"Sum"}.input({2, 3, 4}).values({1}).elements() == 8);
  CHECK(single_op{"Sum"}.input({2, 3, 4}).values({-1, 0}).elements() == 3);
  CHECK(single_op{"Mean", yes("keep_dims")}.input({2, 3, 4}).values({0, 1, 2}).elements() == 1);
  CHECK(single_op{"Sum"}.input({2, 3, 4}).values({1}).work() == 24);
  CHECK(single_op{"Sum"}.input({2, 3, 4}).values({}).work() == 0);
  CHECK(single_op{"ArgMax"}.input({2, 3, 4}).value(2).elements() == 12); // int64
  CHECK(single_op{"BiasAddGrad"}.input({2, 3, 4}).elements() == 4);
  CHECK(single_op{"BiasAddGrad", word("data_format", "NCHW")}.input({2, 3, 4, 5}).elements() == 3);
  single_op loss{"SoftmaxCrossEntropyWithLogits"};
  loss.input({6, 10}).input({6, 10});
  CHECK(loss.elements(0) == 6);
  CHECK(loss.elements(1) == 60);
  CHECK(loss.work() == 300);
  CHECK(single_op{"L2Loss"}.input({6, 10}).elements() == 1);
  CHECK(single_op{"TopKV2"}.input({6, 10}).value(3).elements(1) == 18);
}

TEST_CASE("moving data") {
  CHECK(single_op{"Reshape"}.input({6, 4}).values({-1, 8}).elements() == 24);
  CHECK(single_op{"Reshape"}.input({6, 4}).values({-1, 8}).work() == 0);
  CHECK(single_op{"Transpose"}.input({6, 4}).values({1, 0}).elements() == 24);
  CHECK(single_op{"Concat"}.value(1).input({2, 3}).input({2, 4}).elements() == 14);
  CHECK(single_op{"ConcatV2"}.input({2, 3}).input({2, 4}).value(-1).elements() == 14);
  CHECK(single_op{"Pack", number("axis", 1)}.input({2, 3}).input({2, 3}).elements() == 12);
  CHECK(single_op{"Unpack", number("axis", 1) + number("num", 3)}.input({2, 3}).elements() == 2);
  CHECK(single_op{"Split", number("num_split", 3)}.value(1).input({2, 6}).elements() == 4);
  CHECK(single_op{"Slice"}.input({6, 8}).values({1, 2}).values({3, -1}).elements() == 18);
  CHECK(single_op{"Gather"}.input({100, 8}).values({1, 2, 3}).elements() == 24);
  CHECK(single_op{"GatherV2"}.input({100, 8}).values({1, 2, 3}).value(1).elements() == 300);
  CHECK(single_op{"GatherNd"}.input({4, 5, 6}).input({7, 2}).elements() == 42);
  CHECK(single_op{"Tile"}.input({2, 3}).values({4, 5}).elements() == 120);
  CHECK(single_op{"ExpandDims"}.input({2, 3}).value(0).elements() == 6);
  CHECK(single_op{"Squeeze"}.input({2, 1, 3}).elements() == 6);
  CHECK(single_op{"Pad"}.input({2, 3}).values({1, 1, 2, 2}).elements() == 28);
  CHECK(single_op{"OneHot"}.values({1, 2}).value(10).input({}).input({}).elements() == 20);
  CHECK(single_op{"Range"}.value(2).value(10).value(3).elements() == 3);
  CHECK(single_op{"Fill"}.values({4, 5}).input({}).elements() == 20);
  CHECK(single_op{"RandomUniform", "attr { key: 'dtype' value { type: DT_FLOAT } }"}.values({4, 5}).work() == 20);
  CHECK(single_op{"Cast", "attr { key: 'DstT' value { type: DT_DOUBLE } }"}.input({4}).elements() == 8);
  CHECK(single_op{"Shape"}.input({4, 5}).elements() == 2);
  CHECK(single_op{"Where"}.input({4, 5}).elements() > 0);
}

TEST_CASE("strided slices") {
  const auto slice = [](const dims& shape, const dims& begin, const dims& end, const dims& stride,
                        const std::string& masks = "") {
    return single_op{"StridedSlice", masks}.input(shape).values(begin).values(end).values(stride).elements();
  };
  CHECK(slice({10}, {2}, {8}, {3}) == 2);
  CHECK(slice({10}, {-3}, {10}, {1}) == 3);
  CHECK(slice({10}, {9}, {1}, {-2}) == 4);
  CHECK(slice({10}, {0}, {0}, {1}, number("begin_mask", 1) + number("end_mask", 1)) == 10);
  CHECK(slice({10, 7}, {4}, {5}, {1}, number("shrink_axis_mask", 1)) == 7);
  CHECK(slice({10, 7}, {0, 1}, {0, 3}, {1, 1}, number("ellipsis_mask", 1)) == 20);
  CHECK(slice({10, 7}, {0, 2}, {0, 5}, {1, 1}, number("new_axis_mask", 1)) == 21);
  CHECK(slice({10}, {5}, {5}, {1}) == 0);
}

TEST_CASE("cells and updates") {
  single_op cell{"LSTMBlockCell"};
  cell.input({4, 6}).input({4, 8}).input({4, 8}).input({14, 32}).input({32});
  CHECK(cell.elements(6) == 32);
  CHECK(cell.work() == 2 * 4 * 14 * 32 + 14 * 32);
  CHECK(single_op{"ApplyAdam"}.input({5, 6}).work() == 12 * 30);
  CHECK(single_op{"ResourceApplyMomentum"}.input({5, 6}).work() == 4 * 30);
  CHECK(single_op{"AssignAddVariableOp"}.input({5, 6}).input({5, 6}).work() == 30);
  CHECK(single_op{"SparseApplyAdagrad"}.input({2, 6}).input({2, 6}).input({}).input({3, 6}).values({0, 1, 0}).work() ==
        4 * 18);
}

TEST_CASE("shapes that are computed in the graph are followed") {
  // As dense layers and gradients of means do: [batch, -1] from the shape, axes from BroadcastGradientArgs.
  const std::string text = R"(
    node { name: "x" op: "Placeholder" attr { key: "shape" value { shape { dim { size: 6 } dim { size: 4 } dim { size: 5 } } } } }
    node { name: "shape" op: "Shape" input: "x" }
    node { name: "0" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 0 } } } }
    node { name: "1" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 1 } } } }
    node { name: "batch" op: "StridedSlice" input: "shape" input: "0" input: "1" input: "1"
           attr { key: "shrink_axis_mask" value { i: 1 } } }
    node { name: "-1" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: -1 } } } }
    node { name: "to" op: "Pack" input: "batch" input: "-1" }
    node { name: "flat" op: "Reshape" input: "x" input: "to" }
    node { name: "flat_shape" op: "Shape" input: "flat" }
    node { name: "prod" op: "Prod" input: "flat_shape" input: "0" }
    node { name: "ones" op: "Fill" input: "flat_shape" input: "prod" }
    node { name: "row" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 20 } } } }
    node { name: "args" op: "BroadcastGradientArgs" input: "flat_shape" input: "row" }
    node { name: "sum" op: "Sum" input: "flat" input: "args:1" }
    versions { producer: 27 })";
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
  const auto constant = [](const std::string& name, const std::string& type, const std::string& shape,
                           const std::string& elements) {
    return "node { name: '" + name + "' op: 'Const' attr { key: 'value' value { tensor { dtype: " + type +
           " tensor_shape { " + shape + " } " + elements + " } } } }\n";
  };
  const auto cast = [](const std::string& name, const std::string& from, const std::string& to) {
    return "node { name: '" + name + "' op: 'Cast' input: '" + from + "' attr { key: 'DstT' value { type: " + to +
           " } } }\n";
  };
  const std::string text =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { "
    "shape { dim { size: 11 } } } } } node { name: 'shape' op: 'Shape' input: 'x' }\n" +
    cast("real", "shape", "DT_FLOAT") + constant("quarter", "DT_FLOAT", "", "float_val: 0.25") +
    "node { name: 'scaled' op: 'Mul' input: 'real' input: 'quarter' } node { name: 'down' op: 'Floor' input: 'scaled' "
    "}\n" +
    cast("extent", "down", "DT_INT32") + constant("list", "DT_INT32", "dim { size: 100 }", list) +
    constant("at", "DT_INT32", "dim { size: 1 }", "int_val: 60") + constant("0", "DT_INT32", "", "int_val: 0") +
    "node { name: 'sixty' op: 'GatherV2' input: 'list' input: 'at' input: '0' } node { name: 'to' op: 'ConcatV2' "
    "input: 'extent' input: 'sixty' input: '0' } node { name: 'zeros' op: 'Fill' input: 'to' input: 'quarter' }"
    "versions { producer: 27 }";
  const auto w = tensorflow::reader{}.read(text, "x").ops;
  CHECK(w.bytes(w.outputs(static_cast<op_id>(w.num_ops() - 1))[0]) == 2 * 60 * 4);
}

/// A list of integers as an attribute.
std::string integers(const std::string& key, const dims& list) {
  std::string text = "attr { key: '" + key + "' value { list { ";
  for (const auto i : list) {
    text += "i: " + std::to_string(i) + " ";
  }
  return text + "} } } ";
}
std::string boolean(const std::string& key, bool b) {
  return "attr { key: '" + key + "' value { b: " + (b ? "true" : "false") + " } } ";
}
std::string integer(const std::string& key, int i) {
  return "attr { key: '" + key + "' value { i: " + std::to_string(i) + " } } ";
}
std::string text(const std::string& key, const std::string& s) {
  return "attr { key: '" + key + "' value { s: '" + s + "' } } ";
}

TEST_CASE("blocks of space become examples or channels, and back") {
  CHECK(single_op("SpaceToBatchND").input({1, 64, 64, 32}).values({2, 2}).values({2, 2, 2, 2}).elements() ==
        4 * 34 * 34 * 32);
  CHECK(single_op("SpaceToBatchND").input({3, 10, 7}).values({4}).values({1, 1}).elements() == 12 * 3 * 7);
  CHECK(single_op("SpaceToBatchND").input({3, 10, 7}).values({4}).values({1, 1}).work() == 0);
  CHECK(single_op("BatchToSpaceND").input({4, 32, 32, 64}).values({2, 2}).values({0, 0, 0, 0}).elements() ==
        64 * 64 * 64);
  CHECK(single_op("BatchToSpaceND").input({12, 3, 7}).values({4}).values({1, 1}).elements() == 3 * 10 * 7);
  CHECK(single_op("SpaceToBatch", integer("block_size", 2)).input({1, 6, 8, 5}).values({1, 1, 0, 0}).elements() ==
        4 * 4 * 4 * 5);
  CHECK(single_op("BatchToSpace", integer("block_size", 2)).input({4, 4, 4, 5}).values({1, 1, 0, 0}).elements() ==
        1 * 6 * 8 * 5);
  // The number of elements stays, so what reads the result tells the extents apart: windows of 1 with a stride.
  const std::string pool =
    integers("ksize", {1, 1, 1, 1}) + integers("strides", {1, 2, 2, 1}) + text("padding", "SAME");
  const auto pooled = [&](const std::string& op, const std::string& more) {
    const auto graph =
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { "
      "shape { dim { size: 1 } dim { size: 6 } dim { size: 6 } dim { size: 16 } } } } } node { name: 'b' op: '" +
      op + "' input: 'x' " + integer("block_size", 2) + more + " } node { name: 'p' op: 'MaxPool' input: 'b' " + pool +
      " } versions { producer: 27 }";
    const auto w = tensorflow::reader{}.read(graph, "net").ops;
    return w.bytes(w.outputs(2)[0]) / 4;
  };
  CHECK(pooled("SpaceToDepth", "") == 2 * 2 * 64);
  CHECK(pooled("DepthToSpace", "") == 6 * 6 * 4);
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
  CHECK(single_op("SegmentSum").input({1000, 64}).values({0, 0, 0, 1, 1}).elements() == 2 * 64);
  CHECK(single_op("SegmentSum").input({1000, 64}).values({0, 0, 0, 1, 1}).work() == 64000);
  CHECK(single_op("SegmentMax").input({3, 4, 5}).values({0, 0, 6}).elements() == 7 * 20);
  dims many(500, 0);
  many.back() = 9;
  CHECK(single_op("SegmentMin").input({500, 3}).values(many).elements() == 10 * 3);
  CHECK(single_op("SegmentMean").input({500, 3}).input({500}).elements() == 500 * 3); // the most that is possible
  CHECK(single_op("SparseSegmentSum").input({100, 8}).values({5, 6, 7}).values({0, 0, 1}).elements() == 2 * 8);
  CHECK(single_op("SparseSegmentSum").input({100, 8}).values({5, 6, 7}).values({0, 0, 1}).work() == 24);
  CHECK(
    single_op("SparseSegmentMeanWithNumSegments").input({100, 8}).values({5, 6}).values({0, 3}).value(9).elements() ==
    9 * 8);
  CHECK(single_op("UnsortedSegmentProd").input({100, 8}).input({100}).value(7).elements() == 7 * 8);
  const auto text =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { "
    "shape { dim { size: 6 } } } } } node { name: 's' op: 'SegmentSum' input: 'x' input: 'x' } versions { producer: 27 "
    "}";
  const auto m = tensorflow::reader{}.read(text, "net");
  REQUIRE(m.notes.size() == 1);
  CHECK(m.notes[0] == "1 outputs are as large as their data say: the most that is possible is taken");
  CHECK(single_op("Where").input({4, 5}).elements() == 20 * 2 * 2); // of eight bytes
  CHECK(single_op("Unique").input({50}).elements() == 50);
  CHECK(single_op("Unique").input({50}).elements(1) == 50);
}

TEST_CASE("quantised ops compute what the plain ones do, and tell ranges") {
  const std::string type = "attr { key: 'Toutput' value { type: DT_QINT32 } } ";
  const auto product =
    single_op("QuantizedMatMul", type).input({8, 64}).input({64, 16}).input({}).input({}).input({}).input({});
  auto op = product;
  CHECK(op.elements() == 8 * 16);
  CHECK(op.elements(1) == 1);
  CHECK(op.elements(2) == 1);
  CHECK(op.work() == 2.0 * 8 * 64 * 16);
  const auto window = integers("strides", {1, 1, 1, 1}) + text("padding", "VALID") +
                      "attr { key: 'out_type' value { type: DT_QINT32 } } ";
  auto conv = single_op("QuantizedConv2D", window)
                .input({1, 10, 10, 3})
                .input({3, 3, 3, 7})
                .input({})
                .input({})
                .input({})
                .input({});
  CHECK(conv.elements() == 8 * 8 * 7);
  CHECK(conv.elements(2) == 1);
  CHECK(conv.work() == 2.0 * 8 * 8 * 7 * 27);
  CHECK(single_op("QuantizeV2", "attr { key: 'T' value { type: DT_QUINT8 } } ")
          .input({40})
          .input({})
          .input({})
          .elements() == 10);
  CHECK(single_op("Dequantize", "attr { key: 'T' value { type: DT_QUINT8 } } ")
          .input({40})
          .input({})
          .input({})
          .elements() == 40);
  CHECK(single_op("Requantize", "attr { key: 'out_type' value { type: DT_QUINT8 } } ")
          .input({40})
          .input({})
          .input({})
          .elements() == 10);
  CHECK(single_op("QuantizedRelu").input({40}).input({}).input({}).elements(1) == 1);
  CHECK(single_op("RequantizationRange").input({40}).input({}).input({}).elements() == 1);
  CHECK(single_op("QuantizedConcat")
          .value(1)
          .input({2, 3})
          .input({2, 4})
          .input({})
          .input({})
          .input({})
          .input({})
          .elements() == 14);
}

TEST_CASE("diagonals and matrices") {
  CHECK(single_op("MatrixDiag").input({3, 5}).elements() == 3 * 25);
  CHECK(single_op("MatrixDiagPart").input({3, 5, 7}).elements() == 3 * 5);
  CHECK(single_op("MatrixDiagV3").input({3, 5}).value(0).value(-1).value(-1).input({}).elements() == 3 * 25);
  CHECK(single_op("MatrixDiagV2").input({3, 5}).value(2).value(-1).value(-1).input({}).elements() == 3 * 49);
  CHECK(single_op("MatrixDiagV3").input({3, 5}).value(-2).value(-1).value(5).input({}).elements() == 3 * 7 * 5);
  CHECK(single_op("MatrixDiagV3").input({3, 2, 5}).values({0, 1}).value(5).value(6).input({}).elements() == 3 * 30);
  CHECK(single_op("MatrixDiagPartV3").input({3, 5, 7}).value(1).input({}).elements() == 3 * 5);
  CHECK(single_op("MatrixDiagPartV2").input({3, 5, 7}).values({-1, 2}).input({}).elements() == 3 * 4 * 5);
  CHECK(single_op("Diag").input({3, 4}).elements() == 144);
  CHECK(single_op("DiagPart").input({3, 4, 3, 4}).elements() == 12);
}

TEST_CASE("decompositions cost what textbooks say") {
  CHECK(single_op("Cholesky").input({2, 30, 30}).work() == doctest::Approx(2 * 30 * 30 * 30 / 3.0));
  CHECK(single_op("Cholesky").input({2, 30, 30}).elements() == 2 * 900);
  auto svd = single_op("Svd").input({4, 50, 20});
  CHECK(svd.elements(0) == 4 * 20);
  CHECK(svd.elements(1) == 4 * 50 * 20);
  CHECK(svd.elements(2) == 4 * 20 * 20);
  CHECK(svd.work() == doctest::Approx(4 * (14.0 * 50 * 400 + 8 * 8000)));
  auto values = single_op("Svd", boolean("compute_uv", false)).input({20, 50});
  CHECK(values.elements(0) == 20);
  CHECK(values.elements(1) == 0);
  CHECK(values.work() == doctest::Approx(4.0 * 50 * 400 - 4.0 / 3 * 8000));
  CHECK(single_op("Svd", boolean("full_matrices", true)).input({50, 20}).elements(1) == 2500);
  CHECK(single_op("Qr").input({50, 20}).elements(0) == 1000);
  CHECK(single_op("Qr").input({50, 20}).elements(1) == 400);
  CHECK(single_op("Qr", boolean("full_matrices", true)).input({50, 20}).elements(0) == 2500);
  CHECK(single_op("SelfAdjointEigV2").input({7, 7}).elements(0) == 7);
  CHECK(single_op("SelfAdjointEigV2").input({7, 7}).elements(1) == 49);
  CHECK(single_op("SelfAdjointEigV2", boolean("compute_v", false)).input({6, 6}).work() ==
        doctest::Approx(4.0 / 3 * 216));
  CHECK(single_op("Lu").input({3, 7, 7}).elements(1) == 21);
  CHECK(single_op("MatrixDeterminant").input({3, 7, 7}).elements() == 3);
  CHECK(single_op("MatrixInverse").input({7, 7}).work() == doctest::Approx(2 * 343));
  CHECK(single_op("MatrixSolve").input({9, 9}).input({9, 2}).elements() == 18);
  CHECK(single_op("MatrixSolve").input({9, 9}).input({9, 2}).work() == doctest::Approx(2.0 / 3 * 729 + 2 * 81 * 2));
  CHECK(single_op("MatrixTriangularSolve").input({9, 9}).input({4, 9, 2}).elements() == 4 * 18);
  CHECK(single_op("MatrixTriangularSolve").input({9, 9}).input({9, 2}).work() == 81 * 2);
  CHECK(single_op("MatrixSolveLs").input({9, 4}).input({9, 2}).input({}).elements() == 8);
  CHECK(single_op("FFT").input({3, 8}).work() == 5 * 24 * 3);
  CHECK(single_op("RFFT").input({3, 8}).values({8}).elements() == 30);
  CHECK(
    single_op("RFFT", "attr { key: 'Tcomplex' value { type: DT_COMPLEX64 } } ").input({3, 8}).values({8}).elements() ==
    30);
  CHECK(single_op("IRFFT").input({3, 5}).values({8}).elements() == 24);
}

TEST_CASE("patches, dilations, crops, lists of tensors") {
  const auto window = [](const std::string& padding) {
    return integers("ksizes", {1, 3, 3, 1}) + integers("strides", {1, 5, 5, 1}) + integers("rates", {1, 2, 2, 1}) +
           text("padding", padding);
  };
  CHECK(single_op("ExtractImagePatches", window("VALID")).input({1, 10, 10, 2}).elements() == 2 * 2 * 18);
  CHECK(single_op("ExtractImagePatches", window("SAME")).input({1, 11, 10, 2}).elements() == 3 * 2 * 18);
  const auto morphology =
    integers("strides", {1, 1, 1, 1}) + integers("rates", {1, 2, 2, 1}) + text("padding", "VALID");
  auto dilated = single_op("Dilation2D", morphology).input({1, 10, 10, 4}).input({3, 2, 4});
  CHECK(dilated.elements() == 6 * 8 * 4);
  CHECK(dilated.work() == 2.0 * 6 * 8 * 4 * 6);
  CHECK(single_op("CropAndResize").input({2, 90, 90, 3}).input({7, 4}).input({7}).values({14, 15}).elements() ==
        7 * 14 * 15 * 3);
  CHECK(single_op("MaxPoolWithArgmax",
                  integers("ksize", {1, 2, 2, 1}) + integers("strides", {1, 2, 2, 1}) + text("padding", "VALID"))
          .input({1, 8, 8, 3})
          .elements(1) == 48 * 2); // of eight bytes
  CHECK(single_op("BlockLSTM").value(5).input({5, 2, 3}).input({2, 7}).input({2, 7}).input({10, 28}).elements(6) ==
        5 * 2 * 7);
  CHECK(single_op("BlockLSTM").value(5).input({5, 2, 3}).input({2, 7}).input({2, 7}).input({10, 28}).work() ==
        5 * (2.0 * 2 * 280 + 14 * 14));
  CHECK(single_op("TensorListGetItem").input({20, 32, 8}).value(0).values({-1, 8}).elements() == 32 * 8);
  CHECK(single_op("TensorListStack", integer("num_elements", 9)).input({-1, 32, 8}).values({-1, 8}).elements() ==
        9 * 32 * 8);
}

} // namespace interop_tensorflow_shapes_test
