// SPDX-License-Identifier: BSL-1.0
/// The command line of `place`.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/workload/optimizer.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace place {

enum class objective { makespan, period, memory };

struct options {
  std::string model;
  std::string platform;
  std::uint64_t batch = 0; ///< 0: what the model says
  std::map<std::string, std::uint64_t, std::less<>> dimensions = {};
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> shapes = {};
  std::optional<weft::optimizer> train = {};
  place::objective objective = objective::makespan;
  weft::budget budget = {.seconds = 5};
  double memory_share = 1;
  bool peak_rates = false;
  std::string times;
  std::string profile;
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
