// SPDX-License-Identifier: BSL-1.0
/// The choice of what a training step runs again for its backward pass, for --recompute auto.
#pragma once

#include "options.hpp"
#include "parallel.hpp"
#include "tool/platforms.hpp"

#include <functional>
#include <string>

namespace place {

/// Sets what --recompute auto stands for. Ways to share the work are tried with nothing, with attentions and with all
/// blocks run again, until all that are kept fit; returns those, and the fastest is what is set. Else, or if none fits,
/// it is what plans op by op need: nothing, attentions, or the first few blocks, all of them if that is not enough.
/// Attentions if there are no blocks; nothing without either.
parallel_answer choose_recomputation(options& o, const tool::target& target, const weft::cost::efficiency_table& table,
                                     const std::function<void(const std::string&)>& on_stage);

/// Writes what `o` has run again down among the options that a plan is made with.
void record_recomputation(options& o);

} // namespace place
