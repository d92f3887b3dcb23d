// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/profiled_times.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace concurrency_profiled_times_test {

using namespace weft;

TEST_CASE("profiled times: by name, else by class, the fastest team, of this machine only") {
  workload_builder b;
  const auto x = b.add_op({.work = 5, .bytes = 8, .name = "x", .type = "Mul"});
  const auto y = b.add_op({.work = 7, .bytes = 8, .name = "y", .type = "Add"});
  const auto z = b.add_op({.work = 7, .bytes = 8, .type = "Add"});
  b.add_edge(x, y);
  b.add_edge(x, z);
  const workload w = std::move(b).build();
  const concurrency::op_classes classes{w};

  concurrency::profile p;
  const auto none_known = concurrency::profiled_times(w, p, "gpu");
  CHECK(none_known.size() == 3);
  CHECK(std::isnan(none_known[0]));

  p.record({"gpu", "y", 1, affinity::packed}, 3);
  p.record({"gpu", classes.key(classes.class_of(y)), 1, affinity::packed}, 4);
  p.record({"gpu", classes.key(classes.class_of(y)), 2, affinity::spread}, 2);
  p.record({"gpu", classes.key(classes.class_of(y)), 2, affinity::spread}, 2.5);
  p.record({"gpu", classes.key(classes.class_of(y)), 2, affinity::spread}, 9);
  p.record({"cpu", "x", 1, affinity::packed}, 1);
  const auto known = concurrency::profiled_times(w, p, "gpu");
  CHECK(std::isnan(known[0]));
  CHECK(known[1] == 3);
  CHECK(known[2] == 2.5);
  CHECK(concurrency::profiled_times(w, p, "cpu")[0] == 1);
  CHECK(concurrency::profiled_times(workload{}, p, "cpu").empty());
}

} // namespace concurrency_profiled_times_test
