// SPDX-License-Identifier: BSL-1.0
/// The reasons for which a step cannot be shared in some way, and what of it tells how it can.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/model/graph.hpp"
#include "weft/parallel/gradients.hpp"
#include "weft/parallel/parameter_gathers.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/recomputed.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/step_origins.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::planner {

/// True if it is known along which axes ops may be split.
inline bool has_axes(const model_step& s) {
  if (!s.graph) {
    return false;
  }
  const auto added = s.expanded ? s.expanded->op.size() - static_cast<std::size_t>(std::ranges::count(
                                                            s.expanded->role, step_role::forward))
                                : 0;
  return s.origin.size() + added == s.ops.num_ops();
}

/// The axes of a step that has them. It refers to the step.
inline parallel::split_model axes_of(const model_step& s) {
  return parallel::make_split_model(*s.graph, s.ops, s.origin, s.expanded.get());
}

/// Puts results of a step that was made of parts where its model has them.
inline workload with_memory(workload made, shared_memory how, const std::vector<op_id>& returned) {
  switch (how) {
  case shared_memory::as_made: break;
  case shared_memory::own: return made.with_output_memory(std::vector(made.num_ops(), output_memory::own));
  case shared_memory::views: return with_shared_memory(made, false, returned);
  case shared_memory::results: return with_shared_memory(made, true, returned);
  }
  return made;
}

/// The type of an op that changes a variable in a way of its own; empty if there is none.
inline std::string unknown_update(const workload& w) {
  for (const op_id v : ids(w.num_ops())) {
    auto type = w.type(v);
    for (const std::string_view way : {"Resource", "Sparse"}) {
      type.remove_prefix(type.starts_with(way) ? way.size() : 0);
    }
    if (type.starts_with("Assign") || (type.starts_with("Scatter") && type != "ScatterNd" && type != "ScatterND" &&
                                       type != "ScatterElements" && type != "Scatter")) {
      return std::string{w.type(v)};
    }
  }
  return {};
}

/// The reason for which replicas may not do a step whose own ops change its parameters.
inline reason why_unknown_gradients(const model_step& s) {
  const bool known = !s.changes_parameters || !parallel::gradients(s.ops).empty();
  return known ? reason{} : reason{.is = reason::kind::unknown_gradients};
}

/// The reason for which devices may not do the step with examples of their own; none if they may, as where gradients
/// are known. Where ops are split along the batch instead, what they add up is sent.
inline reason why_not_replicated(const model_step& s) {
  if (auto why = why_unknown_gradients(s)) {
    return why;
  }
  return s.expanded || s.changes_parameters || s.summed_by.empty()
           ? reason{}
           : reason{.is = reason::kind::sums_over_batch, .name = s.summed_by};
}

/// The reason for which the batch cannot be done in parts, on several devices or one after the other.
inline reason why_not_in_parts(const model_step& s) {
  using enum reason::kind;
  const auto is = s.times_of_whole ? times_of_whole_batch
                  : s.batch == 0   ? batch_unknown
                  : s.batch == 1   ? batch_of_one
                                   : nothing;
  return is == nothing ? why_not_replicated(s) : reason{.is = is};
}

/// The reason for which a step is not cut into stages, or its batch into micro-batches.
inline reason why_not_in_stages(const model_step& s) {
  const auto all = ids(s.ops.num_ops());
  const bool is_traced =
    std::any_of(all.begin(), all.end(), [&](op_id v) { return s.ops.role(v) == op_role::parameter_gradient; });
  return is_traced ? reason{.is = reason::kind::unknown_backward} : reason{};
}

/// True for a model with attentions, which tell that its rows are sequences.
inline bool has_attentions(const workload& w) { return !attentions(w, backward_ops(w)).empty(); }

/// The ops that hold the parameters which others read, of a step that was made of a forward pass; null: not known.
inline const step_origins* holders_of(const model_step& s) {
  return s.expanded && s.expanded->holder.size() == s.ops.num_ops() ? s.expanded.get() : nullptr;
}

/// The units of parameters that replicas of a step gather which hold parts of them. Throws `refusal` if it is not known
/// who reads what.
inline parallel::parameter_gathers gathers_of(const workload& step, const step_origins* holders,
                                              const parallel::gather_options& how = {}) {
  auto all = parallel::find_parameter_gathers(step, holders, how);
  if (all.units.empty()) {
    throw refusal{{.is = reason::kind::unknown_readers}};
  }
  return all;
}

/// The reason for which its ops are not split.
inline reason why_not_along_axes(const model_step& s) {
  using enum reason::kind;
  return s.times_of_whole ? reason{.is = times_of_whole_batch}
         : has_axes(s)    ? reason{}
                          : reason{.is = s.joins_ops ? axes_of_fused_ops : axes_unknown};
}

/// The bytes of all gradients of a step; 0 if it trains nothing. Throws `refusal` if its updates are not understood.
inline byte_count gradient_bytes(const model_step& s) {
  byte_count bytes = 0;
  for (const tensor_id t : parallel::gradients(s.ops)) {
    bytes += s.ops.bytes(t);
  }
  if (auto type = bytes == 0 ? unknown_update(s.ops) : std::string{}; !type.empty()) {
    throw refusal{{.is = reason::kind::unknown_update, .name = std::move(type)}};
  }
  if (auto why = why_unknown_gradients(s)) {
    throw refusal{std::move(why)};
  }
  return bytes;
}

/// The reason for which devices of the machine cannot share the batch; none if they can.
inline reason why_not_shared(const model_step& s, const platform<>& machine) {
  return alike_devices(machine).size() < 2 && unlike_devices(machine).empty()
           ? reason{.is = reason::kind::no_alike_devices}
           : why_not_in_parts(s);
}

} // namespace weft::planner
