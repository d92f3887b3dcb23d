// SPDX-License-Identifier: BSL-1.0
#include "weft/core/exact_sum.hpp"
#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace core_exact_sum_test {

using weft::exact_sum;

TEST_CASE("exact_sum: what came and went leaves nothing behind") {
  exact_sum sum;
  double naive = 0;
  std::vector<double> terms;
  weft::rng random{1};
  for (int k = 0; k < 100'000; ++k) {
    const double x = random.uniform() * (random.below(10) == 0 ? 1e12 : 1);
    terms.push_back(x);
    sum.add(x);
    naive += x;
    if (random.below(3) > 0 && terms.size() > 10) {
      const auto i = random.below(terms.size());
      sum.add(-terms[i]);
      naive -= terms[i];
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  exact_sum anew;
  double naive_anew = 0;
  for (const double x : terms) {
    anew.add(x);
    naive_anew += x;
  }
  CHECK(sum.value() == anew.value());
  CHECK(naive != naive_anew);
  for (const double x : terms) {
    sum.add(-x);
  }
  CHECK(sum.value() == doctest::Approx(0).epsilon(1e-12)); // of terms up to 1e12
}

constexpr double large_and_small() {
  exact_sum sum;
  sum.add(1e30);
  sum.add(1);
  sum.add(-1e30);
  return sum.value();
}
static_assert(large_and_small() == 1);

} // namespace core_exact_sum_test
