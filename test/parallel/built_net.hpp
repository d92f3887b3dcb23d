// SPDX-License-Identifier: BSL-1.0
/// Bundled networks for tests of splits, and costs and placements for them.
#pragma once

#include "weft/model/graph_of_network.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace weft::test {

/// A bundled network with the workload that was built of it.
struct built_net {
  std::unique_ptr<nn::network> net;
  nn::built_workload built;

  explicit built_net(const char* spec) {
    const auto r = zoo::parse(spec);
    net = std::make_unique<nn::network>(nn::network_options{.training = r.training});
    const auto task = zoo::define(*net, r);
    std::vector<op_id> roots;
    for (const auto& t : net->outputs()) {
      roots.push_back(t.op());
    }
    built = r.training ? training_step_with_origins(*net, task.objectives, task.options)
                       : net->build_with_origins(roots);
  }
  parallel::split_model model() const { return parallel::make_split_model(graph_of(*net), built.graph, built.origin); }
};

/// A FLOP takes a second, split or not as `ranks` say; what is sent, a second per byte divided by `bandwidth`.
inline parallel::split_costs costs_of(const workload& w, std::uint32_t ranks, double bandwidth) {
  return {.op = [&w, ranks](op_id v, std::uint32_t axis) {
            return 1e-12 * w.work(v) / (parallel::chosen_splits::in_parts(axis) ? ranks : 1);
          },
          .transfer = [bandwidth](parallel::resharding what, byte_count bytes) {
            const double factor = what == parallel::resharding::all_reduce ? 2 : 1;
            return factor * static_cast<double>(bytes) / bandwidth;
          }};
}

inline std::vector<placement> on_ranks(const workload& w, std::uint32_t ranks) {
  std::vector<placement> all;
  for (device_id d = 0; d < ranks; ++d) {
    all.emplace_back(w.num_ops(), d);
  }
  return all;
}

/// The ops of one kind of device on that, everything else on device 0.
inline std::vector<placement> each_on_its_own(const workload& w, std::uint32_t replicas) {
  std::vector<placement> all;
  for (std::uint32_t r = 0; r < replicas; ++r) {
    placement where;
    for (const op_id v : ids(w.num_ops())) {
      where.push_back(w.kinds(v).contains(device_kind::gpu) ? r + 1 : 0);
    }
    all.push_back(std::move(where));
  }
  return all;
}

} // namespace weft::test
