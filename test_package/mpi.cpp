// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/mpi.hpp>

int main(int argc, char** argv) { // not run by mpirun: one rank
  const weft::mpi::session mpi{argc, argv};
  return weft::mpi::communicator{}.size() == 1 ? 0 : 1;
}
