// SPDX-License-Identifier: BSL-1.0
/// The memory of steps that follow each other.
#pragma once

#include "search.hpp"

#include <string>

namespace place {

/// What the steps hold that are in flight at once when they follow each other at the period of a plan, which has been
/// run; empty if that is what one step holds and nothing is trained.
std::string about_steps_in_flight(const problem& p, const answer& a);

} // namespace place
