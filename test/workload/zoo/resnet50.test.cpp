// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/zoo/resnet50.hpp"

#include "workload/summary.hpp"

#include <doctest/doctest.h>

namespace workload_zoo_resnet50_test {

using namespace weft;

struct described {
  std::uint64_t parameters;
  double multiply_adds; // forward, per image
};

described describe(const zoo::resnet50_options& o) {
  nn::network net;
  const nn::tensor loss[] = {zoo::resnet50_loss(net, 1, o)};
  return {net.num_parameters(), test::multiply_adds(inference(net, loss))};
}

/// Multiply-adds of table 1 in arXiv 1512.03385, block by block, for images of 32 s × 32 s.
double by_hand(double s, double classes, bool in_3x3) {
  double sum = (16 * s) * (16 * s) * 64 * 7 * 7 * 3;
  double f = 64, side = 8 * s, blocks[] = {3, 4, 6, 3};
  for (const double n : blocks) {
    const double area = side * side;
    if (f == 64) {
      sum += area * (64 * f + 9 * f * f + 4 * f * f + 64 * 4 * f);
    } else { // 2 f channels come in, from an image twice as wide and high
      sum += area * ((in_3x3 ? 4 : 1) * 2 * f * f + 9 * f * f + 4 * f * f + 2 * f * 4 * f);
    }
    sum += (n - 1) * area * (4 * f * f + 9 * f * f + 4 * f * f);
    f *= 2;
    side /= 2;
  }
  return sum + 2048 * classes;
}

TEST_CASE("resnet50: parameters are those of torchvision's") {
  CHECK(describe({}).parameters == 25'557'032); // torchvision.models.resnet50, num_params
  CHECK(describe({.stride = zoo::resnet_stride::in_1x1}).parameters == 25'557'032);
  CHECK(describe({.image_size = 32, .classes = 10}).parameters == 25'557'032 - 2049 * 990);
}

TEST_CASE("resnet50: multiply-adds are those published") {
  CHECK(describe({}).multiply_adds == doctest::Approx(4.089e9).epsilon(0.0002)); // torchvision, ResNet50_Weights: 4.09
  // The paper's table 1 says 3.8e9, without the last digits; others count 3.86e9.
  CHECK(describe({.stride = zoo::resnet_stride::in_1x1}).multiply_adds == doctest::Approx(3.86e9).epsilon(0.001));
}

TEST_CASE("resnet50: multiply-adds are those computed by hand, for any image size and number of classes") {
  CHECK(describe({}).multiply_adds == by_hand(7, 1000, true));
  CHECK(describe({.stride = zoo::resnet_stride::in_1x1}).multiply_adds == by_hand(7, 1000, false));
  CHECK(describe({.image_size = 32, .classes = 10}).multiply_adds == by_hand(1, 10, true));
  CHECK(describe({.image_size = 64, .classes = 200}).multiply_adds == by_hand(2, 200, true));
}

TEST_CASE("resnet50: a training step has the ops of 53 convolutions and a dense layer") {
  const auto w = zoo::resnet50(2, {}, {.bookkeeping = false});
  CHECK(test::count_type(w, "Conv2D") == 53); // 1 + 3 · 16 blocks + 4 shortcuts
  CHECK(test::count_type(w, "Conv2DBackpropFilter") == 53);
  CHECK(test::count_type(w, "Conv2DBackpropInput") == 52); // not of the images
  CHECK(test::count_type(w, "MatMul") == 3);
  CHECK(test::count_type(w, "FusedBatchNorm") == 53);
  CHECK(test::count_type(w, "FusedBatchNormGrad") == 53);
  CHECK(test::count_type(w, "Relu") == 1 + 3 * 16);
  CHECK(test::count_type(w, "MaxPool") == 1);
  CHECK(test::count_type(w, "MaxPoolGrad") == 1);
  CHECK(test::count_type(w, "ApplyMomentum") == 3 * 53 + 2); // kernel, scale, offset; dense weights and biases
  CHECK(test::count_type(w, "AssignSub") == 2 * 53);
  CHECK(test::count_type(w, "L2Loss") == 54);
  const auto full = zoo::resnet50(2);
  CHECK(test::count_type(full, "Conv2DBackpropInput") == 53); // TensorFlow's barriers keep the images' too
}

TEST_CASE(
  "resnet50: a training step takes three times the forward pass's multiply-adds, but for the images' gradient") {
  const double forward = 4 * by_hand(1, 10, true);
  const zoo::resnet50_options cifar{.image_size = 32, .classes = 10};
  CHECK(test::multiply_adds(zoo::resnet50(4, cifar)) == 3 * forward);
  CHECK(test::multiply_adds(zoo::resnet50(4, cifar, {.bookkeeping = false})) ==
        3 * forward - 4 * 16 * 16 * 64 * 7 * 7 * 3);
}

TEST_CASE("resnet50: state is parameters, momentum and moving averages") {
  const byte_count parameters = 25'557'032, channels = 26'560;
  CHECK(test::total_resident_bytes(zoo::resnet50(1)) == 4 * (2 * parameters + 2 * channels));
}

TEST_CASE("resnet50: weight decay is an option") {
  const nn::network_options arithmetic{.bookkeeping = false};
  const auto with = zoo::resnet50(2, {.image_size = 32}, arithmetic);
  const auto without = zoo::resnet50(2, {.image_size = 32, .weight_decay = false}, arithmetic);
  CHECK(test::count_type(without, "L2Loss") == 0);
  // Per kernel element: the penalty 2, its gradient 1, and 1 to add it to the other gradient. The sum of 54 penalties,
  // its rate, the sum of both losses; the rate of the gradient.
  const double kernels = 25'557'032 - 2 * 26'560 - 1000;
  CHECK(test::total_work(with) - test::total_work(without) == 4 * kernels + 53 + 1 + 1 + 1);
}

TEST_CASE("resnet50: extents of zero are errors") {
  CHECK_THROWS_AS(zoo::resnet50(0), value_error);
  CHECK_THROWS_AS(zoo::resnet50(1, {.image_size = 0}), value_error);
  CHECK_THROWS_AS(zoo::resnet50(1, {.classes = 0}), value_error);
}

} // namespace workload_zoo_resnet50_test
