// SPDX-License-Identifier: BSL-1.0
// Runs training steps of a network on the ranks of MPI, each a device with one thread: measures ops and links, plans,
// predicts, runs, and checks that the losses are those of one thread, bit by bit.
//
//   mpirun -n 2 distributed --net inception
//   mpirun -n 4 distributed --net lstm --batch 20
//   mpirun -n 2 distributed --net convolutions --pipeline --batch 16 --micro-batches 4
//   mpirun -n 16 --hostfile hosts distributed --net lstm --budget 5 --html report.html
#include "kernels/by_name.hpp"
#include "kernels/pipelined_step.hpp"
#include "kernels/placed_step.hpp"
#include "kernels/replicated_step.hpp"
#include "tool/command_line.hpp"
#include "tool/main.hpp"
#include "tool/ranks.hpp"

#include "weft/concurrency/profile.hpp"
#include "weft/core/budget.hpp"
#include "weft/cost/table.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/instance.hpp"
#include "weft/interop/mpi.hpp"
#include "weft/io/files.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/micro_batches.hpp"
#include "weft/parallel/pipeline_stages.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/report/html.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/best.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

std::string_view weft_echarts_js(); // embedded by the build

namespace {

using weft::concurrency::median;
using times = std::vector<double>;

struct options {
  std::string net = "inception";
  unsigned steps = 20;
  unsigned profiles = 11;
  std::string budget;
  double deadline = 60;
  std::string html;
  std::uint64_t batch = 0; ///< to be split among the ranks; 0: ops are placed, and the batch stays whole
  bool pipeline = false;   ///< the batch is split into micro-batches, and the network among the ranks
  std::uint32_t micro_batches = 4;
};

void declare(CLI::App& app, options& o) {
  app.footer("Examples:\n"
             "  mpirun -n 2 distributed --net inception\n"
             "  mpirun -n 16 --hostfile hosts distributed --net lstm --budget 5 --html report.html\n"
             "  mpirun -n 2 distributed --net convolutions --pipeline --batch 16 --micro-batches 4\n\n"
             "A hostfile has a line per host; Open MPI: 'node1 slots=4', MPICH: 'node1:4'. The networks are\n"
             "small: a step takes one core some 10 ms: over a slow link, one rank may be the best plan.\n\n"
             "Exit status: 0 if all losses are those of one thread, 1 if not, 2 for wrong arguments or when a run\n"
             "fails.");
  app.add_option("--net", o.net, "Training step: resnet, dcgan, inception, lstm, gpt2, bert or llama")
    ->type_name("NAME")
    ->capture_default_str();
  app.add_option("--steps", o.steps, "Training steps to run")
    ->check(CLI::Range(1u, 100000u).description(""))
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--profiles", o.profiles, "How often to measure each op; the median counts")
    ->check(CLI::Range(1u, 10000u).description(""))
    ->type_name("N")
    ->capture_default_str();
  app
    .add_option("--budget", o.budget,
                "Search for the best plan for this long: seconds, as in 5, or moves, as in 20000moves\n"
                "(default: HEFT's plan)")
    ->type_name("BUDGET");
  app.add_option("--deadline", o.deadline, "Give up when a step takes this many seconds")
    ->check(CLI::PositiveNumber.description(""))
    ->type_name("S")
    ->capture_default_str();
  app
    .add_option("--batch", o.batch,
                "Data parallelism: each rank trains with its part of a batch of that many examples, and\n"
                "gradients are all-reduced; networks: convolutions, lstm or lstm_fused")
    ->check(CLI::Range(1u, 1000000u).description(""))
    ->type_name("N");
  auto* const pipeline =
    app.add_flag("--pipeline", o.pipeline,
                 "Pipeline: each rank trains consecutive layers with all of the batch (--batch; default: 16),\n"
                 "micro-batch by micro-batch, forward and backward in turn (1F1B); the same networks");
  app.add_option("--micro-batches", o.micro_batches, "Micro-batches of a pipeline, which have to divide the batch")
    ->check(CLI::Range(1u, 1000000u).description(""))
    ->type_name("M")
    ->capture_default_str()
    ->needs(pipeline);
  app.add_option("--html", o.html, "Also write a report with charts of the predicted and the measured step")
    ->type_name("FILE");
}

/// The seconds of each op in memory of a program on one device, several times.
std::vector<times> profile(const kernels::training_net& net, unsigned repetitions) {
  const auto program = kernels::program_of(net, {weft::placement(net.step.graph.num_ops(), 0)});
  const kernels::placed_step step{net, program};
  std::vector<times> seconds(program.num_ops());
  for (unsigned i = 0; i <= repetitions; ++i) {
    for (const weft::op_id v : program.sequence()) {
      const weft::stopwatch watch;
      step(v, step.memory().of(v));
      if (i > 0) { // the first run warms up
        seconds[v].push_back(std::max(watch.seconds(), 1e-9));
      }
    }
  }
  return seconds;
}

/// The losses of some steps on one thread, and how long these took.
std::vector<float> expected_losses(const kernels::training_net& net, unsigned steps, times& seconds) {
  auto step = net.bind();
  const auto order = weft::graph::topological_order(net.step.graph);
  for (const weft::op_id v : order) {
    step.prepare(v, 1);
  }
  std::vector<float> losses;
  for (unsigned i = 0; i < steps; ++i) {
    const weft::stopwatch watch;
    for (const weft::op_id v : order) {
      step.run(v, 1);
    }
    seconds.push_back(watch.seconds());
    for (const auto t : net.losses) {
      losses.push_back(step.values(t)[0]);
    }
  }
  return losses;
}

/// Made on rank 0, for all.
weft::plan make_plan(const weft::mpi::communicator& all, const weft::instance& p, const options& o) {
  weft::plan made;
  if (all.rank() == 0 && o.budget.empty()) {
    weft::rng random;
    weft::workspace scratch;
    made = weft::partition::run(weft::partition::heft{}, p, random, scratch)->plan;
  } else if (all.rank() == 0) {
    const auto budget = tool::parse_budget(o.budget, "distributed");
    made = weft::solve::best(p, {.seconds = budget.seconds, .moves = budget.moves}).plan;
  }
  all.broadcast(made.placement);
  all.broadcast(made.order);
  return made;
}

/// The processor time of the calling thread so far, in seconds.
double thread_seconds() {
  std::timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// A line about ranks that did not have a core all of the time, the worst of them not for the share `without` of the
/// measured steps; nothing where each has one. A rank that waits for a message keeps its core busy.
std::string about_cores(const std::vector<weft::mpi::crowded_host>& crowded, double without) {
  const bool waited = without >= 0.1;
  const auto effect =
    (waited ? fmt::format("one was without a core for {:.0f} % of the measured steps; ", without * 100)
            : std::string{}) +
    "times, measured and predicted, are longer than with a core for each rank, and vary\n";
  if (crowded.empty()) {
    return waited ? "note: something else ran on the ranks' cores, or a quota limited them: " + effect : std::string{};
  }
  const auto& host = crowded.front();
  return fmt::format("note: {} has {} core{} for {} ranks{}, which share them: {}", host.name, host.cores,
                     host.cores == 1 ? "" : "s", host.ranks,
                     crowded.size() == 1 ? "" : fmt::format(" (and {} more hosts have too few)", crowded.size() - 1),
                     effect);
}

/// Of every loss the number that some rank has.
std::vector<float> merge(const std::vector<std::vector<float>>& by_rank) {
  std::vector<float> merged = by_rank.front();
  for (const auto& losses : by_rank) {
    for (std::size_t i = 0; i < losses.size(); ++i) {
      merged[i] = std::isnan(losses[i]) ? merged[i] : losses[i];
    }
  }
  return merged;
}

void write_report(const options& o, const weft::instance& p, const weft::trace& predicted,
                  const weft::trace& measured) {
  weft::report::html_report report{.title = fmt::format("A training step of {} on {} ranks", o.net, p.num_devices())};
  const auto run = [&](const char* name, const weft::trace& t) {
    return weft::report::make_gantt_run(name, t, p.workload(), p.platform());
  };
  report.runs.push_back(
    weft::report::overlay("Predicted and measured", {run("predicted", predicted), run("measured", measured)}));
  weft::io::write_file(o.html, [&](std::ostream& out) { weft::report::write_html(out, report, weft_echarts_js()); });
  fmt::print(stderr, "report written to {}\n", o.html);
}

int train(const weft::mpi::communicator& all, const options& o) {
  const bool first = all.rank() == 0;
  const auto say = [&](const std::string& what) {
    if (first && isatty(STDERR_FILENO) != 0) {
      fmt::print(stderr, "\r\x1b[K{}", what);
      std::fflush(stderr);
    }
  };
  const auto net = kernels::make_net(o.net);
  const weft::workload& w = net.step.graph;
  say("measuring links");
  const auto cluster = weft::mpi::calibrate(all, {}, {.seconds = 20});
  say("measuring ops");
  const auto seconds = weft::mpi::op_times(all, profile(net, o.profiles));
  const weft::cost::table table{seconds, w.num_ops(), cluster.platform.num_devices()};
  const weft::instance problem{w, cluster.platform, weft::cost::lowered{table, w, cluster.platform}};
  say("planning");
  const auto plan = make_plan(all, problem, o);
  weft::trace predicted;
  weft::simulator{problem, weft::schedule::static_order{}}.run(plan, weft::simulate::recorder{predicted});

  const auto program = kernels::program_of(net, plan, predicted);
  std::vector<int> ranks(program.num_devices());
  for (std::size_t d = 0; d < ranks.size(); ++d) {
    ranks[d] = static_cast<int>(d);
  }
  weft::mpi::executor run{all, program, ranks};
  kernels::placed_step step{net, program, run.devices()};
  say("running");
  times step_seconds;
  std::vector<float> losses;
  weft::trace measured;
  double all_seconds = 0;
  double on_core = 0;
  for (unsigned i = 0; i < o.steps; ++i) {
    const bool last = i + 1 == o.steps;
    const weft::stopwatch watch;
    const double before = thread_seconds();
    const auto report = run(step, step.memory(), {.seconds = o.deadline, .record = last && !o.html.empty()});
    all_seconds += watch.seconds();
    on_core += thread_seconds() - before;
    if (report.status != weft::execute::run_status::finished) {
      if (first) {
        say("");
        fmt::print(stderr, "distributed: step {}: {}\n", i + 1, report.message);
      }
      return 2;
    }
    step_seconds.push_back(report.seconds);
    const auto here = step.losses();
    losses.insert(losses.end(), here.begin(), here.end());
    measured = last ? report.trace : weft::trace{};
  }
  losses = merge(all.all_gather(std::span<const float>{losses}));
  const auto without_core = all.all_gather(1 - on_core / all_seconds);
  const auto crowded = weft::mpi::crowded_hosts(all);
  if (!first) {
    return 0;
  }
  say("");
  times alone_seconds;
  const auto expected = expected_losses(net, o.steps, alone_seconds);
  const bool same = expected.size() == losses.size() &&
                    std::memcmp(expected.data(), losses.data(), losses.size() * sizeof(float)) == 0;
  weft::byte_count bytes = 0;
  for (const auto& m : program.messages()) {
    bytes += m.bytes;
  }
  fmt::print("{}: {} ops on {} of {} ranks, {} messages of {:.2f} MB per step\n", net.name, w.num_ops(),
             program.num_devices(), all.size(), program.messages().size(), static_cast<double>(bytes) / 1e6);
  fmt::print("step: {:.3f} ms predicted, {:.3f} ms measured (median of {}); one thread: {:.3f} ms\n",
             predicted.makespan * 1e3, median(step_seconds) * 1e3, o.steps, median(alone_seconds) * 1e3);
  fmt::print("{}", about_cores(crowded, *std::max_element(without_core.begin(), without_core.end())));
  fmt::print("losses: {} after {} steps, {}\n", losses.back(), o.steps,
             same ? "all equal to those of one thread, bit by bit" : "NOT those of one thread");
  std::fflush(stdout);
  if (!o.html.empty()) {
    write_report(o, problem, predicted, measured);
  }
  return same ? 0 : 1;
}

/// The steps that ran, those before one that failed.
struct steps_run {
  times seconds;
  std::vector<float> losses; ///< on this rank
  bool failed = false;
};

/// Runs the steps; `loss()` is that of the last one on this rank. If one fails, the first rank says so.
template <class Kernel, class Loss>
steps_run run_steps(const weft::mpi::communicator& all, const options& o, weft::mpi::executor& run, Kernel& step,
                    weft::execute::memory& memory, Loss loss) {
  steps_run found;
  for (unsigned i = 0; i < o.steps; ++i) {
    const auto report = run(step, memory, {.seconds = o.deadline});
    if (report.status != weft::execute::run_status::finished) {
      if (all.rank() == 0) {
        fmt::print(stderr, "distributed: step {}: {}\n", i + 1, report.message);
      }
      found.failed = true;
      return found;
    }
    found.seconds.push_back(report.seconds);
    found.losses.push_back(loss());
  }
  return found;
}

/// Says how long the steps took, and how far their losses are from those of one thread with the whole batch. Returns
/// the exit status.
int compare_with_whole(const kernels::training_net& whole, const options& o, const times& step_seconds,
                       const std::vector<double>& losses) {
  times alone_seconds;
  const auto expected = expected_losses(whole, o.steps, alone_seconds);
  double farthest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double distance = std::abs(losses[i] / expected[i] - 1);
    farthest = distance <= farthest ? farthest : distance; // not a number is far, too
  }
  fmt::print("step: {:.3f} ms measured (median of {}); one thread: {:.3f} ms\n", median(step_seconds) * 1e3, o.steps,
             median(alone_seconds) * 1e3);
  const bool same = farthest <= 1e-4;
  fmt::print("losses: {} after {} steps, at most {:.1g} from those of one thread{}\n", expected.back(), o.steps,
             farthest, same ? "" : ", which is TOO FAR");
  return same ? 0 : 1;
}

/// Trains with a part of the batch on each rank.
int train_in_parts(const weft::mpi::communicator& all, const options& o) {
  const auto count = static_cast<std::uint32_t>(all.size());
  const auto whole = kernels::make_separable_net(o.net, o.batch);
  const auto part = kernels::make_separable_net(o.net, o.batch / count);
  std::vector<weft::placement> replicas;
  std::vector<int> ranks;
  for (weft::device_id d = 0; d < count; ++d) {
    replicas.emplace_back(part.step.graph.num_ops(), d);
    ranks.push_back(static_cast<int>(d));
  }
  const auto made =
    weft::parallel::data_parallel(part.step.graph, replicas, weft::parallel::ring_all_reduce(count));
  const weft::execute::program program{made.graph, weft::plan{.placement = made.where}};
  weft::mpi::executor run{all, program, ranks};
  weft::execute::memory memory{program, run.devices()};
  const auto mine = static_cast<std::size_t>(all.rank());
  kernels::replicated_step step{part, made, std::vector{mine}};
  step.take_inputs(mine, whole, whole.bind(), o.batch);
  const auto ran = run_steps(all, o, run, step, memory, [&] { return step.losses(mine)[0]; });
  if (ran.failed) {
    return 2;
  }
  const auto of_parts = all.all_gather(std::span<const float>{ran.losses});
  if (mine != 0) {
    return 0;
  }
  std::vector<double> losses(ran.losses.size(), 0);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    for (const auto& x : of_parts) {
      losses[i] += double{x[i]} / count;
    }
  }
  fmt::print("{}: {} ops on {} ranks, {} of {} examples each; {:.2f} MB of gradients in {} bucket{}\n", whole.name,
             made.graph.num_ops(), count, o.batch / count, o.batch, static_cast<double>(made.gradient_bytes) / 1e6,
             made.buckets.size(), made.buckets.size() == 1 ? "" : "s");
  return compare_with_whole(whole, o, ran.seconds, losses);
}

/// Stages of a network on as many ranks, by the seconds of each op on each rank.
weft::placement cut(const kernels::training_net& part, std::size_t ranks, const times& seconds) {
  const weft::workload& w = part.step.graph;
  const weft::platform machine{std::vector<weft::device>(ranks), weft::uniform_links{}};
  const weft::problem problem{w, machine, weft::cost::table{seconds, w.num_ops(), ranks}};
  const auto devices = weft::ids(ranks);
  return weft::parallel::pipeline_stages(problem, std::vector<weft::device_id>{devices.begin(), devices.end()});
}

/// Trains some layers on each rank, with all of the batch in micro-batches.
int train_in_stages(const weft::mpi::communicator& all, const options& o) {
  const auto num_ranks = static_cast<std::size_t>(all.size());
  const auto examples = o.batch / o.micro_batches;
  const auto whole = kernels::make_separable_net(o.net, o.batch);
  const auto part = kernels::make_separable_net(o.net, examples);
  const auto other = kernels::make_separable_net(o.net, examples + 1);
  const weft::workload& w = part.step.graph;
  const auto seconds = weft::mpi::op_times(all, profile(part, o.profiles));
  weft::placement where;
  if (all.rank() == 0) {
    where = cut(part, num_ranks, seconds);
  }
  all.broadcast(where);
  std::vector<int> ranks;
  std::vector<weft::device_id> devices;
  for (const weft::device_id d : weft::ids(num_ranks)) {
    ranks.push_back(static_cast<int>(d));
    devices.push_back(d);
  }
  const auto made = weft::parallel::micro_batched(w, other.step.graph, o.micro_batches, where);
  const auto program = kernels::program_of(part, other, made, devices);
  weft::mpi::executor run{all, program, ranks};
  kernels::pipelined_step step{part, made, program, run.devices()};
  step.take_inputs(whole, whole.bind(), o.batch);
  const auto ran = run_steps(all, o, run, step, step.memory(), [&] { return step.losses()[0]; });
  if (ran.failed) {
    return 2;
  }
  const auto losses = merge(all.all_gather(std::span<const float>{ran.losses}));
  if (all.rank() != 0) {
    return 0;
  }
  times of_stages(num_ranks, 0);
  for (const weft::op_id v : weft::ids(w.num_ops())) {
    of_stages[where[v]] += seconds[v * num_ranks + where[v]] * 1e3;
  }
  fmt::print("{}: {} ops on {} ranks, {} micro-batch{} of {}; stages of {:.3f} ms\n", whole.name, made.graph.num_ops(),
             num_ranks, o.micro_batches, o.micro_batches == 1 ? "" : "es", examples, fmt::join(of_stages, ", "));
  return compare_with_whole(whole, o, ran.seconds, {losses.begin(), losses.end()});
}

/// Throws `weft::error` unless a pipeline is possible, after setting what was left open.
void check_pipeline(options& o, std::size_t ranks) {
  o.batch = o.batch == 0 ? 16 : o.batch;
  const auto net = kernels::make_separable_net(o.net, 1);
  if (o.batch % o.micro_batches != 0) {
    throw weft::error(fmt::format("--micro-batches {}: a batch of {} examples cannot be divided by it",
                                  o.micro_batches, o.batch));
  }
  if (!o.budget.empty() || !o.html.empty()) {
    throw weft::error("--pipeline plans nothing but its stages: leave --budget and --html out");
  }
  try {
    (void)cut(net, ranks, times(net.step.graph.num_ops() * ranks, 1));
  } catch (const weft::error& e) {
    throw weft::error(fmt::format("--pipeline on {} ranks: {}", ranks, e.what()));
  }
}

int run(int argc, char** argv) {
  const weft::mpi::session mpi{argc, argv};
  const weft::mpi::communicator all;
  options o;
  CLI::App app{"Plans a training step for the ranks of an MPI program, runs it with oneDNN kernels, and compares its\n"
               "time with the prediction and its losses with those of one thread."};
  declare(app, o);
  const auto check = [&] {
    if (o.pipeline) {
      check_pipeline(o, static_cast<std::size_t>(all.size()));
      return;
    }
    if (o.batch != 0) {
      (void)kernels::make_separable_net(o.net, 1);
      if (o.batch % static_cast<std::uint64_t>(all.size()) != 0) {
        throw weft::error(fmt::format("--batch {}: it cannot be divided by {} ranks", o.batch, all.size()));
      }
      if (!o.budget.empty() || !o.html.empty()) {
        throw weft::error("--batch splits the batch and plans nothing: leave --budget and --html out");
      }
      return;
    }
    kernels::check_net_name(o.net);
    if (!o.budget.empty()) {
      (void)tool::parse_budget(o.budget, "distributed");
    }
  };
  return tool::main_of_ranks(all, app, "distributed", argc, argv, o.html, check, [&] {
    return o.pipeline ? train_in_stages(all, o) : o.batch != 0 ? train_in_parts(all, o) : train(all, o);
  });
}

} // namespace

int main(int argc, char** argv) {
  return tool::main_of("distributed", argc, argv, run);
}
