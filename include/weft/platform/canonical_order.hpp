// SPDX-License-Identifier: BSL-1.0
/// An order of a platform's devices that does not depend on their numbers.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/platform/concepts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace weft {
namespace detail {

/// The ways between devices in classes: pairs that take as long, over routes that as many pairs share, have the same
/// number; fewer seconds for a megabyte have a smaller one. Numbers are rounded to floats, so that the order in which
/// the latencies of a route are added does not matter.
template <class Platform>
std::vector<std::uint32_t> pair_classes(const Platform& p) {
  using facts = std::tuple<float, float, float, float>; // seconds of a megabyte, latency, bandwidth, load
  const auto n = static_cast<std::size_t>(p.num_devices());
  std::vector<double> users; // by link: pairs whose route takes it
  const auto for_each_pair = [&](auto f) {
    for (const device_id from : ids(n)) {
      for (const device_id to : ids(n)) {
        if (from != to) {
          f(from, to);
        }
      }
    }
  };
  if constexpr (platform_parts::has_routes<Platform>) {
    users.assign(p.num_links(), 0);
    for_each_pair([&](device_id from, device_id to) { p.visit_route(from, to, [&](link_id l) { ++users[l]; }); });
  }
  std::map<facts, std::uint32_t> number; // of those that are distinct, as they come
  std::vector<std::uint32_t> classes(n * n);
  for_each_pair([&](device_id from, device_id to) {
    const double latency = p.latency(from, to), bandwidth = p.bandwidth(from, to);
    double load = 0; // seconds per byte if all pairs sent at once
    if constexpr (platform_parts::has_routes<Platform>) {
      p.visit_route(from, to, [&](link_id l) { load = std::max(load, users[l] / p.link_at(l).bandwidth); });
    }
    const facts of_pair{static_cast<float>(latency + 1e6 / bandwidth), static_cast<float>(latency),
                        static_cast<float>(bandwidth), static_cast<float>(load)};
    classes[from * n + to] = number.try_emplace(of_pair, static_cast<std::uint32_t>(number.size())).first->second;
  });
  std::vector<std::uint32_t> in_order(std::max<std::size_t>(number.size(), 1)); // the diagonal has class 0
  std::uint32_t next = 0;
  for (const auto& [of_pair, k] : number) {
    in_order[k] = next++;
  }
  for (auto& c : classes) {
    c = in_order[c];
  }
  return classes;
}

/// An ordered partition of devices into cells that is refined until all of a cell have the same ways to those of each
/// cell.
class device_cells {
public:
  /// `key[d]` orders the first cells, `classes` those into which ways split them.
  template <class Key>
  device_cells(const std::vector<Key>& key, const std::vector<std::uint32_t>& classes)
      : classes_{&classes}, order_(key.size()), end_(key.size()), queued_(key.size(), false), ways_(key.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    split(0, static_cast<std::uint32_t>(key.size()), key, true);
    refine();
  }

  /// Tells the devices of each cell apart: the one of the smallest number becomes a cell of its own, before the others.
  const std::vector<device_id>& in_order() {
    for (std::uint32_t at = 0; at < order_.size(); at = end_[at]) {
      if (end_[at] - at > 1) {
        end_[at + 1] = std::exchange(end_[at], at + 1);
        enqueue(at);
        refine();
      }
    }
    return order_;
  }

private:
  /// The ways from a device to those of a cell and back, each with how often there is one, the fastest first.
  using ways = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>>;

  void enqueue(std::uint32_t begin) {
    if (!queued_[begin]) {
      queued_[begin] = true;
      queue_.push_back(begin);
    }
  }

  /// Splits a cell into those of equal keys. A cell that others were compared with needs no comparison with its largest
  /// part, which follows from those with the rest.
  template <class Key>
  void split(std::uint32_t begin, std::uint32_t end, const std::vector<Key>& key, bool enqueues_all) {
    const auto first = order_.begin() + begin, last = order_.begin() + end;
    const auto before = [&](device_id a, device_id b) { return std::tie(key[a], a) < std::tie(key[b], b); };
    if (!std::is_sorted(first, last, before)) { // as a rule nothing tells those of a cell apart
      std::sort(first, last, before);
    }
    std::vector<std::uint32_t> parts;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (i == begin || key[order_[i - 1]] != key[order_[i]]) {
        parts.push_back(i);
      }
      end_[parts.back()] = i + 1;
    }
    if (parts.size() == 1 && !enqueues_all) {
      return;
    }
    const bool was_queued = queued_[begin];
    const auto size = [&](std::uint32_t part) { return end_[part] - part; };
    const auto largest =
      *std::max_element(parts.begin(), parts.end(), [&](auto a, auto b) { return size(a) < size(b); });
    for (const auto part : parts) {
      if (enqueues_all || was_queued || part != largest) {
        enqueue(part);
      }
    }
  }

  void refine() {
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const auto at = queue_[next];
      queued_[at] = false;
      const std::vector<device_id> cell(order_.begin() + at, order_.begin() + end_[at]);
      for (std::uint32_t begin = 0; begin < order_.size();) {
        const auto end = end_[begin];
        if (end - begin > 1) {
          for (auto i = begin; i < end; ++i) {
            compare_with(cell, order_[i]);
          }
          split(begin, end, ways_, false);
        }
        begin = end;
      }
    }
    queue_.clear();
  }

  void compare_with(const std::vector<device_id>& cell, device_id d) {
    const auto n = order_.size();
    each_.clear();
    for (const device_id e : cell) {
      if (e != d) {
        each_.emplace_back((*classes_)[d * n + e], (*classes_)[e * n + d]);
      }
    }
    if (!std::is_sorted(each_.begin(), each_.end())) {
      std::sort(each_.begin(), each_.end());
    }
    auto& all = ways_[d];
    all.clear();
    for (std::size_t i = 0, j = 0; i < each_.size(); i = j) {
      for (j = i; j < each_.size() && each_[i] == each_[j];) {
        ++j;
      }
      all.emplace_back(each_[i].first, each_[i].second, -static_cast<std::int64_t>(j - i));
    }
  }

  const std::vector<std::uint32_t>* classes_;
  std::vector<device_id> order_;                              // cell by cell, by number in each
  std::vector<std::uint32_t> end_;                            // by beginning of a cell
  std::vector<bool> queued_;                                  // by beginning of a cell
  std::vector<std::uint32_t> queue_;                          // cells that all are to be compared with
  std::vector<ways> ways_;                                    // by device, to those of the cell that is looked at
  std::vector<std::pair<std::uint32_t, std::uint32_t>> each_; // of one device
};

} // namespace detail

/// All devices of a platform in an order that follows from what they are and how they are joined: the same machine with
/// other numbers gets the same order, but for devices that nothing tells apart. What they are comes first (the kind of
/// hardware, speed, memory, slots, speeds of narrow numbers, the overhead of sends, and power), then how fast the ways
/// to other devices are, faster ones first, and how many pairs share them. Where nothing tells devices
/// apart, the one of the smallest number is taken first, and the others by their ways to it. (Colour refinement cannot
/// tell apart the devices of some regular networks; there the numbers decide.)
///
/// Complexity: O(n² log n) time for n devices and O(n²) memory, beside the links of all routes.
/// Source: colour refinement, as in McKay and Piperno, *Practical graph isomorphism, II*, Journal of Symbolic
/// Computation 60, 2014, section 2, along one path of its search tree.
template <class Platform>
requires device_platform<Platform> && platform_parts::has_links<Platform>
std::vector<device_id> canonical_order(const Platform& p) {
  if (p.num_devices() == 0) {
    return {};
  }
  std::vector<std::tuple<int, double, double, byte_count, std::uint32_t, std::array<double, 6>>> what;
  for (const device_id d : ids(p.num_devices())) {
    double speed = 0, memory = 0;
    if constexpr (platform_parts::has_speeds<Platform>) {
      speed = p.speed(d);
    }
    if constexpr (requires { p.memory_bandwidth(d); }) {
      memory = p.memory_bandwidth(d);
    }
    std::array<double, 6> more{}; // the rest, of which most devices have none
    if constexpr (requires { p.devices()[d].narrow; }) {
      const auto& narrow = p.devices()[d].narrow;
      more = {-narrow.half, -narrow.fp8, -narrow.int8};
    }
    if constexpr (requires { p.send_overhead(d); }) {
      more[3] = p.send_overhead(d);
    }
    if constexpr (platform_parts::has_power<Platform>) {
      more[4] = p.idle_watts(d);
      more[5] = p.active_watts(d);
    }
    what.emplace_back(static_cast<int>(hardware_kind(p, d)), -speed, -memory, p.memory_capacity(d), p.slots(d), more);
  }
  const auto classes = detail::pair_classes(p);
  return detail::device_cells{what, classes}.in_order();
}

} // namespace weft
