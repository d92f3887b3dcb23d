// SPDX-License-Identifier: BSL-1.0
// Runs a PyTorch model, such as a training step, by PyTorch's own kernels, with the number of threads that suits each
// op and with ops side by side where that pays: finds that out by measuring, and compares it with the usual settings.
#include "tool/command_line.hpp"
#include "tool/interrupt.hpp"
#include "tool/main.hpp"
#include "tool/own_machine.hpp"

#include "weft/interop/hwloc.hpp"
#include "weft/interop/torch.hpp"
#include "weft/io/files.hpp"
#include "weft/io/json_profile.hpp"
#include "weft/report/html.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

std::string_view weft_echarts_js(); // embedded by the build

namespace {

namespace execute = weft::execute;
using weft::torch::tuned_program;

struct options {
  std::string program;
  unsigned threads = 0;
  std::string profile;
  double budget = 0;
  std::vector<std::string> inputs;
  unsigned rounds = 15;
  bool all = false;
  bool emit = false;
  std::string json;
  std::string html;
};

options parse(int argc, char** argv) {
  options o;
  CLI::App app{"Runs a program that scripts/torch_step.py wrote, by PyTorch's kernels: measures its ops, decides how\n"
               "many threads each gets and which run side by side, and compares that with the usual settings. Ratios\n"
               "are to the recommended one, one op at a time on all cores; below 1 is faster."};
  app.footer("Trace a training step first:\n"
             "  scripts/torch_step.py model.py:step -o step.pt2\n"
             "where step() returns {'module': …, 'inputs': (…), 'loss': …, 'optimizer': …}, then\n"
             "  run_model step.pt2 --profile here.json --html report.html");
  app.add_option("program", o.program, "The program, such as step.pt2")->required()->type_name("FILE");
  app.add_option("--threads", o.threads, "Cores to use; 0 for all of this machine")
    ->check(CLI::Range(0u, 1024u))->type_name("N")->capture_default_str();
  app.add_option("--profile", o.profile, "Times of ops: read if the file is there, and written with what was measured")
    ->type_name("FILE");
  app.add_option("--budget", o.budget, "Seconds for tuning; 0 for as long as 50 steps take")
    ->check(CLI::Range(0.0, 1e6))->type_name("S")->capture_default_str();
  app.add_option("--input", o.inputs, "A tensor, as torch.save writes it, in place of the example of an input")
    ->type_name("NAME=FILE");
  app.add_option("--rounds", o.rounds, "Rounds in which the settings are compared after tuning")
    ->check(CLI::Range(1u, 100000u))->type_name("N")->capture_default_str();
  app.add_flag("--all", o.all, "Compare all settings: also S1 to S4 of Liu et al. and every plan");
  app.add_flag("--emit", o.emit, "Say how to set the best uniform setting in PyTorch, ONNX Runtime and TensorFlow");
  app.add_option("--json", o.json, "Also write what was found as JSON")->type_name("FILE");
  app.add_option("--html", o.html, "Also write a report with timelines, predicted and measured")->type_name("FILE");
  tool::parse(app, "run_model", argc, argv);
  return o;
}

void say(const execute::tuning_progress& p) {
  constexpr std::array what{"warming up", "finding out how ops scale", "measuring ops side by side",
                            "trying the best settings"};
  tool::progress(fmt::format("tuning: {}; {} steps run, which took as long as {:.0f} recommended ones",
                             what[static_cast<std::size_t>(p.phase)], p.steps, p.spent));
}

at::Tensor read_tensor(const std::string& file) {
  const auto bytes = weft::io::read_file(file);
  c10::IValue value;
  try {
    value = torch::jit::pickle_load({bytes.begin(), bytes.end()});
  } catch (const std::exception&) {
    throw weft::error(file + ": is not a tensor that torch.save wrote");
  }
  if (!value.isTensor()) {
    throw weft::error(file + ": has to have one tensor; write it by torch.save(tensor, file)");
  }
  return value.toTensor();
}

/// Puts the given inputs in place of the examples.
void give_inputs(weft::torch::program& p, const std::vector<std::string>& inputs) {
  weft::torch::session checked{p};
  for (const auto& given : inputs) {
    const auto equals = given.find('=');
    const auto name = given.substr(0, equals);
    const auto to = std::ranges::find(p.inputs, name, &weft::torch::given_tensor::name);
    if (equals == given.npos || to == p.inputs.end()) {
      std::string names;
      for (const auto& input : p.inputs) {
        names += (names.empty() ? "" : ", ") + input.name;
      }
      throw weft::error(fmt::format("--input {}: give NAME=FILE with one of the program's inputs: {}", given, names));
    }
    try {
      auto value = read_tensor(given.substr(equals + 1));
      checked.set_input(static_cast<std::size_t>(to - p.inputs.begin()), value);
      to->value = std::move(value);
    } catch (const weft::error& e) {
      throw weft::error(fmt::format("--input {}: {}", name, e.what()));
    }
  }
  for (const auto& input : p.inputs) {
    if (!input.value.defined()) {
      throw weft::error(fmt::format("input {} has no example in the program; give it by --input {}=FILE", input.name,
                                    input.name));
    }
  }
}

std::string name_of(const execute::setting& s) {
  using enum execute::setting_kind;
  const auto each = s.threads == 1 ? std::string{"1 thread each"} : fmt::format("{} threads each", s.threads);
  switch (s.kind) {
  case one_at_a_time: return fmt::format("one op at a time, {}", s.threads == 1 ? "1 thread" : each);
  case uniform: return fmt::format("{} at a time, {}", s.at_once, each);
  case symmetric: return fmt::format("{} at a time, {}, critical path first", s.at_once, each);
  case planned:
    return s.threads > 0 ? fmt::format("{} workers, {}, planned", s.at_once, each)
                         : std::string{"planned, threads op by op"};
  default: return fmt::format("{} of Liu et al.", to_string(s.kind));
  }
}

/// The median of the rounds' ratios of one setting to another, in which both were measured.
double ratio(const execute::setting& s, const execute::setting& base) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(s.seconds.size(), base.seconds.size()); ++i) {
    ratios.push_back(s.seconds[i] / base.seconds[i]);
  }
  return weft::concurrency::median(std::move(ratios));
}

/// The prediction, as fast as the machine was when the recommended setting was measured.
double predicted(const execute::setting& s, const execute::setting& usual) {
  return s.predicted.makespan * usual.measured() / usual.predicted.makespan;
}

/// How far apart the middle half of a setting's times is, relative to their median.
double spread(const execute::setting& s) {
  auto seconds = s.seconds;
  std::ranges::sort(seconds);
  return (seconds[seconds.size() * 3 / 4] - seconds[seconds.size() / 4]) / seconds[seconds.size() / 2];
}

/// What a comparison found besides the times. Differences are of results, parameters and buffers after a step: the
/// largest absolute one in a tensor, divided by that tensor's largest absolute number.
struct findings {
  std::size_t best_uniform = 0;
  double max_difference = 0;       ///< to one op at a time with the same number of threads for each
  double to_recommended = 0;       ///< to one op at a time with all cores
  double of_threads = 0;           ///< of the recommended setting to one thread: PyTorch's own
  std::vector<double> losses = {}; ///< first results of the first steps, if they are one number
  double call_seconds = 0;         ///< per op: what a call takes besides the op
  double call_share = 0;           ///< of a step of the recommended setting
  std::int64_t peak_bytes = 0;     ///< of tensors that a step makes
  weft::trace measured = {};       ///< of the chosen setting, by item
};

using tensors = std::vector<at::Tensor>;

/// Results, parameters and buffers after a step from the start.
tensors after(tuned_program& p, const std::function<void()>& step) {
  p.values().restart();
  at::manual_seed(0);
  step();
  auto all = p.values().results();
  for (std::size_t i = 0; i < p.program().state.size(); ++i) {
    all.push_back(p.values().state(i).clone());
  }
  return all;
}

double largest_difference(const tensors& some, const tensors& others) {
  double most = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto a = some[i].to(at::kDouble), b = others[i].to(at::kDouble);
    const auto differs = a.ne(b).logical_and(a.isnan().logical_and(b.isnan()).logical_not());
    if (differs.any().item<bool>()) {
      const double apart = (a - b).abs().masked_select(differs).max().item<double>();
      const auto finite = b.abs().masked_select(b.isfinite());
      const double largest = finite.numel() > 0 ? std::max(finite.max().item<double>(), 1e-6) : 1;
      most = std::max(most, std::isfinite(apart) ? apart / largest : 1); // where one is no number
    }
  }
  return most;
}

/// Sums up what PyTorch allocates and frees on threads that have it.
struct memory_count : c10::MemoryReportingInfoBase {
  std::atomic<std::int64_t> now{0}, peak{0};

#if TORCH_VERSION_MAJOR >= 2
  using total = std::size_t;
#else
  using total = std::int64_t;
#endif
  void reportMemoryUsage(void*, std::int64_t bytes, total, total, c10::Device) override {
    const auto sum = now.fetch_add(bytes) + bytes;
    for (auto most = peak.load(); sum > most && !peak.compare_exchange_weak(most, sum);) {
    }
  }
  bool memoryProfilingEnabled() const override { return true; }
};

/// The largest sum of bytes that PyTorch allocates for what a step makes.
std::int64_t peak_bytes(const weft::torch::program& p) {
  const auto count = std::make_shared<memory_count>();
  const c10::DebugInfoGuard guard{c10::DebugInfoKind::PROFILER_STATE, count};
  weft::torch::session values{p};
  values.begin();
  const auto before = count->now.load();
  count->peak = before;
  for (const weft::op_id v : weft::graph::topological_order(p.graph)) {
    values.run(v, {1});
  }
  return count->peak - before;
}

/// What calls of ops take besides the ops, in a step with one at a time.
void time_calls(tuned_program& p, findings& f) {
  const auto threads = p.found().settings()[tuned_program::tuning::recommended].threads;
  const auto order = weft::graph::topological_order(p.program().graph);
  std::vector<double> shares, seconds;
  for (int i = 0; i < 5; ++i) {
    double inside = 0;
    const weft::stopwatch watch;
    p.values().begin();
    for (const weft::op_id v : order) {
      inside += p.values().timed_run(v, {threads});
    }
    const double whole = watch.seconds();
    shares.push_back((whole - inside) / whole);
    seconds.push_back((whole - inside) / static_cast<double>(order.size()));
  }
  f.call_share = weft::concurrency::median(shares);
  f.call_seconds = weft::concurrency::median(seconds);
}

/// Holds the chosen setting's results against those of one op at a time.
void compare_results(tuned_program& p, findings& f) {
  auto& found = p.found();
  const auto in_order = [&](const auto& threads_of) {
    return [&p, &threads_of] {
      p.values().begin();
      for (const weft::op_id v : weft::graph::topological_order(p.program().graph)) {
        p.values().run(v, {threads_of(v)});
      }
    };
  };
  weft::trace recorded;
  const auto with_chosen = after(p, [&] {
    const auto report = found({.record = true});
    report.rethrow();
    recorded = report.trace;
  });
  const auto same_threads = [&](weft::op_id v) { return recorded.ops[found.items().item_of(v)].threads; };
  const auto one_thread = [](weft::op_id) { return 1u; };
  const auto all_cores = [&](weft::op_id) { return found.settings()[found.recommended].threads; };
  const auto usual = after(p, in_order(all_cores));
  f.max_difference = largest_difference(with_chosen, after(p, in_order(same_threads)));
  f.to_recommended = largest_difference(with_chosen, usual);
  f.of_threads = largest_difference(after(p, in_order(one_thread)), usual);
  p.values().restart();
  at::manual_seed(0);
  for (int i = 0; i < 3; ++i) {
    const auto results = p.run();
    if (!results.empty() && results.front().numel() == 1) {
      f.losses.push_back(results.front().item<double>());
    }
  }
}

/// Measures the settings in turns: the usual ones, the chosen one and, if they are asked for, all others.
findings compare(tuned_program& p, const options& o) {
  auto& found = p.found();
  findings f;
  tool::progress("comparing results with those of one op at a time");
  compare_results(p, f);
  f.peak_bytes = peak_bytes(p.program());
  tool::progress("looking for the best uniform setting");
  found.forget_times();
  f.best_uniform = found.best_uniform();
  found.forget_times();
  std::vector<std::size_t> measured{found.recommended, found.one_thread, f.best_uniform, found.chosen()};
  if (o.all) {
    measured.resize(found.settings().size());
    std::iota(measured.begin(), measured.end(), std::size_t{0});
  }
  weft::sort_unique(measured);
  for (unsigned round = 0; round < o.rounds; ++round) {
    tool::progress(fmt::format("comparing settings: round {} of {}", round + 1, o.rounds));
    found.measure(measured, 1);
  }
  time_calls(p, f);
  const auto report = found({.record = true});
  report.rethrow();
  f.measured = report.trace;
  tool::progress("");
  return f;
}

/// Pairs of items that ran at the same time for at least half of the shorter one.
std::vector<std::pair<weft::op_id, weft::op_id>> side_by_side(const weft::trace& t) {
  std::vector<weft::op_id> order(t.ops.size());
  std::iota(order.begin(), order.end(), weft::op_id{0});
  std::ranges::sort(order, {}, [&](weft::op_id v) { return std::pair{t.ops[v].start, v}; });
  std::vector<weft::op_id> running;
  std::vector<std::pair<weft::op_id, weft::op_id>> pairs;
  for (const weft::op_id v : order) {
    const auto& r = t.ops[v];
    std::erase_if(running, [&](weft::op_id u) { return t.ops[u].finish <= r.start; });
    for (const weft::op_id u : running) {
      const double together = std::min(t.ops[u].finish, r.finish) - r.start;
      if (2 * together >= std::min(t.ops[u].finish - t.ops[u].start, r.finish - r.start)) {
        pairs.emplace_back(u, v);
      }
    }
    running.push_back(v);
  }
  return pairs;
}

/// How many items had how many threads, and for which share of the step several ran side by side.
std::string teams_of(const weft::trace& t) {
  std::map<std::uint32_t, std::size_t> items; // by threads
  std::vector<std::pair<double, int>> changes;
  for (const auto& r : t.ops) {
    ++items[r.threads];
    changes.insert(changes.end(), {{r.start, 1}, {r.finish, -1}});
  }
  std::ranges::sort(changes);
  double together = 0, since = 0;
  for (int running = 0; const auto& [when, change] : changes) {
    together += running > 1 ? when - since : 0;
    since = when;
    running += change;
  }
  std::string text;
  for (const auto& [threads, count] : items) {
    text += fmt::format("{}{} with {} thread{}", text.empty() ? "" : ", ", count, threads, threads > 1 ? "s" : "");
  }
  return fmt::format("{}; several side by side in {:.0f} % of the step", text, 100 * together / t.makespan);
}

nlohmann::ordered_json as_json(const execute::setting& s) {
  return {{"setting", name_of(s)}, {"kind", to_string(s.kind)}, {"at_once", s.at_once}, {"threads", s.threads}};
}

nlohmann::ordered_json as_json(tuned_program& p, const findings& f, const weft::machine& m) {
  const auto& found = p.found();
  const auto& all = found.settings();
  const auto& chosen = all[found.chosen()];
  const auto& usual = all[found.recommended];
  const auto& by_hand = all[f.best_uniform];
  nlohmann::ordered_json j{
    {"machine", m.name}, {"cores", m.cores()}, {"ops", p.program().calls.size()},
    {"items", found.items().num_items()}, {"chosen", as_json(chosen)}, {"chosen_ms", chosen.measured() * 1e3},
    {"recommended_ms", usual.measured() * 1e3}, {"one_thread_ms", all[found.one_thread].measured() * 1e3},
    {"best_uniform", as_json(by_hand)}, {"best_uniform_ms", by_hand.measured() * 1e3},
    {"predicted_ms", predicted(chosen, usual) * 1e3},
    {"profiled_ms", chosen.predicted.makespan * 1e3}, {"ratio_to_recommended", ratio(chosen, usual)},
    {"ratio_to_best_uniform", ratio(chosen, by_hand)}, {"max_difference", f.max_difference},
    {"max_difference_to_recommended", f.to_recommended}, {"max_difference_of_thread_counts", f.of_threads},
    {"losses", f.losses},
    {"spread", spread(usual)}, {"call_us_per_op", f.call_seconds * 1e6}, {"call_share", f.call_share},
    {"tuning_seconds", found.tuning_seconds()}, {"tuning_steps", found.tuning_time_in_steps()},
    {"peak_bytes", f.peak_bytes}};
  for (const auto& s : all) {
    if (!s.seconds.empty()) {
      auto entry = as_json(s);
      entry["predicted_ms"] = predicted(s, usual) * 1e3;
      entry["ms"] = s.measured() * 1e3;
      entry["ratio_to_recommended"] = ratio(s, usual);
      j["settings"].push_back(std::move(entry));
    }
  }
  for (const weft::op_id v : weft::ids(p.program().calls.size())) {
    j["threads"].push_back({{"op", p.program().graph.name(v)}, {"type", p.program().graph.type(v)},
                            {"threads", f.measured.ops[found.items().item_of(v)].threads}});
  }
  j["co_runs"] = nlohmann::ordered_json::array();
  for (const auto& [u, v] : side_by_side(f.measured)) {
    j["co_runs"].push_back({found.item_graph().name(u), found.item_graph().name(v)});
  }
  return j;
}

/// The part that a setting has in the comparison.
std::string role(const tuned_program::tuning& found, const findings& f, std::size_t i) {
  std::string text = i == found.recommended ? "  recommended" : "";
  text += i == f.best_uniform ? "  best uniform" : "";
  return text + (i == found.chosen() ? "  chosen" : "");
}

void print(tuned_program& p, const findings& f, const options& o, const weft::machine& m) {
  const auto& found = p.found();
  const auto& all = found.settings();
  const auto& usual = all[found.recommended];
  const auto& chosen = all[found.chosen()];
  fmt::print("{}: {} ops, {} to be handed out after short ones are joined; {}\n", o.program, p.program().calls.size(),
             found.items().num_items(), m.name);
  fmt::print("{:<50}{:>10}{:>8}{:>16}\n", "setting", "step (ms)", "ratio", "predicted (ms)");
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].seconds.empty()) {
      continue;
    }
    fmt::print("{:<50}{:>10.2f}{:>8.3f}{:>16.2f}{}\n", name_of(all[i]), all[i].measured() * 1e3, ratio(all[i], usual),
               predicted(all[i], usual) * 1e3, role(found, f, i));
  }
  const double off = predicted(chosen, usual) / chosen.measured() - 1;
  fmt::print("chosen: {}, {:.0f} % of the recommended setting's time; the prediction was {:.0f} % {}\n",
             name_of(chosen), 100 * ratio(chosen, usual), std::abs(100 * off), off < 0 ? "below" : "above");
  fmt::print("in a step of it: {}\n", teams_of(f.measured));
  fmt::print("results and parameters after a step: {:.1e} from one op at a time with the same threads, relative to\n"
             "the largest number of a tensor; {:.1e} from all cores for each op, as those are {:.1e} from one thread\n",
             f.max_difference, f.to_recommended, f.of_threads);
  fmt::print("calling an op takes {:.1f} us, {:.1f} % of the recommended setting's step; tensors that a step makes "
             "take {:.1f} MB\n", f.call_seconds * 1e6, 100 * f.call_share, double(f.peak_bytes) / 1e6);
  fmt::print("tuning took {:.1f} s, as long as {:.0f} steps of the recommended setting\n", found.tuning_seconds(),
             found.tuning_time_in_steps());
  if (spread(usual) > 0.1) {
    fmt::print("the machine was busy: the middle half of the recommended setting's times spans {:.0f} % of their "
               "median\n", 100 * spread(usual));
  }
}

/// The best setting that has the same number of threads for all ops, as one would type it.
void emit(const execute::setting& s) {
  fmt::print("\n# the nearest uniform setting: {}\n"
             "torch.set_num_threads({}); torch.set_num_interop_threads({})  # PyTorch: side by side by torch.jit.fork\n"
             "options.intra_op_num_threads = {}; options.inter_op_num_threads = {}  # onnxruntime.SessionOptions()\n"
             "options.execution_mode = onnxruntime.ExecutionMode.{}\n"
             "tf.config.threading.set_intra_op_parallelism_threads({})\n"
             "tf.config.threading.set_inter_op_parallelism_threads({})\n",
             name_of(s), s.threads, s.at_once, s.threads, s.at_once, s.at_once > 1 ? "ORT_PARALLEL" : "ORT_SEQUENTIAL",
             s.threads, s.at_once);
}

void write_report(tuned_program& p, const findings& f, const options& o, const weft::machine& m) {
  const auto& found = p.found();
  const auto& all = found.settings();
  weft::report::html_report report{.title = o.program + " on this machine"};
  report.notes = {{"machine", m.name}, {"rounds", std::to_string(o.rounds)}};
  weft::report::text_table table{
    "Settings", {"setting", "step (ms)", "ratio to recommended", "predicted (ms)", ""}, {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const auto& s = all[i]; !s.seconds.empty()) {
      table.rows.push_back({name_of(s), fmt::format("{:.2f}", s.measured() * 1e3),
                            fmt::format("{:.3f}", ratio(s, all[found.recommended])),
                            fmt::format("{:.2f}", predicted(s, all[found.recommended]) * 1e3), role(found, f, i)});
    }
  }
  report.tables.push_back(std::move(table));
  const auto one = weft::single(m);
  const auto make = [&](const char* what, const weft::trace& t) {
    auto run = weft::report::make_gantt_run(what, t, found.item_graph(), one);
    run.device_slots = {m.cores()};
    return run;
  };
  const auto& chosen = all[found.chosen()];
  report.runs.push_back(weft::report::overlay(name_of(chosen) + ": predicted and measured",
                                              {make("predicted", chosen.predicted), make("measured", f.measured)}));
  weft::io::write_file(o.html, [&](std::ostream& out) { weft::report::write_html(out, report, weft_echarts_js()); });
}

/// What is known of this machine from calls before.
weft::concurrency::profile known_times(const options& o, const weft::machine& m) {
  weft::concurrency::profile known;
  if (!o.profile.empty() && std::filesystem::exists(o.profile) && !std::filesystem::is_empty(o.profile)) {
    known = weft::io::read_profile_json(std::filesystem::path{o.profile});
    if (const auto warning = known.warning_for(m.name); !warning.empty()) {
      fmt::print(stderr, "run_model: {}\n", warning);
    }
  }
  return known;
}

int run(int argc, char** argv) {
  const options o = parse(argc, argv);
  const tool::interrupt ctrl_c{"ending after this step"};
  for (const auto& file : {o.json, o.html, o.profile}) {
    if (!file.empty()) {
      weft::io::require_writable(file);
    }
  }
  const auto machine = tool::with_threads(weft::local_topology{}.describe(), o.threads);
  auto program = weft::torch::read_program(o.program);
  if (program.calls.empty()) {
    throw weft::error(o.program + ": the program has no ops");
  }
  give_inputs(program, o.inputs);
  const auto known = known_times(o, machine);
  execute::tuning_options tuning{.here = machine, .known = &known, .progress = say, .stop = ctrl_c.token()};
  if (o.budget > 0) {
    tuning.seconds = o.budget;
    tuning.steps = std::numeric_limits<double>::infinity();
  }
  auto tuned = weft::torch::tune(std::move(program), tuning);
  if (!o.profile.empty()) {
    weft::io::write_file(o.profile,
                         [&](std::ostream& out) { weft::io::write_profile_json(out, tuned.found().profile()); });
  }
  if (ctrl_c.token().stop_requested()) {
    tool::progress("");
    return tool::interrupted;
  }
  const auto f = compare(tuned, o);
  if (tuned.found().settings()[tuned_program::tuning::recommended].seconds.empty()) {
    return tool::interrupted;
  }
  print(tuned, f, o, machine);
  if (o.emit) {
    emit(tuned.found().settings()[f.best_uniform]);
  }
  if (!o.json.empty()) {
    const auto text = as_json(tuned, f, machine).dump(2) + "\n";
    weft::io::write_file(o.json, [&](std::ostream& out) { out << text; });
  }
  if (!o.html.empty()) {
    write_report(tuned, f, o, machine);
    fmt::print(stderr, "report written to {}\n", o.html);
  }
  return ctrl_c.token().stop_requested() ? tool::interrupted : 0;
}

} // namespace

int main(int argc, char** argv) {
  tool::shorten_spins(argv);
  return tool::main_of("run_model", argc, argv, run);
}
