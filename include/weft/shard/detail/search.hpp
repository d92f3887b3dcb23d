// SPDX-License-Identifier: BSL-1.0
/// The search for variants: reductions, then rounds of messages and of neighbourhoods.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/parallel.hpp"
#include "weft/core/random.hpp"
#include "weft/shard/detail/choice.hpp"
#include "weft/shard/detail/core.hpp"
#include "weft/shard/detail/dual.hpp"
#include "weft/shard/detail/elimination.hpp"
#include "weft/shard/detail/enumeration.hpp"
#include "weft/shard/detail/neighbourhood.hpp"
#include "weft/shard/detail/reduce.hpp"
#include "weft/shard/result.hpp"
#include "weft/shard/variant_problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::shard::detail {

/// A round is one task of messages and eight of neighbourhoods, on as many threads as there are. All begin with what
/// was known when the round began, and what they found is merged in their order, so that the result does not depend on
/// threads. Two choices are improved: the best one; and a walker, which starts from what the messages suggest, may
/// exceed the limit at first for fines that grow, and becomes the best one when it is better.
class search {
public:
  search(const variant_problem& p, const options& o)
      : p_{p}, options_{o}, core_{reduce(p, [this] { return out_of_time(); })} {}

  result run() {
    if (core_.infeasible || core_.fixed_cost >= never) {
      return infeasible();
    }
    if (const auto end = enumerate()) {
      return *end;
    }
    prepare();
    bool is_enough = false;
    if (has_choice()) {
      const auto choice = best_choice();
      report_state(dual_->bound(), choice);
      is_enough = report_choice(choice);
    }
    auto mark = dual_->bound(); // the bound when it last came closer
    for (std::uint32_t idle = 0; idle < options_.patience && !is_enough && !over();) {
      const auto value = best_->value();
      const auto bound = dual_->bound();
      round();
      if (bound_exceeds_all()) {
        return infeasible();
      }
      const bool better = best_->value() < value;
      if (better || dual_->bound() > bound) {
        report_state(dual_->bound(), best_choice());
      }
      if (has_choice()) {
        if (better && report_choice(best_choice())) {
          break;
        }
        if (best_->value().cost() <= dual_->bound()) { // proven
          break;
        }
      }
      const bool closer = is_closer(dual_->bound(), mark);
      mark = closer ? dual_->bound() : mark;
      idle = better || closer ? 0 : idle + 1;
    }
    result_.bound = add_costs(dual_->bound(), core_.fixed_cost);
    return has_choice() ? found(best_->variants()) : finished();
  }

private:
  static constexpr unsigned tasks_per_round = 8;
  static constexpr unsigned moves_per_task = 4;
  static constexpr unsigned sweeps_per_round = 6;
  static constexpr unsigned max_rests = 12, max_walk = 40; ///< rounds of a walker without progress, and in all
  static constexpr std::uint64_t max_branches = 100'000;

  bool out_of_time() const {
    const auto& b = options_.budget;
    return clock_.seconds() >= b.seconds || (b.stop != nullptr && b.stop->stop_requested());
  }
  bool over() const { return moves_ >= options_.budget.moves || out_of_time(); }

  /// Whether the best choice may be taken: with fixed costs it may add up to `never`.
  bool has_choice() const {
    const auto& value = best_->value();
    return value.feasible() && add_costs(value.cost(), core_.fixed_cost) < never;
  }
  /// What a bound is to reach: the cost of the best choice or, without one, twice as much.
  static std::int64_t goal(const merit& best, std::int64_t bound) {
    return best.feasible() ? best.cost() : 2 * bound + 1;
  }
  /// Whether a bound came closer to its goal since `mark` by a thousandth of the way. One that creeps, by 1 of 10^17 a
  /// round, does not, so that the rounds are bounded.
  bool is_closer(std::int64_t bound, std::int64_t mark) const {
    constexpr std::int64_t steps = 1000;
    return bound > mark && bound - mark >= (goal(best_->value(), mark) - mark) / steps;
  }

  /// The variants of the ops in the best choice; none without one.
  std::vector<std::uint32_t> best_choice() const {
    return has_choice() ? core_.lifted(best_->variants()) : std::vector<std::uint32_t>{};
  }

  /// Calls the listener with a better choice; whether that is good enough.
  bool report_choice(std::span<const std::uint32_t> choice) const {
    const auto cost = static_cast<double>(value_of(p_, choice).cost);
    if (options_.budget.on_progress) {
      options_.budget.on_progress({moves_, clock_.seconds(), cost});
    }
    return cost <= options_.budget.target * (1 + 1e-12);
  }

  /// `bound`: without fixed costs.
  void report_state(std::int64_t bound, std::span<const std::uint32_t> choice) const {
    if (!options_.on_state) {
      return;
    }
    state s{.seconds = clock_.seconds(), .moves = moves_, .bound = add_costs(bound, core_.fixed_cost)};
    if (!choice.empty()) {
      const auto value = value_of(p_, choice);
      s.cost = value.cost;
      s.peak = value.peak;
    }
    options_.on_state(s);
  }

  result infeasible() {
    result_.status = status::infeasible;
    result_.bound = never;
    return finished();
  }
  result found(const std::vector<std::uint32_t>& x) {
    auto choice = core_.lifted(x);
    const auto value = value_of(p_, choice);
    if (!value.feasible(p_.limit())) { // with fixed costs it adds up to `never`
      return finished();
    }
    result_.status = status::found;
    result_.choice = std::move(choice);
    result_.cost = value.cost;
    result_.peak = value.peak;
    result_.bound = std::min(result_.bound, result_.cost);
    return finished();
  }
  result finished() {
    result_.moves = moves_;
    for (const auto& a : {result::attempt{"enumeration", enumerations_, enumerated_},
                          result::attempt{"messages", sweeps_, suggestions_},
                          result::attempt{"neighbourhoods", neighbourhoods_, improvements_},
                          result::attempt{"walks", walks_, arrivals_}}) {
      if (a.tries > 0) {
        result_.tried.push_back(a);
      }
    }
    return std::move(result_);
  }

  std::optional<result> enumerate() {
    constexpr double max_depth = 64;
    if (enumeration::size_of(core_) > std::min(options_.enumerated, max_depth)) {
      return std::nullopt;
    }
    enumeration all{core_};
    enumerations_ = 1;
    if (!all.run(max_branches, [this] { return over(); })) {
      start_ = all.best(); // the best so far, if there is one
      return std::nullopt;
    }
    enumerated_ = 1;
    if (add_costs(all.cost(), core_.fixed_cost) >= never) {
      return infeasible();
    }
    result_.bound = add_costs(all.cost(), core_.fixed_cost);
    const auto last = found(all.best());
    report_state(all.cost(), last.choice);
    report_choice(last.choice);
    return last;
  }

  void prepare() {
    weights_.emplace(core_);
    dual_.emplace(core_, *weights_);
    best_.emplace(core_, *weights_, start_.empty() ? std::vector<std::uint32_t>(core_.num_nodes(), 0) : start_);
    prices_.assign(core_.room.size(), 0);
  }

  /// Whether the bound is above what any choice costs, or may cost, so that there is none.
  bool bound_exceeds_all() const {
    return static_cast<double>(dual_->bound()) > weights_->penalty() / 2 ||
           add_costs(dual_->bound(), core_.fixed_cost) >= never;
  }

  void round() {
    const bool with_messages = !dual_->settled();
    const bool is_rough = dual_->rough();
    const unsigned sweeps = !with_messages ? 0 : is_rough ? 3 * sweeps_per_round : sweeps_per_round;
    const auto left = options_.budget.moves - moves_;
    const auto sweeps_now = static_cast<unsigned>(std::min<std::uint64_t>(sweeps, left));
    const auto searches =
      static_cast<unsigned>(std::min<std::uint64_t>(tasks_per_round * moves_per_task, left - sweeps_now));
    const unsigned first = with_messages ? 1 : 0;
    const unsigned for_best = walker_ ? tasks_per_round / 2 : tasks_per_round;
    std::vector<node_changes> found(tasks_per_round);
    const choice best = *best_;
    if (best_fines_.empty()) {
      best_fines_ = first_fines();
    }
    for_each_on_threads(first + tasks_per_round, std::max(1u, options_.jobs), [&](unsigned k) {
      if (k < first) {
        send_messages(sweeps_now, best.value());
        return;
      }
      const unsigned task = k - first;
      const auto begin = std::min(searches, task * moves_per_task);
      const auto end = std::min(searches, begin + moves_per_task);
      if (begin < end) {
        found[task] = task < for_best ? search_from(best, best_fines_, begin, end)
                                     : search_from(*walker_, fines_, begin, end);
      }
    });
    moves_ += sweeps_now + searches;
    sweeps_ += sweeps_now;
    neighbourhoods_ += searches;
    ++rounds_;
    if (suggested_ && suggested_->value() < best_->value()) {
      best_ = suggested_;
      ++suggestions_;
    }
    bool walked = false;
    for (unsigned task = 0; task < tasks_per_round; ++task) {
      if (task < for_best) {
        improvements_ += merge(*best_, found[task], best_fines_);
      } else {
        walked |= merge(*walker_, found[task], fines_);
      }
    }
    if (with_messages) {
      prices_ = dual_->prices();
      if (const auto& value = best_->value(); value.feasible() && value.cost() < upper_ / 2) {
        upper_ = value.cost();
        dual_->rescale(upper_);
      }
    }
    move_walker(walked, !is_rough);
  }

  void send_messages(unsigned sweeps, const merit& best) {
    for (unsigned s = 0; s < sweeps && !over(); ++s) {
      dual_->improve(goal(best, dual_->bound()), x_);
      choice c{core_, *weights_, x_};
      if (!suggested_ || c.value() < suggested_->value()) {
        suggested_ = std::move(c);
      }
    }
  }

  node_changes search_from(const choice& from, std::span<const double> fines, unsigned begin, unsigned end) {
    auto searcher = take();
    choice now = from;
    std::vector<char> touched(core_.num_nodes());
    for (auto m = begin; m < end && !over(); ++m) {
      const auto seed = options_.seed + 0x9e3779b97f4a7c15u * (1 + neighbourhoods_ + m);
      const auto to = (*searcher)(now, prices_, fines, seed, [this] { return over(); });
      if (!to.empty()) {
        now.change(core_, *weights_, to);
        for (const auto& c : to) {
          touched[c.first] = 1;
        }
      }
    }
    give(std::move(searcher));
    node_changes all;
    for (const auto v : ids(touched.size())) {
      if (touched[v] != 0 && now.variants()[v] != from.variants()[v]) {
        all.emplace_back(v, now.variants()[v]);
      }
    }
    return all;
  }

  /// Takes changes that are no worse where others have been taken before; whether they are better.
  bool merge(choice& into, const node_changes& found, std::span<const double> fines) {
    if (found.empty()) {
      return false;
    }
    choice merged = into;
    merged.change(core_, *weights_, found);
    const bool fined = !fines.empty() && !into.value().feasible();
    const double before = fined ? fined_cost(core_, *weights_, into, fines) : 0;
    const double after = fined ? fined_cost(core_, *weights_, merged, fines) : 0;
    const bool better = fined ? after < before : merged.value() < into.value();
    if (better || (fined ? after <= before : merged.value() == into.value())) {
      into = std::move(merged);
    }
    return better;
  }

  void move_walker(bool walked, bool may_start) {
    rests_ = walked || (walker_ && !walker_->value().feasible()) ? 0 : rests_ + 1;
    raise_fines(*best_, best_fines_, 1.5);
    if (walker_) {
      raise_fines(*walker_, fines_, walked ? 1.3 : 2.0);
    }
    if (walker_ && walker_->value() < best_->value()) {
      std::swap(*walker_, *best_);
      ++arrivals_;
    }
    const auto longest = best_->value().feasible() ? max_walk : 10 * max_walk;
    if (may_start && (!walker_ || rests_ > max_rests || rounds_ - walk_began_ > longest)) {
      walker_.emplace(core_, *weights_, dual_->bound() > walked_from_ ? dual_->suggestion() : disturbed());
      walked_from_ = dual_->bound();
      rests_ = 0;
      walk_began_ = rounds_;
      ++walks_;
      fines_ = first_fines();
    }
  }

  /// Fines by moment that are a little more than prices.
  std::vector<double> first_fines() const {
    double price = 0, room = 1;
    for (std::size_t t = 0; t < prices_.size(); ++t) {
      price += prices_[t] / static_cast<double>(prices_.size());
      room += static_cast<double>(std::max<std::int64_t>(0, core_.room[t]));
    }
    const double least = std::max(0.1 * price, 1e-2 * static_cast<double>(dual_->bound() + 1) / room);
    auto fines = prices_;
    for (auto& x : fines) {
      x = 1.5 * (x + least);
    }
    return fines;
  }
  void raise_fines(const choice& of, std::vector<double>& fines, double factor) const {
    for (std::size_t t = 0; t < fines.size(); ++t) {
      fines[t] *= of.used()[t] > core_.room[t] ? factor : 1;
    }
  }

  /// The best choice with other variants in some region, to start anew from.
  std::vector<std::uint32_t> disturbed() const {
    rng random{options_.seed + 0x9e3779b97f4a7c15u * rounds_};
    auto x = best_->variants();
    const std::size_t size = 1 + x.size() * (5 + random.below(30)) / 100;
    std::vector<std::uint32_t> region{random.below(x.size())};
    std::vector<char> in(x.size());
    in[region[0]] = 1;
    for (std::size_t k = 0; k < region.size() && region.size() < size; ++k) {
      for (const auto& l : core_.links(region[k])) {
        if (in[l.to] == 0 && region.size() < size) {
          in[l.to] = 1;
          region.push_back(l.to);
        }
      }
    }
    for (const auto v : region) {
      x[v] = random.below(core_.num_variants(v));
    }
    return x;
  }

  std::unique_ptr<neighbourhood_search> take() {
    const std::lock_guard lock{mutex_};
    if (searchers_.empty()) {
      return std::make_unique<neighbourhood_search>(core_, *weights_);
    }
    auto s = std::move(searchers_.back());
    searchers_.pop_back();
    return s;
  }
  void give(std::unique_ptr<neighbourhood_search> s) {
    const std::lock_guard lock{mutex_};
    searchers_.push_back(std::move(s));
  }

  const variant_problem& p_;
  options options_;
  stopwatch clock_;
  core core_;
  std::vector<std::uint32_t> start_; ///< a choice for the nodes to begin with; empty: the first variants
  std::optional<weights> weights_;
  std::optional<dual> dual_;
  std::optional<choice> best_, suggested_, walker_;
  std::vector<std::uint32_t> x_; ///< of the messages
  std::vector<double> prices_, fines_, best_fines_; ///< fines of the walker, and of the best while it does not fit
  unsigned rests_ = 0;               ///< rounds in which the walker did not improve
  std::uint64_t walk_began_ = 0;     ///< round
  std::int64_t walked_from_ = -1;    ///< the bound when the walker started
  std::int64_t upper_ = never;       ///< the cost that the messages know of
  std::vector<std::unique_ptr<neighbourhood_search>> searchers_; ///< that no thread uses
  std::mutex mutex_;
  std::uint64_t moves_ = 0, rounds_ = 0, sweeps_ = 0, suggestions_ = 0, neighbourhoods_ = 0, improvements_ = 0;
  std::uint64_t walks_ = 0, arrivals_ = 0, enumerations_ = 0, enumerated_ = 0;
  result result_;
};

} // namespace weft::shard::detail
