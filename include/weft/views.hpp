// SPDX-License-Identifier: BSL-1.0
/// Views of graphs, plans and runs, to be composed with the adaptors of range-v3 or of the standard library. Needs
/// range-v3, and so is a component of its own: `weft::views`.
#pragma once

#include "weft/views/edges.hpp"
#include "weft/views/placement.hpp"
#include "weft/views/run.hpp"
