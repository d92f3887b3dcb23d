// SPDX-License-Identifier: BSL-1.0
// Clusterers, mappers, m-SCT and the generators ask no more of a problem than its concepts say.
#include "weft/cost/generate/ccr.hpp"
#include "weft/partition/clustered.hpp"
#include "weft/partition/m_sct.hpp"
#include "weft/platform/archetype.hpp"
#include "weft/workload/archetype.hpp"
#include "weft/workload/generate.hpp"

#include <utility>
#include <vector>

using namespace weft;

namespace {

struct cost_archetype {
  double compute_time(const workload_archetype&, op_id, const platform_archetype&, device_id) const { return 0; }
  double transfer_time(const workload_archetype&, tensor_id, const platform_archetype&, device_id, device_id) const {
    return 0;
  }
  cost_archetype(const cost_archetype&) = default;
  cost_archetype& operator=(const cost_archetype&) = delete;
};
using problem_archetype = problem<workload_archetype, platform_archetype, cost_archetype>;
namespace cluster = partition::cluster;
using costs_archetype = cluster::mean_costs<problem_archetype>;

[[maybe_unused]] void use_all(const problem_archetype& p, rng& random, workspace& scratch) {
  (void)partition::edge_zeroing{}(p, random, scratch);
  (void)partition::linear_clustering{}(p, random, scratch);
  (void)partition::dsc{}(p, random, scratch);
  (void)partition::clustered<cluster::linear, cluster::load_balancing>{}(p, random, scratch);
  (void)partition::m_sct<>{}(p, random, scratch);
  (void)generate::ccr_of(p.workload(), p.platform(), p.cost());
  (void)generate::range_based_costs(p.workload(), 2, 1);
  (void)generate::cvb_costs(p.workload(), 2);
}

// What offers exactly what is asked is taken, and need not be assignable.
struct clusterer_archetype {
  cluster::clustering operator()(const costs_archetype&) const { return {}; }
  clusterer_archetype() = default;
  clusterer_archetype(const clusterer_archetype&) = default;
  clusterer_archetype& operator=(const clusterer_archetype&) = delete;
};
struct mapper_archetype {
  outcome<placement> operator()(const costs_archetype&, const cluster::clustering&) const { return placement{}; }
  mapper_archetype() = default;
  mapper_archetype(const mapper_archetype&) = default;
  mapper_archetype& operator=(const mapper_archetype&) = delete;
};
struct solver_archetype {
  std::vector<double> operator()(const partition::sct::program&) const { return {}; }
  solver_archetype() = default;
  solver_archetype(const solver_archetype&) = default;
  solver_archetype& operator=(const solver_archetype&) = delete;
};
static_assert(partitioner_for<partition::clustered<clusterer_archetype, mapper_archetype>, problem_archetype>);
static_assert(partitioner_for<partition::m_sct<solver_archetype>, problem_archetype>);

// Near misses.
struct wrong_result {
  placement operator()(const costs_archetype&) const { return {}; }
  placement operator()(const costs_archetype&, const cluster::clustering&) const { return {}; }
  double operator()(const partition::sct::program&) const { return 0; }
};
static_assert(!cluster::clusterer_for<wrong_result, problem_archetype>);
static_assert(!cluster::mapper_for<wrong_result, problem_archetype>);
static_assert(!partition::sct::program_solver<wrong_result>);
static_assert(!partitioner_for<partition::clustered<wrong_result, mapper_archetype>, problem_archetype>);
static_assert(!partitioner_for<partition::clustered<clusterer_archetype, wrong_result>, problem_archetype>);

} // namespace
