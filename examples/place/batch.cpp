// SPDX-License-Identifier: BSL-1.0
#include "batch.hpp"

#include "pinned_problem.hpp"
#include "search.hpp"
#include "tool/costs.hpp"
#include "tool/model_file.hpp"

#include "weft/core/least_enough.hpp"
#include "weft/solve/best.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace place {

weft::solve::best_result short_search(const options& o, const tool::target& target,
                                      const tool::model_options& modelling, const tool::input& in) {
  const auto table = weft::cost::typical_efficiencies(o.launches);
  const auto base = tool::make_estimate(modelling, in, target, table);
  std::vector<std::string> notes;
  const pinned_problem pinned{o, in.model.ops, target.devices,
                              tool::make_costs(modelling, in, target, base, notes)};
  const bool timed = o.budget.seconds < std::numeric_limits<double>::infinity();
  return weft::solve::best(pinned.problem(),
                           {.seconds = std::min(o.budget.seconds, timed ? 1.0 : o.budget.seconds),
                            .moves = std::min<std::uint64_t>(o.budget.moves, timed ? o.budget.moves : 1000),
                            .seed = o.seed,
                            .threads = o.jobs,
                            .stop = o.budget.stop,
                            .memory = weft::memory_rule::over_time});
}

bool fits(const options& o, const tool::target& target, const tool::model_options& modelling) {
  const auto found = short_search(o, target, modelling, tool::load(o.source, modelling));
  return found.status == weft::status::solved || found.status == weft::status::optimal;
}

std::uint64_t largest_batch(const options& o, const tool::target& target, std::uint64_t limit,
                            const std::function<void(const std::string&)>& on_stage, double seconds) {
  const weft::stopwatch clock;
  const auto too_large = weft::least_enough(std::uint64_t{1}, limit - 1, [&](std::uint64_t batch) {
    if (is_stopped(o) || clock.seconds() >= seconds) {
      return true;
    }
    on_stage(fmt::format("trying a batch of {}", batch));
    auto modelling = o.modelling;
    modelling.batch = batch;
    return !fits(o, target, modelling);
  });
  return too_large.value_or(limit) - 1;
}

} // namespace place
