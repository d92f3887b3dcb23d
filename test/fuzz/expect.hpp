// SPDX-License-Identifier: BSL-1.0
/// Expectations of the fuzzers: what does not hold is thrown as something other than a `weft::error`.
#pragma once

#include "weft/core/error.hpp"
#include "weft/model/batch.hpp"
#include "weft/model/lower.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/model.hpp"

#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace weft::test::fuzz {

inline void expect(bool holds, const char* what) {
  if (!holds) {
    throw std::logic_error{what};
  }
}

inline void expect_one_line(const error& e) {
  const std::string_view what = e.what();
  expect(!what.empty() && what.find_first_of("\r\n") == what.npos, "an error message is not one line");
}

/// Calls try_it(); an `error` must be one line.
template <class Try>
void refused_in_one_line(const Try& try_it) {
  try {
    try_it();
  } catch (const error& e) {
    expect_one_line(e);
  }
}

/// The same batch is the same graph; another one is that, or is refused.
inline void check_batch(const model_graph& g, std::uint64_t batch) {
  try {
    expect(lower(with_batch(g, batch)).graph.num_ops() == g.num_ops(), "a batch of a graph changes its ops");
    (void)lower(with_batch(g, 2 * batch));
  } catch (const value_error&) { // extents that are no whole numbers, or larger than anything
  }
}

/// Ops of a model's graph may be split, or not, whatever they are, and so may those of its training step.
inline void check_axes(const model& m) {
  std::vector<op_id> all(m.ops.num_ops());
  std::iota(all.begin(), all.end(), op_id{0});
  expect(m.graph->num_ops() == all.size(), "a graph has other ops than its workload");
  std::optional<expanded_step> step;
  try {
    step = training_step_with_origins(m.ops);
  } catch (const error&) { // nothing to train
  }
  try {
    (void)parallel::make_split_model(*m.graph, m.ops, all);
    if (step) {
      (void)parallel::make_split_model(*m.graph, step->graph, all, &step->from);
    }
    if (const auto batch = batch_of(*m.graph).size; batch != 0) {
      check_batch(*m.graph, batch);
    }
  } catch (const error&) {
    expect(false, "a graph that was read has no axes");
  }
}

/// The promises of every reader of models beside the workload.
inline model checked(model m) {
  expect(!m.format.empty(), "a model has no format");
  expect(m.seconds.empty() || m.seconds.size() == m.ops.num_ops(), "not every op has a time");
  for (const double x : m.seconds) {
    expect(std::isnan(x) || (x >= 0 && std::isfinite(x)), "a time is negative or infinite");
  }
  for (const auto& note : m.notes) {
    expect(!note.empty() && note.find_first_of("\r\n") == note.npos, "a note is not one line");
  }
  if (m.graph) {
    check_axes(m);
  }
  return m;
}

} // namespace weft::test::fuzz
