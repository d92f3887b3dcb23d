// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/einsum.hpp"

#include "weft/workload/nn/gradients.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace workload_nn_einsum_test {

using namespace weft;
using nn::extents;

TEST_CASE("einsum: 2 FLOP for each combination of axes, forward and for each gradient") {
  nn::network net{{.bookkeeping = false}};
  const auto a = net.make_variable("a", {2, 3, 4, 5, 6}), b = net.make_variable("b", {2, 7, 4, 1, 6});
  const auto y = nn::einsum({"bshgd", "bthxd", "bhgst"}, a, b);
  CHECK(y.dims() == extents{2, 4, 5, 3, 7});
  const double work = 2.0 * 2 * 3 * 4 * 5 * 6 * 7;
  CHECK(net[y.op()].op.work == work);
  CHECK(net[y.op()].op.axes == "bshgd,bthxd->bhgst");
  const auto g = nn::gradients(net, reduce_mean(y), std::vector{a, b});
  CHECK(g[0].dims() == a.dims());
  CHECK(g[1].dims() == b.dims());
  for (const auto& t : g) {
    CHECK(net[t.op()].op.type == "Einsum");
    CHECK(net[t.op()].op.work == work);
  }
  CHECK(net[g[0].op()].op.axes == "bhgst,bthxd->bshgd");
  CHECK(net[g[1].op()].op.axes == "bshgd,bhgst->bthxd");
}

TEST_CASE("einsum: only the gradients that are wanted are computed") {
  nn::network net{{.bookkeeping = false}};
  const auto a = net.make_variable("a", {2, 3}), b = net.data("Const", "b", {{3, 4}});
  const auto y = nn::einsum({"mk", "kn", "mn"}, a, b);
  const auto first = static_cast<op_id>(net.num_ops());
  (void)nn::gradients(net, reduce_mean(y), std::vector{a});
  std::size_t count = 0;
  for (op_id v = first; v < net.num_ops(); ++v) {
    count += net[v].op.type == "Einsum";
  }
  CHECK(count == 1);
}

TEST_CASE("einsum: letters have to fit") {
  nn::network net{{.bookkeeping = false}};
  const auto a = net.make_variable("a", {2, 3}), b = net.make_variable("b", {4, 5});
  CHECK_THROWS_AS(nn::einsum({"mk", "kn", "mn"}, a, b), value_error); // inner extents differ
  CHECK_THROWS_AS(nn::einsum({"mkx", "yn", "mn"}, a, b), value_error);
  CHECK_THROWS_WITH_AS(nn::einsum({"mk", "xn", "mz"}, a, b), "Einsum: no factor has the axis 'z'", value_error);
}

} // namespace workload_nn_einsum_test
