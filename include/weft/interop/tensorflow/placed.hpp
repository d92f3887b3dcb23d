// SPDX-License-Identifier: BSL-1.0
/// Writes a placement into a TensorFlow graph.
#pragma once

#include "weft/interop/tensorflow/content.hpp"
#include "weft/interop/tensorflow/text_printer.hpp"
#include "weft/platform/concepts.hpp"

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
    names.push_back("/device:" + io::detail::upper(to_string(kind)) + ":" +
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

} // namespace detail

/// Writes the GraphDef `bytes`, as text or binary like it, with the device of each node set to
/// `names[placement[v]]`; nodes placed on `none` keep theirs, and nothing else changes, not even comments.
/// Placement: an entry per node in the order of the file, as `reader` numbers ops. Names: as `device_names` gives them.
/// Throws `parse_error` for what is no GraphDef, `error` if placement or names are too short.
/// Complexity: O(size).
inline void write_placed(std::ostream& out, std::string_view bytes, std::span<const device_id> placement,
                         std::span<const std::string> names, const std::string& file = "graph") {
  const auto what = detail::content_of(bytes);
  if (what.message != schema::message_id::graph_def) {
    throw parse_error(file, 0, "not a GraphDef of TensorFlow's, so there are no devices to set");
  }
  std::vector<device_place> places;
  const auto result = detail::in_file(file, bytes, {}, [&] {
    const auto converted = what.is_text ? from_text(bytes, what.message, file, &places) : std::string{};
    const auto nodes = graph::of_graph_def(what.is_text ? std::string_view{converted} : bytes).num_nodes();
    if (placement.size() != nodes) {
      throw error("the placement has " + std::to_string(placement.size()) + " entries for " + std::to_string(nodes) +
                  " nodes");
    }
    const auto name_of = [&](op_id v) -> std::string_view {
      if (placement[v] == none) {
        return {};
      }
      if (placement[v] >= names.size()) {
        throw error("node " + std::to_string(v) + " is placed on device " + std::to_string(placement[v]) +
                    ", but there are names for " + std::to_string(names.size()));
      }
      return names[placement[v]];
    };
    return what.is_text ? detail::with_devices_text(bytes, places, name_of)
                        : detail::with_devices_binary(bytes, name_of);
  });
  out << result;
}

} // namespace weft::tensorflow
