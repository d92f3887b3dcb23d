// SPDX-License-Identifier: BSL-1.0
/// The planner's ways and reasons in sentences, for tables and messages.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/readable.hpp"
#include "weft/parallel/batch_parts.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/resharding.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/planner/best_way.hpp"
#include "weft/planner/choice.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/way.hpp"
#include "weft/platform/platform.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/report/names.hpp"
#include "weft/report/placed_model.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::report {

namespace detail {

/// A text whose {names} stand for others.
struct reason_sentence {
  planner::reason::kind of;
  std::string_view text;
};

/// Reasons that lie in the model.
inline constexpr auto about_models = [] {
  using enum planner::reason::kind;
  return std::array{
    reason_sentence{nothing, ""},
    reason_sentence{times_of_whole_batch, "times are of the whole batch, and those of a part are not known"},
    reason_sentence{batch_unknown, "the batch is not known"},
    reason_sentence{batch_of_one, "a batch of 1 cannot be split"},
    reason_sentence{unknown_gradients, "its own ops change its parameters, and it is not known which of their inputs "
                                       "are gradients"},
    reason_sentence{sums_over_batch, "{name} adds up over the batch, as for a gradient"},
    reason_sentence{unknown_update, "it changes its variables by ops of type {name}, and it is not known which of "
                                    "their inputs are gradients"},
    reason_sentence{unknown_backward, "it was traced with its optimiser, and which of its ops are of the backward pass "
                                      "is not known"},
    reason_sentence{axes_unknown, "axes along which ops may be split are known of bundled networks, and of ONNX, "
                                  "PyTorch, StableHLO and TensorFlow models whose ops come after what they read"},
    reason_sentence{axes_of_fused_ops, "ops that were joined to chains cannot be split"},
    reason_sentence{fixed_batch, "it does as much work as the whole one; the model's batch is fixed"},
    reason_sentence{ops_depend_on_batch, "its ops depend on the batch"},
    reason_sentence{nothing_of_batch, "nothing in it grows with the batch"},
    reason_sentence{nothing_updated, "nothing is updated, so there are no updates to shard; where parameters of "
                                     "inference do not fit, tensor=N has them in parts"},
    reason_sentence{unknown_readers, "it is not known which of its ops read which parameters, so these stay whole"},
    reason_sentence{no_experts, "there are {have} experts for {asked} devices"},
    reason_sentence{too_few_ops, "a step of {have} ops cannot be cut into {asked} stages"}};
}();

/// … in the machine, and in the numbers that were asked for.
inline constexpr auto about_machines = [] {
  using enum planner::reason::kind;
  return std::array{
    reason_sentence{no_alike_devices, "the platform has no two devices that are alike"},
    reason_sentence{few_alike_devices, "there are only {have} devices that are alike, not {asked}"},
    reason_sentence{no_unlike_devices, "there are no accelerators that differ"},
    reason_sentence{few_accelerators, "there are {have} accelerators"},
    reason_sentence{batch_not_for_devices, "a batch of {have} cannot be split among {asked} devices"},
    reason_sentence{no_attentions, "there are no attentions among its ops, which tell what a sequence is"},
    reason_sentence{not_one_sequence, "context parallelism splits one sequence of each replica, and {replicas} would "
                                      "share a batch of {have}: leave data=N out, and each sequence has a replica"},
    reason_sentence{few_for_sequences, "{replicas} with a sequence each, on {asked} devices each, are more than the "
                                       "{have} devices that are alike"},
    reason_sentence{sequence_stays_whole, "devices that each do the whole sequence are found to be as fast as any that "
                                          "do parts"},
    reason_sentence{batch_not_divisible, "a batch of {have} cannot be divided by 2 to {asked}"},
    reason_sentence{batch_not_for_replicas, "a batch of {have} cannot be split among {asked} replicas"},
    reason_sentence{examples_of_other_sum, "{name} does not add up to the {have} samples of the batch"},
    reason_sentence{few_by_speed, "by their speeds, {devices} would get all samples"},
    reason_sentence{one_by_speed, "one device would get all samples"},
    reason_sentence{not_in_micro_batches, "a batch of {have} cannot be split into {asked} micro-batches of each of "
                                          "{replicas}"},
    reason_sentence{no_micro_batches, "a batch of {have} cannot be split into micro-batches for {replicas}"},
    reason_sentence{no_number_of_micro_batches, "no number of micro-batches above 1 divides the {have} samples of "
                                                "{replicas} into at most {asked} passes"},
    reason_sentence{too_many_passes, "a step of {have} passes, of which at most {asked} are simulated: give fewer "
                                     "micro-batches"},
    reason_sentence{stages_wait_in_circle, "{asked} stages of layers would wait for each other in a circle, as ops of "
                                           "several layers are kept together: try another number of stages"}};
}();

/// … in memory, or that are told by others.
inline constexpr auto about_memory = [] {
  using enum planner::reason::kind;
  return std::array{
    reason_sentence{too_large, "{cause}"},
    reason_sentence{parameters_too_large, "parameters and their state take {needed} of {capacity}"},
    reason_sentence{batch_too_large, "does not fit: of {asked} samples, {have} fit{name}; give a smaller batch"},
    reason_sentence{no_splits_fit, "no splits of its ops were found that fit into memory"},
    reason_sentence{no_order_fits, "no order of its micro-batches was found that fits"},
    reason_sentence{no_order_fits_stage, "no order of its micro-batches was found that fits; stage {have} needs "
                                         "{needed} for a micro-batch, and parameters and gradients leave {left} of "
                                         "{capacity}"},
    reason_sentence{memory_exceeded, "does not fit: needs {needed} of {capacity} {where}"},
    reason_sentence{no_device_may_run, "no device may run ops such as {name}"},
    reason_sentence{error, "{name}"}};
}();

/// The text of a kind of reasons.
inline std::string_view text_of(planner::reason::kind of) {
  using sentences = std::span<const reason_sentence>;
  for (const auto some : {sentences{about_models}, sentences{about_machines}, sentences{about_memory}}) {
    const auto at = std::find_if(some.begin(), some.end(), [&](const auto& x) { return x.of == of; });
    if (at != some.end()) {
      return at->text;
    }
  }
  return {};
}

inline std::string count_of(std::uint64_t n, const char* one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

/// The text that stands for the name in a sentence about r.
inline std::string figure_of(const planner::reason& r, const platform<>& p, std::string_view name) {
  return name == "have"       ? std::to_string(r.have)
         : name == "asked"    ? std::to_string(r.asked)
         : name == "replicas" ? count_of(r.replicas, "replica")
         : name == "devices"  ? (r.have < 2 ? std::string{"one device"} : count_of(r.have, "device"))
         : name == "needed"   ? readable_bytes(r.needed)
         : name == "left"     ? readable_bytes(r.left)
         : name == "capacity" ? readable_bytes(r.capacity)
         : name == "where"    ? in_memory_of(p, r.device)
         : name == "cause"    ? to_string(r.cause, r.name)
                              : r.name;
}

/// The devices that hold no example, and those that hold no more; empty if there are none.
inline std::string limits_text(const std::vector<device_id>& without_room, const std::vector<device_id>& full,
                               const platform<>& p) {
  const auto listed = [&](const std::vector<device_id>& devices) {
    std::string names;
    for (const device_id d : devices) {
      names += (names.empty() ? "" : ", ") + device_name(p, d);
    }
    return names;
  };
  const auto no_more = (without_room.empty() ? "no more samples fit on " : ", and no more on ") + listed(full);
  return (without_room.empty() ? "" : "no sample fits on " + listed(without_room)) + (full.empty() ? "" : no_more);
}

} // namespace detail

/// A reason as a sentence without a full stop; empty for none.
inline std::string sentence(const planner::reason& r, const platform<>& p) {
  using enum planner::reason::kind;
  std::string text = r.batch == 0 ? "" : "with a batch of " + std::to_string(r.batch) + ": ";
  auto from = detail::text_of(r.is);
  if (r.is == no_experts && r.have == 0) {
    from = "there are no experts, as in layer_1/expert_0/weights, among the names of its ops";
  }
  while (!from.empty()) {
    const auto open = std::min(from.find('{'), from.size());
    text += from.substr(0, open);
    from.remove_prefix(open);
    if (!from.empty()) {
      const auto close = from.find('}');
      text += detail::figure_of(r, p, from.substr(1, close - 1));
      from.remove_prefix(close + 1);
    }
  }
  const auto limits = detail::limits_text(r.without_room, r.full, p);
  return text + (limits.empty() ? "" : "; " + limits);
}

/// The name of the plan with each op on one device, among ways.
inline constexpr std::string_view each_op_once = "each op on one device";

/// The name of a way for tables, such as `8 × data, sharded updates` or `2 × data, 4 × tensor`.
inline std::string name_of(const planner::compared_way& x) {
  const auto& w = x.how;
  const auto times = [](std::uint64_t n, const char* what) { return std::to_string(n) + " × " + what; };
  if (x.why_not.is == planner::reason::kind::too_large) {
    return "without micro-batches";
  }
  if (w.kind == planner::way_kind::placed) {
    return std::string{each_op_once};
  }
  if (w.kind == planner::way_kind::batch && w.is_by_speed()) {
    return times(w.replicas, "data by speed") + (w.shards_updates ? ", sharded" : "");
  }
  if (w.kind == planner::way_kind::batch) {
    return times(w.replicas, "data") + (w.splits_experts ? ", experts" : "") +
           (w.shard_ranks > 0     ? ", fully sharded by " + std::to_string(w.shard_ranks)
            : w.shards_parameters ? ", fully sharded"
            : !w.shards_updates   ? ""
            : w.splits_experts    ? ", sharded"
                                  : ", sharded updates");
  }
  if (x.splits_batch) {
    return times(w.num_devices(), "data");
  }
  if (w.replicas > 1 && w.ranks > 1 && w.stages > 1) { // tables have no room for more
    return "data " + std::to_string(w.replicas) + ", tensor " + std::to_string(w.ranks) + ", pipeline " +
           std::to_string(w.stages);
  }
  std::string text;
  const bool is_context = w.splits_sequence || x.splits_sequence;
  for (const auto& [count, what] :
       {std::pair{w.replicas, "data"}, std::pair{w.ranks, is_context ? "context" : "tensor"},
        std::pair{w.stages, "pipeline"}}) {
    text += count == 1 ? "" : (text.empty() ? "" : ", ") + times(count, what);
  }
  return text.empty() ? "gradient accumulation" : text;
}

/// Devices by their names, as short as can be, and their order if it is not that of their numbers.
inline std::string device_range(const platform<>& p, const std::vector<device_id>& devices) {
  if (devices.size() < 2) {
    return devices.empty() ? std::string{} : device_name(p, devices.front());
  }
  const auto [first, last] = std::minmax_element(devices.begin(), devices.end());
  bool leaves_out = false;
  for (device_id d = *first; d < *last; ++d) {
    leaves_out = leaves_out || (hardware_kind(p, d) != device_kind::cpu &&
                                std::find(devices.begin(), devices.end(), d) == devices.end());
  }
  std::string names;
  for (const device_id d : devices) {
    names += (names.empty() ? "" : ", ") + device_name(p, d);
  }
  const auto range = device_name(p, *first) + " to " + device_name(p, *last);
  return leaves_out ? names
         : std::is_sorted(devices.begin(), devices.end()) ? range
                                                          : range + " in the order " + names;
}

namespace detail {

/// The parts by speed that memory limits: which devices are full, or what each of them holds if that is too little.
inline std::string about_limits(const planner::compared_way& x, const platform<>& p) {
  std::string held;
  std::vector<device_id> without_room, full;
  for (std::size_t i = 0; i < x.limits.limits.size(); ++i) {
    held += (held.empty() ? "" : ", ") + std::to_string(x.limits.limits[i]) + " on " + device_name(p, x.limited[i]);
    if (x.limits.samples[i] == x.limits.limits[i]) {
      (x.limits.limits[i] == 0 ? without_room : full).push_back(x.limited[i]);
    }
  }
  return x.limits.left > 0 ? " (" + held + ")" : limits_text(without_room, full, p);
}

inline std::string percent(double share, int decimals) { return fixed(100 * share, decimals) + " %"; }

} // namespace detail

/// The reason for which a way cannot be taken; empty if it can.
inline std::string status_of(const planner::compared_way& x, const platform<>& p) {
  auto why = x.why_not;
  if (why.is == planner::reason::kind::batch_too_large) {
    why.name = detail::about_limits(x, p);
  }
  return sentence(why, p);
}

/// A remark on a way, for tables; empty if there is nothing to say.
inline std::string remark_on(const planner::compared_way& x, const platform<>& p) {
  const auto& w = x.how;
  std::string about;
  if (x.is_made() && w.kind == planner::way_kind::stages) {
    about = (w.turns > 1 ? "in " + std::to_string(w.turns) + " turns, " : "") + std::to_string(w.micro_batches) +
            " micro-batches, " + detail::percent(x.idle, 0) + " idle" + (w.shards_updates ? ", sharded updates" : "");
  } else if (x.is_made()) {
    const bool of_ops = w.kind == planner::way_kind::ops;
    about = x.splits_batch                    ? "its ops in parts of the batch"
            : w.is_by_speed()                 ? detail::about_limits(x, p)
            : of_ops && w.shards_parameters   ? "fully sharded"
            : of_ops && w.shards_updates      ? "sharded updates"
                                              : "";
  }
  if (w.recomputes) {
    about += about.empty() ? "" : ", ";
    about += *w.recomputes == recomputation::attention ? "attentions run again" : "blocks run again";
  }
  return about;
}

/// A line of the table of ways, for a batch of so many examples (0: not known).
inline way way_of(const planner::compared_way& x, std::uint64_t batch, const platform<>& p) {
  way row{.name = name_of(x), .status = status_of(x, p), .remark = remark_on(x, p)};
  if (x.is_made()) {
    row.step_seconds = x.seconds;
    row.samples_per_second = batch != 0 && x.seconds > 0 ? static_cast<double>(batch) / x.seconds : absent;
    row.peak_memory = static_cast<double>(x.peak_memory);
    row.bytes_sent = x.bytes_sent;
  }
  return row;
}

namespace detail {

inline std::string strategy_of_batches(const planner::made_way& x, std::uint64_t batch, const platform<>& p) {
  std::string examples;
  for (const auto n : x.sharding.examples) {
    examples += (examples.empty() ? "" : " + ") + std::to_string(n);
  }
  auto text = "data parallelism on " + device_range(p, x.devices) + ", " +
              (examples.empty() ? std::to_string(x.part->batch) : examples) + " of " + std::to_string(batch) +
              " samples" + (examples.empty() ? " each" : "");
  if (x.how().splits_experts) {
    text += "; each of " + std::to_string(x.experts) + " experts on one of them";
  }
  if (x.reduced.buckets == 0) {
    text += "; inference, so there are no gradients to reduce";
  } else {
    text += "; " + readable_bytes(x.reduced.bytes) + " of gradients " +
            (x.how().shards_parameters ? "reduced"
             : x.how().shards_updates  ? "reduced and parameters gathered"
                                       : "all-reduced") +
            " in " + count_of(x.reduced.buckets, "bucket") + " (" + std::string{to_string(x.reduced.algorithm)} + ")" +
            (x.how().shards_parameters ? ", and parameters gathered " + count_of(x.reduced.gathers, "time") +
                                           ", in units of at most " + readable_bytes(x.reduced.largest_unit)
                                       : "");
  }
  const auto limits = x.how().is_by_speed() ? about_limits(x.figures, p) : std::string{};
  return text + (limits.empty() ? "" : "; " + limits);
}

inline std::string strategy_of_ops(const planner::made_way& x, const platform<>& p) {
  const auto& w = x.how();
  const auto where = device_range(p, x.devices);
  auto text = std::string{x.figures.splits_batch      ? "data parallelism, with "
                          : x.figures.splits_sequence ? "context parallelism, with "
                                                      : ""} +
              std::to_string(x.split.in_parts) +
              " of " + std::to_string(x.split.axis.size()) + " ops split among " +
              (w.replicas > 1 ? "the " + std::to_string(w.ranks) + " devices of each of " +
                                  std::to_string(w.replicas) + " replicas, on " + where
                              : where);
  const char* separator = "; ";
  for (const auto& [what, count] : x.split.reshardings) {
    if (what != parallel::resharding::nothing) {
      text += separator + count_of(count, std::string{parallel::to_string(what)}.c_str());
      separator = ", ";
    }
  }
  return text;
}

inline std::string strategy_of_stages(const planner::made_way& x, const platform<>& p) {
  const auto& w = x.how();
  const auto stages = std::uint64_t{w.stages} * w.turns;
  const std::string what = stages == 1   ? is_training_step(x.ops) ? "gradient accumulation"
                                                                   : "parts of the batch one after the other"
                           : w.turns > 1 ? "pipeline of " + std::to_string(stages) + " stages, " +
                                             std::to_string(w.turns) + " per device,"
                                         : "pipeline of " + std::to_string(stages) + " stages";
  return what + " on " + device_range(p, x.devices) + ", " + std::to_string(w.micro_batches) + " micro-batches of " +
         count_of(x.part->batch, "sample") +
         (w.replicas > 1 ? " for each of " + std::to_string(w.replicas) + " replicas" : "") +
         (stages == 1 ? "" : "; order improved from " + x.stages.start) + ", devices idle for " +
         percent(x.figures.idle, 1) + " of the step";
}

} // namespace detail

/// The way in a sentence, for a step of so many examples.
inline std::string strategy_of(const planner::made_way& x, std::uint64_t batch, const platform<>& p) {
  switch (x.how().kind) {
  case planner::way_kind::ops: return detail::strategy_of_ops(x, p);
  case planner::way_kind::stages: return detail::strategy_of_stages(x, p);
  case planner::way_kind::placed: return std::string{each_op_once};
  case planner::way_kind::batch: break;
  }
  return detail::strategy_of_batches(x, batch, p);
}

/// The best way in a sentence, or the reasons for which there is none.
inline std::string strategy_of(const planner::best_way& x, std::uint64_t batch, const platform<>& p) {
  if (x.ways.best) {
    return strategy_of(*x.ways.best, batch, p);
  }
  if (x.placed) {
    return std::string{each_op_once};
  }
  std::string why;
  for (const auto& r : x.ways.why_not) {
    why += (why.empty() ? "" : "; ") + sentence(r, p);
  }
  return "no way was found" + (why.empty() ? "" : ": " + why);
}

/// A way that is faster than the one that was taken, and the reason for which it was not, without a full stop.
inline std::string sentence(const planner::untaken& x, const platform<>& p) {
  std::string name{each_op_once};
  if (x.shared) {
    const auto remark = remark_on(x.shared->figures, p);
    name = name_of(x.shared->figures) + (remark.empty() ? "" : " (" + remark + ")");
  }
  if (x.asked == 0) {
    return name + ", " + detail::percent(x.gain, 1) + " faster on paper: it hands " +
           detail::count_of(x.hand_overs, "tensor") + " over between host and accelerator, for each of which a runtime "
           "waits";
  }
  std::string more;
  for (std::size_t i = 0; i < x.more.size(); ++i) {
    more += i == 0 ? "" : i + 1 == x.more.size() ? " and " : ", ";
    more += parallel::to_string(x.more[i]);
  }
  if (more.empty()) {
    more = x.needs_more_devices ? "more devices" : "a less simple way";
  }
  return name + ", which is " + detail::percent(x.gain, 1) + " faster: " + more + " would have to gain " +
         detail::significant(100 * x.asked, 3) + " %, since estimates are not more exact than that";
}

} // namespace weft::report
