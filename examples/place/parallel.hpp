// SPDX-License-Identifier: BSL-1.0
/// Steps that several devices do together, each a part of the batch or of each op.
#pragma once

#include "options.hpp"
#include "search.hpp"
#include "sharding.hpp"
#include "tool/costs.hpp"
#include "tool/model_file.hpp"
#include "tool/platforms.hpp"

#include "weft/cost/efficiency.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/report/placed_model.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace place {

/// A step made for several devices. It owns what its problem refers to.
struct parallel_step {
  tool::input in; ///< the model with a replica's part of the batch; its ops are those of all replicas
  std::string spec = {};                    ///< for --parallel, to make it again
  std::string about = {};                   ///< for the table of ways
  std::string schedule = {};                ///< of a pipeline, for --schedule
  std::vector<std::string> cost_notes = {};
  std::unique_ptr<problem> made = {};
  answer found = {};
  step_sharding how = {};
  double sent_within = 0;                   ///< bytes that its ops send between devices while they run
  weft::parallel::configuration config = {};
  tool::model_options modelling = {};       ///< with which it was made
  weft::lower_bound bound = {};             ///< on the time of a step, however its batch is split
  std::string name = {};                    ///< in the table of ways

  weft::parallel::timed_way timed() const { return {config, found.run.makespan}; }
};

/// The ways to run a step that were compared, and those on several devices that may be the ones to take.
struct parallel_answer {
  std::vector<weft::report::way> ways = {};
  std::vector<std::shared_ptr<parallel_step>> kept = {}; ///< that fit, of which none makes another one needless
  std::shared_ptr<parallel_step> best = {}; ///< of these the one to take; null without any
  std::string why_not = {};                 ///< … why there are none
  bool all_fit = true;                      ///< of those that were tried, also of those that `ways` leaves out

  parallel_step* fastest() const; ///< of those that are kept; null if there are none
  double least_seconds() const;   ///< … its step time; infinite if there are none
};

/// The reason for which the batch cannot be done in parts, one after the other; empty if it can.
std::string why_not_in_parts(const options& o, const tool::input& in);

/// The reason for which devices cannot share the batch; empty if they can.
std::string why_not_split(const options& o, const tool::target& target, const tool::input& in);

/// Simulates steps in which the fastest devices that are alike share the work: each does a part of the batch, or of
/// each op, as --parallel says, or all of these ways; on all of the devices, on as many as it says, or on fewer, too.
parallel_answer share_work(const options& o, const tool::target& target, const tool::input& in,
                           const weft::cost::efficiency_table& table,
                           const std::function<void(const std::string&)>& on_stage);

/// That no plan was searched for that runs each op on one device, as each takes longer than the best step of several
/// devices, if so.
std::optional<answer> not_searched(const options& o, const problem& whole, const parallel_answer& split);

/// Adds the plan with each op on one device to the ways, and sorts them, the fastest first. If one on several devices
/// is the way to take, as --least-gain says, or there is no other, takes it for `found`, with what it is faster than;
/// whether it did.
bool compare(const options& o, const tool::input& in, const problem& whole, answer& found, parallel_answer& split);

/// A plan with each op on one device among the ways.
struct plan_among_ways {
  weft::parallel::timed_way way = {}; ///< as it counts
  double seconds = 0;                 ///< of its run
  std::size_t hand_overs = 0;         ///< of tensors between host and accelerators
};

/// Chooses again among the ways that are kept and `once`, the plan with each op on one device, if there is one, which
/// leaves no `best` if it is the one to take. Sorts the ways, marks the one that was taken if it is not the fastest,
/// and returns a line that says what is; empty if nothing is.
std::string tell_choice(const options& o, const std::optional<plan_among_ways>& once, parallel_answer& split);

} // namespace place
