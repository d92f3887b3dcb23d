// SPDX-License-Identifier: BSL-1.0
/// Neighbourhoods of a choice of variants: some nodes are chosen anew at once, exactly for prices of bytes.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/shard/detail/choice.hpp"
#include "weft/shard/detail/core.hpp"
#include "weft/shard/detail/elimination.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::shard::detail {

/// Other variants for some nodes.
using node_changes = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The cost of a choice, with fines for each byte beyond the limit.
inline double fined_cost(const core& c, const weights& w, const choice& x, std::span<const double> fines) {
  double all = static_cast<double>(x.value().sum) + rounded(w.penalty() * x.value().forbidden);
  const auto used = x.used();
  for (std::size_t t = 0; t < used.size(); ++t) {
    all += used[t] > c.room[t] ? rounded(fines[t] * static_cast<double>(used[t] - c.room[t])) : 0;
  }
  return all;
}

/// A better choice near another one: draws nodes, minimises cost and prices of bytes over them by elimination, and
/// moves the prices by a subgradient until the choice fits, or until the Lagrangian bound proves that no choice of
/// these nodes is better. Holds tables, so that threads have one each.
class neighbourhood_search {
public:
  neighbourhood_search(const core& c, const weights& w)
      : core_{c}, weights_{w}, elimination_{c, w}, price_(c.room.size()), sum_(c.room.size() + 1),
        mark_(c.num_nodes(), 0) {}

  /// Returns what to change in `from`, or nothing if nothing at least as good was found. `over()` says whether to stop.
  template <class Over>
  node_changes operator()(const choice& from, std::span<const double> prices, std::span<const double> fines,
                     std::uint64_t seed, Over over) {
    rng random{seed};
    const bool fined = !fines.empty() && !from.value().feasible();
    draw(from, random);
    const auto effort = static_cast<int>(std::min(random.below(12), random.below(12)));
    const elimination_limits limits{.joint = std::ldexp(1.0, 9 + effort), .work = std::ldexp(1.0, 13 + effort)};
    elimination_.plan({nodes_.data(), nodes_.size()}, limits, random);
    static constexpr double factors[]{1, 1, 1, 1.2, 0.8, 2, 0.5, 0};
    const double factor = factors[random.below(8)];
    for (std::size_t t = 0; t < price_.size(); ++t) {
      price_[t] = factor * prices[t];
    }
    const auto nodes = elimination_.nodes();
    node_changes best;
    auto best_value = from.value();
    double best_fined = fined ? fined_cost(core_, weights_, from, fines) : 0;
    double length = 1;
    for (int step = 0; step < max_steps && !over(); ++step) {
      if (step >= 5 && best.empty()) {
        break;
      }
      sum_prices();
      x_ = from.variants();
      minimise();
      work_ = from;
      to_.clear();
      for (const auto v : nodes) {
        if (x_[v] != from.variants()[v]) {
          to_.emplace_back(v, x_[v]);
        }
      }
      work_->change(core_, weights_, to_);
      const auto& value = work_->value();
      const double with_fines = fined ? fined_cost(core_, weights_, *work_, fines) : 0;
      if (!to_.empty() && (fined ? with_fines <= best_fined : !(best_value < value))) {
        best_fined = with_fines;
        best_value = value;
        best = to_;
      }
      // The Lagrangian value bounds all choices of these nodes from below.
      double lagrangian = static_cast<double>(value.sum) + rounded(weights_.penalty() * value.forbidden);
      double norm = 0;
      const auto used = work_->used();
      for (std::size_t t = 0; t < price_.size(); ++t) {
        const auto over_by = static_cast<double>(used[t] - core_.room[t]);
        lagrangian += rounded(price_[t] * over_by);
        norm += price_[t] > 0 || over_by > 0 ? rounded(over_by * over_by) : 0;
      }
      const double target = fined                  ? best_fined
                            : best_value.feasible() ? static_cast<double>(best_value.cost())
                                                    : lagrangian + rounded(0.05 * std::abs(lagrangian)) + 1;
      if (norm <= 0 || lagrangian >= target - 0.5) {
        break;
      }
      const double by = length * (target - lagrangian) / norm;
      length *= 0.85;
      for (std::size_t t = 0; t < price_.size(); ++t) {
        price_[t] = std::max(0.0, price_[t] + rounded(by * static_cast<double>(used[t] - core_.room[t])));
        price_[t] = fined ? std::min(price_[t], fines[t]) : price_[t];
      }
    }
    return best;
  }

private:
  static constexpr int max_steps = 10;

  void minimise() {
    elimination_.minimise(x_, [&](std::uint32_t v, std::span<double> costs) {
      const auto own = core_.costs(v);
      for (std::size_t i = 0; i < costs.size(); ++i) {
        costs[i] += weights_.of(own[i]);
      }
      for (const auto& s : core_.pieces(v)) {
        const double p = sum_[s.live.end] - sum_[s.live.begin];
        if (p > 0) {
          for (std::size_t i = 0; i < costs.size(); ++i) {
            costs[i] += rounded(p * static_cast<double>(core_.bytes[s.first + i]));
          }
        }
      }
    });
  }

  void sum_prices() {
    for (std::size_t t = 0; t < price_.size(); ++t) {
      sum_[t + 1] = sum_[t] + price_[t];
    }
  }

  void draw(const choice& from, rng& random) {
    nodes_.clear();
    const auto n = static_cast<std::uint32_t>(core_.num_nodes());
    const auto kind = random.below(4);
    if ((kind == 0 && (n < 1000 || random.below(n) < 300)) || n <= 8) { // all, or all but some
      const auto left_out = random.below(3) == 0 ? 0 : random.below(30);
      for (std::uint32_t v = 0; v < n; ++v) {
        if (random.below(100) >= left_out) {
          nodes_.push_back(v);
        }
      }
      return;
    }
    std::size_t size = std::size_t{8} << random.below(7);
    size = std::min<std::size_t>(size, n);
    if (kind == 3 && !core_.room.empty()) { // what uses bytes at a moment, tight ones first
      std::uint32_t at = 0;
      double tightest = -1;
      for (int tries = 0; tries < 4; ++tries) {
        const auto t = random.below(core_.room.size());
        const double use = static_cast<double>(from.used()[t]) / (1 + static_cast<double>(core_.room[t]));
        if (use > tightest) {
          tightest = use;
          at = t;
        }
      }
      for (std::uint32_t v = 0; v < n; ++v) {
        for (const auto& s : core_.pieces(v)) {
          if (s.live.begin <= at && at < s.live.end) {
            nodes_.push_back(v);
            break;
          }
        }
      }
      random.shuffle(nodes_);
      nodes_.resize(std::min(nodes_.size(), size));
      for (const auto v : nodes_) {
        mark_[v] = 1;
      }
    }
    if (nodes_.empty()) {
      add(random.below(n));
    }
    if (kind == 2 || kind == 3) { // by links at random
      for (std::size_t tries = 0; nodes_.size() < 2 * size && tries < 8 * size; ++tries) {
        const auto links = core_.links(nodes_[random.below(nodes_.size())]);
        if (!links.empty()) {
          add(links[random.below(links.size())].to);
        }
      }
    } else { // the nearest
      for (std::size_t k = 0; k < nodes_.size() && nodes_.size() < size; ++k) {
        const auto links = core_.links(nodes_[k]);
        const auto first = links.empty() ? 0 : random.below(links.size());
        for (std::size_t i = 0; i < links.size() && nodes_.size() < size; ++i) {
          add(links[(first + i) % links.size()].to);
        }
      }
    }
    for (const auto v : nodes_) {
      mark_[v] = 0;
    }
    std::sort(nodes_.begin(), nodes_.end());
  }
  void add(std::uint32_t v) {
    if (mark_[v] == 0) {
      mark_[v] = 1;
      nodes_.push_back(v);
    }
  }

  const core& core_;
  const weights& weights_;
  elimination elimination_;
  std::vector<double> price_, sum_;
  std::vector<char> mark_;
  std::vector<std::uint32_t> nodes_, x_;
  std::optional<choice> work_;
  node_changes to_;
};

} // namespace weft::shard::detail
