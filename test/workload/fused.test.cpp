// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/fused.hpp"
#include "weft/core/random.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace workload_fused_test {

using namespace weft;

double total_work(const workload& w) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.work(v);
  }
  return sum;
}

op_id add(workload_builder& b, const std::string& type, const std::vector<op_id>& reads, byte_count bytes = 100,
          double work = 1) {
  const op_id made = b.add_op({.work = work, .bytes = bytes, .name = type + std::to_string(b.num_ops()), .type = type});
  for (const op_id u : reads) {
    b.add_edge(u, made);
  }
  return made;
}

TEST_CASE("fused: what goes on element by element joins the op before, and a residual is read from outside") {
  workload_builder b;
  const auto x = add(b, "Placeholder", {}), bias = add(b, "VariableV2", {}, 4);
  const auto conv = add(b, "Conv2D", {x}, 100, 50);
  const auto biased = add(b, "BiasAdd", {conv, bias});
  const auto sum = add(b, "Add", {biased, x});
  const auto relu = add(b, "Relu", {sum});
  const auto next = add(b, "MatMul", {relu}, 100, 20);
  const auto f = fused(std::move(b).build());
  CHECK(f.graph.num_ops() == 4);
  CHECK(f.into[biased] == f.into[conv]);
  CHECK(f.into[relu] == f.into[conv]);
  CHECK(f.graph.work(f.into[conv]) == 53);
  CHECK(f.graph.type(f.into[conv]) == "Conv2D");
  CHECK(f.graph.name(f.into[conv]) == "Conv2D2");
  CHECK(f.graph.inputs(f.into[conv]).size() == 2); // x once
  CHECK(f.graph.outputs(f.into[conv]).size() == 1);
  CHECK(f.graph.inputs(f.into[next]).size() == 1);
}

/// The number of ops that are gone where `after` reads what an op of type `before` makes, and a matrix product.
std::size_t gone(const std::string& before, const std::string& after, bool has_other_reader = false,
                 byte_count bytes = 100, const std::vector<op_id>& returned = {}) {
  workload_builder b;
  const auto x = add(b, "Placeholder", {});
  const auto u = before == "Placeholder" ? x : add(b, before, {x}, bytes);
  const auto y = add(b, "MatMul", {add(b, "MatMul", {x}, 100)}, 50);
  add(b, after, {u, y}, bytes);
  if (has_other_reader) {
    add(b, "MatMul", {u});
  }
  const workload w = std::move(b).build();
  return w.num_ops() - fused(w, returned).graph.num_ops();
}

TEST_CASE("fused: not where others read it, or it is fed, unknown, moved, or a result") {
  CHECK(gone("Relu", "Add") == 1);
  CHECK(gone("MatMul", "Select") == 1);
  CHECK(gone("Relu", "Add", true) == 0);
  CHECK(gone("Placeholder", "Add") == 0);
  CHECK(gone("Mystery", "Add") == 0);
  CHECK(gone("Reshape", "Add") == 0); // a view, which a kernel that writes is not
  CHECK(gone("Relu", "Concat") == 0);
  CHECK(gone("Relu", "MatMul") == 0);
  CHECK(gone("Relu", "Add", false, 100, {1}) == 0);
  CHECK(gone("Relu", "Add", false, 10) == 1); // after the matrix product, which is larger
}

/// A workload of these types, many of which can be in one op, whose tensors are now and then read by several.
workload random_model(rng& random) {
  const char* const types[] = {"MatMul", "Add", "Relu", "Mul", "Softmax", "Transpose", "Mystery", "BiasAdd"};
  workload_builder b;
  const auto n = 2 + random.below(30);
  for (op_id v = 0; v < n; ++v) {
    std::vector<op_id> reads;
    for (auto tries = v == 0 ? 0 : random.below(3); tries > 0; --tries) {
      const op_id u = random.below(3) ? v - 1 - random.below(std::min<std::uint32_t>(v, 3)) : random.below(v);
      if (std::find(reads.begin(), reads.end(), u) == reads.end()) {
        reads.push_back(u);
      }
    }
    add(b, types[random.below(std::size(types))], reads, random.below(4) * 50, random.below(5));
    if (v > 0 && random.below(8) == 0) {
      b.colocate(random.below(v), v);
    }
  }
  return std::move(b).build();
}

TEST_CASE("fused: not a Where of one tensor, which lists places") {
  workload_builder b;
  const auto product = add(b, "MatMul", {add(b, "Placeholder", {})});
  add(b, "Where", {product});
  CHECK(fused(std::move(b).build()).graph.num_ops() == 3);
}

TEST_CASE("fused: not what is colocated with ops of other devices") {
  const auto gone = [](kind_set with_product, kind_set with_relu) {
    workload_builder b;
    const auto x = add(b, "Placeholder", {});
    const auto product = add(b, "MatMul", {x}), relu = add(b, "Relu", {product});
    b.colocate(product, b.add_op({.kinds = with_product, .name = "a"}));
    b.colocate(relu, b.add_op({.kinds = with_relu, .name = "b"}));
    const auto w = std::move(b).build();
    return w.num_ops() - fused(w).graph.num_ops();
  };
  CHECK(gone(device_kind::cpu, device_kind::gpu) == 0);
  CHECK(gone(device_kind::cpu, device_kind::cpu) == 1);
  CHECK(gone(device_kind::cpu, kind_set::all()) == 1);
}

TEST_CASE("fused: random models keep their work, edges, groups, and what is read") {
  rng random{1};
  std::size_t ops = 0, left = 0;
  for (int i = 0; i < 3000; ++i) {
    const workload w = random_model(random);
    const auto f = fused(w);
    const auto& g = f.graph; // has no cycle: its builder would have refused it
    ops += w.num_ops();
    left += g.num_ops();
    REQUIRE(total_work(g) == total_work(w));
    std::size_t edges = 0, kept = 0;
    for (const tensor_id t : ids(w.num_tensors())) {
      const op_id u = w.producer(t);
      std::vector<op_id> readers;
      for (const op_id v : w.consumers(t)) {
        const op_id a = f.into[u], c = f.into[v];
        if (a == c) {
          REQUIRE(w.consumers(t).size() == 1);
          continue;
        }
        readers.push_back(c);
        const auto inputs = g.inputs(c);
        REQUIRE(std::any_of(inputs.begin(), inputs.end(),
                            [&](tensor_id x) { return g.producer(x) == a && g.bytes(x) == w.bytes(t); }));
      }
      sort_unique(readers);
      edges += readers.size();
    }
    for (const tensor_id t : ids(g.num_tensors())) {
      kept += g.consumers(t).size();
    }
    REQUIRE(kept == edges);
    for (const op_id v : ids(w.num_ops())) {
      for (const op_id u : ids(v)) {
        const op_id a = f.into[u], c = f.into[v];
        REQUIRE((w.group(u) == none || w.group(u) != w.group(v) || a == c || g.group(a) == g.group(c)));
      }
    }
  }
  CHECK(left < ops * 95 / 100);
}

TEST_CASE("fused: bundled models for inference have fewer ops and as much work") {
  for (const char* name : {"resnet50@1", "gpt2_small@1x64", "mnist_conv@8"}) {
    CAPTURE(name);
    const workload w = zoo::make_inference(name);
    const auto f = fused(w);
    CHECK(f.graph.num_ops() < w.num_ops());
    CHECK(total_work(f.graph) == doctest::Approx(total_work(w)));
    MESSAGE(name << ": " << w.num_ops() << " to " << f.graph.num_ops());
  }
}

} // namespace workload_fused_test
