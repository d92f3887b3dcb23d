// SPDX-License-Identifier: BSL-1.0
/// Uncertainty of times: distributions of the factor between a time and its estimate, by op type.
#pragma once

#include "weft/core/elementary.hpp"
#include "weft/core/error.hpp"
#include "weft/core/random.hpp"
#include "weft/core/readable.hpp"
#include "weft/core/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::cost {

/// A factor of mean 1 whose logarithm is normal with standard deviation sigma, at least 0: for small ones, about the
/// relative standard deviation. What is left where many small things delay each other, and never negative.
struct lognormal {
  double sigma = 0;
};

/// A factor anywhere in `[1 - width, 1 + width)`, with 0 ≤ width < 1.
struct uniform {
  double width = 0;
};

/// One of these factors, each as likely: measured times over their estimate. They are taken as they are, so that their
/// mean need not be 1. All above 0; at least one.
struct empirical {
  std::vector<double> factors;
};

/// One of the distributions above. By default the estimate is right: the factor is 1.
class spread {
public:
  spread() = default;
  /// These throw `value_error` for numbers that describe no such distribution.
  spread(lognormal x) : shape_{x.sigma > 0 ? shape::lognormal : shape::exact}, width_{x.sigma} {
    if (!(x.sigma >= 0 && x.sigma < 10)) {
      refuse("lognormal", x.sigma, "sigma, the standard deviation of the logarithm, must be at least 0 and below 10");
    }
  }
  spread(uniform x) : shape_{x.width > 0 ? shape::uniform : shape::exact}, width_{x.width} {
    if (!(x.width >= 0 && x.width < 1)) {
      refuse("uniform", x.width, "the width must be at least 0 and below 1, so that no time is negative");
    }
  }
  spread(empirical x) : shape_{shape::empirical}, factors_{std::move(x.factors)} {
    if (factors_.empty()) {
      throw value_error("empirical spread", "has no factors to draw from; give at least one");
    }
    for (const double f : factors_) {
      if (!(f > 0 && f < std::numeric_limits<double>::infinity())) {
        refuse("empirical", f, "factors are measured times over their estimate, finite and above 0");
      }
    }
  }

  constexpr bool is_exact() const { return shape_ == shape::exact; }

  /// Draws a factor. The same numbers on every machine.
  double operator()(rng& random) const {
    switch (shape_) {
    case shape::exact: break;
    case shape::lognormal: return portable_exp(rounded(width_ * normal(random)) - rounded(width_ * width_ / 2));
    case shape::uniform: return random.uniform(1 - width_, 1 + width_);
    case shape::empirical: return factors_[random.below(factors_.size())];
    }
    return 1;
  }

private:
  enum class shape : std::uint8_t { exact, lognormal, uniform, empirical };

  /// Marsaglia's polar method.
  static double normal(rng& random) {
    double x = 0, square = 0;
    do {
      x = random.uniform(-1, 1);
      const double y = random.uniform(-1, 1);
      square = rounded(x * x) + rounded(y * y);
    } while (!(square < 1 && square > 0));
    return x * std::sqrt(-2 * portable_log(square) / square);
  }

  [[noreturn]] static void refuse(const char* name, double value, const char* fix) {
    throw value_error(std::string{name} + " spread", readable_number(value) + " is not a spread: " + fix);
  }

  shape shape_ = shape::exact;
  double width_ = 0;
  std::vector<double> factors_;
};

/// The uncertainty of the times of a workload: the compute times of ops, by their type, and what it takes to move
/// tensors. A spread alone is that of all compute times.
/// ```
/// cost::uncertainty times{cost::lognormal{0.1}};
/// times.set("Conv", cost::lognormal{0.3});
/// times.set("TopK", cost::empirical{{0.8, 0.9, 1, 2.5}});
/// times.set_transfers(cost::uniform{0.2});
/// ```
class uncertainty {
  using entry = std::pair<std::string, spread>;
  template <class Entries>
  static auto position(Entries& entries, std::string_view type) {
    return std::lower_bound(entries.begin(), entries.end(), type,
                            [](const entry& e, std::string_view name) { return e.first < name; });
  }

public:
  uncertainty() = default;
  template <std::convertible_to<spread> S>
  uncertainty(S of_ops) : others_{std::move(of_ops)} {}

  /// Ops of this type; what was set last wins.
  uncertainty& set(std::string type, spread s) {
    auto at = position(by_type_, type);
    if (at == by_type_.end() || at->first != type) {
      at = by_type_.insert(at, {std::move(type), spread{}});
    }
    at->second = std::move(s);
    return *this;
  }
  /// Sends, transfers and staging.
  uncertainty& set_transfers(spread s) {
    transfers_ = std::move(s);
    return *this;
  }

  /// Of ops of this type: that of all others where nothing was set. O(log types).
  const spread& of_type(std::string_view type) const {
    const auto at = position(by_type_, type);
    return at == by_type_.end() || at->first != type ? others_ : at->second;
  }
  const spread& of_transfers() const { return transfers_; }

private:
  spread others_;
  spread transfers_;
  std::vector<entry> by_type_; // in the order of the names
};

} // namespace weft::cost
