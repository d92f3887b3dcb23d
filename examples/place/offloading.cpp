// SPDX-License-Identifier: BSL-1.0
#include "offloading.hpp"

#include "batch.hpp"
#include "recomputation.hpp"

#include "weft/bound/best.hpp"
#include "weft/core/readable.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/solve/offloading.hpp"
#include "weft/validate/memory_shortage.hpp"
#include "weft/workload/role.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace place {
namespace {

using namespace weft;
using tool::estimate;

/// Runs, at most, by which is judged what to send.
constexpr std::size_t max_runs = 40;

void check(const tool::input& in) {
  const auto& w = in.model.ops;
  if (!is_training_step(w)) {
    throw error(fmt::format("--offload auto is for training steps, and '{}' trains nothing; --train makes a step of a "
                            "forward model, as in zoo:gpt2_small:inference --train adam", in.spec));
  }
}

struct accelerator_and_host {
  device_id device = none;
  device_id host = none;
};

accelerator_and_host find_host(const platform<>& devices) {
  accelerator_and_host found;
  std::size_t accelerators = 0;
  for (const device_id d : ids(devices.num_devices())) {
    if (devices.kind(d) != device_kind::cpu) {
      ++accelerators;
      found.device = d;
    } else if (found.host == none && devices.memory_capacity(d) > 0) {
      found.host = d;
    }
  }
  if (accelerators != 1 || found.host == none) {
    throw error(fmt::format("--offload auto is for one accelerator and a CPU with memory, and the platform has {}",
                            found.host == none  ? "no such CPU"
                            : accelerators == 0 ? "no accelerator"
                                                : "several accelerators"));
  }
  if (memory_of(devices, found.device) == memory_of(devices, found.host)) {
    throw error(fmt::format("--offload auto moves tensors to the host's memory, and {} works in that memory already; "
                            "--recompute auto needs less of it", devices.name(found.device)));
  }
  return found;
}

/// The costs of a step's own ops, and estimates for trips.
struct costs_with_trips : estimate {
  const tool::costs& of_step;
  std::size_t num_ops;

  template <class W, class P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return v < num_ops ? of_step.compute_time(w, v, p, d) : estimate::compute_time(w, v, p, d);
  }
};

/// A step with what it sends.
struct candidate {
  tool::model_options modelling = {};
  tool::input in = {}; ///< nothing sent yet
  solve::offloading_choice chosen = {};
  plan made = {};

  auto rank() const { return std::pair{chosen.verdict.lacks, chosen.verdict.seconds}; }
  bool sends() const { return !chosen.step.trips.empty(); }
};

/// Of those that fit the one to take, as --least-gain says; else the one that lacks least.
candidate& one_to_take(const options& o, std::vector<candidate>& tried) {
  std::vector<parallel::timed_way> ways;
  for (const auto& x : tried) {
    ways.push_back({{.recomputes = x.modelling.recompute.has_value(), .offloads = x.sends()},
                    x.chosen.fits ? x.chosen.verdict.seconds : std::numeric_limits<double>::infinity()});
  }
  const auto chosen = parallel::simplest_within(ways, o.least_gain / 100);
  return chosen ? tried[chosen.number]
                : *std::min_element(tried.begin(), tried.end(),
                                    [](const auto& a, const auto& b) { return a.rank() < b.rank(); });
}

class chooser {
public:
  chooser(const options& o, const tool::target& target, const cost::efficiency_table& table)
      : o_{o}, target_{target}, table_{table}, at_{find_host(target.devices)} {}

  void choose(candidate& x) const {
    const auto base = tool::make_estimate(x.modelling, x.in, target_, table_);
    std::vector<std::string> unread;
    const auto measured = tool::make_costs(x.modelling, x.in, target_, base, unread);
    const costs_with_trips costs{{base}, measured, x.in.model.ops.num_ops()};
    const auto run = [&](const solve::offloaded_step& step) {
      return o_.contention == contention_model::none
               ? solve::run_on(step, target_.devices, costs, at_.device, at_.host, simulate::no_contention{})
               : solve::run_on(step, target_.devices, costs, at_.device, at_.host, network_of(o_).network);
    };
    auto times = solve::times_on(x.in.model.ops, target_.devices, costs, at_.device, at_.host);
    times.take_turns = o_.contention != contention_model::none;
    x.chosen = solve::least_offloading(x.in.model.ops, times, {.max_trials = max_runs, .stop = o_.budget.stop},
                                         run);
    x.made = run(x.chosen.step).plan;
  }

private:
  const options& o_;
  const tool::target& target_;
  const cost::efficiency_table& table_;
  accelerator_and_host at_;
};

/// Attentions, and quarters of the blocks.
std::vector<tool::model_options> ways_to_recompute(const options& o, const tool::input& in) {
  std::vector<tool::model_options> ways;
  auto m = o.modelling;
  if (tool::has_attentions(in)) {
    m.recompute = recomputation::attention;
    ways.push_back(m);
  }
  const std::uint32_t blocks = tool::num_blocks(in);
  m.recompute = recomputation::blocks;
  for (std::uint32_t quarter = 1; quarter <= 4 && blocks > 0; ++quarter) {
    m.recomputed_blocks = (blocks * quarter + 3) / 4;
    ways.push_back(m);
  }
  return ways;
}

/// True if a step of so many seconds that sends tensors to the host is the one to take, as --least-gain says.
bool is_worth_sending(const options& o, const parallel::timed_way& without, double seconds) {
  const parallel::timed_way with{{.recomputes = o.modelling.recompute.has_value(), .offloads = true}, seconds};
  return parallel::simplest_within(std::vector{without, with}, o.least_gain / 100).number == 1;
}

std::string in_ms(double seconds) { return fmt::format("{:.4g} ms", seconds * 1e3); }

std::string what_is_sent(const solve::offloaded_step& x) {
  const bool one = x.trips.size() == 1;
  return fmt::format("{} tensor{}, {} in all, wait{} on the host while nothing reads {}, and come{} back for the "
                     "backward pass", x.trips.size(), one ? "" : "s", readable_bytes(x.bytes), one ? "s" : "",
                     one ? "it" : "them", one ? "s" : "");
}

/// Takes the best of what sends alone, and of what runs ops again as well, for `best`, and says what the others take.
std::string compare_recomputation(const options& o, const chooser& choose,
                                  const std::function<void(const std::string&)>& on_stage, candidate& best) {
  auto compared = fmt::format("; without recomputation {}",
                              best.chosen.fits ? "the step takes " + in_ms(best.chosen.verdict.seconds)
                                               : std::string{"it does not fit"});
  auto alone = std::numeric_limits<double>::infinity();
  std::vector<candidate> tried;
  tried.push_back(std::move(best));
  for (auto& how : ways_to_recompute(o, tried.front().in)) {
    if (is_stopped(o)) {
      break;
    }
    on_stage("trying to run ops again, and to send tensors to the host");
    auto& x = tried.emplace_back(candidate{.modelling = how});
    x.in = tool::load(o.source, how);
    choose.choose(x);
    alone = x.sends() ? alone : std::min(alone, x.chosen.verdict.seconds);
  }
  best = std::move(one_to_take(o, tried));
  return compared + (alone < std::numeric_limits<double>::infinity() ? ", with recomputation alone " + in_ms(alone)
                                                                     : ", and recomputation alone is not enough");
}

} // namespace

offloading offload(options& o, const tool::target& target, tool::input& in,
                   const cost::efficiency_table& table, const std::function<void(const std::string&)>& on_stage) {
  check(in);
  const chooser choose{o, target, table};
  candidate best{.modelling = o.modelling};
  best.in = std::move(in);
  on_stage("trying to send tensors to the host");
  choose.choose(best);
  std::string compared;
  if (o.modelling.recompute_least && best.sends()) {
    compared = compare_recomputation(o, choose, on_stage, best);
  }
  in = std::move(best.in);
  o.modelling = best.modelling;
  o.assumed.erase("offload");
  record_recomputation(o);
  const auto& [step, verdict, fits, is_exact] = best.chosen;
  if (!fits) {
    return {fmt::format("no tensors are sent to the host: no choice that was tried fits, and the nearest is {} short{}",
                        readable_bytes(verdict.lacks),
                        o.modelling.recompute_least ? "" : "; --recompute auto as well needs less")};
  }
  if (!best.sends()) {
    return {"no tensors have to wait on the host" + compared};
  }
  on_stage("trying a step that sends nothing to the host");
  const auto plain = run_shortly(o, target, in);
  if (!is_worth_sending(o, plain.way, verdict.seconds)) {
    return {fmt::format("no tensors are sent to the host: with them a step takes {}, and a short search finds {} "
                        "without{}", in_ms(verdict.seconds), in_ms(plain.seconds),
                        plain.way.how.on_unlike_devices ? ", by running ops on the host" : "")};
  }
  offloading made{what_is_sent(step), std::move(best.made), verdict.seconds};
  if (plain.seconds < std::numeric_limits<double>::infinity()) {
    made.note += fmt::format("; a short search without this finds {}{}", in_ms(plain.seconds),
                             plain.way.how.on_unlike_devices ? ", by running ops on the host" : "");
  }
  made.note += compared;
  o.modelling.offloaded = step.trips;
  o.assumed["offload"] = {tool::offload_text(o.modelling)};
  tool::offload(step.trips, in);
  return made;
}

void prefer_offloading(const options& o, const problem& p, const offloading& x, answer& a) {
  if (x.plan.order.empty()) {
    return;
  }
  answer other{.found = true, .plan = x.plan};
  follow(o, p, other);
  const auto without = a.found ? placed_ops_of(o, p, a).way : parallel::timed_way{};
  if (is_worth_sending(o, without, other.run.makespan) &&
      memory_shortages(p, other.plan.placement, other.run).empty()) {
    if (!a.found) {
      a = {.found = true, .bound = bound::best(p.with_resident_demands()), .baselines = baselines(o, p)};
    }
    a.plan = std::move(other.plan);
    a.run = std::move(other.run);
    a.strategy = "sending to the host what the accelerator cannot hold";
  }
}

} // namespace place
