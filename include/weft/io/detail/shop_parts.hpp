// SPDX-License-Identifier: BSL-1.0
/// A job shop while it is read, operation by operation.
#pragma once

#include "weft/core/error.hpp"
#include "weft/cost/alternatives.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::io {

/// The largest number of machines that a file may ask for.
inline constexpr std::uint32_t max_job_shop_machines = 1000;

namespace detail {

struct shop_parts {
  workload_builder ops;
  cost::alternatives::builder times;
  std::uint32_t machines = 0;
  std::vector<std::string> machine_names = {}; ///< empty if machines have none
  std::vector<std::string> notes = {};

  static std::string place(std::size_t job, std::size_t operation) {
    return "operation " + std::to_string(operation) + " of job " + std::to_string(job);
  }

  /// Jobs and their operations are counted from 1. Calls `fail(problem)`, which must throw, for what is no list of
  /// alternatives.
  template <class Fail>
  void add(std::size_t job, std::size_t operation, std::span<const cost::alternatives::entry> can, const Fail& fail) {
    try {
      times.add_op(can);
    } catch (const error& e) {
      fail(place(job, operation) + ": " + e.what());
    }
    const auto least = std::min_element(can.begin(), can.end(), [](const auto& a, const auto& b) {
      return a.seconds < b.seconds;
    });
    const auto v = ops.add_op({.work = least->seconds, .name = std::to_string(job) + "." + std::to_string(operation)});
    if (operation > 1) {
      ops.add_control_edge(v - 1, v);
    }
  }
};

} // namespace detail

} // namespace weft::io
