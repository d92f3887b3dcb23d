// SPDX-License-Identifier: BSL-1.0
/// Numbers of threads for ops, and which ops run at once: models of times, controllers, and simulated, bounded and
/// checked runs of teams on one many-core machine.
#pragma once

#include "weft/platform/machine.hpp"
#include "weft/platform/machines.hpp"

#include "weft/bound/moldable.hpp"
#include "weft/concurrency/baselines.hpp"
#include "weft/concurrency/concepts.hpp"
#include "weft/concurrency/controller.hpp"
#include "weft/concurrency/corun.hpp"
#include "weft/concurrency/hill_climbing.hpp"
#include "weft/concurrency/interference.hpp"
#include "weft/concurrency/moldable.hpp"
#include "weft/concurrency/op_classes.hpp"
#include "weft/concurrency/op_graph.hpp"
#include "weft/concurrency/profile.hpp"
#include "weft/concurrency/profiled_times.hpp"
#include "weft/concurrency/regression.hpp"
#include "weft/concurrency/roofline.hpp"
#include "weft/concurrency/sampled_curve.hpp"
#include "weft/concurrency/scaling_laws.hpp"
#include "weft/concurrency/strategy.hpp"
#include "weft/concurrency/team_plan.hpp"
#include "weft/concurrency/threads.hpp"
#include "weft/concurrency/time_table.hpp"
#include "weft/validate/teams.hpp"

#include "weft/simulate/manycore.hpp"
