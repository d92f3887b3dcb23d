// SPDX-License-Identifier: BSL-1.0
#include "weft/ops/axes_rules_attributes.hpp"
#include "weft/ops/axes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axes_rules_attributes_test {

using namespace weft;
using extents = ops::call::extents;

struct attribute {
  const char* name;
  extents value;
};

ops::call call(std::string_view type, const std::vector<extents>& inputs, const std::vector<extents>& outputs,
               const std::vector<attribute>& attributes = {}) {
  ops::call c{.type = type};
  c.inputs.assign(inputs.begin(), inputs.end());
  c.outputs.assign(outputs.begin(), outputs.end());
  for (const auto& a : attributes) {
    c.numbers[a.name] = a.value;
  }
  return c;
}

/// The axes as an index expression again, with letters in the order in which operands have them.
std::string expression(const ops::call& c) {
  const auto a = ops::axes_of(c);
  std::string text;
  for (const auto* side : {&a.inputs, &a.outputs}) {
    text += side == &a.outputs ? "->" : "";
    for (std::size_t k = 0; k < side->size(); ++k) {
      text += k > 0 ? "," : "";
      text += side == &a.inputs && k < a.added.size() && a.added[k] ? "+" : "";
      for (const auto axis : (*side)[k]) {
        text += axis == none ? '.' : static_cast<char>('a' + axis);
      }
    }
  }
  return text;
}

TEST_CASE("axes of PyTorch's ops: products") {
  CHECK(expression(call("aten.mm", {{2, 3}, {3, 4}}, {{2, 4}})) == "ab,bc->ac");
  CHECK(expression(call("aten.bmm", {{5, 2, 3}, {5, 3, 4}}, {{5, 2, 4}})) == "abc,acd->abd");
  CHECK(expression(call("aten.matmul", {{5, 2, 3}, {3, 4}}, {{5, 2, 4}})) == "abc,cd->abd");
  CHECK(expression(call("aten.matmul", {{3}, {3}}, {{}})) == ".,.->");
  CHECK(expression(call("aten.addmm", {{4}, {2, 3}, {3, 4}}, {{2, 4}})) == "+a,bc,ca->ba");
  CHECK(expression(call("aten.addmm", {{1, 4}, {2, 3}, {3, 4}}, {{2, 4}})) == "+.a,bc,ca->ba");
  CHECK(expression(call("aten.baddbmm", {{5, 2, 4}, {5, 2, 3}, {5, 3, 4}}, {{5, 2, 4}})) == "+abc,abd,adc->abc");
  CHECK(expression(call("aten.addbmm", {{2, 4}, {5, 2, 3}, {5, 3, 4}}, {{2, 4}})) == "..,...,...->..");
  CHECK(expression(call("aten.linear", {{2, 5, 3}, {4, 3}, {4}}, {{2, 5, 4}})) == "abc,dc,+d->abd");
  CHECK(expression(call("aten.linear", {{2, 5, 3}, {4, 3}}, {{2, 5, 4}})) == "abc,dc->abd");
  auto einsum = call("aten.einsum", {{2, 5, 3}, {4, 3}}, {{2, 5, 4}});
  einsum.texts["equation"] = "b s k, n k -> b s n";
  CHECK(expression(einsum) == "abc,dc->abd");
  for (const char* other : {"...k,nk->...n", "bsk,nk", "bbk,nk->bn"}) {
    einsum.texts["equation"] = other;
    CHECK(expression(einsum) == "...,..->...");
  }
  CHECK(expression(call("aten.scaled_dot_product_attention", {{2, 8, 5, 3}, {2, 8, 5, 3}, {2, 8, 5, 3}},
                        {{2, 8, 5, 3}})) == "ab..,ab..,ab..->ab..");
  CHECK(expression(call("aten.scaled_dot_product_attention",
                        {{2, 8, 5, 3}, {2, 2, 5, 3}, {2, 2, 5, 3}, {2, 1, 5, 5}}, {{2, 8, 5, 3}})) ==
        "ab..,ab..,ab..,a...->ab..");
  CHECK(ops::axes_of(call("aten.scaled_dot_product_attention", {{2, 8, 5, 3}, {2, 2, 5, 3}, {2, 2, 5, 3}},
                          {{2, 8, 5, 3}})).extents == std::vector<std::uint64_t>{2, 2}); // heads of keys
  CHECK(expression(call("aten._scaled_dot_product_flash_attention", {{2, 8, 5, 3}, {2, 8, 5, 3}, {2, 8, 5, 3}},
                        {{2, 8, 5, 3}, {2, 8, 5}, {}, {2}})) == "ab..,ab..,ab..->ab..,ab.,,.");
  CHECK(expression(call("aten._scaled_dot_product_attention_math", {{2, 8, 5, 3}, {2, 8, 5, 3}, {2, 8, 5, 3}},
                        {{2, 8, 5, 3}, {2, 8, 5, 5}})) == "ab..,ab..,ab..->ab..,ab..");
}

TEST_CASE("axes of PyTorch's ops: images") {
  CHECK(expression(call("aten.conv2d", {{8, 3, 9, 9}, {16, 3, 3, 3}, {16}}, {{8, 16, 7, 7}})) ==
        "ab..,cb..,+c->ac..");
  CHECK(expression(call("aten.convolution", {{8, 4, 9, 9}, {4, 1, 3, 3}}, {{8, 4, 7, 7}}, {{"groups", {4}}})) ==
        "a...,....->a...");
  CHECK(expression(call("aten.convolution", {{8, 4, 9, 9}, {4, 4, 3, 3}}, {{8, 4, 11, 11}},
                        {{"transposed", {1}}, {"groups", {1}}})) == "a...,....->a...");
  CHECK(expression(call("aten.batch_norm", {{8, 6, 9}, {6}, {6}, {6}, {6}}, {{8, 6, 9}}, {{"training", {0}}})) ==
        "ab.,b,b,b,b->ab.");
  CHECK(expression(call("aten.native_batch_norm", {{8, 6, 9}, {6}, {6}, {6}, {6}}, {{8, 6, 9}, {6}, {6}},
                        {{"training", {1}}})) == ".a.,a,a,a,a->.a.,a,a");
  CHECK(expression(call("aten.native_group_norm", {{8, 6, 9}, {6}, {6}}, {{8, 6, 9}, {8, 2}, {8, 2}})) ==
        "a..,.,.->a..,a.,a.");
  CHECK(expression(call("aten.max_pool2d_with_indices", {{8, 6, 9, 9}}, {{8, 6, 4, 4}, {8, 6, 4, 4}})) ==
        "ab..->ab..,ab..");
  CHECK(expression(call("aten.adaptive_avg_pool2d", {{8, 6, 9, 9}}, {{8, 6, 1, 1}})) == "ab..->ab..");
  CHECK(expression(call("aten.max_pool2d", {{64, 8, 8}}, {{64, 8, 8}})) == "a..->a.."); // no batch
  CHECK(expression(call("aten.pixel_shuffle", {{16, 3, 3}}, {{4, 6, 6}})) == "...->...");
  CHECK(expression(call("aten.prelu", {{8, 6, 9, 6}, {6}}, {{8, 6, 9, 6}})) == "ab..,b->ab..");
}

TEST_CASE("axes of PyTorch's ops: rows and reductions") {
  CHECK(expression(call("aten.layer_norm", {{2, 5, 8}, {8}, {8}}, {{2, 5, 8}}, {{"normalized_shape", {8}}})) ==
        "ab.,.,.->ab.");
  CHECK(expression(call("aten.native_layer_norm", {{2, 5, 8}, {8}, {8}}, {{2, 5, 8}, {2, 5, 1}, {2, 5, 1}},
                        {{"normalized_shape", {8}}})) == "ab.,.,.->ab.,ab.,ab.");
  CHECK(expression(call("aten._softmax", {{2, 5, 8}}, {{2, 5, 8}}, {{"dim", {1}}})) == "a.b->a.b");
  CHECK(expression(call("aten._log_softmax", {{2, 5, 8}}, {{2, 5, 8}}, {{"dim", {-1}}})) == "ab.->ab.");
  CHECK(expression(call("aten.sum", {{2, 5, 8}}, {{2, 8}}, {{"dim", {1}}})) == "abc->ac");
  CHECK(expression(call("aten.mean", {{2, 5, 8}}, {{2, 5, 1}}, {{"dim", {-1}}, {"keepdim", {1}}})) == "abc->ab.");
  CHECK(expression(call("aten.sum", {{2, 5}}, {{}})) == "ab->");
  CHECK(expression(call("aten.amax", {{2, 5, 8}}, {{2, 5}}, {{"dim", {2}}})) == "ab.->ab");
  CHECK(expression(call("aten.var_mean", {{2, 5, 8}}, {{2, 5}, {2, 5}}, {{"dim", {2}}})) == "ab.->ab,ab");
  CHECK(expression(call("aten.cumsum", {{2, 5}}, {{2, 5}}, {{"dim", {1}}})) == "a.->a.");
  CHECK(expression(call("aten.triu", {{3, 5, 5}}, {{3, 5, 5}})) == "a..->a..");
}

TEST_CASE("axes of PyTorch's ops: gradients as PyTorch records them") {
  const extents dy{8, 16, 7, 7}, images{8, 3, 9, 9}, filters{16, 3, 3, 3}, biases{16};
  CHECK(expression(call("aten.convolution_backward", {dy, images, filters}, {images, filters}, {{"groups", {1}}})) ==
        "ab..,ac..,bc..->ac..,bc..");
  CHECK(expression(call("aten.convolution_backward", {dy, images, filters}, {images, filters, biases})) ==
        "ab..,a...,b...->a...,b...,b"); // a part of the channels would make all biases
  auto last = call("aten.convolution_backward", {dy, images, filters}, {images, filters}); // images need none
  last.outputs[0].reset();
  CHECK(expression(last) == "ab..,ac..,bc..->,bc..");
  CHECK(expression(call("aten.convolution_backward", {dy, images, filters}, {filters})) == "ab..,ac..,bc..->bc..");
  CHECK(expression(call("aten.convolution_backward", {dy, images, filters}, {filters, biases})) ==
        "ab..,a...,b...->b...,b");
  CHECK(expression(call("aten.convolution_backward", {dy, dy, dy}, {dy})) == "....,....,....->....");
  CHECK(expression(call("aten.convolution_backward", {images, images, {3, 1, 3, 3}}, {images, {3, 1, 3, 3}},
                        {{"groups", {3}}})) == "a...,a...,....->a...,....");
  CHECK(expression(call("aten.native_batch_norm_backward", {dy, dy, biases, {}, {}, biases, biases},
                        {dy, biases, biases})) == ".a..,.a..,a,,,a,a->.a..,a,a");
  CHECK(expression(call("aten.max_pool2d_with_indices_backward", {dy, {8, 16, 14, 14}, dy}, {{8, 16, 14, 14}})) ==
        "ab..,ab..,ab..->ab..");
  CHECK(expression(call("aten.threshold_backward", {{2, 5}, {2, 5}}, {{2, 5}})) == "ab,ab->ab");
  CHECK(expression(call("aten._softmax_backward_data", {{2, 5, 8}, {2, 5, 8}}, {{2, 5, 8}}, {{"dim", {2}}})) ==
        "ab.,ab.->ab.");
  CHECK(expression(call("aten.native_layer_norm_backward",
                        {{2, 5, 8}, {2, 5, 8}, {2, 5, 1}, {2, 5, 1}, {8}, {8}}, {{2, 5, 8}, {8}, {8}})) ==
        "ab.,ab.,ab.,ab.,.,.->ab.,.,.");
  CHECK(expression(call("aten.embedding_dense_backward", {{2, 5, 8}, {2, 5}}, {{100, 8}})) == "abc,ab->dc");
}

TEST_CASE("axes of PyTorch's ops: what moves numbers") {
  CHECK(expression(call("aten.transpose", {{2, 5, 8}}, {{2, 8, 5}}, {{"dim0", {1}}, {"dim1", {-1}}})) == "abc->acb");
  CHECK(expression(call("aten.permute", {{2, 5, 8}}, {{8, 2, 5}}, {{"dims", {2, 0, -2}}})) == "abc->cab");
  CHECK(expression(call("aten.t", {{2, 5}}, {{5, 2}})) == "ab->ba");
  CHECK(expression(call("aten.view", {{2, 5, 8}}, {{10, 8}}, {{"size", {10, 8}}})) == "a.b->ab");
  CHECK(expression(call("aten.unsqueeze", {{2, 5}}, {{2, 1, 5}}, {{"dim", {1}}})) == "ab->a.b");
  CHECK(expression(call("aten.expand", {{2, 1, 5}}, {{2, 8, 5}})) == "a.b->acb");
  CHECK(expression(call("aten.select", {{2, 5, 8}}, {{2, 8}}, {{"dim", {1}}, {"index", {0}}})) == "a.b->ab");
  CHECK(expression(call("aten.unbind", {{3, 5}}, {{5}, {5}, {5}}, {{"dim", {0}}})) == ".a->a,a,a");
  CHECK(expression(call("aten.stack", {{5, 4}, {5, 4}}, {{5, 2, 4}}, {{"dim", {1}}})) == "ab,ab->a.b");
  CHECK(expression(call("aten.cat", {{2, 5}, {2, 3}}, {{2, 8}}, {{"dim", {1}}})) == "a.,a.->a.");
  CHECK(expression(call("aten.split", {{2, 6}}, {{2, 3}, {2, 3}}, {{"dim", {1}}})) == "a.->a.,a.");
  CHECK(expression(call("aten.slice", {{2, 6}}, {{2, 3}}, {{"dim", {1}}})) == "a.->a.");
  CHECK(expression(call("aten.embedding", {{100, 8}, {2, 5}}, {{2, 5, 8}})) == "ad,bc->bcd");
  CHECK(expression(call("aten.index_select", {{4, 100}, {7}}, {{4, 7}}, {{"dim", {1}}})) == "a.,b->ab");
  CHECK(expression(call("aten.add", {{2, 5}, {5}}, {{2, 5}})) == "ab,b->ab");
  CHECK(expression(call("aten.dropout", {{2, 5}}, {{2, 5}})) == "ab->ab");
  CHECK(expression(call("aten.native_dropout", {{2, 5}}, {{2, 5}, {2, 5}})) == "ab->ab,ab");
  CHECK(expression(call("aten.flip", {{2, 5}}, {{2, 5}})) == "..->..");
  CHECK(expression(call("aten.swapaxes", {{2, 6, 8}}, {{2, 8, 6}}, {{"axis0", {1}}, {"axis1", {2}}})) == "...->...");
  CHECK(expression(call("aten.log_sigmoid_forward", {{8, 6}}, {{8, 6}, {8, 6}})) == "ab->ab,ab");
  CHECK(expression(call("aten.roll", {{2, 5}}, {{2, 5}})) == "..->..");
}

TEST_CASE("axes of PyTorch's ops: whatever a file says of ranks and attributes, no rule goes wrong") {
  const std::vector<std::string_view> types = {
    "aten.mm", "aten.bmm", "aten.addmm", "aten.baddbmm", "aten.linear", "aten.conv2d", "aten.convolution",
    "aten.scaled_dot_product_attention", "aten.batch_norm", "aten.group_norm", "aten.layer_norm", "aten.softmax",
    "aten.max_pool2d", "aten.mean", "aten.amax", "aten.cumsum", "aten.tril", "aten.expand", "aten.view", "aten.slice",
    "aten.select", "aten.transpose", "aten.permute", "aten.t", "aten.embedding", "aten.index_select", "aten.cat",
    "aten.stack", "aten.clone", "aten.dropout"};
  const std::vector<extents> shapes = {{}, {4}, {4, 4}, {2, 4, 4}, {2, 4, 4, 4}, extents(30, 1)};
  for (const auto type : types) {
    for (const auto& a : shapes) {
      for (const auto& b : shapes) {
        for (const auto& made : shapes) {
          for (const std::int64_t dim : {-40, -1, 0, 1, 3}) {
            const std::vector<attribute> attributes = {{"dim", {dim}}, {"dim0", {dim}}, {"dims", {dim, 0, 1}},
                                                       {"normalized_shape", a}, {"training", {dim & 1}}};
            CHECK_NOTHROW((void)ops::axes_of(call(type, {a, b}, {made}, attributes)));
            CHECK_NOTHROW((void)ops::axes_of(call(type, {a, b, b, a}, {made, a}, attributes)));
            CHECK_NOTHROW((void)ops::axes_of(call(type, {a}, {}, attributes)));
            CHECK_NOTHROW((void)ops::axes_of(call(type, {}, {made}, attributes)));
          }
        }
      }
    }
  }
}

} // namespace axes_rules_attributes_test
