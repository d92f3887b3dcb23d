// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/zoo/inception_v3.hpp"

#include "workload/summary.hpp"

#include <doctest/doctest.h>

namespace workload_zoo_inception_v3_test {

using namespace weft;

struct described {
  std::uint64_t parameters;
  double multiply_adds; // forward, per image
};

described describe(const zoo::inception_v3_options& o) {
  nn::network net;
  const nn::tensor loss[] = {zoo::inception_v3_loss(net, 1, o)};
  return {net.num_parameters(), test::multiply_adds(inference(net, loss))};
}

TEST_CASE("inception_v3: parameters are those of torchvision's") {
  CHECK(describe({}).parameters == 27'161'264);                    // torchvision.models.inception_v3, num_params
  CHECK(describe({.auxiliary = false}).parameters == 23'834'568); // the same with aux_logits=False
}

TEST_CASE("inception_v3: multiply-adds are those published") {
  // torchvision, Inception_V3_Weights: 5.71e9, without the auxiliary classifier
  CHECK(describe({.auxiliary = false}).multiply_adds == doctest::Approx(5.713e9).epsilon(0.0002));
  const double auxiliary = 25 * 768 * 128 + 25 * 128 * 768 + 768 * 1000;
  CHECK(describe({}).multiply_adds == describe({.auxiliary = false}).multiply_adds + auxiliary);
}

TEST_CASE("inception_v3: images shrink as in table 1 of the paper") {
  nn::network net;
  const auto loss = zoo::inception_v3_loss(net, 1);
  std::vector<nn::extents> joined;
  for (const op_id v : ids(net.num_ops())) {
    if (net[v].op.type == "ConcatV2") {
      joined.push_back(net[v].op.outputs[0].dims);
    }
  }
  REQUIRE(joined.size() == 11 + 2 * 2); // two forks in each of the last two blocks
  CHECK(joined[0] == nn::extents{1, 35, 35, 256});
  CHECK(joined[2] == nn::extents{1, 35, 35, 288});
  CHECK(joined[3] == nn::extents{1, 17, 17, 768});
  CHECK(joined[7] == nn::extents{1, 17, 17, 768});
  CHECK(joined[8] == nn::extents{1, 8, 8, 1280});
  CHECK(joined.back() == nn::extents{1, 8, 8, 2048});
  CHECK(loss.elements() == 1);
}

TEST_CASE("inception_v3: a training step has the ops of 94 convolutions, and two more in the auxiliary classifier") {
  for (const bool auxiliary : {false, true}) {
    const std::size_t convolutions = auxiliary ? 96 : 94; // stem 5, blocks 3 · 7, 4, 4 · 10, 6, 2 · 9
    const std::size_t classifiers = auxiliary ? 2 : 1;
    const auto w = zoo::inception_v3(1, {.auxiliary = auxiliary}, {.bookkeeping = false});
    CHECK(test::count_type(w, "Conv2D") == convolutions);
    CHECK(test::count_type(w, "Conv2DBackpropFilter") == convolutions);
    CHECK(test::count_type(w, "Conv2DBackpropInput") == convolutions - 1); // not of the images
    CHECK(test::count_type(w, "FusedBatchNorm") == convolutions);
    CHECK(test::count_type(w, "FusedBatchNormGrad") == convolutions);
    CHECK(test::count_type(w, "Relu") == convolutions);
    CHECK(test::count_type(w, "MaxPool") == 4);
    CHECK(test::count_type(w, "AvgPool") == 9 + (auxiliary ? 1 : 0));
    CHECK(test::count_type(w, "MatMul") == 3 * classifiers);
    CHECK(test::count_type(w, "ApplyRMSProp") == 3 * convolutions + 2 * classifiers);
  }
}

TEST_CASE("inception_v3: a training step takes three times the forward pass's multiply-adds") {
  CHECK(test::multiply_adds(zoo::inception_v3(2)) == 3 * 2 * describe({}).multiply_adds);
}

TEST_CASE("inception_v3: images may have another size, but not less than 75 pixels") {
  CHECK(describe({.image_size = 75, .auxiliary = false}).parameters == 23'834'568);
  CHECK(describe({.image_size = 150, .classes = 10, .auxiliary = false}).parameters == 23'834'568 - 990 * 2049);
  CHECK_THROWS_AS(describe({.image_size = 74, .auxiliary = false}), value_error);
}

} // namespace workload_zoo_inception_v3_test
