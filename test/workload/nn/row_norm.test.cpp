// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/row_norm.hpp"

#include "weft/workload/nn/gradients.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace workload_nn_row_norm_test {

using namespace weft;
using nn::extents;
using nn::kernel_set;

/// A sum of two matrices, normalised, and again with what it was.
struct two_sums {
  nn::network net;
  nn::tensor x, y, result;

  two_sums(kernel_set kernels, bool centred, bool drops, bool training = true)
      : net{{.bookkeeping = false, .training = training, .kernels = kernels}}, x{net.make_variable("x", {7, 3})},
        y{net.make_variable("y", {7, 3})} {
    nn::residual_sum sum{x};
    sum.add(y, drops);
    const auto first = centred ? sum.layer_norm("first") : sum.rms_norm("first");
    sum.add(first, drops);
    result = centred ? sum.layer_norm("second") : sum.rms_norm("second");
  }
  std::size_t count(const char* type) const {
    std::size_t n = 0;
    for (const op_id v : ids(net.num_ops())) {
      n += net[v].op.type == type;
    }
    return n;
  }
};

TEST_CASE("row norm: a compiled sum and its normalisation are one op, of as many parameters") {
  for (const bool centred : {false, true}) {
    two_sums separate{kernel_set::separate, centred, false}, framework{kernel_set::framework, centred, false},
      compiled{kernel_set::compiled, centred, false};
    CHECK(separate.net.num_parameters() == compiled.net.num_parameters());
    CHECK(separate.count("Add") == 2);
    CHECK(framework.count("Add") == 2);
    CHECK(compiled.count("Add") == 0);
    CHECK(compiled.count(centred ? "AddLayerNorm" : "AddRMSNorm") == 2);
    CHECK(compiled.count(centred ? "LayerNorm" : "RMSNorm") == 0);
    CHECK(compiled.result.dims() == extents{7, 3});
  }
}

TEST_CASE("row norm: FLOP of a normalised sum and of its gradient, with and without dropout") {
  for (const bool centred : {false, true}) {
    for (const bool drops : {false, true}) {
      CAPTURE(centred);
      CAPTURE(drops);
      two_sums n{kernel_set::compiled, centred, drops};
      const auto& forward = n.net[n.result.op()].op;
      CHECK(forward.work == ((centred ? 8 : 4) + 1 + (drops ? 3 : 0)) * 21);
      CHECK(forward.attributes.drops == drops);
      CHECK(forward.outputs.size() == (centred ? 4 : 3)); // with the sum and the statistics of the rows
      std::vector<nn::tensor> all{n.x, n.y};
      for (const auto& v : n.net.variables()) {
        all.push_back(v.value);
      }
      const auto g = nn::gradients(n.net, reduce_mean(n.result), all); // throws if a shape is wrong
      for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(g[i].dims() == all[i].dims());
      }
      CHECK(n.count(centred ? "AddLayerNormGrad" : "AddRMSNormGrad") == 2);
      const auto& last = n.net[g[0].op()].op; // of the first sum, which a second gradient arrives at
      CHECK(last.work == ((centred ? 11 : 9) + 1 + (drops ? 1 : 0)) * 21);
      CHECK(last.inputs.size() == 4 + (centred ? 2 : 1));
      CHECK(last.attributes.drops == drops);
      CHECK((g[0] == g[1]) != drops);
    }
  }
}

TEST_CASE("row norm: without training nothing is dropped and no statistics are kept") {
  const two_sums n{kernel_set::compiled, true, true, false};
  CHECK(n.net[n.result.op()].op.outputs.size() == 2);
  CHECK(n.net[n.result.op()].op.work == 9 * 21);
  CHECK(!n.net[n.result.op()].op.attributes.drops);
}

TEST_CASE("row norm: of two sums in a row the first is an op of its own, and nothing is lost") {
  nn::network net{{.kernels = kernel_set::compiled}};
  const auto x = net.make_variable("x", {7, 3}), y = net.make_variable("y", {7, 3});
  nn::residual_sum sum{x};
  sum.add(y);
  sum.add(y);
  const auto& joined = net[sum.rms_norm("norm").op()].op;
  CHECK(joined.type == "AddRMSNorm");
  CHECK(net[joined.inputs[0].op()].op.type == "Add");
}

TEST_CASE("row norm: a sum has two matrices of one shape") {
  nn::network net;
  const auto x = net.make_variable("x", {7, 3});
  CHECK_THROWS_AS(nn::add_rms_norm("norm", x, net.make_variable("y", {3, 7})), value_error);
}

} // namespace workload_nn_row_norm_test
