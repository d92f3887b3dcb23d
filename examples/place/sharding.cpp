// SPDX-License-Identifier: BSL-1.0
#include "sharding.hpp"

#include "weft/io/files.hpp"
#include "weft/io/json_sharding.hpp"
#include "weft/model/graph_of_network.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/problem.hpp"
#include "weft/report/names.hpp"
#include "weft/report/sharding_summary.hpp"
#include "weft/workload/role.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace place {
namespace {

using namespace weft;

/// The ops of the graph that those of the model are, or its forward ops.
std::vector<op_id> origin_of(const tool::input& in) {
  if (in.net) {
    return in.origin;
  }
  std::vector<op_id> all(in.model.graph->num_ops());
  std::iota(all.begin(), all.end(), op_id{0});
  return all;
}

/// The ops that a training step has beside the forward ops.
std::size_t added_ops(const tool::input& in) {
  return in.step ? in.step->op.size() - static_cast<std::size_t>(std::ranges::count(in.step->role, step_role::forward))
                 : 0;
}

std::vector<std::string> device_names(const platform<>& p) {
  std::vector<std::string> names;
  for (const device_id d : ids(p.num_devices())) {
    names.push_back(report::device_name(p, d));
  }
  return names;
}

/// The types of ops that have no axis to be split along, and what they take of the time of all ops; empty if next to
/// nothing.
std::string about_unsplit_types(const parallel::split_model& m, const std::vector<op_id>& origin, const trace& run) {
  double all = 0, unsplit = 0;
  std::vector<std::pair<double, std::string>> seconds; // by type
  for (const op_id v : ids(origin.size())) {
    const double time = run.ops[v].finish - run.ops[v].start;
    all += time;
    if (origin[v] == none || time <= 0 || m.is_splittable(origin[v])) {
      continue;
    }
    const auto type = m.ops->type(origin[v]);
    auto at = std::find_if(seconds.begin(), seconds.end(), [&](const auto& s) { return s.second == type; });
    if (at == seconds.end()) {
      at = seconds.insert(at, {0, std::string{type}});
    }
    at->first += time;
    unsplit += time;
  }
  std::stable_sort(seconds.begin(), seconds.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (unsplit < 0.0005 * all) {
    return {};
  }
  const auto share = [all](double time) {
    return time < 0.0005 * all ? "below 0.1 %" : fmt::format("{:.1f} %", 100 * time / all);
  };
  constexpr std::size_t most = 3;
  std::string text = "whole on each device, as it is not known how to split them: ";
  for (std::size_t i = 0; i < std::min(most, seconds.size()); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", seconds[i].second, share(seconds[i].first));
    unsplit -= seconds[i].first;
  }
  if (seconds.size() > most) {
    text += fmt::format(", {} more {}", seconds.size() - most, share(unsplit));
  }
  return text + " of the time of all ops";
}

} // namespace

bool has_axes(const tool::input& in) {
  return (in.net || in.model.graph) && origin_of(in).size() + added_ops(in) == in.model.ops.num_ops();
}

parallel::split_model axes_of(const tool::input& in) {
  return parallel::make_split_model(in.net ? graph_of(*in.net) : *in.model.graph, in.model.ops, origin_of(in),
                                    in.step.get());
}

step_sharding shard_batch(const tool::target& target, const tool::input& one, const std::vector<device_id>& devices,
                          bool shard_updates, const std::vector<std::uint32_t>& owner) {
  const auto& w = one.model.ops;
  step_sharding s;
  s.value = {.mesh = {.axes = {{"data", static_cast<std::uint32_t>(devices.size())}}, .devices = devices},
             .trains = is_training_step(w),
             .zero_stage = shard_updates ? 2u : 0u};
  if (has_axes(one)) {
    const auto m = axes_of(one);
    s.value.parameters = parallel::sharded_parameters(m, std::vector<std::uint32_t>(w.num_ops(), none), 0);
  } else {
    s.value.parameters = parallel::whole_parameters(w);
  }
  for (auto& x : s.value.parameters) {
    x.owner = owner.empty() ? none : owner[x.op];
  }
  s.summary.mesh = report::mesh_sentence(s.value, device_names(target.devices));
  return s;
}

step_sharding shard_ops(const tool::target& target, const parallel::split_model& m,
                        const std::vector<std::uint32_t>& axis,
                        const std::vector<parallel::resharded_tensor>& resharded,
                        const std::vector<device_id>& devices, std::size_t replicas, bool of_batch,
                        const std::vector<op_id>& origin, const trace& run) {
  const auto count = static_cast<std::uint32_t>(replicas);
  const auto ranks = static_cast<std::uint32_t>(devices.size() / replicas);
  step_sharding s;
  s.value = {.mesh = {.devices = devices}, .trains = is_training_step(*m.ops)};
  if (replicas > 1) {
    s.value.mesh.axes.push_back({"data", count});
  }
  s.value.mesh.axes.push_back({!of_batch ? "tensor" : replicas > 1 ? "data_shard" : "data", ranks});
  s.value.parameters =
    parallel::sharded_parameters(m, axis, static_cast<std::uint32_t>(s.value.mesh.axes.size() - 1));
  s.value.zero_stage = of_batch && s.value.trains ? parallel::zero_stage_of(s.value.parameters) : 0;
  s.summary.mesh = report::mesh_sentence(s.value, device_names(target.devices));
  s.summary.layers = report::sharding_by_layer(weft::problem{*m.ops, target.devices}, s.value, resharded);
  s.summary.unsplit = about_unsplit_types(m, origin, run);
  return s;
}

void write_sharding(const options& o, const tool::target& target, const tool::input& in, const step_sharding& s) {
  const auto& all = s.value.parameters;
  const auto open = std::find_if(all.begin(), all.end(), [](const auto& x) { return x.is_split() && !x.shape; });
  if (open != all.end()) {
    throw weft::error(fmt::format("--sharding: '{}' is in parts, and the file does not say what it is of, so it is not "
                                  "known along which dimension; ask for --parallel data", open->name));
  }
  io::write_file(o.sharding, [&](std::ostream& out) {
    io::write_sharding_json(out, s.value,
                            {.model = in.name, .platform = o.platform, .devices = device_names(target.devices)});
  });
}

} // namespace place
