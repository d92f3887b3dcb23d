// SPDX-License-Identifier: BSL-1.0
/// The largest batch, or the least recomputation, with which a model fits.
#pragma once

#include "options.hpp"
#include "parallel.hpp"
#include "tool/model_file.hpp"
#include "tool/platforms.hpp"

#include "weft/solve/best_result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace place {

/// What a search of a second or a thousand moves finds, without contention.
weft::solve::best_result short_search(const options& o, const tool::target& target,
                                      const tool::model_options& modelling, const tool::input& in);

/// The largest batch below `limit`, which is at least 1, for which a plan is found that keeps to the memory over time,
/// each within a second or a thousand moves; 0 if not even 1 fits. Throws `weft::error` for models that take no batch.
std::uint64_t largest_batch(const options& o, const tool::target& target, std::uint64_t limit,
                            const std::function<void(const std::string&)>& on_stage);

/// Sets what --recompute auto stands for. Ways to share the work are tried with nothing, with attentions and with all
/// blocks run again, until all of them fit; returns those, and the fastest is what is set. Else, or if none fits, it is
/// what plans op by op need, as above: nothing, attentions, or the first few blocks, all of them if that is not enough.
/// Attentions if there are no blocks; nothing without either.
parallel_answer choose_recomputation(options& o, const tool::target& target, const weft::cost::efficiency_table& table,
                                     const std::function<void(const std::string&)>& on_stage);

} // namespace place
