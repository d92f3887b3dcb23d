// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/moldable.hpp"

#include "weft/concurrency/moldable.hpp"
#include "weft/concurrency/scaling_laws.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace bound_moldable_test {

/// Every op takes `work` seconds with one thread and scales by Amdahl's law.
struct amdahl_cost {
  double parallel = 0.5;
  template <class W>
  double seconds(const W& w, weft::op_id v, const weft::machine&, weft::team t) const {
    return weft::concurrency::amdahl{w.work(v), parallel}(t);
  }
};

weft::workload independent(int ops) {
  weft::workload_builder b;
  for (int i = 0; i < ops; ++i) {
    b.add_op({.work = 1});
  }
  return std::move(b).build();
}

TEST_CASE("moldable bound: core-seconds of the thriftiest teams over all cores") {
  const auto w = independent(6);
  const auto one = weft::single({.cores_per_socket = 2});
  const weft::problem p{w, one, weft::concurrency::moldable<amdahl_cost>{}};
  const auto bound = weft::bound::moldable(p);
  CHECK(bound.value == doctest::Approx(3.0)); // one thread each; two would take 0.75 · 2 core-seconds
  CHECK(bound.which == weft::lower_bound::rule::area);
  weft::manycore_simulator side_by_side{p, weft::concurrency::uniform(2, 1)};
  CHECK(side_by_side.run({weft::placement(6, 0)}).makespan == doctest::Approx(3.0));
}

TEST_CASE("moldable bound: a chain takes at least its ops with their fastest teams") {
  weft::workload_builder b;
  b.add_op({.work = 1, .bytes = 8});
  b.add_op({.work = 1});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const auto one = weft::single({.cores_per_socket = 4});
  const weft::problem p{w, one, weft::concurrency::moldable<amdahl_cost>{}};
  const auto bound = weft::bound::moldable(p);
  CHECK(bound.value == doctest::Approx(2 * (0.5 + 0.5 / 4)));
  CHECK(bound.which == weft::lower_bound::rule::critical_path);
}

} // namespace bound_moldable_test
