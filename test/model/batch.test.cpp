// SPDX-License-Identifier: BSL-1.0
#include "weft/model/batch.hpp"
#include "weft/model/lower.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace model_batch_test {

using namespace weft;
using extents = model_graph::extents;

struct drawn : model_graph {
  tensor_id input(extents dims) { return add_tensor({.dims = std::move(dims), .role = tensor_role::input}); }
  tensor_id weights(extents dims) {
    return add_tensor({.dims = std::move(dims), .role = tensor_role::parameter, .name = "w"});
  }
  tensor_id make(const std::string& type, std::vector<tensor_id> inputs, extents dims, const std::string& axes = {}) {
    op o{.type = type, .name = type, .inputs = std::move(inputs)};
    if (!axes.empty()) {
      o.texts["axes"] = axes;
    }
    return *outputs(add_op(std::move(o), {{.dims = std::move(dims)}})).begin();
  }
};

/// An attention without its output: batch, tokens, heads and their size.
drawn attention(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t k) {
  drawn g;
  const auto x = g.input({b, t, h * k});
  const auto flat = g.make("Reshape", {x}, {b * t, h * k});
  const auto q = g.make("MatMul", {flat, g.weights({h * k, h * k})}, {b * t, h * k}, "mk,kn->mn");
  const auto heads = g.make("Reshape", {q}, {b, t, h, k});
  const auto turned = g.make("Transpose", {heads}, {b, h, t, k}, "bthk->bhtk");
  const auto scores = g.make("BatchMatMul", {turned, turned}, {b, h, t, t}, "bhtk,bhsk->bhts");
  g.make("Softmax", {scores}, {b, h, t, t}, "bht.->bht.");
  return g;
}

bool same(const workload& a, const workload& b) {
  bool is_same = a.num_ops() == b.num_ops() && a.num_tensors() == b.num_tensors();
  for (op_id v = 0; is_same && v < a.num_ops(); ++v) {
    is_same = a.work(v) == doctest::Approx(b.work(v)) && a.resident_bytes(v) == b.resident_bytes(v);
  }
  for (tensor_id t = 0; is_same && t < a.num_tensors(); ++t) {
    is_same = a.bytes(t) == b.bytes(t);
  }
  return is_same;
}

TEST_CASE("batch: a graph with another one is the graph that was made with it") {
  for (const std::int64_t b : {2, 3, 8}) {
    for (const std::int64_t other : {1, 2, 5, 64}) {
      CAPTURE(b);
      CAPTURE(other);
      const auto g = attention(b, 6, 2, 4);
      const auto found = batch_of(g);
      CHECK(found.size == static_cast<std::uint64_t>(b));
      const auto changed = with_batch(g, static_cast<std::uint64_t>(other));
      const auto made = attention(other, 6, 2, 4);
      for (const tensor_id t : ids(g.num_tensors())) {
        CHECK(changed.dims(t) == made.dims(t));
      }
      CHECK(same(lower(changed).graph, lower(made).graph));
    }
  }
}

TEST_CASE("batch: a dimension of 1 in front is no batch") {
  drawn g;
  const auto x = g.input({8, 16});
  const auto y = g.make("Reshape", {x}, {1, 8, 16});
  g.make("Relu", {y}, {1, 8, 16});
  const auto more = with_batch(g, 16);
  CHECK(more.dims(y) == extents{1, 16, 16});
  CHECK(more.dims(*more.outputs(1).begin()) == extents{1, 16, 16});
}

/// A layer of tokens before examples, as PyTorch's transformers have them inside.
drawn tokens_first(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t k) {
  drawn g;
  const auto x = g.input({b, t, h * k});
  const auto turned = g.make("Transpose", {x}, {t, b, h * k}, "btk->tbk");
  const auto flat = g.make("aten.view", {turned}, {t * b, h * k});
  const auto q = g.make("MatMul", {flat, g.weights({h * k, h * k})}, {t * b, h * k}, "mk,kn->mn");
  const auto heads = g.make("aten.view", {q}, {t, b * h, k});
  const auto first = g.make("Transpose", {heads}, {b * h, t, k}, "tbk->btk");
  const auto scores = g.make("BatchMatMul", {first, first}, {b * h, t, t}, "htk,hsk->hts");
  const auto back = g.make("Transpose", {scores}, {t, b * h, t}, "hts->ths");
  const auto wide = g.make("aten.view", {back}, {t, b, h * t});
  g.make("Transpose", {wide}, {b, t, h * t}, "tbk->btk");
  return g;
}

TEST_CASE("batch: it is found among dimensions that were merged with others outside of it") {
  CHECK(batch_of(tokens_first(1, 3, 2, 4)).why == batch_obstacle::unknown_op); // one may be anywhere
  for (const std::int64_t b : {2, 4, 8}) {
    for (const std::int64_t t : {1, 3, 4, 5}) {
      for (const std::int64_t other : {1, 2, 6}) {
        CAPTURE(b);
        CAPTURE(t);
        CAPTURE(other);
        const auto g = tokens_first(b, t, 2, 4);
        REQUIRE(batch_of(g).size == static_cast<std::uint64_t>(b));
        CHECK(same(lower(with_batch(g, static_cast<std::uint64_t>(other))).graph,
                   lower(tokens_first(other, t, 2, 4)).graph));
      }
    }
  }
}

TEST_CASE("batch: what adds up over it is told, and what does not follow refused") {
  drawn g;
  const auto x = g.input({8, 16}), dy = g.input({8, 4});
  g.make("MatMul", {x, g.weights({16, 4})}, {8, 4}, "mk,kn->mn");
  CHECK(batch_of(g).summed_by == none);
  g.make("Mean", {x}, {}, "ab->");
  CHECK(batch_of(g).summed_by == none); // a loss
  g.make("MatMul", {x, dy}, {16, 4}, "km,kn->mn");
  CHECK(batch_of(g).summed_by == 2);

  for (const auto& made : {extents{16, 16}, extents{4, 16}, extents{8, 4, 4}}) { // put together, cut, unknown
    drawn h;
    h.make("Unknown", {h.input({8, 16})}, made);
    CHECK(batch_of(h).why == batch_obstacle::unknown_op);
  }
  drawn inside;
  const auto outer = inside.input({8, 16});
  inside.add_op({.type = "If", .name = "branch", .captured = {outer}}, {{.dims = {8, 16}}});
  CHECK(batch_of(inside).where == "branch");
}

TEST_CASE("batch: what does not follow is found in any order of ops") {
  drawn g;
  std::vector<id_range> made;
  for (int i = 0; i < 12; ++i) {
    made.push_back(g.announce(1));
  }
  const auto x = g.input({8, 16});
  const model_graph::tensor like{.dims = {8, 16}};
  for (std::size_t i = 0; i < 12; ++i) { // each reads what the next one makes
    const auto read = i + 1 < 12 ? *made[i + 1].begin() : x;
    g.add_op({.type = "unknown", .inputs = {read}}, std::span{&like, 1}, made[i]);
  }
  const auto found = batch_of(g);
  CHECK(found.size == 8);
  CHECK(found.grows[*made[0].begin()] == 1);
}

TEST_CASE("batch: as many tokens as examples are no examples") {
  const auto g = attention(8, 8, 8, 8);
  const auto found = batch_of(g);
  CHECK(found.size == 8);
  CHECK(found.grows[0] == 1);
  CHECK(same(lower(with_batch(g, 2)).graph, lower(attention(2, 8, 8, 8)).graph));
}

TEST_CASE("batch: FLOP that a file gives go with the axes that grow") {
  drawn g;
  const auto x = g.input({8, 16});
  const auto w = g.weights({16, 4});
  const op_id own = g.add_op({.type = "own", .inputs = {x, w}, .texts = {{"axes", "mk,kn->mn"}}, .work = 800},
                             {{.dims = {8, 4}}});
  const auto y = *g.outputs(own).begin();
  g.add_op({.type = "pairs", .inputs = {y, y}, .texts = {{"axes", "mk,nk->mn"}}, .work = 6400}, {{.dims = {8, 8}}});
  g.add_op({.type = "unknown", .inputs = {y}, .work = 80}, {{.dims = {8, 4}}});
  const auto half = with_batch(g, 4);
  CHECK(half[0].work == 400);
  CHECK(half[1].work == 1600);
  CHECK(half[2].work == 40);
  CHECK(half.dims(*half.outputs(1).begin()) == extents{4, 4});
  CHECK(half.dims(*half.outputs(2).begin()) == extents{4, 4}); // as long at the same place
}

TEST_CASE("batch: what is repeated along it does not grow") {
  drawn g;
  const auto x = g.input({1, 16});
  const auto bias = g.weights({1, 16});
  g.make("Add", {x, bias}, {1, 16});
  const auto more = with_batch(g, 32);
  CHECK(more.dims(bias) == extents{1, 16});
  CHECK(more.dims(*more.outputs(0).begin()) == extents{32, 16});
}

TEST_CASE("batch: inputs of as many examples grow together, others do not") {
  drawn g;
  const auto table = g.input({5, 16}), x = g.input({8, 16}), labels = g.input({8});
  g.make("MatMul", {x, table}, {8, 5}, "mk,nk->mn");
  CHECK(batch_of(g).size == 5); // the first that may grow
  const auto more = with_batch(g, 10);
  CHECK(more.dims(table) == extents{10, 16});
  CHECK(more.dims(labels) == extents{8});

  drawn h;
  const auto first = h.input({8, 16}), second = h.input({8});
  h.make("MatMul", {first, h.weights({16, 4})}, {8, 4}, "mk,kn->mn");
  CHECK(with_batch(h, 2).dims(second) == extents{2});
}

TEST_CASE("batch: what is in the way of another one is told") {
  const auto refused = [](const model_graph& g) {
    try {
      (void)with_batch(g, 4);
    } catch (const value_error& e) {
      return std::string{e.what()};
    }
    return std::string{};
  };
  drawn none_at_all;
  none_at_all.make("Range", {}, {8});
  CHECK(batch_of(none_at_all).why == batch_obstacle::no_input);
  CHECK(refused(none_at_all) == "batch: no input has one");

  drawn fixed;
  fixed.make("Add", {fixed.input({8, 16}), fixed.weights({8, 16})}, {8, 16});
  CHECK(batch_of(fixed).why == batch_obstacle::parameter);
  CHECK(refused(fixed) == "batch: parameter 'w' is as large as it");

  drawn unknown;
  unknown.make("Shuffle", {unknown.input({8, 16})}, {16, 8});
  CHECK(batch_of(unknown).why == batch_obstacle::unknown_op);
  CHECK(refused(unknown) == "batch: it is not known what op 'Shuffle' makes of another batch");
  CHECK_THROWS_WITH_AS((void)with_batch(attention(2, 2, 2, 2), 0), "batch: there is none of 0 examples", value_error);
}

} // namespace model_batch_test
