// SPDX-License-Identifier: BSL-1.0
#include "planned.hpp"

#include "costs.hpp"

#include "weft/io/json_workload.hpp"
#include "weft/model/graph_of_network.hpp"
#include "weft/workload/nn/network.hpp"
#include "weft/workload/role.hpp"

#include <numeric>
#include <utility>

namespace tool {

namespace {

/// A roofline and the table that it looks up.
struct typical_estimate : estimate {
  std::shared_ptr<const weft::cost::efficiency_table> table;
};

weft::planner::shared_memory sharing_of(const model_options& o, const input& in) {
  using enum weft::planner::shared_memory;
  if (o.in_place ? *o.in_place : in.model.format != weft::io::json_workload_reader::format()) {
    return o.in_place || !weft::is_training_step(in.model.ops) ? results : views;
  }
  return o.in_place ? own : as_made;
}

} // namespace

weft::planner::model_step step_of(const model_options& o, input in) {
  auto& m = in.model;
  const auto bits = weft::number_bits(m);
  weft::planner::model_step s;
  s.sharing = sharing_of(o, in);
  s.element_bytes = o.numbers ? weft::bytes_of(*o.numbers) : (bits != 0 ? bits : 32) / 8.0;
  s.batch = in.batch;
  s.times_of_whole = !m.seconds.empty() || !o.profile.empty() || m.unit != weft::work_unit::flop;
  s.joins_ops = in.unfused != nullptr;
  s.recomputes = o.recompute.has_value();
  s.changes_parameters = in.changes_parameters;
  s.summed_by = std::move(in.summed_by);
  s.expanded = std::move(in.step);
  if (in.net) {
    s.graph = std::make_shared<const weft::model_graph>(weft::graph_of(*in.net));
    s.origin = std::move(in.origin);
  } else if (m.graph) {
    s.graph = m.graph;
    s.origin.resize(m.graph->num_ops());
    std::iota(s.origin.begin(), s.origin.end(), weft::op_id{0});
  }
  s.returned = std::move(m.returned);
  s.ops = std::move(m.ops);
  return s;
}

weft::planner::step_source steps_of(std::shared_ptr<const model_source> from, model_options o) {
  return [from = std::move(from), o = std::move(o)](std::uint64_t batch, std::optional<weft::recomputation> again) {
    auto with = o;
    with.recompute = again ? again : o.recompute;
    return step_of(with, load_with_batch(from, with, batch));
  };
}

weft::cost::launches launches_in_stages(const input& in) {
  const bool is_eager = in.net && in.net->training() && in.net->kernels() == weft::nn::kernel_set::framework;
  return is_eager ? weft::cost::launches::eager : weft::cost::launches::single;
}

weft::planner::step_costs costs_of_steps(const model_options& o, const input& in, const target& on,
                                         std::optional<weft::cost::launches> how) {
  const auto of = [&](weft::cost::launches by, bool counts_launches) {
    auto table = std::make_shared<const weft::cost::efficiency_table>(efficiencies(o, by, counts_launches));
    return weft::planner::any_cost{typical_estimate{make_estimate(o, in, on, *table), table}};
  };
  const auto in_stages = how.value_or(launches_in_stages(in));
  weft::planner::step_costs all{of(how.value_or(weft::cost::launches::single), true), of(in_stages, false),
                                of(in_stages, true), in_stages};
  all.hosts_take_time = !o.peak_rates;
  return all;
}

} // namespace tool
