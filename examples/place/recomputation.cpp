// SPDX-License-Identifier: BSL-1.0
#include "recomputation.hpp"

#include "batch.hpp"
#include "parallel_step.hpp"
#include "tool/costs.hpp"
#include "tool/model_file.hpp"

#include "weft/bound/best.hpp"
#include "weft/solve/fastest_amount.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace place {
namespace {

/// The ways to share the work with what each of them runs again.
parallel_answer share_recomputed(options& o, const tool::target& target, const weft::cost::efficiency_table& table,
                                 const std::function<void(const std::string&)>& on_stage) {
  using weft::recomputation;
  std::vector<std::pair<std::optional<recomputation>, const char*>> kinds{{std::nullopt, ""}};
  const auto plain = tool::load(o.source, o.modelling);
  if (tool::has_attentions(plain)) {
    kinds.emplace_back(recomputation::attention, "attentions run again");
  }
  if (tool::num_blocks(plain) > 0) {
    kinds.emplace_back(recomputation::blocks, "blocks run again");
  }
  parallel_answer all;
  std::vector<std::pair<parallel_step*, std::optional<recomputation>>> how;
  for (const auto& [again, remark] : kinds) {
    o.modelling.recompute = again;
    auto some = again ? share_work(o, target, tool::load(o.source, o.modelling), table, on_stage)
                      : share_work(o, target, plain, table, on_stage);
    for (auto& w : some.ways) {
      w.remark += fmt::format("{}{}", w.remark.empty() || !again ? "" : ", ", remark);
      all.ways.push_back(std::move(w));
    }
    for (auto& x : some.kept) {
      how.emplace_back(x.get(), again);
      keep(std::move(x), all);
    }
    all.why_not = some.why_not;
    if (some.all_fit || is_stopped(o)) {
      break;
    }
  }
  choose_way(o, all);
  const auto again_in = [&](const parallel_step* step) {
    const auto at = std::find_if(how.rbegin(), how.rend(), [&](const auto& x) { return x.first == step; });
    return at == how.rend() ? std::nullopt : at->second; // the last one, as others there may be gone
  };
  o.modelling.recompute = again_in(all.best.get());
  std::erase_if(all.kept, [&](const auto& x) { return again_in(x.get()) != o.modelling.recompute; });
  sort_ways(all.ways);
  return all;
}

/// Sets that with which short searches find the fastest plans op by op, ops that run on the host included: nothing,
/// attentions, or the first few blocks. All that there is, if no plan was found. Returns the seconds of a step.
double recompute_for_plans(options& o, const tool::target& target,
                           const std::function<void(const std::string&)>& on_stage) {
  auto& m = o.modelling;
  m.recompute.reset();
  const auto plain = tool::load(o.source, m);
  const auto with = [&](std::optional<weft::recomputation> again, std::uint32_t blocks) {
    m.recompute = again;
    m.recomputed_blocks = again == weft::recomputation::blocks ? blocks : weft::none;
  };
  const auto judge = [&](const tool::input& in) {
    const auto x = run_shortly(o, target, m, in);
    return weft::solve::amount_verdict{x.seconds, !x.spills || is_stopped(o)};
  };
  const std::uint32_t blocks = tool::num_blocks(plain);
  const auto best = weft::solve::fastest_amount(blocks, [&](std::uint32_t count) {
    on_stage(count == 0 ? "trying a step without recomputation"
                        : fmt::format("trying to run {} of {} blocks again", count, blocks));
    with(count == 0 ? std::nullopt : std::optional{weft::recomputation::blocks}, count);
    return count == 0 ? judge(plain) : judge(tool::load(o.source, m));
  });
  const bool is_enough = best.amount == 0 && best.verdict.is_enough;
  double seconds = best.verdict.seconds;
  if (!is_enough && !is_stopped(o) && tool::has_attentions(plain)) {
    on_stage("trying to run attentions again");
    with(weft::recomputation::attention, 0);
    const double again = judge(tool::load(o.source, m)).seconds;
    if (again < seconds || (blocks == 0 && !(seconds < std::numeric_limits<double>::infinity()))) {
      return again;
    }
  }
  const auto count = seconds < std::numeric_limits<double>::infinity() ? best.amount : blocks;
  with(count == 0 ? std::nullopt : std::optional{weft::recomputation::blocks}, count);
  return seconds;
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
  using enum options::parallelism;
  parallel_answer ways;
  const auto without = o.modelling;
  const auto plain = tool::load(o.source, without);
  if (o.parallel != none && why_not_in_parts(o, plain).empty()) {
    ways = share_recomputed(o, target, table, on_stage);
  }
  const double least = ways.best ? ways.best->found.run.makespan : std::numeric_limits<double>::infinity();
  if ((o.parallel == none || o.parallel == automatic) &&
      !(ways.best && is_faster_than_plans(least, without, target, plain, table))) {
    const auto of_ways = o.modelling;
    if (recompute_for_plans(o, target, on_stage) >= least) {
      o.modelling = of_ways;
    }
  }
  record_recomputation(o);
  return ways;
}

void record_recomputation(options& o) {
  if (o.modelling.recompute) {
    o.assumed["recompute"] = {tool::recompute_text(o.modelling)};
  } else {
    o.assumed.erase("recompute");
  }
}

} // namespace place
