// SPDX-License-Identifier: BSL-1.0
#include "recomputation.hpp"

#include "batch.hpp"
#include "parallel_step.hpp"
#include "tool/model_file.hpp"

#include "weft/core/least_enough.hpp"

#include <fmt/format.h>

#include <cstdint>
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
  std::optional<recomputation> best;
  for (const auto& [again, remark] : kinds) {
    o.modelling.recompute = again;
    auto some = again ? share_work(o, target, tool::load(o.source, o.modelling), table, on_stage)
                      : share_work(o, target, plain, table, on_stage);
    for (auto& w : some.ways) {
      w.remark += fmt::format("{}{}", w.remark.empty() || !again ? "" : ", ", remark);
      all.ways.push_back(std::move(w));
    }
    if (some.best && (!all.best || some.best->found.run.makespan < all.best->found.run.makespan)) {
      all.best = std::move(some.best);
      best = again;
    }
    all.why_not = some.why_not;
    if (some.all_fit || is_stopped(o)) {
      break;
    }
  }
  o.modelling.recompute = best;
  sort_ways(all.ways);
  return all;
}

/// Sets what plans op by op need.
void recompute_for_plans(options& o, const tool::target& target,
                         const std::function<void(const std::string&)>& on_stage) {
  auto& m = o.modelling;
  on_stage("trying a step without recomputation");
  if (fits(o, target, m)) {
    return;
  }
  const auto in = tool::load(o.source, m);
  if (tool::has_attentions(in)) {
    on_stage("trying to run attentions again");
    m.recompute = weft::recomputation::attention;
    if (fits(o, target, m)) {
      return;
    }
  }
  if (const std::uint32_t blocks = tool::num_blocks(in); blocks > 0) {
    m.recompute = weft::recomputation::blocks;
    m.recomputed_blocks = weft::least_enough(1u, blocks, [&](std::uint32_t count) {
      on_stage(fmt::format("trying to run {} of {} blocks again", count, blocks));
      m.recomputed_blocks = count;
      return fits(o, target, m);
    }).value_or(blocks);
  }
}

} // namespace

parallel_answer choose_recomputation(options& o, const tool::target& target, const weft::cost::efficiency_table& table,
                                     const std::function<void(const std::string&)>& on_stage) {
  using enum options::parallelism;
  parallel_answer ways;
  if (o.parallel != none && why_not_split(o, target, tool::load(o.source, o.modelling)).empty()) {
    ways = share_recomputed(o, target, table, on_stage);
  }
  if (!ways.best && (o.parallel == none || o.parallel == automatic)) {
    recompute_for_plans(o, target, on_stage);
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
