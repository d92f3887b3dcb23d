// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/onnx/index_expressions.hpp"
#include "weft/ops/axes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onnx_index_expressions_test {

using namespace weft;
using extents = ops::call::extents;

ops::call call(std::string_view type, std::vector<extents> inputs, std::vector<extents> outputs) {
  ops::call c{.type = type, .version = 17};
  for (auto& dims : inputs) {
    c.inputs.emplace_back(std::move(dims));
  }
  for (auto& dims : outputs) {
    c.outputs.emplace_back(std::move(dims));
  }
  return c;
}
std::string expression(const ops::call& c) { return weft::onnx::detail::index_expressions::of(c); }

TEST_CASE("index expressions: products go along rows, columns and sums") {
  CHECK(expression(call("MatMul", {{2, 3}, {3, 4}}, {{2, 4}})) == "xz,zy->xy");
  CHECK(expression(call("MatMul", {{5, 2, 3}, {3, 4}}, {{5, 2, 4}})) == "axz,zy->axy");
  CHECK(expression(call("MatMul", {{5, 1, 2, 3}, {6, 3, 4}}, {{5, 6, 2, 4}})) == "a.xz,bzy->abxy");
  CHECK(expression(call("MatMul", {{3}, {3, 4}}, {{4}})) == "->");
  auto gemm = call("Gemm", {{2, 3}, {4, 3}}, {{2, 4}});
  gemm.numbers["transB"] = {1};
  CHECK(expression(gemm) == "xz,yz->xy");
  gemm.inputs.emplace_back(extents{4});
  CHECK(expression(gemm) == "xz,yz,+y->xy"); // a bias is added once
  gemm.inputs.back() = extents{1, 4};
  CHECK(expression(gemm) == "xz,yz,+.y->xy");
}

TEST_CASE("index expressions: images, rows, permutations and look-ups") {
  CHECK(expression(call("Conv", {{8, 3, 9, 9}, {16, 3, 3, 3}}, {{8, 16, 7, 7}})) == "nc..,fc..->nf..");
  CHECK(expression(call("Conv", {{8, 3, 9, 9}, {16, 3, 3, 3}, {16}}, {{8, 16, 7, 7}})) == "nc..,fc..,+f->nf..");
  auto depthwise = call("Conv", {{8, 6, 9, 9}, {6, 1, 3, 3}}, {{8, 6, 7, 7}});
  depthwise.numbers["group"] = {6};
  CHECK(expression(depthwise) == "n...->n...");
  CHECK(expression(call("MaxPool", {{8, 6, 9, 9}}, {{8, 6, 4, 4}})) == "nc..->nc..");
  CHECK(expression(call("BatchNormalization", {{8, 6, 9}, {6}, {6}, {6}, {6}}, {{8, 6, 9}})) ==
        "nc.,c,c,c,c->nc.");
  CHECK(expression(call("Softmax", {{2, 3, 4}}, {{2, 3, 4}})) == "ab.->ab.");
  auto softmax = call("Softmax", {{2, 3, 4}}, {{2, 3, 4}});
  softmax.numbers["axis"] = {1};
  CHECK(expression(softmax) == "a.c->a.c");
  CHECK(expression(call("LayerNormalization", {{2, 3, 4}, {4}, {4}}, {{2, 3, 4}})) == "ab.->ab.");
  auto transpose = call("Transpose", {{2, 3, 4}}, {{2, 4, 3}});
  transpose.numbers["perm"] = {0, 2, 1};
  CHECK(expression(transpose) == "abc->acb");
  CHECK(expression(call("Transpose", {{2, 3}}, {{3, 2}})) == "ab->ba");
  CHECK(expression(call("Gather", {{100, 8}, {2, 5}}, {{2, 5, 8}})) == "ab,AB->ABb");
  auto gather = call("Gather", {{2, 3, 4}, {}}, {{2, 4}});
  gather.numbers["axis"] = {1};
  CHECK(expression(gather) == "a.c,->ac");
  CHECK(expression(call("Relu", {{2}}, {{2}})).empty());
  CHECK(expression(call("Sum", {{8, 4}, {4}, {8, 1}}, {{8, 4}})) == "ab,b,a.->ab");
}

TEST_CASE("index expressions: older operator sets, and what would be wrong in parts") {
  auto softmax = call("Softmax", {{1, 1000, 1, 1}}, {{1, 1000, 1, 1}});
  softmax.version = 11;
  CHECK(expression(softmax) == "a...->a...");
  auto add = call("Add", {{2, 3, 4, 4}, {4}}, {{2, 3, 4, 4}});
  CHECK(expression(add).empty());
  add.version = 6; // an attribute says where it is broadcast
  CHECK(expression(add) == "->");
  auto slice = call("Slice", {{8, 4}, {1}, {1}, {1}, {1}}, {{8, 4}});
  slice.values = {std::nullopt, extents{-1}, extents{-100}, extents{0}, extents{-1}};
  CHECK(expression(slice) == "->");
  slice.values[4] = extents{1};
  CHECK(expression(slice).empty());
  auto norm = call("BatchNormalization", {{8, 6, 9}, {6}, {6}, {6}, {6}}, {{8, 6, 9}});
  norm.numbers["training_mode"] = {1};
  CHECK(expression(norm) == "->");
  CHECK(expression(call("LayerNormalization", {{2, 3, 4}, {2, 1, 4}}, {{2, 3, 4}})) == "->");
  CHECK(expression(call("com.microsoft.nchwc.MaxPool", {{8, 6, 9, 9}}, {{8, 6, 9, 9}})) == "->");
  CHECK(expression(call("com.microsoft.Gelu", {{8, 6}}, {{8, 6}})).empty());
  CHECK(expression(call("MaxPool", {}, {{8, 6, 9, 9}})) == "->");
}

TEST_CASE("index expressions: each fits the operands of its op") {
  const auto check = [](const ops::call& c) {
    auto with_axes = c;
    with_axes.texts["axes"] = expression(c);
    CHECK_NOTHROW((void)ops::axes_of(with_axes));
  };
  for (const char* type : {"AveragePool", "BatchNormalization", "Conv", "Gather", "Gemm", "GlobalAveragePool",
                           "InstanceNormalization", "LayerNormalization", "MatMul", "MaxPool", "Softmax",
                           "Transpose"}) {
    CAPTURE(type);
    for (std::size_t a = 0; a < 5; ++a) {
      for (std::size_t b = 0; b < 5; ++b) {
        for (std::size_t made = 0; made < 5; ++made) {
          for (const std::int64_t axis : {-1, 0, 1, 7}) {
            auto c = call(type, {extents(a, 2), extents(b, 2), extents(1, 2)}, {extents(made, 2)});
            c.numbers["axis"] = {axis};
            c.numbers["perm"] = {axis, 0};
            check(c);
          }
        }
      }
    }
  }
}

TEST_CASE("index expressions: what is put together, taken apart, repeated and reduced") {
  auto concat = call("Concat", {{2, 3, 4}, {2, 5, 4}}, {{2, 8, 4}});
  concat.numbers["axis"] = {1};
  CHECK(expression(concat) == "a.c,a.c->a.c");
  auto split = call("Split", {{2, 8, 4}, {2}}, {{2, 3, 4}, {2, 5, 4}});
  split.numbers["axis"] = {-2};
  CHECK(expression(split) == "a.c,.->a.c,a.c");
  CHECK(expression(call("Expand", {{8, 1, 4}, {4}}, {{2, 8, 3, 4}})) == "b.d->abcd");
  auto mean = call("ReduceMean", {{2, 3, 4}}, {{2, 3, 1}});
  mean.numbers["axes"] = {-1};
  CHECK(expression(mean) == "abc->ab.");
  auto largest = call("ReduceMax", {{2, 3, 4}, {1}}, {{2, 4}});
  CHECK(expression(largest) == "->"); // nobody knows along which axes
  largest.values = {std::nullopt, extents{1}};
  CHECK(expression(largest) == "a.c->ac");
  auto sum = call("ReduceSum", {{2, 3}}, {{1, 1}});
  CHECK(expression(sum) == "ab->..");
  sum.numbers["noop_with_empty_axes"] = {1};
  sum.outputs = {extents{2, 3}};
  CHECK(expression(sum) == "ab->ab");
  CHECK(expression(call("TopK", {{2, 50}, {1}}, {{2, 5}, {2, 5}})) == "a.->a.,a.");
  CHECK(expression(call("ArgMax", {{2, 50}}, {{1, 50}})) == ".b->.b");
  CHECK(expression(call("Trilu", {{2, 8, 8}}, {{2, 8, 8}})) == "a..->a..");
  CHECK(expression(call("Resize", {{2, 3, 4, 4}, {0}, {4}}, {{2, 3, 8, 8}})) == "n...->n...");
  auto running = call("CumSum", {{2, 8}, {}}, {{2, 8}});
  CHECK(expression(running) == "->");
  running.values = {std::nullopt, extents{1}};
  CHECK(expression(running) == "a.->a.");
}

} // namespace onnx_index_expressions_test
