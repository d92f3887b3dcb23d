// SPDX-License-Identifier: BSL-1.0
// How many changes of a schedule per second are evaluated incrementally, and by full simulation. A change reassigns a
// component to another device; a descent makes it if it shortens the schedule, so evaluations end once it is known
// that it does not. Components are drawn at random, or near the longest paths, as the searches draw them. The same
// changes are then evaluated without a limit, and simulated; that all makespans are equal is checked. Times are CPU
// times, the best of several runs.
//
// local_search [workload.csv platform.csv]
#include "support/cases.hpp"

#include "weft/io/critical_path_csv.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/refine/neighbourhood.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::problem;
using schedule_type = weft::refine::incremental_schedule<problem>;
using neighbourhood = weft::refine::neighbourhood<problem>;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// A component and another device that it fits.
struct reassignment {
  weft::component_id component;
  weft::device_id device;
};

reassignment draw(const problem& p, const schedule_type& s, const neighbourhood& moves, std::uint32_t focus,
                  weft::rng& random) {
  for (;;) {
    weft::op_id v = weft::none;
    if (focus > 0) {
      const auto i = weft::refine::near_critical(s, random, focus);
      v = s.is_op(i) ? i : s.producer(i);
    } else {
      v = p.members(random.below(p.num_components())).front();
    }
    const auto d = moves.draw_device(s, v, random);
    if (d != s.device(v) && s.fits(p.component(v), d)) {
      return {p.component(v), d};
    }
  }
}

struct descent {
  std::uint64_t changes;
  double makespan;
};

/// Makes what shortens the schedule.
descent descend(const problem& p, schedule_type& s, std::uint32_t focus, std::uint64_t draws, weft::rng& random) {
  const neighbourhood moves{p};
  const auto before = s.evaluations();
  for (std::uint64_t k = 0; k < draws; ++k) {
    const auto [c, d] = draw(p, s, moves, focus, random);
    if (s.move(c, d) && s.evaluate(s.makespan()) < s.makespan()) {
      s.commit();
    } else {
      s.rollback();
    }
  }
  return {s.evaluations() - before, s.makespan()};
}

/// The same changes of one schedule, in three ways; changes per second each.
struct rates {
  double limited = 0;
  double unlimited = 0;
  double simulated = 0;
};

/// Precondition: no change is pending.
rates measure(const problem& p, schedule_type& s, std::uint32_t focus, std::size_t count, int repeats) {
  const neighbourhood moves{p};
  weft::rng random{2};
  std::vector<reassignment> changes;
  std::vector<weft::plan> plans;
  std::vector<double> makespans;
  while (changes.size() < count) {
    const auto x = draw(p, s, moves, focus, random);
    if (s.move(x.component, x.device)) {
      changes.push_back(x);
      makespans.push_back(s.evaluate());
      plans.push_back(s.to_plan());
    }
    s.rollback();
  }
  const auto evaluate_all = [&](double limit) {
    double best = 0;
    for (int r = 0; r < repeats; ++r) {
      const double begin = cpu_seconds();
      for (std::size_t k = 0; k < count; ++k) {
        s.move(changes[k].component, changes[k].device);
        const double makespan = s.evaluate(limit);
        s.rollback();
        if (makespan != (makespans[k] > limit ? s.infinity : makespans[k])) {
          std::printf("evaluations differ\n");
          std::exit(1);
        }
      }
      best = std::max(best, static_cast<double>(count) / (cpu_seconds() - begin));
    }
    return best;
  };
  rates result{evaluate_all(s.makespan()), evaluate_all(s.infinity), 0};
  weft::simulator<problem, weft::schedule::static_order> sim{p};
  for (int r = 0; r < repeats; ++r) {
    const double begin = cpu_seconds();
    for (std::size_t k = 0; k < count; ++k) {
      if (sim.run(plans[k]).makespan != makespans[k]) {
        std::printf("the simulation differs\n");
        std::exit(1);
      }
    }
    result.simulated = std::max(result.simulated, static_cast<double>(count) / (cpu_seconds() - begin));
  }
  return result;
}

void study(const std::string& name, const weft::workload& w, const weft::platform<>& q, bool once) {
  const problem p{w, q};
  weft::rng random{1};
  weft::workspace scratch;
  const auto start = weft::partition::run(weft::partition::heft{}, p, random, scratch);
  if (!start) {
    std::printf("%-44s has no plan of HEFT\n", name.c_str());
    return;
  }
  weft::trace run;
  weft::simulator<problem, weft::schedule::static_order> sim{p};
  sim.run(start->plan, weft::simulate::recorder{run});
  schedule_type first{p};
  first.assign(run);
  for (const std::uint32_t focus : {0u, 5u}) {
    double best = 0;
    schedule_type s = first;
    for (int r = 0; r < (once ? 1 : 3); ++r) {
      s = first;
      weft::rng same{3};
      const double begin = cpu_seconds();
      const auto done = descend(p, s, focus, once ? 2'000 : 40'000, same);
      best = std::max(best, static_cast<double>(done.changes) / (cpu_seconds() - begin));
    }
    const rates r = measure(p, s, focus, once ? 50 : 400, once ? 1 : 8);
    std::printf("%-44s %6zu %4zu %-9s %9.4g %9.4g %9.0f %9.0f %9.0f %9.0f %7.1f %7.1f\n", name.c_str(), p.num_ops(),
                p.num_devices(), focus > 0 ? "critical" : "any", first.makespan(), s.makespan(), best, r.limited,
                r.unlimited, r.simulated, r.limited / r.simulated, best / r.simulated);
    std::fflush(stdout);
  }
}

} // namespace

int main(int argc, char** argv) {
  const bool once = argc > 1 && std::strncmp(argv[1], "--benchmark_min_time", 20) == 0; // by ctest
  std::printf("Changes evaluated per second: in a descent, at its end with its limit and without one, and simulated\n");
  std::printf("%-44s %6s %4s %-9s %9s %9s %9s %9s %9s %9s %7s %7s\n", "problem", "ops", "dev", "drawn", "makespan",
              "at end", "descent", "limited", "unlimited", "simulated", "ratio", "d/sim");
  if (argc == 3) {
    study(argv[1], weft::io::read_workload_csv(std::filesystem::path{argv[1]}),
          weft::io::read_platform_csv(std::filesystem::path{argv[2]}), once);
    return 0;
  }
  for (const auto& q : bench::paper_platforms()) {
    for (const auto& w : bench::paper_workloads()) {
      study(w.name + " x " + q.name, w.value, q.value, once);
    }
  }
  const auto fifty = weft::presets::make("paper_like_50");
  for (const char* name : {"ptb_lstm", "dynamic_rnn", "inception_v3"}) {
    study(std::string{"zoo:"} + name + " x preset:paper_like_50", weft::zoo::make(name), fifty, once);
  }
  study("layered 3000 x 50 random devices", weft::generate::layered_sized(3000, 60, 4, 1), bench::devices(50), once);
}
