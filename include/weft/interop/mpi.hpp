// SPDX-License-Identifier: BSL-1.0
/// Everything of the component `weft::mpi`: ranks of MPI as devices.
#pragma once

#include "weft/interop/mpi/communicator.hpp"
#include "weft/interop/mpi/session.hpp"
