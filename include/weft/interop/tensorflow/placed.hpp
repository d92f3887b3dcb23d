// SPDX-License-Identifier: BSL-1.0
/// Writes a placement into a TensorFlow graph.
#pragma once

#include "weft/interop/tensorflow/content.hpp"
#include "weft/interop/tensorflow/graph.hpp"
#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/text_printer.hpp"
#include "weft/platform/concepts.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tensorflow {

/// TensorFlow's names for the devices of a platform: those of a kind are numbered in order, so the second GPU is
/// `/device:GPU:1`. Complexity: O(devices).
template <class P>
std::vector<std::string> device_names(const P& platform) {
  std::array<std::uint32_t, 64> count{};
  std::vector<std::string> names;
  for (const device_id d : ids(platform.num_devices())) {
    const device_kind kind = platform.kind(d);
    names.push_back("/device:" + io::upper(to_string(kind)) + ":" +
                    std::to_string(count[static_cast<std::size_t>(kind)]++));
  }
  return names;
}

namespace detail {

/// The node with another device, all other fields as they are and where they are.
inline std::string with_device(std::string_view node, std::string_view device) {
  std::string result;
  bool written = false;
  for (const auto& f : wire::fields{node}) {
    if (f.number >= 4 && !written) {
      wire::put(result, 4, device);
      written = true;
    }
    if (f.number != 4) {
      result += f.whole;
    }
  }
  if (!written) {
    wire::put(result, 4, device);
  }
  return result;
}

/// `name_of(v)` is the device of node v, empty to leave it as it is.
template <class NameOf>
std::string with_devices_binary(std::string_view bytes, const NameOf& name_of) {
  std::string result;
  op_id v = 0;
  for (const auto& f : wire::fields{bytes}) {
    const std::string_view name = f.number == 1 ? name_of(v++) : std::string_view{};
    if (name.empty()) {
      result += f.whole;
    } else {
      wire::put(result, 1, std::string_view{with_device(f.bytes, name)});
    }
  }
  return result;
}

template <class NameOf>
std::string with_devices_text(std::string_view text, const std::vector<device_place>& places, const NameOf& name_of) {
  std::string result;
  std::size_t done = 0;
  for (op_id v = 0; v < places.size(); ++v) {
    const auto& [first, last, given] = places[v];
    const auto name = name_of(v);
    if (name.empty()) {
      continue;
    }
    result += text.substr(done, first - done);
    if (!given) { // on a line of its own if the field before is
      const auto line = text.substr(0, first).rfind('\n');
      const auto start = line == text.npos ? 0 : line + 1;
      const auto indent = text.substr(start, text.find_first_not_of(" \t", start) - start);
      const bool own_line = line != text.npos && text.substr(start, first - start).find('{') == text.npos;
      result += own_line ? "\n" + std::string{indent} + "device: " : std::string{" device: "};
    }
    result += quoted(name);
    done = last;
  }
  result += text.substr(done);
  return result;
}

/// Per node of a graph the device that a placement of ops says or implies; `none` where it does neither.
template <class Workload>
std::vector<device_id> places_of_nodes(const graph& g, const Workload& ops, std::span<const device_id> placement) {
  std::vector<device_id> where(g.num_nodes(), none);
  std::vector<bool> is_op(g.num_nodes(), false);
  for (const op_id v : ids(ops.num_ops())) {
    if (const auto node = g.find(ops.name(v))) {
      where[*node] = placement[v];
      is_op[*node] = true;
    }
  }
  const auto placed = where;
  for (op_id v = 0; v < g.num_nodes(); ++v) {
    if (is_op[v]) {
      continue;
    }
    const auto follow = [&](op_id other) { where[v] = where[v] == none ? placed[other] : where[v]; };
    const auto with = attribute(g[v], "_class");
    for (const auto& f : wire::fields{with ? text_field(*with, 1) : std::string_view{}}) {
      if (f.number == 2 && f.bytes.starts_with("loc:@")) {
        if (const auto other = g.find(f.bytes.substr(5))) {
          follow(*other);
        }
      }
    }
    const auto inputs = g.inputs(v);
    const auto first = std::ranges::find(inputs, false, &source::is_control);
    if (runs_with_its_variable(g[v].op) && first != inputs.end()) {
      follow(first->from);
    }
  }
  return where;
}

} // namespace detail

/// Writes the GraphDef `bytes`, as text or binary like it, with the device of each node that is an op of `ops` set to
/// `names[placement[op]]`, and nothing else changed, not even comments. Nodes and ops are matched by name, so `ops` may
/// have fewer ops than the graph has nodes, or more, as a training step made of it. The other nodes keep their devices,
/// and so do ops placed on `none`; but what TensorFlow would refuse to run elsewhere than a node that is placed goes
/// with it: updates in place, such as the assignments that initialise a variable, and what is colocated by name.
/// Placement: an entry per op. Names: as `device_names` gives them.
/// Throws `parse_error` for what is no GraphDef, `error` if placement or names are too short.
/// Complexity: O(size).
template <class Workload>
void write_placed(std::ostream& out, std::string_view bytes, const Workload& ops, std::span<const device_id> placement,
                  std::span<const std::string> names, const std::string& file = "graph") {
  const auto what = detail::content_of(bytes);
  if (what.message != schema::message_id::graph_def) {
    throw parse_error(file, 0, "not a GraphDef of TensorFlow's, so there are no devices to set");
  }
  std::vector<device_place> places;
  const auto result = detail::in_file(file, bytes, {}, [&] {
    const auto converted = what.is_text ? from_text(bytes, what.message, file, &places) : std::string{};
    const auto g = graph::of_graph_def(what.is_text ? std::string_view{converted} : bytes);
    if (placement.size() != ops.num_ops()) {
      throw error("the placement has " + std::to_string(placement.size()) + " entries for " +
                  std::to_string(ops.num_ops()) + " ops");
    }
    for (const op_id v : ids(placement.size())) {
      if (placement[v] != none && placement[v] >= names.size()) {
        throw error("op " + std::to_string(v) + " is placed on device " + std::to_string(placement[v]) +
                    ", but there are names for " + std::to_string(names.size()));
      }
    }
    const auto where = detail::places_of_nodes(g, ops, placement);
    const auto name_of = [&](op_id v) -> std::string_view {
      return where[v] == none ? std::string_view{} : names[where[v]];
    };
    return what.is_text ? detail::with_devices_text(bytes, places, name_of)
                        : detail::with_devices_binary(bytes, name_of);
  });
  out << result;
}

} // namespace weft::tensorflow
