// SPDX-License-Identifier: BSL-1.0
// Measures how the ranks of an MPI program are connected and writes the platform file that compare and place read:
//
//   mpirun -n 16 calibrate_cluster -o cluster.json
//   place zoo:resnet50 --platform cluster.json --contention fair
#include "weft/execute/calibrate.hpp"
#include "weft/interop/mpi.hpp"
#include "weft/io/files.hpp"
#include "weft/io/json_platform.hpp"

#include "tool/main.hpp"
#include "tool/ranks.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

namespace {

struct options {
  std::string output;
  double speed = 0;
  weft::mpi::calibration_options calibration;
  bool quiet = false;
};

void declare(CLI::App& app, options& o) {
  app.footer("Run it with the hosts, ranks and binding that the plan's run will have. What it needs most is quiet:\n"
             "nothing else on the hosts, and not more ranks than cores.\n\n"
             "Example: mpirun -n 16 --hostfile hosts calibrate_cluster -o cluster.json\n\n"
             "Exit status: 0 with a platform, 2 for wrong arguments or when MPI fails.");
  app.add_option("-o,--output", o.output, "The platform file (default: standard output)")->type_name("FILE");
  app.add_option("--speed", o.speed, "Peak FLOP/s of each rank's device (default: measured on one core,\n"
                                        "and taken to be what ops reach)")
    ->check(CLI::PositiveNumber.description(""))
    ->type_name("FLOPS");
  auto& c = o.calibration;
  app.add_option("--seconds", c.seconds, "Stop after so long; pairs that are left are taken to be like those measured")
    ->check(CLI::PositiveNumber.description(""))
    ->type_name("S")
    ->capture_default_str();
  app.add_option("--pairs", c.pairs, "Pairs of ranks to measure, on each level: in a host, between hosts, …")
    ->check(CLI::Range(1u, 1'000'000u).description(""))
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--groups", c.groups, "Groups, such as hosts, whose shared links are measured, on each level")
    ->check(CLI::Range(1u, 1'000'000u).description(""))
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--trips", c.trips, "Round trips for each message size; the median counts")
    ->check(CLI::Range(1, 1'000'000).description(""))
    ->type_name("N")
    ->capture_default_str();
  app.add_flag("--quiet", o.quiet, "Print errors only");
}

/// The summary, a line per level.
std::string summary(const weft::mpi::calibration& c, const std::vector<weft::mpi::crowded_host>& crowded) {
  std::string text = fmt::format("{} ranks", c.platform.num_devices());
  bool restless = false;
  for (std::size_t k = 1; k < c.levels.size(); ++k) {
    const auto& level = c.levels[k];
    text += fmt::format("\nlevel {}, {} group(s): {:.2f} us, {:.3f} GB/s; of {} pairs, messages off by {:.0f} % in the "
                        "median and {:.0f} % at most",
                        k, level.groups, level.alone.latency * 1e6, level.alone.bandwidth / 1e9, level.pairs,
                        level.typical_error * 100, level.largest_error * 100);
    restless = restless || level.typical_error > 0.5;
  }
  for (const auto& host : crowded) {
    text += fmt::format("\n{} has {} core{} for {} ranks, which share them: latencies and rates of single transfers "
                        "are not reliable", host.name, host.cores, host.cores == 1 ? "" : "s", host.ranks);
  }
  if (restless && crowded.empty()) {
    text += "\ntimes vary too much to be reliable: is something else running?";
  }
  if (!c.complete) {
    text += "\nthere was not enough time to measure everything; --seconds gives more";
  }
  return text + "\n";
}

int measure(const weft::mpi::communicator& all, const options& o) {
  const bool first = all.rank() == 0;
  weft::device mine;
  mine.reached_rates = !(o.speed > 0);
  mine.speed = mine.reached_rates ? weft::execute::calibrate(weft::machine{}).core_speed : o.speed;
  const bool in_terminal = first && !o.quiet && isatty(STDERR_FILENO) != 0;
  const auto made = weft::mpi::calibrate(all, mine, o.calibration, [&](const std::string& line) {
    if (in_terminal) {
      fmt::print(stderr, "\r\x1b[K{} …", line);
      std::fflush(stderr);
    }
  });
  const auto crowded = weft::mpi::crowded_hosts(all);
  if (!first) {
    return 0;
  }
  if (in_terminal) {
    fmt::print(stderr, "\r\x1b[K");
  }
  const auto write = [&](std::ostream& out) { weft::io::write_platform_json(out, made.platform); };
  if (o.output.empty()) {
    write(std::cout);
    std::cout.flush();
  } else {
    weft::io::write_file(o.output, write);
  }
  if (!o.quiet) {
    fmt::print(stderr, "{}", summary(made, crowded));
  }
  return 0;
}

int run(int argc, char** argv) {
  const weft::mpi::session mpi{argc, argv};
  const weft::mpi::communicator all;
  options o;
  CLI::App app{
    "Measures latencies and bandwidths between the ranks of an MPI program, and what they share, and writes\n"
    "them as a platform: a device for each rank."};
  declare(app, o);
  const auto calibrate = [&] { return measure(all, o); };
  return tool::main_of_ranks(all, app, "calibrate_cluster", argc, argv, o.output, [] {}, calibrate);
}

} // namespace

int main(int argc, char** argv) {
  return tool::main_of("calibrate_cluster", argc, argv, run);
}
