// SPDX-License-Identifier: BSL-1.0
/// The component `weft::starpu`, all of it: plans as tasks of StarPU, and its performance models as costs.
#pragma once

#include "weft/interop/starpu/executor.hpp"
#include "weft/interop/starpu/performance.hpp"
#include "weft/interop/starpu/session.hpp"
