// SPDX-License-Identifier: BSL-1.0
/// Writes a placement into an ONNX model.
#pragma once

#include "weft/interop/onnx/wire.hpp"
#include "weft/io/text.hpp"
#include "weft/plan/plan.hpp"

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace weft::onnx {

namespace detail {

/// An entry of `metadata_props`.
inline std::string property(std::string_view key, std::string_view text) {
  std::string entry;
  wire::append_field(entry, 1, key);
  wire::append_field(entry, 2, text);
  return entry;
}

inline bool has_key(std::string_view property, std::string_view key) {
  wire::reader fields{property};
  while (const auto f = fields.next()) {
    if (f->number == 1 && f->content == key) {
      return true;
    }
  }
  return false;
}

/// Copies models field by field and adds what a placement says.
class placement_writer {
public:
  placement_writer(const placement& p, std::span<const std::string> devices, const std::string& file)
      : p_{p}, devices_{devices}, file_{file} {}

  std::string model(std::string_view bytes) {
    std::string out;
    wire::reader fields{bytes};
    while (const auto f = fields.next()) {
      if (f->number == 7 && f->complete) {
        wire::append_field(out, 7, graph(f->content));
      } else if (f->number != 14 || !(has_key(f->content, "weft.devices") || has_key(f->content, "weft.placement"))) {
        out += f->whole;
      }
    }
    check(fields);
    if (next_ != p_.size()) {
      throw value_error("placement", "has " + std::to_string(p_.size()) + " ops, but " + file_ + " has " +
                                       std::to_string(next_) + " nodes");
    }
    nlohmann::json names = nlohmann::json::array();
    for (const auto& name : devices_) {
      names.push_back(name);
    }
    nlohmann::json places = nlohmann::json::array();
    for (const device_id d : p_) {
      places.push_back(d == none ? nlohmann::json() : nlohmann::json(d));
    }
    const auto text = [](const nlohmann::json& j) {
      return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    wire::append_field(out, 14, property("weft.devices", text(names)));
    wire::append_field(out, 14, property("weft.placement", text(places)));
    return out;
  }

private:
  void check(const wire::reader& fields) const {
    if (!fields.ok()) {
      throw parse_error(file_, 0, "the model is damaged or truncated: its bytes are no complete ModelProto");
    }
  }

  std::string graph(std::string_view bytes) {
    std::string out;
    wire::reader fields{bytes};
    while (const auto f = fields.next()) {
      if (f->number == 1 && f->kind == wire::kind::bytes) {
        wire::append_field(out, 1, node(f->content));
      } else {
        out += f->whole;
      }
    }
    check(fields);
    return out;
  }

  std::string node(std::string_view bytes) {
    const device_id d = next_ < p_.size() ? p_[next_] : none;
    if (d != none && d >= devices_.size()) {
      throw value_error("placement of node " + std::to_string(next_), "there is no device " + std::to_string(d) +
                                                                        ", only " + std::to_string(devices_.size()) +
                                                                        " names");
    }
    ++next_;
    std::string out;
    wire::reader fields{bytes};
    while (const auto f = fields.next()) {
      if (f->number != 9 || !has_key(f->content, "weft.device")) {
        out += f->whole;
      }
    }
    check(fields);
    if (d != none) {
      wire::append_field(out, 9, property("weft.device", devices_[d]));
    }
    return out;
  }

  const placement& p_;
  std::span<const std::string> devices_;
  const std::string& file_;
  std::size_t next_ = 0; // number of the next node
};

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
  const auto written = detail::placement_writer{p, device_names, file}.model(bytes);
  out.write(written.data(), static_cast<std::streamsize>(written.size()));
}

} // namespace weft::onnx
