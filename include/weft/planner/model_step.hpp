// SPDX-License-Identifier: BSL-1.0
/// A step of a model with some batch, as the planner takes it.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/workload/recomputation.hpp"
#include "weft/workload/step_origins.hpp"
#include "weft/workload/workload.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {
class model_graph;
}

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

} // namespace weft::planner
