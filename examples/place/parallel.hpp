// SPDX-License-Identifier: BSL-1.0
/// Steps that several devices share, as the planner makes them, beside plans with each op on one device.
#pragma once

#include "options.hpp"
#include "search.hpp"
#include "tool/model_file.hpp"
#include "tool/platforms.hpp"

#include "weft/planner/choice.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/report/placed_model.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace place {

using weft::planner::made_way;

/// The ways to run a step that were compared.
struct parallel_answer {
  weft::planner::comparison all = {};
  std::vector<weft::report::way> ways = {}; ///< lines of a table
  std::string why_not = {};                 ///< why there are none, or no others

  const made_way* best() const { return all.best.get(); }
};

/// The reason for which devices cannot share the batch, or for which it cannot be done in parts one after the other
/// either, in a sentence; empty if they can.
std::string why_not_split(const options& o, const tool::target& target, const tool::input& in);
std::string why_not_in_parts(const options& o, const tool::target& target, const tool::input& in);

/// Compares the ways that are asked for, each with what `recomputations` run again, or as the model does if empty.
parallel_answer share_work(const options& o, const tool::target& target, const tool::input& in,
                           const std::function<void(const std::string&)>& on_stage,
                           std::vector<std::optional<weft::recomputation>> recomputations = {});

/// The model as all devices run it: its ops are those of all. Its notes are those of the model, `own_notes`, and what
/// their costs rest on.
tool::input model_of(const options& o, const tool::target& target, const tool::input& in, const made_way& x,
                     const std::vector<std::string>& own_notes);

/// The plan of the way to take, with what runtimes read of its stages.
answer answer_of(const options& o, const tool::target& target, const tool::input& in, const made_way& x);

/// The sharding as the report tells it: the mesh, and what of the layers is in parts.
weft::report::sharding_summary about_sharding(const tool::target& target, const made_way& x);

/// Writes the files of --sharding and --schedule; a line that says why there is none, if so.
std::string write_sharding(const options& o, const tool::target& target, const tool::input& in, const made_way& x);
void write_schedule(const options& o, const made_way& x);

/// That no plan was searched for that runs each op on one device, as each takes longer than the best step of several
/// devices, if so.
std::optional<answer> not_searched(const options& o, const problem& whole, const parallel_answer& split);

/// Adds the plan with each op on one device to the ways, and sorts them, the fastest first. If one on several devices
/// is the way to take, as --least-gain says, or there is no other, takes it for `found`, with what it is faster than;
/// whether it did.
bool compare(const options& o, const tool::target& target, const tool::input& in, const problem& whole, answer& found,
             parallel_answer& split);

/// Chooses again among the ways that are kept and `once`, the plan with each op on one device, if there is one, which
/// leaves no best way if it is the one to take. Sorts the ways, marks the one that was taken if it is not the fastest,
/// and returns a line that says what is; empty if nothing is.
std::string tell_choice(const options& o, const tool::target& target,
                        const std::optional<weft::planner::placed_ops>& once, parallel_answer& split);

} // namespace place
