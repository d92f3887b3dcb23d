// SPDX-License-Identifier: BSL-1.0
/// A table of predicted times for a concurrency strategy: every class of ops with every team.
#pragma once

#include "weft/concurrency/concepts.hpp"
#include "weft/concurrency/op_classes.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weft::concurrency {

/// Times in seconds by class and team of 1 … `max_threads` threads, tabulated once, so that a decision is a lookup.
/// Memory: 16 bytes per class and thread count.
class time_table {
public:
  time_table() = default;

  /// `seconds(c, team)` is asked once for every class and team. Throws `value_error` for a time that is negative or
  /// not finite.
  template <class Seconds>
  time_table(op_classes classes, std::uint32_t max_threads, Seconds seconds)
      : classes_{std::move(classes)}, max_threads_{std::max(max_threads, 1u)},
        seconds_(classes_.num_classes() * 2 * max_threads_, 0.0), traffic_(classes_.num_classes(), 0.0) {
    for (class_id c = 0; c < classes_.num_classes(); ++c) {
      for (const auto a : {affinity::packed, affinity::spread}) {
        for (std::uint32_t p = 1; p <= max_threads_; ++p) {
          const double s = seconds(c, team{p, a});
          if (!(s >= 0 && s < std::numeric_limits<double>::infinity())) {
            throw value_error("time of '" + classes_.key(c) + "' with " + std::to_string(p) + " threads",
                              "must be finite and not negative");
          }
          seconds_[index(c, {p, a})] = s;
        }
      }
    }
  }

  const op_classes& classes() const { return classes_; }
  std::uint32_t max_threads() const { return max_threads_; }

  /// Precondition: 1 ≤ t.threads ≤ max_threads().
  double seconds_of_class(class_id c, team t) const { return seconds_[index(c, t)]; }
  double seconds(op_id v, team t) const { return seconds_[index(classes_.class_of(v), t)]; }

  /// Bytes that an op of the class moves to and from memory; 0 where it is not known.
  double memory_traffic(class_id c) const { return traffic_[c]; }
  void set_memory_traffic(class_id c, double bytes) { traffic_[c] = bytes; }

private:
  std::size_t index(class_id c, team t) const {
    return (c * std::size_t{2} + static_cast<std::size_t>(t.affinity)) * max_threads_ + t.threads - 1;
  }

  op_classes classes_;
  std::uint32_t max_threads_ = 1;
  std::vector<double> seconds_; // by class, affinity, threads
  std::vector<double> traffic_; // by class
};

/// The table of a moldable cost model: what a strategy would know that had measured everything.
/// Complexity: O(classes · cores) calls of the model.
template <dataflow_workload W, moldable_cost_for<W> Cost>
time_table tabulate(const W& w, const op_classes& classes, const machine& m, const Cost& cost) {
  time_table table{classes, m.cores(),
                   [&](class_id c, team t) { return cost.seconds(w, classes.representative(c), m, t); }};
  if constexpr (concurrency_parts::has_memory_traffic<Cost, W>) {
    for (class_id c = 0; c < classes.num_classes(); ++c) {
      table.set_memory_traffic(c, cost.memory_traffic(w, classes.representative(c), m, {}));
    }
  }
  return table;
}

} // namespace weft::concurrency
