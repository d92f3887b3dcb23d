// SPDX-License-Identifier: BSL-1.0
/// The sharding of a step that several devices share, for the report and for other programs.
#pragma once

#include "options.hpp"
#include "tool/model_file.hpp"
#include "tool/platforms.hpp"

#include "weft/parallel/sharding.hpp"
#include "weft/plan/trace.hpp"
#include "weft/report/placed_model.hpp"

#include <cstdint>
#include <vector>

namespace place {

/// True if it is known of the ops of a model along which axes they may be split.
bool has_axes(const tool::input& in);

/// The axes of a model that has them.
weft::parallel::split_model axes_of(const tool::input& in);


/// A sharding, and what a report says of it.
struct step_sharding {
  weft::parallel::sharding value = {};
  weft::report::sharding_summary summary = {};
};

/// Replicas on these devices, each with all parameters, of which it updates a part if `shard_updates`, but for ops that
/// `owner` gives to one of them. The step of one is that of `one`.
step_sharding shard_batch(const tool::target& target, const tool::input& one,
                          const std::vector<weft::device_id>& devices, bool shard_updates,
                          const std::vector<std::uint32_t>& owner);

/// Ops that are split along `axis` among the devices of each of so many replicas, with the run of the step that came of
/// it. If parts are `of_batch`, devices are replicas, too. `origin` says which op of `m` each op of the run is a part
/// of.
step_sharding shard_ops(const tool::target& target, const weft::parallel::split_model& m,
                        const std::vector<std::uint32_t>& axis,
                        const std::vector<weft::parallel::resharded_tensor>& resharded,
                        const std::vector<weft::device_id>& devices, std::size_t replicas, bool of_batch,
                        const std::vector<weft::op_id>& origin, const weft::trace& run);

/// Writes the file that --sharding asks for.
void write_sharding(const options& o, const tool::target& target, const tool::input& in, const step_sharding& s);

} // namespace place
