// SPDX-License-Identifier: BSL-1.0
/// Measured times of ops from TensorFlow's CostGraphDef, StepStats and RunMetadata, and a CostGraphDef as a workload.
#pragma once

#include "weft/interop/tensorflow/content.hpp"
#include "weft/interop/tensorflow/device_name.hpp"
#include "weft/io/files.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/model.hpp"
#include "weft/workload/nn/shape.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::tensorflow {

/// Compute times by the names of nodes, and the shapes with which they were measured, as far as the file has them.
struct measured_costs {
  std::map<std::string, double, std::less<>> seconds = {};
  std::map<std::string, std::map<std::uint32_t, nn::extents>, std::less<>> shapes = {}; ///< per node and output
  kind_set measured_on = {}; ///< the kinds of devices on which the nodes ran; empty if the file does not say
};

namespace detail {

inline double seconds_of(std::int64_t micros) { return micros > 0 ? static_cast<double>(micros) * 1e-6 : 0; }

/// Keeps a shape if it says all extents. One without extents may be a scalar or unknown, and tells nothing here.
inline void add_shape(std::string_view node, std::int64_t port, std::string_view bytes, measured_costs& costs) {
  const auto dims = shape_of(bytes);
  if (port >= 0 && port <= 0xffff && dims && !dims->empty() && std::ranges::find(*dims, -1) == dims->end()) {
    auto& of_node = costs.shapes[std::string{node}];
    of_node[static_cast<std::uint32_t>(port)] = {dims->begin(), dims->end()};
  }
}

inline void add_cost_graph(std::string_view bytes, measured_costs& costs) {
  for (const auto& f : wire::fields{bytes, 1}) {
    std::int64_t port = 0;
    for (const auto& output : wire::fields{f.bytes, 5}) {
      add_shape(text_field(f.bytes, 1), port++, text_field(output.bytes, 3), costs);
    }
    const auto cost = integer_field(f.bytes, 9);
    costs.seconds[std::string{text_field(f.bytes, 1)}] += seconds_of(cost != 0 ? cost : integer_field(f.bytes, 14));
    costs.measured_on = costs.measured_on | parse_device(text_field(f.bytes, 2)).kinds;
  }
}

/// The name of the node that an entry is about: what GPU streams run is called `node:Op`.
inline std::string_view node_of(std::string_view name) {
  return name.substr(0, name.find(':'));
}

/// Adds the time of one entry: from the start of the op to its end, finer than microseconds where it is given so.
inline double run_time(std::string_view entry) {
  const auto nanos = integer_field(entry, 15) - integer_field(entry, 14);
  const auto micros = integer_field(entry, 4) - integer_field(entry, 3);
  const auto whole = integer_field(entry, 5); // kernels on streams have only this
  return nanos > 0 ? static_cast<double>(nanos) * 1e-9 : seconds_of(micros > 0 ? micros : whole);
}

/// Ops on a CPU are on the device's own line. What a GPU computes is on the line of its streams, and the device's own
/// line has only how long the launch took, which counts where there is nothing better.
inline void add_step_stats(std::string_view bytes, measured_costs& costs) {
  std::map<std::string, double, std::less<>> launches;
  bool all_streams = false;
  for (const auto& f : wire::fields{bytes, 1}) {
    all_streams = all_streams || text_field(f.bytes, 1).ends_with("stream:all");
  }
  for (const auto& f : wire::fields{bytes, 1}) {
    const auto device = text_field(f.bytes, 1);
    const bool stream = device.find("stream:") != device.npos;
    if (device.ends_with("memcpy") || (stream && all_streams && !device.ends_with("stream:all"))) {
      continue;
    }
    costs.measured_on = costs.measured_on | parse_device(device).kinds;
    for (const auto& entry : wire::fields{f.bytes, 2}) {
      const auto name = node_of(text_field(entry.bytes, 1));
      (stream ? costs.seconds : launches)[std::string{name}] += run_time(entry.bytes);
      for (const auto& output : wire::fields{entry.bytes, 7}) {
        add_shape(name, integer_field(output.bytes, 1), text_field(text_field(output.bytes, 3), 2), costs);
      }
    }
  }
  costs.seconds.merge(launches);
  costs.seconds.erase("");
}

/// Nodes in the order of the file; edges by their ids.
inline model read_cost_graph(std::string_view bytes) {
  workload_builder b;
  model m{.format = "TensorFlow CostGraphDef", .unit = work_unit::seconds};
  std::vector<std::string_view> nodes;
  std::unordered_map<std::int64_t, op_id> ids;
  std::unordered_map<std::string_view, op_id> names;
  std::size_t unknown_sizes = 0;
  const auto problem = [](op_id v, std::string_view name, const std::string& what) {
    return node_error({}, "node " + std::to_string(v) + " " + io::in_quotes(name) + " " + what);
  };
  for (const auto& f : wire::fields{bytes, 1}) {
    const auto v = static_cast<op_id>(nodes.size());
    const auto name = text_field(f.bytes, 1);
    const auto place = parse_device(text_field(f.bytes, 2));
    const auto id = integer_field(f.bytes, 3);
    if (name.empty() || !names.try_emplace(name, v).second) {
      throw problem(v, name, name.empty() ? "has no name" : "has a name that another node has already");
    }
    if (!ids.try_emplace(id, v).second) {
      throw problem(v, name, "has id " + std::to_string(id) + ", which another node has already");
    }
    const auto memory = std::max({std::int64_t{0}, integer_field(f.bytes, 12), integer_field(f.bytes, 16)});
    const double seconds = seconds_of(integer_field(f.bytes, 9));
    b.add_op({.work = seconds,
              .resident_bytes = static_cast<byte_count>(memory),
              .kinds = place.kinds.empty() ? kind_set::all() : place.kinds,
              .name = std::string{name}});
    m.seconds.push_back(seconds);
    m.measured_on = m.measured_on | place.kinds;
    nodes.push_back(f.bytes);
  }
  std::vector<std::int64_t> outputs(nodes.size(), 0);
  for (op_id v = 0; v < nodes.size(); ++v) {
    for (const auto& f : wire::fields{nodes[v], 5}) {
      ++outputs[v];
      const auto size = integer_field(f.bytes, 1);
      unknown_sizes += size <= 0 ? 1 : 0;
      b.add_output(v, size > 0 ? static_cast<byte_count>(size) : 0);
    }
  }
  for (op_id v = 0; v < nodes.size(); ++v) {
    const auto name = text_field(nodes[v], 1);
    const auto from = [&](std::int64_t id) {
      const auto at = ids.find(static_cast<std::int32_t>(id));
      if (at == ids.end()) {
        throw problem(v, name, "has an input from node id " + std::to_string(id) + ", but there is no such node");
      }
      return at->second;
    };
    std::vector<std::pair<op_id, std::int64_t>> read;
    std::vector<op_id> awaited;
    for (const auto& f : wire::fields{nodes[v], 4}) {
      read.emplace_back(from(integer_field(f.bytes, 1)), integer_field(f.bytes, 2));
    }
    for (const auto& f : wire::fields{nodes[v], 8}) {
      wire::for_each_integer(f, [&](std::uint64_t id) {
        awaited.push_back(from(static_cast<std::int64_t>(id)));
        return true;
      });
    }
    add_edges(b, v, std::move(read), std::move(awaited), [&](op_id producer, std::int64_t port) {
      if (port < 0 || port >= outputs[producer]) {
        throw problem(v, name, "reads output " + std::to_string(port) + " of " +
                                 io::in_quotes(text_field(nodes[producer], 1)) + ", which has " +
                                 std::to_string(outputs[producer]));
      }
      return static_cast<std::uint32_t>(port);
    });
  }
  m.ops = std::move(b).build();
  if (unknown_sizes > 0) {
    m.notes.push_back("the file gives no size for " +
                      io::counted(unknown_sizes, "{output: it counts|outputs: they count}") +
                      " as 0 bytes, so transfers cost latency only");
  }
  return m;
}

} // namespace detail

/// Times of ops from the bytes of a CostGraphDef, StepStats or RunMetadata, as text or binary; of a RunMetadata its
/// step statistics, else its cost graph. Nodes that occur several times count with the sum.
/// Throws `parse_error` for other bytes and damaged ones.
inline measured_costs read_costs(std::string_view bytes, const std::string& file) {
  const auto what = detail::content_of(bytes);
  using enum schema::message_id;
  if (what.message != cost_graph_def && what.message != step_stats && what.message != run_metadata) {
    throw parse_error(file, 0, "not a file with costs from TensorFlow: the formats understood are CostGraphDef, "
                               "StepStats and RunMetadata, as text or binary");
  }
  return detail::in_file(file, bytes, [&](const detail::encoded_file& in) {
    const auto encoded = in.bytes;
    measured_costs costs;
    if (what.message == cost_graph_def) {
      detail::add_cost_graph(encoded, costs);
    } else if (what.message == step_stats) {
      detail::add_step_stats(encoded, costs);
    } else {
      detail::add_step_stats(detail::text_field(encoded, 1), costs);
      if (costs.seconds.empty()) {
        detail::add_cost_graph(detail::text_field(encoded, 2), costs);
      }
    }
    return costs;
  });
}

/// The same from a file. Throws `error` if it cannot be opened.
inline measured_costs read_costs(const std::filesystem::path& path) {
  auto in = io::open_for_reading(path);
  return read_costs(io::read_all(in, path.string()), path.string());
}

} // namespace weft::tensorflow
