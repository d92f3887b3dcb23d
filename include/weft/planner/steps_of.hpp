// SPDX-License-Identifier: BSL-1.0
/// Steps of a model that was read: trained or not, with narrower numbers, and with parts of it run again.
#pragma once

#include "weft/planner/model_step.hpp"
#include "weft/planner/step_settings.hpp"
#include "weft/workload/model.hpp"
#include "weft/workload/recomputation.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace weft::planner {

/// The step of a model with so many examples (0: as many as its graph tells). Throws `value_error` for a model to train
/// whose work is no FLOP, if nothing is found to run again, and as `training_step_with_origins` and `stored_as` do.
model_step step_of(model m, std::uint64_t batch, const step_settings& how);

/// The steps of a model that `read(batch)` gives with any batch. Those that were made last are kept, as ways to share a
/// step ask for few batches, and for each of them often. One thread at a time may use it and its copies.
/// ```
/// const onnx::parsed_model file{bytes, "net.onnx"};
/// const auto net = planner::steps_of([&](std::uint64_t batch) { return file.read({.batch = batch}); },
///                                    {.train = optimizer::adam, .numbers = number_format::bf16});
/// ```
template <class Read>
step_source steps_of(Read read, step_settings how = {}) {
  using key = std::pair<std::uint64_t, std::optional<recomputation>>;
  const auto last = std::make_shared<std::vector<std::pair<key, model_step>>>();
  return [read = std::move(read), how = std::move(how), last](std::uint64_t batch, std::optional<recomputation> again) {
    constexpr std::size_t most = 8;
    for (const auto& [of, made] : *last) {
      if (of == key{batch, again}) {
        return made;
      }
    }
    auto with = how;
    with.recompute = again ? again : how.recompute;
    auto made = step_of(read(batch), batch, with);
    if (last->size() == most) {
      last->erase(last->begin());
    }
    last->push_back({{batch, again}, made});
    return made;
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
