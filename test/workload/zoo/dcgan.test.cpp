// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/zoo/dcgan.hpp"

#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace workload_zoo_dcgan_test {

using namespace weft;

/// Multiply-adds per image of the layers of the default network: 28, 14, 7, 4 and 2 pixels high and wide.
constexpr double G0 = 100 * 2048;
constexpr double G = G0 + 4 * 25 * 512 * 256 + 16 * 25 * 256 * 128 + 49 * 25 * 128 * 64 + 196 * 25 * 64;
constexpr double D0 = 196 * 25 * 64;
constexpr double D = D0 + 49 * 25 * 64 * 128 + 16 * 25 * 128 * 256 + 4 * 25 * 256 * 512 + 2048;

std::uint64_t parameters(const std::vector<nn::tensor>& values) {
  std::uint64_t count = 0;
  for (const auto& x : values) {
    count += x.elements();
  }
  return count;
}

TEST_CASE("dcgan: parameters are those computed by hand") {
  nn::network net;
  const auto task = zoo::dcgan_task(net, 1);
  REQUIRE(task.objectives.size() == 2);
  // Kernels and biases; scale and offset of each normalised layer.
  const std::uint64_t discriminator = (25 * 64 + 64) + (25 * 64 * 128 + 128) + (25 * 128 * 256 + 256) +
                                      (25 * 256 * 512 + 512) + (2048 + 1) + 2 * (128 + 256 + 512);
  const std::uint64_t generator = (100 * 2048 + 2048) + (25 * 512 * 256 + 256) + (25 * 256 * 128 + 128) +
                                  (25 * 128 * 64 + 64) + (25 * 64 + 1) + 2 * (512 + 256 + 128 + 64);
  CHECK(parameters(task.objectives[0].variables) == discriminator);
  CHECK(parameters(task.objectives[1].variables) == generator);
  CHECK(net.num_parameters() == discriminator + generator);
}

TEST_CASE("dcgan: with the sizes of the paper, the generator projects to 4x4x1024 and ends with 64x64x3") {
  nn::network net;
  const zoo::dcgan_options paper{.image_size = 64, .channels = 3, .generator_filters = 128};
  (void)zoo::dcgan_task(net, 1, paper);
  std::vector<nn::extents> images;
  for (const op_id v : ids(net.num_ops())) {
    if (net[v].op.type == "Conv2DBackpropInput") {
      images.push_back(net[v].op.outputs[0].dims);
    }
  }
  const std::vector<nn::extents> figure_1{{1, 8, 8, 512}, {1, 16, 16, 256}, {1, 32, 32, 128}, {1, 64, 64, 3}};
  CHECK(images == figure_1);
  CHECK(net.variables()[0].value.dims() == nn::extents{100, 4 * 4 * 1024});
}

TEST_CASE("dcgan: a step generates once, judges twice, and differentiates for both") {
  const auto w = zoo::dcgan(2, {}, {.bookkeeping = false});
  // Transposed convolutions are Conv2DBackpropInput ops, and their gradients are convolutions.
  CHECK(test::count_type(w, "Conv2D") == 4 + 4 + 4);
  CHECK(test::count_type(w, "Conv2DBackpropInput") == 4 + 3 + 3 + 4); // generator, real, fake, through the judge
  CHECK(test::count_type(w, "Conv2DBackpropFilter") == 4 + 4 + 4);
  CHECK(test::count_type(w, "FusedBatchNorm") == 4 + 3 + 3);
  CHECK(test::count_type(w, "FusedBatchNormGrad") == 3 + 3 + 3 + 4);
  CHECK(test::count_type(w, "LeakyRelu") == 8);
  CHECK(test::count_type(w, "LeakyReluGrad") == 12);
  CHECK(test::count_type(w, "TanhGrad") == 1);
  CHECK(test::count_type(w, "ApplyAdam") == 5 * 2 + 4 * 2 + 5 * 2 + 3 * 2);
  CHECK(test::count_type(w, "AssignSub") == 2 * (4 + 3 + 3));
  CHECK(test::count_type(zoo::dcgan(2), "Conv2DBackpropInput") == 4 + 4 + 4 + 4);
  CHECK(test::count_type(zoo::dcgan(2), "Conv2DBackpropFilter") == 4 + 4 + 4 + 4);
}

TEST_CASE("dcgan: the multiply-adds of a step are those computed by hand") {
  // Forward once and twice; the discriminator's gradients of both batches but for the images; the way back through the
  // discriminator to the generated images, and the generator's gradients but for the random numbers.
  const double step = G + 2 * D + 2 * (2 * D - D0) + D + (2 * G - G0);
  CHECK(test::multiply_adds(zoo::dcgan(3, {}, {.bookkeeping = false})) == 3 * step);
}

TEST_CASE("dcgan: each update op waits for the gradients of its own loss") {
  const auto w = zoo::dcgan(2);
  for (const op_id v : ids(w.num_ops())) {
    if (w.type(v) != "ApplyAdam") {
      continue;
    }
    const bool generator = w.name(v).find("update_generator") != std::string_view::npos;
    for (const tensor_id t : w.inputs(v)) {
      const auto from = w.name(w.producer(t));
      CHECK((!from.starts_with("gradients") || from.starts_with("gradients_1/") == generator));
    }
  }
}

TEST_CASE("dcgan: extents of zero are errors") {
  CHECK_THROWS_AS(zoo::dcgan(0), value_error);
  CHECK_THROWS_AS(zoo::dcgan(1, {.image_size = 0}), value_error);
  CHECK_THROWS_AS(zoo::dcgan(1, {.latent = 0}), value_error);
}

} // namespace workload_zoo_dcgan_test
