// SPDX-License-Identifier: BSL-1.0
// How good the strategies are on the suite of generated problems: the geometric mean of makespan / lower bound, by
// communication, heterogeneity and family. The bound is raised by search. Deterministic: searches have budgets in
// moves, unless --seconds gives all of them the same time. A strategy that decides no order runs under
// path_completion_time.
//
// quality [--seeds N] [--families] [--moves N | --seconds S] [--csv]
//   --moves: that refiners and `best` may evaluate, 0: leave out; --seconds: that each of them has for each problem
// quality --stg FILE...    mean makespan / proven optimum on files of the Standard Task Graph Set
#include "support/suite.hpp"

#include "weft/bound/best.hpp"
#include "weft/instance.hpp"
#include "weft/io/stg.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/registry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

struct mean {
  double log_sum = 0;
  double sum = 0;
  double largest = 0;
  int count = 0;
  int met = 0; // the bound

  void add(double ratio) {
    log_sum += std::log(ratio);
    sum += ratio;
    largest = std::max(largest, ratio);
    met += ratio <= 1 + 1e-9;
    ++count;
  }
};

/// What is compared: partitioners, HEFT with each refiner, and solve::best.
class field {
public:
  /// Refiners and `best` are left out if `spend` has no moves.
  explicit field(const weft::budget& spend) : spend_{spend} {
    for (const auto& name : all_.partitioner_names()) { // what tries many plans has the budget that it comes with
      if (refines() || (name != "branch_and_bound" && name.find("search") == std::string::npos)) {
        names_.push_back(name);
      }
    }
    num_partitioners_ = names_.size();
    if (refines()) {
      for (const auto& name : all_.refiner_names()) {
        names_.push_back("heft + " + name);
      }
      names_.emplace_back("solve::best");
    }
  }

  const std::vector<std::string>& names() const { return names_; }

  /// The makespan of the i-th, or 0 if it finds no plan.
  double makespan(std::size_t i, const weft::instance& p) {
    if (i + 1 == names_.size() && refines()) {
      const auto r = weft::solve::best(p, {.seconds = spend_.seconds, .moves = spend_.moves});
      return r.has_plan() ? r.makespan : 0;
    }
    weft::rng random{1};
    const bool refine = i >= num_partitioners_;
    auto decided = (*all_.find_partitioner(refine ? "heft" : names_[i]))(p, random, scratch_);
    if (!decided) {
      return 0;
    }
    if (refine) {
      const auto& refiner = *all_.find_refiner(all_.refiner_names()[i - num_partitioners_]);
      weft::any_evaluator judge{p};
      decided->plan = refiner(judge, std::move(decided->plan), budget_of(i), random).plan;
    }
    const char* policy = decided->plan.order.empty() ? "path_completion_time" : "static_order";
    const auto simulator = (*all_.find_policy(policy))(p, weft::contention_model::none);
    simulator->prepare(decided->plan);
    return simulator->run_prepared(record_).makespan;
  }

private:
  /// Parts of a large neighbourhood change many components, and a child of the genetic algorithm costs a simulation:
  /// they get a tenth. The moves of local search are many changes each, and a change costs annealing the least:
  /// --seconds is what is fair.
  weft::budget budget_of(std::size_t i) const {
    const auto name = names_[i];
    const bool dear = name.find("large") != std::string::npos || name.find("genetic") != std::string::npos;
    return {.moves = dear && !timed() ? spend_.moves / 10 : spend_.moves, .seconds = spend_.seconds};
  }
  bool refines() const { return spend_.moves > 0; }
  bool timed() const { return spend_.seconds < weft::budget{}.seconds; }

  weft::registry<weft::instance> all_ = weft::registry<weft::instance>::standard();
  weft::budget spend_;
  std::size_t num_partitioners_ = 0;
  std::vector<std::string> names_;
  weft::workspace scratch_;
  weft::trace record_;
};

int stg(int count, char** files) {
  field strategies{{.moves = 0}};
  std::vector<mean> means(strategies.names().size());
  for (int f = 0; f < count; ++f) {
    const auto w = weft::io::read_workload_stg(files[f]);
    for (const std::uint32_t devices : {2u, 4u, 8u, 16u}) {
      const auto q = weft::presets::identical(devices);
      const auto p = weft::lower(weft::problem{w, q});
      weft::rng random{1};
      weft::workspace scratch;
      const auto best = weft::refine::identical_devices{}(*p, random, scratch);
      if (!best || best->bound <= 0) {
        continue;
      }
      for (std::size_t i = 0; i < means.size(); ++i) {
        if (const double makespan = strategies.makespan(i, *p); makespan > 0) {
          means[i].add(makespan / best->bound);
        }
      }
    }
  }
  std::printf("%-24s %10s %10s %10s %10s\n", "", "mean", "largest", "optimal", "problems");
  for (std::size_t i = 0; i < means.size(); ++i) {
    const mean& m = means[i];
    std::printf("%-24s %10.4f %10.3f %9.1f%% %10d\n", strategies.names()[i].c_str(), m.sum / std::max(1, m.count),
                m.largest, 100.0 * m.met / std::max(1, m.count), m.count);
  }
  return 0;
}

int run(int argc, char** argv) {
  std::uint64_t seeds = 1;
  weft::budget spend{.moves = 20'000};
  bool once = false; // by ctest, with minimal time
  bool csv = false;
  bool families = false;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    if (is("--stg")) {
      return stg(argc - i - 1, argv + i + 1);
    }
    once = once || std::strncmp(argv[i], "--benchmark_min_time", 20) == 0;
    csv = csv || is("--csv");
    families = families || is("--families");
    if (is("--seeds") && i + 1 < argc) {
      seeds = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--moves") && i + 1 < argc) {
      spend.moves = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--seconds") && i + 1 < argc) {
      spend = {.seconds = std::strtod(argv[++i], nullptr)};
    }
  }
  if (once) {
    spend = {.moves = 500};
  }
  field strategies{spend};
  const auto& names = strategies.names();
  std::vector<std::string> columns{"ccr 0.1", "ccr 1", "ccr 10", "identical", "related", "unrelated", "all"};
  if (families) {
    columns.assign(weft::generate::suite_families.begin(), weft::generate::suite_families.end());
  }
  std::map<std::string, std::map<std::string, mean>> means;
  const auto selected = [&](const weft::generate::suite_entry& e) { return !once || e.ccr == 1; };
  bench::for_each_of_suite(seeds, selected, [&](const bench::suite_case& c) {
    const auto p = weft::lower(c.problem);
    const double bound = weft::bound::best(*p, {.moves = once ? 1'000u : 100'000'000u}).value;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double makespan = strategies.makespan(i, *p);
      for (const auto& column : bench::suite_columns(c.entry)) {
        if (makespan > 0) {
          means[names[i]][column].add(makespan / bound);
        }
      }
    }
  });
  std::printf(csv ? "strategy" : "%-34s", "");
  for (const auto& column : columns) {
    std::printf(csv ? ",%s" : " %15s", column.c_str());
  }
  std::printf("\n");
  for (const auto& name : names) {
    std::printf(csv ? "%s" : "%-34s", name.c_str());
    for (const auto& column : columns) {
      const mean m = means[name][column];
      std::printf(csv ? ",%.4f" : " %15.3f", m.count == 0 ? 0 : std::exp(m.log_sum / m.count));
    }
    std::printf("\n");
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "quality: %s\n", e.what());
    return 2;
  }
}
