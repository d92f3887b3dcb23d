// SPDX-License-Identifier: BSL-1.0
/// Draws workloads, with or without a placement, as Graphviz DOT.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <charconv>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::io {

struct dot_options {
  bool bytes = true;             ///< label edges with the size of their tensor
  bool cluster = false;          ///< with a placement: draw a box around the ops of each device
  std::string name = "workload"; ///< name of the graph
};

namespace detail {

/// In double quotes, as DOT wants it.
inline std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (static_cast<unsigned char>(c) >= 32) {
      result += c;
    }
  }
  return result + '"';
}

inline std::string short_number(double x) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::general, 3).ptr};
}

/// A size as people write it: `512 B`, `1.5 KiB`.
inline std::string short_bytes(byte_count bytes) {
  constexpr const char* units[]{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  double x = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; x >= 1000 && unit < 6; ++unit) {
    x /= 1024;
  }
  return short_number(x) + units[unit];
}

/// A pastel fill colour; those of neighbouring numbers differ clearly (steps of the golden ratio round the colour
/// wheel).
inline std::string device_color(device_id d) {
  const double hue = d * 0.61803398875;
  return '"' + short_number(hue - static_cast<double>(static_cast<std::uint64_t>(hue))) + " 0.35 0.95\"";
}

} // namespace detail

/// Writes a directed graph with a node per op and an edge per input; edges on tensors of zero bytes (control edges)
/// are dashed. With a placement (the device of every op, `none` where undecided), nodes are coloured by device and
/// edges between devices are bold. Throws `value_error` if the placement does not have an entry per op.
/// Complexity: O(n + m).
template <dataflow_workload W>
void write_dot(std::ostream& out, const W& w, const dot_options& options = {}, std::span<const device_id> placed = {}) {
  const auto n = static_cast<std::size_t>(w.num_ops());
  if (!placed.empty() && placed.size() != n) {
    throw value_error("placement", "has " + std::to_string(placed.size()) + " entries for a workload of " +
                                     std::to_string(n) + " ops");
  }
  const auto device = [&](op_id v) { return placed.empty() ? device_id{none} : placed[v]; };
  const auto node = [&](op_id v, const char* indent) {
    std::string label;
    if constexpr (requires { std::string{w.name(v)}; }) {
      label = w.name(v);
    }
    if (label.empty()) {
      label = std::to_string(v);
    }
    if constexpr (requires { std::string{w.type(v)}; }) {
      label += w.type(v).empty() ? "" : '\n' + std::string{w.type(v)};
    }
    out << indent << 'n' + std::to_string(v) + " [label=" + detail::dot_quoted(label);
    if (device(v) != none) {
      out << ", fillcolor=" + detail::device_color(device(v)) + ", tooltip=\"device " + std::to_string(device(v)) + '"';
    }
    out << "];\n";
  };
  out << "digraph " << detail::dot_quoted(options.name) << " {\n"
      << "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica\"];\n"
      << "  edge [fontname=\"Helvetica\", fontsize=10];\n";
  std::vector<op_id> ops(n, 0);
  for (const op_id v : ids(n)) {
    ops[v] = v;
  }
  if (options.cluster) {
    std::stable_sort(ops.begin(), ops.end(), [&](op_id a, op_id b) { return device(a) < device(b); });
  }
  for (std::size_t i = 0; i < n; ++i) {
    const device_id d = device(ops[i]);
    const bool boxed = options.cluster && d != none;
    if (boxed && (i == 0 || device(ops[i - 1]) != d)) {
      out << "  subgraph cluster_" + std::to_string(d) + " {\n    label=\"device " + std::to_string(d) + "\";\n";
    }
    node(ops[i], boxed ? "    " : "  ");
    if (boxed && (i + 1 == n || device(ops[i + 1]) != d)) {
      out << "  }\n";
    }
  }
  for (const op_id v : ids(n)) {
    for (const tensor_id t : w.outputs(v)) {
      const byte_count bytes = w.bytes(t);
      for (const op_id c : w.consumers(t)) {
        std::string style;
        if (bytes == 0) {
          style = "style=dashed";
        } else if (device(v) != device(c) && device(v) != none && device(c) != none) {
          style = "style=bold";
        }
        if (options.bytes && bytes != 0) {
          style += (style.empty() ? "label=\"" : ", label=\"") + detail::short_bytes(bytes) + '"';
        }
        out << "  n" + std::to_string(v) + " -> n" + std::to_string(c) +
                 (style.empty() ? ";\n" : " [" + style + "];\n");
      }
    }
  }
  out << "}\n";
}

} // namespace weft::io
