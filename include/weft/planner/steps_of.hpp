// SPDX-License-Identifier: BSL-1.0
/// Steps of a model that was read: trained or not, with narrower numbers, and with parts of it run again.
#pragma once

#include "weft/planner/model_step.hpp"
#include "weft/planner/step_settings.hpp"
#include "weft/workload/model.hpp"
#include "weft/workload/recomputation.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace weft::planner {

/// The step of a model with so many examples (0: as many as its graph tells). Throws `value_error` for a model to train
/// whose work is no FLOP, if nothing is found to run again, and as `training_step_with_origins` and `stored_as` do.
model_step step_of(model m, std::uint64_t batch, const step_settings& how);

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

#ifndef WEFT_COMPILED
#include "weft/planner/kinds/step_of_model.hpp"

namespace weft::planner {

inline model_step step_of(model m, std::uint64_t batch, const step_settings& how) {
  return detail::step_of_model(std::move(m), batch, how);
}

} // namespace weft::planner
#endif
