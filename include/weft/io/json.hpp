// SPDX-License-Identifier: BSL-1.0
/// The native JSON formats: workloads, platforms, plans and traces.
#pragma once

#include "weft/io/json_plan.hpp"
#include "weft/io/json_platform.hpp"
#include "weft/io/json_workload.hpp"
