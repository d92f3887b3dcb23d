// SPDX-License-Identifier: BSL-1.0
/// A search for what each device of a pipeline does in turn, within its memory.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/parallel/detail/every_pipeline_order.hpp"
#include "weft/parallel/pipeline_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

/// The time that is to be small.
enum class pipeline_objective : std::uint8_t {
  makespan, ///< of one step; of those with the least, the one with shorter spans
  span      ///< of the device that is at it for longest: the time from step to step if steps follow each other
};

struct pipeline_search_options {
  pipeline_objective objective = pipeline_objective::makespan;
  weft::budget budget = {.moves = 200'000}; ///< a move is an order that is run
  std::uint64_t seed = 0;
  bool from_known = true; ///< start from schedules that are known by name, too
};

/// An order that was found.
struct found_pipeline_order {
  bool found = false;        ///< false: no order was found that fits
  bool is_impossible = false; ///< not found: it is proven that there is none
  bool is_optimal = false;   ///< its value is the bound
  pipeline_order order = {};
  pipeline_run run = {};
  std::string start = {}; ///< what the search made it of, such as `1F1B`
  double bound = 0;       ///< seconds that no order can beat
};

/// Seconds that no order can beat. Of makespans: on each device, the shortest way there, its work and the shortest way
/// from there to the end, and a micro-batch alone. Of spans: the work of a device. Complexity: O(stages).
inline double pipeline_bound(const pipeline_problem& p, pipeline_objective objective) {
  check(p);
  const auto n = p.num_stages();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> work(p.num_devices(), 0), head(p.num_devices(), infinity), tail(p.num_devices(), infinity);
  double now = 0;   // of a micro-batch alone
  double alone = 0; // until all of it is done
  double after = 0; // from the end of the backward pass of a stage on
  for (std::uint32_t s = 0; s < n; ++s) {
    const auto& stage = p.stages[s];
    const auto d = stage.device;
    for (std::size_t x = 0; x < p.passes_each(); ++x) {
      work[d] += stage.cost[x].seconds * p.micro_batches;
    }
    head[d] = std::min(head[d], now);
    now += stage[pass::forward].seconds;
    alone = now;
    now += s + 1 < n ? stage[pass::forward].send_seconds : 0;
    if (s > 0) {
      const auto& before = p.stages[s - 1];
      after = stage[pass::backward].send_seconds + before[pass::backward].seconds +
              std::max(before[pass::weights].seconds, after);
    }
    // What comes last on a device is a pass for weights, or nothing follows a backward pass but what waits for it.
    tail[d] = std::min(tail[d], stage[pass::weights].seconds > 0 || !p.trains ? 0 : after);
  }
  for (std::uint32_t s = n; p.trains && s-- > 0;) {
    now += p.stages[s][pass::backward].seconds;
    alone = std::max(alone, now + p.stages[s][pass::weights].seconds);
    now += p.stages[s][pass::backward].send_seconds;
  }
  double bound = objective == pipeline_objective::makespan ? alone : 0;
  for (std::size_t d = 0; d < p.num_devices(); ++d) {
    if (work[d] > 0) {
      bound = std::max(bound, work[d] + (objective == pipeline_objective::makespan ? head[d] + tail[d] : 0));
    }
  }
  return bound;
}

namespace detail {

/// A rule by which devices choose their next pass when orders are made as they run.
struct pipeline_rule {
  std::array<pass, num_passes> first = {}; ///< the pass that is preferred, and so on
  double in_flight = 1;  ///< at most so many micro-batches per device from here to the last one
  double patience = 0;   ///< waits for another pass rather than begin one for weights that ends so much of it too late
  bool reserves = true;   ///< begins a micro-batch only if there is memory for all stages of the device
};

/// Orders for one pipeline.
class pipeline_search {
public:
  pipeline_search(const pipeline_problem& p, const pipeline_search_options& o)
      : p_{p}, options_{o}, runner_{p}, stages_(p.num_devices()), of_micro_batch_(p.num_devices(), 0),
        extra_(p.num_devices(), 0), count_(num_passes * p.stages.size()), position_(p.num_devices()),
        start_(p.num_devices()), waited_(p.num_devices()) {
    for (std::uint32_t s = 0; s < p.num_stages(); ++s) {
      const auto& stage = p.stages[s];
      stages_[stage.device].push_back(s);
      byte_count held = 0, between = 0, most = 0;
      for (const auto& c : stage.cost) {
        most = std::max(most, held + c.taken);
        held += c.taken - c.freed;
        between = std::max(between, held);
      }
      is_impossible_ = is_impossible_ || most > p.capacity[stage.device];
      of_micro_batch_[stage.device] += between;
      extra_[stage.device] = std::max(extra_[stage.device], most - between);
    }
    for (std::size_t d = 0; d < p.num_devices(); ++d) {
      start_[d].resize(p.passes_each() * stages_[d].size() * p.micro_batches);
      waited_[d].resize(start_[d].size());
    }
  }

  found_pipeline_order operator()() {
    budget_meter meter{options_.budget};
    found_pipeline_order best{.bound = pipeline_bound(p_, options_.objective)};
    const double least_span = pipeline_bound(p_, pipeline_objective::span);
    const auto is_best_possible = [&](const value& v) {
      const bool is_short = options_.objective == pipeline_objective::span || v.makespan <= best.bound * (1 + 1e-12);
      return is_short && v.span <= least_span * (1 + 1e-12);
    };
    std::vector<candidate> starts;
    const auto offer = [&](pipeline_order order, const std::string& name) {
      if (is_legal(order) && meter.spend()) {
        if (const auto v = run(order); v.ends) {
          starts.push_back({v, std::move(order), name});
        }
      }
    };
    if (options_.from_known) {
      for (const auto s : pipeline_schedules) {
        if (auto order = make_order(s, p_)) {
          offer(std::move(*order), to_string(s));
        }
      }
    }
    for (const double in_flight : {2.0, 1.0, 1.5, 1e9}) {
      for (const double patience : {0.0, 1.0}) {
        for (const auto& first : preferences) {
          for (const bool reserves : {true, false}) {
            if (reserves || p_.num_stages() > p_.num_devices()) {
              offer(by_rule({first, in_flight, patience, reserves}), "list scheduling");
            }
          }
        }
      }
    }
    offer(one_at_a_time(), "one micro-batch at a time");
    std::stable_sort(starts.begin(), starts.end(),
                     [&](const auto& a, const auto& b) { return score(a.of) < score(b.of); });
    starts.resize(std::min<std::size_t>(starts.size(), rounds));
    offer_best_of_all(starts, best);
    if (starts.empty()) {
      best.is_impossible = is_impossible_ || best.bound == infinity;
      return best;
    }
    const auto& first = *std::min_element(starts.begin(), starts.end(),
                                          [&](const auto& a, const auto& b) { return is_better(a.of, b.of); });
    value least = first.of;
    best.order = first.order;
    best.start = first.start;
    rng random{options_.seed};
    for (std::size_t i = 0; i < starts.size() && !is_best_possible(least) && !meter.exhausted(); ++i) {
      improve(starts[i].order, starts[i].of, meter, static_cast<double>(i + 1) / static_cast<double>(starts.size()),
              random, [&](const value& v, const pipeline_order& order) {
                if (is_better(v, least)) {
                  least = v;
                  best.order = order;
                  best.start = starts[i].start;
                  meter.improved(score(v));
                }
                return is_best_possible(least);
              });
    }
    best.order = numbered(p_, std::move(best.order));
    best.run = run_pipeline(p_, best.order);
    best.found = true;
    best.is_optimal = (options_.objective == pipeline_objective::span ? best.run.longest_span : best.run.makespan) <=
                      best.bound * (1 + 1e-12);
    return best;
  }

private:
  static constexpr std::size_t rounds = 3;
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::array<std::array<pass, num_passes>, 3> preferences{{
    {pass::backward, pass::forward, pass::weights},
    {pass::backward, pass::weights, pass::forward},
    {pass::forward, pass::backward, pass::weights},
  }};

  struct value {
    bool ends = false;
    double makespan = 0;
    double span = 0;      // the longest
    double spans = 0;     // their mean
  };

  struct candidate {
    value of;
    pipeline_order order;
    std::string start;
  };

  /// Of a small pipeline, looks at all orders for a better one than those that are known, or a proof that there is
  /// none.
  void offer_best_of_all(std::vector<candidate>& known, found_pipeline_order& result) {
    every_pipeline_order every{p_, options_.objective == pipeline_objective::span};
    if (!every.is_small()) {
      return;
    }
    double least = infinity;
    for (const auto& x : known) {
      least = std::min(least, main(x.of));
    }
    auto best = every(least);
    if (best.is_complete) {
      result.bound = std::max(result.bound, std::min(least, best.value));
    }
    if (best.value < least) {
      const auto v = run(best.order);
      known.insert(known.begin(), {v, std::move(best.order), "the best of all orders"});
    }
  }

  double score(const value& v) const {
    constexpr double little = 1e-3;
    return options_.objective == pipeline_objective::span ? v.span + little * (v.spans + little * v.makespan)
                                                          : v.makespan + little * (v.span + little * v.spans);
  }

  /// The time that is to be small.
  double main(const value& v) const { return options_.objective == pipeline_objective::span ? v.span : v.makespan; }
  /// Whether a's time is less, or its score if the times are the same: a score may pay with one for the other.
  bool is_better(const value& a, const value& b) const {
    return main(a) < main(b) * (1 - 1e-12) || (main(a) <= main(b) * (1 + 1e-12) && score(a) < score(b) * (1 - 1e-12));
  }

  value run(const pipeline_order& order) {
    value v;
    v.ends = runner_.run(order, [&](std::uint32_t d, std::size_t i, double start, bool waited) {
      start_[d][i] = start;
      waited_[d][i] = waited;
    });
    for (std::size_t d = 0; d < order.size() && v.ends; ++d) {
      const double end = runner_.free_at(d);
      const double span = order[d].empty() ? 0 : end - start_[d].front();
      v.makespan = std::max(v.makespan, end);
      v.span = std::max(v.span, span);
      v.spans += span / static_cast<double>(order.size());
    }
    return v;
  }

  std::size_t index(const pipeline_step& x) const {
    return static_cast<std::size_t>(x.pass) * p_.stages.size() + x.stage;
  }

  /// True if a device's steps of each micro-batch follow each other, within memory.
  bool is_legal(std::size_t d, const std::vector<pipeline_step>& steps) {
    for (const auto s : stages_[d]) {
      for (std::size_t x = 0; x < num_passes; ++x) {
        count_[x * p_.stages.size() + s] = 0;
      }
    }
    byte_count held = 0;
    for (const auto& x : steps) {
      const auto at = index(x);
      const auto k = count_[at]++;
      if (x.pass != pass::forward && count_[at - p_.stages.size()] <= k) {
        return false;
      }
      held += p_.stages[x.stage][x.pass].taken;
      if (held > p_.capacity[d]) {
        return false;
      }
      held -= p_.stages[x.stage][x.pass].freed;
    }
    return true;
  }

  bool is_legal(const pipeline_order& order) {
    for (std::size_t d = 0; d < order.size(); ++d) {
      if (order[d].size() != start_[d].size() || !is_legal(d, order[d])) {
        return false;
      }
    }
    return true;
  }

  pipeline_order one_at_a_time() const {
    pipeline_order order(p_.num_devices());
    for (std::size_t d = 0; d < order.size(); ++d) {
      for (std::uint32_t k = 0; k < p_.micro_batches; ++k) {
        for (const auto s : stages_[d]) {
          order[d].push_back({.pass = pass::forward, .stage = s});
        }
        for (std::size_t i = stages_[d].size(); p_.trains && i-- > 0;) {
          order[d].push_back({.pass = pass::backward, .stage = stages_[d][i]});
          order[d].push_back({.pass = pass::weights, .stage = stages_[d][i]});
        }
      }
    }
    return order;
  }

  /// An order that is made as it runs. It lacks steps if it comes to where nothing has memory to begin.
  pipeline_order by_rule(const pipeline_rule& rule) {
    const auto devices = p_.num_devices();
    pipeline_order order(devices);
    std::vector<byte_count> held(devices, 0);
    struct in_flight {
      std::uint32_t begun = 0, back = 0, ended = 0; // micro-batches
      double most_waiting = 1;                      // between their first forward and their last backward pass
      double most = 1;                              // in memory
    };
    std::vector<in_flight> flight(devices);
    for (std::size_t d = 0; d < devices; ++d) {
      flight[d].most_waiting =
        std::max(1.0, std::ceil(rule.in_flight * static_cast<double>(devices - d)) - (rule.in_flight == 2));
      const auto room = p_.capacity[d] - std::min(p_.capacity[d], extra_[d]);
      flight[d].most = of_micro_batch_[d] == 0 || !rule.reserves
                         ? infinity
                         : std::max(1.0, static_cast<double>(room / of_micro_batch_[d]));
    }
    runner_.reset();
    const auto may_begin = [&](std::size_t d, pass x, std::uint32_t s) {
      const auto& c = p_.stages[s][x];
      return held[d] + c.taken <= p_.capacity[d] &&
             (x != pass::forward || s != stages_[d].front() ||
              (flight[d].begun - flight[d].back < flight[d].most_waiting &&
               flight[d].begun - flight[d].ended < flight[d].most));
    };
    for (;;) {
      std::size_t device = 0;
      double now = infinity;
      for (std::size_t d = 0; d < devices; ++d) {
        for (const auto s : stages_[d]) {
          for (std::size_t i = 0; i < p_.passes_each(); ++i) {
            const auto x = static_cast<pass>(i);
            const double at = std::max(runner_.arrives(x, s), runner_.free_at(d));
            if (at < now && may_begin(d, x, s)) {
              now = at;
              device = d;
            }
          }
        }
      }
      if (now == infinity) {
        return order;
      }
      pipeline_step chosen{};
      double begin = infinity;
      const auto choose = [&](double until) { // the preferred one of those that can begin until then
        for (const auto x : rule.first) {
          if (!p_.trains && x != pass::forward) {
            continue;
          }
          for (std::size_t i = stages_[device].size(); i-- > 0;) { // those nearer to the end first
            const auto s = x == pass::backward ? stages_[device][stages_[device].size() - 1 - i] : stages_[device][i];
            const double at = std::max(runner_.arrives(x, s), now);
            if (at <= until && may_begin(device, x, s)) {
              chosen = {x, s, 0};
              begin = at;
              return;
            }
          }
        }
      };
      choose(now);
      if (chosen.pass == pass::weights && rule.patience > 0) {
        choose(now + rule.patience * p_.stages[chosen.stage][pass::weights].seconds * 0.999);
      }
      const auto& c = p_.stages[chosen.stage][chosen.pass];
      runner_.do_next(chosen.pass, chosen.stage, begin);
      held[device] += c.taken - c.freed;
      const bool is_first = chosen.stage == stages_[device].front();
      auto& f = flight[device];
      f.begun += chosen.pass == pass::forward && is_first;
      if (p_.trains) {
        f.back += chosen.pass == pass::backward && is_first;
        f.ended += chosen.pass == pass::weights && is_first;
      } else {
        f.back = f.ended += chosen.stage == stages_[device].back();
      }
      order[device].push_back(chosen);
    }
  }

  /// Finds the steps of the longest path of the last run that began when their devices became free: device and place,
  /// from the one that ends last, or ends the longest span, to the first.
  void trace(const pipeline_order& order, const value& v) {
    std::size_t d = 0;
    const bool by_span = options_.objective == pipeline_objective::span;
    for (std::size_t e = 0; e < order.size(); ++e) {
      const double of = runner_.free_at(e) - (by_span && !order[e].empty() ? start_[e].front() : 0);
      if (!order[e].empty() && of >= (by_span ? v.span : v.makespan) * (1 - 1e-12)) {
        d = e;
      }
    }
    for (std::size_t e = 0; e < order.size(); ++e) { // where the steps of each pass of each stage are
      position_[e].assign(order[e].size(), 0);
    }
    place_of_.assign(num_passes * p_.stages.size() * p_.micro_batches, 0);
    std::fill(count_.begin(), count_.end(), 0);
    for (std::size_t e = 0; e < order.size(); ++e) {
      for (std::size_t i = 0; i < order[e].size(); ++i) {
        const auto at = index(order[e][i]);
        position_[e][i] = count_[at];
        place_of_[at * p_.micro_batches + count_[at]++] = static_cast<std::uint32_t>(i);
      }
    }
    critical_.clear();
    for (std::size_t i = order[d].size() - 1;;) {
      const auto& x = order[d][i];
      if (waited_[d][i]) { // it waited for another stage
        const auto stage = x.pass == pass::forward ? x.stage - 1 : x.stage + 1;
        const auto at = static_cast<std::size_t>(x.pass) * p_.stages.size() + stage;
        i = place_of_[at * p_.micro_batches + position_[d][i]];
        d = p_.stages[stage].device;
        continue;
      }
      if (i == 0) {
        break;
      }
      critical_.emplace_back(d, i);
      --i;
    }
  }

  /// Simulated annealing until that part of the budget is spent: moves a step on the longest path to before or after
  /// some of its neighbours.
  template <class Better>
  void improve(pipeline_order order, value current, budget_meter& meter, double until, rng& random, Better better) {
    current = run(order);
    trace(order, current);
    const double begin = meter.fraction();
    const double hot = 0.01 * score(current);
    std::vector<pipeline_step> before;
    for (;;) {
      const double now = meter.fraction();
      if (now >= until || !meter.spend()) {
        return;
      }
      const double left = 1 - (now - begin) / std::max(until - begin, 1e-9);
      const double heat = hot * left * left * left;
      auto [d, i] = critical_.empty() || random.below(8) == 0
                      ? anywhere(order, random)
                      : critical_[random.below(critical_.size())];
      auto& steps = order[d];
      if (steps.size() < 2) {
        continue;
      }
      std::size_t distance = 1;
      while (distance < 12 && random.below(3) == 0) {
        ++distance;
      }
      const bool earlier = random.below(2) == 0; // this one, or the one before it later
      const auto from = earlier ? i : i - 1;
      const auto to = earlier ? from - std::min(distance, from) : std::min(from + distance, steps.size() - 1);
      before = steps;
      move(steps, from, to);
      if (!is_legal(d, steps)) {
        steps.swap(before);
        continue;
      }
      const auto next = run(order);
      const double worse = next.ends ? score(next) - score(current) : infinity;
      if (worse > 0 && !(heat > 0 && random.uniform() < std::exp(-worse / heat))) {
        order[d].swap(before);
        continue;
      }
      current = next;
      trace(order, current);
      if (better(current, order)) {
        return;
      }
    }
  }

  static std::pair<std::size_t, std::size_t> anywhere(const pipeline_order& order, rng& random) {
    const auto d = random.below(order.size());
    return {d, order[d].size() < 2 ? 1 : 1 + random.below(order[d].size() - 1)};
  }

  static void move(std::vector<pipeline_step>& steps, std::size_t from, std::size_t to) {
    const auto at = [&](std::size_t i) { return steps.begin() + static_cast<std::ptrdiff_t>(i); };
    to < from ? std::rotate(at(to), at(from), at(from + 1)) : std::rotate(at(from), at(from + 1), at(to + 1));
  }

  const pipeline_problem& p_;
  const pipeline_search_options& options_;
  pipeline_runner runner_;
  std::vector<std::vector<std::uint32_t>> stages_; // by device
  bool is_impossible_ = false;
  std::vector<byte_count> of_micro_batch_;         // by device: held between passes for a micro-batch
  std::vector<byte_count> extra_;                  // by device: more during a pass
  std::vector<std::uint32_t> count_;               // by pass and stage
  std::vector<std::vector<std::uint32_t>> position_;
  std::vector<std::vector<double>> start_;         // by device and place
  std::vector<std::vector<std::uint8_t>> waited_;  // by device and place: for another stage
  std::vector<std::uint32_t> place_of_;            // by pass, stage and micro-batch
  std::vector<std::pair<std::size_t, std::size_t>> critical_;
};

} // namespace detail

/// Looks for the order in which the devices of a pipeline do their passes in the least time within their memory: starts
/// from rules that choose as devices become free, and from schedules that are known by name, and moves passes on the
/// longest path by simulated annealing. Of pipelines of few passes (`every_pipeline_order::max_steps`) it looks at all
/// orders, so that of up to 12 passes an order is found exactly if there is one, and is one of the least time. With a
/// budget in moves, the same problem and seed give the same order.
///
/// Throws `value_error` like `check`. Complexity: O(steps) per move. Source: the objective of Qi et al., *Zero Bubble
/// Pipeline Parallelism*, ICLR 2024, and *Pipeline Parallelism with Controllable Memory*, NeurIPS 2024.
inline found_pipeline_order find_pipeline_order(const pipeline_problem& p, const pipeline_search_options& o = {}) {
  check(p);
  return detail::pipeline_search{p, o}();
}

} // namespace weft::parallel
