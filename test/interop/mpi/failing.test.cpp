// SPDX-License-Identifier: BSL-1.0
// Test cases that fail on one rank, of which ctest demands that they fail.
#include "weft/interop/mpi/communicator.hpp"

#include <doctest/doctest.h>

namespace interop_mpi_failing_test {

using weft::mpi::communicator;

TEST_CASE("a rank that checks" * doctest::skip()) {
  CHECK(communicator{}.rank() == 0);
}

TEST_CASE("a rank that requires" * doctest::skip()) {
  const communicator all;
  REQUIRE(all.rank() == 0);
  all.barrier(); // for which the other one does not wait
}

TEST_CASE("a rank that throws" * doctest::skip()) {
  const communicator all;
  if (all.rank() != 0) {
    throw weft::error("on purpose");
  }
  all.barrier();
}

TEST_CASE("a rank that does none of that") {
  CHECK(communicator{}.size() > 0);
}

} // namespace interop_mpi_failing_test
