// SPDX-License-Identifier: BSL-1.0
#include "property/sample.hpp"

#include <algorithm>
#include <limits>

namespace weft::test {

namespace {

constexpr byte_count unlimited = std::numeric_limits<byte_count>::max();

/// Without the ops of `[first, last)`.
sample without_ops(sample s, op_id first, op_id last) {
  const auto gone = [&](op_id v) { return v >= first && v < last; };
  std::erase_if(s.edges, [&](const auto& e) { return gone(e.from) || gone(e.to); });
  std::erase_if(s.colocations, [&](const auto& c) { return gone(c.first) || gone(c.second); });
  const auto renumber = [&](op_id& v) { v -= v >= last ? last - first : 0; };
  for (auto& e : s.edges) {
    renumber(e.from);
    renumber(e.to);
  }
  for (auto& [a, b] : s.colocations) {
    renumber(a);
    renumber(b);
  }
  s.ops.erase(s.ops.begin() + first, s.ops.begin() + last);
  if (!s.seconds.empty()) {
    const auto k = s.devices.size();
    s.seconds.erase(s.seconds.begin() + static_cast<std::ptrdiff_t>(first * k),
                    s.seconds.begin() + static_cast<std::ptrdiff_t>(last * k));
  }
  return s;
}

sample without_device(sample s, device_id gone) {
  const auto k = s.devices.size();
  std::vector<link> links;
  for (std::size_t i = 0; s.connected == sample::topology::matrix && i < k * k; ++i) {
    if (i / k != gone && i % k != gone) {
      links.push_back(s.links[i]);
    }
  }
  s.links = s.connected == sample::topology::matrix ? links : s.links;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < s.seconds.size(); ++i) {
    if (i % k != gone) {
      seconds.push_back(s.seconds[i]);
    }
  }
  s.seconds = seconds;
  std::vector<device_id> left;
  for (const device_id d : ids(k)) {
    if (d != gone) {
      left.push_back(d);
    }
  }
  s.devices = chosen_devices(s.devices, left);
  return s;
}

} // namespace

std::vector<sample> simpler(const sample& s, bool keep_numbers) {
  std::vector<sample> result;
  const auto n = static_cast<op_id>(s.ops.size());
  for (op_id piece = n / 2; piece > 0; piece /= 2) {
    for (op_id first = 0; first + piece <= n && piece < n; first += piece) {
      result.push_back(without_ops(s, first, first + piece));
    }
  }
  for (device_id d = 0; d < s.devices.size() && s.devices.size() > 1; ++d) {
    result.push_back(without_device(s, d));
  }
  // Each of these changes a copy and says whether that made a difference.
  const auto attempt = [&](auto change) {
    sample copy = s;
    if (change(copy)) {
      result.push_back(std::move(copy));
    }
  };
  const auto set = [](auto& value, auto to) { return value != to && (value = to, true); };
  attempt([&](sample& c) {
    c.seconds.clear();
    return set(c.cost, sample::cost_kind::linear);
  });
  attempt([&](sample& c) { return set(c.send_work, 0.0); });
  attempt([&](sample& c) { return set(c.launch_overhead, 0.0); });
  for (std::ptrdiff_t i = 0; i < std::ssize(s.edges); ++i) {
    attempt([&](sample& c) { return c.edges.erase(c.edges.begin() + i), true; });
  }
  for (std::ptrdiff_t i = 0; i < std::ssize(s.colocations); ++i) {
    attempt([&](sample& c) { return c.colocations.erase(c.colocations.begin() + i), true; });
  }
  for (std::size_t d = 0; d < s.devices.size(); ++d) {
    attempt([&](sample& c) { return set(c.devices[d].memory_capacity, unlimited); });
    attempt([&](sample& c) { return set(c.devices[d].memory_bandwidth, std::numeric_limits<double>::infinity()); });
    attempt([&](sample& c) { return set(c.devices[d].slots, 1u); });
    attempt([&](sample& c) { return set(c.devices[d].memory_of, none); });
  }
  for (op_id v = 0; v < n; ++v) {
    attempt([&](sample& c) { return set(c.ops[v].kinds, kind_set::all()); });
    attempt([&](sample& c) { return set(c.ops[v].resident_bytes, byte_count{0}); });
    attempt([&](sample& c) { return set(c.ops[v].memory, output_memory::own); });
  }
  if (keep_numbers) {
    return result;
  }
  attempt([&](sample& c) {
    c.links.assign(1, link{.latency = 0, .bandwidth = 1});
    c.enclosures.clear();
    return set(c.connected, sample::topology::uniform);
  });
  for (std::size_t d = 0; d < s.devices.size(); ++d) {
    attempt([&](sample& c) { return set(c.devices[d].speed, 1.0); });
  }
  for (op_id v = 0; v < n; ++v) {
    attempt([&](sample& c) { return set(c.ops[v].work, 1.0); });
    for (std::size_t t = 0; t < s.ops[v].outputs.size(); ++t) {
      attempt([&](sample& c) { return c.ops[v].outputs[t] > 1 && set(c.ops[v].outputs[t], byte_count{1}); });
    }
  }
  for (std::size_t i = 0; i < s.links.size(); ++i) {
    attempt([&](sample& c) { return set(c.links[i], link{.latency = 0, .bandwidth = 1}); });
  }
  for (std::size_t i = 0; i < s.seconds.size(); ++i) {
    attempt([&](sample& c) { return set(c.seconds[i], 1.0); });
  }
  return result;
}

} // namespace weft::test
