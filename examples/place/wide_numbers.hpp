// SPDX-License-Identifier: BSL-1.0
/// Ops that are on CPUs because numbers of 32 bits leave accelerators no room for them.
#pragma once

#include "options.hpp"
#include "search.hpp"

#include "weft/workload/model.hpp"

#include <string>

namespace place {

/// True if the model has numbers of 32 bits, and is to have them.
bool has_wide_numbers(const options& o, const weft::model& m);

/// What numbers of 16 bits would change for a plan; empty if they cannot be asked for, or would bring no more ops to
/// accelerators.
std::string about_wide_numbers(const options& o, const tool::input& in, const problem& p, const weft::placement& where);

} // namespace place
