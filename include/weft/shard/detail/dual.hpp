// SPDX-License-Identifier: BSL-1.0
/// Lower bounds of a core by messages along its edges (TRW-S) and prices for bytes at each moment.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/rounding.hpp"
#include "weft/shard/detail/choice.hpp"
#include "weft/shard/detail/core.hpp"
#include "weft/shard/detail/least.hpp"
#include "weft/shard/detail/weights.hpp"
#include "weft/shard/detail/wide.hpp"
#include "weft/shard/variant_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::shard::detail {

/// Maximises a lower bound: of the cost plus prices for the bytes used, less what the prices charge for all the room.
/// For given prices, the sequential message passing of Kolmogorov raises the bound; prices follow a subgradient, the
/// use of the choice that the messages suggest.
///
/// All numbers are whole: costs are scaled by a power of two and rounded down, prices are whole multiples of a power of
/// two, and messages and what a node gives to an edge are rounded down. They are kept in `double`, which is exact below
/// 2^53; a sweep in which a number grew larger proves nothing. So the bound is exact.
///
/// Source: Kolmogorov, *Convergent tree-reweighted message passing for energy minimization*, IEEE TPAMI 28(10), 2006;
/// Held, Wolfe and Crowder, *Validation of subgradient optimization*, Mathematical Programming 6, 1974.
class dual {
public:
  dual(const core& c, const weights& w)
      : core_{c}, weights_{w}, price_(c.room.size()), sum_(c.room.size() + 1), mean_(c.room.size()) {
    first_message_.push_back(0);
    std::size_t size = 0;
    for (const auto& e : c.edges) {
      size += c.num_variants(e.v); // to v
      first_message_.push_back(size);
      size += c.num_variants(e.u); // to u
      first_message_.push_back(size);
    }
    message_.resize(size, 0);
    std::size_t widest = 0;
    for (const auto v : ids(c.num_nodes())) {
      std::size_t back = 0;
      const auto links = c.links(v);
      for (const auto& l : links) {
        back += l.to < v;
      }
      const auto parts = std::max<std::size_t>(1, std::max(back, links.size() - back));
      // A little less than the inverse, so that the parts never add up to more than the whole.
      share_.push_back((1 - 0x1p-40) / static_cast<double>(parts));
      widest = std::max(widest, c.num_variants(v));
    }
    belief_.resize(widest);
    part_.resize(widest);
    scaled_.resize(widest);
    unary_.resize(c.cost.size());
    rescale(never - c.fixed_cost); // what costs as much may not be taken
  }

  /// Sets an upper bound (without fixed costs), the cost of a choice: costs above it are treated alike.
  void rescale(std::int64_t upper) {
    const int old_exponent = exponent_;
    upper_ = upper;
    exponent_ = std::clamp(46 - std::ilogb(weights_.sum_of_largest(upper + 1)), -40, 20);
    const double factor = std::ldexp(1.0, exponent_ - old_exponent);
    if (factor != 1) {
      for (auto* messages : {&message_, &best_message_}) {
        for (auto& m : *messages) {
          m = std::min(std::floor(m * factor), cap); // any messages prove what they prove
        }
      }
      for (auto* prices : {&price_, &best_price_}) {
        for (auto& p : *prices) {
          p = whole_price(std::ldexp(static_cast<double>(p), exponent_ - old_exponent));
        }
      }
    }
    factor_ = std::ldexp(1.0, exponent_);
    largest_cost_ = static_cast<double>(upper) + 1;
    find_unary();
  }

  /// A sweep, and a step of the prices towards a bound of `target`, the cost of a choice or a guess at one. Where the
  /// bound has not risen for a while, goes back to where it was best, and takes shorter steps from there. Returns the
  /// bound of the sweep.
  std::int64_t improve(std::int64_t target, std::vector<std::uint32_t>& x) {
    const auto bound = sweep(x);
    ++sweeps_;
    if (bound > best_ || !has_best_) {
      has_best_ = true;
      best_ = std::max(best_, bound);
      best_message_ = message_;
      best_price_ = price_;
      suggested_ = x;
      failures_ = 0;
    } else if (++failures_ > max_failures * sweeps_per_step_) {
      failures_ = 0;
      length_ *= 0.6;
      if (length_ < shortest && (sweeps_per_step_ < 8 || best_ - cycle_bound_ > best_ / 5000)) {
        sweeps_per_step_ = std::min(8, 2 * sweeps_per_step_);
        cycle_bound_ = best_;
        length_ = 0.1;
      }
      message_ = best_message_;
      price_ = best_price_;
      has_mean_ = false;
      find_unary();
      return bound;
    }
    if (sweeps_ > first_sweeps && sweeps_ % sweeps_per_step_ == 0 && !price_.empty()) {
      step(x, bound, std::max(target, bound), length_);
    }
    return bound;
  }
  /// The best bound so far, without fixed costs.
  std::int64_t bound() const { return best_; }
  /// What the messages suggested when the bound was best.
  const std::vector<std::uint32_t>& suggestion() const { return suggested_; }
  /// Whether prices still move a lot.
  bool rough() const { return length_ > 0.03 && sweeps_per_step_ == 1; }
  /// Whether steps are so short that the bound is as good as it will be.
  bool settled() const { return length_ < shortest; }

  /// The prices, in costs per byte at a moment.
  std::vector<double> prices() const {
    std::vector<double> all(price_.size());
    for (std::size_t t = 0; t < all.size(); ++t) {
      all[t] = std::ldexp(static_cast<double>(price_[t]), -price_bits - exponent_);
    }
    return all;
  }

  /// Messages forwards and backwards. Returns the bound, without fixed costs, for the prices as they are; 0 if the
  /// numbers became too large. `x` becomes the choice that the messages suggest.
  std::int64_t sweep(std::vector<std::uint32_t>& x) {
    largest_ = 0;
    const auto n = static_cast<std::uint32_t>(core_.num_nodes());
    x.resize(n);
    for (std::uint32_t v = 0; v < n; ++v) {
      believe(v);
      x[v] = suggested(v, x);
      send(v, true);
    }
    raised_ = 0;
    for (std::uint32_t v = n; v-- > 0;) {
      believe(v);
      send(v, false);
    }
    if (!(largest_ < 0x1p51)) {
      return 0;
    }
    const wide whole = raised_ - charged_;
    // Rounded up to a whole cost, since costs are.
    const wide unit = exponent_ > 0 ? wide{1} << exponent_ : 1;
    const wide up = (whole + unit - 1) / unit;
    const wide result = exponent_ >= 0 ? up : up << -exponent_;
    return result <= 0 ? 0 : static_cast<std::int64_t>(std::min<wide>(result, upper_));
  }

  /// Moves the prices against the use of a choice, by a step that would raise the bound to `target` if it were linear.
  void step(const std::vector<std::uint32_t>& x, std::int64_t bound, std::int64_t target, double length) {
    std::vector<std::int64_t> changes(price_.size() + 1);
    for (const auto v : ids(core_.num_nodes())) {
      add_use(core_, v, x[v], 1, changes);
    }
    std::int64_t level = 0;
    double norm = 0;
    for (std::size_t t = 0; t < price_.size(); ++t) {
      level += changes[t];
      const auto over = static_cast<double>(level - core_.room[t]);
      mean_[t] = has_mean_ ? rounded(0.7 * mean_[t]) + rounded(0.3 * over) : over;
      if (price_[t] > 0 || mean_[t] > 0) {
        norm += rounded(mean_[t] * mean_[t]);
      }
    }
    has_mean_ = true;
    if (norm <= 0) {
      return;
    }
    const double by = length * static_cast<double>(target - bound) / norm;
    const double scale = std::ldexp(1.0, price_bits + exponent_);
    for (std::size_t t = 0; t < price_.size(); ++t) {
      price_[t] = whole_price(static_cast<double>(price_[t]) + rounded(by * mean_[t] * scale));
    }
    find_unary();
  }

private:
  static constexpr int price_bits = 20;
  static constexpr double cap = 0x1p48; ///< of a node's costs with prices, and of messages that are scaled anew
  static constexpr int max_failures = 12;
  static constexpr int first_sweeps = 10;
  static constexpr double shortest = 1e-4;

  double scaled(std::int64_t cost) const {
    const auto c = std::min(cost, upper_ + 1);
    return exponent_ >= 0 ? static_cast<double>(c) * static_cast<double>(std::int64_t{1} << exponent_)
                          : static_cast<double>(c >> -exponent_);
  }
  /// A price that keeps the sums of all below 2^50.
  std::int64_t whole_price(double p) const {
    return static_cast<std::int64_t>(std::clamp(p, 0.0, 0x1p50 / static_cast<double>(price_.size() + 1)));
  }
  /// Adds what was moved out of a node or an edge to the bound.
  void raise(double least) {
    if (std::abs(least) < 0x1p51) {
      raised_ += static_cast<std::int64_t>(least);
    } else {
      largest_ = std::numeric_limits<double>::infinity();
    }
  }
  /// Rounded down; x is not negative, and below 2^63.
  static double whole(double x) { return static_cast<double>(static_cast<std::int64_t>(x)); }

  /// The costs of nodes with prices.
  void find_unary() {
    wide charged = 0;
    for (std::size_t t = 0; t < price_.size(); ++t) {
      sum_[t + 1] = sum_[t] + price_[t];
      charged += static_cast<wide>(price_[t]) * core_.room[t];
    }
    charged_ = (charged + (wide{1} << price_bits) - 1) >> price_bits;
    for (const auto v : ids(core_.num_nodes())) {
      const auto n = core_.num_variants(v);
      double* const to = unary_.data() + core_.first[v];
      for (std::size_t i = 0; i < n; ++i) {
        to[i] = scaled(core_.cost[core_.first[v] + i]);
      }
      for (const auto& s : core_.pieces(v)) {
        const std::int64_t p = sum_[s.live.end] - sum_[s.live.begin];
        for (std::size_t i = 0; p > 0 && i < n; ++i) {
          const auto b = core_.bytes[s.first + i];
          to[i] += std::min(cap, static_cast<double>(static_cast<wide>(p) * b >> price_bits));
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        to[i] = std::min(to[i], cap);
      }
    }
  }

  /// Incoming messages of the end v of an edge.
  double* to_end(std::uint32_t e, std::uint32_t v) {
    return message_.data() + first_message_[2 * e + (core_.edges[e].v == v ? 0 : 1)];
  }

  /// Sums up what v has, and moves its least to the bound.
  void believe(std::uint32_t v) {
    const auto n = core_.num_variants(v);
    std::copy_n(unary_.data() + core_.first[v], n, belief_.data());
    for (const auto& l : core_.links(v)) {
      const double* const m = to_end(l.edge, v);
      for (std::size_t i = 0; i < n; ++i) {
        belief_[i] += m[i];
      }
    }
    const double* const b = belief_.data();
    const double least = least_of(n, [b](std::size_t i) { return b[i]; });
    const double most = -least_of(n, [b](std::size_t i) { return -b[i]; });
    for (std::size_t i = 0; i < n; ++i) {
      belief_[i] -= least;
    }
    largest_ = std::max({largest_, most, -least});
    raise(least);
  }

  /// Sends v's part to later or earlier neighbours, and moves the least of what each gets to the bound.
  void send(std::uint32_t v, bool forwards) {
    const auto n = core_.num_variants(v);
    for (std::size_t i = 0; i < n; ++i) {
      part_[i] = whole(belief_[i] * share_[v]);
    }
    for (const auto& l : core_.links(v)) {
      if ((l.to > v) != forwards) {
        continue;
      }
      const double* const back = to_end(l.edge, v);
      double* const out = to_end(l.edge, l.to);
      const auto& e = core_.edges[l.edge];
      const auto m = core_.num_variants(l.to);
      const double* const rows = weights_.rows(e);
      if (e.u == v) {
        std::fill_n(out, m, std::numeric_limits<double>::infinity());
        for (std::size_t i = 0; i < n; ++i) {
          const double* const row = scaled(rows + i * m, m);
          const double have = part_[i] - back[i];
          for (std::size_t j = 0; j < m; ++j) {
            const double s = have + row[j];
            out[j] = s < out[j] ? s : out[j];
          }
        }
      } else {
        for (std::size_t i = 0; i < n; ++i) {
          scratch_resize(n)[i] = part_[i] - back[i];
        }
        for (std::size_t j = 0; j < m; ++j) {
          const double* const row = scaled(rows + j * n, n);
          out[j] = least_of(n, [a = scratch_.data(), row](std::size_t i) { return a[i] + row[i]; });
        }
      }
      const double least = least_of(m, [out](std::size_t j) { return out[j]; });
      const double most = -least_of(m, [out](std::size_t j) { return -out[j]; });
      for (std::size_t j = 0; j < m; ++j) {
        out[j] -= least;
      }
      largest_ = std::max({largest_, most, -least, most - least});
      raise(least);
    }
  }
  std::vector<double>& scratch_resize(std::size_t n) {
    if (scratch_.size() < n) {
      scratch_.resize(n);
    }
    return scratch_;
  }

  /// The best variant of v, given what earlier nodes have and what later ones say.
  std::uint32_t suggested(std::uint32_t v, const std::vector<std::uint32_t>& x) {
    const auto n = core_.num_variants(v);
    auto& total = scratch_resize(n);
    std::copy_n(unary_.data() + core_.first[v], n, total.data());
    for (const auto& l : core_.links(v)) {
      if (l.to > v) {
        const double* const m = to_end(l.edge, v);
        for (std::size_t i = 0; i < n; ++i) {
          total[i] += m[i];
        }
      } else {
        const double* const costs = scaled(weights_.row(core_.edges[l.edge], v, x[l.to]), n);
        for (std::size_t i = 0; i < n; ++i) {
          total[i] += costs[i];
        }
      }
    }
    return static_cast<std::uint32_t>(std::min_element(total.begin(), total.begin() + static_cast<std::ptrdiff_t>(n)) -
                                      total.begin());
  }

  /// The costs of n pairs as the messages count them, until the next call.
  const double* scaled(const double* costs, std::size_t n) {
    double* const to = scaled_.data();
    const double never_from = weights_.penalty();
    for (std::size_t i = 0; i < n; ++i) {
      to[i] = std::min(costs[i], largest_cost_) * factor_; // exact: a power of two
    }
    for (std::size_t i = 0; i < n && exponent_ < 0; ++i) {
      to[i] = whole(to[i]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      to[i] = costs[i] < never_from ? to[i] : std::numeric_limits<double>::infinity();
    }
    return to;
  }

  const core& core_;
  const weights& weights_;
  std::int64_t upper_ = 0;
  double largest_cost_ = 0; ///< of an edge that is told from larger ones
  double factor_ = 1;       ///< 2 to the exponent
  int exponent_ = 0;   ///< numbers are costs times 2 to this
  double largest_ = 0; ///< of this sweep
  int sweeps_ = 0;
  int failures_ = 0;
  int sweeps_per_step_ = 1;
  double length_ = 1; ///< of steps
  std::int64_t best_ = 0;
  bool has_best_ = false;
  wide raised_ = 0; ///< the bound of this sweep, without what the room is charged
  std::int64_t cycle_bound_ = 0; ///< when steps were last made longer
  std::vector<double> best_message_;
  std::vector<std::uint32_t> suggested_;
  std::vector<std::int64_t> best_price_;
  std::vector<std::int64_t> price_, sum_; ///< by moment, scaled by 2^(exponent_ + price_bits); sums of those before
  std::vector<double> mean_;
  bool has_mean_ = false;
  wide charged_ = 0; ///< for all the room, rounded up
  std::vector<std::size_t> first_message_;
  std::vector<double> message_, unary_, share_, belief_, part_, scratch_, scaled_;
};

} // namespace weft::shard::detail
