// SPDX-License-Identifier: BSL-1.0
/// Random problems for property tests: plain data that can be drawn, shrunk and printed, and the problem made of it.
#pragma once

#include "weft/core/random.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/cost/table.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <cstdint>
#include <ostream>
#include <utility>
#include <variant>
#include <vector>

namespace weft::test {

/// A problem before it is built. Every value of it can be built.
struct sample {
  static constexpr std::uint32_t control = none; ///< the output of a control edge

  struct op_data {
    double work = 1;
    byte_count resident_bytes = 0;
    kind_set kinds = kind_set::all();
    std::vector<byte_count> outputs = {};
    output_memory memory = output_memory::own;
  };
  struct edge_data {
    op_id from = 0;
    std::uint32_t output = 0; ///< of `from`, or `control`
    op_id to = 0;
    friend bool operator==(const edge_data&, const edge_data&) = default;
  };
  enum class topology : std::uint8_t { uniform, matrix, levels };
  enum class cost_kind : std::uint8_t { linear, table, roofline };

  std::vector<op_data> ops;
  std::vector<edge_data> edges; ///< without a cycle, each once
  std::vector<std::pair<op_id, op_id>> colocations;
  std::vector<device> devices;
  topology connected = topology::uniform;
  std::vector<link> links; ///< uniform: one; matrix: one per ordered pair, row by row; levels: the innermost first
  std::vector<std::size_t> enclosures; ///< levels: the sizes
  double send_work = 0;
  cost_kind cost = cost_kind::linear;
  std::vector<double> seconds; ///< table: one per op and device, op by op
  double launch_overhead = 0;  ///< roofline
  std::uint64_t seed = 0;      ///< for the strategies
};

/// What random problems look like.
struct sample_options {
  std::uint32_t max_ops = 40;
  std::uint32_t max_devices = 6;
  std::uint32_t max_slots = 3;
  bool sends = true;      ///< half of the platforms charge for sends
  bool limits = true;     ///< some have too little memory, or ops that only some kinds of devices may run
  bool any_cost = true;   ///< not only linear costs
  bool generic = false;   ///< numbers that no two sums of them are equal by accident, and no zeros
  double max_density = 1; ///< of the edges
};

/// A random problem; larger for a larger `size` up to 50.
sample draw_sample(const sample_options& o, std::uint64_t seed, int size);

/// Problems that are simpler in one way each, the simplest first; with the same numbers if `keep_numbers`.
std::vector<sample> simpler(const sample& s, bool keep_numbers);

std::ostream& operator<<(std::ostream& out, const sample& s);

/// Links of any kind behind one type, so that everything is compiled once.
struct any_links {
  std::variant<uniform_links, link_matrix, hierarchical_links> links{uniform_links{}};
  link operator()(device_id a, device_id b) const {
    return std::visit([&](const auto& l) -> link { return l(a, b); }, links);
  }
};

/// Costs of any kind behind one type.
struct any_cost : cost::link_transfers {
  std::variant<cost::linear, cost::table, cost::roofline> model{cost::linear{}};
  template <class W, class P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return std::visit([&](const auto& m) { return m.compute_time(w, v, p, d); }, model);
  }
};

workload make_workload(const sample& s);
platform<any_links> make_platform(const sample& s);

/// What a sample says, built. Owns everything that its problem refers to.
struct sampled_problem {
  using problem_type = problem<workload, platform<any_links>, any_cost>;

  workload ops;
  platform<any_links> devices;
  std::vector<double> seconds;
  problem_type task;

  explicit sampled_problem(const sample& s);
  sampled_problem(const sampled_problem&) = delete;
  sampled_problem& operator=(const sampled_problem&) = delete;
};

} // namespace weft::test
