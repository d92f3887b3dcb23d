// SPDX-License-Identifier: BSL-1.0
/// Efficiencies of op types: the shares of a device's peak rates that they reach, and their overheads.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/cost/launches.hpp" // IWYU pragma: export
#include "weft/ops/catalogue.hpp"
#include "weft/platform/kinds.hpp"
#include "weft/workload/optimizer.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::cost {

/// The bytes of an op that pass through its device's memory.
enum class traffic : std::uint8_t {
  all,     ///< inputs, outputs and resident bytes, each once
  inputs_twice, ///< the same, but inputs twice: statistics of a whole batch first, then what is made with them
  outputs, ///< twice the outputs: what is copied out of something larger, such as rows of an embedding
  none,    ///< the result is another view of the input
};

/// The efficiency of ops of one type on a device.
struct efficiency {
  double compute = 1;      ///< reached share of the device's speed, above 0, at most 1
  double memory = 1;       ///< … of its memory bandwidth
  double overhead = 0;     ///< seconds per op, e.g. 2e-6 between a kernel of a GPU and the next one
  traffic moved = traffic::all;
  double launch = 0;       ///< seconds that a host takes to launch the op while the one before runs: it takes no less
  double bytes_per_flop = 0; ///< moved beside operands, which nothing hides: an optimiser's state, blocks of a product
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
  void set(ops::device_use use, efficiency e, kind_set kinds = kind_set::all()) {
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
      const auto use = ops::use_of(type);
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
    for (const double x : {e.overhead, e.launch, e.bytes_per_flop}) {
      if (!(x >= 0 && x < std::numeric_limits<double>::infinity())) {
        throw value_error(where, "overhead, launch and bytes must be finite numbers, not negative");
      }
    }
  }

  std::map<std::string, entries, std::less<>> by_type_;
  std::map<ops::device_use, entries> by_use_;
  entries others_;
};

/// The time that the host takes to launch an op of that type on an accelerator, or if it begins a collective, one among
/// so many ranks. None for views, for messages of a collective, which its one kernel sends, and for updates, many of
/// which are one kernel. Complexity: O(log types).
inline double host_seconds(std::string_view type, launches how, std::size_t ranks = 1) {
  const auto use = ops::use_of(type);
  if (type.empty() || use == ops::device_use::view || use == ops::device_use::collective || is_update(type)) {
    return 0;
  }
  const bool starts = use == ops::device_use::collective_start || type == "PackBucket";
  return starts ? collective_launch_seconds(how, ranks) : launch_seconds(how);
}

/// True if an op neither computes nor moves anything, such as what only tells sizes: nothing is run for it.
template <class W>
constexpr bool does_nothing(const W& w, op_id v) {
  if (w.work(v) > 0 || w.resident_bytes(v) > 0) {
    return false;
  }
  for (const tensor_id t : w.outputs(v)) {
    if (w.bytes(t) > 0) {
      return false;
    }
  }
  for (const tensor_id t : w.inputs(v)) {
    if (w.bytes(t) > 0) {
      return false;
    }
  }
  return true;
}

/// The same for op v: none if it does nothing.
template <class W>
double host_seconds(const W& w, op_id v, launches how, std::size_t ranks = 1) {
  return does_nothing(w, v) ? 0 : host_seconds(w.type(v), how, ranks);
}

/// Round figures for what ops use of a device, for want of measurements; docs/costs.md says what they rest on.
///
/// - Dense products reach 90 % of the peak, fused attention 65 %, convolutions 90 %, recurrences 40 %, all else in the
///   catalogue a tenth (it does not run on matrix units, and is bound by memory anyway).
/// - All reach 70 % of the memory bandwidth, half of that where rows are looked up, and 55 % in products that expand
///   their weights.
/// - Products, attention and convolutions read blocks of their operands again and again, largely from caches, which
///   grow with the memory bandwidth: nothing hides a byte for each 600, 500 and 300 FLOP. So an A100 reaches 68 % of
///   its peak in products of 16 bits, an H100 55 %, whose peak is three times as high and bandwidth not twice.
///   Convolutions of wider numbers: a byte for each 85 FLOP, as frameworks keep channels outermost there, and kernels
///   turn them.
/// - On an accelerator an op takes 1 µs beside that, and products, which have to fill it with their first blocks, 4 µs;
///   but no less than the host takes to launch the next one (`launch_seconds`). On a CPU, calling an op takes 1 µs.
///   Views are free, and so are the launches of updates: one kernel changes many parameters. So is an op that does
///   nothing, such as one that works out a shape: the host does it meanwhile.
/// - A collective takes one `collective_launch` on each accelerator, whose kernel adds while it receives, so that its
///   additions take no time of their own; on a CPU they do.
/// - Nothing is typical of a type that the catalogue does not know: its work is believed. An op without a type takes
///   work / speed and nothing else, as in `linear`.
///
/// Measured times (cost/measured.hpp) take precedence.
inline efficiency_table typical_efficiencies(const typical_of& what = {}) {
  constexpr double bandwidth = 0.7;
  efficiency_table table;
  const kind_set cpus{device_kind::cpu};
  for (const auto& kinds : {kind_set::all(), cpus}) {
    const bool is_cpu = kinds == cpus;
    const double launch = is_cpu || !what.counts_launches ? 0 : launch_seconds(what.how);
    const double fill = is_cpu ? 1e-6 : 4e-6;
    const auto reach = [&](double compute, double overhead = 1e-6, double flop_per_byte = 0) {
      return efficiency{.compute = compute,
                        .memory = bandwidth,
                        .overhead = overhead,
                        .launch = launch,
                        .bytes_per_flop = flop_per_byte > 0 ? 1 / flop_per_byte : 0};
    };
    table.set_default(reach(1), kinds);
    table.set("", {.moved = traffic::none}, kinds);
    table.set(ops::device_use::other, reach(0.1), kinds);
    auto product = reach(0.9, fill, 600);
    if (what.expands_weights) {
      product.bytes_per_flop *= 0.55 / product.memory;
      product.memory = 0.55;
    }
    table.set(ops::device_use::product, product, kinds);
    for (const char* type : {"BatchMatMul", "BatchMatMulV2", "CachedAttention", "Einsum", "SparseAttention"}) {
      table.set(type, reach(0.9, fill, 600), kinds); // of tensors, not of weights
    }
    table.set(ops::device_use::attention, reach(0.65, fill, 500), kinds);
    table.set(ops::device_use::convolution, reach(0.9, fill, what.tensor_bits > 16 ? 85 : 300), kinds);
    table.set(ops::device_use::recurrence, reach(0.4, fill), kinds);
    auto lookup = reach(0.1), twice = lookup;
    lookup.memory /= 2;
    lookup.moved = traffic::outputs;
    table.set(ops::device_use::lookup, lookup, kinds);
    twice.moved = traffic::inputs_twice;
    table.set(ops::device_use::batch_statistics, twice, kinds);
    // The overhead of an op that only rewrites a description is that of calling it, wherever its tensor lives.
    table.set(ops::device_use::view, {.compute = 1, .memory = 1, .overhead = 0, .moved = traffic::none}, kinds);
    const double start = what.how == launches::graph ? graph_launch : collective_launch;
    table.set(ops::device_use::collective_start, {.overhead = is_cpu ? 1e-6 : start, .moved = traffic::none}, kinds);
    table.set("PackBucket", {.memory = bandwidth, .overhead = is_cpu ? 1e-6 : start}, kinds); // copies what it sends
    for (const auto rule : {optimizer::sgd, optimizer::momentum, optimizer::rmsprop, optimizer::adam}) {
      const auto cost = cost_of(rule); // parameter and slots are read and written
      table.set(cost.update_type,
                {.compute = 0.1,
                 .memory = bandwidth,
                 .bytes_per_flop = 8 * static_cast<double>(1 + cost.slots) / cost.flop_per_parameter},
                kinds);
    }
  }
  table.set(ops::device_use::collective, {.moved = traffic::none});
  table.set("AddChunk", {.compute = 0.1, .memory = bandwidth}, cpus);
  return table;
}

} // namespace weft::cost
