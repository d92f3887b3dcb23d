// SPDX-License-Identifier: BSL-1.0
// What clusterers, mappers and the schedulers made of them promise, on random problems.
#include "property/property.hpp"

#include "weft/partition/clustered.hpp"
#include "weft/partition/m_sct.hpp"
#include "weft/refine/detail/sequencing.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace weft::test {
namespace property_clustering_test {

using problem_type = sampled_problem::problem_type;
namespace cluster = partition::cluster;
using costs_type = cluster::mean_costs<problem_type>;

template <class F>
void for_each_clusterer(F f) {
  f("edge_zeroing", cluster::edge_zeroing{});
  f("linear", cluster::linear{});
  f("dominant_sequence", cluster::dominant_sequence{});
}

bool same(const cluster::clustering& a, const cluster::clustering& b) {
  return a.cluster == b.cluster && a.num_clusters == b.num_clusters && a.parallel_time == b.parallel_time;
}

/// Whole components, dense numbers, and room for each cluster somewhere.
void check_clusters(const std::string& who, const problem_type& p, const cluster::clustering& k) {
  RC_ASSERT(k.cluster.size() == p.num_ops());
  cluster::cluster_id next = 0;
  std::vector<byte_count> demand(k.num_clusters, 0);
  std::vector<kind_set> kinds(k.num_clusters, kind_set::all());
  std::vector<std::size_t> components(k.num_clusters, 0);
  for (const op_id v : ids(p.num_ops())) {
    RC_ASSERT(k.cluster[v] <= next && k.cluster[v] < k.num_clusters);
    next = std::max(next, k.cluster[v] + 1);
  }
  RC_ASSERT(next == k.num_clusters);
  for (component_id c = 0; c < p.num_components(); ++c) {
    const auto here = k.cluster[p.members(c).front()];
    for (const op_id v : p.members(c)) {
      RC_ASSERT(k.cluster[v] == here);
    }
    demand[here] += p.demand(c);
    kinds[here] = kinds[here] & p.kinds(c);
    ++components[here];
  }
  for (cluster::cluster_id i = 0; i < k.num_clusters; ++i) {
    bool fits = components[i] == 1; // a component that fits nowhere is for the mapper to report
    for (const device_id d : ids(p.num_devices())) {
      fits = fits || (kinds[i].contains(p.platform().kind(d)) && p.platform().memory_capacity(d) >= demand[i]);
    }
    if (!fits) {
      RC_FAIL(who + ": a cluster fits nowhere");
    }
  }
}

/// Mean times on devices that are all alike.
struct mean_model : cost::link_transfers {
  const costs_type* costs;
  template <class W, class P>
  double compute_time(const W&, op_id v, const P&, device_id) const {
    return costs->compute(v);
  }
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P&, device_id, device_id) const {
    const auto consumers = w.consumers(t);
    double seconds = 0; // within a component the time is 0, but such tensors do not travel
    for (const op_id c : consumers) {
      seconds = std::max(seconds, costs->transfer(t, c));
    }
    return seconds;
  }
  template <class W, class P>
  double send_time(const W&, tensor_id, const P&, device_id, device_id) const {
    return 0;
  }
};

TEST_CASE("property: clusters are whole, numbered, fit somewhere, and come out again") {
  holds_for_all("clusters", {}, [](const sample& s) {
    const sampled_problem made{s};
    const costs_type costs{made.task};
    cluster::unbounded_schedule schedule{costs, costs.by_bottom_level()};
    const double separate = schedule.parallel_time([&](op_id v) { return made.task.component(v); });
    for_each_clusterer([&](const char* name, const auto& clusterer) {
      const auto k = clusterer(costs);
      check_clusters(name, made.task, k);
      RC_ASSERT(same(k, clusterer(costs)));
    });
    RC_ASSERT(at_least(separate, cluster::edge_zeroing{}(costs).parallel_time));
  });
}

TEST_CASE("property: a parallel time can be reached on enough devices") {
  sample_options o;
  o.max_ops = 7;
  o.max_slots = 1;
  holds_for_all("parallel time", o, [](const sample& s) {
    const sampled_problem made{s};
    const costs_type costs{made.task};
    for_each_clusterer([&](const char* name, const auto& clusterer) {
      const auto k = clusterer(costs);
      if (k.num_clusters == 0) {
        RC_ASSERT(k.parallel_time == 0);
        return;
      }
      const platform<uniform_links> enough{std::vector<device>(k.num_clusters), {}};
      mean_model model;
      model.costs = &costs;
      const problem p{made.ops, enough, model};
      refine::detail::sequencing best{p};
      std::uint64_t left = 2'000'000;
      const placement where(k.cluster.begin(), k.cluster.end());
      const double least = best.minimise(where, std::numeric_limits<double>::infinity(), [&](std::uint64_t n) {
        left -= std::min(left, n);
        return left > 0;
      });
      if (!at_least(k.parallel_time, least)) {
        RC_FAIL(std::string{name} + " claims " + std::to_string(k.parallel_time) + ", best is " +
                std::to_string(least));
      }
    });
  });
}


TEST_CASE("property: clustering schedulers make valid plans that run to the end") {
  holds_for_all("clustering schedulers", {}, [](const sample& s) {
    const sampled_problem made{s};
    const auto& p = made.task;
    const auto check = [&](const std::string& who, const auto& scheduler) {
      rng random{s.seed};
      workspace scratch;
      const auto decided = scheduler(p, random, scratch);
      const auto again = scheduler(p, random, scratch);
      RC_ASSERT(decided.has_value() == again.has_value());
      if (!decided) {
        RC_ASSERT(decided.error() == again.error());
        RC_ASSERT(decided.error().op < p.num_ops());
        RC_ASSERT(decided.error().cause != infeasibility::kind::not_found);
        return;
      }
      RC_ASSERT(*decided == *again);
      expect_none(who, validate(p, *decided));
      simulator<problem_type, schedule::static_order> sim{p};
      trace record;
      const auto run = sim.run(*decided, simulate::recorder{record});
      RC_ASSERT(run.complete);
      expect_none(who, validate(p, decided->placement, record, {.tolerance = 1e-9, .check_memory = true}));
    };
    for_each_clusterer([&](const std::string& name, const auto& clusterer) {
      using clusterer_type = std::remove_cvref_t<decltype(clusterer)>;
      check(name + " + earliest_finish", partition::clustered<clusterer_type, cluster::earliest_finish>{});
      check(name + " + load_balancing", partition::clustered<clusterer_type, cluster::load_balancing>{});
    });
    check("m_sct", partition::m_sct<>{{20}, 0.5});
  });
}

TEST_CASE("property: shares of favourite children obey the program and never make it worse") {
  holds_for_all("favourite children", {}, [](const sample& s) {
    const sampled_problem made{s};
    const auto lp = partition::sct::program_of(costs_type{made.task});
    const auto share = partition::sct::averaged_matchings{30}(lp);
    std::vector<double> leaving(lp.num_ops(), 0.0), entering(lp.num_ops(), 0.0);
    RC_ASSERT(share.size() == lp.arcs.size());
    for (std::size_t a = 0; a < share.size(); ++a) {
      RC_ASSERT(share[a] >= 0);
      leaving[lp.arcs[a].from] += share[a];
      entering[lp.arcs[a].to] += share[a];
    }
    RC_ASSERT(at_least(partition::sct::makespan_of(lp, std::vector<double>(share.size(), 0.0)),
                       partition::sct::makespan_of(lp, share)));
    const auto child = partition::sct::favourites(lp, share, 0.3);
    std::vector<int> parents(lp.num_ops(), 0);
    for (const op_id v : ids(lp.num_ops())) {
      RC_ASSERT(leaving[v] <= 1 + 1e-9);
      RC_ASSERT(entering[v] <= 1 + 1e-9);
      if (child[v] != none) {
        RC_ASSERT(++parents[child[v]] == 1);
      }
    }
  });
}

TEST_CASE("property: with unlimited memory and all kinds clustering schedulers always find a plan") {
  sample_options o;
  o.limits = false;
  holds_for_all("clustering is feasible", o, [](const sample& s) {
    const sampled_problem made{s};
    rng random{s.seed};
    workspace scratch;
    RC_ASSERT(partition::dsc{}(made.task, random, scratch).has_value());
    RC_ASSERT((partition::m_sct<>{{5}, 0.5}(made.task, random, scratch).has_value()));
    RC_ASSERT(partition::edge_zeroing{}(made.task, random, scratch).has_value());
    RC_ASSERT(partition::linear_clustering{}(made.task, random, scratch).has_value());
    using balanced = partition::clustered<cluster::linear, cluster::load_balancing>;
    RC_ASSERT(balanced{}(made.task, random, scratch).has_value());
  });
}

} // namespace property_clustering_test
} // namespace weft::test
