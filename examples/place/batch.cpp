// SPDX-License-Identifier: BSL-1.0
#include "batch.hpp"

#include "pinned_problem.hpp"
#include "search.hpp"
#include "tool/costs.hpp"
#include "tool/model_file.hpp"

#include "weft/core/least_enough.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/partition/first_device.hpp"
#include "weft/solve/best.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace place {

namespace {

/// The problem that a short search is for, as `o` models it.
struct short_problem {
  short_problem(const options& o, const tool::target& target, const tool::input& in)
      : table{tool::efficiencies(o.modelling, o.launches.value_or(weft::cost::launches::single))},
        base{tool::make_estimate(o.modelling, in, target, table)},
        pinned{o, in.model.ops, target.devices, tool::make_costs(o.modelling, in, target, base, notes)} {}

  weft::cost::efficiency_table table;
  tool::estimate base;
  std::vector<std::string> notes = {};
  pinned_problem pinned;
};

weft::solve::best_result search_shortly(const options& o, const tool::problem& p) {
  const bool timed = o.budget.seconds < std::numeric_limits<double>::infinity();
  return weft::solve::best(p, {.seconds = std::min(o.budget.seconds, timed ? 1.0 : o.budget.seconds),
                               .moves = std::min<std::uint64_t>(o.budget.moves, timed ? o.budget.moves : 1000),
                               .seed = o.seed,
                               .threads = o.jobs,
                               .stop = o.budget.stop,
                               .memory = weft::memory_rule::over_time});
}

/// Runs the plan on the network, and takes it for `x` if it fits there and counts for less; whether it fits.
bool offer(const options& o, const tool::problem& p, weft::plan made, short_run& x) {
  answer a{.plan = std::move(made)};
  follow(o, p, a);
  if (!weft::memory_shortages(p, a.plan.placement, a.run).empty()) {
    return false;
  }
  const auto way = placed_ops_of(o, p, a).way;
  if (weft::parallel::seconds_with_complexity(way, o.least_gain / 100) < x.counted(o)) {
    x.way = way;
    x.seconds = a.run.makespan;
  }
  return true;
}

/// Whether ops run on a host that might be on an accelerator.
bool uses_host(const tool::problem& p, const weft::placement& where) {
  using namespace weft;
  const auto is_host = [&](device_id d) { return hardware_kind(p.platform(), d) == device_kind::cpu; };
  const auto devices = ids(p.num_devices());
  const auto all = ids(p.num_ops());
  return std::any_of(all.begin(), all.end(), [&](op_id v) {
    return is_host(where[v]) && std::any_of(devices.begin(), devices.end(), [&](device_id d) {
             return !is_host(d) && p.kinds(p.component(v)).contains(p.platform().kind(d));
           });
  });
}

} // namespace

short_run run_shortly(const options& o, const tool::target& target, const tool::input& in) {
  const short_problem made{o, target, in};
  const auto& p = made.pinned.problem();
  short_run x;
  if (const auto usual = weft::partition::first_device{}(p); usual && !uses_host(p, *usual)) {
    x.spills = !offer(o, p, {*usual, {}}, x);
  }
  auto found = search_shortly(o, p);
  if (found.has_plan()) {
    x.spills = x.spills && uses_host(p, found.plan.placement);
    offer(o, p, std::move(found.plan), x);
  } else if (found.shortage) {
    x.lacks = found.shortage->peak - found.shortage->capacity;
  } else if (found.reason && found.reason->demand > found.reason->largest_free) {
    x.lacks = found.reason->demand - found.reason->largest_free;
  }
  return x;
}

tried_batches largest_batch(const options& o, const tool::target& target, std::uint64_t limit,
                            const std::function<void(const std::string&)>& on_stage, double seconds) {
  const weft::stopwatch clock;
  tried_batches x;
  const auto too_large = weft::least_enough(std::uint64_t{1}, limit - 1, [&](std::uint64_t batch) {
    if (is_stopped(o) || clock.seconds() >= seconds) {
      return true;
    }
    on_stage(fmt::format("trying a batch of {}", batch));
    auto with = o;
    with.modelling.batch = batch;
    const auto in = tool::load(o.source, with.modelling);
    const auto found = search_shortly(with, short_problem{with, target, in}.pinned.problem());
    if (!found.has_plan()) {
      return true;
    }
    const double rate = found.makespan > 0 ? static_cast<double>(batch) / found.makespan : 0;
    if (batch > x.largest) {
      x.largest = batch;
      x.largest_rate = rate;
    }
    if (rate > x.most_rate) {
      x.fastest = batch;
      x.most_rate = rate;
    }
    return false;
  });
  x.largest = too_large.value_or(limit) - 1;
  return x;
}

bool has_accelerators(const weft::platform<>& p) {
  const auto devices = weft::ids(p.num_devices());
  return std::any_of(devices.begin(), devices.end(),
                     [&](weft::device_id d) { return hardware_kind(p, d) != weft::device_kind::cpu; });
}

std::string about_batch(const options& o, const tool::target& target, const tried_batches& x, double step_seconds) {
  constexpr double worth_telling = 1.005;
  const auto rate = [](double per_second) {
    return per_second >= 1000 ? fmt::format("{:.0f} samples/s", per_second)
                              : fmt::format("{:.3g} samples/s", per_second);
  };
  auto text = fmt::format("batch of {}, the largest that fits{}, {}", x.largest,
                          !has_accelerators(target.devices)           ? ""
                          : o.max_batch == options::batch_memory::all ? " with the memory of hosts"
                                                                      : " into the memory of accelerators",
                          rate(static_cast<double>(x.largest) / step_seconds));
  return x.most_rate > worth_telling * x.largest_rate
           ? text + fmt::format("; short searches find more with a batch of {}: {}, against {} with this one",
                                x.fastest, rate(x.most_rate), rate(x.largest_rate))
           : text + ", more than any smaller batch that was tried";
}

} // namespace place
