// SPDX-License-Identifier: BSL-1.0
/// Small random problems and placements. All numbers are small multiples of powers of two, so that sums of times are
/// exact and ties are frequent.
#pragma once

#include "weft/core/random.hpp"
#include "weft/plan/plan.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace weft::test {

/// What random problems may have; amounts are inclusive.
struct draw_options {
  std::size_t max_ops = 12;
  std::size_t max_devices = 4;
  bool sends = true;       ///< send work 0, 1, 4 or 10; else 0
  bool groups = true;      ///< colocation groups, with one kind each
  bool kinds = true;       ///< ops for the cpu (device 0) or the gpus (the others) only
  std::uint32_t slots = 4; ///< one device in so many has 2 or 3; 0: none
  byte_count capacity = std::numeric_limits<byte_count>::max(); ///< of each device
  bool share_memory = false; ///< half of the devices but the first work in the memory of another one
};

inline workload random_workload(rng& random, const draw_options& o, std::size_t num_devices) {
  workload_builder b;
  const std::size_t n = 1 + random.below(o.max_ops);
  std::vector<op_id> order(n); // edges go forward in it, so ids are not topologically sorted
  std::iota(order.begin(), order.end(), 0u);
  random.shuffle(order);
  std::vector<std::uint32_t> outputs(n, 0);
  for (op_id v = 0; v < n; ++v) {
    kind_set kinds = kind_set::all();
    if (o.kinds && num_devices > 1 && random.below(6) == 0) {
      kinds = random.below(2) == 0 ? device_kind::cpu : device_kind::gpu;
    }
    const byte_count step = v % 2 == 0 ? 4 : 1; // half of the tensors have few sizes, so that some fit over others
    b.add_op({.work = random.below(5) == 0 ? 0.0 : 1.0 + random.below(8),
              .bytes = random.below(9) / step * step,
              .resident_bytes = random.below(3) == 0 ? byte_count{random.below(20)} : 0,
              .kinds = kinds,
              .memory = static_cast<output_memory>(v % 3)});
    for (outputs[v] = 1; random.below(4) == 0; ++outputs[v]) {
      b.add_output(v, random.below(9));
    }
  }
  for (std::size_t j = 1; j < n; ++j) {
    for (std::size_t i = j < 5 ? 0 : j - 5; i < j; ++i) {
      const op_id u = order[i];
      for (std::uint32_t k = 0; k < outputs[u]; ++k) {
        if (random.below(10) < 3) {
          b.add_edge(u, order[j], k);
        }
      }
      if (random.below(20) == 0) {
        b.add_control_edge(u, order[j]);
      }
    }
  }
  if (o.groups) {
    for (op_id v = 1; v < n; ++v) {
      const op_id u = random.below(v);
      if (random.below(5) == 0 && b[u].kinds == b[v].kinds) {
        b.colocate(u, v);
      }
    }
  }
  return std::move(b).build();
}

inline platform<> random_platform(rng& random, const draw_options& o, std::size_t num_devices) {
  std::vector<device> devices;
  for (std::size_t d = 0; d < num_devices; ++d) {
    devices.push_back({.kind = d == 0 ? device_kind::cpu : device_kind::gpu,
                       .speed = static_cast<double>(1u << random.below(3)),
                       .memory_capacity = o.capacity,
                       .slots = o.slots > 0 && random.below(o.slots) == 0 ? 2 + random.below(2) : 1});
    if (o.share_memory && d > 0 && random.below(2) == 0) {
      const device_id owner = random.below(static_cast<std::uint32_t>(d));
      devices[d].memory_of = devices[owner].memory_of == none ? owner : devices[owner].memory_of;
    }
  }
  link_matrix links{num_devices};
  for (device_id a = 0; a < num_devices; ++a) {
    for (device_id b = 0; b < num_devices; ++b) {
      links.set(a, b, {0.5 * random.below(4), static_cast<double>(1u << random.below(4))});
    }
  }
  constexpr double send_work[] = {0, 1, 4, 10};
  return {std::move(devices), std::move(links), o.sends ? send_work[random.below(4)] : 0};
}

/// A random problem together with what it refers to.
class drawn {
public:
  explicit drawn(rng& random, const draw_options& o = {}) : drawn{random, o, 1 + random.below(o.max_devices)} {}
  drawn(const drawn&) = delete;
  drawn& operator=(const drawn&) = delete;

  workload w;
  platform<> q;
  problem<workload, platform<>> p;

private:
  drawn(rng& random, const draw_options& o, std::size_t num_devices)
      : w{random_workload(random, o, num_devices)}, q{random_platform(random, o, num_devices)}, p{w, q} {}
};

using drawn_problem = problem<workload, platform<>>;

/// Every component on a random device of an allowed kind, whatever memory there is.
inline placement random_placement(rng& random, const drawn_problem& p) {
  placement where(p.num_ops(), none);
  for (component_id c = 0; c < p.num_components(); ++c) {
    device_id d = random.below(p.num_devices());
    while (!p.kinds(c).contains(p.platform().kind(d))) {
      d = random.below(p.num_devices());
    }
    for (const op_id v : p.members(c)) {
      where[v] = d;
    }
  }
  return where;
}

} // namespace weft::test
