// SPDX-License-Identifier: BSL-1.0
/// Whole numbers of 128 bits, for sums and products of numbers of 64.
#pragma once

#include "weft/core/config.hpp"

namespace weft::shard::detail {

/// An extension of g++ and clang.
__extension__ using wide = __int128;

} // namespace weft::shard::detail
