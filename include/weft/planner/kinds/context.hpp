// SPDX-License-Identifier: BSL-1.0
/// Context parallelism: sequences in parts, on several devices each.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/kinds/op_splits.hpp"
#include "weft/planner/kinds/task.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/shareable.hpp"
#include "weft/planner/way.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::planner {

namespace detail {

/// The reason for which replicas have no sequence each to split.
inline reason why_not_one_sequence(const task& t, std::uint32_t replicas) {
  using enum reason::kind;
  const auto batch = t.whole().batch;
  return !has_attentions(t.whole().ops) ? reason{.is = no_attentions}
         : batch == 0                   ? reason{.is = batch_unknown}
         : batch != replicas            ? reason{.is = not_one_sequence, .have = batch, .replicas = replicas}
                                        : reason{};
}

} // namespace detail

/// Compares context parallelism on devices that are alike: as many replicas as the batch has sequences, each on several
/// devices, which do a part of its rows with whole weights (`parallel::keep_weights_whole`). How attentions get the
/// rows of the others, as keys and values of all of them or by other parts of heads, follows from what takes least.
/// Sources: Liu, Zaharia, Abbeel, *Ring Attention with Blockwise Transformers for Near-Infinite Context*, ICLR 2024;
/// Jacobs et al., *DeepSpeed Ulysses*, arXiv 2309.14509.
inline void compare_contexts(const task& t, const std::vector<device_id>& alike, bool may_be_at_once, comparison& all) {
  const auto& wanted = t.wanted();
  const bool is_given = wanted.asks_for(wanted_ways::which::context);
  if (!is_given && !wanted.asks_for(wanted_ways::which::all)) {
    return;
  }
  const auto replicas = wanted.replicas != 0 ? wanted.replicas : static_cast<std::uint32_t>(t.whole().batch);
  const auto ranks = is_given && wanted.ranks != 0 ? wanted.ranks
                     : replicas != 0 ? static_cast<std::uint32_t>(alike.size()) / replicas
                                     : 0;
  auto why = alike.size() < 2 ? reason{.is = reason::kind::no_alike_devices}
                              : detail::why_not_one_sequence(t, replicas);
  why = why ? why : why_not_along_axes(t.whole());
  if (!why && (ranks < 2 || std::size_t{replicas} * ranks > alike.size())) {
    why = {.is = reason::kind::few_for_sequences,
           .have = alike.size(),
           .asked = std::max<std::uint64_t>(ranks, 2),
           .replicas = replicas};
  }
  const bool is_there = std::any_of(all.ways.begin(), all.ways.end(), [&](const compared_way& w) {
    return w.splits_sequence && w.how.replicas == replicas && w.how.ranks == ranks;
  });
  if (why) {
    is_given ? void(all.why_not = {std::move(why)}) : void();
  } else if (may_be_at_once && !is_there) {
    detail::op_split_search{t, alike, all}.try_one({.replicas = replicas, .ranks = ranks, .splits_sequence = true});
  }
}

} // namespace weft::planner
