// SPDX-License-Identifier: BSL-1.0
#include "search.hpp"

#include "weft/bound/best.hpp"
#include "weft/core/sort.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/objective/energy.hpp"
#include "weft/objective/within_deadline.hpp"
#include "weft/parallel/placed_way.hpp"
#include "weft/partition/layer_split.hpp"
#include "weft/planner/run.hpp"
#include "weft/planner/usual_placements.hpp"
#include "weft/report/names.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/devices_needed.hpp"
#include "weft/solve/least_memory.hpp"
#include "weft/solve/pareto.hpp"
#include "weft/throughput/best.hpp"
#include "weft/throughput/in_flight.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace place {
namespace {

using namespace weft;

/// How a placement does, and whether it fits.
report::alternative assess(const options& o, const problem& p, std::string name, const placement& where) {
  const auto run = planner::run_of(p, where, o.contention);
  simulate::memory_tracker<problem> memory{p};
  memory.follow(where, run);
  report::alternative a{.name = std::move(name),
                        .step_seconds = run.makespan,
                        .peak_memory = static_cast<double>(memory.largest_peak())};
  for (const device_id d : ids(p.num_devices())) {
    const byte_count capacity = p.capacity(d);
    if (memory.peaks()[d] > capacity) {
      a.status = fmt::format("does not fit: needs {} of {} {}", readable_bytes(memory.peaks()[d]),
                             readable_bytes(capacity), report::in_memory_of(p.platform(), d));
      break;
    }
  }
  return a;
}

std::string name_of(const problem& p, const planner::usual_placement& x) {
  using enum planner::usual_placement::rule;
  switch (x.by) {
  case first_accelerator: return "framework default (first accelerator)";
  case first_device: return "framework default (first device)";
  case one_device: return fmt::format("everything on {}", p.platform().name(x.where.front()));
  case layers: return "equal blocks of layers";
  case work: return "blocks of equal work, as its names show no layers";
  case without_hosts: break;
  }
  return "what was found, without hosts";
}

std::string op_name(const problem& p, op_id v) { return std::string{p.workload().name(v)}; }

/// The device of which there should be more: the first accelerator, or else the first device.
device_id scarce_device(const problem& p) { return partition::accelerators(p).front(); }

/// What lacks, and how many devices would do, after `spent` seconds of the budget.
std::string explain(const options& o, const problem& p, const estimate& base, const solve::best_result& r,
                    double spent, const listeners& tell) {
  std::string why;
  if (r.status == status::infeasible) {
    why = to_string(*r.reason, r.reason->op == none ? "" : op_name(p, r.reason->op));
  }
  if (r.shortage) {
    why += (why.empty() ? "" : "\n  ") + std::string{"in the plan that came nearest, "} +
           about_shortage(*r.shortage, report::memory_name(p.platform(), r.shortage->device),
                          [&](op_id v) { return p.workload().name(v); });
  } else if (why.empty()) {
    why = "the search ended without one, and without a proof that there is none";
  }
  if (r.reason && r.reason->cause == infeasibility::kind::no_device_of_kind) {
    return why;
  }
  const device_id like = scarce_device(p);
  const auto estimates = [&](const platform<>& on) { return tool::costs{base, p.workload(), on}; };
  const auto needed = solve::devices_needed(
    p.workload(), p.platform(), estimates, like, std::nullopt, 256,
    {.seconds = std::max(o.budget.seconds - spent, o.budget.seconds / 2),
     .moves = 0,
     .stop = o.budget.stop},
    [&](std::size_t count) {
      tell.on_stage(fmt::format("no plan was found; trying {} devices like {}", count, p.platform().name(like)));
    });
  if (needed.reason && needed.reason == r.reason) {
    return why + fmt::format("\n  no number of devices like {} would be enough", p.platform().name(like));
  }
  return why + fmt::format("\n  with more devices like {}: {}{}", p.platform().name(like),
                           to_string(needed, needed.reason && needed.reason->op != none ? op_name(p, needed.reason->op)
                                                                                       : std::string{}),
                           o.contention == contention_model::none ? "" : ", if transfers do not slow each other down");
}

answer no_plan(const options& o, const problem& p, const estimate& base, const solve::best_result& r, double spent,
               const listeners& tell) {
  answer a;
  a.proven = r.status == status::infeasible;
  a.lacks_memory = !r.reason || r.reason->lacks_memory();
  a.why = explain(o, p, base, r, spent, tell);
  return a;
}

solve::best_options budget_of(const options& o, const progress_callback& on_progress) {
  return {.seconds = o.budget.seconds,
          .moves = o.budget.moves,
          .seed = o.seed,
          .threads = o.jobs,
          .stop = o.budget.stop,
          .on_progress = on_progress,
          .memory = memory_rule::over_time};
}

/// The plan that a search over schedules found, and its run: the search's, if that was on the network `made_for` and
/// this is what was asked for.
answer from(const options& o, const problem& p, solve::best_result r, contention_model made_for, std::string strategy) {
  answer a{.found = true, .plan = std::move(r.plan), .bound = r.bound, .strategy = std::move(strategy)};
  if (o.contention != made_for) {
    follow(o, p, a);
  } else {
    a.run = std::move(r.record);
    if (a.plan.order.empty()) {
      a.plan = simulate::plan_of(p, a.run);
    }
  }
  // What was not limited by the clock is told without times, so that the same command prints the same.
  const bool timed = o.budget.seconds < std::numeric_limits<double>::infinity();
  for (const auto& t : r.tried) {
    a.tried.push_back({.name = t.name,
                       .step_seconds = t.value < std::numeric_limits<double>::infinity() ? t.value : report::absent,
                       .planning_seconds = timed ? t.seconds : report::absent});
  }
  return a;
}

/// Whether some device might not hold everything.
bool reservations_bind(const problem& p) {
  byte_count all = 0;
  for (component_id c = 0; c < p.num_components(); ++c) {
    all += p.demand(c);
  }
  const auto devices = ids(p.num_devices());
  return std::any_of(devices.begin(), devices.end(), [&](device_id d) { return p.capacity(d) < all; });
}

/// Whether the steps that are in flight at once fit when they follow each other at the placement's period.
bool steps_in_flight_fit(const options& o, const problem& p, const placement& where) {
  const auto run = planner::run_of(p, where, o.contention);
  const auto held = throughput::peaks_in_flight(p, where, run, throughput::period(p, where));
  const auto devices = ids(p.num_devices());
  return std::all_of(devices.begin(), devices.end(), [&](device_id d) { return held[d] <= p.capacity(d); });
}

answer by_period(const options& o, const problem& p, const estimate& base, const listeners& tell) {
  const stopwatch clock;
  const auto relaxed = p.with_resident_demands();
  throughput::best s{.budget = o.budget};
  s.budget.on_progress = tell.on_progress;
  const bool bind = reservations_bind(p);
  s.budget.seconds /= bind ? 2 : 1;
  rng random{o.seed};
  auto r = s(p, random);
  const bool reserved = r.has_value(); // so that all steps in flight fit
  if (bind && !(r && r->period <= throughput::period_bound(throughput::flow<problem>{relaxed}))) {
    auto freer = s(relaxed, random); // reservations of all tensors refuse what runs in less
    if (freer && (!r || (freer->period < r->period && steps_in_flight_fit(o, p, freer->placement)))) {
      r = std::move(freer);
    } else if (freer && r) {
      r->bound = std::min(r->bound, freer->bound);
    }
  }
  answer a{.found = true, .bound = bound::best(relaxed), .strategy = "search for the period"};
  double period = 0;
  if (r) {
    a.plan.placement = r->placement;
    follow(o, p, a);
    period = r->period;
  }
  if (!r || !memory_shortages(p, r->placement, a.run).empty()) { // not even one step fits
    auto options = budget_of(o, tell.on_progress);
    options.seconds = std::max(options.seconds - clock.seconds(), options.seconds / 4);
    auto within = solve::best(p, options);
    if (!within.has_plan()) {
      return no_plan(o, p, base, within, clock.seconds(), tell);
    }
    period = throughput::period(p, within.plan.placement);
    a = from(o, p, std::move(within), contention_model::none,
             "search for the step time, as what is best for the period does not fit");
  }
  if (r) { // no step times, so they are not among the strategies
    std::string periods;
    for (const auto& t : r->tried) {
      periods += fmt::format("{}{} {:.4g} ms", periods.empty() ? "" : ", ", t.method, t.period * 1e3);
    }
    a.notes.push_back("periods found: " + periods);
  }
  if (!reserved) {
    a.notes.emplace_back("memory: one step fits, as the run shows; several steps in flight need more");
  }
  if (auto note = tool::about_updates(p.workload()); !note.empty()) {
    a.notes.push_back(std::move(note));
  }
  a.result = fmt::format("period of {:.4g} ms when steps follow each other", period * 1e3);
  if (r) {
    a.result += fmt::format(", at most {:.1f} % above the smallest possible",
                            r->bound > 0 ? std::max(0.0, period / r->bound - 1) * 100 : 0.0);
  }
  a.result += "; below is one step alone";
  return a;
}

/// Trade-offs of step time and energy, of the plans in time; true if some were found.
template <class Evaluation>
bool find_trade_offs(const options& o, const problem& p, const Evaluation& how, const solve::best_options& within,
                     answer& a) {
  auto front = solve::pareto(p, how, within);
  for (const auto& x : front.points) {
    a.front.push_back({x.makespan, x.value});
  }
  if (a.front.empty()) {
    return false;
  }
  a.plan = (o.objective == objective::energy ? front.points.back() : front.points.front()).plan;
  a.run = any_evaluator<problem>{p}.recorded(a.plan).record;
  a.least_joules = front.value_bound;
  a.bound = front.makespan_bound;
  a.strategy = "search for trade-offs of step time and energy";
  a.front_is_exact = front.exact;
  const auto tell_of = [](const report::trade_off& x) {
    return fmt::format("{:.4g} ms with {:.4g} J", x.step_seconds * 1e3, x.joules);
  };
  a.result = a.front.size() == 1 ? "one plan is best for both: " + tell_of(a.front[0])
                                 : fmt::format("{} trade-offs, from {} to {}", a.front.size(),
                                               tell_of(a.front.front()), tell_of(a.front.back()));
  return true;
}

/// Least energy, of the plans in time, or its trade-offs with the step time.
answer by_energy(const options& o, const problem& p, const estimate& base, const listeners& tell) {
  const stopwatch clock;
  const weft::objective::energy joules;
  if (!joules.draws_power(p)) {
    throw error("the platform does not say what power its devices draw: give them idle_watts and active_watts, and its "
                "links joules_per_byte");
  }
  const weft::objective::within_deadline in_time{joules, o.deadline};
  const evaluation how{schedule::static_order{}, in_time};
  auto options = budget_of(o, tell.on_progress);
  answer a{.found = true};
  if (o.pareto) {
    if (find_trade_offs(o, p, how, options, a)) {
      return a;
    }
    options.moves = std::min<std::uint64_t>(options.moves, 1'000); // only to say why there is none
    options.seconds = std::max(options.seconds - clock.seconds(), 1.0);
  }
  auto r = o.contention == contention_model::none ? solve::best(p, how, options)
                                                  : solve::best(p, evaluation{network_of(o), in_time}, options);
  if (!r.has_plan()) {
    if (r.status != status::late) {
      return no_plan(o, p, base, r, clock.seconds(), tell);
    }
    a.found = false;
    a.why = fmt::format("it may take {:.4g} ms, and the fastest that was found takes {:.4g} ms", o.deadline * 1e3,
                        r.makespan * 1e3);
    return a;
  }
  std::string found;
  for (const auto& t : r.tried) {
    if (t.value < std::numeric_limits<double>::infinity()) {
      found += fmt::format("{}{} {:.4g} J", found.empty() ? "" : ", ", t.name, t.value);
    }
  }
  a.notes.push_back("energies found: " + found);
  a.bound = bound::best(p.with_resident_demands());
  a.strategy = "search for the energy";
  a.plan = std::move(r.plan);
  a.run = std::move(r.record);
  a.least_joules = r.bound.value;
  a.result = fmt::format(
    "energy of {:.4g} J a step{}", r.score.value,
    r.bound.value > 0 ? fmt::format(", at most {:.1f} % above the smallest possible", r.gap() * 100) : std::string{});
  return a;
}

} // namespace

void follow(const options& o, const problem& p, answer& a) {
  a.run = planner::follow(p, a.plan, o.contention);
}

planner::placed_ops placed_ops_of(const options& o, const problem& p, const answer& a) {
  return planner::placed_ops_of(p, a.plan.placement, a.run, o.modelling.recompute.has_value(), o.least_gain / 100);
}

std::vector<report::alternative> baselines(const options& o, const problem& p) {
  std::vector<report::alternative> found;
  for (const auto& x : planner::usual_placements(p)) {
    found.push_back(assess(o, p, name_of(p, x), x.where));
  }
  weft::stable_sort(found, [](const auto& a, const auto& b) {
    return std::tuple{!a.status.empty(), a.step_seconds} < std::tuple{!b.status.empty(), b.step_seconds};
  });
  return found;
}

/// The plan that was found, the same without ops on hosts, or one that a framework has without a search, such as all on
/// one device: if times are estimates, the simplest that is fast enough, as more devices have to pay for what they ask
/// of a runtime.
void prefer_simple_plan(const options& o, const problem& p, answer& a) {
  const auto devices = ids(p.num_devices());
  const bool estimated = o.modelling.work != weft::work_unit::seconds &&
                         !std::all_of(devices.begin(), devices.end(),
                                      [&](device_id d) { return p.platform().reached_rates(d); });
  if (!estimated || o.least_gain == 0) {
    return;
  }
  const double found = a.run.makespan;
  const auto hand_overs = parallel::count_hand_overs(p, a.run);
  auto taken = planner::simplest_plan(p, {std::move(a.plan), std::move(a.run)}, o.contention, o.least_gain / 100);
  a.plan = std::move(taken.made);
  a.run = std::move(taken.run);
  if (const double gain = 100 * (a.run.makespan / found - 1); gain > 0.05) {
    a.notes.push_back(fmt::format("a plan that also uses other devices is {:.1f} % faster on paper{}, too little to "
                                  "pay for itself; --least-gain 0 takes it", gain,
                                  hand_overs == 0 ? std::string{}
                                                  : fmt::format(", handing over {} tensor{} between host and "
                                                                "accelerator", hand_overs,
                                                                hand_overs == 1 ? "" : "s")));
  }
}

answer search(const options& o, const problem& p, const estimate& base, const listeners& tell) {
  const stopwatch clock;
  answer a;
  if (o.objective == objective::period) {
    a = by_period(o, p, base, tell);
  } else if (o.objective == objective::energy || o.pareto) {
    a = by_energy(o, p, base, tell);
  } else {
    const auto budget = budget_of(o, tell.on_progress);
    auto r = o.objective == objective::memory         ? solve::least_memory(p, budget)
             : o.contention == contention_model::none ? solve::best(p, budget)
                                                      : solve::best(p, network_of(o), budget);
    if (!r.has_plan()) {
      return no_plan(o, p, base, r, clock.seconds(), tell);
    }
    a = o.objective == objective::memory
          ? from(o, p, std::move(r), contention_model::none, "search for least memory")
          : from(o, p, std::move(r), o.contention, "search for the step time");
    if (o.objective == objective::makespan) {
      prefer_simple_plan(o, p, a);
    }
  }
  if (a.found) {
    a.baselines = baselines(o, p);
  }
  return a;
}

} // namespace place
