// SPDX-License-Identifier: BSL-1.0
/// StarPU on the ranks that run a test, made once by main.
#pragma once

#include "weft/interop/starpu_mpi.hpp"

namespace interop_starpu_mpi_test {

weft::starpu::mpi_session& ranks();

} // namespace interop_starpu_mpi_test
