// SPDX-License-Identifier: BSL-1.0
#include "batch.hpp"

#include "pinned_problem.hpp"
#include "tool/costs.hpp"
#include "tool/model_file.hpp"

#include "weft/cost/efficiency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
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

weft::planner::short_search short_search_of(const options& o) {
  const bool timed = o.budget.seconds < std::numeric_limits<double>::infinity();
  return {.budget = {.moves = std::min<std::uint64_t>(o.budget.moves, timed ? o.budget.moves : 1000),
                     .seconds = o.budget.seconds},
          .contention = o.contention,
          .least_gain = o.least_gain / 100,
          .seed = o.seed,
          .jobs = o.jobs,
          .stop = o.budget.stop,
          .recomputes = o.modelling.recompute.has_value()};
}

} // namespace

short_run run_shortly(const options& o, const tool::target& target, const tool::input& in) {
  const short_problem made{o, target, in};
  return weft::planner::run_shortly(made.pinned.problem(), short_search_of(o));
}

tried_batches largest_batch(const options& o, const tool::target& target, std::uint64_t limit,
                            const std::function<void(const std::string&)>& on_stage, double seconds) {
  const weft::stopwatch clock;
  return weft::planner::largest_batch(limit, [&](std::uint64_t batch) -> std::optional<double> {
    if (is_stopped(o) || clock.seconds() >= seconds) {
      return std::nullopt;
    }
    on_stage(fmt::format("trying a batch of {}", batch));
    auto with = o;
    with.modelling.batch = batch;
    const auto in = tool::load(o.source, with.modelling);
    const short_problem made{with, target, in};
    const auto found = weft::planner::search_shortly(made.pinned.problem(), short_search_of(with));
    return found.has_plan() ? std::optional{found.makespan} : std::nullopt;
  });
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
