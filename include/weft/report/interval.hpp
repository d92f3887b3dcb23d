// SPDX-License-Identifier: BSL-1.0
/// Means with confidence intervals of 95 %, after Student.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace weft::report {

/// A number that does not exist, such as the makespan of a run without a plan.
inline constexpr double absent = std::numeric_limits<double>::quiet_NaN();

/// A mean and the limits of its confidence interval; `absent` where there are too few samples.
struct interval {
  double mean = absent;
  double low = absent;
  double high = absent;
};

/// The number of standard errors on either side of a mean that make an interval of 95 %: the 0.975 quantile of
/// Student's t distribution. `absent` without a degree of freedom. Exact to 2e-6. Above 30 degrees of freedom by the
/// expansion of Cornish and Fisher (Abramowitz, Stegun, *Handbook of Mathematical Functions*, 26.7.5).
inline double student_t_95(std::size_t degrees_of_freedom) {
  constexpr std::array<double, 30> quantiles{
    12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139,
    2.200985,  2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963,
    2.079614,  2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272};
  if (degrees_of_freedom == 0) {
    return absent;
  }
  if (degrees_of_freedom <= quantiles.size()) {
    return quantiles[degrees_of_freedom - 1];
  }
  const auto n = static_cast<double>(degrees_of_freedom);
  constexpr double z = 1.959963984540054; // of the normal distribution
  constexpr double z2 = z * z;
  return z + z * (z2 + 1) / (4 * n) + z * ((5 * z2 + 16) * z2 + 3) / (96 * n * n) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n);
}

/// The mean of the samples and its 95 % confidence interval, which takes the samples for independent and their mean for
/// normally distributed: mean ± `student_t_95(n − 1)` · s / √n, with the standard deviation s of the samples. Without
/// samples all three are `absent`, of one sample and where one is not finite the limits are. Complexity: O(n).
inline interval mean_interval(std::span<const double> samples) {
  if (samples.empty()) {
    return {};
  }
  const auto n = static_cast<double>(samples.size());
  double sum = 0;
  for (const double x : samples) {
    sum += x;
  }
  const auto [least, greatest] = std::minmax_element(samples.begin(), samples.end());
  // The mean of equal numbers is that number, also where their sum was rounded.
  const double mean = std::isfinite(sum) ? std::clamp(sum / n, *least, *greatest) : sum / n;
  if (samples.size() == 1 || !std::isfinite(mean)) {
    return {.mean = mean};
  }
  double squares = 0;
  for (const double x : samples) {
    squares += (x - mean) * (x - mean);
  }
  const double half = student_t_95(samples.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half};
}

/// The geometric mean of positive samples and its 95 % confidence interval: `mean_interval` of their logarithms.
/// Complexity: O(n).
inline interval geometric_interval(std::span<const double> samples) {
  std::vector<double> logarithms;
  logarithms.reserve(samples.size());
  for (const double x : samples) {
    logarithms.push_back(std::log(x));
  }
  const auto [mean, low, high] = mean_interval(logarithms);
  return {std::exp(mean), std::exp(low), std::exp(high)};
}

} // namespace weft::report
