// SPDX-License-Identifier: BSL-1.0
/// The ratio of communication to computation of a workload on a platform, and workloads scaled to a given one.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/cost/linear.hpp"
#include "weft/platform/concepts.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/copy_ops.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace weft::generate {

namespace detail {

/// The mean over ops of the mean compute time on the devices of a kind that the op allows, in seconds. An op that no
/// device allows is left out.
template <class W, class P, class Cost>
double mean_compute_time(const W& w, const P& p, const Cost& cost) {
  double total = 0;
  std::size_t ops = 0;
  for (const op_id v : ids(static_cast<std::size_t>(w.num_ops()))) {
    double sum = 0;
    std::size_t devices = 0;
    for (const device_id d : ids(static_cast<std::size_t>(p.num_devices()))) {
      if (w.kinds(v).contains(p.kind(d))) {
        const double seconds = cost.compute_time(w, v, p, d);
        if (!(seconds >= 0)) {
          throw value_error("compute_time of op " + std::to_string(v) + " on device " + std::to_string(d),
                            "must be a number of seconds, at least 0");
        }
        sum += seconds;
        ++devices;
      }
    }
    if (devices > 0) {
      total += sum / static_cast<double>(devices);
      ++ops;
    }
  }
  return ops == 0 ? 0 : total / static_cast<double>(ops);
}

/// Calls `f(from, to)` for every ordered pair of different devices, and returns how many there are.
template <class P, class F>
std::size_t for_each_pair(const P& p, F f) {
  const auto k = static_cast<std::size_t>(p.num_devices());
  for (const device_id from : ids(k)) {
    for (const device_id to : ids(k)) {
      if (from != to) {
        f(from, to);
      }
    }
  }
  return k < 2 ? 0 : k * (k - 1);
}

/// Copies a workload with other tensor sizes: `bytes(t)`.
template <dataflow_workload W, class Bytes>
workload resized(const W& w, Bytes bytes) {
  workload_builder b;
  copy_ops(b, w, [&](op_id v) { return w.resident_bytes(v); }, bytes);
  return std::move(b).build();
}

} // namespace detail

/// The communication-to-computation ratio: the mean time to transfer an edge's tensor between two devices, over the
/// mean time to compute an op. The first is the mean over all edges that carry bytes and all ordered pairs of different
/// devices, the second the mean over all ops of the mean over the devices whose kind they allow. 0 if nothing
/// communicates. Complexity: O(n · devices + m + tensors · devices²).
/// Source: Topcuoglu, Hariri, Wu 2002, §5.1, where edges carry times.
template <dataflow_workload W, device_platform P, class Cost = cost::linear>
  requires cost_model_for<Cost, W, P>
double ccr_of(const W& w, const P& p, const Cost& cost = {}) {
  double transfers = 0;
  std::size_t edges = 0;
  for (const tensor_id t : ids(static_cast<std::size_t>(w.num_tensors()))) {
    const auto consumers = static_cast<std::size_t>(std::ranges::size(w.consumers(t)));
    if (static_cast<byte_count>(w.bytes(t)) == 0 || consumers == 0) {
      continue;
    }
    double sum = 0;
    const auto pairs = detail::for_each_pair(
      p, [&](device_id from, device_id to) { sum += cost.transfer_time(w, t, p, from, to); });
    if (pairs > 0) {
      transfers += static_cast<double>(consumers) * sum / static_cast<double>(pairs);
      edges += consumers;
    }
  }
  const double compute = detail::mean_compute_time(w, p, cost);
  return edges == 0 || compute == 0 ? 0 : transfers / static_cast<double>(edges) / compute;
}

/// The workload with all tensors scaled by one factor, such that `ccr_of` is `ccr`, up to the rounding of tensors to
/// whole bytes (to the nearest, at least one unless `ccr` is 0). Work, resident bytes, names, kinds and groups stay as
/// they are.
/// Transfers are those of the platform's links, latency + bytes / bandwidth; `cost` says how long ops compute.
///
/// Throws `value_error` if no factor does it: `ccr` is negative or not finite, nothing communicates or computes, there
/// is one device, all bandwidths are infinite, the latencies alone take longer, or tensors would get too large.
/// Complexity: O(n · devices + m + devices²).
template <dataflow_workload W, device_platform P, class Cost = cost::linear>
  requires cost_model_for<Cost, W, P> && platform_parts::has_links<P>
workload with_ccr(const W& w, const P& p, double ccr, const Cost& cost = {}) {
  const auto require = [](bool holds, const char* rule) {
    if (!holds) {
      throw value_error("with_ccr", rule);
    }
  };
  require(ccr >= 0 && ccr < std::numeric_limits<double>::infinity(), "the ratio must be finite and not negative");
  double bytes = 0;
  std::size_t edges = 0;
  for (const tensor_id t : ids(static_cast<std::size_t>(w.num_tensors()))) {
    const auto consumers = static_cast<std::size_t>(std::ranges::size(w.consumers(t)));
    if (static_cast<byte_count>(w.bytes(t)) > 0) {
      bytes += rounded(static_cast<double>(w.bytes(t)) * static_cast<double>(consumers));
      edges += consumers;
    }
  }
  double latency = 0;
  double seconds_per_byte = 0;
  const auto pairs = detail::for_each_pair(p, [&](device_id from, device_id to) {
    latency += p.latency(from, to);
    seconds_per_byte += 1 / static_cast<double>(p.bandwidth(from, to));
  });
  const double compute = detail::mean_compute_time(w, p, cost);
  require(edges > 0 && compute > 0, "some edge must carry bytes and some op must take time");
  require(pairs > 0 && seconds_per_byte > 0, "needs two devices and a link of finite bandwidth");
  const auto count = static_cast<double>(pairs);
  const double wanted = rounded(ccr * compute) - latency / count; // seconds per edge that depend on the bytes
  require(wanted >= 0, "the latencies alone take longer than that");
  const double factor = wanted / (seconds_per_byte / count * (bytes / static_cast<double>(edges)));
  return detail::resized(w, [&](tensor_id t) {
    const double scaled = static_cast<double>(w.bytes(t)) * factor;
    require(scaled < static_cast<double>(workload_builder::max_total_bytes), "tensors would get too large");
    const auto rounded = static_cast<byte_count>(scaled + 0.5);
    return static_cast<byte_count>(w.bytes(t)) == 0 || ccr == 0 ? 0 : std::max<byte_count>(rounded, 1);
  });
}

} // namespace weft::generate
