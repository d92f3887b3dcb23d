// SPDX-License-Identifier: BSL-1.0
/// The numbers of stages, replicas, devices of each and micro-batches that are tried.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/parallel/staged_step.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/kinds/micro_batch.hpp"
#include "weft/planner/kinds/staged_way.hpp"
#include "weft/planner/kinds/task.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/shareable.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::planner {

/// Longer steps are not looked for: each order that is tried would take a second to run.
inline constexpr std::uint64_t max_passes = 10'000;
inline constexpr std::uint64_t max_passes_given = 1'000'000; ///< of a step that was asked for

namespace detail {

/// The pipelines of a step that are compared.
class pipelines {
public:
  pipelines(const task& t, const std::vector<device_id>& devices, comparison& all)
      : t_{t}, devices_{devices}, all_{all} {}

  void try_all() {
    if (is_given_) {
      const auto s = given();
      if (auto why = why_not(s)) {
        all_.why_not = {std::move(why)};
        return;
      }
      s.stages * s.ranks == 1 && s.micro_batches == 0 ? accumulate(s) : add(s);
    } else {
      propose();
    }
    try_each(usual_);
    if (found_.kept.empty() && all_.kept.empty()) {
      try_each(reserve_);
    }
    if (is_given_ && found_.ways.empty() && why_not_) {
      all_.why_not = {why_not_};
    }
    hand_over();
  }

private:
  struct candidate {
    way shape;
    const micro_batch* model;
    double bound;    ///< seconds: the work of ops, and the wait for the first micro-batch's forward pass
    double estimate; ///< the same with the wait for the first and the last micro-batch
  };

  /// All divisions of the devices, also with two turns.
  void propose() {
    const auto n = static_cast<std::uint32_t>(devices_.size());
    for (std::uint32_t stages = 1; stages <= n; ++stages) { // 1: gradients are added up over micro-batches
      for (std::uint32_t ranks = 1; n % stages == 0 && stages * ranks <= n; ++ranks) {
        if (n / stages % ranks != 0 || (ranks > 1 && !may_split_ops_)) {
          continue;
        }
        auto s = shape_of(n / (stages * ranks), stages, ranks, 1, 1);
        if (stages * ranks == 1) {
          accumulate(s);
          continue;
        }
        for (s.turns = 1; s.turns <= std::min(stages, 2u); ++s.turns) {
          add(s);
        }
      }
    }
  }

  way shape_of(std::uint32_t replicas, std::uint32_t stages, std::uint32_t ranks, std::uint32_t turns,
               std::uint64_t micro_batches) const {
    return {.kind = way_kind::stages,
            .replicas = replicas,
            .stages = stages,
            .ranks = ranks,
            .turns = turns,
            .micro_batches = micro_batches,
            .recomputes = t_.recomputes()};
  }

  /// The shape that was asked for; 0 micro-batches: as many as suit.
  way given() const {
    const auto& x = t_.wanted();
    return shape_of(std::max(1u, x.replicas), std::max(1u, x.stages), std::max(1u, x.ranks), std::max(1u, x.turns),
                    x.micro_batches);
  }

  /// The reason for which that is impossible, if one is known.
  reason why_not(const way& s) const {
    using enum reason::kind;
    const auto batch = t_.whole().batch;
    const auto num_ops = t_.whole().ops.num_ops();
    const auto num_stages = std::uint64_t{s.stages} * s.turns;
    if (auto why = s.ranks > 1 ? why_not_along_axes(t_.whole()) : reason{}) {
      return why;
    }
    if (num_stages > num_ops) {
      return {.is = too_few_ops, .have = num_ops, .asked = num_stages};
    }
    if (s.num_devices() > devices_.size()) {
      return {.is = few_alike_devices, .have = devices_.size(), .asked = s.num_devices()};
    }
    if (s.micro_batches > batch / s.replicas ||
        (s.micro_batches != 0 && batch % (s.replicas * s.micro_batches) != 0)) {
      return {.is = not_in_micro_batches, .have = batch, .asked = s.micro_batches, .replicas = s.replicas};
    }
    if (s.passes() > max_passes_given) {
      return {.is = too_many_passes, .have = s.passes(), .asked = max_passes_given};
    }
    if (s.micro_batches == 0 && (batch % s.replicas != 0 || batch == s.replicas)) {
      return {.is = no_micro_batches, .have = batch, .replicas = s.replicas};
    }
    return {};
  }

  /// The model of a micro-batch; null if there is none, such as where the model's batch is fixed.
  const micro_batch* model_of(const way& s) {
    const auto examples = t_.whole().batch / (s.replicas * s.micro_batches);
    try {
      return &models_.try_emplace(examples, t_, examples).first->second;
    } catch (const error& e) {
      why_not_ = reason_of(e);
      return nullptr;
    }
  }

  /// Tries the fewest micro-batches of one stage that fit, which are the fastest.
  void accumulate(way s) {
    if (auto why = why_parameters_do_not_fit(); why && s.num_devices() == 1) {
      found_.add_misfit(in_any_number(s), why);
      return;
    }
    const auto batch = t_.whole().batch;
    const auto rows = found_.ways.size();
    const auto examples = batch % s.replicas == 0 ? batch / s.replicas : 0;
    for (s.micro_batches = 2; s.micro_batches <= examples && s.passes() <= max_passes; ++s.micro_batches) {
      if (examples % s.micro_batches != 0) {
        continue;
      }
      const auto* model = model_of(s);
      if (!model || t_.is_stopped() ||
          static_cast<double>(s.micro_batches) * model->seconds_of_stage(s, devices_.front()) >= too_slow(s)) {
        break;
      }
      found_.ways.erase(found_.ways.begin() + static_cast<std::ptrdiff_t>(rows), found_.ways.end());
      if (try_one(s, *model)) {
        break;
      }
    }
    if (found_.ways.size() == rows && !why_not_) {
      why_not_ = {.is = reason::kind::no_number_of_micro_batches, .have = batch, .asked = max_passes,
                  .replicas = s.replicas};
    }
  }

  reason why_parameters_do_not_fit() const {
    const auto& w = t_.whole().ops;
    const auto d = devices_.front();
    byte_count resident = 0;
    for (const op_id v : ids(w.num_ops())) {
      resident += w.kinds(v).contains(t_.machine().kind(d)) ? w.resident_bytes(v) : 0;
    }
    const auto memory = t_.machine().memory_capacity(d);
    return resident > memory ? reason{.is = reason::kind::parameters_too_large, .needed = resident, .capacity = memory}
                             : reason{};
  }

  /// Adds the two numbers of micro-batches that seem fastest, and the largest, for which memory is enough if it is for
  /// any; the others are for where nothing fits, as parts of larger ones may be split further.
  void add(way s) {
    std::vector<candidate> counts;
    const auto batch = t_.whole().batch;
    if (s.micro_batches != 0 && is_given_) {
      add_count(s, counts);
    } else if (batch % s.replicas == 0) {
      for (s.micro_batches = batch / s.replicas; s.micro_batches > 1; s.micro_batches /= 2) {
        if (t_.is_stopped()) {
          return;
        }
        if (s.passes() <= max_passes) {
          add_count(s, counts);
        } else if (counts.empty()) {
          why_not_ = {.is = reason::kind::too_many_passes, .have = s.passes(), .asked = max_passes};
        }
        if (s.micro_batches % 2 != 0) {
          break;
        }
      }
    }
    std::stable_sort(counts.begin() + (counts.empty() ? 0 : 1), counts.end(),
                     [](const candidate& a, const candidate& b) { return a.estimate < b.estimate; });
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const bool second_is_better = counts.size() > 2 && counts[2].estimate < counts[0].estimate;
      (i < (second_is_better ? 3u : 2u) ? usual_ : reserve_).push_back(counts[i]);
    }
  }

  void add_count(const way& s, std::vector<candidate>& counts) {
    if (const auto* model = model_of(s)) {
      if (auto why = s.ranks > 1 ? why_not_along_axes(*model->part()) : reason{}) {
        why_not_ = std::move(why);
        return;
      }
      const double each = model->seconds_of_stage(s, devices_.front());
      constexpr double forward = 0.25; // of a pass at least; more where nothing is run again
      const auto count = static_cast<double>(s.micro_batches);
      const auto wait = static_cast<double>(s.stages - 1) / s.turns;
      counts.push_back({s, model, (count + forward * wait) * each, (count + wait) * each});
    }
  }

  /// Those without splits of ops come first: they take least time to make.
  void try_each(std::vector<candidate>& some) {
    std::stable_sort(some.begin(), some.end(), [](const candidate& a, const candidate& b) {
      return std::tuple{a.shape.ranks, a.estimate} < std::tuple{b.shape.ranks, b.estimate};
    });
    for (const auto& c : some) {
      if (t_.is_stopped()) {
        return;
      }
      if (is_given_ || c.bound < too_slow(c.shape)) {
        try_one(c.shape, *c.model);
      }
    }
  }

  /// Pipelines that take little longer are shown, too, and simpler ones may be the ones to take.
  double too_slow(const way& s) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double least = infinity;
    const double gain = 1 + t_.how().least_gain;
    auto features = features_of(s, false);
    features.shards_updates = false; // which is tried where nothing else fits
    for (const auto& some : {std::cref(all_), std::cref(found_)}) {
      for (const auto& x : some.get().kept) {
        const bool is_simpler = parallel::is_simpler(features, x->features);
        least = std::min(least, x->run.makespan * std::max(s.stages == 1 ? 1.0 : 1.1, is_simpler ? gain : 1.0));
      }
    }
    return is_given_ ? infinity : least;
  }

  /// As a way whose numbers of micro-batches and turns say nothing.
  static way in_any_number(way s) {
    s.micro_batches = 0;
    s.turns = 1;
    return s;
  }

  void note_misfit(const way& s, const reason& why) {
    if (!t_.is_stopped()) { // else a search had no time
      found_.add_misfit(in_any_number(s), why);
    }
  }

  /// True if it fits.
  bool try_one(way s, const micro_batch& model) {
    t_.tell({attempt::kind::way, s});
    try {
      for (const bool sharded : {false, true}) {
        const auto& wanted = t_.wanted().shards_updates;
        if ((sharded && s.replicas == 1) || (wanted && is_given_ && *wanted != sharded)) {
          continue;
        }
        s.shards_updates = sharded;
        auto x = make(s, model);
        if (!x) {
          break;
        }
        if (!x->problem) {
          s.shards_updates = false; // it says the same of both
          note_misfit(s, x->figures.why_not);
          continue;
        }
        const bool fits = x->fits();
        found_.add(std::move(x));
        if (fits) {
          return true;
        }
      }
    } catch (const cycle_error&) {
      why_not_ = {.is = reason::kind::stages_wait_in_circle, .asked = std::uint64_t{s.stages} * s.turns};
    } catch (const refusal& e) {
      s.shards_updates = false;
      note_misfit(s, e.why());
    } catch (const error& e) { // such as a model with fewer layers than stages
      why_not_ = reason_of(e);
    }
    return false;
  }

  /// Cut by time; where that does not fit, by memory.
  std::shared_ptr<made_way> make(const way& s, const micro_batch& model) const {
    auto x = make_split_or_whole(s, model, stage_rule::time);
    if (!x || x->fits() || s.stages == 1 || s.turns > 1) {
      return x;
    }
    for (const auto rule : {stage_rule::memory, stage_rule::least_memory}) {
      if (t_.is_stopped() || !model.is_other_cut(s, devices_, rule)) {
        continue;
      }
      if (auto other = make_split_or_whole(s, model, rule); other && other->fits()) {
        return other;
      }
    }
    return x;
  }

  /// With passes of their own for gradients of parameters, or if that does not fit, without.
  std::shared_ptr<made_way> make_split_or_whole(const way& s, const micro_batch& model, stage_rule rule) const {
    using enum parallel::backward_passes;
    auto x = make_stages(t_, model, s, devices_, rule, split, too_slow(s));
    if (x && !x->fits()) {
      if (auto other = make_stages(t_, model, s, devices_, rule, whole, too_slow(s))) {
        return other;
      }
    }
    return x;
  }

  /// Hands the ways over that are shown, and those that are kept.
  void hand_over() {
    constexpr std::size_t most = 5; // in a table
    all_.all_fit = all_.all_fit && found_.all_fit;
    found_.sort();
    for (std::size_t i = 0; i < found_.ways.size(); ++i) {
      auto& w = found_.ways[i];
      const auto is_it = [&](const auto& x) { return x->how() == w.how && x->figures.seconds == w.seconds; };
      if (i < most || std::any_of(found_.kept.begin(), found_.kept.end(), is_it)) {
        all_.ways.push_back(std::move(w));
      }
    }
    for (auto& x : found_.kept) {
      all_.keep(std::move(x));
    }
  }

  const task& t_;
  const std::vector<device_id>& devices_;
  comparison& all_;
  bool is_given_ = t_.wanted().asks_for(wanted_ways::which::pipeline);
  bool may_split_ops_ = has_axes(t_.whole());
  std::map<std::uint64_t, micro_batch> models_ = {}; // by examples of a micro-batch
  std::vector<candidate> usual_ = {};
  std::vector<candidate> reserve_ = {};
  comparison found_ = {};
  reason why_not_ = {};
};

} // namespace detail

/// Compares pipelines on devices that are alike: as many stages, replicas, devices of each and micro-batches as are
/// wanted, or several numbers of them, of which 1 stage of one device is gradient accumulation.
inline void compare_pipelines(const task& t, const std::vector<device_id>& devices, comparison& all) {
  detail::pipelines{t, devices, all}.try_all();
}

} // namespace weft::planner
