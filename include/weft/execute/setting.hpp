// SPDX-License-Identifier: BSL-1.0
/// Ways to run a step on the cores of a machine, and options for finding the fastest.
#pragma once

#include "weft/concurrency/profile.hpp"
#include "weft/execute/items.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/machine.hpp"
#include "weft/workload/concepts.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A step that runs again and again: a graph of ops, and a kernel for each. `begin` is called before each run; `run`
/// calls the kernel of an op, with a team whose threads it makes, from any thread, when its inputs are there. Ops with
/// the same `key` cost the same.
template <class S>
concept repeated_step = requires(S& s, const S& c, op_id v, team t) {
  { c.graph() } -> dataflow_workload;
  { c.key(v) } -> std::convertible_to<std::string>;
  s.begin();
  s.run(v, t);
};

namespace execute {

/// A way to run the ops of a step.
enum class setting_kind : std::uint8_t {
  one_at_a_time, ///< with a number of threads
  uniform,       ///< so many at a time, with so many threads each, as they become ready
  symmetric,     ///< the same, on the critical path first
  s1,            ///< one at a time, each with the threads that suit it
  s1_s2,         ///< the same, with one number for all ops of a type where that costs little
  s1_s2_s3,      ///< and others on cores that are idle
  s1_s2_s3_s4,   ///< and on second hardware threads
  planned,       ///< cores and threads of each op decided before the run
};

constexpr std::string_view to_string(setting_kind k) {
  switch (k) {
  case setting_kind::one_at_a_time: return "one at a time";
  case setting_kind::uniform: return "uniform";
  case setting_kind::symmetric: return "symmetric";
  case setting_kind::s1: return "S1";
  case setting_kind::s1_s2: return "S1 to S2";
  case setting_kind::s1_s2_s3: return "S1 to S3";
  case setting_kind::s1_s2_s3_s4: return "S1 to S4";
  case setting_kind::planned: return "planned";
  }
  return "";
}

/// A way to run a step, and how long that takes.
struct setting {
  setting_kind kind = setting_kind::one_at_a_time;
  std::uint32_t at_once = 1;              ///< ops
  std::uint32_t threads = 0;              ///< of each op; 0: op by op
  double min_efficiency = 0;              ///< of teams that were planned
  bool alone = false;                     ///< wide ops of a plan have the machine for themselves
  weft::trace predicted = {};             ///< by item
  std::vector<double> seconds = {};       ///< of the steps that were run

  /// The median; infinite if it was not run.
  double measured() const {
    return seconds.empty() ? std::numeric_limits<double>::infinity() : concurrency::median(seconds);
  }
};

/// A part of tuning.
enum class tuning_phase : std::uint8_t {
  warm_up,      ///< steps as frameworks recommend
  climb,        ///< hill climbing over numbers of threads
  side_by_side, ///< ops timed while others run
  trial,        ///< the best settings by prediction, in turns
};

struct tuning_progress {
  tuning_phase phase = tuning_phase::warm_up;
  std::size_t steps = 0; ///< that were run
  double spent = 0;      ///< seconds, as steps of the recommended setting
};

/// Options of tuning.
struct tuning_options {
  weft::machine here = {};                       ///< the machine, or a part of it
  double steps = 50;                             ///< of the recommended setting, which take as long as tuning may …
  double seconds = std::numeric_limits<double>::infinity(); ///< … and its limit
  execute::joining joining = {};                 ///< of short ops
  const concurrency::profile* known = nullptr;   ///< times of ops with their keys, measured here before
  std::function<void(const tuning_progress&)> progress = {};
  std::stop_token stop = {};
};

} // namespace execute
} // namespace weft
