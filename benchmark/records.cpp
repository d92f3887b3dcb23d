// SPDX-License-Identifier: BSL-1.0
// How near `solve::best` comes to the best that anyone has published: its plan and its bound on flexible job shops and
// on the graphs of the critical-path paper, beside HEFT; and what `refine::identical_devices` makes of standard task
// graphs. records --help tells the rest.
#include "support/cases.hpp"
#include "tool/command_line.hpp"
#include "tool/main.hpp"

#include "weft/bound/refutation.hpp"
#include "weft/instance.hpp"
#include "weft/io/job_shop.hpp"
#include "weft/io/stg.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/identical.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/simulate/record.hpp"
#include "weft/solve/best.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace weft;

struct published {
  double bound = 0;
  double best = 0;
};

struct settings {
  solve::best_options search{.moves = 200'000};
  std::uint64_t raise = 0; // visits of pairs of ops for each bound
  std::vector<std::string> files;
  std::vector<std::uint32_t> machines{2, 4, 8, 16};
  std::string folder; // for schedules and proofs
  std::map<std::string, published> known;
};

std::map<std::string, published> read_known(const std::string& file) {
  std::ifstream in{file};
  std::map<std::string, published> all;
  std::vector<std::string> columns;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells;
    std::stringstream row{line};
    for (std::string cell; std::getline(row, cell, ',');) {
      cells.push_back(cell);
    }
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    const auto cell = [&](const char* column) {
      const auto at = std::find(columns.begin(), columns.end(), column) - columns.begin();
      return static_cast<std::size_t>(at) < cells.size() ? cells[static_cast<std::size_t>(at)] : std::string{};
    };
    all[cell("instance")] = {std::strtod(cell("lower_bound").c_str(), nullptr),
                             std::strtod(cell("best_known").c_str(), nullptr)};
  }
  if (all.empty()) {
    throw error(file + ": no published values: expected a line of columns with instance, lower_bound and best_known");
  }
  return all;
}

/// Flexible job shops of three kinds: the same time on one to three machines, other times on one to five, other times
/// on most of many machines.
std::string generated_shop(const std::string& family, std::uint32_t jobs, std::uint32_t machines, std::uint64_t seed) {
  rng random{seed};
  std::string text = std::to_string(jobs) + " " + std::to_string(machines) + "\n";
  const bool same = family == "same";
  const std::uint32_t operations = family == "many" ? 5 : 10;
  for (std::uint32_t j = 0; j < jobs; ++j) {
    std::vector<std::uint32_t> order(machines);
    for (std::uint32_t m = 0; m < machines; ++m) {
      order[m] = m + 1;
    }
    text += std::to_string(operations);
    for (std::uint32_t i = 0; i < operations; ++i) {
      random.shuffle(order);
      const std::uint32_t most =
        family == "many" ? machines / 2 + random.below(machines / 2) : 1 + random.below(same ? 3 : 5);
      const std::uint32_t count = std::min(machines, most);
      const std::uint32_t time = 1 + random.below(99);
      text += " " + std::to_string(count);
      for (std::uint32_t k = 0; k < count; ++k) {
        text += " " + std::to_string(order[k]) + " " + std::to_string(same ? time : 5 + random.below(46));
      }
    }
    text += "\n";
  }
  return text;
}

/// The time of HEFT on a fixed problem, the least of five: seconds.
double seconds_of_heft() {
  const auto w = bench::layered(20'000);
  const auto q = bench::devices(8);
  const bench::problem p{w, q};
  double least = std::numeric_limits<double>::infinity();
  workspace scratch;
  for (int k = 0; k < 5; ++k) {
    rng random{0};
    const stopwatch clock;
    (void)partition::run(partition::heft{}, p, random, scratch);
    least = std::min(least, clock.seconds());
  }
  return least;
}

class table {
public:
  explicit table(const settings& s) : s_{s} {
    std::printf("%-34s %6s %5s %12s %12s %12s %8s %8s %8s\n", "problem", "ops", "on", "makespan", "bound", "published",
                "ratio", "gap", "HEFT");
  }

  void add(const std::string& name, const instance& p, double makespan, double bound) {
    rng random{0};
    workspace scratch;
    const auto start = partition::run(partition::heft{}, p, random, scratch);
    simulator<instance, schedule::static_order> run{p};
    const double heft = start ? run.run(start->plan).makespan : std::numeric_limits<double>::infinity();
    const auto at = s_.known.find(name);
    const published k = at == s_.known.end() ? published{} : at->second;
    std::printf("%-34s %6zu %5zu %12.6g %12.6g", name.c_str(), p.num_ops(), p.num_devices(), makespan, bound);
    const double gap = gap_above(bound, makespan);
    if (k.best > 0) {
      std::printf(" %12.6g %8.4f", k.best, makespan / k.best);
      sum_ += makespan / k.best;
      worst_ = std::max(worst_, makespan / k.best);
      equal_ += makespan <= k.best * (1 + 1e-9);
      better_ += makespan < k.best * (1 - 1e-9);
      ++count_;
    } else {
      std::printf(" %12s %8s", "-", "-");
    }
    std::printf(" %8.4f %8.4f\n", gap, heft / makespan);
    if (makespan < k.bound * (1 - 1e-9)) {
      std::printf("%s: %g is below the published bound %g\n", name.c_str(), makespan, k.bound);
      broken_ = true;
    }
    std::fflush(stdout);
    ++problems_;
    gaps_ += std::log1p(gap);
  }

  bool end() const {
    std::printf("%d problems, gap %.4f in the geometric mean\n", problems_, std::expm1(gaps_ / std::max(1, problems_)));
    if (count_ > 0) {
      std::printf("%d with published values: mean ratio %.4f, worst %.4f, as good %d, better %d\n", count_,
                  sum_ / count_, worst_, equal_, better_);
    }
    return !broken_;
  }

private:
  const settings& s_;
  int problems_ = 0;
  double gaps_ = 0;
  int count_ = 0;
  double sum_ = 0;
  double worst_ = 0;
  int equal_ = 0;
  int better_ = 0;
  bool broken_ = false;
};

solve::best_result solve_and_add(table& all, const settings& s, const std::string& name, const instance& p) {
  auto r = solve::best(p, s.search);
  if (s.raise > 0) {
    r.bound.value = bound::refutation{.budget = {.moves = s.raise}}(p, r.bound.value, r.makespan);
  }
  all.add(name, p, r.makespan, r.bound.value);
  return r;
}

void write_schedule(const std::string& file, const instance& p, const plan& x) {
  trace record;
  simulator<instance, schedule::static_order> sim{p};
  sim.run(x, simulate::recorder{record});
  std::ofstream out{file};
  out.precision(17);
  out << "operation,machine,start,finish\n";
  for (const op_id v : ids(p.num_ops())) {
    const auto& r = record.ops[v];
    out << p.workload().name(v) << ',' << r.device + 1 << ',' << r.start << ',' << r.finish << '\n';
  }
  if (!out.flush()) {
    throw error("cannot write '" + file + "'");
  }
}

void add_shop(table& all, const settings& s, const std::string& name, const io::flexible_job_shop& shop) {
  const instance p{shop.ops, shop.devices, cost::lowered{shop.cost, shop.ops, shop.devices}};
  const auto r = solve_and_add(all, s, name, p);
  if (!s.folder.empty() && r.has_plan()) {
    write_schedule(s.folder + "/" + name + ".csv", p, r.plan);
  }
}

void add_graph(table& all, const settings& s, const std::filesystem::path& file) {
  const auto w = io::read_workload_stg(file);
  for (const std::uint32_t machines : s.machines) {
    const auto q = presets::identical(machines);
    const auto p = lower(problem{w, q});
    rng random{s.search.seed};
    workspace scratch;
    refine::exact::parallel_proof proof;
    const refine::identical_devices search{{.moves = s.search.moves, .seconds = s.search.seconds}, &proof};
    (void)partition::run(search, *p, random, scratch);
    const auto name = file.stem().string() + "." + std::to_string(machines);
    all.add(name, *p, proof.makespan, proof.bound);
    if (!s.folder.empty()) {
      const auto to = s.folder + "/" + name + ".proof";
      std::ofstream out{to};
      proof.write(out);
      if (!out.flush()) {
        throw error("cannot write '" + to + "'");
      }
    }
  }
}

settings read_options(int argc, char** argv) {
  settings s;
  std::string known, time_of_benchmark;
  CLI::App app{"How near weft comes to the best that anyone has published."};
  app.footer(
    "With a budget in moves the table is the same everywhere; with one in seconds it depends on the machine, whose\n"
    "speed is told by the time of HEFT on a fixed problem.\n\n"
    "Example: records --seconds 10 --known fjsp.csv --write found brandimarte/*.fjs\n\n"
    "Exit status: 0, or 1 if a plan is below a published bound, or 2 for wrong arguments or files.");
  app.add_option(
    "FILE", s.files,
    "Flexible job shops, or standard task graphs (*.stg); without one, generated shops and the graphs of the\n"
    "critical-path paper");
  auto* const seconds = app.add_option("--seconds", s.search.seconds, "The budget of each problem")
                          ->check(CLI::PositiveNumber.description(""))
                          ->type_name("S");
  auto* const moves = app.add_option("--moves", s.search.moves, "The same in moves")
                        ->check(CLI::PositiveNumber.description(""))
                        ->type_name("N")
                        ->capture_default_str();
  app
    .add_option("--raise", s.raise,
                "Raises each bound afterwards by a search with so many visits of pairs of operations")
    ->type_name("N");
  app.add_option("--seed", s.search.seed, "Of the search")->type_name("N")->capture_default_str();
  app.add_option("--jobs", s.search.threads, "Threads of the search")->type_name("N")->capture_default_str();
  app.add_option("--machines", s.machines,
                 "Machines for standard task graphs; what rand0009.stg is on 4 is called rand0009.4")
    ->check(CLI::Range(1u, 10'000u).description(""))
    ->delimiter(',')
    ->type_name("N,N…")
    ->default_str("2,4,8,16");
  app.add_option("--known", known, "Published values: columns instance, lower_bound and best_known")->type_name("CSV");
  app
    .add_option(
      "--write", s.folder,
      "Writes the schedule of each shop, NAME.csv, which test/job_shop_schedule.py checks, and the schedule of\n"
      "each graph and why there is none below the bound, NAME.proof, which test/identical_devices_proof.py\n"
      "checks")
    ->type_name("FOLDER");
  auto* const once =
    app.add_option("--benchmark_min_time", time_of_benchmark)->group(""); // by ctest, which wants it short
  tool::parse(app, "records", argc, argv);
  if (once->count() > 0) {
    s.search.moves = 2'000;
  } else if (seconds->count() > 0 && moves->count() == 0) {
    s.search.moves = solve::best_options{}.moves;
  }
  if (!known.empty()) {
    s.known = read_known(known);
  }
  if (!s.folder.empty()) {
    std::filesystem::create_directories(s.folder);
  }
  return s;
}

int run(int argc, char** argv) {
  const settings s = read_options(argc, argv);
  if (s.search.seconds < std::numeric_limits<double>::infinity()) {
    std::printf("%g s each; HEFT on 20,000 ops and 8 devices takes %.4f s here\n", s.search.seconds, seconds_of_heft());
  }
  table all{s};
  for (const std::filesystem::path file : s.files) {
    if (file.extension() == ".stg") {
      add_graph(all, s, file);
    } else {
      add_shop(all, s, file.stem().string(), io::read_job_shop(file));
    }
  }
  if (s.files.empty()) {
    for (const auto& [family, jobs, machines] : {std::tuple{"same", 15u, 10u},
                                                 {"same", 30u, 10u},
                                                 {"other", 20u, 10u},
                                                 {"other", 30u, 15u},
                                                 {"many", 50u, 20u}}) {
      const auto name = std::string{family} + ", " + std::to_string(jobs) + " x " + std::to_string(machines);
      add_shop(all, s, name, io::read_job_shop(generated_shop(family, jobs, machines, 1), name));
    }
    for (const auto& q : bench::paper_platforms()) {
      for (const auto& w : bench::paper_workloads()) {
        solve_and_add(all, s, w.name + " x " + q.name, *lower(problem{w.value, q.value}));
      }
    }
  }
  return all.end() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  return tool::main_of("records", argc, argv, run);
}
