// SPDX-License-Identifier: BSL-1.0
/// The cheapest variants of a stage's layers that fit in a device's memory: a multiple-choice knapsack.
#pragma once

#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::parallel::detail {

/// One of several classes (layers), each with some offers of a price and bytes. Clear, then add offers class by class.
///
/// `bound` solves the relaxation in which an offer may be taken in part: the lower hull of each class, its steps by
/// price saved per byte, gives a bound below the least price and a choice that is often the best one. `search` closes
/// what is left between them: over classes, it keeps choices of which none is dearer and larger than another one,
/// dropping those that the relaxation's price of a byte shows to be no better than the best choice yet.
/// Source of the relaxation: Sinha and Zoltners, *The Multiple-Choice Knapsack Problem*, 1979; of the search: Kellerer,
/// Pferschy and Pisinger, *Knapsack Problems*, 2004, chapter 11.
class variant_choice {
public:
  static constexpr std::size_t max_kept = 20'000; ///< choices that the search keeps at a class

  void clear() {
    offers_.clear();
    first_.assign(1, 0);
  }
  void add_offer(double price, double bytes, std::uint32_t variant) { offers_.push_back({price, bytes, variant}); }
  void end_class() { first_.push_back(static_cast<std::uint32_t>(offers_.size())); }

  double at_least() const { return at_least_; } ///< no choice that fits has a smaller price; infinite if none fits
  double price() const { return price_; }       ///< of the best choice yet; infinite if there is none
  std::span<const std::uint32_t> variants() const { return chosen_; } ///< of the best choice yet, by class

  /// Bound and choice for a limit of bytes. Complexity: O(offers · log offers).
  void bound(double limit) {
    at_least_ = price_ = std::numeric_limits<double>::infinity();
    byte_price_ = 0;
    chosen_.clear();
    steps_.clear();
    double least = 0, bytes = 0;
    for (std::size_t c = 0; c + 1 < first_.size(); ++c) {
      const auto smallest = add_steps(c);
      if (smallest == first_[c + 1]) {
        return; // a class without offers
      }
      chosen_.push_back(smallest);
      least += offers_[smallest].price;
      bytes += offers_[smallest].bytes;
    }
    if (bytes > limit) {
      chosen_.clear();
      return;
    }
    weft::sort(steps_, [](const step& a, const step& b) { // a hull is convex, so steps of a class stay in order
      return a.worth != b.worth ? a.worth > b.worth : a.number < b.number;
    });
    bool is_whole = true;
    double relaxed = least;
    for (const auto& s : steps_) {
      const auto c = s.of;
      if (chosen_[c] == s.from && bytes + s.bytes <= limit) {
        chosen_[c] = s.to;
        bytes += s.bytes;
        least -= s.saved;
      } else if (is_whole) {
        is_whole = false;
        byte_price_ = s.worth;
        relaxed = least - byte_price_ * (limit - bytes);
      }
    }
    at_least_ = is_whole ? least : relaxed;
    set_choice();
  }

  /// The best choice for the limit that `bound` was asked for, if its price is below `below`, or a better bound. False
  /// if there were too many choices to keep: then every other one was, the choice may not be the best, and the bound
  /// stays. Precondition: `bound` found a choice.
  bool search(double limit, double below) {
    const std::size_t n = first_.size() - 1;
    std::vector<double> rest_bytes(n + 1, 0.0), rest_worth(n + 1, 0.0); // least sums over classes from there on
    for (std::size_t c = n; c-- > 0;) {
      double bytes = std::numeric_limits<double>::infinity(), worth = bytes;
      for (std::size_t i = first_[c]; i < first_[c + 1]; ++i) {
        bytes = std::min(bytes, offers_[i].bytes);
        worth = std::min(worth, offers_[i].price + byte_price_ * offers_[i].bytes);
      }
      rest_bytes[c] = rest_bytes[c + 1] + bytes;
      rest_worth[c] = rest_worth[c + 1] + worth;
    }
    const double best = std::min(price_, below);
    const double margin = 1e-13 * (rest_worth[0] + byte_price_ * limit); // bytes may be worth more than all prices
    bool is_complete = true;
    kept_.assign(1, {0, 0, 0, 0});
    std::size_t begin = 0;
    for (std::size_t c = 0; c < n; ++c) {
      const std::size_t end = kept_.size();
      next_.clear();
      for (std::size_t k = begin; k < end; ++k) {
        for (std::size_t i = first_[c]; i < first_[c + 1]; ++i) {
          const double price = kept_[k].price + offers_[i].price, bytes = kept_[k].bytes + offers_[i].bytes;
          if (bytes + rest_bytes[c + 1] <= limit &&
              price + rest_worth[c + 1] - byte_price_ * (limit - bytes) < best + margin) {
            next_.push_back({price, bytes, static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(i)});
          }
        }
      }
      weft::sort(next_, [](const choice& a, const choice& b) {
        return a.bytes != b.bytes ? a.bytes < b.bytes : a.price != b.price ? a.price < b.price : a.offer < b.offer;
      });
      double cheapest = std::numeric_limits<double>::infinity();
      for (const auto& x : next_) {
        if (x.price < cheapest) {
          cheapest = x.price;
          kept_.push_back(x);
        }
      }
      begin = end;
      if (kept_.size() - begin > max_kept) {
        is_complete = false;
        for (std::size_t k = begin + 1; k < kept_.size(); k += 2) {
          kept_[begin + (k - begin) / 2] = kept_[k];
        }
        kept_.resize(begin + (kept_.size() - begin) / 2);
      }
    }
    if (begin < kept_.size() && kept_.back().price < best) {
      chosen_.assign(n, 0);
      for (std::size_t c = n, k = kept_.size() - 1; c-- > 0; k = kept_[k].before) {
        chosen_[c] = kept_[k].offer;
      }
      set_choice();
    }
    at_least_ = is_complete ? std::max(at_least_, std::min(price_, best)) : at_least_;
    return is_complete;
  }

private:
  struct offer {
    double price, bytes;
    std::uint32_t variant;
  };
  struct step { // along a hull, to a cheaper and larger offer
    double saved, bytes, worth;
    std::uint32_t number, of, from, to;
  };
  struct choice {
    double price, bytes;
    std::uint32_t before, offer;
  };

  /// Adds the steps of a class and returns its smallest offer, or the end of the class if it has none.
  std::uint32_t add_steps(std::size_t c) {
    const auto at_first = offers_.begin() + first_[c], at_end = offers_.begin() + first_[c + 1];
    auto at = std::min_element(at_first, at_end, [](const offer& a, const offer& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.price < b.price;
    });
    const auto place = [&](auto i) { return static_cast<std::uint32_t>(i - offers_.begin()); };
    const auto smallest = place(at);
    while (at != at_end) {
      auto best = at_end; // the steepest step; of equal ones the longest
      for (auto i = at_first; i != at_end; ++i) {
        if (i->price < at->price && i->bytes > at->bytes) {
          const double x = best == at_end ? 0 : (at->price - best->price) * (i->bytes - at->bytes);
          const double y = best == at_end ? 1 : (at->price - i->price) * (best->bytes - at->bytes);
          best = y > x || (y == x && i->bytes > best->bytes) ? i : best;
        }
      }
      if (best != at_end) {
        const double saved = at->price - best->price, bytes = best->bytes - at->bytes;
        steps_.push_back({saved, bytes, saved / bytes, static_cast<std::uint32_t>(steps_.size()),
                          static_cast<std::uint32_t>(c), place(at), place(best)});
      }
      at = best;
    }
    return smallest;
  }

  /// From places among the offers to variants.
  void set_choice() {
    price_ = 0;
    for (auto& i : chosen_) {
      price_ += offers_[i].price;
      i = offers_[i].variant;
    }
  }

  std::vector<offer> offers_;
  std::vector<std::uint32_t> first_{0}; // offer by class
  std::vector<step> steps_;
  std::vector<choice> kept_, next_;
  std::vector<std::uint32_t> chosen_;
  double at_least_ = 0, price_ = 0;
  double byte_price_ = 0; // what a byte more is worth in the relaxation
};

} // namespace weft::parallel::detail
