// SPDX-License-Identifier: BSL-1.0
/// Runs the same tests on every rank; one that fails ends all.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "interop/starpu/environment.hpp"
#include "interop/starpu_mpi/ranks.hpp"

namespace {
weft::starpu::mpi_session* session = nullptr;
}

weft::starpu::mpi_session& interop_starpu_mpi_test::ranks() { return *session; }

int main(int argc, char** argv) {
  const interop_starpu_test::starpu_home home;
  ::setenv("STARPU_RESERVE_NCPU", "0", 1);
  // [session]
  weft::starpu::mpi_session s{argc, argv, {.cpus = 2}};
  // [session]
  session = &s;
  const int failed = doctest::Context{argc, argv}.run();
  if (failed != 0) {
    MPI_Abort(MPI_COMM_WORLD, failed); // others wait for this rank
  }
  return failed;
}
