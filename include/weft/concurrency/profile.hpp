// SPDX-License-Identifier: BSL-1.0
/// A store of measured times, robust against outliers and mergeable over runs.
#pragma once

#include "weft/concurrency/op_classes.hpp"
#include "weft/concurrency/sampled_curve.hpp"
#include "weft/core/error.hpp"
#include "weft/core/sort.hpp"
#include "weft/platform/machine.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::concurrency {

/// An estimate from several measurements of one thing.
struct estimate {
  double seconds = 0;   ///< the median
  double spread = 0;    ///< 1.4826 × the median distance from it: the standard deviation, if errors are normal
  std::size_t runs = 0; ///< how many measurements there are
  friend constexpr bool operator==(const estimate&, const estimate&) = default;
};

/// The middle of some numbers (the mean of the two middle ones). Precondition: there is one. Complexity: O(n).
inline double median(std::vector<double> x) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  if (x.size() % 2 == 1) {
    return *middle;
  }
  return (*std::max_element(x.begin(), middle) + *middle) / 2;
}

/// The mean without the smallest and largest `share` of the numbers. Precondition: there is one; 0 ≤ share < 0.5.
inline double trimmed_mean(std::vector<double> x, double share = 0.25) {
  weft::sort(x);
  const auto cut = static_cast<std::size_t>(share * static_cast<double>(x.size()));
  double sum = 0;
  for (std::size_t i = cut; i < x.size() - cut; ++i) {
    sum += x[i];
  }
  return sum / static_cast<double>(x.size() - 2 * cut);
}

/// Combines measurements so that a few outliers change nothing. Precondition: there is one.
inline estimate combine(const std::vector<double>& measured) {
  const double middle = median(measured);
  std::vector<double> distance;
  for (const double x : measured) {
    distance.push_back(std::abs(x - middle));
  }
  return {middle, 1.4826 * median(std::move(distance)), measured.size()};
}

/// Measured times of ops, by machine, op (type and input shapes, as `op_classes` keys them), threads and affinity.
/// Keeps at most `max_runs` measurements per entry, the latest, so that a long training run neither grows it nor
/// freezes it. io/json_profile.hpp saves and loads it.
class profile {
public:
  static constexpr std::size_t max_runs = 64;

  struct key {
    std::string machine;
    std::string op;
    std::uint32_t threads = 1;
    weft::affinity affinity = weft::affinity::packed;
    friend auto operator<=>(const key&, const key&) = default;
  };

  /// Adds a measurement. Throws `value_error` for a time that is not positive and finite, or no threads.
  void record(key k, double seconds) {
    if (!(seconds > 0 && seconds < std::numeric_limits<double>::infinity()) || k.threads == 0) {
      throw value_error("profile: op '" + k.op + "' with " + std::to_string(k.threads) + " threads",
                        "a measured time must be positive and finite, and threads at least 1");
    }
    auto& e = entries_[std::move(k)];
    if (e.size() == max_runs) {
      e.erase(e.begin());
    }
    e.push_back(seconds);
  }

  /// The estimate for an op with a team on a machine, if there is one. Complexity: O(log entries + runs).
  std::optional<concurrency::estimate> find(const key& k) const {
    const auto at = entries_.find(k);
    return at == entries_.end() ? std::nullopt : std::optional{combine(at->second)};
  }

  /// The curve through an op's entries; nothing if it was never measured on that machine.
  std::optional<sampled_curve> curve(const std::string& machine, const std::string& op) const {
    std::vector<sample> points[2];
    for (auto at = entries_.lower_bound({machine, op, 0, affinity::packed});
         at != entries_.end() && at->first.machine == machine && at->first.op == op; ++at) {
      points[static_cast<int>(at->first.affinity)].push_back({at->first.threads, median(at->second)});
    }
    if (points[0].empty() && points[1].empty()) {
      return {};
    }
    return sampled_curve{std::move(points[0]), std::move(points[1])};
  }

  /// Adds the measurements of another profile, as later ones. Complexity: O(entries · log entries).
  void merge(const profile& other) {
    if (&other == this) {
      return merge(profile{other}); // adding to what is being read would not do
    }
    for (const auto& [k, runs] : other.entries_) {
      for (const double s : runs) {
        record(k, s);
      }
    }
  }

  /// A line for the user if there is nothing of this machine but something of others; else empty. Times of another
  /// machine are not used, whatever it says.
  std::string warning_for(std::string_view machine) const {
    std::string others;
    for (const auto& [k, runs] : entries_) {
      if (k.machine == machine) {
        return {};
      }
      if (others.find("'" + k.machine + "'") == others.npos) {
        others += (others.empty() ? "'" : ", '") + k.machine + "'";
      }
    }
    return others.empty() ? std::string{}
                          : "the profile was measured on " + others + ", not on this machine ('" +
                              std::string{machine} + "'): its times are not used; profile again here";
  }

  std::size_t num_entries() const { return entries_.size(); }
  const std::map<key, std::vector<double>>& entries() const { return entries_; }
  friend bool operator==(const profile&, const profile&) = default;

private:
  std::map<key, std::vector<double>> entries_;
};

} // namespace weft::concurrency
