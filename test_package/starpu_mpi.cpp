// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/starpu_mpi.hpp>

int main(int argc, char** argv) { // not run by mpirun: one rank
  const weft::starpu::mpi_session starpu{argc, argv};
  return starpu.size() == 1 ? 0 : 1;
}
