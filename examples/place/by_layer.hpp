// SPDX-License-Identifier: BSL-1.0
/// Placements that keep each layer on one device, and the files of runtimes that say so.
#pragma once

#include "search.hpp"

#include "weft/partition/layers.hpp"

namespace place {

/// The best split of the model between its layers, and what `--export` asks for (`answer::exports`). Throws
/// `weft::error` if a runtime cannot have it.
answer by_layer(const options& o, const problem& p);

} // namespace place
