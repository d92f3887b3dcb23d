// SPDX-License-Identifier: BSL-1.0
/// A step made of a model that was read.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/model/batch.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/shareable.hpp"
#include "weft/planner/step_settings.hpp"
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
#include <string>
#include <utility>
#include <vector>

namespace weft::planner {

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

/// The step of `step_of`.
inline model_step step_of_model(model m, std::uint64_t batch, const step_settings& how) {
  model_step s;
  if (how.train && m.unit != work_unit::flop) {
    throw value_error("step_of", "the model does not say its FLOP, so it is not known how long updates would take");
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
      options.recompute = ops_to_recompute(m.ops, *how.recompute);
    }
    auto made = training_step_with_origins(m.ops, options);
    m.ops = std::move(made.graph);
    s.expanded = std::make_shared<const step_origins>(std::move(made.from));
  } else if (how.recompute) {
    m.ops = recomputed_step(m.ops, ops_to_recompute(m.ops, *how.recompute)).graph;
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

} // namespace detail

} // namespace weft::planner
