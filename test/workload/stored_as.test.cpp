// SPDX-License-Identifier: BSL-1.0
// What models take in memory, held against published formulas.
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/zoo/gpt2.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace workload_stored_as_test {

using namespace weft;

constexpr zoo::gpt2_options small{.layers = 1, .hidden = 768, .heads = 12, .length = 1024, .dropout = false};

workload forward(std::uint64_t batch, const zoo::gpt2_options& o) {
  nn::network net;
  const nn::tensor loss[] = {zoo::gpt2_loss(net, batch, o)};
  return inference(net, loss);
}

/// `layer_3/…` is in block 3.
op_id layer_of(const workload& w, op_id v) {
  const auto name = w.name(v);
  return name.starts_with("layer_") ? static_cast<op_id>(std::stoul(std::string{name.substr(6)})) : none;
}
std::vector<op_id> made_again(const workload& f, recomputation what) {
  return recomputed_ops(f, what, [&](op_id v) { return layer_of(f, v); });
}

/// Bytes of forward tensors that gradients read, per token of the batch and hidden unit (s b h), in each layer: the
/// differences of two batches and of two depths, so that neither parameters nor embeddings nor the head count.
template <class Step>
double kept(const zoo::gpt2_options& o, const Step& step_of) {
  constexpr std::uint64_t one = 1;
  double total = 0;
  for (const std::uint64_t layers : {one, 2 * one}) {
    for (const std::uint64_t batch : {one, 2 * one}) {
      auto sizes = o;
      sizes.layers = layers;
      const workload w = stored_as(step_of(forward(batch, sizes)), {.tensor_bits = 16, .weight_bits = 16});
      const double sign = layers == batch ? 1 : -1;
      for (const tensor_id t : ids(w.num_tensors())) {
        const auto name = w.name(w.producer(t));
        const bool of_step = name.starts_with("gradients/") || name.starts_with("recompute/");
        for (const op_id v : w.consumers(t)) {
          if (!of_step && w.name(v).starts_with("gradients/")) {
            total += sign * static_cast<double>(w.bytes(t));
            break;
          }
        }
      }
    }
  }
  return total / static_cast<double>(o.length * o.hidden);
}

// Korthikanti et al., *Reducing Activation Recomputation in Large Transformer Models*, MLSys 2023, equation 1: a layer
// keeps s b h (34 + 5 a s / h) bytes in 16 bits. The dropout masks are 2 of the 34 and 3 of the 5 (a mask of a byte,
// and the result of that dropout): without dropout 32 + 2 a s / h are left.
TEST_CASE("published memory: activations of a GPT layer, all kept") {
  const double scores = 12.0 * 1024 / 768; // a s / h
  const auto all = [](const workload& f) { return training_step(f); };
  // One tensor more than published: the scores before the softmax, since the ops here are not fused.
  CHECK(kept(small, all) == doctest::Approx(32 + 2 * scores + 2 * scores).epsilon(1e-3));
  auto longer = small;
  longer.length = 512;
  CHECK(kept(longer, all) == doctest::Approx(32 + 4 * scores / 2).epsilon(1e-3));
  // With dropout as TensorFlow's graphs write it, as x / keep · floor(random + keep): each of the three dropouts keeps
  // both factors in 16 bits, where a mask of a byte would do. Kept besides: the result of the one of the scores, and
  // what goes into the two others.
  auto dropped = small;
  dropped.dropout = true;
  CHECK(kept(dropped, all) == doctest::Approx(32 + 4 * scores + (2 + 2) * (scores + 2) + 2 * scores + 4).epsilon(0.02));
}

TEST_CASE("published memory: selective recomputation keeps 34 s b h, full recomputation 2 s b h") {
  const auto without_attention = [](const workload& f) {
    return training_step(f, {.recompute = made_again(f, recomputation::attention)});
  };
  CHECK(kept(small, without_attention) == doctest::Approx(32).epsilon(1e-3)); // two dropout masks fewer
  const auto only_inputs = [](const workload& f) {
    return training_step(f, {.recompute = made_again(f, recomputation::blocks)});
  };
  CHECK(kept(small, only_inputs) == doctest::Approx(2).epsilon(1e-3));
}

TEST_CASE("published memory: full recomputation costs up to a third more work") {
  const auto f = forward(1, zoo::gpt2_options{.layers = 4, .dropout = false});
  const auto work = [](const workload& w) {
    double sum = 0;
    for (const op_id v : ids(w.num_ops())) {
      sum += layer_of(w, v) != none || w.name(v).find("layer_") != std::string_view::npos ? w.work(v) : 0;
    }
    return sum;
  };
  const auto again = made_again(f, recomputation::blocks);
  const double more = work(training_step(f, {.recompute = again})) / work(training_step(f));
  // Of 24 h² + 4 s h products per token, the last one, 8 h², need not be made again.
  const double last = 8.0 / (24 + 4 * 1024.0 / 768);
  CHECK(more == doctest::Approx(1 + (1 - last) / 3).epsilon(0.01));
}

TEST_CASE("published memory: 16 bytes for each parameter with Adam and 16 bits") {
  const auto count = [](const workload& w, bool updates) {
    double sum = 0;
    for (const op_id v : ids(w.num_ops())) {
      sum += is_update(w, v) == updates ? static_cast<double>(w.resident_bytes(v)) : 0;
    }
    return sum;
  };
  const auto f = forward(1, small);
  const double parameters = count(f, false) / 4;
  const auto single = training_step(f, {.rule = optimizer::adam});
  CHECK(count(single, false) == 4 * parameters);
  CHECK(count(single, true) == 8 * parameters); // Adam's moments
  const auto half = stored_as(single, {16, 16});
  CHECK(count(half, false) == 2 * parameters);      // and 2 for a gradient, which is a tensor
  CHECK(count(half, true) == (4 + 8) * parameters); // a copy in single precision, and moments
  CHECK(count(stored_as(f, {16, 16}), false) == 2 * parameters); // nothing to train
  CHECK(count(stored_as(f, {16, 4}), false) == parameters / 2);
}

TEST_CASE("published memory: the same for a bundled step, where the optimiser's state is in variables") {
  const auto resident = [](const workload& w) {
    double sum = 0;
    for (const op_id v : ids(w.num_ops())) {
      sum += static_cast<double>(w.resident_bytes(v));
    }
    return sum;
  };
  const workload single = zoo::gpt2(1, small);
  const double parameters = resident(single) / 12;
  CHECK(resident(stored_as(single, {16, 16})) == doctest::Approx((2 + 4 + 8) * parameters).epsilon(1e-6));
}

TEST_CASE("stored_as: what is not a number of the model keeps its size") {
  workload_builder b;
  const auto fed = b.add_op({.bytes = 100, .name = "tokens", .type = "IteratorGetNext"});
  const auto table = b.add_op({.bytes = 30, .resident_bytes = 30, .name = "table", .type = "VariableV2"});
  const auto read = b.add_op({.bytes = 30, .name = "table/read", .type = "Identity"});
  const auto rows = b.add_op({.bytes = 41, .name = "rows", .type = "GatherV2"});
  const auto best = b.add_op({.bytes = 8, .name = "best", .type = "ArgMax"});
  b.add_edge(fed, rows);
  b.add_edge(table, read);
  b.add_edge(read, rows);
  b.add_edge(rows, best);
  b.colocate(table, rows);
  const workload w = std::move(b).build();
  const auto half = stored_as(w, {.tensor_bits = 16, .weight_bits = 8});
  CHECK(half.bytes(fed) == 100);
  CHECK(half.bytes(rows) == 21); // rounded up
  CHECK(half.bytes(best) == 8);
  CHECK(half.resident_bytes(table) == 8);
  CHECK(half.bytes(table) == 8); // a variable hands on its weights …
  CHECK(half.bytes(read) == 8);
  CHECK(half.group(table) == half.group(rows));
  workload_builder first; // an op that reads what the model is given makes tensors, of the weights that it holds
  first.add_op({.work = 100, .bytes = 40, .resident_bytes = 400, .name = "first", .type = "Gemm"});
  const auto dense = stored_as(std::move(first).build(), {.tensor_bits = 16, .weight_bits = 4.5});
  CHECK(dense.bytes(0) == 20);
  CHECK(dense.resident_bytes(0) == 57);
  CHECK(half.num_edges() == 4);
  CHECK(half.name(rows) == "rows");
  CHECK_THROWS_WITH_AS(stored_as(w, {.tensor_bits = 0}), "stored_as: numbers have 1 to 64 bits", value_error);
}

TEST_CASE("KV cache: keys and values of all layers") {
  const auto f = forward(1, zoo::gpt2_options{.layers = 3, .dropout = false});
  const auto found = attentions(f);
  REQUIRE(found.size() == 3);
  for (const auto& a : found) {
    CHECK(f.type(a.softmax) == "Softmax");
    CHECK(f.type(a.ops.front()) != "Softmax");
  }
  // Llama 2 7B: 32 layers, 32 heads of 128: half a megabyte for each token in 16 bits.
  CHECK(32 * kv_cache{.context = 1, .heads = 32, .head_size = 128}.bytes_per_layer() == 524'288);
  const auto cached = with_kv_cache(f, {.context = 1024, .batch = 2, .heads = 12, .head_size = 64});
  byte_count added = 0;
  for (const op_id v : ids(f.num_ops())) {
    added += cached.resident_bytes(v) - f.resident_bytes(v);
  }
  CHECK(added == 3ull * 2 * 2 * 1024 * 768 * 2);
  for (const char* type : {"LinearAttention", "com.microsoft.LongformerAttention"}) { // which keep no keys
    CAPTURE(type);
    workload_builder other;
    other.add_op({.bytes = 4, .type = type});
    CHECK_THROWS_AS(with_kv_cache(std::move(other).build(), {.context = 1}), value_error);
  }
  workload_builder b;
  b.add_op({.type = "Relu"});
  CHECK_THROWS_AS(with_kv_cache(std::move(b).build(), {.context = 1}), value_error);
}

TEST_CASE("stored_as: a cache is as wide as tensors, and weights may have fewer bits") {
  nn::network net{{.training = false}};
  const zoo::gpt2_options o{.layers = 2, .length = 512};
  zoo::gpt2_decode(net, 1, o);
  const auto w = inference(net);
  CHECK(attentions(w).size() == 2);
  const auto narrow = stored_as(w, {.tensor_bits = 16, .weight_bits = 4});
  byte_count cache = 0, weights = 0;
  for (const op_id v : ids(w.num_ops())) {
    (w.type(v) == "CachedAttention" ? cache : weights) += narrow.resident_bytes(v);
  }
  CHECK(cache == 2ull * 2 * 512 * 768 * 2);
  CHECK(weights == net.num_parameters() / 2);
}

TEST_CASE("attentions: ops of all formats, known by the catalogue") {
  for (const char* type : {"aten.scaled_dot_product_attention", "aten._scaled_dot_product_flash_attention",
                           "com.microsoft.Attention", "com.microsoft.GroupQueryAttention"}) {
    CAPTURE(type);
    workload_builder b;
    b.add_op({.bytes = 4, .type = type});
    CHECK(attentions(std::move(b).build()).size() == 1);
  }
  for (const auto& [product, softmax] : {std::pair{"aten.bmm", "aten._softmax"}, {"aten.matmul", "aten.softmax"}}) {
    CAPTURE(softmax);
    workload_builder b;
    const auto q = b.add_op({.bytes = 4, .type = "Relu"});
    const auto k = b.add_op({.bytes = 4, .type = "Relu"});
    const auto scores = b.add_op({.bytes = 4, .type = product});
    const auto weights = b.add_op({.bytes = 4, .type = softmax});
    const auto result = b.add_op({.bytes = 4, .type = product});
    b.add_edge(q, scores);
    b.add_edge(k, scores);
    b.add_edge(scores, weights);
    b.add_edge(weights, result);
    b.add_edge(k, result);
    const auto found = attentions(std::move(b).build());
    REQUIRE(found.size() == 1);
    CHECK(found[0].softmax == weights);
    CHECK(found[0].ops == std::vector<op_id>{scores, weights, result});
  }
}

TEST_CASE("attentions: what many ops read is not searched again and again") {
  workload_builder b;
  const auto q = b.add_op({.bytes = 4, .type = "Relu"});
  const auto k = b.add_op({.bytes = 4, .type = "Relu"});
  const auto scores = b.add_op({.bytes = 4, .type = "MatMul"});
  const auto weights = b.add_op({.bytes = 4, .type = "Softmax"});
  b.add_edge(q, scores);
  b.add_edge(k, scores);
  b.add_edge(scores, weights);
  for (int i = 0; i < 5000; ++i) {
    const auto result = b.add_op({.bytes = 4, .type = "MatMul"});
    b.add_edge(weights, result);
    b.add_edge(k, result);
  }
  const auto found = attentions(std::move(b).build());
  REQUIRE(found.size() == 1);
  CHECK(found[0].ops.size() < 100);
}

} // namespace workload_stored_as_test
