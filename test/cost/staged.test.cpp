// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/staged.hpp"

#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace cost_staged_test {

using namespace weft;

workload pair() {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 0});
  b.add_op({.work = 1});
  b.add_edge(0, 1);
  return std::move(b).build();
}

platform<uniform_links> two_of_each() {
  return {{{.kind = device_kind::fpga},
           {.kind = device_kind::gpu},
           {.kind = device_kind::cpu},
           {.kind = device_kind::cpu}},
          {}};
}

TEST_CASE("staged: accelerators import and export, hosts do neither") {
  const auto w = pair();
  const auto devices = two_of_each();
  const cost::staged c{{{10, 20}, {1, 2}, {0.5}}};
  CHECK(c.compute_time(w, 1, devices, 0) == 2);
  CHECK(c.compute_time(w, 1, devices, 2) == 20);
  CHECK(c.import_time(w, 0, devices, 1) == 0.5);
  CHECK(c.export_time(w, 0, devices, 1) == 0.5);
  CHECK(c.import_time(w, 0, devices, 3) == 0);
  CHECK(c.transfer_time(w, 0, devices, 0, 1) == 1);
  CHECK(c.transfer_time(w, 0, devices, 0, 2) == 0.5);
  CHECK(c.transfer_time(w, 0, devices, 2, 1) == 0.5);
  CHECK(c.transfer_time(w, 0, devices, 2, 3) == 0);
  CHECK(c.device_class(w, devices, 1) == 0);
  CHECK(c.device_class(w, devices, 3) == 2);
  static_assert(cost_parts::has_staging_times<cost::staged, workload, platform<uniform_links>>);
  static_assert(!cost_parts::has_staging_times<cost::linear, workload, platform<uniform_links>>);
}

TEST_CASE("staged: pipelines run on it") {
  const auto w = pair();
  const auto devices = two_of_each();
  const problem p{w, devices, cost::staged{{{10, 20}, {1, 2}, {0.5}}}};
  const auto solve = pipeline(partition::heft{}, schedule::static_order{});
  CHECK(solve(p).makespan == 3);
}

TEST_CASE("staged: wrong numbers are refused") {
  const auto message = [](cost::staged::columns c) -> std::string {
    try {
      const cost::staged made{std::move(c)};
    } catch (const value_error& e) {
      return e.what();
    }
    return "accepted";
  };
  CHECK(message({{1, 2}, {1}, {}}) == "staged costs: 2 ops have a host time and 1 an accelerator time");
  CHECK(message({{1}, {-1}, {}}).find("accelerator time of op 0") == 0);
  CHECK(message({{NAN}, {1}, {}}).find("host time of op 0") == 0);
  CHECK(message({{1}, {1}, {0, INFINITY}}).find("transfer time of tensor 1") == 0);
  CHECK(message({{}, {}, {}}) == "accepted");
}

} // namespace cost_staged_test
