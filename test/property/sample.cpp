// SPDX-License-Identifier: BSL-1.0
#include "property/sample.hpp"

#include <string>

namespace weft::test {

std::ostream& operator<<(std::ostream& out, const sample& s) {
  const auto precision = out.precision(17);
  for (std::size_t v = 0; v < s.ops.size(); ++v) {
    const auto& op = s.ops[v];
    out << "\nop " << v << ": work " << op.work << ", resident " << op.resident_bytes << ", " << to_string(op.kinds)
        << (op.memory == output_memory::own    ? ""
            : op.memory == output_memory::view ? ", view"
                                               : ", over input")
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
        << what.memory_capacity << " at " << what.memory_bandwidth << ", slots " << what.slots
        << (what.memory_of == none ? "" : ", in the memory of device " + std::to_string(what.memory_of));
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
    const op_id v = b.add_op(
      {.work = op.work, .resident_bytes = op.resident_bytes, .kinds = op.kinds, .memory = op.memory});
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
    links.links = hierarchical_links{s.links, s.enclosures, s.devices.size()};
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

sampled_problem::sampled_problem(const sample& s)
    : ops{make_workload(s)}, devices{make_platform(s)}, seconds{s.seconds}, task{ops, devices, make_cost(s, seconds)} {}

} // namespace weft::test
