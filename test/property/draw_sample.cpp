// SPDX-License-Identifier: BSL-1.0
#include "property/sample.hpp"

#include "weft/graph/components.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weft::test {

namespace {

/// How large numbers are, and whether many of them are equal.
class magnitudes {
public:
  magnitudes(rng& random, bool generic) : random_{&random}, style_{generic ? style::dyadic : pick(random)} {}

  double work() { return zero() ? 0 : number(1, 6, 1, 1e10); }
  double speed() {
    const double drawn = number(1, 3, 1, 1e12);
    return style_ == style::dyadic ? static_cast<double>(1u << random_->below(4)) : std::max(1.0, drawn);
  }
  double bandwidth() {
    return style_ == style::dyadic  ? static_cast<double>(1u << random_->below(4))
           : random_->below(8) == 0 ? std::numeric_limits<double>::infinity()
                                    : std::max(0.5, number(1, 4, 1, 1e10));
  }
  double latency() {
    const double drawn = number(1, 2, 1, 1e-5);
    return style_ == style::dyadic || random_->below(2) ? drawn : 0;
  }
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
      : o{options}, random{seed}, n{1 + random.below(1 + (options.max_ops - 1) * static_cast<unsigned>(size) / 50)},
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

  /// Two thirds of the ops share memory, where they can: their first output is as large as an input.
  void share_memory() {
    for (op_id v = 0; v < n && !o.generic; ++v) {
      s.ops[v].memory = static_cast<output_memory>(v % 3);
    }
    for (const auto& e : s.edges) {
      auto& op = s.ops[e.to];
      if (op.memory != output_memory::own && e.output != sample::control && !op.outputs.empty()) {
        op.outputs[0] = s.ops[e.from].outputs[e.output];
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

  /// In a third of the platforms, half of the devices work in the memory of another one.
  void share_memories() {
    rng own{s.seed}; // so that other numbers are drawn as without
    if (own.below(3) != 0) {
      return;
    }
    for (std::uint32_t d = 1; d < k; ++d) {
      const device_id owner = own.below(d);
      if (own.below(2) == 0 && s.devices[owner].memory_of == none) {
        s.devices[d].memory_of = owner;
      }
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

} // namespace

sample draw_sample(const sample_options& o, std::uint64_t seed, int size) {
  drawing d{o, seed, std::clamp(size, 0, 50)};
  d.devices();
  d.ops();
  d.edges();
  d.share_memory();
  d.colocations();
  d.limit_memory();
  d.share_memories();
  d.links();
  d.costs();
  return std::move(d.s);
}

} // namespace weft::test
