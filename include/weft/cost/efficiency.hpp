// SPDX-License-Identifier: BSL-1.0
/// Efficiencies of op types: the shares of a device's peak rates that they reach, and their overheads.
#pragma once

#include "weft/core/error.hpp"
#include "weft/platform/kinds.hpp"
#include "weft/workload/op_catalogue.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::cost {

/// The bytes of an op that pass through its device's memory.
enum class traffic : std::uint8_t {
  all,     ///< inputs, outputs and resident bytes, each once
  outputs, ///< twice the outputs: what is copied out of something larger, such as rows of an embedding
  none,    ///< the result is another view of the input
};

/// The efficiency of ops of one type on a device.
struct efficiency {
  double compute = 1;      ///< reached share of the device's speed, above 0, at most 1
  double memory = 1;       ///< … of its memory bandwidth
  double overhead = 0;     ///< seconds per op, e.g. 5e-6 to launch a kernel on a GPU
  traffic moved = traffic::all;
  friend constexpr bool operator==(const efficiency&, const efficiency&) = default;
};

/// Efficiencies by op type and device kind. The last setting wins; a type that was never set has that of its use in
/// the catalogue of ops, and one that has none there, or is not known there, its kind's default.
/// ```
/// auto table = cost::typical_efficiencies();
/// table.set("Conv", {.compute = 0.6, .overhead = 4e-6}, device_kind::gpu);
/// ```
class efficiency_table {
public:
  /// Sets an op type on some kinds. Throws `value_error` for a share that is not above 0 and at most 1, or an overhead
  /// that is negative or not finite.
  void set(std::string type, efficiency e, kind_set kinds = kind_set::all()) {
    check(e, "efficiency of op type '" + type + "'");
    by_type_[std::move(type)].emplace_back(kinds, e);
  }
  /// Sets what ops of all types that the catalogue says to use a device in that way reach on some kinds. Throws as
  /// above.
  void set(op_use use, efficiency e, kind_set kinds = kind_set::all()) {
    check(e, "efficiency of a use");
    by_use_[use].emplace_back(kinds, e);
  }
  /// Sets what ops of all other types reach on some kinds. Throws as above.
  void set_default(efficiency e, kind_set kinds = kind_set::all()) {
    check(e, "default efficiency");
    others_.emplace_back(kinds, e);
  }

  /// Complexity: O(log types).
  efficiency of(std::string_view type, device_kind k) const {
    if (const auto at = by_type_.find(type); at != by_type_.end()) {
      if (const auto* e = last(at->second, k)) {
        return *e;
      }
    }
    if (!by_use_.empty()) {
      const auto use = use_of(type);
      if (const auto at = use ? by_use_.find(*use) : by_use_.end(); at != by_use_.end()) {
        if (const auto* e = last(at->second, k)) {
          return *e;
        }
      }
    }
    const auto* e = last(others_, k);
    return e ? *e : efficiency{};
  }

private:
  using entries = std::vector<std::pair<kind_set, efficiency>>;

  static const efficiency* last(const entries& all, device_kind k) {
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
      if (at->first.contains(k)) {
        return &at->second;
      }
    }
    return nullptr;
  }

  static void check(const efficiency& e, const std::string& where) {
    const auto is_share = [](double x) { return x > 0 && x <= 1; };
    if (!is_share(e.compute) || !is_share(e.memory)) {
      throw value_error(where, "compute and memory are shares of a device's peak, above 0 and at most 1");
    }
    if (!(e.overhead >= 0 && e.overhead < std::numeric_limits<double>::infinity())) {
      throw value_error(where, "overhead must be a finite number of seconds, not negative");
    }
  }

  std::map<std::string, entries, std::less<>> by_type_;
  std::map<op_use, entries> by_use_;
  entries others_;
};

/// The way in which ops get to an accelerator.
enum class launches : std::uint8_t {
  single, ///< each by itself, as it comes
  graph,  ///< all of a step at once, as a graph that was captured before, such as a CUDA graph
};

/// The time that each op or copy of a captured graph takes beside its work: 80 kernels that took 260 µs one by one took
/// 70 µs as a graph. Source: documentation of CUDA.jl, *Graphs*.
inline constexpr double graph_launch = 1e-6;

/// The time until the first message of a collective between accelerators is under way: the call, the launch of its
/// one kernel, and its wait for the other ranks. With 5 µs for each message, it puts all-reduces of 1 to 16 MiB by NCCL
/// on 2, 4 and 8 A100 within 30 % of measured ones. Source: Bang et al., *vTrain: A Simulation Framework for Evaluating
/// Cost-Effective and Compute-Optimal Large Language Model Training*, MICRO 2024, published measurements.
inline constexpr double collective_launch = 20e-6;

/// Round figures for what ops use of a device, for want of measurements: dense products reach 70 % of the peak,
/// convolutions 60 %, recurrences 40 %, all else in the catalogue a tenth (it does not run on matrix units, and is
/// bound by memory anyway); 80 % of the memory bandwidth, half of that where rows are looked up; 5 µs to launch a
/// kernel on an accelerator, or `graph_launch` if it is part of a graph, 1 µs to call one on a CPU; views are free. A
/// collective takes one `collective_launch` on each accelerator, whose kernel adds while it receives, so that its
/// additions take no time of their own; on a CPU they do. Nothing is typical of a type that the catalogue does not
/// know: its work is believed. An op without a type takes work / speed and nothing else, as in `linear`. docs/costs.md
/// says what the figures rest on. Measured times (cost/measured.hpp) take precedence.
inline efficiency_table typical_efficiencies(launches how = launches::single) {
  efficiency_table table;
  const bool in_graph = how == launches::graph;
  const kind_set cpus{device_kind::cpu};
  for (const auto& [kinds, overhead, start] :
       {std::tuple{kind_set::all(), in_graph ? graph_launch : 5e-6, in_graph ? graph_launch : collective_launch},
        std::tuple{cpus, 1e-6, 1e-6}}) {
    table.set_default({.compute = 1, .memory = 0.8, .overhead = overhead}, kinds);
    table.set("", {.moved = traffic::none}, kinds);
    table.set(op_use::other, {.compute = 0.1, .memory = 0.8, .overhead = overhead}, kinds);
    table.set(op_use::product, {.compute = 0.7, .memory = 0.8, .overhead = overhead}, kinds);
    table.set(op_use::convolution, {.compute = 0.6, .memory = 0.8, .overhead = overhead}, kinds);
    table.set(op_use::recurrence, {.compute = 0.4, .memory = 0.8, .overhead = overhead}, kinds);
    table.set(op_use::lookup, {.compute = 0.1, .memory = 0.4, .overhead = overhead, .moved = traffic::outputs}, kinds);
    // The overhead of an op that only rewrites a description is that of calling it, wherever its tensor lives.
    table.set(op_use::view, {.compute = 1, .memory = 1, .overhead = 0, .moved = traffic::none}, kinds);
    table.set(op_use::collective_start, {.overhead = start, .moved = traffic::none}, kinds);
    table.set("PackBucket", {.memory = 0.8, .overhead = start}, kinds); // copies what it sends
  }
  table.set(op_use::collective, {.moved = traffic::none});
  table.set("AddChunk", {.compute = 0.1, .memory = 0.8}, cpus);
  return table;
}

} // namespace weft::cost
