// SPDX-License-Identifier: BSL-1.0
// From a model file to a placed model: where each op runs, how long a step takes, whether it fits, and why it is not
// faster.
#include "place/batch.hpp"
#include "place/by_layer.hpp"
#include "place/in_flight.hpp"
#include "place/offloading.hpp"
#include "place/options.hpp"
#include "place/parallel.hpp"
#include "place/pinned_problem.hpp"
#include "place/recomputation.hpp"
#include "place/remedies.hpp"
#include "place/replay.hpp"
#include "place/search.hpp"
#include "place/wide_numbers.hpp"
#include "tool/costs.hpp"
#include "tool/files.hpp"
#include "tool/interrupt.hpp"
#include "tool/main.hpp"
#include "tool/model_file.hpp"
#include "tool/platforms.hpp"

#include "weft/core/readable.hpp"
#include "weft/cost/link_share.hpp"
#include "weft/evaluate/sampled_runs.hpp"
#include "weft/io/files.hpp"
#include "weft/io/json_plan.hpp"
#include "weft/report/names.hpp"
#include "weft/report/placed_model.hpp"
#include "weft/report/placement_html.hpp"
#include "weft/report/summary.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/throughput/loads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

std::string_view weft_echarts_js();

namespace {

using place::options;

/// What becomes of the plan when times are not as estimated, and in which words.
std::pair<weft::makespan_distribution, std::string> spread_of(const options& o, const tool::problem& p,
                                                              const weft::plan& x) {
  if (o.uncertainty == 0) {
    return {};
  }
  const auto times = weft::cost::uncertainty{weft::cost::lognormal{o.uncertainty}}.set_transfers(
    weft::cost::lognormal{o.uncertainty});
  const weft::cost::sampling how{.samples = 200, .seed = o.seed};
  return {o.contention == weft::contention_model::none
            ? weft::sample_makespans(p, x, weft::schedule::static_order{}, times, how)
            : weft::sample_makespans(p, x, place::network_of(o), times, how),
          fmt::format("{} samples, all times lognormal with sigma {:.4g}, order kept", how.samples, o.uncertainty)};
}

/// A line on the terminal that says what is being done; silent elsewhere.
class status_line {
public:
  status_line() : shown_{isatty(STDERR_FILENO) != 0} {}
  status_line(const status_line&) = delete;
  ~status_line() { clear(); }

  void show(const std::string& text) {
    if (shown_) {
      fmt::print(stderr, "\r\x1b[K{} …", text);
      std::fflush(stderr);
    }
  }
  /// At most ten times a second.
  void show_progress(const std::string& text) {
    if (clock_.seconds() >= next_) {
      next_ = clock_.seconds() + 0.1;
      show(text);
    }
  }
  void clear() const {
    if (shown_) {
      fmt::print(stderr, "\r\x1b[K");
    }
  }

private:
  bool shown_;
  weft::stopwatch clock_;
  double next_ = 0;
};

/// Refuses files that cannot be written before anything takes time.
void check_files(const options& o) {
  for (const auto& e : o.exports) {
    weft::io::require_writable(e.file);
  }
  for (const auto* file : {&o.out, &o.plan, &o.html, &o.trace, &o.sharding, &o.schedule}) {
    if (!file->empty()) {
      weft::io::require_writable(*file);
    }
  }
}

/// Refuses to write a model in another format than its own.
void check_outputs(const options& o, const tool::input& in) {
  if (!o.out.empty()) {
    tool::check_output(o.out, in);
  }
  if (!o.split.empty()) {
    tool::check_split(o.split, in);
  }
}

/// Larger batches are no batches, but mistakes.
constexpr std::uint64_t max_examples = 1'000'000;

/// The bytes that --overhead leaves of each memory, of the accelerators that work in it. Throws if nothing is left.
std::vector<double> memory_left(const options& o, const weft::platform<>& p) {
  std::vector<double> left;
  for (const weft::device_id d : weft::ids(p.num_devices())) {
    left.push_back(static_cast<double>(p.memory_capacity(d)));
  }
  for (const weft::device_id d : weft::ids(p.num_devices())) {
    auto& bytes = left[p.memory_of(d)];
    bytes = p.kind(d) == weft::device_kind::cpu ? bytes
            : o.overhead < 1                    ? bytes * (1 - o.overhead)
                                                : bytes - o.overhead;
    if (bytes <= 0 && o.overhead >= 1) {
      throw weft::error(fmt::format(
        "--overhead: {} of every accelerator leaves nothing of the {} of {}; give what the framework takes of each, as "
        "in 1.5GiB, or a share, as in 0.05",
        weft::readable_bytes(static_cast<weft::byte_count>(o.overhead)), weft::readable_bytes(p.memory_capacity(d)),
        weft::report::memory_name(p, d)));
    }
  }
  return left;
}

/// The platform with the numbers that the model is to have, and the memory that the plan may use.
tool::target target_of(const options& o) {
  auto target = tool::load_platform(o.platform);
  const auto left = memory_left(o, target.devices);
  if (o.modelling.numbers) {
    target.devices = target.devices.with(*o.modelling.numbers);
  }
  const auto kinds = target.devices.devices();
  const bool captures = o.launches == weft::cost::launches::graph &&
                        std::any_of(kinds.begin(), kinds.end(),
                                    [](const weft::device& d) { return d.kind != weft::device_kind::cpu; });
  weft::device_id at = 0;
  target.devices = target.devices.changed([&](weft::device& d) {
    if (captures) {
      d.send_overhead = std::min(d.send_overhead, weft::cost::graph_launch);
    }
    const bool limited = d.memory_capacity != std::numeric_limits<weft::byte_count>::max();
    const double bytes = left[at++] * o.memory_share;
    if (limited && d.memory_of == weft::none && bytes < static_cast<double>(d.memory_capacity)) {
      d.memory_capacity = static_cast<weft::byte_count>(bytes);
    }
  });
  if (!o.modelling.peak_rates) { // for as long as the model is not known (`tool::fit_links`)
    target.devices = weft::cost::with_typical_links(target.devices);
  }
  return target;
}

/// What to say of a model that does not fit: a batch that would, if it takes one.
std::string smaller_batch(const options& o, const tool::target& target,
                          const std::function<void(const std::string&)>& on_stage) {
  try {
    const auto batch = place::largest_batch(o, target, o.modelling.batch != 0 ? o.modelling.batch : max_examples,
                                            on_stage, o.budget.seconds)
                         .largest;
    return batch != 0              ? fmt::format("  with a smaller batch: it fits with --batch {}\n", batch)
           : place::is_stopped(o) ? ""
                                  : "  with a smaller batch: no plan was found for a batch of 1 either\n";
  } catch (const weft::error&) { // it takes none, or its name has one
    return {};
  }
}

/// The kind of ways that were asked for, as --parallel has it.
std::string kind_of(const weft::planner::wanted_ways& x) {
  using which = weft::planner::wanted_ways::which;
  return x.of == which::data                     ? "data"
         : x.of == which::tensor                 ? "tensor"
         : x.stages == 1 && x.ranks < 2          ? "accumulate"
                                                 : "pipeline";
}

/// What is said after Ctrl-C where there is no plan yet.
int end_without_plan(const options& o, const status_line& line) {
  line.clear();
  fmt::print(stderr, "place: ended before a plan was found for {} on {}\n", o.model, o.platform);
  return tool::interrupted;
}

int run(int argc, char** argv) {
  options o = place::parse(argc, argv);
  check_files(o);
  const tool::interrupt ctrl_c;
  o.budget.stop = &ctrl_c.token();
  status_line line;
  auto target = target_of(o);
  const auto& devices = target.devices;
  place::choose_network(o, devices);
  const auto on_stage = [&](const std::string& text) { line.show(text); };
  line.show("reading " + o.model);
  o.source = tool::open(o.model);
  place::tried_batches batches;
  if (o.finds_batch()) {
    batches = place::largest_batch(o, target, max_examples, on_stage);
    o.modelling.batch = batches.largest;
    if (o.modelling.batch == 0) {
      if (place::is_stopped(o)) {
        return end_without_plan(o, line);
      }
      line.clear();
      fmt::print(stderr, "place: no plan was found for {} on {} with a batch of 1{}\n", o.model, o.platform,
                 o.max_batch == options::batch_memory::accelerators && place::has_accelerators(devices)
                   ? " in the memory of accelerators; --max-batch=all counts that of hosts, too" : "");
      return 1;
    }
    o.assumed["batch"] = {std::to_string(batches.largest)};
  }
  const auto table = tool::efficiencies(o.modelling, o.launches.value_or(weft::cost::launches::single));
  place::parallel_answer split;
  if (o.modelling.recompute_least && !o.modelling.offload_least) { // else both are compared
    split = place::choose_recomputation(o, target, table, on_stage);
  }
  auto in = tool::load(o.source, o.modelling);
  tool::fit_slots(in.model, {&target, 1});
  tool::fit_links(o.modelling, in.model, target);
  check_outputs(o, in);

  line.show("estimating costs");
  tool::fit_ccr(o.modelling, in, target, table);
  const auto sent = o.modelling.offload_least ? place::offload(o, target, in, table, on_stage) : place::offloading{};
  auto notes = in.model.notes;
  const auto model_notes = notes.size();
  if (o.memory_share < 1) {
    notes.push_back(fmt::format("memory: plans may use {:.4g} % of what the devices have, and sizes and shares of it "
                                "are of that part", o.memory_share * 100));
  }
  const std::vector<std::string> own_notes(notes.begin() + static_cast<std::ptrdiff_t>(model_notes), notes.end());
  if (!sent.note.empty()) {
    notes.push_back(sent.note);
  }
  const auto base = tool::make_estimate(o.modelling, in, target, table);
  const place::pinned_problem pinned{o, in.model.ops, devices,
                                     tool::make_costs(o.modelling, in, target, base, notes)};
  const auto& problem = pinned.problem();
  for (auto& note : pinned.notes()) {
    notes.push_back(std::move(note));
  }

  if (o.shares && split.ways.empty()) {
    split = place::share_work(o, target, in, on_stage);
  }
  const bool forced = o.is_forced();
  if (forced && !split.best()) {
    if (place::is_stopped(o)) {
      return end_without_plan(o, line);
    }
    line.clear();
    throw weft::error(fmt::format("--parallel {}: {}", kind_of(o.ways),
                                  split.ways.empty() ? split.why_not : split.ways.front().status));
  }
  auto beaten = o.from_plan.empty() && !forced ? place::not_searched(o, problem, split) : std::nullopt;
  if (beaten) {
    line.show("running plans for comparison");
    beaten->baselines = place::baselines(o, problem);
  }
  auto untaken = forced ? place::tell_choice(o, target, std::nullopt, split) : std::string{};
  line.show(o.from_plan.empty() ? "searching" : "running the plan again");
  const place::listeners listeners{
    .on_progress =
      [&](const weft::progress& x) {
        const bool joules = o.objective == place::objective::energy;
        line.show_progress(fmt::format("searching: {:.4g} {} after {:.1f} s", joules ? x.best : x.best * 1e3,
                                       joules ? "J" : "ms", x.seconds));
      },
    .on_stage = on_stage};
  auto found = !o.from_plan.empty() ? forced ? place::replay(o, place::model_of(o, target, in, split),
                                                                      *split.best()->problem)
                                             : place::replay(o, in, problem)
               : forced             ? place::answer_of(o, target, in, *split.best())
               : beaten             ? std::move(*beaten)
               : o.by_layers        ? place::by_layer(o, problem)
                                    : place::search(o, problem, base, listeners);
  place::prefer_offloading(o, problem, sent, found);
  found.why = pinned.named(std::move(found.why));
  const bool splits = forced || place::compare(o, target, in, problem, found, split);
  if (splits && o.modelling.recompute_least) { // what a plan op by op would run again may be something else
    o.modelling.recompute = split.best()->how().recomputes;
    o.modelling.recomputed_blocks = weft::none;
    place::record_recomputation(o);
  }
  if (forced) {
    if (!untaken.empty()) {
      found.notes.push_back(std::move(untaken));
    }
    found.baselines = place::baselines(o, problem);
    found.bound = split.best()->bound;
  }
  if (!found.found && !found.proven && place::is_stopped(o)) {
    return end_without_plan(o, line);
  }
  if (!found.found) {
    line.clear();
    const auto what = found.proven ? fmt::format("{} does not fit on {}", in.name, o.platform)
                                   : fmt::format("no plan was found for {} on {}", in.name, o.platform);
    std::string help;
    if (found.lacks_memory) {
      help = place::remedies(o, target, on_stage);
      help += smaller_batch(o, target, on_stage);
    }
    fmt::print(stderr, "place: {}: {}\n{}", what, found.why, help);
    line.clear();
    return place::is_stopped(o) ? tool::interrupted : 1;
  }

  line.show("analysing the run");
  const auto& run_problem = splits ? *split.best()->problem : problem;
  const auto made = splits ? place::model_of(o, target, in, split) : tool::input{};
  const auto& model = splits ? made : in;
  if (splits) {
    notes = model.model.notes;
    notes.insert(notes.end(), own_notes.begin(), own_notes.end());
  }
  if (o.parallel_given) {
    o.assumed["parallel"] = {splits ? to_string(split.best()->how()) : "none"};
  }
  const auto record = o.plan.empty() ? weft::io::plan_record{} : place::record_of(o, model, run_problem, found, notes);
  if (o.of_own_ops && place::why_not_split(o, target, in).empty()) {
    notes.emplace_back("several devices may also split the batch, which this plan of the model's own ops does not do; "
                       "--parallel auto compares");
  }
  if (!split.why_not.empty() && split.ways.empty() && o.parallel_given) {
    notes.push_back("the work is not shared: " + split.why_not);
  }
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
  if (auto note = splits ? std::string{} : place::about_wide_numbers(o, in, problem, found.plan.placement);
      !note.empty()) {
    notes.push_back(std::move(note));
  }
  if (o.objective == place::objective::period) {
    if (auto note = place::about_steps_in_flight(run_problem, found); !note.empty()) {
      notes.push_back(std::move(note));
    }
  }
  if (place::is_stopped(o) && !o.by_layers) { // by layer, all cuts were tried
    notes.emplace_back("ended by Ctrl-C with the best plan so far");
  }
  if (auto note = place::about_network(o, devices); !note.empty()) {
    notes.push_back(std::move(note));
  }
  auto [spread, uncertainty] = spread_of(o, run_problem, found.plan);
  if (o.finds_batch()) {
    const double seconds = o.objective == place::objective::period
                             ? weft::throughput::period(problem, found.plan.placement) : found.run.makespan;
    found.result = place::about_batch(o, target, batches, seconds) + (found.result.empty() ? "" : "; ") +
                   found.result;
  }
  const auto placed = weft::report::make_placed_model(run_problem, found.plan.placement, found.run,
                                                      {.model = o.finds_batch()
                                                                  ? fmt::format("{} with a batch of {}", in.name,
                                                                                batches.largest)
                                                                  : in.name,
                                                       .platform = o.platform,
                                                       .strategy = found.strategy,
                                                       .command = tool::command_line("place", argc, argv),
                                                       .assuming = tool::list_assumed(in.model),
                                                       .result = found.result,
                                                       .bound = found.bound,
                                                       .baselines = found.baselines,
                                                       .strategies = found.tried,
                                                       .ways = std::move(split.ways),
                                                       .sharding = splits ? place::about_sharding(target, *split.best())
                                                                          : weft::report::sharding_summary{},
                                                       .front = found.front,
                                                       .least_joules = found.least_joules,
                                                       .front_is_exact = found.front_is_exact,
                                                       .notes = std::move(notes),
                                                       .guesses = devices.notes(),
                                                       .contention = o.contention,
                                                       .spread = std::move(spread),
                                                       .uncertainty = std::move(uncertainty)});
  line.clear();
  weft::report::write_summary(std::cout, placed);
  std::cout.flush();

  const auto wrote = [](const char* what, const std::string& file) { fmt::print("{} written to {}\n", what, file); };
  if (!o.out.empty()) {
    const auto left_out = tool::write_placed(o.out, in, o.modelling, found.plan.placement, devices);
    wrote("model", o.out);
    for (const auto& note : left_out) {
      fmt::print("note: {}\n", note);
    }
  }
  if (!o.split.empty()) {
    const auto files = tool::write_split(o.split, in, o.modelling, found.plan.placement, devices, found.run);
    wrote(fmt::format("{} stage{}", files.size(), files.size() == 1 ? "" : "s").c_str(), o.split);
  }
  if (!o.plan.empty()) {
    weft::io::write_file(o.plan, [&](std::ostream& out) { weft::io::write_plan_json(out, record); });
    wrote("plan", o.plan);
  }
  for (std::size_t i = 0; i < o.exports.size(); ++i) {
    weft::io::write_file(o.exports[i].file, [&](std::ostream& out) { out << found.exports[i]; });
    wrote("placement of layers", o.exports[i].file);
  }
  if (!o.html.empty()) {
    weft::io::write_file(o.html,
                         [&](std::ostream& out) { weft::report::write_placement_html(out, placed); });
    wrote("report", o.html);
  }
  if (!o.sharding.empty()) {
    const auto why = splits ? place::write_sharding(o, target, model, *split.best()) : "each op is on one device";
    why.empty() ? wrote("sharding", o.sharding)
                : fmt::print("no sharding written: {}; --parallel data or --parallel tensor asks for a step that "
                             "devices share\n", why);
  }
  if (!o.schedule.empty()) {
    place::write_schedule(o, *split.best());
    wrote("schedule", o.schedule);
  }
  if (!o.trace.empty()) {
    tool::write_trace(o.trace, found.run, model.model.ops, devices);
    wrote("trace", o.trace);
  }
  if (!std::cout) {
    throw weft::error("cannot write the summary to standard output");
  }
  if (place::is_stopped(o)) {
    return tool::interrupted;
  }
  return placed.violations.empty() ? 0 : 1; // a plan that was read may need more memory than there is
}

} // namespace

int main(int argc, char** argv) {
  return tool::main_of("place", argc, argv, run);
}
