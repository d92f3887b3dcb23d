// SPDX-License-Identifier: BSL-1.0
/// Writes a placement into an ONNX model.
#pragma once

#include "weft/interop/onnx/wire.hpp"
#include "weft/io/text.hpp"
#include "weft/plan/plan.hpp"

#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace weft::onnx {

namespace detail {

/// An entry of `metadata_props`.
inline std::string property(std::string_view key, std::string_view text) {
  return io::protobuf::message(1, key, 2, text);
}
inline bool has_key(std::string_view property, std::string_view key) { return wire::text_in(property, 1) == key; }
/// True if a field of a model is what `write_placed` adds to it.
inline bool is_placement(const wire::field& f) {
  return f.number == 14 && (has_key(f.bytes, "weft.devices") || has_key(f.bytes, "weft.placement"));
}

/// The model with what a placement says.
inline std::string placed_model(std::string_view bytes, const placement& p, std::span<const std::string> devices,
                                const std::string& file) {
  std::size_t next = 0; // number of the next node
  const auto node = [&](std::string_view body) {
    const device_id d = next < p.size() ? p[next] : none;
    if (d != none && d >= devices.size()) {
      throw value_error("placement of node " + std::to_string(next), "there is no device " + std::to_string(d) +
                                                                       ", only " + std::to_string(devices.size()) +
                                                                       " names");
    }
    ++next;
    auto out = io::protobuf::rewritten(body, [](std::string&, const wire::field& f) {
      return f.number == 9 && has_key(f.bytes, "weft.device");
    });
    if (d != none) {
      wire::put(out, 9, property("weft.device", devices[d]));
    }
    return out;
  };
  auto out = io::protobuf::rewritten(bytes, [&](std::string& model, const wire::field& f) {
    if (f.number == 7) {
      wire::put(model, 7, io::protobuf::rewritten(f.bytes, [&](std::string& graph, const wire::field& part) {
        const bool is_node = part.number == 1 && part.kind == wire::kind::bytes;
        if (is_node) {
          wire::put(graph, 1, node(part.bytes));
        }
        return is_node;
      }));
    }
    return f.number == 7 || is_placement(f);
  });
  if (next != p.size()) {
    throw value_error("placement", "has " + std::to_string(p.size()) + " ops, but " + file + " has " +
                                     std::to_string(next) + " nodes");
  }
  auto places = nlohmann::json::array();
  for (const device_id d : p) {
    places.push_back(d == none ? nlohmann::json() : nlohmann::json(d));
  }
  for (const auto& [key, list] : {std::pair{"weft.devices", nlohmann::json(devices)}, {"weft.placement", places}}) {
    wire::put(out, 14, property(key, list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  }
  return out;
}

} // namespace detail

/// Writes the model again with the device of each node, and nothing else changed, byte by byte:
/// - each node's `metadata_props` gets `weft.device` = the name of its device. ONNX has this field since 1.16; older
///   versions keep it without a look at it.
/// - the model's `metadata_props`, which every version has, get `weft.devices`, a JSON list of the names, and
///   `weft.placement`, a JSON list with the number of the device per node, in the order of the file (null: not placed).
///
/// What an earlier call wrote is replaced. `bytes` is the model as read, `p` has a device per op of its workload.
/// Throws `value_error` if ops and nodes, or devices and names, do not match, `parse_error` (which calls the model
/// `file`) if the bytes are no model. Complexity: O(size).
inline void write_placed(std::ostream& out, std::string_view bytes, const placement& p,
                         std::span<const std::string> device_names, const std::string& file = "<model>") {
  if (!wire::is_model(bytes)) {
    throw parse_error(file, 0, "not an ONNX model: it does not start like a ModelProto with a graph");
  }
  try {
    out << detail::placed_model(bytes, p, device_names, file);
  } catch (const value_error&) {
    throw;
  } catch (const error& e) {
    throw parse_error(file, 0, e.what());
  }
}

} // namespace weft::onnx
