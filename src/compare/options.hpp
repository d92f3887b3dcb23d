// SPDX-License-Identifier: BSL-1.0
/// The command line of `compare`.
#pragma once

#include "tool/model_options.hpp"

#include "weft/core/budget.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/memory_rule.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace comparison {

enum class objective : std::uint8_t { makespan, period, latency, energy };

struct objective_facts {
  std::string_view name;
  std::string_view unit;
  std::string_view help; ///< of several lines
};
/// In the order of `objective`.
inline constexpr std::array<objective_facts, 4> objectives{{
  {"makespan", "s", "when the last op or transfer of one run ends"},
  {"period", "s",
   "the time between two results of a pipelined run: the largest load of a device or link. It\n"
   "depends on the placement alone, so a partition has one row, with the schedule 'none'"},
  {"latency", "s", "of one sample: for files of the placement study as they define it, else the makespan"},
  {"energy", "J", "the joules of one run, by the power that the platform's devices and links draw"},
}};
constexpr const objective_facts& facts_of(objective o) { return objectives[static_cast<std::size_t>(o)]; }
constexpr std::string_view to_string(objective o) { return facts_of(o).name; }

struct options {
  std::vector<std::string> workloads;
  std::vector<std::string> platforms;
  tool::model_options modelling;
  std::vector<std::string> partitions{"all"};
  std::vector<std::string> schedules{"all"};
  std::vector<std::string> refiners{"none"};
  comparison::objective objective = objective::makespan;
  weft::budget budget = {}; ///< no limit: each strategy's own
  unsigned repeat = 1;
  std::uint64_t seed = 0;
  weft::contention_model contention = weft::contention_model::none;
  weft::memory_rule memory = weft::memory_rule::reserved; ///< that `best` keeps to
  std::string format = "table";
  std::size_t top = 20;            ///< rows of a table
  std::size_t top_strategies = 12; ///< rows of the table over all problems
  std::string html;
  unsigned gantt = 1;
  std::string trace;
  std::string traces;    ///< a folder
  std::string problems;  ///< a folder
  std::string aggregate; ///< a CSV file
  std::vector<std::string> profiles; ///< CSV and SVG files
  std::string baseline;  ///< of `aggregate` and the table over all problems; as `report::combination::name`
  std::string validate;  ///< a plan or schedule to be checked; then nothing else is done
  double tolerance = 1e-9;
  unsigned jobs = 1;

  bool has_budget() const { return budget.moves != weft::budget{}.moves || budget.seconds != weft::budget{}.seconds; }
};

inline constexpr std::string_view best = "best"; ///< the name of solve::best
inline constexpr std::string_view no_name = "none";

/// The names of the library's strategies.
struct strategy_names {
  std::vector<std::string> partitioners;
  std::vector<std::string> policies;
  std::vector<std::string> refiners;
};

/// Reads the command line. Ends the program for `--help`.
options parse(int argc, char** argv, const strategy_names& all);

} // namespace comparison
