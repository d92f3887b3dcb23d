// SPDX-License-Identifier: BSL-1.0
/// Checks plans and schedules that other programs made.
#pragma once

#include "options.hpp"
#include "runner.hpp"
#include "setting.hpp"

#include <vector>

namespace comparison {

/// Checks the plan of `--validate` on the only setting, and prints a line for each broken rule, then makespan and gap.
/// Returns the exit status: 0, or 1 if a rule is broken. Throws `error` where the file cannot be read, and if there are
/// several settings.
int validate(const options& o, const registry& all, const std::vector<setting>& settings);

} // namespace comparison
