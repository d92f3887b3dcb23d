// SPDX-License-Identifier: BSL-1.0
/// Steps in a pipeline: stages of layers on different devices, which work on different micro-batches.
#pragma once

#include "parallel.hpp"

#include <functional>
#include <string>
#include <vector>

namespace place {

/// Simulates steps whose layers are cut into stages, as --parallel says, or with several numbers of stages, replicas,
/// devices of each and micro-batches, and adds them to the ways. A bundled network that is trained with a framework's
/// kernels is launched by that (`cost::launches::eager`), unless --launches says otherwise: in the measurements that
/// costs rest on, Megatron-LM and DeepSpeed drive each micro-batch of each stage from Python.
void pipeline_work(const options& o, const tool::target& target, const tool::input& in,
                   const std::vector<weft::device_id>& devices,
                   const std::function<void(const std::string&)>& on_stage, parallel_answer& all);

} // namespace place
