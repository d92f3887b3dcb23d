// SPDX-License-Identifier: BSL-1.0
#include "remedies.hpp"

#include "batch.hpp"
#include "offloading.hpp"
#include "parallel.hpp"
#include "tool/model_file.hpp"
#include "wide_numbers.hpp"

#include "weft/core/budget.hpp"
#include "weft/core/readable.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/report/names.hpp"
#include "weft/workload/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <optional>
#include <vector>

namespace place {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What an option would do.
struct effect {
  double seconds = infinity; ///< of a step; infinite if no plan was found
  weft::byte_count lacks = 0; ///< … bytes that are lacking then, if that is known
};

/// An option to try. `judge` throws `weft::error` if the model has no use for it.
struct remedy {
  std::string option;
  std::function<effect()> judge;
};

class remedy_list {
public:
  remedy_list(const options& o, const tool::target& target, const std::function<void(const std::string&)>& on_stage)
      : o_{o}, target_{target}, on_stage_{on_stage}, in_{tool::load(o.source, o.modelling)} {}

  std::vector<remedy> all() const {
    std::vector<remedy> some;
    const bool is_wide = has_wide_numbers(o_, in_.model);
    const bool may_recompute = !o_.modelling.recompute && !o_.modelling.recompute_least && tool::num_blocks(in_) > 0;
    const auto modelled = [&](const std::string& option, bool narrow, bool again) {
      auto m = o_.modelling;
      m.numbers = narrow ? std::optional{weft::number_format::bf16} : m.numbers;
      m.recompute = again ? std::optional{weft::recomputation::blocks} : m.recompute;
      some.push_back({option, [this, m] { return with(m); }});
    };
    if (is_wide) {
      modelled("--dtype bf16", true, false);
    }
    if (may_recompute) {
      modelled("--recompute blocks", false, true);
    }
    if (is_wide && may_recompute) {
      modelled("--dtype bf16 --recompute blocks", true, true);
    }
    // Neither goes with the other.
    const bool is_alone = !o_.shares;
    if (!o_.modelling.offload_least && o_.modelling.offloaded.empty() && is_of_model()) {
      if (is_alone) {
        some.push_back({"--parallel auto", [this] { return shared(); }});
      }
      if (is_alone || !o_.parallel_given) {
        some.push_back({"--offload auto", [this] { return offloaded(); }});
      }
    }
    return some;
  }

private:
  /// True if nothing was asked for but the model's step time, so that its ops may be changed.
  bool is_of_model() const {
    return o_.pins.empty() && o_.out.empty() && o_.split.empty() && !o_.pareto && o_.objective == objective::makespan;
  }

  effect with(const tool::model_options& m) const {
    auto target = target_;
    if (m.numbers != o_.modelling.numbers) {
      target.devices = target.devices.with(*m.numbers);
    }
    auto o = o_;
    o.modelling = m;
    const auto x = run_shortly(o, target, tool::load(o.source, m));
    return {x.seconds, x.lacks};
  }

  effect shared() const {
    auto o = o_;
    o.shares = true;
    o.ways = {};
    const auto found = share_work(o, target_, in_, on_stage_);
    return {found.best() ? found.best()->run.makespan : infinity, 0};
  }

  effect offloaded() const {
    auto o = o_;
    o.shares = false;
    o.modelling.offload_least = true;
    o.contention = o.contention == weft::contention_model::none ? weft::contention_model::port : o.contention;
    auto in = tool::load(o.source, o_.modelling);
    return {offload(o, target_, in, typical(), on_stage_).seconds, 0};
  }

  weft::cost::efficiency_table typical() const {
    return tool::efficiencies(o_.modelling, o_.launches.value_or(weft::cost::launches::single));
  }

  const options& o_;
  const tool::target& target_;
  const std::function<void(const std::string&)>& on_stage_;
  tool::input in_;
};

} // namespace

std::string remedies(const options& o, const tool::target& target,
                     const std::function<void(const std::string&)>& on_stage) {
  const weft::stopwatch clock;
  std::string text;
  std::vector<std::string> untried;
  const remedy_list possible{o, target, on_stage};
  for (const auto& x : possible.all()) {
    if (clock.seconds() >= o.budget.seconds || is_stopped(o)) {
      untried.push_back(x.option);
      continue;
    }
    on_stage("no plan was found; trying " + x.option);
    try {
      const auto [seconds, lacks] = x.judge();
      text += fmt::format("  with {}: {}\n", x.option,
                          seconds < infinity ? fmt::format("it fits, and a step takes {}",
                                                           weft::report::duration(seconds))
                          : lacks > 0        ? fmt::format("still {} short", weft::readable_bytes(lacks))
                                             : "no plan was found either");
    } catch (const weft::error&) { // the model trains nothing, or the platform has no host
    }
  }
  if (!untried.empty() && !is_stopped(o)) {
    text += fmt::format("  not tried within the budget: {}\n", fmt::join(untried, ", "));
  }
  return text;
}

} // namespace place
