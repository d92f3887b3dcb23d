// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "weft/parallel/stages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::test {

/// The time of a plan as the model defines it, infinite if it is none: written from the definition, tensor by tensor,
/// and sharing nothing with `evaluate_stages`.
inline double seconds_by_definition(const parallel::stage_problem& p, std::span<const parallel::stage> plan) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto has = [&](const parallel::stage& s, std::size_t v) {
    return std::count(s.layers.begin(), s.layers.end(), v);
  };
  std::size_t devices = 0, replicas = 0;
  for (const auto& s : plan) {
    devices += s.replicas * s.tensor_degree;
    replicas += s.replicas;
    if (p.micro_batches % s.replicas != 0) {
      return infinite;
    }
  }
  if (devices > p.num_devices || replicas > p.micro_batches) {
    return infinite;
  }
  for (std::size_t v = 0; v < p.layers.size(); ++v) {
    std::ptrdiff_t times = 0;
    for (const auto& s : plan) {
      times += has(s, v);
    }
    if (times != 1) {
      return infinite;
    }
  }
  for (const auto& e : p.edges) {
    for (std::size_t i = 0; i < plan.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (has(plan[i], e.from) && has(plan[j], e.to)) {
          return infinite;
        }
      }
    }
  }
  double slowest = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto& s = plan[i];
    std::size_t from_here_on = 0;
    for (std::size_t j = i; j < plan.size(); ++j) {
      from_here_on += plan[j].replicas;
    }
    const std::size_t in_flight = from_here_on / s.replicas + (from_here_on % s.replicas == 0 ? 0 : 1);
    double compute = 0, sent = 0, reduced = 0, memory = 0;
    for (std::size_t j = 0; j < s.layers.size(); ++j) {
      const auto v = s.layers[j];
      const auto& x = p.layers[v].variants[s.variants[j]];
      if (x.tensor_degree != s.tensor_degree) {
        return infinite;
      }
      compute += x.seconds;
      reduced += p.gradient_passes * x.parameter_bytes * (s.replicas - 1) / s.replicas / p.micro_batches;
      memory += static_cast<double>(in_flight) * x.bytes_per_micro_batch + x.fixed_bytes;
      std::size_t in = 0, out = 0; // edges of v before this one
      for (const auto& e : p.edges) {
        if (e.to == v) {
          const double more = x.input_bytes.empty() ? 0 : x.input_bytes[in];
          sent += has(s, e.from) ? 0 : p.edge_passes * (e.bytes + more);
          ++in;
        }
        if (e.from == v) {
          const double more = x.output_bytes.empty() ? 0 : x.output_bytes[out];
          sent += has(s, e.to) ? 0 : p.edge_passes * (e.bytes + more);
          ++out;
        }
      }
    }
    if (memory > p.memory_bytes * (1 + 1e-12)) {
      return infinite;
    }
    slowest = std::max(slowest, (sent / s.replicas + reduced) / p.bandwidth + compute / s.replicas);
  }
  return slowest;
}

} // namespace weft::test
