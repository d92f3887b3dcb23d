// SPDX-License-Identifier: BSL-1.0
#include "weft/report/sharding_summary.hpp"

#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace report_sharding_summary_test {

using namespace weft;
using parallel::resharding;

/// A chain of layers, each a variable, a bias and a product; with an embedding before them.
struct stack {
  workload ops;
  parallel::sharding s{.mesh = {{{"data", 2}, {"tensor", 4}}, {0, 1, 2, 3, 4, 5, 6, 7}}};
  std::vector<parallel::resharded_tensor> resharded;

  explicit stack(int layers, bool numbered = true) {
    workload_builder b;
    op_id last = add(b, "embeddings/table", {1000, 16}, {none, none});
    for (int i = 0; i < layers; ++i) {
      const auto scope = numbered ? "layer_" + std::to_string(i) + "/" : std::string{static_cast<char>('a' + i), '/'};
      const bool whole = i == 3;
      const auto kernel = add(b, scope + "kernel", {16, 64}, {none, whole ? none : 1});
      const auto bias = add(b, scope + "bias", {2}, {none});
      const auto product = b.add_op({.work = 1e9, .name = scope + "MatMul", .type = "MatMul"});
      b.add_output(product, 256);
      b.add_edge(last, product, 0);
      b.add_edge(kernel, product, 0);
      b.add_edge(bias, product, 0);
      resharded.push_back({static_cast<tensor_id>(product), resharding::all_reduce});
      resharded.push_back({static_cast<tensor_id>(product), resharding::nothing});
      last = product;
    }
    ops = std::move(b).build();
  }

private:
  op_id add(workload_builder& b, const std::string& name, std::vector<std::uint64_t> shape,
            std::vector<std::uint32_t> spec) {
    byte_count bytes = 4;
    for (const auto extent : shape) {
      bytes *= extent;
    }
    const auto v = b.add_op({.resident_bytes = bytes, .name = name, .type = "VariableV2"});
    b.add_output(v, 8);
    s.parameters.push_back({.name = name, .op = v, .shape = std::move(shape), .bytes = bytes, .spec = std::move(spec)});
    return v;
  }
};

const platform machine{std::vector<device>(8, device{.kind = device_kind::gpu, .speed = 1e12}),
                       uniform_links{{.latency = 1e-6, .bandwidth = 1e11}}};

TEST_CASE("sharding_by_layer: layers that are alike once, those with most bytes first") {
  const stack x{6};
  const auto found = report::sharding_by_layer(problem{x.ops, machine}, x.s, x.resharded);
  REQUIRE(found.size() == 3);
  CHECK(found[0].layers == "before the layers");
  CHECK(found[0].whole == 1);
  CHECK(found[0].whole_bytes == 64'000);
  CHECK(found[0].sent.empty());
  CHECK(found[1].layers == "layer_0 to layer_2, layer_4, layer_5");
  CHECK(found[1].split == std::vector<std::string>{"kernel [16, 64/4]"});
  CHECK(found[1].whole == 0);
  CHECK(found[1].small == 1);
  CHECK(found[1].sent == "1 all-reduce");
  CHECK(found[2].layers == "layer_3");
  CHECK(found[2].split.empty());
  CHECK(found[2].whole == 1);
}

TEST_CASE("sharding_by_layer: a model whose names tell no layers") {
  const stack x{3, false};
  const auto found = report::sharding_by_layer(problem{x.ops, machine}, x.s, x.resharded);
  REQUIRE(found.size() == 1);
  CHECK(found[0].layers == "the model");
  CHECK(found[0].split.size() == 3);
  CHECK(found[0].sent == "3 all-reduces");
}

TEST_CASE("mesh_sentence: the axes, the devices, and the part of the parameters that each has") {
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) {
    names.push_back("gpu" + std::to_string(i));
  }
  auto s = stack{1}.s;
  CHECK(report::mesh_sentence(s, names) ==
        "2 × data, 4 × tensor on gpu0 to gpu7; each device has 63.5 KiB of 66.5 KiB of parameters");
  auto with_owner = s;
  with_owner.parameters[1].owner = 1;
  CHECK(report::mesh_sentence(with_owner, names) ==
        "2 × data, 4 × tensor on gpu0 to gpu7; each device has at most 63.5 KiB of 66.5 KiB of parameters");
  s.mesh.axes.pop_back();
  for (auto& p : s.parameters) {
    p.spec.clear();
  }
  s.zero_stage = 2;
  CHECK(report::mesh_sentence(s, names) == "2 × data on gpu0 to gpu7; each device has all parameters (66.5 KiB) and "
                                           "updates a part of them (ZeRO 2)");
}

TEST_CASE("ranges_of: many ranges are counted") {
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g"};
  CHECK(report::detail::ranges_of({1}, names) == "b");
  CHECK(report::detail::ranges_of({0, 1}, names) == "a, b");
  CHECK(report::detail::ranges_of({0, 1, 2, 4}, names) == "a to c, e");
  CHECK(report::detail::ranges_of({0, 2, 4, 6}, names) == "4 layers from a to g");
}

} // namespace report_sharding_summary_test
