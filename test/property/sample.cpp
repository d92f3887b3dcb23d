// SPDX-License-Identifier: BSL-1.0
#include "property/sample.hpp"

#include "weft/graph/components.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace weft::test {

namespace {

constexpr byte_count unlimited = std::numeric_limits<byte_count>::max();

/// How large numbers are, and whether many of them are equal.
class magnitudes {
public:
  magnitudes(rng& random, bool generic) : random_{&random}, style_{generic ? style::dyadic : pick(random)} {}

  double work() { return zero() ? 0 : number(1, 6, 1, 1e10); }
  double speed() {
    return style_ == style::dyadic ? static_cast<double>(1u << random_->below(4)) : std::max(1.0, number(1, 3, 1, 1e12));
  }
  double bandwidth() {
    return style_ == style::dyadic  ? static_cast<double>(1u << random_->below(4))
           : random_->below(8) == 0 ? std::numeric_limits<double>::infinity()
                                    : std::max(0.5, number(1, 4, 1, 1e10));
  }
  double latency() { return style_ == style::dyadic ? number(1, 1, 1, 1) : random_->below(2) ? 0 : number(1, 2, 1, 1e-5); }
  double overhead() { return random_->below(2) ? 0 : number(0, 2, 0.1, 1e-5); }
  double send_work() { return number(1, 3, 2, 1e4); }
  byte_count bytes() { return zero() ? 0 : static_cast<byte_count>(number(1, 8, 8, 1e8)); }

private:
  /// Small whole numbers, real ones, numbers as real machines and networks have them, or whole ones whose sums are
  /// exact and unlikely to be equal.
  enum class style : std::uint8_t { small, real, physical, dyadic };

  static style pick(rng& random) { return static_cast<style>(random.below(3)); }
  bool zero() { return style_ != style::dyadic && random_->below(6) == 0; }

  double number(int least, int most, double real, double physical) {
    switch (style_) {
    case style::small: return static_cast<double>(random_->between(least, most));
    case style::real: return random_->uniform(0.01, 1) * real * 10;
    case style::physical: return random_->uniform(0.01, 1) * physical;
    case style::dyadic: break;
    }
    return static_cast<double>(1 + random_->below(1u << 26));
  }

  rng* random_;
  style style_;
};

/// Draws one sample, part by part.
struct drawing {
  const sample_options& o;
  rng random;
  magnitudes numbers{random, o.generic};
  std::uint32_t n;
  std::uint32_t k;
  sample s = {};

  drawing(const sample_options& options, std::uint64_t seed, int size)
      : o{options}, random{seed}, n{1 + random.below(1 + (options.max_ops - 1) * std::min(static_cast<unsigned>(size), 50u) / 50)},
        k{1 + random.below(options.max_devices)} {
    s.seed = random();
  }

  void ops() {
    const bool kinds = o.limits && random.below(2);
    for (std::uint32_t v = 0; v < n; ++v) {
      sample::op_data op{.work = numbers.work()};
      op.resident_bytes = random.below(2) ? 0 : numbers.bytes();
      op.kinds = kinds ? draw_kinds() : kind_set::all();
      const std::uint32_t outputs = random.below(4) ? 1 : random.below(4);
      for (std::uint32_t i = 0; i < outputs; ++i) {
        op.outputs.push_back(numbers.bytes());
      }
      s.ops.push_back(std::move(op));
    }
  }

  /// Kinds that the platform has, but for a rare one that it may not have.
  kind_set draw_kinds() {
    const kind_set some = s.devices[random.below(k)].kind;
    switch (random.below(8)) {
    case 0: return some | s.devices[random.below(k)].kind;
    case 1:
    case 2: return some;
    case 3: return random.below(n) == 0 ? device_kind::tpu : some;
    default: return kind_set::all();
    }
  }

  void edges() {
    std::vector<op_id> sequence(n, 0); // so that ids are in no topological order
    std::iota(sequence.begin(), sequence.end(), 0u);
    random.shuffle(sequence);
    const double density = random.uniform(0, o.max_density) * random.uniform();
    const double control = random.below(3) ? 0 : 0.3;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = i + 1; j < n; ++j) {
        // Edges over short distances are as likely in large graphs as in small ones.
        if (random.uniform() > std::max(density, 1.5 / (1 + j - i) * density)) {
          continue;
        }
        const op_id u = sequence[i];
        const auto outputs = static_cast<std::uint32_t>(s.ops[u].outputs.size());
        if (outputs == 0 || random.uniform() < control) {
          s.edges.push_back({u, sample::control, sequence[j]});
          continue;
        }
        const std::uint32_t first = random.below(outputs);
        s.edges.push_back({u, first, sequence[j]});
        if (outputs > 1 && random.below(4) == 0) {
          s.edges.push_back({u, (first + 1) % outputs, sequence[j]});
        }
      }
    }
  }

  void colocations() {
    if (random.below(2)) {
      return;
    }
    graph::disjoint_sets groups{n};
    std::vector<kind_set> kinds;
    for (const auto& op : s.ops) {
      kinds.push_back(op.kinds);
    }
    for (auto tries = 1 + random.below(1 + n / 2); tries > 0; --tries) {
      const op_id a = random.below(n);
      const op_id b = random.below(n);
      const auto common = kinds[groups.find(a)] & kinds[groups.find(b)];
      if (a != b && !common.empty()) {
        s.colocations.emplace_back(a, b);
        groups.unite(a, b);
        kinds[groups.find(a)] = common;
      }
    }
  }

  void devices() {
    const device_kind kinds[]{device_kind::cpu, device_kind::cpu, device_kind::gpu, device_kind::tpu};
    const bool equal = !o.generic && random.below(3) == 0;
    const bool several_slots = o.max_slots > 1 && random.below(3) == 0;
    for (std::uint32_t d = 0; d < k; ++d) {
      device what{.kind = kinds[random.below(4)], .speed = numbers.speed()};
      what.memory_bandwidth = numbers.bandwidth();
      what.slots = several_slots ? 1 + random.below(o.max_slots) : 1;
      s.devices.push_back(equal && d > 0 ? s.devices.front() : what);
    }
  }

  /// Sometimes enough, sometimes tight, rarely too little for anything.
  void limit_memory() {
    if (!o.limits || random.below(2)) {
      return;
    }
    std::vector<double> demand;
    for (const auto& op : s.ops) {
      const auto outputs = std::accumulate(op.outputs.begin(), op.outputs.end(), byte_count{0});
      demand.push_back(static_cast<double>(op.resident_bytes + outputs));
    }
    for (const auto& e : s.edges) {
      demand[e.to] += e.output == sample::control ? 0 : static_cast<double>(s.ops[e.from].outputs[e.output]);
    }
    const double share = std::accumulate(demand.begin(), demand.end(), 0.0) / k;
    const double largest = *std::max_element(demand.begin(), demand.end());
    const double scale = random.uniform(0.9, 3);
    for (auto& d : s.devices) {
      d.memory_capacity = static_cast<byte_count>(scale * std::max(share, largest) * random.uniform(0.7, 1.3));
      d.memory_capacity = random.below(30) ? d.memory_capacity : 0;
    }
  }

  link draw_link() {
    link l;
    l.latency = numbers.latency();
    l.bandwidth = numbers.bandwidth();
    return l;
  }

  void links() {
    s.connected = static_cast<sample::topology>(random.below(3));
    std::size_t count = 1;
    if (s.connected == sample::topology::matrix) {
      count = std::size_t{k} * k;
    } else if (s.connected == sample::topology::levels) {
      count = 1 + random.below(3);
      for (std::size_t i = 1; i < count; ++i) {
        s.enclosures.push_back(1 + random.below(3));
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      s.links.push_back(draw_link());
    }
    s.send_work = o.sends && random.below(2) ? numbers.send_work() : 0;
  }

  void costs() {
    s.cost = o.any_cost ? static_cast<sample::cost_kind>(random.below(3)) : sample::cost_kind::linear;
    if (s.cost == sample::cost_kind::table) {
      for (const auto& op : s.ops) {
        for (std::uint32_t d = 0; d < k; ++d) {
          s.seconds.push_back(o.generic || random.below(2) ? numbers.work() / s.devices[d].speed
                                                           : op.work / s.devices[d].speed);
        }
      }
    }
    s.launch_overhead = s.cost == sample::cost_kind::roofline ? numbers.overhead() : 0;
  }
};

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
  s.devices.erase(s.devices.begin() + gone);
  return s;
}

} // namespace

sample draw_sample(const sample_options& o, std::uint64_t seed, int size) {
  drawing d{o, seed, std::clamp(size, 0, 100)};
  d.devices();
  d.ops();
  d.edges();
  d.colocations();
  d.limit_memory();
  d.links();
  d.costs();
  return std::move(d.s);
}

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
  for (std::size_t i = 0; i < s.edges.size(); ++i) {
    attempt([&](sample& c) { return c.edges.erase(c.edges.begin() + static_cast<std::ptrdiff_t>(i)), true; });
  }
  for (std::size_t i = 0; i < s.colocations.size(); ++i) {
    attempt([&](sample& c) { return c.colocations.erase(c.colocations.begin() + static_cast<std::ptrdiff_t>(i)), true; });
  }
  for (std::size_t d = 0; d < s.devices.size(); ++d) {
    attempt([&](sample& c) { return set(c.devices[d].memory_capacity, unlimited); });
    attempt([&](sample& c) { return set(c.devices[d].memory_bandwidth, std::numeric_limits<double>::infinity()); });
    attempt([&](sample& c) { return set(c.devices[d].slots, 1u); });
  }
  for (op_id v = 0; v < n; ++v) {
    attempt([&](sample& c) { return set(c.ops[v].kinds, kind_set::all()); });
    attempt([&](sample& c) { return set(c.ops[v].resident_bytes, byte_count{0}); });
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

std::ostream& operator<<(std::ostream& out, const sample& s) {
  const auto precision = out.precision(17);
  for (std::size_t v = 0; v < s.ops.size(); ++v) {
    const auto& op = s.ops[v];
    out << "\nop " << v << ": work " << op.work << ", resident " << op.resident_bytes << ", " << to_string(op.kinds)
        << ", outputs";
    for (const auto bytes : op.outputs) {
      out << ' ' << bytes;
    }
  }
  out << "\nedges:";
  for (const auto& e : s.edges) {
    out << ' ' << e.from << '.' << (e.output == sample::control ? "control" : std::to_string(e.output)) << "->" << e.to;
  }
  out << "\ncolocated:";
  for (const auto& [a, b] : s.colocations) {
    out << ' ' << a << '=' << b;
  }
  for (std::size_t d = 0; d < s.devices.size(); ++d) {
    const auto& what = s.devices[d];
    out << "\ndevice " << d << ": " << to_string(what.kind) << ", speed " << what.speed << ", memory "
        << what.memory_capacity << " at " << what.memory_bandwidth << ", slots " << what.slots;
  }
  constexpr const char* topologies[]{"uniform", "matrix", "levels"};
  constexpr const char* costs[]{"linear", "table", "roofline"};
  out << "\nlinks (" << topologies[static_cast<std::size_t>(s.connected)] << "):";
  for (const auto& l : s.links) {
    out << " [" << l.latency << ", " << l.bandwidth << ']';
  }
  for (const auto size : s.enclosures) {
    out << " size " << size;
  }
  out << "\nsend work " << s.send_work << ", costs " << costs[static_cast<std::size_t>(s.cost)];
  for (const auto x : s.seconds) {
    out << ' ' << x;
  }
  out << ", overhead " << s.launch_overhead << ", seed " << s.seed << '\n';
  out.precision(precision);
  return out;
}

workload make_workload(const sample& s) {
  workload_builder b;
  for (const auto& op : s.ops) {
    const op_id v = b.add_op({.work = op.work, .resident_bytes = op.resident_bytes, .kinds = op.kinds});
    for (const auto bytes : op.outputs) {
      b.add_output(v, bytes);
    }
  }
  for (const auto& e : s.edges) {
    if (e.output == sample::control) {
      b.add_control_edge(e.from, e.to);
    } else {
      b.add_edge(e.from, e.to, e.output);
    }
  }
  for (const auto& [a, c] : s.colocations) {
    b.colocate(a, c);
  }
  return std::move(b).build();
}

platform<any_links> make_platform(const sample& s) {
  any_links links;
  if (s.connected == sample::topology::uniform) {
    links.links = uniform_links{s.links.front()};
  } else if (s.connected == sample::topology::levels) {
    links.links = hierarchical_links{s.links, s.enclosures};
  } else {
    const auto k = s.devices.size();
    link_matrix matrix{k};
    for (std::size_t i = 0; i < k * k; ++i) {
      matrix.set(static_cast<device_id>(i / k), static_cast<device_id>(i % k), s.links[i]);
    }
    links.links = std::move(matrix);
  }
  return {s.devices, std::move(links), s.send_work};
}

namespace {
any_cost make_cost(const sample& s, const std::vector<double>& seconds) {
  any_cost cost;
  if (s.cost == sample::cost_kind::table) {
    cost.model = cost::table{seconds, s.ops.size(), s.devices.size()};
  } else if (s.cost == sample::cost_kind::roofline) {
    cost::roofline model;
    model.launch_overhead = s.launch_overhead;
    cost.model = model;
  }
  return cost;
}
} // namespace

instance::instance(const sample& s)
    : ops{make_workload(s)}, devices{make_platform(s)}, seconds{s.seconds}, task{ops, devices, make_cost(s, seconds)} {}

} // namespace weft::test
