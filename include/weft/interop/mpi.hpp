// SPDX-License-Identifier: BSL-1.0
/// The component `weft::mpi`, all of it: ranks of MPI as devices, and measurements of how they are connected.
#pragma once

#include "weft/interop/mpi/calibrate.hpp"
#include "weft/interop/mpi/clock_offsets.hpp"
#include "weft/interop/mpi/communicator.hpp"
#include "weft/interop/mpi/executor.hpp"
#include "weft/interop/mpi/op_times.hpp"
#include "weft/interop/mpi/run_report.hpp"
#include "weft/interop/mpi/session.hpp"
#include "weft/interop/mpi/shared_cores.hpp"
