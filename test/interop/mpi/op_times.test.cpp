// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/op_times.hpp"

#include "weft/cost/table.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace interop_mpi_op_times_test {

namespace mpi = weft::mpi;

TEST_CASE("op_times: the median of each rank's runs, and what ranks without any would take") {
  const mpi::communicator all;
  const auto ranks = static_cast<std::size_t>(all.size());
  const double mine = all.rank() + 1; // rank r is r + 1 times as slow as rank 0
  std::vector<std::vector<double>> runs(3);
  runs[0] = {mine * 2, mine * 100, mine * 2}; // an outlier
  if (all.rank() == 0) {
    runs[1] = {5};
  } else {
    runs[2] = {3 * mine, 3 * mine};
  }
  const auto table = mpi::op_times(all, runs);
  const weft::cost::table checked{table, 3, ranks};
  for (std::size_t r = 0; r < ranks; ++r) {
    CAPTURE(r);
    CHECK(table[0 * ranks + r] == doctest::Approx(2 * (static_cast<double>(r) + 1)));
  }
  CHECK(table[1 * ranks + 0] == 5);
  CHECK(table[1 * ranks + ranks - 1] > 5); // the last one is slower than the others
  CHECK(table[2 * ranks + 1] == 6);
  CHECK(table[2 * ranks + 0] < 3 * (static_cast<double>(ranks) + 2) / 2); // the first one faster
  CHECK(all.all_gather(table.back()) == std::vector<double>(ranks, table.back()));
}

TEST_CASE("op_times: costs of a graph that every rank ran a part of") {
  const mpi::communicator all;
  weft::workload_builder b;
  const auto first = b.add_op({.work = 1, .bytes = 1000, .name = "first"});
  const auto second = b.add_op({.work = 1, .bytes = 1000, .name = "second"});
  b.add_edge(first, second);
  const auto w = std::move(b).build();
  const weft::platform<> q{std::vector<weft::device>(static_cast<std::size_t>(all.size())),
                           weft::link_matrix{static_cast<std::size_t>(all.size()), {1e-6, 1e9}}};
  std::vector<std::vector<double>> runs(w.num_ops());
  runs[all.rank() == 0 ? first : second] = {2e-3, 3e-3, 9e-3};
  // [op_times]
  const auto seconds = weft::mpi::op_times(all, runs); // runs[v]: what op v took here, each time that it ran
  const weft::problem p{w, q, weft::cost::table{seconds, w.num_ops(), q.num_devices()}};
  // [op_times]
  CHECK(p.compute_time(first, 0) == 3e-3);
  CHECK(p.compute_time(second, 1) == 3e-3);
}

TEST_CASE("op_times: ops that nobody measured, and graphs that differ, are told on every rank") {
  const mpi::communicator all;
  std::vector<std::vector<double>> runs(2);
  runs[0] = {1};
  CHECK_THROWS_WITH_AS(mpi::op_times(all, runs), doctest::Contains("op times: op 1: was measured on no rank"),
                       weft::value_error);
  runs[1] = {0};
  CHECK_THROWS_WITH_AS(mpi::op_times(all, runs), doctest::Contains("must be positive"), weft::value_error);
  runs.assign(all.rank() == 0 ? 1 : 2, {1.0});
  CHECK_THROWS_WITH_AS(mpi::op_times(all, runs), doctest::Contains("all must run the same graph"), weft::value_error);
}

} // namespace interop_mpi_op_times_test
