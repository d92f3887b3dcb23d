// SPDX-License-Identifier: BSL-1.0
/// Runs of plans: a plan as a program for each device, executors, and offsets of tensors in memory.
#pragma once

#include "weft/allocate/allocation.hpp"
#include "weft/allocate/lay_out.hpp"
#include "weft/allocate/lifetime.hpp"
#include "weft/allocate/offsets.hpp"
#include "weft/allocate/on_devices.hpp"

#include "weft/execute/calibrate.hpp"
#include "weft/execute/concurrent_executor.hpp"
#include "weft/execute/copies.hpp"
#include "weft/execute/crew.hpp"
#include "weft/execute/data_kernel.hpp"
#include "weft/execute/interpret.hpp"
#include "weft/execute/items.hpp"
#include "weft/execute/memory.hpp"
#include "weft/execute/ongoing_run.hpp"
#include "weft/execute/phased_executor.hpp"
#include "weft/execute/program.hpp"
#include "weft/execute/run_report.hpp"
#include "weft/execute/setting.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/execute/team_executor.hpp"
#include "weft/execute/teams.hpp"
