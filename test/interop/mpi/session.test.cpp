// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/session.hpp"

#include <doctest/doctest.h>

namespace interop_mpi_session_test {

namespace mpi = weft::mpi;

TEST_CASE("session: where MPI is initialised already, it neither initialises nor finalises") {
  { const mpi::session again; }
  int over = -1;
  MPI_Finalized(&over);
  CHECK(over == 0);
  CHECK_FALSE(mpi::session::is_over());
}

TEST_CASE("session: an exception inside of one within another is the program's affair") {
  CHECK_THROWS_AS(
    [] {
      const mpi::session again;
      throw weft::error("as usual");
    }(),
    weft::error);
}

} // namespace interop_mpi_session_test
