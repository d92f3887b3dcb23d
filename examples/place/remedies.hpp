// SPDX-License-Identifier: BSL-1.0
/// Options that would help a model that does not fit.
#pragma once

#include "options.hpp"
#include "tool/platforms.hpp"

#include <functional>
#include <string>

namespace place {

/// A line for each option that is not given and might make the model fit, with the time of a step or what still lacks:
/// narrower numbers, activation recomputation, both, activation offloading, and other ways to run the step, such as
/// gradient accumulation. Each is judged by a short search, all together within the budget; what is left is named.
std::string remedies(const options& o, const tool::target& target,
                     const std::function<void(const std::string&)>& on_stage);

} // namespace place
