// SPDX-License-Identifier: BSL-1.0
/// The command line of `place`.
#pragma once

#include "tool/model_file.hpp"
#include "tool/model_options.hpp"

#include "weft/cost/efficiency.hpp"
#include "weft/core/budget.hpp"
#include "weft/io/plan_record.hpp"
#include "weft/partition/pin.hpp"
#include "weft/plan/contention.hpp"
#include "weft/planner/way.hpp"
#include "weft/platform/platform.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace place {

enum class objective { makespan, period, memory, energy };
inline constexpr const char* objective_names[] = {"makespan", "period", "memory", "energy"}; ///< in their order

struct options {
  std::string model;
  std::shared_ptr<const tool::model_source> source = {}; ///< `model`, opened
  std::string platform;
  tool::model_options modelling;
  place::objective objective = objective::makespan;
  double deadline = std::numeric_limits<double>::infinity(); ///< seconds
  bool pareto = false;
  weft::contention_model contention = weft::contention_model::none;
  bool contention_given = false; ///< else `choose_network` says which
  weft::budget budget = {.seconds = 5};
  double memory_share = 1;
  double least_gain = 5; ///< percent by which each feature of a way to run a step has to make it faster
  double overhead = 0; ///< of each accelerator, for the framework: a share below 1, or bytes
  /// Whose memory says how large the batch may be that is looked for; `given`: none is looked for.
  enum class batch_memory { given, accelerators, all } max_batch = batch_memory::given;
  bool finds_batch() const { return max_batch != batch_memory::given; }
  double uncertainty = 0; ///< of times: the standard deviation of their logarithm; 0: they are as estimated
  std::uint64_t seed = 0;
  unsigned jobs = 1;
  std::string out;
  std::string plan;
  std::string split; ///< a folder
  std::string from_plan;
  weft::io::plan_record made = {}; ///< what that file has
  std::map<std::string, std::vector<std::string>> assumed = {}; ///< the options that change the model or its costs
  std::vector<std::string> other_assumptions = {}; ///< where they are not those of the plan that was read
  bool shares = true; ///< several devices may share the work of a step, in the ways that are asked for
  weft::planner::wanted_ways ways = {};
  /// One kind of ways was asked for.
  bool is_forced() const { return shares && ways.of != weft::planner::wanted_ways::which::all; }
  bool is_pipeline() const { return shares && ways.of == weft::planner::wanted_ways::which::pipeline; }
  std::optional<weft::cost::launches> launches = {}; ///< none: `tool::launches_in_stages`, else single
  bool parallel_given = false;
  bool of_own_ops = false; ///< what else was asked for is about the model's own ops, so that no batch is split
  bool by_layers = false; ///< each layer on one device
  std::string by_layer;   ///< … of these, separated by commas; empty: of all
  std::vector<weft::partition::pin> pins = {};
  struct runtime_export {
    std::size_t format; ///< of `weft::io::runtime_formats`
    std::string file;
  };
  std::vector<runtime_export> exports = {};
  std::string html;
  std::string trace;
  std::string sharding;
  std::string schedule; ///< of a pipeline
};

/// True once the search is to end with the best plan so far.
inline bool is_stopped(const options& o) { return o.budget.stop != nullptr && o.budget.stop->stop_requested(); }

/// Reads the command line. Ends the program for `--help`.
options parse(int argc, char** argv);

/// Without --contention: transfers share the links of a platform that says how its devices are joined. For other
/// objectives than the step time, they do not.
void choose_network(options& o, const weft::platform<>& devices);

/// What transfers do to each other in the figures; empty if they do nothing, unless links are shared and --contention
/// was not given.
std::string about_network(const options& o, const weft::platform<>& devices);

} // namespace place
