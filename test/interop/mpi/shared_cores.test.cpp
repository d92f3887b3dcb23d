// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/shared_cores.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace interop_mpi_shared_cores_test {

namespace mpi = weft::mpi;
using hosts = std::vector<std::string>;
using cores = std::vector<std::vector<int>>;
using crowded = std::vector<mpi::crowded_host>;

TEST_CASE("allowed_cores: at least one, ascending, each once") {
  const auto mine = mpi::allowed_cores();
  REQUIRE_FALSE(mine.empty());
  CHECK(mine.front() >= 0);
  CHECK(std::adjacent_find(mine.begin(), mine.end(), std::greater_equal<>{}) == mine.end());
}

TEST_CASE("crowded_hosts: hosts with fewer cores than ranks, in the order of the ranks") {
  CHECK(mpi::crowded_hosts(hosts{}, cores{}).empty());
  CHECK(mpi::crowded_hosts(hosts{"a", "a"}, cores{{0, 1}, {0, 1}}).empty());
  CHECK(mpi::crowded_hosts(hosts{"a", "b"}, cores{{0}, {0}}).empty()); // cores of different hosts
  CHECK(mpi::crowded_hosts(hosts{"a", "a", "a"}, cores{{0, 1}, {0, 1}, {0, 1}}) == crowded{{"a", 3, 2}});
  CHECK(mpi::crowded_hosts(hosts{"b", "a", "a", "b"}, cores{{5}, {7}, {7}, {5}}) == crowded{{"b", 2, 1}, {"a", 2, 1}});
}

TEST_CASE("crowded_hosts: ranks that are bound differ in what they may use") {
  CHECK(mpi::crowded_hosts(hosts{"a", "a"}, cores{{3}, {3}}) == crowded{{"a", 2, 1}}); // of a host with more cores
  CHECK(mpi::crowded_hosts(hosts{"a", "a"}, cores{{0, 1}, {0}}).empty());             // the first has to give way
  CHECK(mpi::crowded_hosts(hosts{"a", "a", "a"}, cores{{0, 1}, {1, 2}, {1}}).empty());
  CHECK(mpi::crowded_hosts(hosts{"a", "a", "a"}, cores{{0}, {0}, {0, 1, 2, 3}}) == crowded{{"a", 3, 2}});
}

TEST_CASE("crowded_hosts: all ranks are told the same") {
  const mpi::communicator all;
  const auto found = mpi::crowded_hosts(all);
  const auto counts = all.all_gather(static_cast<int>(found.size()));
  CHECK(std::count(counts.begin(), counts.end(), counts.front()) == all.size());
  CHECK(mpi::crowded_hosts(mpi::communicator{MPI_COMM_SELF}).empty());
}

} // namespace interop_mpi_shared_cores_test
