// SPDX-License-Identifier: BSL-1.0
/// Ties random problems to RapidCheck and doctest.
#pragma once

#include "property/sample.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace weft::test {

/// Random problems that shrink towards small and plain ones.
inline rc::Gen<sample> samples(sample_options o) {
  return rc::Gen<sample>([o](const rc::Random& random, int size) {
    rc::Random numbers = random;
    return rc::shrinkable::shrinkRecur(draw_sample(o, numbers.next(), size),
                                       [o](const sample& s) { return rc::seq::fromContainer(simpler(s, o.generic)); });
  });
}

/// Checks that `body(sample)` holds for many problems; it says otherwise with RC_ASSERT and RC_FAIL.
template <class Body>
void holds_for_all(const std::string& what, const sample_options& o, Body body) {
  CHECK(rc::check(what, [&] {
    const sample s = *samples(o);
    body(s);
  }));
}

/// Fails if a check found something, and says what.
template <class Violation>
void expect_none(const std::string& who, const std::vector<Violation>& found) {
  if (!found.empty()) {
    RC_FAIL(who + ": " + to_string(found.front()));
  }
}

/// Two sums of the same times in different orders.
inline bool about(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

/// Whether a makespan keeps a bound, up to rounding.
inline bool at_least(double makespan, double bound) { return makespan >= bound * (1 - 1e-9); }

} // namespace weft::test
