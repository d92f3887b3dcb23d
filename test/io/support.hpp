// SPDX-License-Identifier: BSL-1.0
/// Helpers for the tests of io/: comparing workloads, random ones, and catching parse errors.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/random.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace weft_test {

/// Every column and every edge is the same.
inline bool same(const weft::workload& a, const weft::workload& b) {
  bool equal = a.num_ops() == b.num_ops() && a.num_tensors() == b.num_tensors() && a.num_edges() == b.num_edges() &&
               a.num_groups() == b.num_groups();
  for (weft::op_id v = 0; equal && v < a.num_ops(); ++v) {
    equal = a.name(v) == b.name(v) && a.type(v) == b.type(v) && a.kinds(v) == b.kinds(v) && a.group(v) == b.group(v) &&
            a.work(v) == b.work(v) && a.resident_bytes(v) == b.resident_bytes(v) && a.slots(v) == b.slots(v) &&
            std::ranges::equal(a.inputs(v), b.inputs(v)) && std::ranges::equal(a.outputs(v), b.outputs(v));
  }
  for (weft::tensor_id t = 0; equal && t < a.num_tensors(); ++t) {
    equal =
      a.bytes(t) == b.bytes(t) && a.producer(t) == b.producer(t) && std::ranges::equal(a.consumers(t), b.consumers(t));
  }
  return equal;
}

/// The work of each op and the edges by their tensors: `1,2.5,0 0>1:8 0>2:8 1>2:0`.
inline std::string outline(const weft::workload& w) {
  std::ostringstream text;
  for (weft::op_id v = 0; v < w.num_ops(); ++v) {
    text << (v == 0 ? "" : ",") << w.work(v);
  }
  for (weft::tensor_id t = 0; t < w.num_tensors(); ++t) {
    for (const weft::op_id c : w.consumers(t)) {
      text << ' ' << w.producer(t) << '>' << c << ':' << w.bytes(t);
    }
  }
  return text.str();
}

/// A file's content, and the outline of the workload in it.
struct outlined {
  std::string text;
  std::string outline;
};

/// Devices, names, links and the routes over them are the same; links from a device to itself mean nothing.
template <class P, class Q>
bool same_platform(const P& a, const Q& b) {
  bool equal = a.devices() == b.devices() && a.send_work() == b.send_work() && a.num_links() == b.num_links();
  const auto route = [](const auto& p, weft::device_id from, weft::device_id to) {
    std::vector<weft::link_id> taken;
    p.visit_route(from, to, [&](weft::link_id l) { taken.push_back(l); });
    return taken;
  };
  for (weft::device_id d = 0; equal && d < a.num_devices(); ++d) {
    equal = a.name(d) == b.name(d);
    for (weft::device_id e = 0; equal && e < a.num_devices(); ++e) {
      const auto taken = route(a, d, e);
      equal = (d == e || (a.latency(d, e) == b.latency(d, e) && a.bandwidth(d, e) == b.bandwidth(d, e) &&
                           a.joules_per_byte(d, e) == b.joules_per_byte(d, e))) &&
              taken == route(b, d, e) &&
              std::ranges::all_of(taken, [&](weft::link_id l) { return a.link_at(l) == b.link_at(l); });
    }
  }
  return equal;
}

/// What a random workload may have.
struct features {
  bool several_outputs = true; ///< none, or more than one output
  bool kind_sets = true;       ///< several allowed kinds
  bool labels = true;          ///< types, and names that are hard to write
};

/// A random workload of 1 to 24 ops, whose ids are in no topological order.
inline weft::workload random_workload(weft::rng& random, features f = {}) {
  static const std::vector<std::string> names{
    "",       "",        "conv",        "conv",       "a:1", "3", "\"quoted\" \\ back", "tab\there", "caf\xc3\xa9",
    "[0, 1]", "x/y_z.w", "line\nbreak", "with, comma"};
  static const std::vector<weft::kind_set> kinds{weft::kind_set::all(), weft::device_kind::cpu, weft::device_kind::gpu,
                                                 weft::kind_set{weft::device_kind::tpu} | weft::device_kind::cpu,
                                                 static_cast<weft::device_kind>(63)};
  static const std::vector<double> works{0, 1, 2e6, 0.1, 1e-300, 1.7976931348623157e300, 123456789012345678.0};
  weft::workload_builder b;
  const auto n = 1 + random.below(24);
  std::vector<weft::kind_set> allowed;
  std::vector<std::uint32_t> outputs;
  for (std::uint32_t v = 0; v < n; ++v) {
    weft::op o;
    o.work = random.below(2) == 0 ? works[random.below(works.size())] : random.uniform(0, 1e9);
    o.resident_bytes = random.below(3) == 0 ? random() >> 12 : random.below(1000);
    o.kinds = kinds[random.below(f.kind_sets ? kinds.size() : 3)];
    outputs.push_back(f.several_outputs ? random.below(4) : 1);
    if (f.labels) {
      o.name = names[random.below(names.size())];
      o.type = std::vector<std::string>{"", "MatMul", "Conv2D"}[random.below(3)];
    }
    o.memory = static_cast<weft::output_memory>(v % 3);
    allowed.push_back(o.kinds);
    b.add_op(std::move(o));
    for (std::uint32_t k = 0; k < outputs.back(); ++k) {
      b.add_output(v, random.below(3) == 0 ? 0 : random.below(1'000'000));
    }
  }
  std::vector<weft::op_id> order(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    order[i] = i;
  }
  random.shuffle(order);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = i + 1; j < n; ++j) {
      for (std::uint32_t k = 0; k < outputs[order[i]]; ++k) {
        if (random.below(5) == 0) {
          b.add_edge(order[i], order[j], k);
        }
      }
    }
  }
  for (int i = 0; i < 4; ++i) {
    if (const auto a = random.below(n), c = random.below(n); allowed[a] == allowed[c]) {
      b.colocate(a, c);
    }
  }
  return std::move(b).build();
}

/// Random switches and cables, or enclosures; one device in four has a switch of its own, so that all are joined.
inline weft::link_matrix random_network(weft::rng& random, std::size_t devices, bool named) {
  const auto some_link = [&] {
    return weft::link{random.below(2) == 0 ? 0 : random.uniform(0, 1e-3),
                      random.below(4) == 0 ? std::numeric_limits<double>::infinity() : random.uniform(1, 1e11),
                      random.below(2) == 0 ? 0 : random.uniform(0, 1e-9)};
  };
  if (random.below(4) == 0) {
    const std::vector<weft::link> levels{some_link(), some_link(), some_link()};
    return {devices, weft::hierarchical_links{levels, {1 + random.below(3), 1 + random.below(3)}, devices}};
  }
  weft::interconnect_builder b{devices, {.through_devices = random.below(3) == 0, .spread = random.below(2) == 0}};
  const auto hub = named ? b.add_switch("hub") : b.add_switch();
  for (const weft::device_id d : weft::ids(devices)) {
    const auto own = random.below(4) == 0 ? named && d != 1 ? b.add_switch("port" + std::to_string(d)) : b.add_switch()
                                          : hub;
    b.join(d, own, some_link(), some_link());
    if (own != hub) {
      b.join(own, hub, some_link());
    }
    if (d > 0 && random.below(2) == 0) {
      b.join(d, d - 1, some_link());
    }
  }
  if (devices > 2 && random.below(2) == 0) {
    const auto bus = b.add_link(some_link());
    b.set_route(0, 2, {bus});
    b.set_route(2, 0, {bus});
  }
  weft::link_matrix links{std::move(b).build()};
  if (devices > 1 && random.below(3) == 0) {
    links.set(1, 0, some_link());
  }
  return links;
}

/// A random platform of 1 to 8 devices.
inline weft::platform<> random_platform(weft::rng& random) {
  const auto n = 1 + random.below(8);
  std::vector<weft::device> devices;
  std::vector<std::string> names;
  for (std::uint32_t d = 0; d < n; ++d) {
    weft::device what{static_cast<weft::device_kind>(random.below(8)), random.uniform(1, 1e13)};
    if (random.below(2) == 0) {
      what.memory_capacity = random();
      what.memory_bandwidth = random.uniform(1, 1e12);
      what.slots = 1 + random.below(4);
    }
    if (random.below(3) == 0) {
      what.idle_watts = random.below(2) == 0 ? 0 : random.uniform(0, 100);
      what.active_watts = what.idle_watts + random.uniform(0, 500);
    }
    if (random.below(3) == 0) {
      what.send_overhead = random.uniform(0, 1);
    }
    what.reached_rates = random.below(3) == 0;
    const auto copies = d + 2 < n && random.below(3) == 0 ? 2u : 1u;
    devices.insert(devices.end(), copies, what);
    d += copies - 1;
  }
  const auto energy = [&] { return random.below(2) == 0 ? 0 : random.uniform(0, 1e-9); };
  weft::link_matrix links{n, {random.below(2) == 0 ? 0 : 1e-6, random.uniform(1, 1e11), energy()}};
  if (random.below(3) != 0) {
    for (weft::device_id d = 0; d < n; ++d) {
      for (weft::device_id e = 0; e < n; ++e) {
        weft::link l{.latency = random.below(2) == 0 ? 0 : random.uniform(0, 1e-3)};
        if (random.below(4) != 0) {
          l.bandwidth = random.uniform(1, 1e11);
        }
        l.joules_per_byte = energy();
        links.set(d, e, l);
      }
    }
  }
  const bool named = random.below(2) == 0;
  if (n > 1 && random.below(2) == 0) {
    links = random_network(random, n, named);
  }
  weft::platform<> p{devices, links, random.below(2) == 0 ? 0 : random.uniform(0, 100)};
  if (named) {
    for (weft::device_id d = 0; d < n; ++d) {
      names.push_back(random.below(3) == 0 ? "" : "device " + std::to_string(d));
    }
    p.set_names(names);
  }
  return p;
}

/// What `write(stream)` writes.
template <class Write>
std::string text_of(Write&& write) {
  std::ostringstream out;
  write(static_cast<std::ostream&>(out));
  return out.str();
}

/// The `weft::parse_error` that `run()` throws; one without a file if it throws none.
template <class Run>
weft::parse_error parse_error_of(Run&& run) {
  try {
    run();
  } catch (const weft::parse_error& e) {
    return e;
  }
  return {"", 0, "nothing was thrown"};
}

/// What `Reader` says of a text that it refuses.
template <class Reader>
std::string refusal(const std::string& text) {
  return parse_error_of([&] { static_cast<void>(Reader::read(text, "in")); }).what();
}

/// A text with some of its characters changed, left out or doubled, or with pieces of it moved.
inline std::string damaged(weft::rng& random, std::string text) {
  static const std::string likely = "0123456789-.eE,;:\"\\[]{} \n\r\tNOCPUx\xff";
  for (auto changes = 1 + random.below(3); changes > 0 && !text.empty(); --changes) {
    const auto at = random.below(text.size());
    switch (random.below(5)) {
    case 0: text[at] = likely[random.below(likely.size())]; break;
    case 1: text.insert(at, 1, likely[random.below(likely.size())]); break;
    case 2: text.erase(at, 1 + random.below(8)); break;
    case 3: text.insert(random.below(text.size()), text.substr(at, random.below(40))); break;
    default: text.resize(at); break;
    }
  }
  return text;
}

/// Calls `read(text)`; true if it returns or throws a `weft::error` of one line. Lets other exceptions through.
template <class Read>
bool reads_or_refuses(Read&& read, const std::string& text) {
  try {
    read(text);
    return true;
  } catch (const weft::error& e) {
    return std::string{e.what()}.find('\n') == std::string::npos;
  }
}

} // namespace weft_test
