// SPDX-License-Identifier: BSL-1.0
// What becomes of plans when times are not as estimated, on the suite of generated problems: the makespan in 500
// samples of compute and transfer times, lognormal with mean 1, over the makespan by the estimates; geometric means.
// Devices keep the order of the plan, or react and take what is ready. Then, what it gains to make plans for the 95 %
// quantile instead of the makespan: genetic search from these plans with as many moves, judged by samples that the
// search has not seen. Deterministic.
//
// robustness [--sigma S] [--seeds N] [--moves N]    sigma of the logarithm (0.2), seeds of the suite (1), moves of the
//                                                   genetic search (2000; 0: leave it out)
#include "support/suite.hpp"

#include "weft/evaluate/sampled_runs.hpp"
#include "weft/objective/risk.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/best.hpp"

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
  int better = 0; // than what it is compared with, in the quantile
  int count = 0;

  void add(const makespan_distribution& found, double estimate_of_other, double mean_of_other, double quantile_of_other,
           double worst_of_other, bool is_better) {
    estimate.add(found.estimate / estimate_of_other);
    mean.add(found.mean() / mean_of_other);
    quantile.add(found.quantile(0.95) / quantile_of_other);
    worst.add(found.conditional_value_at_risk(0.95) / worst_of_other);
    better += is_better;
    ++count;
  }
};

struct settings {
  cost::uncertainty times = {};
  cost::sampling unseen = {.samples = 500, .seed = 1};
  std::uint64_t moves = 2000;
  std::uint64_t moves_of_best = 20'000;
};

template <class Policy>
makespan_distribution run(const settings& s, const suite_problem& p, const plan& x, const Policy& policy) {
  sampled_runs<suite_problem, Policy> runs{p, policy, s.times, s.unseen};
  makespan_distribution found{.estimate = runs.run(x, runs.size()).makespan};
  const auto makespans = runs.makespans(x);
  found.makespans.assign(makespans.begin(), makespans.end());
  return found;
}

class robustness {
public:
  explicit robustness(const settings& s) : settings_{s} {}

  void look_at(const bench::suite_case& c) {
    const auto& p = c.problem;
    rng random{1};
    workspace scratch;
    const auto heft = partition::run(partition::heft{}, p, random, scratch);
    const auto best = solve::best(p, {.moves = settings_.moves_of_best});
    if (!heft || !best.has_plan()) {
      return;
    }
    compare_runs(p, "HEFT", heft->plan);
    compare_runs(p, "best", best.plan);
    if (settings_.moves > 0) {
      compare_refined(c, "HEFT", heft->plan);
      compare_refined(c, "best", best.plan);
    }
  }

  void print() const {
    std::printf("%-6s %-28s %9s %9s %9s %9s  %s\n", "plan", "run", "estimate", "mean", "q95", "cvar95",
                "q95 below that in order");
    print(runs_);
    if (!refined_.empty()) {
      std::printf("\n%-35s %9s %9s %9s %9s  %s\n", "for q95 / for the makespan, from", "estimate", "mean", "q95",
                  "cvar95", "q95 is smaller");
      print(refined_);
    }
  }

private:
  using table = std::map<std::pair<std::string, std::string>, row>;

  static void print(const table& rows) {
    for (const auto& [name, r] : rows) {
      std::printf("%-6s %-28s %9.3f %9.3f %9.3f %9.3f  %d of %d\n", name.first.c_str(), name.second.c_str(),
                  r.estimate.value(), r.mean.value(), r.quantile.value(), r.worst.value(), r.better, r.count);
    }
  }

  void compare_runs(const suite_problem& p, const char* plan_name, const plan& x) {
    const auto ordered = run(settings_, p, x, schedule::static_order{});
    const auto add = [&](const char* how, const makespan_distribution& found) {
      const double over = ordered.estimate;
      runs_[{plan_name, how}].add(found, over, over, over, over, found.quantile(0.95) < ordered.quantile(0.95));
    };
    add("0 keeps its order", ordered);
    add("1 ready, plan's order first", run(settings_, p, x, planned_order_first{}));
    add("2 ready, longest path first", run(settings_, p, x, schedule::path_completion_time{}));
  }

  void compare_refined(const bench::suite_case& c, const char* plan_name, const plan& start) {
    const auto refined = [&](const objective::risk& how) {
      rng random{1};
      const auto found = refine::improve(c.problem, start, refine::genetic{.budget = {.moves = settings_.moves}},
                                         evaluation{schedule::static_order{}, how}, random);
      return run(settings_, c.problem, found.plan, schedule::static_order{});
    };
    const auto plain = refined({.times = {}, .samples = 1}); // the makespan by the estimates
    const auto cautious = refined({.measure = objective::quantile(0.95), .times = settings_.times, .samples = 100});
    for (const auto& column : bench::suite_columns(c.entry)) {
      if (column != c.entry.family) {
        const double quantile = plain.quantile(0.95), worst = plain.conditional_value_at_risk(0.95);
        refined_[{plan_name, column}].add(cautious, plain.estimate, plain.mean(), quantile, worst,
                                          cautious.quantile(0.95) < quantile);
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
        s.moves = s.moves_of_best = 20;
        s.unseen.samples = 20;
      } else {
        throw value_error(argv[i], "is no option with a value; there are --sigma S, --seeds N and --moves N");
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
