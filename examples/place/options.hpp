// SPDX-License-Identifier: BSL-1.0
/// The command line of `place`.
#pragma once

#include "tool/model_options.hpp"

#include "weft/core/budget.hpp"
#include "weft/plan/contention.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace place {

enum class objective { makespan, period, memory, energy };

struct options {
  std::string model;
  std::string platform;
  tool::model_options modelling;
  place::objective objective = objective::makespan;
  double deadline = std::numeric_limits<double>::infinity(); ///< seconds
  bool pareto = false;
  weft::contention_model contention = weft::contention_model::none;
  weft::budget budget = {.seconds = 5};
  double memory_share = 1;
  double uncertainty = 0; ///< of times: the standard deviation of their logarithm; 0: they are as estimated
  std::uint64_t seed = 0;
  unsigned jobs = 1;
  std::string out;
  std::string plan;
  std::string html;
  std::string trace;
};

/// Reads the command line. Ends the program for `--help`.
options parse(int argc, char** argv);

} // namespace place
