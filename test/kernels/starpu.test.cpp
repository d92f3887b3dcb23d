// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/starpu/executor.hpp"

#include "kernels/placed_step.hpp"

#include "weft/core/random.hpp"
#include "weft/execute/static_executor.hpp"

#include "interop/starpu/environment.hpp"
#include "small_networks.hpp"
#include "support/random_plans.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace kernels_starpu_test {

TEST_CASE("starpu: training steps of networks are those of static_executor, bit by bit") {
  interop_starpu_test::quiet_session s;
  weft::rng random{17};
  for (const auto& net : test::small_networks()) {
    CAPTURE(net.name);
    const auto program = kernels::program_of(net, {weft::test::random_placement(net.step.graph, 2, random)});
    REQUIRE(program.messages().size() > 0);
    kernels::placed_step by_threads{net, program}, by_tasks{net, program};
    weft::static_executor run_threads{program};
    weft::starpu::executor run_tasks{s.starpu, program};
    for (int step = 0; step < 2; ++step) {
      run_threads(by_threads, by_threads.memory()).rethrow();
      run_tasks(by_tasks, by_tasks.memory()).rethrow();
      const auto expected = by_threads.losses();
      CHECK_FALSE(expected.empty());
      CHECK(by_tasks.losses() == expected);
    }
    for (const auto v : weft::ids(program.num_ops())) { // variables and the state of optimizers
      CHECK(std::ranges::equal(by_tasks.memory().resident(v), by_threads.memory().resident(v)));
    }
  }
}

} // namespace kernels_starpu_test
