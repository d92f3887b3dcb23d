// SPDX-License-Identifier: BSL-1.0
/// A step of a model with some batch, and what of it is known that tells in which ways devices may share it.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/model/graph.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/gradients.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/step_origins.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::planner {

/// The results that lie in memory of others when a step was made of parts.
enum class shared_memory : std::uint8_t {
  as_made, ///< what its ops say
  own,     ///< none
  views,   ///< views of inputs and parameters (`with_shared_memory`)
  results  ///< … and what works element by element, in the memory of its input
};

/// A step of a model, made for a batch.
struct model_step {
  workload ops = {};
  std::uint64_t batch = 0;          ///< examples; 0: not known
  std::vector<op_id> returned = {}; ///< ops that make results of the model, ascending
  double element_bytes = 4;         ///< of a number in a gradient
  /// The graph that the ops were made of, which tells their axes; null: not known.
  std::shared_ptr<const model_graph> graph = {};
  std::vector<op_id> origin = {};                     ///< of the ops, or of the forward ones, in the graph
  std::shared_ptr<const step_origins> expanded = {};  ///< of a training step made of a forward graph
  shared_memory sharing = shared_memory::as_made;
  bool recomputes = false;         ///< ops run again for the backward pass
  bool times_of_whole = false;     ///< its times were measured, which says nothing of parts
  bool joins_ops = false;          ///< chains of ops of the graph are one op each
  bool changes_parameters = false; ///< own ops of the graph do
  std::string summed_by = {};      ///< an op of the graph that adds up over the batch, see `graph_batch`
};

/// Makes the step of a model with another batch. `again` is what its backward pass makes again, in place of what the
/// model does without being asked; none: as the model does. Throws `error` if the model has no such step.
using step_source = std::function<model_step(std::uint64_t batch, std::optional<recomputation> again)>;

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

/// The reason for which its ops are not split.
inline reason why_not_along_axes(const model_step& s) {
  using enum reason::kind;
  return has_axes(s) && !s.times_of_whole ? reason{} : reason{.is = s.joins_ops ? axes_of_fused_ops : axes_unknown};
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

} // namespace weft::planner
