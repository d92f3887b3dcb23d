// SPDX-License-Identifier: BSL-1.0
// What becomes of plans when times are not as estimated, on the suite of generated problems: the makespan in 500 samples
// of compute and transfer times, lognormal with mean 1, over the makespan by the estimates; geometric means. Devices
// keep the order of the plan, or react and take what is ready. Then, what it gains to make plans for the 95 % quantile
// instead of the makespan with as many moves: judged by samples that the searches have not seen. Deterministic.
//
// robustness [--sigma S] [--seeds N] [--moves N]    sigma of the logarithm (0.2), seeds of the suite (1), moves of each
//                                                   search (2000; 0: leave the searches out)
#include "support/suite.hpp"

#include "weft/evaluate/sampled_runs.hpp"
#include "weft/objective/risk.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pipeline.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace weft;
using bench::suite_problem;

/// Takes what is ready, the first in the order of the plan first.
struct planned_order_first {
  void assign_keys(const auto& c, std::span<double> keys) const {
    const auto& f = c.flow;
    double position = 0;
    for (const step& s : c.order) {
      if (!s.is_send()) {
        keys[s.op] = --position;
      }
    }
    for (std::uint32_t k = 0; k < f.transfers().size(); ++k) { // right after its producer
      keys[f.send_of(k)] = keys[f.problem().workload().producer(f.transfers()[k].tensor)] - 0.5;
    }
  }
};

struct mean_ratio {
  double log_sum = 0;
  int count = 0;
  void add(double ratio) {
    log_sum += std::log(ratio);
    ++count;
  }
  double value() const { return std::exp(log_sum / std::max(1, count)); }
};

/// A row of a table: what the makespans of a way to run plans come to.
struct row {
  mean_ratio estimate, mean, quantile, worst;
  int steadier = 0; // than to keep the order, in the quantile
  int count = 0;

  void add(const makespan_distribution& found, double over, double quantile_of_order) {
    estimate.add(found.estimate / over);
    mean.add(found.mean() / over);
    quantile.add(found.quantile(0.95) / over);
    worst.add(found.conditional_value_at_risk(0.95) / over);
    steadier += found.quantile(0.95) < quantile_of_order;
    ++count;
  }
};

struct settings {
  cost::uncertainty times = {};
  cost::sampling unseen = {.samples = 500, .seed = 1};
  std::uint64_t moves = 2000;
};

template <class Policy>
makespan_distribution run(const settings& s, const suite_problem& p, const plan& x, const Policy& policy) {
  return sample_makespans(p, x, policy, s.times, s.unseen);
}

class robustness {
public:
  explicit robustness(const settings& s) : settings_{s} {}

  void look_at(const bench::suite_case& c) {
    const auto& p = c.problem;
    const auto heft = pipeline(partition::heft{}, schedule::static_order{})(p);
    const auto best = solve::best(p, {.moves = 10 * settings_.moves});
    if (!heft.has_plan() || !best.has_plan()) {
      return;
    }
    compare_runs(c, "HEFT", heft.plan);
    compare_runs(c, "best", best.plan);
    if (settings_.moves > 0) {
      compare_refined(c, "genetic", refine::genetic{.budget = {.moves = settings_.moves}});
      compare_refined(c, "local_search", refine::local_search{.budget = {.moves = settings_.moves}});
    }
  }

  void print() const {
    std::printf("%-10s %-26s %9s %9s %9s %9s %10s\n", "plan", "run", "estimate", "mean", "q95", "cvar95", "steadier");
    for (const auto& [name, r] : runs_) {
      std::printf("%-10s %-26s %9.3f %9.3f %9.3f %9.3f %5d / %d\n", name.first.c_str(), name.second.c_str(),
                  r.estimate.value(), r.mean.value(), r.quantile.value(), r.worst.value(), r.steadier, r.count);
    }
    if (!refined_.empty()) {
      std::printf("\n%-40s %9s %9s %9s %9s %10s\n", "refined for q95 / refined for the makespan", "estimate", "mean", "q95",
                  "cvar95", "better q95");
      for (const auto& [name, r] : refined_) {
        std::printf("%-13s %-26s %9.3f %9.3f %9.3f %9.3f %5d / %d\n", name.first.c_str(), name.second.c_str(),
                    r.estimate.value(), r.mean.value(), r.quantile.value(), r.worst.value(), r.steadier, r.count);
      }
    }
  }

private:
  using table = std::map<std::pair<std::string, std::string>, row>;

  void compare_runs(const bench::suite_case& c, const std::string& plan_name, const plan& x) {
    const auto ordered = run(settings_, c.problem, x, schedule::static_order{});
    const auto add = [&](const char* how, const makespan_distribution& found) {
      runs_[{plan_name, how}].add(found, ordered.estimate, ordered.quantile(0.95));
    };
    add("0 keeps its order", ordered);
    add("1 ready, plan's order first", run(settings_, c.problem, x, planned_order_first{}));
    add("2 ready, longest path first", run(settings_, c.problem, x, schedule::path_completion_time{}));
  }

  template <class Refiner>
  void compare_refined(const bench::suite_case& c, const char* name, const Refiner& refiner) {
    const auto refined = [&](const objective::risk& how) {
      const auto solve = pipeline(partition::heft{}, refiner, evaluation{schedule::static_order{}, how});
      return run(settings_, c.problem, solve(c.problem, 1).plan, schedule::static_order{});
    };
    // The makespan by the estimates, but judged move by move as the quantile is, so that the searches are the same.
    const auto plain = refined({.times = {}, .samples = 1});
    const auto cautious = refined({.measure = objective::quantile(0.95), .times = settings_.times, .samples = 200});
    for (const auto& column : bench::suite_columns(c.entry)) {
      if (column != c.entry.family) {
        auto& r = refined_[{name, column}];
        r.estimate.add(cautious.estimate / plain.estimate);
        r.mean.add(cautious.mean() / plain.mean());
        r.quantile.add(cautious.quantile(0.95) / plain.quantile(0.95));
        r.worst.add(cautious.conditional_value_at_risk(0.95) / plain.conditional_value_at_risk(0.95));
        r.steadier += cautious.quantile(0.95) < plain.quantile(0.95);
        ++r.count;
      }
    }
  }

  settings settings_;
  table runs_;
  table refined_;
};

} // namespace

int main(int argc, char** argv) {
  try {
    settings s;
    double sigma = 0.2;
    std::uint64_t seeds = 1;
    bool once = false; // by ctest, with minimal time
    for (int i = 1; i < argc; ++i) {
      const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0 && i + 1 < argc; };
      if (is("--sigma")) {
        sigma = std::strtod(argv[++i], nullptr);
      } else if (is("--seeds")) {
        seeds = std::strtoull(argv[++i], nullptr, 10);
      } else if (is("--moves")) {
        s.moves = std::strtoull(argv[++i], nullptr, 10);
      } else if (std::strncmp(argv[i], "--benchmark_min_time", 20) == 0) {
        once = true;
        s.moves = 20;
        s.unseen.samples = 20;
      }
    }
    s.times = cost::uncertainty{cost::lognormal{sigma}}.set_transfers(cost::lognormal{sigma});
    robustness all{s};
    bench::for_each_of_suite(
      seeds, [&](const generate::suite_entry& e) { return !once || (e.family == "fft" && e.ccr == 1); },
      [&](const bench::suite_case& c) { all.look_at(c); });
    all.print();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "robustness: %s\n", e.what());
    return 2;
  }
}
