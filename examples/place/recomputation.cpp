// SPDX-License-Identifier: BSL-1.0
#include "recomputation.hpp"

#include "batch.hpp"
#include "parallel.hpp"
#include "tool/costs.hpp"
#include "tool/model_file.hpp"

#include "weft/bound/best.hpp"
#include "weft/planner/tried_amounts.hpp"
#include "weft/solve/fastest_amount.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace place {
namespace {

/// Choices of what runs again, the least first: nothing, attentions, blocks.
std::vector<std::optional<weft::recomputation>> choices(const tool::input& plain) {
  using weft::recomputation;
  std::vector<std::optional<recomputation>> kinds{std::nullopt};
  if (tool::has_attentions(plain)) {
    kinds.emplace_back(recomputation::attention);
  }
  if (tool::num_blocks(plain) > 0) {
    kinds.emplace_back(recomputation::blocks);
  }
  return kinds;
}

/// Sets that with which short searches find the best plans op by op, ops that run on the host included: nothing,
/// attentions, or the first few blocks. All that there is, if no plan was found. Returns the seconds of a step as they
/// count beside those of other ways.
double recompute_for_plans(options& o, const tool::target& target, const tool::input& plain,
                           const std::function<void(const std::string&)>& on_stage) {
  auto& m = o.modelling;
  const auto blocks = tool::num_blocks(plain);
  const auto set = [&](std::optional<weft::recomputation> again, std::uint32_t count) {
    m.recompute = again;
    m.recomputed_blocks = count;
  };
  const auto judge = [&](std::optional<weft::recomputation> again, std::uint32_t count) {
    on_stage(!again                                           ? std::string{"trying a step without recomputation"}
             : *again == weft::recomputation::attention ? "trying to run attentions again"
                                                              : fmt::format("trying to run {} of {} blocks again",
                                                                            count, blocks));
    set(again, count);
    const auto x = run_shortly(o, target, again ? tool::load(o.source, m) : plain);
    return weft::solve::amount_verdict{x.counted(o.least_gain / 100), !x.spills || is_stopped(o)};
  };
  const auto best = weft::planner::fastest_rerun(blocks, tool::has_attentions(plain), judge);
  set(best.what, best.blocks);
  return best.seconds;
}

/// True if no plan op by op, whatever runs again, is faster than so many seconds.
bool is_faster_than_plans(double seconds, const tool::model_options& without, const tool::target& target,
                          const tool::input& plain, const weft::cost::efficiency_table& table) {
  std::vector<std::string> notes;
  const auto base = tool::make_estimate(without, plain, target, table);
  const tool::problem p{plain.model.ops, target.devices, tool::make_costs(without, plain, target, base, notes)};
  return seconds <= weft::bound::best(p.with_resident_demands()).value;
}

} // namespace

parallel_answer choose_recomputation(options& o, const tool::target& target, const weft::cost::efficiency_table& table,
                                     const std::function<void(const std::string&)>& on_stage) {
  parallel_answer ways;
  const auto without = o.modelling;
  const auto plain = tool::load(o.source, without);
  double least = std::numeric_limits<double>::infinity(); // as it counts
  if (o.shares && why_not_in_parts(o, target, plain).empty()) {
    ways = share_work(o, target, plain, on_stage, choices(plain));
  }
  if (const auto* const best = ways.best()) {
    o.modelling.recompute = best->how().recomputes;
    least = weft::parallel::seconds_with_complexity(best->timed(), o.least_gain / 100);
  }
  if (!o.is_forced() &&
      !(ways.best() && is_faster_than_plans(ways.best()->run.makespan, without, target, plain, table))) {
    const auto of_ways = o.modelling;
    if (recompute_for_plans(o, target, plain, on_stage) >= least) {
      o.modelling = of_ways;
    }
  }
  record_recomputation(o);
  return ways;
}

std::string about_recomputation(const tool::model_options& m) {
  return !m.recompute                                       ? ""
         : *m.recompute == weft::recomputation::attention   ? "attentions run again"
         : m.recomputed_blocks == weft::none                ? "blocks run again"
                                                            : fmt::format("{} block{} again", m.recomputed_blocks,
                                                                          m.recomputed_blocks == 1 ? " runs" : "s run");
}

void record_recomputation(options& o) {
  if (o.modelling.recompute) {
    o.assumed["recompute"] = {tool::recompute_text(o.modelling)};
  } else {
    o.assumed.erase("recompute");
  }
}

} // namespace place
