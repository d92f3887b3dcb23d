// SPDX-License-Identifier: BSL-1.0
/// Violations found in a placement, a plan or a trace, as values.
#pragma once

#include "weft/core/ids.hpp"

#include <charconv>
#include <string>

namespace weft {

/// One broken rule of the execution model. Ids that do not matter for a kind are `none`, numbers are 0.
struct violation {
  enum class kind : std::uint8_t {
    // of a placement
    wrong_size,        ///< one device per op is needed: `expected` entries, `actual` ones
    unplaced,          ///< `op` has no device
    bad_device,        ///< `op` is on `device`, which the platform does not have
    kind_not_allowed,  ///< `op` may not run on a device of the kind of `device`
    colocation_broken, ///< `op` is on `device`, but `other` of the same group is elsewhere
    capacity_exceeded, ///< what is placed on `device` demands `actual` bytes of `expected`
    // of a plan's order
    order_misses_op,    ///< `op` is not in the order
    order_repeats_op,   ///< `op` is in the order more than once
    order_repeats_send, ///< the send of `tensor` to `device` is in the order more than once
    order_bad_step,     ///< the step of `op` (and `tensor`, to `device`) names nothing that the placement makes happen
    deadlock, ///< `op` is next on `device` (or its send of `tensor`) and waits for `other`, which never starts
    // of a trace
    op_missing,         ///< `op` has no record
    op_spurious,        ///< there is a record for `op`, which the workload does not have
    op_on_wrong_device, ///< `op` ran on `device`, but is placed elsewhere
    bad_time,           ///< a time of `op` (or of the transfer of `tensor`) is negative or not finite: `actual`
    wrong_duration,     ///< `op` took `actual` seconds instead of `expected`
    bad_team,           ///< `op` runs with `actual` threads on `device`, which has `expected` cores
    input_not_ready,    ///< `op` starts at `actual`, its input `tensor` is on `device` only at `expected`
    device_overlap,     ///< `op` (or its send of `tensor`) starts while all slots of `device` are busy, one by `other`
    transfer_missing,   ///< `tensor` has a consumer on `device` and never goes there
    transfer_repeated,  ///< `tensor` goes to `device` more than once
    transfer_spurious,  ///< `tensor` goes to `device`, where nobody waits for it
    transfer_from_wrong_device, ///< `tensor` comes from `device`, which is not where its producer runs
    transfer_before_producer, ///< the send or transfer of `tensor` begins at `actual`, its producer ends at `expected`
    wrong_send_time,          ///< the send of `tensor` to `device` took `actual` seconds instead of `expected`
    wrong_transfer_start,     ///< the transfer of `tensor` to `device` starts at `actual`, the model says `expected`
    wrong_transfer_time,      ///< the transfer of `tensor` to `device` took `actual` seconds instead of `expected`
    out_port_overlap,         ///< two tensors leave `device` at once: `tensor` of `op` and one of `other`
    in_port_overlap,          ///< two tensors enter `device` at once: `tensor` of `op` and one of `other`
    wrong_makespan,           ///< the trace says `actual`, its last op or transfer ends at `expected`
    out_of_memory,            ///< `device` needs `actual` bytes at its peak and has `expected`
    // of a program
    program_deadlock, ///< `device` waits at instruction `actual` for `tensor` and device `other`, at its `expected`
    program_input_missing,    ///< `op` runs as instruction `actual` of `device`, where its input `tensor` is not
    program_misuse,           ///< instruction `actual` of `device` sends, receives, awaits or frees `tensor` wrongly
    program_message_unpaired, ///< `tensor` to `device` is sent `expected` times by `other` and received `actual` times
  };

  kind what = kind::wrong_size;
  op_id op = none;
  op_id other = none;
  tensor_id tensor = none;
  device_id device = none;
  double expected = 0; ///< seconds, bytes or a number of entries, by kind
  double actual = 0;
  friend constexpr bool operator==(const violation&, const violation&) = default;
};

namespace detail {

/// The shortest text that reads back as x.
inline std::string shortest(double x) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

} // namespace detail

/// One line that says what is wrong and where.
inline std::string to_string(const violation& x) {
  const auto id = [](const char* what, std::uint32_t i) { return what + std::to_string(i); };
  const auto op = id("op ", x.op);
  const auto other = id("op ", x.other);
  const auto tensor = id("tensor ", x.tensor);
  const auto device = id("device ", x.device);
  const auto expected = detail::shortest(x.expected);
  const auto actual = detail::shortest(x.actual);
  const auto move = tensor + " to " + device;
  switch (x.what) {
  case violation::kind::wrong_size: return "the placement has " + actual + " entries for " + expected + " ops";
  case violation::kind::unplaced: return op + " has no device";
  case violation::kind::bad_device: return op + " is on " + device + ", which does not exist";
  case violation::kind::kind_not_allowed: return op + " may not run on a device of the kind of " + device;
  case violation::kind::colocation_broken: return op + " is on " + device + ", but " + other + " of its group is not";
  case violation::kind::capacity_exceeded:
    return device + " has " + expected + " bytes, but what is placed on it demands " + actual;
  case violation::kind::order_misses_op: return "the order misses " + op;
  case violation::kind::order_repeats_op: return "the order has " + op + " more than once";
  case violation::kind::order_repeats_send: return "the order sends " + move + " more than once";
  case violation::kind::order_bad_step:
    return x.tensor == none ? "the order runs " + op + ", which does not exist"
                            : "the order sends " + move + " for " + op + ", but the placement makes no such transfer";
  case violation::kind::deadlock:
    return "deadlock: " + (x.tensor == none ? op : "the send of " + tensor + " of " + op) + " is next on " + device +
           " and waits for " + other + ", which never starts";
  case violation::kind::op_missing: return op + " never ran";
  case violation::kind::op_spurious: return op + " ran, but does not exist";
  case violation::kind::op_on_wrong_device: return op + " ran on " + device + ", where it is not placed";
  case violation::kind::bad_time:
    return (x.tensor == none ? op : "the transfer of " + move) + " has the time " + actual +
           ", which is negative or not finite";
  case violation::kind::wrong_duration: return op + " took " + actual + " s instead of " + expected + " s";
  case violation::kind::bad_team: return op + " has " + actual + " threads on the " + expected + " cores of " + device;
  case violation::kind::input_not_ready:
    return op + " starts at " + actual + " s, but its input " + tensor + " is on " + device + " at " + expected + " s";
  case violation::kind::device_overlap:
    return (x.tensor == none ? op : "the send of " + tensor + " of " + op) + " starts on " + device + " at " + actual +
           " s, when every slot is busy, one with " + other + " until " + expected + " s";
  case violation::kind::transfer_missing: return tensor + " never reaches " + device + ", where " + op + " needs it";
  case violation::kind::transfer_repeated: return move + " is transferred more than once";
  case violation::kind::transfer_spurious: return move + " is transferred, but nothing there waits for it";
  case violation::kind::transfer_from_wrong_device:
    return tensor + " is sent from " + device + ", where its producer " + op + " is not placed";
  case violation::kind::transfer_before_producer:
    return "the send or transfer of " + move + " begins at " + actual + " s, but " + op + " produces it at " +
           expected + " s";
  case violation::kind::wrong_send_time:
    return "the send of " + move + " took " + actual + " s instead of " + expected + " s";
  case violation::kind::wrong_transfer_start:
    return "the transfer of " + move + " is ready to start at " + expected + " s, but the trace says " + actual + " s";
  case violation::kind::wrong_transfer_time:
    return "the transfer of " + move + " took " + actual + " s instead of " + expected + " s";
  case violation::kind::out_port_overlap:
    return "the transfer of " + tensor + " of " + op + " leaves " + device + " at " + actual + " s, while one of " +
           other + " does until " + expected + " s";
  case violation::kind::in_port_overlap:
    return "the transfer of " + tensor + " of " + op + " enters " + device + " at " + actual + " s, while one of " +
           other + " does until " + expected + " s";
  case violation::kind::wrong_makespan:
    return "the makespan is given as " + actual + " s, but the last op or transfer ends at " + expected + " s";
  case violation::kind::program_deadlock:
    return "deadlock: " + device + " waits at instruction " + actual + " for " + tensor + " and " +
           id("device ", x.other) + ", which comes to it at its instruction " + expected + " or never";
  case violation::kind::program_input_missing:
    return op + " runs as instruction " + actual + " of " + device + ", where its input " + tensor + " is not there";
  case violation::kind::program_misuse:
    return "instruction " + actual + " of " + device + " must not use " + tensor + " as it does then";
  case violation::kind::program_message_unpaired:
    return tensor + " to " + device + " is sent " + expected + " times by " + id("device ", x.other) +
           " and received " + actual + " times";
  case violation::kind::out_of_memory:
    return device + " has " + expected + " bytes and needs " + actual + " at its peak";
  }
  return "unknown violation";
}

} // namespace weft
