// SPDX-License-Identifier: BSL-1.0
/// After set-up and one run, running again allocates nothing.
#include "support/counting_allocator.hpp"

#include "weft/concurrency/moldable.hpp"
#include "weft/core/random.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/simulate/record.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace allocation_manycore_test {

using namespace weft;
using weft::test::allocation_counter;

using platform_type = with_machines<platform<uniform_links>>;
using problem_type = problem<workload, platform_type, concurrency::moldable<>>;

machine eight_cores() {
  return {.sockets = 2,
          .cores_per_socket = 4,
          .cores_per_tile = 2,
          .threads_per_core = 2,
          .core_bandwidth = 10,
          .socket_bandwidth = 20,
          .smt_gain = 1.3,
          .resize_seconds = 1e-6};
}

/// Runs plans with fewer and more transfers than the first.
template <class Strategy>
void check(const Strategy& s, std::uint64_t seed) {
  rng random{seed};
  const workload w = generate::layered({.shape = {.levels = 15, .max_width = 15, .edge_probability = 0.1},
                                        .min_work = 100'000,
                                        .max_work = 10'000'000,
                                        .cpu_only_probability = 0,
                                        .gpu_only_probability = 0},
                                       seed);
  const platform_type q{platform<uniform_links>{std::vector<device>(2), uniform_links{{1e-6, 1e6}}, 1e-6},
                        {eight_cores(), eight_cores()}};
  const problem_type p{w, q, {}};
  const plan one_device{placement(p.num_ops(), 0)};
  plan mixed{placement(p.num_ops(), 0)};
  for (device_id& d : mixed.placement) {
    d = random.below(2);
  }
  manycore_simulator sim{p, s};
  trace run;
  sim.run(one_device, simulate::recorder{run});
  const allocation_counter counter;
  bool complete = true;
  for (int i = 0; i < 10; ++i) {
    complete = sim.run(one_device, simulate::recorder{run}).complete && complete;
  }
  CHECK(counter.count() == 0);
  sim.run(mixed, simulate::recorder{run}); // the second device has work for the first time
  const allocation_counter again;
  for (int i = 0; i < 10; ++i) {
    complete = sim.run(i % 2 == 0 ? one_device : mixed, simulate::recorder{run}).complete && complete;
  }
  CHECK(again.count() == 0);
  CHECK(complete);
}

TEST_CASE("manycore_simulator runs again without allocating") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    check(concurrency::s1, seed);
    check(concurrency::s1_s2, seed);
    check(concurrency::s1_s2_s3, seed);
    check(concurrency::s1_s2_s3_s4, seed);
    check(concurrency::uniform(3, 2), seed);
    check(concurrency::equally_split, seed);
  }
}

} // namespace allocation_manycore_test
