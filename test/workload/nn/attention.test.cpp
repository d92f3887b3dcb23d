// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/attention.hpp"

#include "weft/workload/training_step.hpp"
#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace workload_nn_attention_test {

using namespace weft;
using namespace weft::nn;

double work_of(const nn::tensor& t) {
  return t.net()[t.op()].op.work;
}
std::vector<nn::tensor> differentiate(const nn::tensor& y, const std::vector<nn::tensor>& x) {
  return nn::gradients(y.net(), reduce_mean(y), x); // throws if a shape is wrong
}
double work_of_type(const nn::network& net, op_id first, const char* type) {
  double sum = 0;
  for (op_id v = first; v < net.num_ops(); ++v) {
    sum += net[v].op.type == type ? net[v].op.work : 0;
  }
  return sum;
}

TEST_CASE("nn attention: batched products cost 2 m n k per matrix, for every transposition, forward and backward") {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      CAPTURE(ta);
      CAPTURE(tb);
      nn::network net{{.bookkeeping = false}};
      const auto a = net.make_variable("a", ta ? extents{2, 6, 4, 3} : extents{2, 6, 3, 4});
      const auto b = net.make_variable("b", tb ? extents{2, 6, 5, 4} : extents{2, 6, 4, 5});
      const auto y = batch_matmul(a, b, ta, tb);
      CHECK(y.dims() == extents{2, 6, 3, 5});
      CHECK(work_of(y) == 2 * 12 * 3 * 4 * 5);
      const auto first = static_cast<op_id>(net.num_ops());
      const auto g = differentiate(y, {a, b});
      CHECK(g[0].dims() == a.dims());
      CHECK(g[1].dims() == b.dims());
      CHECK(work_of_type(net, first, "BatchMatMulV2") == 2 * 2 * 12 * 3 * 4 * 5);
    }
  }
  nn::network net;
  const auto a = net.make_variable("a", {2, 3, 4});
  CHECK_THROWS_AS(batch_matmul(a, a), value_error);
  CHECK_THROWS_AS(batch_matmul(a, net.make_variable("b", {3, 4, 5})), value_error);
  CHECK_THROWS_AS(batch_matmul(a, net.make_variable("c", {4, 5})), value_error);
}

TEST_CASE("nn attention: softmax costs 5 per element and 4 backward, where it reads its result alone") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {7, 3});
  const auto y = softmax(x);
  CHECK(work_of(y) == 5 * 21);
  const auto g = differentiate(y, {x})[0];
  CHECK(g.dims() == x.dims());
  CHECK(net[g.op()].op.type == "SoftmaxGrad");
  CHECK(work_of(g) == 4 * 21);
  CHECK(net[g.op()].op.inputs[1] == y);
  CHECK_THROWS_AS(softmax(net.make_variable("scalar", {})), value_error);
}

TEST_CASE("nn attention: the gradient of GELU reads its input") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {7, 3});
  const auto y = gelu(x);
  CHECK(work_of(y) == 21);
  const auto g = differentiate(y, {x})[0];
  CHECK(net[g.op()].op.type == "GeluGrad");
  CHECK(net[g.op()].op.inputs[1] == x);
}

TEST_CASE("nn attention: row normalisations have a gradient for their input and their parameters, in one op") {
  for (const bool rms : {false, true}) {
    CAPTURE(rms);
    nn::network net{{.bookkeeping = false}};
    const auto x = net.make_variable("x", {7, 3});
    const auto y = rms ? rms_norm("norm", x) : layer_norm("norm", x);
    CHECK(y.dims() == x.dims());
    CHECK(work_of(y) == (rms ? 4 : 8) * 21);
    std::vector<nn::tensor> all{x};
    for (std::size_t i = 1; i < net.variables().size(); ++i) {
      all.push_back(net.variables()[i].value);
    }
    CHECK(all.size() == (rms ? 2 : 3));
    const auto g = differentiate(y, all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(g[i].dims() == all[i].dims());
      CHECK(g[i].op() == g[0].op());
    }
    CHECK(net[g[0].op()].op.type == (rms ? "RMSNormGrad" : "LayerNormGrad"));
    CHECK(work_of(g[0]) == (rms ? 9 : 11) * 21);
    CHECK(net[g[0].op()].op.inputs.size() == (rms ? 4 : 5)); // with statistics of the forward pass
  }
}

TEST_CASE("nn attention: FLOP of an attention layer are those computed by hand") {
  nn::network net{{.bookkeeping = false}};
  const double N = 2, S = 5, M = 3, H = 8, A = 4, D = 6;
  const auto x = net.make_variable("x", {10, 8});
  const auto memory = net.make_variable("memory", {6, 8});
  const auto mask = net.data("Const", "mask", {{2, 1, 1, 3}});
  const auto first = static_cast<op_id>(net.num_ops());
  const auto y = attention("attention", x, memory, 2, {.heads = 4, .head_size = 6, .dropout = false, .mask = mask});
  CHECK(y.dims() == x.dims());
  double work = 0;
  for (op_id v = first; v < net.num_ops(); ++v) {
    CHECK(net[v].op.name.starts_with("attention/"));
    work += net[v].op.work;
  }
  const double scores = N * A * S * M;
  const double projections = 2 * N * S * H * A * D + 2 * 2 * N * M * H * A * D + 2 * N * S * A * D * H;
  const double biases = N * S * A * D + 2 * N * M * A * D + N * S * H;
  CHECK(work == projections + biases + 2 * 2 * scores * D + (1 + 1 + 5) * scores);
  CHECK(net.num_parameters() == 80 + 48 + 3 * (8 * 24 + 24) + 24 * 8 + 8);
  const auto g = differentiate(y, {x, memory});
  CHECK(g[0].dims() == x.dims());
  CHECK(g[1].dims() == memory.dims());
  CHECK_THROWS_AS(attention("other", x, memory, 4, {}), value_error);
}

TEST_CASE("nn attention: heads of keys that serve several of queries cost less in their projections alone") {
  nn::network net{{.bookkeeping = false}};
  const double N = 2, S = 5, H = 8, A = 4, K = 2, D = 6;
  const auto x = net.make_variable("x", {10, 8});
  const auto mask = net.data("Const", "mask", {{1, 1, 5, 5}});
  const auto first = static_cast<op_id>(net.num_ops());
  const auto y = attention("attention", x, x, 2,
                           {.heads = 4, .kv_heads = 2, .head_size = 6, .bias = false, .dropout = false, .mask = mask,
                            .angles = net.data("Const", "angles", {{5, 6}})});
  double work = 0;
  for (op_id v = first; v < net.num_ops(); ++v) {
    work += net[v].op.work;
  }
  const double rows = N * S, turned = 3 * rows * (A + K) * D;
  CHECK(work == 2 * rows * H * D * (2 * A + 2 * K) + turned + N * A * S * S * (4 * D + 1 + 1 + 5));
  CHECK(net.num_parameters() == 80 + 8 * 24 + 2 * 8 * 12 + 24 * 8);
  const auto forward = static_cast<op_id>(net.num_ops());
  CHECK(differentiate(y, {x})[0].dims() == x.dims());
  CHECK(work_of_type(net, forward, "RotaryEmbedding") == turned);
  CHECK_THROWS_AS(attention("other", x, x, 2, {.heads = 4, .kv_heads = 3}), value_error);
}

TEST_CASE("nn attention: a step with a cache reads all of it, and makes one token of each sequence") {
  nn::network net{{.training = false}};
  const double N = 3, L = 100, H = 8, A = 4, K = 2, D = 6;
  const auto x = net.data("Const", "x", {{3, 8}});
  const attention_options o{.heads = 4, .kv_heads = 2, .head_size = 6, .bias = false,
                            .angles = net.data("Const", "angles", {{1, 6}})};
  const auto y = cached_attention("attention", x, 100, o);
  CHECK(y.dims() == x.dims());
  CHECK(net.num_parameters() == 8 * (4 + 2 * 2) * 6 + 24 * 8);
  const auto w = net.build(std::vector{y.op()});
  const op_id v = test::find_op(w, "attention/CachedAttention");
  REQUIRE(v != none);
  CHECK(w.resident_bytes(v) == 2 * 3 * 100 * 2 * 6 * 4); // keys and values in single precision
  CHECK(w.work(v) == N * A * L * (4 * D + 5) + 3 * N * (A + K) * D);
  CHECK(test::total_work(w) == w.work(v) + 2 * N * H * D * (2 * A + 2 * K));
}

TEST_CASE("nn attention: gated units read pairs, and so does their gradient") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {7, 3, 2});
  const auto y = swiglu(x);
  CHECK(y.dims() == extents{7, 3});
  CHECK(work_of(y) == 3 * 21);
  const auto g = differentiate(y, {x})[0];
  CHECK(g.dims() == x.dims());
  CHECK(work_of(g) == 8 * 21);
  CHECK_THROWS_AS(swiglu(y), value_error);
}

TEST_CASE("nn attention: dropout is on unless the network is made for inference") {
  const auto count = [](bool training) {
    nn::network net{{.training = training}};
    const auto x = net.make_variable("x", {10, 8});
    (void)attention("attention", x, x, 2, {.heads = 2, .head_size = 4});
    return work_of_type(net, 0, "RandomUniform");
  };
  CHECK(count(true) == 2 * 2 * 5 * 5);
  CHECK(count(false) == 0);
}

TEST_CASE("nn attention: segments are summed, and their gradient is a gather") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {6, 4});
  const auto y = unsorted_segment_sum(x, net.data("Const", "segments", {{6}}), 3);
  CHECK(y.dims() == extents{3, 4});
  CHECK(work_of(y) == 24);
  const auto g = differentiate(y, {x})[0];
  CHECK(net[g.op()].op.type == "Gather");
  CHECK_THROWS_AS(unsorted_segment_sum(x, net.data("Const", "few", {{5}}), 3), value_error);
}

} // namespace workload_nn_attention_test
