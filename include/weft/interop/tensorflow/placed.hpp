// SPDX-License-Identifier: BSL-1.0
/// Writes a placement into a TensorFlow graph.
#pragma once

#include "weft/interop/tensorflow/content.hpp"
#include "weft/interop/tensorflow/device_name.hpp"
#include "weft/interop/tensorflow/functions.hpp"
#include "weft/interop/tensorflow/saved_model.hpp"
#include "weft/interop/tensorflow/text_format.hpp"
#include "weft/platform/concepts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
  bool written = false;
  auto result = wire::rewritten(node, [&](std::string& out, const wire::field& f) {
    if (f.number >= 4 && !std::exchange(written, true)) {
      wire::put(out, 4, device);
    }
    return f.number == 4;
  });
  if (!written) {
    wire::put(result, 4, device);
  }
  return result;
}

/// `name_of(body)` is the device of a node, empty to leave it as it is. What no node changes in stays byte by byte.
template <class NameOf>
std::string with_devices_binary(std::string_view bytes, schema::message_id id, const NameOf& name_of) {
  return wire::rewritten(bytes, [&](std::string& out, const wire::field& f) {
    const auto inner = holds_nodes(id, f.number);
    const bool is_node = inner == schema::message_id::node_def;
    const auto name = is_node ? name_of(f.bytes) : std::string_view{};
    if (inner == schema::message_id::none || (is_node && name.empty())) {
      return false;
    }
    const auto changed = is_node ? with_device(f.bytes, name) : with_devices_binary(f.bytes, inner, name_of);
    if (changed != f.bytes) {
      wire::put(out, f.number, changed);
    }
    return changed != f.bytes;
  });
}

template <class NameOf>
std::string with_devices_text(std::string_view text, const encoded_file& in, const NameOf& name_of) {
  std::string result;
  std::size_t done = 0;
  std::size_t v = 0;
  for_each_node(in.bytes, in.message, [&](std::string_view body) {
    const auto& [first, last, given] = in.places[v++];
    const auto name = name_of(body);
    if (name.empty()) {
      return;
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
  });
  result += text.substr(done);
  return result;
}

/// The devices of the nodes of a graph and of its functions, found from a placement of ops that were made of them.
class node_places {
public:
  explicit node_places(function_library& functions) : functions_{functions} {}

  /// The op of that name, which may be none of a node, is on device d.
  void place(std::string_view op, device_id d) {
    const auto at = functions_.locate(op);
    if (!at) {
      return;
    }
    const auto [found, is_new] = bodies_.try_emplace(at->body);
    auto& b = found->second;
    if (is_new) {
      b.where.assign(at->body->nodes.num_nodes(), none);
      b.is_op.assign(at->body->nodes.num_nodes(), false);
    }
    const auto name = at->body->nodes[at->node].name;
    const auto call = std::string{op.substr(0, op.size() - name.size())};
    b.call = b.call.empty() ? call : b.call;
    if (!b.is_op[at->node]) {
      b.where[at->node] = d;
      b.is_op[at->node] = true;
    } else if (b.where[at->node] != d && call != b.call) {
      auto& [other, count] = b.different;
      other = count++ == 0 ? call : other;
    }
  }

  /// The device of each node that has one, by its encoded bytes: what a placement says, or implies, as nodes go with
  /// the variable that they need and with those that they are colocated with. `notes` gets what could not be written.
  std::unordered_map<const char*, device_id> devices(std::vector<std::string>& notes) const {
    std::unordered_map<const char*, device_id> result;
    std::map<std::string_view, std::string> sorted;
    for (const auto& [of, b] : bodies_) {
      for (op_id v = 0; v < b.where.size(); ++v) {
        const auto d = b.is_op[v] ? b.where[v] : implied(functions_.whole(), of->nodes, b.where, v);
        if (d != none) {
          result.emplace(of->nodes[v].body.data(), d);
        }
      }
      if (const auto& [other, count] = b.different; count > 0) {
        const auto name = [](std::string_view call) { return io::in_quotes(call.substr(0, call.size() - 1)); };
        sorted[of->name] = "function " + io::in_quotes(of->name) +
                           " has one device per node, but its calls are placed differently: those of " + name(b.call) +
                           " are written, unlike " + io::counted(count, "{op|ops} of others, such as ") + name(other);
      }
    }
    for (auto& [name, text] : sorted) {
      notes.push_back(std::move(text));
    }
    return result;
  }

private:
  struct body {
    std::vector<device_id> where = {}; ///< of what is an op
    std::vector<bool> is_op = {};
    std::string call = {};        ///< of the first op; with the slash behind
    std::pair<std::string, std::size_t> different = {}; ///< another call, and how many ops are elsewhere
  };

  static device_id implied(const graph& whole, const graph& g, const std::vector<device_id>& placed, op_id v) {
    for (const auto name : colocated_with(g[v])) {
      const auto other = g.find(name);
      if (other && placed[*other] != none) {
        return placed[*other];
      }
    }
    const auto inputs = g.inputs(v);
    const auto first = std::ranges::find(inputs, false, &source::is_control);
    return first != inputs.end() && !calls_function(whole, g[v]) &&
               runs_with_its_variable(g[v].op, g[first->from].op)
             ? placed[first->from]
             : none;
  }

  function_library& functions_;
  std::unordered_map<const function_body*, body> bodies_;
};

} // namespace detail

/// Writes the GraphDef or SavedModel `bytes`, as text or binary like it, with the device of each node that is an op of
/// `ops` set to `names[placement[op]]`, and nothing else changed, not even comments. Nodes and ops are matched by name,
/// so `ops` may have fewer ops than the graph has nodes, or more, as a training step made of it; an op `call/node` is
/// the node of the function that is called. The other nodes keep their devices, and so do ops placed on `none`; but
/// what TensorFlow would refuse to run elsewhere than a node that is placed goes with it: updates in place, such as the
/// assignments that initialise a variable, and what is colocated by name.
/// Placement: an entry per op. Names: as `device_names` gives them. Tags: of a SavedModel's graph, as for `reader`.
/// Returns notes on what could not be written: a function that is called several times has one device per node, which
/// is that of the first call.
/// Throws `parse_error` for what is no such file, `error` if placement or names are too short.
/// Complexity: O(size).
template <class Workload>
std::vector<std::string> write_placed(std::ostream& out, std::string_view bytes, const Workload& ops,
                                      std::span<const device_id> placement, std::span<const std::string> names,
                                      const std::string& file = "graph", std::string_view tags = {}) {
  const auto what = detail::content_of(bytes).message;
  if (what != schema::message_id::graph_def && what != schema::message_id::saved_model) {
    throw parse_error(file, 0, "not a GraphDef or SavedModel of TensorFlow's, so there are no devices to set");
  }
  std::vector<std::string> notes;
  const auto result = detail::in_file(file, bytes, [&](const detail::encoded_file& in) {
    std::string which;
    const bool is_saved = what == schema::message_id::saved_model;
    detail::function_library functions{
      graph::of_graph_def(is_saved ? detail::chosen_graph(in.bytes, tags, which).graph_def : in.bytes)};
    detail::require_names(placement, ops.num_ops(), names.size());
    detail::node_places where{functions};
    for (const op_id v : ids(placement.size())) {
      where.place(ops.name(v), placement[v]);
    }
    const auto devices = where.devices(notes);
    const auto name_of = [&](std::string_view node) -> std::string_view {
      const auto at = devices.find(node.data());
      return at == devices.end() ? std::string_view{} : names[at->second];
    };
    return in.is_text ? detail::with_devices_text(bytes, in, name_of)
                      : detail::with_devices_binary(in.bytes, in.message, name_of);
  });
  out << result;
  return notes;
}

} // namespace weft::tensorflow
