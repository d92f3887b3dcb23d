// SPDX-License-Identifier: BSL-1.0
/// Reads and writes HyperDAG files, in which a hyperedge is a tensor with its producer and its consumers.
#pragma once

#include "weft/io/foreign_formats.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/io/text.hpp"
#include "weft/views/edges.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

namespace detail {

/// The lines of numbers of a file whose comments begin with `%`, on lines of their own or after numbers.
class number_lines {
public:
  number_lines(std::string_view text, const std::string& file) : lines_{text, file} {}

  /// The next line without its comment, or nothing at the end.
  std::optional<std::string_view> next() {
    while (const auto line = lines_.next()) {
      if (const auto numbers = trim(line->substr(0, line->find('%'))); !numbers.empty()) {
        return numbers;
      }
      comment_ = comment_.empty() ? *line : comment_;
    }
    return std::nullopt;
  }

  std::size_t line() const { return lines_.line(); }
  std::string_view first_comment() const { return comment_; }
  [[noreturn]] void fail(const std::string& problem) const { lines_.fail(problem); }

  /// The next word of a line as a number. Throws `parse_error`, also if there is none.
  template <class T>
  T number(std::string_view& rest, const char* what) const {
    const auto word = next_word(rest);
    if (word.empty()) {
      fail(std::string{what} + " is missing on this line");
    }
    return parse_number<T>(word, what, [this](const std::string& problem) { fail(problem); });
  }

private:
  line_reader lines_;
  std::string_view comment_;
};

/// Three numbers or more on the first line of numbers, if there are nothing but words of digits on it.
struct numbered_header {
  std::array<std::uint64_t, 3> first{};
  std::size_t words = 0;
  std::size_t lines = 0; ///< of numbers, without this one
  bool from_zero = false; ///< one of them begins with two numbers of which one is 0
  std::string comment;   ///< the first one, in lower case
};

inline std::optional<numbered_header> read_numbered_header(std::string_view text) {
  number_lines lines{text, ""};
  const auto line = lines.next();
  if (!line || line->find_first_not_of("0123456789 \t") != line->npos) {
    return std::nullopt;
  }
  numbered_header h;
  h.words = count_words(*line);
  auto rest = *line;
  for (auto& x : h.first) {
    const auto word = next_word(rest);
    std::uint32_t value = 0;
    if (word.empty() || std::from_chars(word.data(), word.data() + word.size(), value).ec != std::errc{}) {
      return std::nullopt;
    }
    x = value;
  }
  h.comment = lower(lines.first_comment());
  while (auto numbers = lines.next()) {
    ++h.lines;
    h.from_zero = h.from_zero || next_word(*numbers) == "0" || next_word(*numbers) == "0";
  }
  return h;
}

/// A machine file of the same authors also begins with three numbers: the comment at the top tells, or else the number
/// of lines.
inline bool is_bsp_machine(const numbered_header& h) {
  if (h.comment.find("bsp") != h.comment.npos || h.comment.find("hyperdag") != h.comment.npos) {
    return h.comment.find("hyperdag") == h.comment.npos;
  }
  const auto [p, g, l] = h.first;
  return h.words <= 5 && !h.comment.starts_with("%%matrixmarket") &&
         h.lines == p * p && h.lines != p + g + l && h.lines != g + l;
}

/// A matrix of the Matrix Market, whose header a hyperdag may have, too: it has no lines for hyperedges and nodes, and
/// its rows and columns are numbered from 1.
inline bool is_matrix(std::string_view text, const numbered_header& h) {
  const auto [m, n, p] = h.first;
  return looks_like_matrix(text) && h.lines != m + n + p && h.lines != n + p && !h.from_zero &&
         !h.comment.starts_with("%%matrixmarket weighted");
}

/// The content of a file; hyperedges in the order of their numbers.
class hyperdag_file {
public:
  hyperdag_file(std::string_view text, const std::string& file) : file_{file}, lines_{text, file} {
    const auto header = read_numbered_header(text);
    auto line = lines_.next();
    if (!header) {
      lines_.fail("expected 'hyperedges nodes pins', three whole numbers, got " + in_quotes(line.value_or("")));
    }
    const auto [m, n, p] = header->first;
    if (header->lines != m + n + p && header->lines != n + p && (header->lines != p || is_matrix(text, *header))) {
      lines_.fail(std::to_string(m) + " hyperedges, " + std::to_string(n) + " nodes and " + std::to_string(p) +
                  " pins need " + std::to_string(m + n + p) + " lines (" + std::to_string(n + p) +
                  " without lines for hyperedges, " + std::to_string(p) + " with pins only), but " +
                  std::to_string(header->lines) + " follow");
    }
    if (header->lines == p && n > p) {
      lines_.fail(std::to_string(n) + " nodes have only " + std::to_string(p) +
                  " pins; without lines for nodes, each needs one");
    }
    work_.assign(n, 1);
    type_.assign(n, 0);
    has_types_only_ = text.substr(0, 10'000).find("vertex types present in this graph") != text.npos;
    if (header->lines == m + n + p) {
      edges_.assign(m, {});
      read_hyperedges();
      read_nodes(false);
      read_pins(p);
    } else {
      if (m > p) {
        lines_.fail(std::to_string(m) + " hyperedges have only " + std::to_string(p) + " pins; each needs one");
      }
      edges_.assign(m, {});
      read_pins(p);
      if (header->lines != p) {
        read_nodes(true);
      }
    }
  }

  model read() {
    model m;
    workload_builder b;
    b.reserve(work_.size(), edges_.size(), pins_.size());
    for (std::size_t v = 0; v < work_.size(); ++v) {
      op o{.work = work_[v]};
      if (type_[v] != 0) {
        o.type = std::to_string(type_[v]);
      }
      b.add_op(std::move(o));
    }
    std::size_t other_memory = 0;
    std::vector<std::uint32_t> output;
    output.reserve(edges_.size());
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const auto& [producer, communication, memory] = edges_[e];
      if (producer == none) {
        throw parse_error(file_, 0, "hyperedge " + std::to_string(e) +
                                      " has no pin; its first pin is the node that produces it");
      }
      output.push_back(b.add_output(producer, communication));
      other_memory += memory != communication ? 1 : 0;
    }
    for (const auto& [edge, node] : pins_) {
      b.add_edge(edges_[edge].producer, node, output[edge]);
    }
    try {
      m.ops = std::move(b).build();
    } catch (const error& e) {
      std::throw_with_nested(parse_error(file_, 0, e.what()));
    }
    m.format = "HyperDAG";
    m.unit = work_unit::own;
    m.notes.push_back(has_types_only_ ? "nodes have types and no weights: their work is 1"
                                      : "work and bytes are the file's weights, in whatever unit it means");
    if (other_memory > 0) {
      m.notes.push_back(counted(other_memory, "{hyperedge has|hyperedges have} another weight for memory than for "
                                              "communication; {the tensor has|tensors have} the latter"));
    }
    return m;
  }

private:
  struct hyperedge {
    op_id producer = none;
    byte_count communication = 1;
    byte_count memory = 1;
  };
  struct pin {
    std::uint32_t edge;
    op_id node;
  };

  std::uint32_t id(std::string_view& rest, std::size_t limit, const char* what) const {
    const auto x = lines_.number<std::uint32_t>(rest, what);
    if (x >= limit) {
      lines_.fail(std::string{what} + " " + std::to_string(x) +
                  " does not exist; they are numbered from 0 and there are " + std::to_string(limit));
    }
    return x;
  }

  /// The id at the front of a line of weights, which must not have had one before.
  std::uint32_t new_id(std::string_view& rest, std::vector<bool>& seen, const char* what) const {
    const auto x = id(rest, seen.size(), what);
    if (seen[x]) {
      lines_.fail(std::string{what} + " " + std::to_string(x) + " is listed twice");
    }
    seen[x] = true;
    return x;
  }

  byte_count bytes(std::string_view& rest, const char* what) const {
    const auto x = lines_.number<byte_count>(rest, what);
    if (x > workload_builder::max_total_bytes) {
      lines_.fail(std::string{what} + " " + std::to_string(x) + " is too large");
    }
    return x;
  }

  void read_hyperedges() {
    std::vector<bool> seen(edges_.size(), false);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      auto rest = *lines_.next();
      auto& edge = edges_[new_id(rest, seen, "hyperedge")];
      if (!trim(rest).empty()) {
        edge.communication = edge.memory = bytes(rest, "communication weight");
      }
      if (!trim(rest).empty()) {
        edge.memory = bytes(rest, "memory weight");
      }
    }
  }

  void read_nodes(bool with_communication) {
    std::vector<bool> seen(work_.size(), false);
    std::vector<byte_count> communication(with_communication ? work_.size() : 0, 1);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      auto rest = *lines_.next();
      const auto v = new_id(rest, seen, "node");
      if (has_types_only_) {
        type_[v] = trim(rest).empty() ? 0 : lines_.number<std::uint32_t>(rest, "type");
        continue;
      }
      if (!trim(rest).empty()) {
        work_[v] = lines_.number<double>(rest, "work weight");
      }
      if (!trim(rest).empty() && with_communication) {
        communication[v] = bytes(rest, "communication weight");
      } else if (!trim(rest).empty()) {
        type_[v] = lines_.number<std::uint32_t>(rest, "type");
      }
    }
    if (with_communication) {
      for (auto& edge : edges_) {
        if (edge.producer != none) {
          edge.communication = edge.memory = communication[edge.producer];
        }
      }
    }
  }

  void read_pins(std::size_t count) {
    pins_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      auto rest = *lines_.next();
      const auto e = id(rest, edges_.size(), "hyperedge");
      const auto v = id(rest, work_.size(), "node");
      if (edges_[e].producer == none) {
        edges_[e].producer = v;
      } else if (edges_[e].producer == v) {
        lines_.fail("node " + std::to_string(v) + " produces hyperedge " + std::to_string(e) +
                    " and cannot be another pin of it");
      } else {
        pins_.push_back({e, v});
      }
    }
  }

  std::string file_;
  number_lines lines_;
  bool has_types_only_ = false; // nodes are followed by their type and their number in it, as ALP/GraphBLAS has them
  std::vector<double> work_;
  std::vector<std::uint32_t> type_;
  std::vector<hyperedge> edges_;
  std::vector<pin> pins_;
};

} // namespace detail

/// Reads a HyperDAG: node v becomes op v, with its work weight; a hyperedge becomes a tensor with its communication
/// weight as bytes, produced by its first pin and consumed by the others. The type of a node, if it is not 0, becomes
/// the type of the op. Weights that are missing are 1, as in the format's definition. A memory weight that differs
/// from the communication weight is not kept (a tensor has one size), which a note tells.
///
/// Understood are files with lines for hyperedges, nodes and pins; the older ones with pins first and then nodes with
/// work and communication weights; and those with pins only, in which each node has one. The first line may be a
/// header of the Matrix Market; one line per entry with rows and columns from 1 after it are a matrix, which is not
/// taken. Where comments list types of vertices, as ALP/GraphBLAS writes them, nodes have a type in the place of
/// their weight.
///
/// Throws `parse_error` with file and line; when the graph as a whole is unusable (a cycle, a pin twice), the
/// underlying error is nested in it. Complexity: O(nodes + pins · log(largest hyperedge)).
/// Source: Papp, Anegg, Karanasiou, Yzelman: Efficient Multi-Processor Scheduling in Increasingly Realistic Models,
/// SPAA 2024; the format is that of its HyperDAG database.
struct hyperdag_reader {
  static constexpr std::string_view format() { return "HyperDAG"; }
  static bool recognises(std::string_view bytes) {
    const auto header = detail::read_numbered_header(bytes);
    return header && !detail::is_matrix(bytes, *header) && !detail::is_bsp_machine(*header) &&
           !detail::looks_like_assembly_shop(bytes);
  }
  static model read(std::string_view bytes, const std::string& file) {
    return detail::hyperdag_file{bytes, file}.read();
  }
};

/// The same from a stream. `file` is what errors call the input.
inline model read_hyperdag(std::istream& in, const std::string& file = "<stream>") {
  return hyperdag_reader::read(read_all(in, file), file);
}
/// The same from a file. Throws `error` if it cannot be opened.
inline model read_hyperdag(const std::filesystem::path& path) {
  return hyperdag_reader::read(read_file(path), path.string());
}

/// Writes a workload, a hyperedge per tensor. Types are kept if they are numbers; names, kinds, groups and resident
/// bytes are dropped: the format cannot hold them.
template <dataflow_workload W>
void write_hyperdag(std::ostream& out, const W& w) {
  const auto n = static_cast<std::size_t>(w.num_ops());
  const auto m = static_cast<std::size_t>(w.num_tensors());
  const auto pins = m + static_cast<std::size_t>(ranges::distance(views::edges(w))); // the producers, and the consumers
  out << "%% HyperDAG written by weft\n" << m << ' ' << n << ' ' << pins << "\n% hyperedge communication memory\n";
  for (const tensor_id t : ids(m)) {
    out << t << ' ' << w.bytes(t) << ' ' << w.bytes(t) << '\n';
  }
  out << "% node work type\n";
  for (const op_id v : ids(n)) {
    std::uint32_t type = 0;
    if constexpr (requires { std::string{w.type(v)}; }) {
      const std::string name{w.type(v)};
      const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), type);
      type = status == std::errc{} && end == name.data() + name.size() ? type : 0;
    }
    out << v << ' ' << number_text(w.work(v)) << ' ' << type << '\n';
  }
  out << "% hyperedge node\n";
  for (const tensor_id t : ids(m)) {
    out << t << ' ' << w.producer(t) << '\n';
    for (const op_id v : w.consumers(t)) {
      out << t << ' ' << v << '\n';
    }
  }
}

} // namespace weft::io
