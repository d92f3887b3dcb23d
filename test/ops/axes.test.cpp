// SPDX-License-Identifier: BSL-1.0
#include "weft/ops/axes.hpp"

#include "weft/workload/nn/network.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace op_axes_test {

using namespace weft;
using shapes = std::vector<std::vector<std::uint64_t>>;
using axes = std::vector<std::vector<std::uint32_t>>;

ops::axes axes_of(std::string_view type, const std::string& expression, const shapes& inputs, const shapes& outputs) {
  ops::call c{.type = type};
  for (const auto& dims : inputs) {
    c.inputs.emplace_back(ops::call::extents{dims.begin(), dims.end()});
  }
  for (const auto& dims : outputs) {
    c.outputs.emplace_back(ops::call::extents{dims.begin(), dims.end()});
  }
  if (!expression.empty()) {
    c.texts["axes"] = expression;
  }
  return ops::axes_of(c);
}

TEST_CASE("axes_of: what goes together") {
  SUBCASE("a product") {
    const auto a = axes_of("MatMul", "mk,nk->mn", shapes{{4, 6}, {8, 6}}, shapes{{4, 8}});
    CHECK(a.extents == std::vector<std::uint64_t>{4, 6, 8});
    CHECK(a.inputs == axes{{0, 1}, {2, 1}});
    CHECK(a.outputs == axes{{0, 2}});
  }
  SUBCASE("a sum with a bias, and with a scalar") {
    const auto a = axes_of("Add", "", shapes{{4, 6}, {6}, {}, {1, 6}}, shapes{{4, 6}});
    CHECK(a.extents == std::vector<std::uint64_t>{4, 6});
    CHECK(a.inputs == axes{{0, 1}, {1}, {}, {none, 1}});
  }
  SUBCASE("a reshape: rows to batches and words, columns to heads") {
    const auto a = axes_of("Reshape", "", shapes{{32, 24}, {4}}, shapes{{4, 8, 6, 4}});
    CHECK(a.extents == std::vector<std::uint64_t>{4, 6});
    CHECK(a.inputs == axes{{0, 1}, {none}});
    CHECK(a.outputs == axes{{0, none, 1, none}});
  }
  SUBCASE("rows of a normalisation, and a term of its parameters' gradient") {
    const auto a = axes_of("LayerNormGrad", "", shapes{{12, 6}, {12, 6}, {6}, {12}}, shapes{{12, 6}, {6}, {6}});
    CHECK(a.extents == std::vector<std::uint64_t>{12});
    CHECK(a.inputs == axes{{0, none}, {0, none}, {none}, {0}});
    CHECK(a.outputs == axes{{0, none}, {none}, {none}});
  }
  SUBCASE("embeddings") {
    const auto a = axes_of("Gather", "", shapes{{100, 6}, {4, 3}}, shapes{{4, 3, 6}});
    CHECK(a.extents == std::vector<std::uint64_t>{100, 4, 3, 6});
    CHECK(a.inputs == axes{{0, 3}, {1, 2}});
    CHECK(a.outputs == axes{{1, 2, 3}});
  }
  SUBCASE("a convolution") {
    const auto a = axes_of("Conv2D", "", shapes{{8, 32, 32, 3}, {3, 3, 3, 16}}, shapes{{8, 32, 32, 16}});
    CHECK(a.extents == std::vector<std::uint64_t>{8, 3, 16});
    CHECK(a.outputs == axes{{0, none, none, 2}});
  }
  SUBCASE("a product to which a bias is added") {
    const auto a = axes_of("Gemm", "mk,kn,+n->mn", shapes{{4, 6}, {6, 8}, {8}}, shapes{{4, 8}});
    CHECK(a.extents == std::vector<std::uint64_t>{4, 6, 8});
    CHECK(a.inputs == axes{{0, 1}, {1, 2}, {2}});
    CHECK(a.added == std::vector<bool>{false, false, true});
  }
  CHECK(axes_of("Mystery", "", shapes{{4}}, shapes{{4}}).extents.empty());
  CHECK_THROWS_AS(axes_of("MatMul", "mkx,kn->mn", shapes{{4, 6}, {6, 8}}, shapes{{4, 8}}), value_error);
}

/// The axes of an op of a network.
ops::axes axes_in(const nn::network& net, op_id v) {
  const auto& op = net[v].op;
  shapes inputs, outputs;
  for (const auto& t : op.inputs) {
    inputs.push_back(t.dims());
  }
  for (const auto& t : op.outputs) {
    outputs.push_back(t.dims);
  }
  return axes_of(op.type, op.axes, inputs, outputs);
}

TEST_CASE("axes_of: dimensions of an axis can be split into what divides its extent, in all bundled networks") {
  for (const char* name : {"bert_base@2x16", "gpt2_small@2x16", "switch_base@2x16", "resnet50_cifar10@2",
                           "inception_v3@2", "dcgan@2", "lstm@2", "gnmt@2x4", "ptb_lstm@2", "llama3_8b@2x16",
                           "llama3_8b@2x16:inference", "llama3_8b@2x16:decode", "gpt2_small@2x16:decode",
                           "mixtral_8x7b@2x16", "mixtral_8x7b@2x16:decode", "qwen2_7b@2x16:inference", "vit_b_16@2"}) {
    CAPTURE(name);
    const auto wanted = zoo::parse(name);
    nn::network net{{.training = wanted.training}};
    const auto task = zoo::define(net, wanted);
    const auto step = wanted.training ? training_step_with_origins(net, task.objectives, task.options)
                                      : net.build_with_origins(std::vector{net.outputs()[0].op()});
    double known = 0, all = 0;
    for (const op_id v : step.origin) {
      const auto& op = net[v].op;
      const auto a = axes_in(net, v);
      REQUIRE(a.inputs.size() == op.inputs.size());
      REQUIRE(a.outputs.size() == op.outputs.size());
      std::vector<std::uint32_t> seen(a.extents.size(), 0);
      const auto check = [&](const std::vector<std::uint32_t>& axis, const nn::extents& dims) {
        REQUIRE(axis.size() == dims.size());
        for (std::size_t d = 0; d < dims.size(); ++d) {
          if (axis[d] != none) {
            REQUIRE(axis[d] < a.extents.size());
            CAPTURE(op.name);
            REQUIRE(dims[d] % a.extents[axis[d]] == 0);
            ++seen[axis[d]];
          }
        }
      };
      for (std::size_t k = 0; k < a.inputs.size(); ++k) {
        check(a.inputs[k], op.inputs[k].dims());
      }
      for (std::size_t k = 0; k < a.outputs.size(); ++k) {
        check(a.outputs[k], op.outputs[k].dims);
      }
      all += op.work;
      known += a.extents.empty() ? 0 : op.work;
    }
    CHECK(known > 0.9999 * all);
  }
}

} // namespace op_axes_test
