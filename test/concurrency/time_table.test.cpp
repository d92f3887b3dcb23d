// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/time_table.hpp"

#include "weft/concurrency/roofline.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace concurrency_time_table_test {

using namespace weft;
using namespace weft::concurrency;

workload three_ops() {
  workload_builder b;
  b.add_op({.work = 1e6, .bytes = 1000});
  b.add_op({.work = 1e6, .bytes = 1000});
  b.add_op({.work = 2e6, .bytes = 500});
  return std::move(b).build();
}

TEST_CASE("time_table: every class and team is asked once and kept") {
  const op_classes classes{three_ops()};
  int asked = 0;
  const auto seconds = [](class_id c, team t) {
    return 100.0 * c + 10.0 * t.threads + (t.affinity == affinity::spread);
  };
  time_table table{classes, 3, [&](class_id c, team t) {
                     ++asked;
                     return seconds(c, t);
                   }};
  CHECK(asked == 2 * 2 * 3);
  CHECK(table.max_threads() == 3);
  for (const op_id v : {0u, 1u, 2u}) {
    for (const std::uint32_t p : {1u, 2u, 3u}) {
      for (const auto a : {affinity::packed, affinity::spread}) {
        CHECK(table.seconds(v, {p, a}) == seconds(v / 2, {p, a}));
        CHECK(table.seconds_of_class(v / 2, {p, a}) == seconds(v / 2, {p, a}));
      }
    }
  }
  CHECK(table.memory_traffic(1) == 0);
  table.set_memory_traffic(1, 7);
  CHECK(table.memory_traffic(0) == 0);
  CHECK(table.memory_traffic(1) == 7);
}

TEST_CASE("time_table: bad times and no threads") {
  const op_classes classes{three_ops()};
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(time_table(classes, 2, [bad](class_id c, team t) { return c == 1 && t.threads == 2 ? bad : 1.0; }),
                    value_error);
  }
  CHECK(time_table(classes, 0, [](class_id, team) { return 0.0; }).max_threads() == 1);
}

TEST_CASE("tabulate: what the cost model says of each class's first op") {
  const workload w = three_ops();
  const op_classes classes{w};
  const machine m{.cores_per_socket = 4, .cores_per_tile = 2, .fork_seconds = 1e-6};
  const thread_roofline cost;
  const time_table table = tabulate(w, classes, m, cost);
  CHECK(table.max_threads() == 4);
  for (const op_id v : {0u, 1u, 2u}) {
    for (std::uint32_t p = 1; p <= 4; ++p) {
      CHECK(table.seconds(v, {p}) == cost.seconds(w, v, m, {p}));
    }
    CHECK(table.memory_traffic(classes.class_of(v)) == (v < 2 ? 1000 : 500));
  }
}

} // namespace concurrency_time_table_test
