// SPDX-License-Identifier: BSL-1.0
/// Runs of an executor allocate nothing, with memory and without.
#include "support/counting_allocator.hpp"
#include "support/random_plans.hpp"

#include "weft/execute/static_executor.hpp"

#include <doctest/doctest.h>

namespace allocation_static_executor_test {

using namespace weft;
using weft::test::allocation_counter;

TEST_CASE("static_executor: no allocation in runs") {
  std::size_t num_messages = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    rng random{seed};
    const workload w = test::random_graph(random, 100, 5'000);
    const plan p = test::random_plan(w, random);
    const execute::program program{w, p};
    num_messages += program.messages().size();
    const execute::memory memory{program};
    static_executor run{program};
    const std::stop_source stop;
    std::size_t finished = run(test::hashing_kernel{}, memory).num_finished;
    const allocation_counter counter;
    for (int i = 0; i < 5; ++i) {
      finished += run([](op_id) {}).num_finished;
      finished += run(test::hashing_kernel{}, memory).num_finished;
      finished += run(test::hashing_kernel{}, memory, {.stop = stop.get_token(), .seconds = 1e9}).num_finished;
    }
    CHECK(counter.count() == 0);
    CHECK(finished == 16 * w.num_ops());
  }
  CHECK(num_messages > 100);
}

} // namespace allocation_static_executor_test
