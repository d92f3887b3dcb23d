// SPDX-License-Identifier: BSL-1.0
#include "throughput.hpp"

#include "weft/partition/heft.hpp"
#include "weft/throughput/annealing.hpp"
#include "weft/throughput/best.hpp"
#include "weft/throughput/bound.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/throughput/lowest_latency.hpp"

#include <utility>

namespace comparison {
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
  const weft::stopwatch clock;
  auto share = b;
  share.moves /= 2;
  share.seconds /= 2;
  auto found = period(p, share, random);
  if (!found) {
    return found;
  }
  // Where transfers go over links of their own, what is good for the makespan is a good start, too.
  weft::workspace scratch;
  auto planned = weft::partition::run(weft::partition::heft{}, p, random, scratch);
  if (!planned) {
    return found;
  }
  share.seconds = b.seconds - clock.seconds();
  auto placement =
    weft::throughput::annealing{.budget = share, .goal = found->bound}(p, std::move(planned->plan.placement), random);
  if (const double value = period_of(p, placement); value < found->value) {
    found->placement = std::move(placement);
    found->value = value;
  }
  return found;
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

} // namespace comparison
