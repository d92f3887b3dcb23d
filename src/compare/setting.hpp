// SPDX-License-Identifier: BSL-1.0
/// A setting of `compare`: a workload on a platform with costs, and facts computed once for it.
#pragma once

#include "options.hpp"
#include "tool/model_file.hpp"
#include "tool/platforms.hpp"

#include "weft/bound/lower_bound.hpp"
#include "weft/instance.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/io/dnn_partitioning.hpp"
#include "weft/report/comparison.hpp"

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comparison {

using problem = weft::instance;
using study = weft::io::dnn_partitioning;

/// Where a workload stands that brings its devices.
inline constexpr std::string_view own_devices = "own devices";

/// A workload of the command line. Some bring their own devices and costs.
struct input {
  std::string name;
  std::string file = {}; ///< empty for what is none
  tool::input read = {}; ///< the model
  std::optional<weft::platform<>> devices = {};
  std::optional<weft::cost::lowered> times = {}; ///< where there are devices
  std::unique_ptr<study> placement_study = {}; ///< then nothing else is there
};

/// A workload on a platform.
struct setting {
  std::string workload_name;
  std::string platform_name;
  const study* placement_study = nullptr; ///< then there is no task
  std::optional<problem> task = {};
  std::optional<problem> over_time = {}; ///< with demands that no run exceeds, if reservations are not for all plans
  weft::lower_bound bound = {};          ///< on the makespan of the plans that are allowed
  double bound_of_period = weft::report::absent; ///< filled where it is needed
  double unit_seconds = 1;                       ///< seconds per unit of all times
  std::vector<std::string> notes = {};           ///< what the costs rest on

  /// The task with the demands that all plans keep to.
  const problem& for_bounds() const { return over_time ? *over_time : *task; }
  const weft::workload& workload() const { return placement_study ? placement_study->ops : task->workload(); }
};

/// Everything that the command line names. Settings refer to the inputs and platforms beside them.
struct bench {
  std::vector<input> inputs;
  std::vector<tool::target> platforms;
  std::list<tool::input> scaled;               ///< generated graphs with the ratio that they are to have on a platform
  std::list<std::vector<tool::target>> fitted; ///< the same for workloads that need them otherwise
  std::vector<setting> settings; ///< workload by workload, in the order of the command line

  /// Throws `error` for what cannot be read or is named twice, and if platforms are missing or of no use.
  explicit bench(const options& o);
  bench(const bench&) = delete;

private:
  void name_all(std::vector<std::string>& platform_names);
  void add(const std::string& name, const weft::workload& w, std::string platform_name, const weft::platform<>& q,
           weft::cost::lowered costs, std::vector<std::string> notes, bool over_time);
};

} // namespace comparison
