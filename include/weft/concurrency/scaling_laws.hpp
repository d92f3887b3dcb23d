// SPDX-License-Identifier: BSL-1.0
/// Scaling laws: how the time of an op shrinks with threads, in one formula.
#pragma once

#include "weft/concurrency/concepts.hpp"
#include "weft/core/rounding.hpp"

#include <cmath>

namespace weft::concurrency {

/// T(p) = T(1) · ((1 − f) + f / p): a part f of the work is shared by all threads, the rest is done by one.
/// Source: Amdahl, *Validity of the Single Processor Approach*, AFIPS 1967.
struct amdahl {
  double one_thread = 1; ///< T(1), seconds
  double parallel = 1;   ///< f, from 0 to 1

  constexpr double operator()(team t) const {
    return one_thread * ((1 - parallel) + parallel / static_cast<double>(t.threads));
  }
};

/// T(p) = T(1) · (1 + σ(p − 1) + κ p(p − 1)) / p: threads wait for each other (σ) and exchange what they changed (κ).
/// With κ > 0 there is a best number of threads, √((1 − σ) / κ). With κ = 0 it is Amdahl's law with f = 1 − σ.
/// Source: Gunther, *Guerrilla Capacity Planning*, 2007, eq. 4.14.
struct universal_scalability {
  double one_thread = 1; ///< T(1), seconds
  double contention = 0; ///< σ, from 0 to 1
  double coherency = 0;  ///< κ, not negative

  constexpr double operator()(team t) const {
    const auto p = static_cast<double>(t.threads);
    return one_thread * (1 + rounded(contention * (p - 1)) + rounded(coherency * p * (p - 1))) / p;
  }

  /// The number of threads (a real number) with the smallest time; infinite without coherency cost.
  double best() const { return std::sqrt((1 - contention) / coherency); }
};

} // namespace weft::concurrency
