// SPDX-License-Identifier: BSL-1.0
// What computes the times of plans, bounds and pipelined runs, for fused.py, which looks at what the compiler makes of
// it. Not here: the manycore simulator and the models of threads.
#include "weft/bound/best.hpp"
#include "weft/cost/staged.hpp"
#include "weft/platform/platform.hpp"
#include "weft/shard.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/registry.hpp"
#include "weft/throughput/best.hpp"
#include "weft/throughput/lowest_latency.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/generate/heterogeneity.hpp"

namespace weft {

/// A product in the user's own code, which must not go into the library's sums either.
struct proportional : cost::link_transfers {
  double factor = 1.1;
  template <class W, class P>
  constexpr double compute_time(const W& w, op_id v, const P&, device_id) const {
    return factor * w.work(v);
  }
};

template class registry<problem<workload, platform<>>>;
template class simulator<problem<workload, platform<>, proportional>, schedule::fifo>;
template class refine::incremental_schedule<problem<workload, platform<>, proportional>>;

shard::result chosen(const shard::variant_problem& p) { return shard::best(p); }

using task = problem<workload, platform<>>;
using heft_on_network = decltype(partition::heft{}.on(simulate::any_network{}));
template outcome<plan> heft_on_network::operator()(const task&, rng&, workspace&) const;
template lower_bound bound::best(const task&);
template solve::best_result solve::best(const task&, const solve::best_options&);
template outcome<throughput::best_result> throughput::best::operator()(const task&, rng&) const;
using staged_task = problem<workload, platform<>, cost::staged>;
template outcome<throughput::latency_result> throughput::lowest_latency::operator()(const staged_task&, rng&) const;
template std::vector<double> generate::range_based_costs(const workload&, std::size_t, double, std::uint64_t);
template std::vector<double> generate::cvb_costs(const workload&, std::size_t, const generate::cvb_options&,
                                                 std::uint64_t);

} // namespace weft
