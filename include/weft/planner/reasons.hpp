// SPDX-License-Identifier: BSL-1.0
/// The reasons for which a step is not shared, or not that way: a kind and figures. `report::sentence` makes text of
/// them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/plan/infeasibility.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::planner {

/// A reason that something is not done. Which of the figures are set, its kind says.
struct reason {
  enum class kind : std::uint8_t {
    nothing,              ///< there is none
    // The model.
    times_of_whole_batch, ///< times were measured of the whole batch
    batch_unknown,        ///< no extent of the model is known to be its batch
    batch_of_one,         ///< one example cannot be shared
    unknown_gradients,    ///< its own ops change its parameters, and it is not known by which gradients
    sums_over_batch,      ///< op `name` adds up over the batch, though the step was not made by weft
    unknown_update,       ///< ops of type `name` change variables in a way of their own
    unknown_backward,     ///< it was traced with its optimiser, and it is not known which of its ops lead backward
    axes_unknown,         ///< it is not known along which axes ops may be split
    axes_of_fused_ops,    ///< … as chains of ops were joined
    fixed_batch,          ///< a part of the batch does as much work as the whole
    ops_depend_on_batch,  ///< another batch has other ops
    nothing_of_batch,     ///< no op grows with the batch
    nothing_updated,      ///< there are no updates to shard
    unknown_readers,      ///< it is not known which ops read which parameters
    no_experts,           ///< there are `have` experts for `asked` devices
    too_few_ops,          ///< `have` ops cannot be cut into `asked` stages
    // The machine, and the numbers that were asked for.
    no_alike_devices,     ///< no two devices are alike
    few_alike_devices,    ///< `have` devices are alike, and `asked` are wanted
    no_unlike_devices,    ///< no accelerators differ
    few_accelerators,     ///< there are `have` of them
    batch_not_for_devices, ///< a batch of `have` cannot be split among `asked` devices
    no_attentions,         ///< no ops tell which rows are a sequence
    few_for_sequences,     ///< `replicas` with a sequence on `asked` devices each, of `have` that are alike
    sequence_stays_whole,  ///< no split of products along a sequence pays
    not_one_sequence,      ///< `replicas` do not have one of the `have` sequences of the batch each
    batch_not_divisible,   ///< … among 2 to `asked`
    batch_not_for_replicas, ///< … among `asked` replicas
    examples_of_other_sum, ///< the numbers of examples are not those of the batch, `have`; `name` has them as text
    few_by_speed,          ///< by their speeds, `have` devices would get all examples
    one_by_speed,          ///< one device would get all of them
    not_in_micro_batches,  ///< `have` cannot be split into `asked` micro-batches for each of `replicas`
    no_micro_batches,      ///< `have` cannot be split into several micro-batches for each of `replicas`
    no_number_of_micro_batches, ///< no number above 1 divides the `have` examples of `replicas` into `asked` passes
    too_many_passes,       ///< a step has `have` passes, of which at most `asked` are simulated
    stages_wait_in_circle, ///< `asked` stages would wait for each other
    // Memory.
    too_large,             ///< all devices together cannot hold it: `cause`, of op `name`
    parameters_too_large,  ///< parameters and their state take `needed` of `capacity`
    batch_too_large,       ///< of `asked` examples, `have` fit
    no_splits_fit,         ///< no splits of its ops were found that fit
    no_order_fits,         ///< no order of micro-batches was found that fits
    no_order_fits_stage,   ///< … stage `have` needs `needed` for one, and parameters leave `left` of `capacity`
    memory_exceeded,       ///< the run needs `needed` of `capacity` on `device`
    no_device_may_run,     ///< op `name` may run on no device of its replica
    error                  ///< `name` is what went wrong
  };

  kind is = kind::nothing;
  std::uint64_t have = 0, asked = 0;
  std::uint64_t replicas = 1;
  std::uint64_t batch = 0; ///< with which it is so; 0: with any
  byte_count needed = 0, left = 0, capacity = 0;
  device_id device = none;
  std::vector<device_id> without_room = {}, full = {}; ///< devices that hold no example, and that hold no more
  infeasibility cause = {};
  std::string name = {};

  explicit operator bool() const { return is != kind::nothing; }
  friend bool operator==(const reason&, const reason&) = default;
};

/// A way that cannot be made.
class refusal : public error {
public:
  explicit refusal(reason why)
      : error{why.is == reason::kind::error ? why.name
                                            : "the step cannot be shared that way, for reason " +
                                                std::to_string(static_cast<int>(why.is)) +
                                                "; report::sentence(e.why(), machine) says it in words"},
        why_{std::move(why)} {}
  const reason& why() const { return why_; }

private:
  reason why_;
};

/// The reason that an error tells.
inline reason reason_of(const error& e) {
  const auto* const told = dynamic_cast<const refusal*>(&e);
  return told ? told->why() : reason{.is = reason::kind::error, .name = e.what()};
}

} // namespace weft::planner
