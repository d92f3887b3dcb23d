// SPDX-License-Identifier: BSL-1.0
#include "strategies.hpp"

#include "weft/throughput/best.hpp"
#include "weft/throughput/bound.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/throughput/lowest_latency.hpp"

#include <utility>

namespace compare {
namespace {

template <class Problem>
weft::outcome<placed> period(const Problem& p, const weft::budget& b, weft::rng& random) {
  auto found = weft::throughput::best{.budget = b}(p, random);
  if (!found) {
    return found.error();
  }
  return placed{std::move(found->placement), found->period, found->bound};
}

} // namespace

weft::outcome<placed> best_period(const problem& p, const weft::budget& b, weft::rng& random) {
  return period(p, b, random);
}

weft::outcome<placed> best_period(const study& s, const weft::budget& b, weft::rng& random) {
  return period(s.problem(), b, random);
}

weft::outcome<placed> best_latency(const study& s, const weft::budget& b, weft::rng& random) {
  auto found = weft::throughput::lowest_latency{.budget = b}(s.problem(), random);
  if (!found) {
    return found.error();
  }
  return placed{std::move(found->placement), found->latency, found->bound};
}

double period_of(const problem& p, const weft::placement& where) {
  return p.num_ops() == 0 ? 0 : weft::throughput::period(p, where);
}

double bound_of_period(const problem& p) {
  return weft::throughput::period_bound(weft::throughput::flow<problem>{p});
}

} // namespace compare
