// SPDX-License-Identifier: BSL-1.0
/// Tensors that wait on the host for the backward pass, where an accelerator cannot hold all.
#pragma once

#include "options.hpp"
#include "search.hpp"
#include "tool/costs.hpp"
#include "tool/model_file.hpp"
#include "tool/platforms.hpp"

#include <functional>
#include <limits>
#include <string>

namespace place {

/// The plan that sends, and a note on it.
struct offloading {
  std::string note = {};
  weft::plan plan = {}; ///< on the accelerator, and its host where it has to be; empty if nothing is sent
  double seconds = std::numeric_limits<double>::infinity(); ///< of its step
};

/// Sends to the host what the accelerator cannot hold while nothing reads it, if that is better, as --least-gain
/// says, than what a short search finds without it: the ops of `in` are then those of the step that sends. If `o` asks
/// for recomputation by need as well, attentions and quarters of the blocks are tried, each with what has to be sent in
/// addition, and `o` and `in` are those of the best. Throws `weft::error` if the model trains nothing, or if the
/// platform has not one accelerator and a host.
offloading offload(options& o, const tool::target& target, tool::input& in,
                   const weft::cost::efficiency_table& table, const std::function<void(const std::string&)>& on_stage);

/// Takes the plan that sends if it is better, as --least-gain says, than what the search found for the same ops, or if
/// that found none.
void prefer_offloading(const options& o, const problem& p, const offloading& x, answer& a);

} // namespace place
