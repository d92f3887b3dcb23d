// SPDX-License-Identifier: BSL-1.0
#include "batch.hpp"

#include "pinned_problem.hpp"
#include "search.hpp"
#include "tool/costs.hpp"
#include "tool/model_file.hpp"

#include "weft/solve/best.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace place {
namespace {

bool fits(const options& o, const tool::target& target, std::uint64_t batch) {
  auto modelling = o.modelling;
  modelling.batch = batch;
  const auto in = tool::load(o.model, modelling);
  const auto table = weft::cost::typical_efficiencies();
  const auto base = tool::make_estimate(modelling, in, target, table);
  std::vector<std::string> notes;
  const pinned_problem pinned{o, in.model.ops, target.devices,
                              tool::make_costs(modelling, in, target, base, notes)};
  const bool timed = o.budget.seconds < std::numeric_limits<double>::infinity();
  const auto found =
    weft::solve::best(pinned.problem(),
                      {.seconds = std::min(o.budget.seconds, timed ? 1.0 : o.budget.seconds),
                       .moves = std::min<std::uint64_t>(o.budget.moves, timed ? o.budget.moves : 1000),
                       .seed = o.seed,
                       .threads = o.jobs,
                       .memory = weft::memory_rule::over_time});
  return found.status == weft::status::solved || found.status == weft::status::optimal;
}

} // namespace

std::uint64_t largest_below(std::uint64_t limit, const std::function<bool(std::uint64_t)>& does) {
  if (limit <= 1 || !does(1)) {
    return 0;
  }
  std::uint64_t good = 1;
  std::uint64_t bad = limit;
  for (std::uint64_t next = 2; next < bad; next = good * 2) {
    (does(next) ? good : bad) = next;
  }
  while (bad - good > 1) {
    const auto middle = good + (bad - good) / 2;
    (does(middle) ? good : bad) = middle;
  }
  return good;
}

std::uint64_t largest_batch(const options& o, const tool::target& target, std::uint64_t limit,
                            const std::function<void(const std::string&)>& on_stage) {
  const auto does = [&](std::uint64_t batch) {
    on_stage(fmt::format("trying a batch of {}", batch));
    return fits(o, target, batch);
  };
  return largest_below(limit, does);
}

} // namespace place
