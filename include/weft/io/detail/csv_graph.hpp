// SPDX-License-Identifier: BSL-1.0
/// The rows of a graph in the critical-path paper's CSV format, read and cross-checked, before they become a workload.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/kinds.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::io::detail {

/// Skips an optional line that starts with `Meta` and reads the header line, which must start with `Id`.
inline std::vector<std::string_view> read_csv_header(line_reader& lines, const char* expected, std::size_t least,
                                                     std::size_t most) {
  auto line = lines.next();
  if (line && split(*line, ',').front() == "Meta") {
    line = lines.next();
  }
  if (!line) {
    lines.fail(std::string{"the header line is missing: expected '"} + expected + "'");
  }
  auto columns = split(*line, ',');
  if (lower(columns.front()) != "id" || columns.size() < least || columns.size() > most) {
    lines.fail("not a header that is understood: expected '" + std::string{expected} + "', got " + in_quotes(*line));
  }
  return columns;
}

/// One row. Ids are those of the file, which may be any integers.
struct csv_node {
  std::int64_t id = 0;
  std::size_t line = 0;
  byte_count tensor_size = 0;
  double operations = 0;
  byte_count ram = 0;
  kind_set kinds = kind_set::all();
  std::string_view name = {};
};

/// A pair of ops of the file, listed on some line.
struct csv_pair {
  op_id from = none;
  op_id to = none;
  std::size_t line = 0;
  friend bool operator<(const csv_pair& a, const csv_pair& b) {
    return std::pair{a.from, a.to} < std::pair{b.from, b.to};
  }
};

/// A whole file. Nodes are in ascending order of their ids; pairs refer to nodes by position.
class csv_graph {
public:
  static constexpr const char* header = "Id,(Outgoing) node,(Incoming) node,Colocation nodes,#tensorSize,#operations,"
                                        "RAM storage,Device constraint,name";

  /// `text` must outlive the result. Throws `parse_error`.
  csv_graph(std::string_view text, const std::string& file) : lines_{text, file} {
    const auto columns = read_csv_header(lines_, header, 6, 9).size();
    while (const auto line = lines_.next()) {
      read_row(*line, columns);
    }
    if (nodes.empty()) {
      lines_.fail("there is no node: add a row for each");
    }
    weft::sort(nodes,
              [](const auto& a, const auto& b) { return std::tie(a.id, a.line) < std::tie(b.id, b.line); });
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      if (nodes[i].id == nodes[i - 1].id) {
        fail(nodes[i].line, "id " + std::to_string(nodes[i].id) + " was given to another node on line " +
                              std::to_string(nodes[i - 1].line) + "; ids must differ");
      }
    }
    edges = resolve(outgoing_, false, "successor");
    auto reversed = resolve(incoming_, true, "predecessor");
    colocations = resolve(colocated_, false, "colocated");
    if (edges.empty() || reversed.empty()) { // a column that is not used at all
      edges.insert(edges.end(), reversed.begin(), reversed.end());
    } else {
      compare(edges, reversed);
    }
  }

  std::vector<csv_node> nodes;
  std::vector<csv_pair> edges;       ///< sorted, each once
  std::vector<csv_pair> colocations; ///< as listed, sorted

  [[noreturn]] void fail(std::size_t line, const std::string& problem) const {
    throw parse_error(lines_.file(), line, problem);
  }
  /// A node as a message calls it: its id in the file and its name.
  std::string who(op_id v) const {
    return std::to_string(nodes[v].id) + (nodes[v].name.empty() ? "" : " " + in_quotes(nodes[v].name));
  }

private:
  struct reference {
    std::int64_t from;
    std::int64_t to;
    std::size_t line;
  };

  void read_row(std::string_view line, std::size_t columns) {
    const auto fields = split(line, ',', columns == 9 ? 9 : std::string_view::npos); // names may hold commas
    // A trailing comma may be missing when the name is empty.
    if (fields.size() != columns && !(columns == 9 && fields.size() == 8)) {
      lines_.fail("expected " + std::to_string(columns) + " columns as in the header, got " +
                  std::to_string(fields.size()));
    }
    const auto fail_here = [this](const std::string& problem) { lines_.fail(problem); };
    csv_node node;
    node.line = lines_.line();
    node.id = parse_number<std::int64_t>(fields[0], "id", fail_here);
    read_list(outgoing_, node.id, fields[1], "outgoing node");
    read_list(incoming_, node.id, fields[2], "incoming node");
    read_list(colocated_, node.id, fields[3], "colocation node");
    node.tensor_size = read_bytes(fields[4], "tensorSize");
    node.operations = parse_number<double>(fields[5], "operations", fail_here);
    if (columns > 6) {
      node.ram = read_bytes(fields[6], "RAM storage");
    }
    if (columns > 7 && !fields[7].empty() && lower(fields[7]) != "no") {
      const auto kind = parse_device_kind(fields[7]);
      if (!kind) {
        lines_.fail("device constraint " + in_quotes(fields[7]) + " is unknown: write NO, CPU, GPU or TPU");
      }
      node.kinds = *kind;
    }
    if (fields.size() > 8) {
      node.name = fields[8];
    }
    nodes.push_back(node);
  }

  byte_count read_bytes(std::string_view field, const char* what) {
    const auto bytes = parse_number<byte_count>(field, what, [this](const std::string& why) { lines_.fail(why); });
    if (bytes > workload_builder::max_total_bytes) {
      lines_.fail(std::string{what} + " " + in_quotes(field) + " is too large");
    }
    return bytes;
  }

  void read_list(std::vector<reference>& list, std::int64_t id, std::string_view field, const char* what) {
    if (field.empty()) {
      return;
    }
    for (const auto entry : split(field, ';')) {
      const auto other = parse_number<std::int64_t>(entry, what, [this](const std::string& why) { lines_.fail(why); });
      list.push_back({id, other, lines_.line()});
    }
  }

  op_id find(std::int64_t id) const {
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), id, [](const auto& n, auto x) { return n.id < x; });
    return at == nodes.end() || at->id != id ? none : static_cast<op_id>(at - nodes.begin());
  }

  std::vector<csv_pair> resolve(const std::vector<reference>& list, bool reversed, const char* role) const {
    std::vector<csv_pair> pairs;
    pairs.reserve(list.size());
    for (const auto& [from, to, line] : list) {
      const op_id other = find(to);
      if (other == none) {
        fail(line, "node " + std::to_string(from) + " lists " + std::to_string(to) + " as its " + role +
                     ", but no row has that id");
      }
      pairs.push_back(reversed ? csv_pair{other, find(from), line} : csv_pair{find(from), other, line});
    }
    weft::sort(pairs);
    for (std::size_t i = 1; i < pairs.size(); ++i) {
      if (!(pairs[i - 1] < pairs[i])) {
        fail(pairs[i].line,
             "the same " + std::string{role} + " is listed twice: " + who(pairs[i].from) + " -> " + who(pairs[i].to));
      }
    }
    return pairs;
  }

  /// Both directions of every edge must be there. Reports the first line that has one without the other.
  void compare(const std::vector<csv_pair>& out, const std::vector<csv_pair>& in) const {
    std::vector<csv_pair> only_out;
    std::vector<csv_pair> only_in;
    std::set_difference(out.begin(), out.end(), in.begin(), in.end(), std::back_inserter(only_out));
    std::set_difference(in.begin(), in.end(), out.begin(), out.end(), std::back_inserter(only_in));
    const auto first = [](const std::vector<csv_pair>& pairs) {
      return std::min_element(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
    };
    const auto o = first(only_out);
    const auto i = first(only_in);
    if (o != only_out.end() && (i == only_in.end() || o->line <= i->line)) {
      fail(o->line, "edge " + who(o->from) + " -> " + who(o->to) + " is listed in one direction only: add " +
                      std::to_string(nodes[o->from].id) + " to the incoming nodes on line " +
                      std::to_string(nodes[o->to].line));
    }
    if (i != only_in.end()) {
      fail(i->line, "edge " + who(i->from) + " -> " + who(i->to) + " is listed in one direction only: add " +
                      std::to_string(nodes[i->to].id) + " to the outgoing nodes on line " +
                      std::to_string(nodes[i->from].line));
    }
  }

  line_reader lines_;
  std::vector<reference> outgoing_;
  std::vector<reference> incoming_;
  std::vector<reference> colocated_;
};

} // namespace weft::io::detail
