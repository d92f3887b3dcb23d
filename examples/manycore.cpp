// SPDX-License-Identifier: BSL-1.0
// How long training steps take on a manycore processor, simulated, under the settings that frameworks recommend, the
// best ones a user could find by hand, and strategies that choose threads and co-runs op by op.
#include "tool/command_line.hpp"
#include "tool/main.hpp"

#include "weft/concurrency/baselines.hpp"
#include "weft/concurrency/hill_climbing.hpp"
#include "weft/concurrency/moldable.hpp"
#include "weft/core/random.hpp"
#include "weft/platform/machines.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/workload/zoo.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

namespace concurrency = weft::concurrency;
using platform = weft::with_machines<weft::platform<weft::uniform_links>>;
using problem = weft::problem<weft::workload, platform, concurrency::moldable<>>;

/// The four networks of the study, with its batch sizes and images.
struct network {
  const char* name;
  const char* zoo;
};
constexpr network networks[] = {{"resnet50", "resnet50_cifar10@64"},
                                {"dcgan", "dcgan@64"},
                                {"inception_v3", "inception_v3@16"},
                                {"lstm", "ptb_lstm@20"}};

struct options {
  std::vector<std::string> nets{"all"};
  std::string machine = "xeon_phi_7250";
  std::string format = "table";
  std::uint32_t step = 4;
  double noise = 0.05;
  std::uint64_t seed = 0;
};

struct row {
  std::string net;
  std::string setting;
  double seconds;
  std::string detail = {};
};

/// Runs training steps on the simulated machine until every class of ops is profiled. Measurements are noisy: normal
/// errors (a sum of uniform ones), and one in fifty is ten times too long.
concurrency::time_table profile(const problem& p, const weft::machine& m, const options& o, std::size_t& runs) {
  concurrency::op_classes classes{p.workload()};
  concurrency::profiler learn{classes, m.cores(), {.step = o.step}};
  weft::rng random{o.seed};
  while (!learn.done()) { // one training step after the other; every op is an occasion to measure its class
    for (const weft::op_id v : p.topological_order()) {
      const auto team = learn.team_for(v);
      double normal = -6;
      for (int i = 0; i < 12; ++i) {
        normal += random.uniform();
      }
      const double spike = random.uniform() < 0.02 ? 10 : 1;
      learn.record(v, team, p.cost().seconds(p.workload(), v, m, team) * std::max(0.1, 1 + o.noise * normal) * spike);
    }
  }
  runs = learn.num_runs();
  auto table = learn.times();
  for (concurrency::class_id c = 0; c < classes.num_classes(); ++c) {
    table.set_memory_traffic(c, p.cost().memory_traffic(p.workload(), classes.representative(c), m, {}));
  }
  return table;
}

std::vector<row> study(const network& n, const weft::machine& m, const options& o) {
  const auto workload = weft::zoo::make(n.zoo, {.bookkeeping = false});
  const auto one = weft::single(m);
  const problem p{workload, one, concurrency::moldable<>{}};
  std::size_t runs = 0;
  const auto believed = profile(p, m, o, runs);
  const weft::plan all_here{weft::placement(workload.num_ops(), 0)};
  const auto simulate = [&](const auto& strategy) {
    weft::manycore_simulator run{p, strategy, {believed}};
    run.run(all_here); // what is learned of interference in one step is used in the next
    return run.run(all_here).makespan;
  };
  std::vector<row> rows;
  const auto add = [&](const char* setting, double seconds, std::string detail = {}) {
    rows.push_back({n.name, setting, seconds, std::move(detail)});
  };
  add("recommended", simulate(concurrency::recommended), fmt::format("1 op at a time on {} cores", m.cores()));
  add("per_socket", simulate(concurrency::per_socket(m)),
      fmt::format("{} at a time on {} cores each", m.sockets, m.cores_per_socket));
  add("equal_split", simulate(concurrency::equally_split), "all ready ops share the cores");
  const auto by_hand = concurrency::manual_optimum(m, simulate);
  add("manual_optimum", by_hand.seconds, fmt::format("{} at a time on {} cores each", by_hand.inter, by_hand.intra));
  const auto executors = concurrency::best_symmetric(m, simulate);
  add("symmetric", executors.seconds,
      fmt::format("{} executors of {} cores, critical path first", executors.inter, executors.intra));
  add("s1", simulate(concurrency::s1), fmt::format("best threads per op, {} profiling runs", runs));
  add("s1_s2", simulate(concurrency::s1_s2), "… one team per op type");
  add("s1_s2_s3", simulate(concurrency::s1_s2_s3), "… co-run on idle cores");
  add("s1_s2_s3_s4", simulate(concurrency::s1_s2_s3_s4), "… and on second hardware threads");
  return rows;
}

double step_of(const std::vector<row>& rows, std::string_view setting) {
  return std::find_if(rows.begin(), rows.end(), [&](const row& r) { return r.setting == setting; })->seconds;
}

void print(const std::vector<row>& rows, const options& o) {
  const double recommended = step_of(rows, "recommended");
  const double by_hand = step_of(rows, "manual_optimum");
  if (o.format == "csv") {
    for (const row& r : rows) {
      fmt::print("{},{},{},{:.6g},{:.6g},{:.6g}\n", r.net, o.machine, r.setting, r.seconds * 1e3,
                 r.seconds / recommended, r.seconds / by_hand);
    }
    return;
  }
  fmt::print("\n{} on {}\n{:<16}{:>12}{:>16}{:>12}\n", rows.front().net, o.machine, "setting", "step (ms)",
             "/ recommended", "/ manual");
  for (const row& r : rows) {
    fmt::print("{:<16}{:>12.3f}{:>16.3f}{:>12.3f}  {}\n", r.setting, r.seconds * 1e3, r.seconds / recommended,
               r.seconds / by_hand, r.detail);
  }
}

std::vector<network> chosen(const options& o) {
  std::vector<network> result;
  for (const auto& name : o.nets) {
    bool found = false;
    for (const network& n : networks) {
      if (name == "all" || name == n.name) {
        result.push_back(n);
        found = true;
      }
    }
    if (!found) {
      throw weft::error(fmt::format("unknown network '{}'; known are: all, resnet50, dcgan, inception_v3, lstm", name));
    }
  }
  return result;
}

options parse(int argc, char** argv) {
  options o;
  std::string machines;
  for (const auto& e : weft::machines::entries) {
    machines += fmt::format("\n  {:<16}{}", e.name, e.description);
  }
  CLI::App app{"Simulates training steps on a manycore processor under concurrency settings.\n"
               "Strategies decide by times that hill climbing measured on the simulated machine, with noise."};
  app.footer("Machines:" + machines + "\n\nExample: manycore --net inception_v3,lstm --machine epyc_9654_2s");
  app.add_option("--net", o.nets, "Training steps: all, resnet50, dcgan, inception_v3, lstm")
    ->delimiter(',')
    ->type_name("NAME[,…]")
    ->capture_default_str();
  app.add_option("--machine", o.machine, "The processor, one of those below")->type_name("NAME")->capture_default_str();
  app.add_option("--format", o.format, "What to print")
    ->check(CLI::IsMember({"table", "csv"}).description(""))
    ->type_name("table|csv")
    ->capture_default_str();
  app.add_option("--step", o.step, "Step of the hill climbing, in threads")
    ->check(CLI::Range(1u, 64u))
    ->type_name("X")
    ->capture_default_str();
  app.add_option("--noise", o.noise, "Relative standard error of a measured time")
    ->check(CLI::Range(0.0, 0.3))
    ->type_name("SHARE")
    ->capture_default_str();
  app.add_option("--seed", o.seed, "Seed of the noise")->type_name("S")->capture_default_str();
  tool::parse(app, "manycore", argc, argv);
  return o;
}

int run(int argc, char** argv) {
  const options o = parse(argc, argv);
  const auto nets = chosen(o);
  const auto machine = weft::machines::make(o.machine);
  if (o.format == "csv") {
    fmt::print("net,machine,setting,step_ms,ratio_to_recommended,ratio_to_manual_optimum\n");
  }
  for (const network& n : nets) {
    if (isatty(STDERR_FILENO) != 0) {
      fmt::print(stderr, "\r\x1b[Ksimulating {} …", n.name);
      std::fflush(stderr);
    }
    const auto rows = study(n, machine, o);
    if (isatty(STDERR_FILENO) != 0) {
      fmt::print(stderr, "\r\x1b[K");
    }
    print(rows, o);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  return tool::main_of("manycore", argc, argv, run);
}
