// SPDX-License-Identifier: BSL-1.0
/// Draws workloads, with or without a placement, as Graphviz DOT, and reads graphs in DOT.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/io/detail/dot_model.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <charconv>
#include <istream>
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
  bool weights = true;           ///< attributes that Graphviz does not look at, from which `dot_reader` gets w back
};

namespace detail {

/// In double quotes, as DOT wants it. Bytes of zero are left out.
inline std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c != '\0') {
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

/// The attributes from which an op comes back, each with a comma in front.
template <class W>
std::string dot_weights(const W& w, op_id v, const std::string& label) {
  std::string text = ", work=" + dot_quoted(number_text(w.work(v)));
  if constexpr (requires { std::string{w.name(v)}; }) {
    text += label == w.name(v) ? "" : ", name=" + dot_quoted(std::string{w.name(v)});
  }
  if constexpr (requires { std::string{w.type(v)}; }) {
    text += w.type(v).empty() ? "" : ", type=" + dot_quoted(std::string{w.type(v)});
  }
  if (w.resident_bytes(v) != 0) {
    text += ", resident_bytes=" + std::to_string(w.resident_bytes(v));
  }
  if (!w.kinds(v).is_all()) {
    text += ", kinds=" + dot_quoted(to_string(w.kinds(v)));
  }
  if (w.group(v) != none) {
    text += ", colocation=" + std::to_string(w.group(v));
  }
  if constexpr (requires { std::uint32_t{w.slots(v)}; }) {
    text += w.slots(v) == 1 ? "" : ", slots=" + std::to_string(w.slots(v));
  }
  std::string outputs;
  for (const tensor_id t : w.outputs(v)) {
    outputs += (outputs.empty() ? "" : " ") + std::to_string(w.bytes(t));
  }
  return text + (outputs.empty() ? "" : ", outputs=" + dot_quoted(outputs));
}

} // namespace detail

/// Reads directed graphs in the DOT language: those of `write_dot`, and what else is common. Nodes become ops in the
/// order in which they are first mentioned, named by their `name`, their label or their id. Names of attributes are
/// read without case.
///
/// | attribute of a node | becomes |
/// |---|---|
/// | `work`, `work_weight`, `weight`, `comp`, `computation`, `cost` or `size`, the first that is there | work; without
/// any it is 1 | | `bytes`, `comm_weight` or `comm` | size of one tensor for all its edges that have no size | |
/// `outputs`, sizes with blanks between them | its tensors; an edge's `tensor` says which it carries, 0 unless stated |
/// | `resident_bytes`, `kinds`, `colocation`, `slots`, `type` | the columns of these names |
///
/// An edge with `bytes`, `comm_weight`, `comm`, `size` or `weight`, the first that is there, carries a tensor of its
/// own of that size, rounded up to whole bytes; one without any size, or of size -1, as SimGrid has it, is a control
/// edge. All other attributes, ports, HTML labels and the nesting of subgraphs are skipped. Where nodes or edges have
/// no weight, a note says so, and names the attributes with numbers that were skipped and that Graphviz does not know.
/// Undirected graphs are refused, and so are several graphs in one file.
///
/// Throws `parse_error` with file and line; when the graph as a whole is unusable (a cycle, colocated ops without a
/// common device kind), the underlying error is nested in it. Complexity: O(n + m log m).
/// Source: the grammar at graphviz.org/doc/info/lang.html.
struct dot_reader {
  static constexpr std::string_view format() { return "DOT"; }
  /// The first words are `graph` or `digraph`, perhaps after `strict`, and a name or a brace follows.
  static bool recognises(std::string_view bytes) {
    try {
      detail::dot_lexer lexer{bytes.substr(0, 4096), ""};
      auto word = lexer.next();
      word = lexer.is_word(word, "strict") ? lexer.next() : word;
      if (!lexer.is_word(word, "digraph") && !lexer.is_word(word, "graph")) {
        return false;
      }
      const auto next = lexer.next();
      return next.kind == '{' || (next.is_id() && lexer.next().kind == '{');
    } catch (const parse_error&) {
      return false;
    }
  }
  static model read(std::string_view bytes, const std::string& file) { return detail::dot_model{bytes, file}.read(); }
};

/// The same from a stream. `file` is what errors call the input.
inline model read_dot(std::istream& in, const std::string& file = "<stream>") {
  return dot_reader::read(read_all(in, file), file);
}
/// The same from a file. Throws `error` if it cannot be opened.
inline model read_dot(const std::filesystem::path& path) { return dot_reader::read(read_file(path), path.string()); }

/// Writes a directed graph with a node per op and an edge per input; edges on tensors of zero bytes (control edges)
/// are dashed. With `weights`, reading it back gives an equal workload, as long as `cluster` does not reorder it.
/// With a placement (the device of every op, `none` where undecided), nodes are coloured by device and
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
    if (options.weights) {
      out << detail::dot_weights(w, v, label);
    }
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
    weft::stable_sort(ops, [&](op_id a, op_id b) { return device(a) < device(b); });
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
    std::uint32_t output = 0;
    for (const tensor_id t : w.outputs(v)) {
      const byte_count bytes = w.bytes(t);
      const std::string tensor = options.weights && output > 0 ? "tensor=" + std::to_string(output) : "";
      ++output;
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
        style += (style.empty() || tensor.empty() ? "" : ", ") + tensor;
        out << "  n" + std::to_string(v) + " -> n" + std::to_string(c) +
                 (style.empty() ? ";\n" : " [" + style + "];\n");
      }
    }
  }
  out << "}\n";
}

} // namespace weft::io
