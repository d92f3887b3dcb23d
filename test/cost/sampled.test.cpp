// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/sampled.hpp"

#include "weft/cost/roofline.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/problem.hpp"
#include "weft/workload/annotated_graph.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace cost_sampled_test {

using namespace weft;

cost::uncertainty all_uncertain() { return cost::uncertainty{cost::lognormal{0.3}}.set_transfers(cost::uniform{0.5}); }

TEST_CASE("draws: the luck of an op is its own, whatever else is drawn") {
  const auto w = test::diamond();
  const cost::draws few{w, all_uncertain(), {.samples = 5, .seed = 7}};
  const cost::draws many{w, all_uncertain(), {.samples = 9, .seed = 7}};
  const cost::draws of_ops_only{w, cost::lognormal{0.3}, {.samples = 5, .seed = 7}};
  const cost::draws other{w, all_uncertain(), {.samples = 5, .seed = 8}};
  workload_builder single;
  single.add_op({.work = 1});
  const auto alone = std::move(single).build();
  CHECK(few.size() == 5);
  for (std::uint32_t s = 0; s < 5; ++s) {
    for (const op_id v : ids(w.num_ops())) {
      CHECK(few.of_op(v)[s] == many.of_op(v)[s]);
      CHECK(few.of_op(v)[s] == of_ops_only.of_op(v)[s]);
      CHECK(few.of_op(v)[s] != other.of_op(v)[s]);
      CHECK((v == 0 || few.of_op(v)[s] != few.of_op(v - 1)[s]));
      CHECK((s == 0 || few.of_op(v)[s] != few.of_op(v)[s - 1]));
    }
    for (const tensor_id t : ids(w.num_tensors())) {
      CHECK(few.of_tensor(t)[s] == many.of_tensor(t)[s]);
      CHECK(few.of_tensor(t)[s] != other.of_tensor(t)[s]);
      CHECK(of_ops_only.of_tensor(t)[s] == 1);
    }
    CHECK(cost::draws{alone, cost::lognormal{0.3}, {.samples = 5, .seed = 7}}.of_op(0)[s] == few.of_op(0)[s]);
  }
  CHECK_THROWS_WITH(cost::draws(w, {}, {.samples = 0}), "sampling: no samples; draw at least one");
}

TEST_CASE("draws: types of ops, and workloads without types") {
  workload_builder b;
  b.add_op({.work = 1, .type = "Conv"});
  b.add_op({.work = 1, .type = "Add"});
  const auto w = std::move(b).build();
  const auto times = cost::uncertainty{cost::empirical{{3}}}.set("Conv", cost::empirical{{2}});
  const cost::draws typed{w, times, {.samples = 1}};
  CHECK(typed.of_op(0)[0] == 2);
  CHECK(typed.of_op(1)[0] == 3);
  const std::vector<std::vector<int>> successors{{1}, {}};
  const std::vector<double> work{1, 1};
  const annotated_graph untyped{successors, {.work = work}};
  CHECK(cost::draws{untyped, times, {.samples = 1}}.of_op(0)[0] == 3);
}

TEST_CASE("sampled: one problem has the times of every sample, and the estimate at first") {
  const auto w = test::diamond();
  const auto q = test::three_devices();
  const problem p{w, q};
  cost::draws draws{w, all_uncertain(), {.samples = 4}};
  const auto actual = p.with_costs(cost::sampled{p.cost(), draws});
  const auto check = [&](auto of_op, auto of_tensor) {
    for (const device_id d : ids(3)) {
      for (const op_id v : ids(w.num_ops())) {
        CHECK(actual.compute_time(v, d) == of_op(v) * p.compute_time(v, d));
      }
      for (const tensor_id t : ids(w.num_tensors())) {
        const device_id to = (d + 1) % 3;
        CHECK(actual.transfer_time(t, d, to) == of_tensor(t) * p.transfer_time(t, d, to));
        CHECK(actual.send_time(t, d, to) == of_tensor(t) * p.send_time(t, d, to));
      }
    }
    CHECK(cost::facts_agree(actual.cost(), w, q));
  };
  const auto one = [](auto) { return 1.0; };
  check(one, one);
  for (std::uint32_t s = 0; s < draws.size(); ++s) {
    draws.select(s);
    check([&](op_id v) { return draws.of_op(v)[s]; }, [&](tensor_id t) { return draws.of_tensor(t)[s]; });
  }
  draws.select_estimate();
  check(one, one);
}

TEST_CASE("sampled: rates and classes of devices still hold, lines of transfers do not") {
  using W = workload;
  using P = platform<>;
  using C = cost::sampled<cost::linear>;
  CHECK(cost_parts::has_rates<C, W, P>);
  CHECK(cost_parts::has_device_classes<C, W, P>);
  CHECK_FALSE(cost_parts::has_transfer_lines<C, W, P>);
  CHECK_FALSE(cost_parts::has_send_overheads<C, W, P>);
  CHECK_FALSE(cost_parts::has_class_times<cost::sampled<cost::tabulated>, W, P>);
  CHECK_FALSE(cost_parts::has_rates<cost::sampled<cost::roofline>, W, P>);
}

} // namespace cost_sampled_test
