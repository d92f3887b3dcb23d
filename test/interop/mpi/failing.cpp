// SPDX-License-Identifier: BSL-1.0
// A program of its own, of test cases that fail on one rank: ctest runs each alone and demands that it fails.
#include "weft/interop/mpi/communicator.hpp"

#include <doctest/doctest.h>

namespace interop_mpi_failing_test {

using weft::mpi::communicator;

TEST_CASE("a rank that checks") {
  CHECK(communicator{}.rank() == 0);
}

TEST_CASE("a rank that requires") {
  const communicator all;
  REQUIRE(all.rank() == 0);
  all.barrier(); // for which the other one does not wait
}

TEST_CASE("a rank that throws") {
  const communicator all;
  if (all.rank() != 0) {
    throw weft::error("on purpose");
  }
  all.barrier();
}

} // namespace interop_mpi_failing_test
