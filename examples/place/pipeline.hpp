// SPDX-License-Identifier: BSL-1.0
/// Steps in a pipeline: stages of layers on different devices, which work on different micro-batches.
#pragma once

#include "parallel.hpp"

#include <functional>
#include <string>
#include <vector>

namespace place {

/// Simulates steps whose layers are cut into stages, as --parallel says, or with several numbers of stages, replicas,
/// devices of each and micro-batches, and adds them to the ways.
void pipeline_work(const options& o, const tool::target& target, const tool::input& in,
                   const std::vector<weft::device_id>& devices, const weft::cost::efficiency_table& table,
                   const std::function<void(const std::string&)>& on_stage, parallel_answer& all);

} // namespace place
