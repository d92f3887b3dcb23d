// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/loss.hpp"

#include "weft/workload/stored_as.hpp"
#include "weft/workload/training_step.hpp"
#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace workload_nn_loss_test {

using namespace weft;

workload forward(const nn::tensor& y) {
  const nn::tensor outputs[] = {y};
  return inference(y.net(), outputs);
}

TEST_CASE("loss: softmax cross entropy takes distributions or class numbers, for the same work") {
  nn::network net{{.bookkeeping = false}};
  const auto logits = net.make_variable("logits", {6, 10});
  const auto dense = softmax_cross_entropy(logits, net.data("Const", "labels", {{6, 10}}));
  const auto sparse = sparse_softmax_cross_entropy(logits, net.data("Const", "classes", {{6}}));
  for (const auto& y : {dense, sparse}) {
    CHECK(y.dims() == nn::extents{6});
    CHECK(net[y.op()].op.work == 5 * 60);
    const auto g = nn::gradients(net, reduce_mean(y), std::vector{logits})[0];
    CHECK(g.dims() == logits.dims());
    CHECK(net[g.op()].op.inputs[1].op() == y.op()); // computed forward
  }
  CHECK(net[sparse.op()].op.type == "SparseSoftmaxCrossEntropyWithLogits");
  CHECK_THROWS_AS(sparse_softmax_cross_entropy(logits, net.data("Const", "labels", {{6, 10}})), value_error);
  CHECK_THROWS_AS(sparse_softmax_cross_entropy(logits, net.data("Const", "labels", {{10}})), value_error);
}

TEST_CASE("loss: frameworks hold logits in single precision while they make their gradient") {
  for (const auto kernels : {nn::kernel_set::framework, nn::kernel_set::compiled}) {
    nn::network net{{.kernels = kernels}};
    const auto logits = net.make_variable("logits", {6, 10});
    const auto y = sparse_softmax_cross_entropy(logits, net.data("Const", "classes", {{6}}));
    const auto gradient = nn::gradients(net, reduce_mean(y), std::vector{logits})[0];
    const nn::tensor outputs[] = {gradient};
    const auto w = stored_as(inference(net, outputs), {.tensor_bits = 16, .weight_bits = 16});
    byte_count bytes = 0;
    for (const op_id v : ids(w.num_ops())) {
      for (const tensor_id t : w.outputs(v)) {
        bytes += w.type(v).ends_with("CrossEntropyGrad") ? w.bytes(t) : 0;
      }
    }
    CHECK(bytes == 60 * (kernels == nn::kernel_set::framework ? 4 + 8 : 2));
    CHECK(net[y.op()].op.outputs[1].dims == nn::extents{6}); // what is kept from the forward pass
  }
}

TEST_CASE("loss: a kernel keeps logarithms, which its gradient reads beside the labels") {
  using nn::kernel_set;
  for (const bool sparse : {false, true}) {
    for (const auto kernels : {kernel_set::framework, kernel_set::compiled}) {
      nn::network net{{.bookkeeping = false, .kernels = kernels}};
      const auto logits = net.make_variable("logits", {6, 10});
      const auto labels = net.data("Const", "labels", {sparse ? nn::extents{6} : nn::extents{6, 10}});
      const auto y = sparse ? sparse_softmax_cross_entropy(logits, labels) : softmax_cross_entropy(logits, labels);
      CHECK(net[y.op()].op.work == 5 * 60);
      CHECK(net[y.op()].op.outputs[1].dims == nn::extents{6});
      const auto g = nn::gradients(net, reduce_mean(y), std::vector{logits})[0];
      const auto& gradient = net[g.op()].op;
      CHECK(gradient.type.ends_with("CrossEntropyGrad"));
      CHECK(g.dims() == logits.dims());
      CHECK(gradient.work == 4 * 60);
      REQUIRE(gradient.inputs.size() == 4);
      CHECK(gradient.inputs[1] == nn::tensor{net, y.op(), 1});
      CHECK(gradient.inputs[2] == labels);
      CHECK(gradient.inputs[3] == logits);
    }
  }
}

TEST_CASE("loss: sigmoid cross entropy is nine elementwise ops") {
  nn::network net{{.bookkeeping = false}};
  const auto logits = net.make_variable("logits", {6, 2});
  const auto y = sigmoid_cross_entropy(logits, net.data("Const", "labels", {{6, 2}}));
  CHECK(y.dims() == logits.dims());
  const auto w = forward(y);
  CHECK(test::total_work(w) == 9 * 12);
  CHECK(test::count_type(w, "Select") == 2);
  CHECK(test::find_op(w, "logistic_loss/Log1p") != none);
  CHECK(nn::gradients(net, reduce_mean(y), std::vector{logits})[0].dims() == logits.dims());
  CHECK_THROWS_AS(sigmoid_cross_entropy(logits, net.data("Const", "labels", {{6}})), value_error);
  const auto again = sigmoid_cross_entropy(logits, net.data("Const", "labels", {{6, 2}}));
  CHECK(test::find_op(forward(again), "logistic_loss_1/Log1p") != none);
}

TEST_CASE("loss: weight decay adds up the L2 losses of kernels, not of biases or of averages") {
  nn::network net{{.bookkeeping = false}};
  const auto kernel = net.make_variable("kernel", {3, 4});
  (void)net.make_variable("bias", {4});
  (void)net.make_variable("average", {4, 4}, false);
  const auto other = net.make_variable("other", {5, 5});
  const auto y = nn::weight_decay(net);
  CHECK(y.dims() == nn::extents{});
  const auto w = forward(y);
  CHECK(test::count_type(w, "L2Loss") == 2);
  CHECK(test::total_work(w) == 2 * (12 + 25) + 1 + 1);
  const auto g = nn::gradients(net, y, std::vector{kernel, other});
  CHECK(g[0].dims() == kernel.dims());
  CHECK(g[1].dims() == other.dims());
  nn::network empty;
  CHECK_THROWS_WITH_AS(nn::weight_decay(empty), "weight_decay: the network has no trainable kernel", value_error);
}

} // namespace workload_nn_loss_test
