// SPDX-License-Identifier: BSL-1.0
/// Steps of a model that was read: trained or not, with narrower numbers, and with parts of it run again.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/model/batch.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/platform/number_format.hpp"
#include "weft/workload/frozen.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/model.hpp"
#include "weft/workload/op_blocks.hpp"
#include "weft/workload/recomputed.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/stored_as.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::planner {

/// What becomes of a model.
struct step_settings {
  std::optional<optimizer> train = {}; ///< its gradients and updates are added; none: it stays as it is
  std::string freeze = {};             ///< names of parameters that are not trained (`name_patterns`)
  std::optional<number_format> numbers = {};   ///< of tensors and parameters; none: those of the model
  std::optional<recomputation> recompute = {}; ///< what its backward pass makes again
};

namespace detail {

/// The ops that are made again. Throws `value_error` if there are none.
inline std::vector<op_id> ops_to_recompute(const workload& w, recomputation what) {
  const auto block_of = blocks_of_ops(w, w.num_ops());
  auto ops = recomputed_ops(w, what, [&](op_id v) { return block_of[v]; }, backward_ops(w));
  if (ops.empty()) {
    throw value_error("step_of", "no blocks or attentions to run again were found; blocks are told from names of ops, "
                                 "such as layer_3/…, attentions by their softmax");
  }
  return ops;
}

} // namespace detail

/// The step of a model with so many examples (0: as many as its graph tells). Throws `value_error` for a model to train
/// whose work is no FLOP, if nothing is found to run again, and as `training_step_with_origins` and `stored_as` do.
inline model_step step_of(model m, std::uint64_t batch, const step_settings& how) {
  model_step s;
  if (how.train && m.unit != work_unit::flop) {
    throw value_error("step_of", "the model tells no FLOP, so it is not known how long updates would take");
  }
  const auto bits = number_bits(m);
  s.element_bytes = how.numbers ? bytes_of(*how.numbers) : (bits != 0 ? bits : 32) / 8.0;
  s.batch = batch;
  s.times_of_whole = !m.seconds.empty() || m.unit != work_unit::flop;
  if (m.graph) {
    const auto found = batch_of(*m.graph);
    s.batch = batch == 0 && found.size > 1 ? found.size : batch;
    s.changes_parameters = changes_parameters(*m.graph);
    s.summed_by = found.summed_by != none ? (*m.graph)[found.summed_by].name : std::string{};
    s.origin.resize(m.graph->num_ops());
    std::iota(s.origin.begin(), s.origin.end(), op_id{0});
    s.graph = m.graph;
  }
  std::vector<byte_count> kept;
  if (!how.freeze.empty()) {
    kept = frozen(m, how.freeze).bytes;
  }
  if (how.train) {
    step_options options{.rule = *how.train, .frozen = kept};
    if (how.recompute) {
      options.recompute = detail::ops_to_recompute(m.ops, *how.recompute);
    }
    auto made = training_step_with_origins(m.ops, options);
    m.ops = std::move(made.graph);
    s.expanded = std::make_shared<const step_origins>(std::move(made.from));
  } else if (how.recompute) {
    m.ops = recomputed_step(m.ops, detail::ops_to_recompute(m.ops, *how.recompute)).graph;
  }
  if (how.numbers && bits == 32) {
    const double width = 8.0 * bytes_of(*how.numbers);
    m.ops = stored_as(m.ops, {.tensor_bits = width, .weight_bits = width}, kept);
  }
  s.sharing = is_training_step(m.ops) ? shared_memory::views : shared_memory::results;
  s.recomputes = how.recompute.has_value();
  s.returned = std::move(m.returned);
  s.ops = with_memory(std::move(m.ops), s.sharing, s.returned);
  return s;
}

/// The steps of a model that is read with any batch.
/// ```
/// const auto net = planner::steps_of([&](std::uint64_t batch) { return onnx::read_model(file, {.batch = batch}); },
///                                    {.train = optimizer::adam, .numbers = number_format::bf16});
/// ```
template <class Read>
step_source steps_of(Read read, step_settings how = {}) {
  return [read = std::move(read), how = std::move(how)](std::uint64_t batch, std::optional<recomputation> again) {
    auto with = how;
    with.recompute = again ? again : how.recompute;
    return step_of(read(batch), batch, with);
  };
}

} // namespace weft::planner
