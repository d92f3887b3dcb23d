// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/optimizer.hpp"

#include "weft/workload/training_step.hpp"
#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace workload_nn_optimizer_test {

using namespace weft;

workload step(const training_options& options) {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {5, 2});
  const auto y = net.make_variable("y", {10});
  const auto flat = nn::reshape(x, {10});
  return training_step(net, reduce_mean(flat * y), options);
}

TEST_CASE("optimizer: each rule has its ops, state and FLOP") {
  struct row {
    optimizer rule;
    const char* op;
    double work;        // per parameter
    std::size_t copies; // of the parameters
    byte_count scalars;
  };
  for (const row& r :
       {row{optimizer::sgd, "ApplyGradientDescent", 2, 1, 0}, row{optimizer::momentum, "ApplyMomentum", 4, 2, 0},
        row{optimizer::rmsprop, "ApplyRMSProp", 11, 3, 0}, row{optimizer::adam, "ApplyAdam", 12, 3, 8}}) {
    CAPTURE(r.op);
    const auto w = step({.rule = r.rule});
    CHECK(test::count_type(w, r.op) == 2);
    CHECK(test::work_of_types(w, {r.op}) == r.work * 20);
    CHECK(test::total_resident_bytes(w) == r.copies * 20 * 4 + r.scalars);
  }
  CHECK(test::find_op(step({.rule = optimizer::rmsprop}), "x/RMSProp_1") != none);
}

TEST_CASE("optimizer: clipping by the global norm reads all gradients before it scales any") {
  const auto plain = step({.rule = optimizer::sgd});
  const auto clipped = step({.rule = optimizer::sgd, .transform = nn::clip_by_global_norm});
  // Squares 2 and scaling 1 per element; the norm: 2 terms, doubled, root; two quotients, the smaller, times the limit.
  CHECK(test::total_work(clipped) - test::total_work(plain) == 3 * 20 + 2 + 2 + 4);
  const op_id norm = test::find_op(clipped, "clip_by_global_norm/global_norm");
  REQUIRE(norm != none);
  CHECK(test::count_type(clipped, "L2Loss") == 2);
  const op_id update = test::find_op(clipped, "GradientDescent/update_x/ApplyGradientDescent");
  REQUIRE(update != none);
  bool scaled = false;
  for (const tensor_id t : clipped.inputs(update)) {
    scaled = scaled || clipped.name(clipped.producer(t)).starts_with("clip_by_global_norm/mul");
  }
  CHECK(scaled);
}

} // namespace workload_nn_optimizer_test
