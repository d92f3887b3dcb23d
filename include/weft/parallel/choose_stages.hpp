// SPDX-License-Identifier: BSL-1.0
/// Stages of a pipeline, their replicas and the variants of their layers, chosen at once by an exact dynamic program.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/graph/downsets.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/parallel/detail/variant_choice.hpp"
#include "weft/parallel/stages.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

/// Options of `choose_stages`.
struct stage_options {
  std::size_t max_downsets = 3000; ///< with more, stages are cut from one order of the layers
  double gap = 1e-9;               ///< by how much a plan may be slower than the best one, relatively
  weft::budget budget = {};        ///< a move is a candidate for a stage, looked at for one limit of time
};

/// The plan found, if there is one, and how good any plan can be.
struct stages_result {
  std::vector<stage> plan = {}; ///< empty without one, and for a problem without layers
  stages_value value = {};
  double bound = 0;      ///< seconds per micro-batch; no plan takes less, whether one was found or not
  bool optimal = false;  ///< the plan is within the gap of the bound; or, without one, there is none
  bool has_plan() const { return value.fits(); }
};

namespace detail {

/// The search for the stages of one problem; see `choose_stages`.
class stage_search {
public:
  stage_search(const stage_problem& p, const stage_options& options)
      : p_{&p}, options_{options}, meter_{options.budget}, edges_{p}, inside_(p.layers.size(), 0) {
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
    list_downsets();
  }

  stages_result operator()() {
    stages_result r{.value = {.problem = "no plan was found, and there may be one"}};
    const double least = work_.back() / p_->num_devices;
    double low = least, high = infinite; // nothing was found below, and a plan was found
    r.bound = least;
    const auto try_below = [&](double limit) { // whether a faster plan was found
      is_proof_ = covers_all_;
      if (place(limit) && read_back(limit, high, r)) {
        return true;
      }
      low = std::max(low, limit);
      r.bound = !is_proof_ || meter_.exhausted() ? r.bound : limit == unlimited ? infinite : std::max(r.bound, limit);
      return false;
    };
    if (least < infinite) {
      for (const double factor : {1.1, 1.5, 3.0, 10.0, infinite}) {
        const double limit = least > 0 ? std::min(least * factor, unlimited) : unlimited;
        list_candidates(limit);
        if (try_below(limit) || limit == unlimited || meter_.exhausted()) {
          break;
        }
      }
    } else {
      r.bound = infinite; // a layer without variants
    }
    for (bool was_next = false; high < infinite && low < high * (1 - options_.gap) && !meter_.exhausted();) {
      was_next = !was_next && high - low < 1e-3 * high; // alternates with halving, as few times are left
      try_below(was_next ? high * (1 - options_.gap) : low + (high - low) / 2);
      std::erase_if(candidates_, [&](const candidate& c) { return c.seconds > high; });
      index_candidates();
    }
    r.optimal = r.has_plan() ? r.bound >= high * (1 - options_.gap) * (1 - 1e-12) : r.bound == infinite;
    if (!r.has_plan() && r.optimal) {
      r.value.problem = "no plan fits in " + readable_size(p_->memory_bytes) + " on each of " +
                        std::to_string(p_->num_devices) + " devices";
    }
    return r;
  }

private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  static constexpr double unlimited = std::numeric_limits<double>::max(); // what is impossible still takes longer

  /// A variant of a layer in a stage: of one replica's micro-batch the seconds, with what its edges to other stages
  /// take, and those of its gradients per batch with another replica; and its bytes.
  struct offer {
    double seconds, gradient, per_micro_batch, fixed;
    std::uint32_t variant;
    double price(double replicas) const { return (seconds + gradient * (replicas - 1)) / replicas; }
    double bytes(double in_flight) const { return per_micro_batch * in_flight + fixed; }
  };
  /// A stage of the layers of downset `to` that are not in `from`. Seconds and bytes are those of the fastest variants;
  /// where these do not fit, `known` is the last of the choices that were made for it.
  struct candidate {
    double seconds, per_micro_batch, fixed;
    std::uint32_t from, to, degree, replicas, known;
  };
  /// The least time of a candidate for so many micro-batches in flight: between the two.
  struct known_choice {
    double at_least, price;
    std::uint32_t in_flight, before;
  };
  /// Stages for the layers of a downset, on so many devices with so many replicas; which one is first, and after which
  /// place of the rest.
  struct place_of {
    std::uint32_t devices, replicas, stage, rest;
  };

  /// Downsets of the reversed graph: the layers of the last stages.
  void list_downsets() {
    struct reversed {
      std::vector<std::vector<std::uint32_t>> after;
      std::size_t size() const { return after.size(); }
      const std::vector<std::uint32_t>& predecessors(std::uint32_t v) const { return after[v]; }
    };
    auto all = graph::all_downsets(reversed{layers_after(*p_)}, options_.max_downsets);
    covers_all_ = all.has_value();
    const auto family = all ? std::move(*all) : graph::prefixes(depth_first_order(), 1);
    words_ = p_->layers.size() / 64 + 1;
    sets_.assign(family.size() * words_, 0);
    work_.assign(family.size(), 0.0);
    for (std::uint32_t i = 0; i < family.size(); ++i) {
      for (const auto& step : family.from(i)) {
        const auto v = family.added[step.first];
        std::copy_n(sets_.data() + i * words_, words_, sets_.data() + step.to * words_);
        sets_[step.to * words_ + v / 64] |= std::uint64_t{1} << (v % 64);
        double least = infinite; // device-seconds
        for (const auto& x : p_->layers[v].variants) {
          least = std::min(least, x.tensor_degree * x.seconds);
        }
        work_[step.to] = work_[i] + least;
      }
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

  bool is_subset(std::uint32_t a, std::uint32_t b) const {
    for (std::size_t i = 0; i < words_; ++i) {
      if ((sets_[a * words_ + i] & ~sets_[b * words_ + i]) != 0) {
        return false;
      }
    }
    return true;
  }

  /// The layers of `to` that are not in `from`, ascending.
  const std::vector<std::uint32_t>& layers_between(std::uint32_t from, std::uint32_t to) {
    layers_.clear();
    for (std::size_t i = 0; i < words_; ++i) {
      for (auto left = sets_[to * words_ + i] & ~sets_[from * words_ + i]; left != 0; left &= left - 1) {
        layers_.push_back(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
    return layers_;
  }

  /// How many devices so much work takes at least, if no stage takes longer than the limit.
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
        return x != y ? x < y : a.bytes(1) < b.bytes(1);
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
    const auto last = static_cast<std::uint32_t>(work_.size() - 1);
    for (std::uint32_t to = 1; to <= last; ++to) {
      const auto before = least_devices(work_.back() - work_[to], to != last, limit);
      for (std::uint32_t from = 0; from < to; ++from) {
        const auto taken = before + least_devices(work_[from], from != 0, limit);
        if (taken >= p_->num_devices || (work_[to] - work_[from]) * (1 - 1e-9) > limit * (p_->num_devices - taken) ||
            !is_subset(from, to)) {
          continue;
        }
        const auto& layers = layers_between(from, to);
        for (const auto t : degrees_) {
          if (t <= p_->num_devices - taken && list_offers(layers, t) && meter_.spend()) {
            add_candidates(from, to, t, (p_->num_devices - taken) / t, limit);
          }
        }
      }
    }
    index_candidates();
  }

  void add_candidates(std::uint32_t from, std::uint32_t to, std::uint32_t t, std::uint32_t most, double limit) {
    double least_bytes = 0;
    bool are_alike = true; // gradients of a layer's variants: then the same ones are fastest for any replicas
    for_each_layer([&](auto first, auto last) {
      double bytes = infinite;
      for (auto x = first; x != last; ++x) {
        bytes = std::min(bytes, x->bytes(1));
        are_alike = are_alike && x->gradient == first->gradient;
      }
      least_bytes += bytes;
    });
    if (least_bytes > p_->memory_bytes) {
      return;
    }
    auto sum = fastest(1);
    for (const auto d : replicas_) {
      if (d > most) {
        return;
      }
      if (!are_alike) {
        sum = fastest(d);
      }
      if (sum.price(d) <= limit) {
        candidates_.push_back({sum.price(d), sum.per_micro_batch, sum.fixed, from, to, t, d, none});
      }
    }
  }

  void index_candidates() {
    first_.assign(work_.size() + 1, 0);
    for (const auto& c : candidates_) {
      ++first_[c.to + 1];
    }
    for (std::size_t i = 1; i < first_.size(); ++i) {
      first_[i] += first_[i - 1];
    }
  }

  /// Variants for a candidate whose fastest ones do not fit: a bound, and a choice if there is one.
  void choose_variants(const candidate& c, std::uint32_t in_flight) {
    list_offers(layers_between(c.from, c.to), c.degree);
    choice_.clear();
    for_each_layer([&](auto first, auto last) {
      for (auto x = first; x != last; ++x) {
        choice_.add_offer(x->price(c.replicas), x->bytes(in_flight), x->variant);
      }
      choice_.end_class();
    });
    choice_.bound(p_->memory_bytes);
  }

  bool fastest_fit(const candidate& c, std::uint32_t in_flight) const {
    return c.fixed + c.per_micro_batch * in_flight <= p_->memory_bytes;
  }

  /// Whether a candidate can run with so many micro-batches in flight within the limits of bytes and seconds.
  bool can_run(candidate& c, std::uint32_t in_flight, double limit) {
    if (fastest_fit(c, in_flight)) {
      return true;
    }
    auto found = none;
    for (auto i = c.known; i != none; i = known_[i].before) { // the least time grows with what is in flight
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
      known_.push_back({choice_.at_least(), choice_.price(), in_flight, std::exchange(c.known, found)});
    }
    auto& k = known_[found];
    if (k.price > limit && k.at_least <= limit) {
      is_proof_ = choice_.search(p_->memory_bytes, std::nextafter(limit, infinite)) && is_proof_;
      k.at_least = std::max(k.at_least, choice_.at_least());
      k.price = std::min(k.price, choice_.price());
    }
    return k.price <= limit;
  }

  /// Finds stages that take no longer than the limit, from the last one on. Of a downset's places none takes more
  /// devices and more replicas than another one: fewer of both are never worse for the stages before.
  bool place(double limit) {
    const std::uint32_t most = p_->num_devices;
    places_.resize(work_.size());
    places_[0].assign(1, {0, 0, none, none});
    std::vector<place_of> row(most + 1); // by devices: the place with the fewest replicas
    for (std::size_t to = 1; to < work_.size(); ++to) {
      std::fill(row.begin(), row.end(), place_of{0, none, none, none});
      const auto before = least_devices(work_.back() - work_[to], to + 1 != work_.size(), limit);
      for (auto i = first_[to]; i < first_[to + 1]; ++i) {
        auto& c = candidates_[i];
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
      kept.clear();
      for (const auto& x : row) {
        if (x.replicas < (kept.empty() ? none : kept.back().replicas)) {
          kept.push_back(x);
        }
      }
    }
    return !places_.back().empty();
  }

  /// The plan of the last call of `place`, of those that it kept the one on fewest devices; false if it is not faster
  /// than `high`, since a knapsack that was solved before keeps too many choices now.
  bool read_back(double limit, double& high, stages_result& r) {
    std::vector<stage> plan;
    double slowest = 0;
    auto at = places_.back().front();
    while (at.stage != none) {
      const auto& c = candidates_[at.stage];
      const auto in_flight = (at.replicas + c.replicas - 1) / c.replicas;
      choose_variants(c, in_flight);
      if (choice_.price() > limit) {
        choice_.search(p_->memory_bytes, std::nextafter(limit, infinite));
      }
      plan.push_back({.layers = layers_,
                      .variants = {choice_.variants().begin(), choice_.variants().end()},
                      .replicas = c.replicas,
                      .tensor_degree = c.degree});
      slowest = std::max(slowest, choice_.price());
      at = places_[c.from][at.rest];
    }
    if (slowest >= high) {
      is_proof_ = false;
      return false;
    }
    high = slowest;
    r.plan = std::move(plan);
    r.value = evaluate_stages(*p_, r.plan);
    return true;
  }

  const stage_problem* p_;
  stage_options options_;
  budget_meter meter_;
  stage_edges edges_;
  std::vector<std::uint32_t> replicas_, degrees_;
  // Downsets, from the empty one to that of all layers
  std::vector<std::uint64_t> sets_; // bits, so many words each
  std::size_t words_ = 1;
  std::vector<double> work_; // device-seconds that their layers take at least
  bool covers_all_ = true;
  std::vector<candidate> candidates_; // by the downset that they lead to
  std::vector<std::size_t> first_;
  std::vector<known_choice> known_;
  std::vector<std::vector<place_of>> places_; // by downset: ascending devices, descending replicas
  bool is_proof_ = true; // whether a failed `place` shows that there is no plan
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
