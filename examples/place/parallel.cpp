// SPDX-License-Identifier: BSL-1.0
#include "parallel.hpp"

#include "recomputation.hpp"
#include "tool/costs.hpp"
#include "tool/planned.hpp"

#include "weft/io/files.hpp"
#include "weft/io/json_sharding.hpp"
#include "weft/io/pipeline_csv.hpp"
#include "weft/io/runtime_placement.hpp"
#include "weft/planner/kinds/placed.hpp"
#include "weft/planner/kinds/run_way.hpp"
#include "weft/planner/share.hpp"
#include "weft/planner/shareable.hpp"
#include "weft/problem.hpp"
#include "weft/report/names.hpp"
#include "weft/report/sharding_summary.hpp"
#include "weft/report/ways.hpp"
#include "weft/simulate/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace place {
namespace {

using namespace weft;
using planner::compared_way;
using planner::reason;

/// The option that helps against a reason; empty if none does.
std::string_view hint_for(const options& o, reason::kind why) {
  using enum reason::kind;
  constexpr std::string_view instead =
    "; --parallel tensor splits ops along the batch, too, and adds up what has to be";
  switch (why) {
  case batch_unknown: return "; give it with --batch";
  case unknown_gradients:
  case sums_over_batch: return instead;
  case unknown_backward: return "; --train makes a step of its forward pass, of which it is";
  case axes_of_fused_ops: return "; leave --fuse out";
  case axes_unknown: return o.is_pipeline() ? ": leave tensor= out" : "";
  default: return "";
  }
}

std::string told(const options& o, const tool::target& target, const reason& why) {
  return report::sentence(why, target.devices) + std::string{hint_for(o, why.is)};
}

std::string told(const options& o, const tool::target& target, const std::vector<reason>& all) {
  std::string text;
  for (const auto& why : all) {
    text += (text.empty() ? "" : "; ") + told(o, target, why);
  }
  return text;
}

/// The next try, for those who wait for it.
std::string told(const planner::attempt& next) {
  const auto& w = next.how;
  if (next.is == planner::attempt::kind::least_batch) {
    return "trying smaller batches";
  }
  switch (w.kind) {
  case planner::way_kind::ops: return fmt::format("splitting each op among {} devices", w.ranks);
  case planner::way_kind::stages:
    return fmt::format("trying {} with {} micro-batches", report::name_of(compared_way{.how = w}), w.micro_batches);
  case planner::way_kind::placed: return "searching";
  case planner::way_kind::batch: break;
  }
  return w.is_by_speed() ? "splitting the batch by speed"
                         : fmt::format("splitting the batch among {} devices", w.replicas);
}

std::vector<std::string> device_names(const platform<>& p) {
  std::vector<std::string> names;
  for (const device_id d : ids(p.num_devices())) {
    names.push_back(report::device_name(p, d));
  }
  return names;
}

/// The types of ops that have no axis to be split along, and what they take of the time of all ops; empty if next to
/// nothing.
std::string about_unsplit_types(const parallel::split_model& m, const std::vector<op_id>& origin, const trace& run) {
  double all = 0, unsplit = 0;
  std::vector<std::pair<double, std::string>> seconds; // by type
  for (const op_id v : ids(origin.size())) {
    const double time = run.ops[v].finish - run.ops[v].start;
    all += time;
    if (origin[v] == none || time <= 0 || m.is_splittable(origin[v])) {
      continue;
    }
    const auto type = m.ops->type(origin[v]);
    auto at = std::find_if(seconds.begin(), seconds.end(), [&](const auto& s) { return s.second == type; });
    if (at == seconds.end()) {
      at = seconds.insert(at, {0, std::string{type}});
    }
    at->first += time;
    unsplit += time;
  }
  std::stable_sort(seconds.begin(), seconds.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (unsplit < 0.0005 * all) {
    return {};
  }
  const auto share = [all](double time) {
    return time < 0.0005 * all ? "below 0.1 %" : fmt::format("{:.1f} %", 100 * time / all);
  };
  constexpr std::size_t most = 3;
  std::string text = "whole on each device, as it is not known how to split them: ";
  for (std::size_t i = 0; i < std::min(most, seconds.size()); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", seconds[i].second, share(seconds[i].first));
    unsplit -= seconds[i].first;
  }
  if (seconds.size() > most) {
    text += fmt::format(", {} more {}", seconds.size() - most, share(unsplit));
  }
  return text + " of the time of all ops";
}

/// The layers of each stage, as exports have them.
io::layer_placement layers_of(const made_way& x, std::uint64_t batch) {
  const auto& [layers, stage_of_part, p, order, start] = x.stages;
  io::layer_placement where{.embedding = stage_of_part.front(), .head = stage_of_part.back()};
  for (std::uint32_t i = 0; i < layers.num_layers; ++i) {
    where.layers.push_back({layers.named ? layers.scopes[i] : std::string{}, stage_of_part[i + 1]});
  }
  for (const auto& s : layers.outside) {
    where.outside.push_back({s.scope, stage_of_part[s.part]});
  }
  for (std::uint32_t s = 0; s < x.how().stages; ++s) {
    where.devices.push_back({fmt::format("gpu{}", s)});
  }
  where.replicas = x.how().replicas;
  where.tensor_ranks = x.how().ranks;
  where.micro_batch = x.part->batch;
  where.batch = batch;
  return where;
}

const std::string each_op_once{report::each_op_once};

/// The fastest first, what does not fit last.
void sort_ways(std::vector<report::way>& ways) {
  const auto rank = [](const report::way& w) {
    return std::pair{!w.status.empty(),
                     std::isfinite(w.step_seconds) ? w.step_seconds : std::numeric_limits<double>::infinity()};
  };
  std::stable_sort(ways.begin(), ways.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

/// Adds to what the line of a way says, if there is something to add.
void add_remark(const std::string& remark, report::way& w) {
  w.remark += fmt::format("{}{}", w.remark.empty() || remark.empty() ? "" : ", ", remark);
}

/// The line of a plan with each op on one device.
report::way line_of(const problem& p, const answer& a, std::uint64_t batch) {
  compared_way figures{.how = {.kind = planner::way_kind::placed}};
  planner::take_figures(p, a.plan.placement, a.run, 0, figures);
  return report::way_of(figures, batch, p.platform());
}

} // namespace

std::string why_not_split(const options& o, const tool::target& target, const tool::input& in) {
  return told(o, target, planner::why_not_shared(tool::step_of(o.modelling, in), target.devices));
}

std::string why_not_in_parts(const options& o, const tool::target& target, const tool::input& in) {
  return told(o, target, planner::why_not_in_parts(tool::step_of(o.modelling, in)));
}

parallel_answer share_work(const options& o, const tool::target& target, const tool::input& in,
                           const std::function<void(const std::string&)>& on_stage,
                           std::vector<std::optional<recomputation>> recomputations) {
  const planner::options how{.ways = o.ways,
                             .contention = o.contention,
                             .least_gain = o.least_gain / 100,
                             .seed = o.seed,
                             .jobs = o.jobs,
                             .stop = o.budget.stop,
                             .on_attempt = [&](const planner::attempt& next) { on_stage(told(next)); },
                             .recomputations = std::move(recomputations)};
  parallel_answer split;
  split.all = planner::share(tool::steps_of(o.source, o.modelling), tool::step_of(o.modelling, in), target.devices,
                             tool::costs_of_steps(o.modelling, in, target, o.launches), how);
  for (const auto& x : split.all.ways) {
    auto line = report::way_of(x, in.batch, target.devices);
    const auto is_told = [&](const report::way& w) {
      return w.name == line.name && w.status == line.status && w.remark == line.remark;
    };
    if (x.is_made() || std::none_of(split.ways.begin(), split.ways.end(), is_told)) {
      split.ways.push_back(std::move(line)); // what does not fit in micro-batches either is told once
    }
  }
  split.why_not = told(o, target, split.all.why_not);
  return split;
}

tool::input model_of(const options& o, const tool::target& target, const tool::input& in, const made_way& x,
                     const std::vector<std::string>& own_notes) {
  auto with = o.modelling;
  with.recompute = x.how().recomputes ? x.how().recomputes : with.recompute;
  auto made = tool::load_with_batch(o.source, with, x.part->batch);
  made.name = in.name;
  made.spec = in.spec;
  const bool in_stages = x.how().kind == planner::way_kind::stages;
  const auto by = in_stages ? o.launches.value_or(tool::launches_in_stages(in))
                            : o.launches.value_or(cost::launches::single);
  const auto table = tool::efficiencies(with, by, !in_stages);
  auto costed = made; // those of a micro-batch, of which passes are made, or those of all devices
  costed.model.ops = in_stages ? x.part->ops : x.ops;
  auto& notes = made.model.notes;
  notes.insert(notes.end(), own_notes.begin(), own_notes.end());
  tool::make_costs(with, costed, target, tool::make_estimate(with, costed, target, table), notes);
  if (in_stages && by == cost::launches::eager) {
    notes.push_back(fmt::format("a framework in Python launches: its host takes {:.0f} µs for an op and {:.1f} ms for "
                                "a pass of a stage, while accelerators run; --launches single is for a runtime",
                                1e6 * cost::launch_seconds(by), 1e3 * cost::pass_launch_seconds(by)));
  }
  if (x.least_batch != 0) {
    notes.push_back(fmt::format("on these devices data parallelism is faster than one of them from a batch of {} on",
                                x.least_batch));
  }
  made.model.ops = x.ops;
  made.model.returned = x.returned;
  return made;
}

answer answer_of(const options& o, const tool::target& target, const tool::input& in, const made_way& x) {
  answer a{.found = true,
           .plan = x.plan,
           .run = x.run,
           .bound = x.bound,
           .strategy = report::strategy_of(x, in.batch, target.devices)};
  for (const auto& e : o.exports) {
    const auto& format = io::runtime_formats[e.format];
    auto written = format.write(layers_of(x, in.batch));
    for (const auto& note : written.notes) {
      a.notes.push_back(fmt::format("{}: {}", format.name, note));
    }
    a.exports.push_back(std::move(written.text));
  }
  return a;
}

report::sharding_summary about_sharding(const tool::target& target, const made_way& x) {
  report::sharding_summary s;
  if (x.sharding.mesh.devices.empty()) {
    return s;
  }
  s.mesh = report::mesh_sentence(x.sharding, device_names(target.devices));
  if (x.how().kind == planner::way_kind::ops) {
    const auto m = planner::axes_of(*x.part);
    s.layers = report::sharding_by_layer(weft::problem{x.part->ops, target.devices}, x.sharding, x.split.resharded);
    s.unsplit = about_unsplit_types(m, x.origin, x.run);
  }
  return s;
}

std::string write_sharding(const options& o, const tool::target& target, const tool::input& in, const made_way& x) {
  if (x.sharding.mesh.devices.empty()) {
    return x.features.devices == 1 ? "one device does the whole step"
                                   : fmt::format("the step is a pipeline ({}), and a sharding does not describe stages",
                                                 report::name_of(x.figures));
  }
  const auto& all = x.sharding.parameters;
  const auto open = std::find_if(all.begin(), all.end(), [](const auto& y) { return y.is_split() && !y.shape; });
  if (open != all.end()) {
    throw error(fmt::format("--sharding: '{}' is in parts, and the file does not say what it is of, so it is not "
                            "known along which dimension; ask for --parallel data", open->name));
  }
  io::write_file(o.sharding, [&](std::ostream& out) {
    io::write_sharding_json(out, x.sharding,
                            {.model = in.name, .platform = o.platform, .devices = device_names(target.devices)});
  });
  return {};
}

void write_schedule(const options& o, const made_way& x) {
  io::write_file(o.schedule,
                 [&](std::ostream& out) { io::write_pipeline_csv(out, x.stages.problem, x.stages.order); });
}

std::optional<answer> not_searched(const options& o, const problem& whole, const parallel_answer& split) {
  const auto least =
    planner::beaten_placements(split.all, whole, o.modelling.recompute.has_value(), o.least_gain / 100);
  return least ? std::optional{answer{.why = fmt::format("takes at least {:.4g} ms, so it was not searched",
                                                         *least * 1e3)}}
               : std::nullopt;
}

std::string tell_choice(const options& o, const tool::target& target, const std::optional<planner::placed_ops>& once,
                        parallel_answer& split) {
  const auto chosen = planner::choose(split.all, once, o.least_gain / 100);
  const auto& best = split.all.best = chosen.shared;
  sort_ways(split.ways);
  const auto row = std::find_if(split.ways.begin(), split.ways.end(), [&](const report::way& w) {
    return best ? w.name == report::name_of(best->figures) && w.step_seconds == best->run.makespan
                : w.name == each_op_once;
  });
  if (chosen.has_any && row != split.ways.end() && row->step_seconds > split.ways.front().step_seconds) {
    add_remark("taken", *row);
  }
  return chosen.faster
           ? fmt::format("not taken: {}; --least-gain 0 takes it", report::sentence(*chosen.faster, target.devices))
           : std::string{};
}

bool compare(const options& o, const tool::target& target, const tool::input& in, const problem& whole, answer& found,
             parallel_answer& split) {
  if (split.ways.empty()) {
    return false;
  }
  std::optional<planner::placed_ops> once;
  if (found.found) {
    split.ways.push_back(line_of(whole, found, in.batch));
    once = placed_ops_of(o, whole, found);
  } else {
    split.ways.push_back({.name = each_op_once, .status = found.why.substr(0, found.why.find('\n'))});
  }
  if (o.modelling.recompute_least) { // else all ways run the same again
    add_remark(about_recomputation(o.modelling), split.ways.back());
  }
  auto note = tell_choice(o, target, once, split);
  if (split.best()) {
    auto baselines = std::move(found.baselines);
    if (found.found) {
      baselines.insert(baselines.begin(), {.name = each_op_once, .step_seconds = found.run.makespan});
    }
    found = answer_of(o, target, in, *split.best());
    found.baselines = std::move(baselines);
  }
  if (!note.empty()) {
    found.notes.push_back(std::move(note));
  }
  return split.best() != nullptr;
}

} // namespace place
