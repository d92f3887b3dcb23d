// SPDX-License-Identifier: BSL-1.0
/// Reads and writes the JSON files of the device-placement study of Tarnawski et al.; see docs/throughput.md.
#pragma once

#include "weft/cost/staged.hpp"
#include "weft/io/detail/json_document.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/views/edges.hpp"
#include "weft/workload/builder.hpp"

#include <cmath>
#include <exception>
#include <istream>
#include <limits>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

/// A workload on accelerators and CPU cores that meet in host memory. **Times are in milliseconds**, as in the files,
/// so every result is, too.
struct dnn_partitioning {
  using problem_type = weft::problem<workload, platform<uniform_links>, weft::cost::staged>;

  workload ops;
  platform<uniform_links> devices; ///< the accelerators (of kind fpga), then the CPU cores
  weft::cost::staged cost;
  std::vector<std::int64_t> ids; ///< the id in the file of each op

  /// The problem to solve; refers to this object, which must outlive it and stay where it is.
  problem_type problem() const { return {ops, devices, cost}; }
};

/// The largest number of accelerators and of CPU cores that a file may ask for.
inline constexpr std::uint64_t max_partitioning_devices = 1000;

namespace detail {

/// The nodes and edges of a file, checked one by one and as a whole.
class partitioning_reader {
public:
  /// The work of an op is its time on accelerators, or on CPU cores if it runs on these only, in milliseconds over
  /// `milliseconds_per_work`.
  explicit partitioning_reader(const json_value& root, double milliseconds_per_work = 1)
      : root_{root}, milliseconds_per_work_{milliseconds_per_work} {}

  dnn_partitioning read() {
    root_.object({"maxSizePerFPGA", "maxFPGAs", "maxCPUs", "nodes", "edges"});
    auto devices = read_devices();
    const auto nodes = root_.at("nodes");
    nodes.array("a list of nodes");
    for (const json_value& node : nodes) {
      read_node(node);
    }
    const auto edges = root_.at("edges");
    edges.array("a list of edges");
    std::size_t i = 0;
    for (const json_value& edge : edges) {
      read_edge(edge, i++);
    }
    std::vector<double> transfer; // tensors are numbered by producer
    for (const double cost : transfer_) {
      if (cost >= 0) {
        transfer.push_back(cost);
      }
    }
    times_.transfer = std::move(transfer);
    return {build(nodes), {std::move(devices), uniform_links{}}, cost::staged{std::move(times_)}, std::move(ids_)};
  }

private:
  static constexpr double bytes_limit = 0x1p62;

  std::vector<device> read_devices() const {
    const auto capacity = root_.at("maxSizePerFPGA").number();
    const auto accelerators = root_.at("maxFPGAs").whole(0, max_partitioning_devices);
    const auto cores = root_.at("maxCPUs").whole(0, max_partitioning_devices);
    if (accelerators + cores == 0) {
      root_.fail("there is no device: maxFPGAs or maxCPUs must be at least 1");
    }
    device accelerator{.kind = device_kind::fpga};
    if (capacity < bytes_limit) {
      accelerator.memory_capacity = static_cast<byte_count>(capacity);
    }
    std::vector<device> devices(accelerators, accelerator);
    devices.resize(accelerators + cores, device{.kind = device_kind::cpu});
    return devices;
  }

  static bool flag(const json_value& value) {
    const bool number = value.token() == "0" || value.token() == "1";
    return number ? value.token() == "1" : value.boolean();
  }

  void read_node(const json_value& node) {
    node.object({"id", "name", "supportedOnFpga", "cpuLatency", "fpgaLatency", "isBackwardNode", "colorClass", "size",
                 "layerId"});
    const auto v = static_cast<op_id>(ids_.size());
    const auto id = node.at("id");
    if (const auto [other, is_new] = op_of_.emplace(id.integer(), v); !is_new) {
      id.fail("the id " + std::to_string(other->first) + " was given to /nodes/" + std::to_string(other->second) +
              "; ids must differ");
    }
    ids_.push_back(id.integer());
    const auto size = node.at("size");
    const double bytes = std::ceil(size.number());
    size.expect(bytes < bytes_limit, "less than 2^62 bytes");
    times_.host.push_back(node.at("cpuLatency").number());
    times_.accelerator.push_back(node.at("fpgaLatency").number());
    const bool accelerated = flag(node.at("supportedOnFpga"));
    op o{.work = (accelerated ? times_.accelerator : times_.host).back() / milliseconds_per_work_,
         .resident_bytes = static_cast<byte_count>(bytes)};
    if (const auto name = node.find("name")) {
      o.name = name->text();
    }
    if (!accelerated) {
      o.kinds = device_kind::cpu;
    }
    const auto backward = node.find("isBackwardNode");
    o.type = backward && flag(*backward) ? "backward" : "forward";
    builder_.add_op(std::move(o));
    transfer_.push_back(-1);
    first_edge_.push_back(0);
    if (const auto color = node.find("colorClass"); color && !color->is_null()) {
      const auto [first, is_new] = class_of_.emplace(color->integer(), v);
      if (!is_new) {
        builder_.colocate(first->second, v);
      }
    }
  }

  op_id op_at(const json_value& id) const {
    const auto found = op_of_.find(id.integer());
    if (found == op_of_.end()) {
      id.fail("there is no node with the id " + std::to_string(id.integer()));
    }
    return found->second;
  }

  void read_edge(const json_value& edge, std::size_t i) {
    edge.object({"sourceId", "destId", "cost", "size"});
    const auto from = op_at(edge.at("sourceId"));
    const auto to = op_at(edge.at("destId"));
    const auto cost = edge.at("cost");
    const double time = cost.number();
    if (const auto size = edge.find("size")) {
      (void)size->number();
    }
    if (from == to) {
      edge.fail("goes from node " + std::to_string(ids_[from]) + " to itself");
    }
    if (const auto [other, is_new] = edges_.emplace(std::pair{from, to}, i); !is_new) {
      edge.fail("is the same as /edges/" + std::to_string(other->second) + "; list each edge once");
    }
    if (transfer_[from] < 0) {
      transfer_[from] = time;
      first_edge_[from] = i;
      builder_.add_output(from, 0);
    } else if (transfer_[from] != time) {
      cost.fail("node " + std::to_string(ids_[from]) + " has one output, but its cost here is " + number_text(time) +
                " and in /edges/" + std::to_string(first_edge_[from]) + " it is " + number_text(transfer_[from]) +
                "; all out-edges of a node must have the same cost");
    }
    builder_.add_edge(from, to);
  }

  /// Problems of the whole are told with the ids of the file.
  workload build(const json_value& nodes) {
    try {
      return std::move(builder_).build();
    } catch (const cycle_error& e) {
      std::string way;
      for (const op_id v : e.ops) {
        way += std::to_string(ids_[v]) + " -> ";
      }
      std::throw_with_nested(
        nodes[e.ops.front()].located("the graph has a cycle: " + way + std::to_string(ids_[e.ops.front()]) +
                                     "; a dataflow graph must be acyclic (unroll loops first)"));
    } catch (const error& e) {
      std::throw_with_nested(nodes.located(e.what()));
    }
  }

  const json_value& root_;
  double milliseconds_per_work_;
  workload_builder builder_;
  cost::staged::columns times_;
  std::vector<double> transfer_;         // per op; negative without an out-edge
  std::vector<std::size_t> first_edge_;  // per op
  std::vector<std::int64_t> ids_;
  std::map<std::int64_t, op_id> op_of_;
  std::map<std::int64_t, op_id> class_of_; // the first op of each colour
  std::map<std::pair<op_id, op_id>, std::size_t> edges_;
};

inline dnn_partitioning dnn_partitioning_from_json(const json_document& document, double milliseconds_per_work = 1) {
  const json_value root{document};
  return partitioning_reader{root.object(), milliseconds_per_work}.read();
}

} // namespace detail

/// Whether a text is meant to be such a file, judged by the names of its settings.
inline bool is_dnn_partitioning(std::string_view text) {
  return detail::outermost_value(text, "maxSizePerFPGA") && detail::outermost_value(text, "maxFPGAs");
}

/// Reads a file. Nodes become ops in their order; `size` is resident bytes, rounded up; `supportedOnFpga: false`
/// confines an op to CPU cores; equal `colorClass` is a colocation group; the type of an op is "forward" or
/// "backward". A node with out-edges has one tensor of *no* bytes, since the format counts only `size` as memory; the
/// `size` of edges is ignored. Accelerators have `maxSizePerFPGA` bytes, CPU cores no limit.
/// Throws `parse_error` with file, line and the path of the value; costs that differ among a node's out-edges are
/// refused. `file` is what errors call the input.
inline dnn_partitioning read_dnn_partitioning(std::istream& in, const std::string& file = "<stream>") {
  const std::string text = read_all(in, file);
  return detail::dnn_partitioning_from_json({text, file});
}
/// The same from a file. Throws `error` if it cannot be opened.
inline dnn_partitioning read_dnn_partitioning(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_dnn_partitioning(in, path.string());
}

/// Reads the ops of such a file for `read_model`: work is seconds on the accelerators, which are the devices that
/// `model::seconds` are of, and on CPU cores for ops that run on these only. Where a transfer goes and how long it
/// takes is in the file, but not in a workload.
struct dnn_partitioning_reader {
  static constexpr std::string_view format() { return "dnn-partitioning JSON"; }
  static bool recognises(std::string_view bytes) { return is_dnn_partitioning(bytes); }
  static model read(std::string_view bytes, const std::string& file) {
    auto x = detail::dnn_partitioning_from_json({bytes, file}, 1000);
    model m;
    m.ops = std::move(x.ops);
    m.format = format();
    m.unit = work_unit::seconds;
    m.measured_on = device_kind::fpga;
    std::size_t elsewhere = 0;
    for (const op_id v : weft::ids(m.ops.num_ops())) {
      const bool here = m.ops.kinds(v).contains(device_kind::fpga);
      m.seconds.push_back(here ? m.ops.work(v) : std::numeric_limits<double>::quiet_NaN());
      elsewhere += here ? 0 : 1;
    }
    m.notes.push_back("the file gives transfers as times, not sizes, so tensors have no bytes here");
    if (elsewhere > 0) {
      m.notes.push_back(counted(elsewhere, "{op runs|ops run} on CPU cores only; {its|their} work is the time there"));
    }
    return m;
  }
};

/// Writes a file that reads back as the same problem.
inline void write_dnn_partitioning(std::ostream& out, const dnn_partitioning& x) {
  using json = nlohmann::ordered_json;
  const auto& w = x.ops;
  std::size_t accelerators = 0;
  byte_count capacity = 0;
  for (const device_id d : weft::ids(x.devices.num_devices())) {
    if (x.devices.kind(d) != device_kind::cpu) {
      ++accelerators;
      capacity = x.devices.memory_capacity(d);
    }
  }
  out << "{\n  \"maxSizePerFPGA\": " << capacity << ",\n  \"maxFPGAs\": " << accelerators
      << ",\n  \"maxCPUs\": " << x.devices.num_devices() - accelerators << ",\n  \"nodes\": [";
  for (const op_id v : weft::ids(w.num_ops())) {
    json node{{"id", x.ids[v]},
              {"name", std::string{w.name(v)}},
              {"supportedOnFpga", w.kinds(v).contains(device_kind::fpga)},
              {"cpuLatency", detail::json_number(x.cost.times().host[v])},
              {"fpgaLatency", detail::json_number(x.cost.times().accelerator[v])},
              {"isBackwardNode", w.type(v) == "backward"}};
    if (w.group(v) != none) {
      node["colorClass"] = w.group(v);
    }
    node["size"] = w.resident_bytes(v);
    out << (v == 0 ? "\n    " : ",\n    ") << detail::one_line(node);
  }
  out << "\n  ],\n  \"edges\": [";
  bool first = true;
  for (const auto& [source, target, tensor] : views::edges(w)) {
    out << (first ? "\n    " : ",\n    ")
        << detail::one_line(json{{"sourceId", x.ids[source]},
                                 {"destId", x.ids[target]},
                                 {"cost", detail::json_number(x.cost.times().transfer[tensor])}});
    first = false;
  }
  out << "\n  ]\n}\n";
}

} // namespace weft::io
