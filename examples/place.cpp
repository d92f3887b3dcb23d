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
         : x.of == which::context                ? "context"
         : x.stages == 1 && x.ranks < 2          ? "accumulate"
                                                 : "pipeline";
}

void wrote(std::string_view what, const std::string& file) {
  fmt::print("{} written to {}\n", what, file);
}

/// One run of the program.
class session {
public:
  session(int argc, char** argv)
      : command_{tool::command_line("place", argc, argv)}, o_{place::parse(argc, argv)} {
    check_files(o_);
    o_.budget.stop = &ctrl_c_.token();
    target_ = target_of(o_);
    place::choose_network(o_, target_.devices);
  }
  session(const session&) = delete; // it refers to itself

  int run() {
    line_.show("reading " + o_.model);
    o_.source = tool::open(o_.model);
    if (o_.finds_batch() && !find_batch()) {
      return place::is_stopped(o_) ? end_without_plan() : 1;
    }
    load();
    share();
    if (o_.is_forced() && !split_.best()) {
      return refuse_way();
    }
    find();
    if (!found_.found) {
      return !found_.proven && place::is_stopped(o_) ? end_without_plan() : refuse();
    }
    line_.show("analysing the run");
    made_ = splits_ ? place::model_of(o_, target_, in_, *split_.best(), own_notes_) : tool::input{};
    const auto placed = analyse();
    line_.clear();
    weft::report::write_summary(std::cout, placed);
    std::cout.flush();
    write_model_and_plan();
    write_about_run(placed);
    if (!std::cout) {
      throw weft::error("cannot write the summary to standard output");
    }
    if (place::is_stopped(o_)) {
      return tool::interrupted;
    }
    return placed.violations.empty() ? 0 : 1; // a plan that was read may need more memory than there is
  }

private:
  /// Ends the program after Ctrl-C where there is no plan yet.
  int end_without_plan() {
    line_.clear();
    fmt::print(stderr, "place: ended before a plan was found for {} on {}\n", o_.model, o_.platform);
    return tool::interrupted;
  }

  /// Looks for the largest batch; whether there is one.
  bool find_batch() {
    batches_ = place::largest_batch(o_, target_, max_examples, on_stage_);
    o_.modelling.batch = batches_.largest;
    o_.assumed["batch"] = {std::to_string(batches_.largest)};
    if (batches_.largest == 0 && !place::is_stopped(o_)) {
      line_.clear();
      fmt::print(stderr, "place: no plan was found for {} on {} with a batch of 1{}\n", o_.model, o_.platform,
                 o_.max_batch == options::batch_memory::accelerators && place::has_accelerators(target_.devices)
                   ? " in the memory of accelerators; --max-batch=all counts that of hosts, too" : "");
    }
    return batches_.largest != 0;
  }

  /// Makes the model and its problem, with what it runs again and sends to the host.
  void load() {
    table_ = tool::efficiencies(o_.modelling, o_.launches.value_or(weft::cost::launches::single));
    if (o_.modelling.recompute_least && !o_.modelling.offload_least) { // else both are compared
      split_ = place::choose_recomputation(o_, target_, table_, on_stage_);
    }
    in_ = tool::load(o_.source, o_.modelling);
    tool::fit_slots(in_.model, {&target_, 1});
    tool::fit_links(o_.modelling, in_.model, target_);
    check_outputs(o_, in_);
    line_.show("estimating costs");
    tool::fit_ccr(o_.modelling, in_, target_, table_);
    if (o_.modelling.offload_least) {
      sent_ = place::offload(o_, target_, in_, table_, on_stage_);
    }
    notes_ = in_.model.notes;
    if (o_.memory_share < 1) {
      own_notes_.push_back(fmt::format("memory: plans may use {:.4g} % of what the devices have, and sizes and shares "
                                       "of it are of that part", o_.memory_share * 100));
    }
    notes_.insert(notes_.end(), own_notes_.begin(), own_notes_.end());
    if (!sent_.note.empty()) {
      notes_.push_back(sent_.note);
    }
    base_ = tool::make_estimate(o_.modelling, in_, target_, table_);
    auto costs = tool::make_costs(o_.modelling, in_, target_, base_, notes_);
    pinned_.emplace(o_, in_.model.ops, target_.devices, std::move(costs));
    for (auto& note : pinned_->notes()) {
      notes_.push_back(std::move(note));
    }
  }

  const tool::problem& problem() const { return pinned_->problem(); }

  void share() {
    if (o_.shares && split_.ways.empty()) {
      split_ = place::share_work(o_, target_, in_, on_stage_);
    }
  }

  /// Says why the step is not run in the way that was asked for.
  int refuse_way() {
    if (place::is_stopped(o_)) {
      return end_without_plan();
    }
    line_.clear();
    throw weft::error(fmt::format("--parallel {}: {}", kind_of(o_.ways),
                                  split_.ways.empty() ? split_.why_not : split_.ways.front().status));
  }

  /// Takes the way that was asked for, or the plan of a file, or the best of the ways and of plans with each op on one
  /// device.
  void find() {
    if (o_.is_forced()) {
      take_way();
    } else {
      found_ = !o_.from_plan.empty() ? place::replay(o_, in_, problem()) : search();
      place::prefer_offloading(o_, problem(), sent_, found_);
      found_.why = pinned_->named(std::move(found_.why));
      splits_ = place::compare(o_, target_, in_, problem(), found_, split_);
    }
    if (splits_ && o_.modelling.recompute_least) { // what a plan op by op would run again may be something else
      o_.modelling.recompute = split_.best()->how().recomputes;
      o_.modelling.recomputed_blocks = weft::none;
      place::record_recomputation(o_);
    }
  }

  void take_way() {
    auto untaken = place::tell_choice(o_, target_, std::nullopt, split_);
    const auto& best = *split_.best();
    line_.show(o_.from_plan.empty() ? "running plans for comparison" : "running the plan again");
    found_ = o_.from_plan.empty()
               ? place::answer_of(o_, target_, in_, best)
               : place::replay(o_, place::model_of(o_, target_, in_, best, own_notes_), *best.problem);
    if (!untaken.empty()) {
      found_.notes.push_back(std::move(untaken));
    }
    found_.baselines = place::baselines(o_, problem());
    found_.bound = best.bound;
    splits_ = true;
  }

  /// A plan with each op on one device, if one may be the one to take.
  place::answer search() {
    if (auto beaten = place::not_searched(o_, problem(), split_)) {
      line_.show("running plans for comparison");
      beaten->baselines = place::baselines(o_, problem());
      return std::move(*beaten);
    }
    line_.show("searching");
    if (o_.by_layers) {
      return place::by_layer(o_, problem());
    }
    const auto on_progress = [&](const weft::progress& x) {
      const bool joules = o_.objective == place::objective::energy;
      line_.show_progress(fmt::format("searching: {:.4g} {} after {:.1f} s", joules ? x.best : x.best * 1e3,
                                      joules ? "J" : "ms", x.seconds));
    };
    return place::search(o_, problem(), base_, {.on_progress = on_progress, .on_stage = on_stage_});
  }

  /// Says why there is no plan, and what would help.
  int refuse() {
    line_.clear();
    const auto what = found_.proven ? fmt::format("{} does not fit on {}", in_.name, o_.platform)
                                    : fmt::format("no plan was found for {} on {}", in_.name, o_.platform);
    std::string help;
    if (found_.lacks_memory) {
      help = place::remedies(o_, target_, on_stage_);
      help += smaller_batch(o_, target_, on_stage_);
    }
    fmt::print(stderr, "place: {}: {}\n{}", what, found_.why, help);
    line_.clear();
    return place::is_stopped(o_) ? tool::interrupted : 1;
  }

  const tool::input& model() const { return splits_ ? made_ : in_; }
  const tool::problem& run_problem() const { return splits_ ? *split_.best()->problem : problem(); }

  /// Notes on the plan, after those on the model and its costs.
  void add_notes() {
    if (o_.of_own_ops && place::why_not_split(o_, target_, in_).empty()) {
      notes_.emplace_back("several devices may also split the batch, which this plan of the model's own ops does not "
                          "do; --parallel auto compares");
    }
    if (!split_.why_not.empty() && split_.ways.empty() && o_.parallel_given) {
      notes_.push_back("the work is not shared: " + split_.why_not);
    }
    notes_.insert(notes_.end(), found_.notes.begin(), found_.notes.end());
    const auto add = [&](std::string note) {
      if (!note.empty()) {
        notes_.push_back(std::move(note));
      }
    };
    if (!splits_) {
      add(place::about_wide_numbers(o_, in_, problem(), found_.plan.placement));
    }
    if (o_.objective == place::objective::period) {
      add(place::about_steps_in_flight(run_problem(), found_));
    }
    if (place::is_stopped(o_) && !o_.by_layers) { // by layer, all cuts were tried
      add("ended by Ctrl-C with the best plan so far");
    }
    add(place::about_network(o_, target_.devices));
  }

  /// The plan and its run as reports tell them.
  weft::report::placed_model analyse() {
    if (splits_) {
      notes_ = made_.model.notes;
    }
    if (o_.parallel_given) {
      o_.assumed["parallel"] = {splits_ ? to_string(split_.best()->how()) : "none"};
    }
    if (!o_.plan.empty()) {
      record_ = place::record_of(o_, model(), run_problem(), found_, notes_);
    }
    add_notes();
    auto name = in_.name;
    if (o_.finds_batch()) {
      const double seconds = o_.objective == place::objective::period
                               ? weft::throughput::period(problem(), found_.plan.placement) : found_.run.makespan;
      found_.result = place::about_batch(o_, target_, batches_, seconds) + (found_.result.empty() ? "" : "; ") +
                      found_.result;
      name += fmt::format(" with a batch of {}", batches_.largest);
    }
    auto [spread, uncertainty] = spread_of(o_, run_problem(), found_.plan);
    return weft::report::make_placed_model(
      run_problem(), found_.plan.placement, found_.run,
      {.model = std::move(name),
       .platform = o_.platform,
       .strategy = found_.strategy,
       .command = command_,
       .assuming = tool::list_assumed(in_.model),
       .result = found_.result,
       .bound = found_.bound,
       .baselines = found_.baselines,
       .strategies = found_.tried,
       .ways = std::move(split_.ways),
       .sharding = splits_ ? place::about_sharding(target_, *split_.best()) : weft::report::sharding_summary{},
       .front = found_.front,
       .least_joules = found_.least_joules,
       .front_is_exact = found_.front_is_exact,
       .notes = std::move(notes_),
       .guesses = target_.devices.notes(),
       .contention = o_.contention,
       .spread = std::move(spread),
       .uncertainty = std::move(uncertainty)});
  }

  void write_model_and_plan() {
    const auto& devices = target_.devices;
    if (!o_.out.empty()) {
      const auto left_out = tool::write_placed(o_.out, in_, o_.modelling, found_.plan.placement, devices);
      wrote("model", o_.out);
      for (const auto& note : left_out) {
        fmt::print("note: {}\n", note);
      }
    }
    if (!o_.split.empty()) {
      const auto files = tool::write_split(o_.split, in_, o_.modelling, found_.plan.placement, devices, found_.run);
      wrote(fmt::format("{} stage{}", files.size(), files.size() == 1 ? "" : "s"), o_.split);
    }
    if (!o_.plan.empty()) {
      weft::io::write_file(o_.plan, [&](std::ostream& out) { weft::io::write_plan_json(out, record_); });
      wrote("plan", o_.plan);
    }
    for (std::size_t i = 0; i < o_.exports.size(); ++i) {
      weft::io::write_file(o_.exports[i].file, [&](std::ostream& out) { out << found_.exports[i]; });
      wrote("placement of layers", o_.exports[i].file);
    }
  }

  void write_about_run(const weft::report::placed_model& placed) {
    if (!o_.html.empty()) {
      weft::io::write_file(o_.html, [&](std::ostream& out) { weft::report::write_placement_html(out, placed); });
      wrote("report", o_.html);
    }
    if (!o_.sharding.empty()) {
      const auto why =
        splits_ ? place::write_sharding(o_, target_, made_, *split_.best()) : std::string{"each op is on one device"};
      why.empty() ? wrote("sharding", o_.sharding)
                  : fmt::print("no sharding written: {}; --parallel data or --parallel tensor asks for a step that "
                               "devices share\n", why);
    }
    if (!o_.schedule.empty()) {
      place::write_schedule(o_, *split_.best());
      wrote("schedule", o_.schedule);
    }
    if (!o_.trace.empty()) {
      tool::write_trace(o_.trace, found_.run, model().model.ops, target_.devices);
      wrote("trace", o_.trace);
    }
  }

  std::string command_;
  options o_;
  tool::interrupt ctrl_c_;
  status_line line_;
  std::function<void(const std::string&)> on_stage_ = [this](const std::string& text) { line_.show(text); };
  tool::target target_ = {};
  place::tried_batches batches_ = {};
  weft::cost::efficiency_table table_ = {};
  tool::input in_ = {};
  place::offloading sent_ = {};
  tool::estimate base_ = {};
  std::optional<place::pinned_problem> pinned_ = {};
  place::parallel_answer split_ = {};
  place::answer found_ = {};
  bool splits_ = false;   ///< devices share the step
  tool::input made_ = {}; ///< … this model of all of them
  weft::io::plan_record record_ = {};
  std::vector<std::string> notes_ = {};
  std::vector<std::string> own_notes_ = {}; ///< on neither the model nor its costs
};

} // namespace

int main(int argc, char** argv) {
  return tool::main_of("place", argc, argv, [](int count, char** words) { return session{count, words}.run(); });
}
