// SPDX-License-Identifier: BSL-1.0
/// Variants of ops: how each op is sharded, or which of several ways it is done, chosen at once for all. Apart from
/// all.hpp, whose users would compile a search that few of them need.
#pragma once

#include "weft/shard/archetype.hpp"
#include "weft/shard/best.hpp"
#include "weft/shard/cost_pool.hpp"
#include "weft/shard/result.hpp"
#include "weft/shard/variant_model.hpp"
#include "weft/shard/variant_problem.hpp"
