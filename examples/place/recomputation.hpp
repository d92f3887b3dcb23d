// SPDX-License-Identifier: BSL-1.0
/// The choice of what a training step runs again for its backward pass, for --recompute auto.
#pragma once

#include "options.hpp"
#include "parallel.hpp"
#include "tool/platforms.hpp"

#include <functional>
#include <string>

namespace place {

/// Sets what --recompute auto stands for: the best that was found, as --least-gain says. Ways to share the work are
/// tried with nothing, with attentions and with all blocks run again, until all that are tried fit; returns those.
/// Unless the best of them is proven to be faster, plans op by op are tried with nothing, with attentions, and with the
/// first few blocks, as few as keep all of it on accelerators; plans that run ops on the host for want of memory count
/// as well. If one of these is best, `o` has what it runs again, else what the best of the ways does.
parallel_answer choose_recomputation(options& o, const tool::target& target, const weft::cost::efficiency_table& table,
                                     const std::function<void(const std::string&)>& on_stage);

/// What runs again, for the table of ways; empty if nothing does.
std::string about_recomputation(const tool::model_options& m);

/// Writes what `o` has run again down among the options that a plan is made with.
void record_recomputation(options& o);

} // namespace place
