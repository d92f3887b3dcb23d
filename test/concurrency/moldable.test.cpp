// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/moldable.hpp"

#include "weft/bound/moldable.hpp"
#include "weft/concurrency/scaling_laws.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <utility>
#include <vector>

namespace concurrency_moldable_test {

using namespace weft;

/// Work seconds; as if the best team had three spread threads.
struct usl_cost {
  template <class W>
  double seconds(const W& w, op_id v, const machine&, team t) const {
    return concurrency::universal_scalability{w.work(v), 0.1, 0.1}(t) * (t.affinity == affinity::spread ? 0.5 : 1);
  }
};

static_assert(device_platform<with_machines<platform<uniform_links>>>);
static_assert(platform_parts::has_machines<with_machines<platform<uniform_links>>>);
static_assert(!platform_parts::has_machines<platform<uniform_links>>);
static_assert(moldable_cost_for<concurrency::moldable<>, workload>);
static_assert(concurrency_parts::has_memory_traffic<concurrency::moldable<>, workload>);
static_assert(!concurrency_parts::has_memory_traffic<concurrency::moldable<usl_cost>, workload>);

TEST_CASE("with_machines: one sound machine per device") {
  const platform<uniform_links> two{std::vector<device>(2), uniform_links{}};
  const with_machines both{two, std::vector<machine>{{.name = "a"}, {.name = "b"}}};
  CHECK(both.num_devices() == 2);
  CHECK(both.machine(1).name == "b");
  CHECK_THROWS_AS(with_machines(two, std::vector<machine>(1)), value_error);
  CHECK_THROWS_AS(with_machines(two, std::vector<machine>(3)), value_error);
  CHECK_THROWS_AS(with_machines(two, std::vector<machine>{{}, {.core_speed = 0}}), value_error);
}

TEST_CASE("moldable: partitioners and bounds see the time with the fastest team") {
  workload_builder b;
  b.add_op({.work = 6, .bytes = 10});
  b.add_op({.work = 1});
  b.add_edge(0, 1);
  const workload w = std::move(b).build();
  const with_machines q{platform<uniform_links>{std::vector<device>(2), uniform_links{{1, 5}}},
                        std::vector<machine>{{.cores_per_socket = 8}, {.cores_per_socket = 2}}};
  const problem p{w, q, concurrency::moldable<usl_cost>{}};
  CHECK(p.compute_time(0, 0) == doctest::Approx(6 * 1.8 / 3 / 2)); // 3 spread threads
  CHECK(p.compute_time(0, 1) == doctest::Approx(6 * 1.3 / 2 / 2)); // there are only 2
  CHECK(p.transfer_time(0, 0, 1) == 3);
}

TEST_CASE("accelerator and single: machines as devices") {
  const machine gpu = accelerator("gpu", 1e13, 1e12, 5e-6);
  CHECK_NOTHROW(gpu.check());
  CHECK(gpu.cores() == 1);
  CHECK(gpu.dispatch_seconds == 5e-6);
  CHECK(gpu.bandwidth() == 1e12);
  const auto q = single({.sockets = 2, .cores_per_socket = 3, .core_speed = 10, .socket_bandwidth = 7});
  CHECK(q.num_devices() == 1);
  CHECK(q.speed(0) == 60);
  CHECK(q.machine(0).cores() == 6);
}

TEST_CASE("moldable: times of a team that are none are refused") {
  struct broken {
    double seconds(const workload&, op_id v, const machine&, team t) const {
      return t.threads < 2 ? 1 : v == 0 ? -1 : std::numeric_limits<double>::quiet_NaN();
    }
  };
  workload_builder b;
  b.add_op({.work = 1});
  b.add_op({.work = 1});
  const auto w = std::move(b).build();
  const machine m{.name = "box", .sockets = 1, .cores_per_socket = 2};
  const auto q = single(m);
  const problem p{w, q, concurrency::moldable<broken>{}};
  CHECK_THROWS_WITH_AS(
    p.compute_time(0, 0),
    "seconds of op 0 with 2 threads on 'box': -1 is not a time: a cost model returns seconds, at least 0", value_error);
  CHECK_THROWS_AS(p.compute_time(1, 0), value_error);

  // The same where a model is used without `moldable`.
  struct bare : broken, cost::link_transfers {
    double compute_time(const workload&, op_id, const decltype(q)&, device_id) const { return 1; }
  };
  const problem unguarded{w, q, bare{}};
  CHECK_THROWS_WITH_AS(bound::moldable(unguarded),
                       doctest::Contains("seconds of op 0 with 2 threads on 'box': -1 is no"), value_error);
}

} // namespace concurrency_moldable_test
