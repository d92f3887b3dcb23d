// SPDX-License-Identifier: BSL-1.0
/// Stages of a pipeline, their replicas and the variants of their layers, chosen at once by an exact dynamic program.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/graph/downsets.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/parallel/detail/stage_family.hpp"
#include "weft/parallel/detail/variant_choice.hpp"
#include "weft/parallel/stages.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

/// Options of `choose_stages`.
struct stage_options {
  std::size_t max_downsets = 3000; ///< with more, stages are cut from one order of the layers
  double gap = 1e-9;               ///< by how much a plan may be slower than the best one, relatively
  weft::budget budget = {};        ///< a move is a candidate for a stage, for one limit of time
};

/// The plan found, if there is one, and how good any plan can be.
struct stages_result {
  std::vector<stage> plan = {}; ///< empty without one, and for a problem without layers
  stages_value value = {};
  double bound = 0;     ///< seconds per micro-batch; no plan takes less, whether one was found or not
  bool optimal = false; ///< the plan is within the gap of the bound; or, without one, there is none
  bool has_plan() const { return value.fits(); }
};

namespace detail {

/// The search for the stages of one problem; see `choose_stages`.
class stage_search {
public:
  stage_search(const stage_problem& p, const stage_options& options)
      : p_{&p}, options_{options}, meter_{options.budget}, edges_{p}, memory_{p.memory_bytes},
        inside_(p.layers.size(), 0) {
    for (std::uint32_t d = 1; d <= std::min(p.num_devices, p.micro_batches); ++d) {
      if (p.micro_batches % d == 0) {
        replicas_.push_back(d);
      }
    }
    for (const auto& l : p.layers) {
      for (const auto& x : l.variants) {
        if (std::find(degrees_.begin(), degrees_.end(), x.tensor_degree) == degrees_.end()) {
          degrees_.push_back(x.tensor_degree);
        }
      }
    }
    weft::sort(degrees_);
  }

  stages_result operator()() {
    auto all = graph::all_downsets(reversed{layers_after(*p_)}, options_.max_downsets);
    covers_all_ = all.has_value() && all->size() == p_->layers.size() + 1; // there is one order only
    search(graph::prefixes(depth_first_order(), 1));
    if (all && !covers_all_ && !is_best() && !is_enough()) {
      covers_all_ = true;
      search(*all);
    }
    auto& r = result_;
    r.optimal = r.has_plan() ? is_best() : r.bound == infinite;
    if (!r.has_plan()) {
      r.value.problem = r.optimal ? "no plan fits in " + readable_size(p_->memory_bytes) + " on each of " +
                                      std::to_string(p_->num_devices) + " devices"
                                  : "no plan was found, and there may be one";
    }
    return std::move(r);
  }

private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  static constexpr double unlimited = 1e300; // finite, so that only what is impossible takes longer

  /// A variant of a layer in a stage: of one replica's micro-batch the seconds, with what its edges to other stages
  /// take, and those of its gradients per batch with another replica; and its bytes.
  struct offer {
    double seconds, gradient, per_micro_batch, fixed;
    std::uint32_t variant;
    double price(double replicas) const { return (seconds + gradient * (replicas - 1)) / replicas; }
    double bytes() const { return per_micro_batch + fixed; } ///< with one micro-batch in flight
  };
  /// A stage of the layers of downset `to` that are not in `from`. Seconds and bytes are those of the fastest variants;
  /// where these do not fit, others are chosen. Where variants have the same gradients, that is one choice for all
  /// numbers of replicas, and gradients, which then do not matter to it, are not negative.
  struct candidate {
    double seconds, per_micro_batch, fixed, gradient;
    std::uint32_t from, to, degree, replicas, choices; // into `last_known_`
    double fixed_price() const { return gradient < 0 ? 0 : gradient * (replicas - 1.0); }
    double price(const offer& x) const { return gradient < 0 ? x.price(replicas) * replicas : x.seconds; }
    double price(double limit) const { return limit * replicas - fixed_price(); }
    double seconds_of(double price) const { return (price + fixed_price()) / replicas; }
  };
  /// The least price of a candidate's variants for so many micro-batches in flight: between the two.
  struct known_choice {
    double at_least, price;
    std::uint32_t in_flight, before;
  };
  /// Stages for the layers of a downset, on so many devices with so many replicas; which one is first, and after which
  /// place of the rest.
  struct place_of {
    std::uint32_t devices, replicas, stage, rest;
  };

  /// The graph with its edges turned round, whose downsets are the layers of the last stages.
  struct reversed {
    std::vector<std::vector<std::uint32_t>> after;
    std::size_t size() const { return after.size(); }
    const std::vector<std::uint32_t>& predecessors(std::uint32_t v) const { return after[v]; }
  };

  /// True if no plan is faster than the one that was found.
  bool is_best() const { return result_.bound >= high_ * (1 - options_.gap); }
  /// True if the search is to end: the budget is spent, or the plan is as good as it asks for.
  bool is_enough() const { return is_enough_ || meter_.exhausted(); }

  /// Looks for the fastest plan whose stages lie between these downsets.
  void search(const graph::downsets& family) {
    family_ = {*p_, degrees_, family};
    const double least = family_.work(family_.size() - 1) / p_->num_devices;
    result_.bound = std::max(result_.bound, least);
    double low = least; // nothing was found below
    const auto try_below = [&](double limit) { // whether a faster plan was found
      is_proof_ = covers_all_;
      if (place(limit) && read_back(limit)) {
        return true;
      }
      low = std::max(low, limit);
      if (is_proof_ && !meter_.exhausted()) {
        result_.bound = limit == unlimited ? infinite : std::max(result_.bound, limit);
      }
      return false;
    };
    if (high_ < infinite) {
      list_candidates(high_);
      try_below(high_ * (1 - options_.gap));
    } else if (least < infinite) {
      for (const double factor : {1.1, 1.5, 3.0, 10.0, infinite}) {
        const double limit = least > 0 ? std::min(least * factor, unlimited) : unlimited;
        list_candidates(limit);
        if (try_below(limit) || limit == unlimited || is_enough()) {
          break;
        }
      }
    }
    for (bool was_next = false; high_ < infinite && low < high_ * (1 - options_.gap) && !is_enough();) {
      was_next = !was_next && high_ - low < 1e-3 * high_; // alternates with halving, as few times are left
      try_below(was_next ? high_ * (1 - options_.gap) : low + (high_ - low) / 2);
      std::erase_if(candidates_, [&](const candidate& c) { return c.seconds > high_; });
      index_candidates();
    }
  }

  /// Layers from last to first, each close to those it leads to.
  std::vector<std::uint32_t> depth_first_order() const {
    std::vector<std::vector<std::uint32_t>> before(p_->layers.size());
    for (const auto& e : p_->edges) {
      before[e.to].push_back(e.from);
    }
    std::vector<std::uint32_t> ready, order;
    const auto push = [&](std::uint32_t v) { ready.push_back(v); };
    graph::release_counter waiting{before};
    waiting.for_each_ready(push);
    while (!ready.empty()) {
      order.push_back(ready.back());
      ready.pop_back();
      waiting.finish(before, order.back(), push);
    }
    return order;
  }

  /// The number of devices that so much work takes at least, if no stage takes longer than the limit.
  std::uint32_t least_devices(double work, bool is_any, double limit) const {
    const double devices = std::ceil(work / limit * (1 - 1e-12));
    return static_cast<std::uint32_t>(std::clamp(devices, is_any ? 1.0 : 0.0, p_->num_devices + 1.0));
  }

  /// The variants of tensor degree t of a stage's layers, layer by layer; false if a layer has none.
  bool list_offers(std::span<const std::uint32_t> layers, std::uint32_t t) {
    offers_.clear();
    last_offer_.clear();
    for (const auto v : layers) {
      inside_[v] = 1;
    }
    for (const auto v : layers) {
      const auto& variants = p_->layers[v].variants;
      const auto before = offers_.size();
      for (std::uint32_t i = 0; i < variants.size(); ++i) {
        const auto& x = variants[i];
        if (x.tensor_degree == t) {
          const double bytes = edges_.bytes(*p_, v, x, [&](std::uint32_t other) { return inside_[other] == 0; });
          offers_.push_back({x.seconds + p_->edge_passes * bytes / p_->bandwidth,
                             p_->gradient_passes * x.parameter_bytes / p_->micro_batches / p_->bandwidth,
                             x.bytes_per_micro_batch, x.fixed_bytes, i});
        }
      }
      if (offers_.size() == before) {
        break;
      }
      last_offer_.push_back(offers_.size());
    }
    for (const auto v : layers) {
      inside_[v] = 0;
    }
    return last_offer_.size() == layers.size();
  }

  /// Calls `visit(first, last)` with the offers of each layer.
  template <class Visit>
  void for_each_layer(Visit visit) const {
    auto first = offers_.begin();
    for (const auto end : last_offer_) {
      const auto last = offers_.begin() + static_cast<std::ptrdiff_t>(end);
      visit(first, last);
      first = last;
    }
  }

  /// The sums of the fastest variants for so many replicas; of equally fast ones, those of fewer bytes.
  offer fastest(double replicas) const {
    offer sum{};
    for_each_layer([&](auto first, auto last) {
      const auto best = std::min_element(first, last, [&](const offer& a, const offer& b) {
        const double x = a.price(replicas), y = b.price(replicas);
        return x != y ? x < y : a.bytes() < b.bytes();
      });
      sum.seconds += best->seconds;
      sum.gradient += best->gradient;
      sum.per_micro_batch += best->per_micro_batch;
      sum.fixed += best->fixed;
    });
    return sum;
  }

  /// All stages that may be part of a plan within the limit of seconds, by the downset that they lead to.
  void list_candidates(double limit) {
    candidates_.clear();
    known_.clear();
    last_known_.clear();
    const auto last = family_.size() - 1;
    for (std::uint32_t to = 1; to <= last; ++to) {
      const auto before = least_devices(family_.work_before(to), to != last, limit);
      for (std::uint32_t from = 0; from < to; ++from) {
        const auto taken = before + least_devices(family_.work(from), from != 0, limit);
        if (taken >= p_->num_devices ||
            (family_.work(to) - family_.work(from)) * (1 - 1e-9) > limit * (p_->num_devices - taken) ||
            !family_.is_subset(from, to)) {
          continue;
        }
        const auto layers = family_.layers_between(from, to);
        for (std::size_t j = 0; j < degrees_.size(); ++j) {
          const auto t = degrees_[j], most = p_->num_devices - taken;
          if (t <= most && family_.may_fit(from, to, j, most, limit) && meter_.spend() && list_offers(layers, t)) {
            add_candidates(from, to, t, most / t, limit);
          }
        }
      }
    }
    index_candidates();
  }

  void add_candidates(std::uint32_t from, std::uint32_t to, std::uint32_t t, std::uint32_t most, double limit) {
    bool are_alike = true; // gradients of a layer's variants: then the same ones are best for any number of replicas
    for_each_layer([&](auto first, auto last) {
      are_alike = are_alike && std::all_of(first, last, [&](const offer& x) { return x.gradient == first->gradient; });
    });
    const auto shared = static_cast<std::uint32_t>(last_known_.size());
    last_known_.push_back(none);
    auto sum = fastest(1);
    for (const auto d : replicas_) {
      if (d > most) {
        return;
      }
      if (!are_alike) {
        sum = fastest(d);
      }
      if (sum.price(d) <= limit) {
        candidates_.push_back({sum.price(d), sum.per_micro_batch, sum.fixed, are_alike ? sum.gradient : -1, from, to,
                               t, d, are_alike ? shared : static_cast<std::uint32_t>(last_known_.size())});
        if (!are_alike) {
          last_known_.push_back(none);
        }
      }
    }
  }

  void index_candidates() {
    first_.assign(family_.size() + 1, 0);
    for (const auto& c : candidates_) {
      ++first_[c.to + 1];
    }
    for (std::size_t i = 1; i < first_.size(); ++i) {
      first_[i] += first_[i - 1];
    }
  }

  /// Variants for a candidate whose fastest ones do not fit: a bound, and a choice if there is one.
  void choose_variants(const candidate& c, std::uint32_t in_flight) {
    layers_ = family_.layers_between(c.from, c.to);
    list_offers(layers_, c.degree);
    choice_.clear();
    for_each_layer([&](auto first, auto last) {
      for (auto x = first; x != last; ++x) {
        choice_.add_offer(c.price(*x), memory_.of(x->per_micro_batch, x->fixed, in_flight), x->variant);
      }
      choice_.end_class();
    });
    choice_.bound(memory_.most());
  }

  /// False if they may not fit: sums of bytes, unlike those of units, depend on their order.
  bool fastest_fit(const candidate& c, std::uint32_t in_flight) const {
    return c.fixed + c.per_micro_batch * in_flight <= p_->memory_bytes * (1 - 1e-9);
  }

  /// True if a candidate can run with so many micro-batches in flight within the limits of bytes and seconds.
  bool can_run(const candidate& c, std::uint32_t in_flight, double seconds) {
    if (fastest_fit(c, in_flight)) {
      return true;
    }
    const double limit = c.price(seconds);
    auto& last_known = last_known_[c.choices];
    auto found = none;
    for (auto i = last_known; i != none; i = known_[i].before) { // the least time grows with what is in flight
      const auto& k = known_[i];
      if (k.in_flight <= in_flight && k.at_least > limit) {
        return false;
      }
      if (k.in_flight >= in_flight && k.price <= limit) {
        return true;
      }
      found = k.in_flight == in_flight ? i : found;
    }
    choose_variants(c, in_flight);
    if (found == none) {
      found = static_cast<std::uint32_t>(known_.size());
      known_.push_back({choice_.at_least(), choice_.price(), in_flight, std::exchange(last_known, found)});
    }
    auto& k = known_[found];
    if (k.price > limit && k.at_least <= limit) {
      const bool is_complete = choice_.search(memory_.most(), std::nextafter(limit, infinite));
      is_proof_ = is_proof_ && (is_complete || choice_.price() <= limit);
      k.at_least = std::max(k.at_least, choice_.at_least());
      k.price = std::min(k.price, choice_.price());
    }
    return k.price <= limit;
  }

  /// Finds stages that take no longer than the limit, from the last one on. Of a downset's places none takes more
  /// devices and more replicas than another one: fewer of both are never worse for the stages before.
  bool place(double limit) {
    const std::uint32_t most = p_->num_devices;
    places_.assign(family_.size(), {});
    places_[0].assign(1, {0, 0, none, none});
    std::vector<place_of> row(most + 1); // by devices: the place with the fewest replicas
    for (std::uint32_t to = 1; to < family_.size(); ++to) {
      std::fill(row.begin(), row.end(), place_of{0, none, none, none});
      const auto before = least_devices(family_.work_before(to), to + 1 != family_.size(), limit);
      for (auto i = first_[to]; i < first_[to + 1]; ++i) {
        const auto& c = candidates_[i];
        if (c.seconds > limit) {
          continue;
        }
        if (!meter_.spend()) {
          return false;
        }
        const auto& rest = places_[c.from];
        for (std::uint32_t j = 0; j < rest.size(); ++j) {
          const auto devices = rest[j].devices + c.degree * c.replicas, replicas = rest[j].replicas + c.replicas;
          if (devices + before > most) {
            break;
          }
          if (replicas < row[devices].replicas && replicas <= p_->micro_batches &&
              can_run(c, (replicas + c.replicas - 1) / c.replicas, limit)) {
            row[devices] = {devices, replicas, static_cast<std::uint32_t>(i), j};
          }
        }
      }
      auto& kept = places_[to];
      for (const auto& x : row) {
        if (x.replicas < (kept.empty() ? none : kept.back().replicas)) {
          kept.push_back(x);
        }
      }
    }
    return !places_.back().empty();
  }

  /// Keeps the plan of the last call of `place`, of those that it found the one on fewest devices. False if it is not
  /// faster than the one before, since a knapsack that was solved before keeps too many choices for another limit.
  bool read_back(double limit) {
    std::vector<stage> plan;
    double slowest = 0;
    auto at = places_.back().front();
    while (at.stage != none) {
      const auto& c = candidates_[at.stage];
      choose_variants(c, (at.replicas + c.replicas - 1) / c.replicas);
      if (choice_.price() > c.price(limit)) {
        choice_.search(memory_.most(), std::nextafter(c.price(limit), infinite));
      }
      plan.push_back({.layers = layers_,
                      .variants = {choice_.variants().begin(), choice_.variants().end()},
                      .replicas = c.replicas,
                      .tensor_degree = c.degree});
      slowest = std::max(slowest, c.seconds_of(choice_.price()));
      at = places_[c.from][at.rest];
    }
    if (slowest >= high_) {
      is_proof_ = false;
      return false;
    }
    high_ = slowest;
    result_.plan = std::move(plan);
    result_.value = evaluate_stages(*p_, result_.plan);
    is_enough_ = meter_.improved(high_);
    return true;
  }

  const stage_problem* p_;
  stage_options options_;
  budget_meter meter_;
  stage_edges edges_;
  memory_units memory_;
  std::vector<std::uint32_t> replicas_, degrees_;
  stage_family family_;
  bool covers_all_ = true;            // whether the family has all downsets
  std::vector<candidate> candidates_; // by the downset that they lead to
  std::vector<std::size_t> first_;
  std::vector<known_choice> known_;
  std::vector<std::uint32_t> last_known_; // of each set of choices
  std::vector<std::vector<place_of>> places_; // by downset: ascending devices, descending replicas
  bool is_proof_ = true; // whether a failed `place` shows that there is no plan
  stages_result result_{.value = {.problem = "no plan"}};
  double high_ = infinite; // seconds of the plan found, as sums here have it
  bool is_enough_ = false;
  variant_choice choice_;
  // Of the stage looked at
  std::vector<std::uint32_t> layers_;
  std::vector<std::uint8_t> inside_;
  std::vector<offer> offers_;
  std::vector<std::size_t> last_offer_;
};

} // namespace detail

/// The stages of least time per micro-batch. For a limit of seconds, a dynamic program over downsets from the last
/// stage on keeps, per downset, which numbers of devices and replicas suffice: fewer replicas leave fewer micro-batches
/// in flight before. The limit is halved until no plan is faster by more than the gap. A stage whose fastest variants
/// do not fit takes the fastest that do, from a knapsack that is solved exactly (detail/variant_choice.hpp). Only with
/// more downsets than `max_downsets`, a knapsack that keeps too many choices, or a spent budget may a better plan
/// exist; then `optimal` is false. Ties: fewer devices, then the stage that is listed first, from fewer layers after it
/// to more, smaller tensor degrees, fewer replicas.
///
/// Throws as `check_stages` does; a problem without a plan is a result. Complexity: O(D² · (layers · variants + degrees
/// · replicas · places)) per limit for D downsets, of which a chain has its layers and one more, and at most
/// min(devices, micro-batches) places; memory O(D² · degrees · replicas), typically much less.
/// Source: Tarnawski, Narayanan and Phanishayee, *Piper*, NeurIPS 2021, whose program has time as its value, a
/// dimension for replicas, and a greedy knapsack.
inline stages_result choose_stages(const stage_problem& p, const stage_options& options = {}) {
  check_stages(p);
  return detail::stage_search{p, options}();
}

} // namespace weft::parallel
