// SPDX-License-Identifier: BSL-1.0
/// Reads and writes the CSV formats of the critical-path paper, for workloads and platforms; see docs/formats.md.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/io/detail/csv_graph.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <istream>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

namespace detail {

inline workload workload_from_csv(std::string_view text, const std::string& file) {
  const csv_graph g{text, file};
  workload_builder b;
  for (std::size_t v = 0; v < g.nodes.size(); ++v) {
    const auto& node = g.nodes[v];
    // A node without a name goes by its id, unless that is its op number anyway.
    const bool nameless = node.name.empty() && node.id == static_cast<std::int64_t>(v);
    b.add_op({.work = node.operations,
              .bytes = node.tensor_size,
              .resident_bytes = node.ram,
              .kinds = node.kinds,
              .name = nameless            ? std::string{}
                      : node.name.empty() ? std::to_string(node.id)
                                          : std::string{node.name}});
  }
  for (const auto& [from, to, line] : g.edges) {
    b.add_edge(from, to);
  }
  for (const auto& [a, c, line] : g.colocations) {
    b.colocate(a, c);
  }
  try {
    return std::move(b).build();
  } catch (const cycle_error& e) {
    std::string names;
    for (const op_id v : e.ops) {
      names += g.who(v) + " -> ";
    }
    std::throw_with_nested(parse_error(file, g.nodes[e.ops.front()].line,
                                       "the graph has a cycle: " + names + g.who(e.ops.front()) +
                                         "; a dataflow graph must be acyclic (unroll loops first)"));
  } catch (const constraint_error& e) {
    std::string members;
    std::size_t line = 0;
    for (const op_id v : e.ops) {
      if (!g.nodes[v].kinds.is_all()) {
        line = line == 0 ? g.nodes[v].line : line;
        members += (members.empty() ? "" : ", ") + g.who(v) + " (" + to_string(g.nodes[v].kinds) + ", line " +
                   std::to_string(g.nodes[v].line) + ")";
      }
    }
    std::throw_with_nested(parse_error(file, line, "colocated nodes allow no common device kind: " + members));
  } catch (const error& e) {
    std::throw_with_nested(parse_error(file, 0, e.what()));
  }
}

/// The kind of a text, told by its header.
enum class csv_kind { graph, devices, other };

inline csv_kind csv_kind_of(std::string_view text) {
  line_reader lines{text, ""};
  auto line = lines.next();
  if (line && split(*line, ',', 2).front() == "Meta") {
    line = lines.next();
  }
  const auto columns = line ? split(*line, ',', 3) : std::vector<std::string_view>{};
  if (columns.size() < 2 || lower(columns[0]) != "id") {
    return csv_kind::other;
  }
  return lower(columns[1]) == "ram" ? csv_kind::devices : csv_kind::graph;
}

inline platform<> platform_from_csv(std::string_view text, const std::string& file) {
  struct row {
    std::int64_t id;
    std::size_t line;
    device what;
    std::string_view rates; // read when there is a place for them
  };
  line_reader lines{text, file};
  const auto fail = [&lines](const std::string& problem) { lines.fail(problem); };
  (void)read_csv_header(lines, "Id,RAM,#operations,commnication speed,type", 5, 5);
  std::vector<row> rows;
  while (const auto line = lines.next()) {
    const auto fields = split(*line, ',');
    if (fields.size() != 5) {
      lines.fail("expected 5 columns as in the header, got " + std::to_string(fields.size()));
    }
    row r{parse_number<std::int64_t>(fields[0], "id", fail), lines.line(), {}, fields[3]};
    r.what.memory_capacity = parse_number<byte_count>(fields[1], "RAM", fail);
    r.what.speed = parse_number<double>(fields[2], "operations per time unit", fail);
    if (r.what.speed == 0) {
      lines.fail("operations per time unit must not be 0");
    }
    const auto kind = parse_device_kind(fields[4]);
    if (!kind) {
      lines.fail("device type " + in_quotes(fields[4]) + " is unknown: write CPU, GPU or TPU");
    }
    r.what.kind = *kind;
    r.what.reached_rates = true;
    rows.push_back(std::move(r));
  }
  if (rows.empty()) {
    lines.fail("there is no device: add a row for each");
  }
  weft::stable_sort(rows, [](const row& a, const row& b) { return a.id < b.id; });
  for (const device_id d : ids(rows.size())) { // before there is a link for each pair of rows
    const auto& [id, line, what, rates] = rows[d];
    if (d > 0 && rows[d - 1].id == id) {
      throw parse_error(file, line,
                        "id " + std::to_string(id) + " was given to another device on line " +
                          std::to_string(rows[d - 1].line) + "; ids must differ");
    }
    const auto count =
      rates.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(rates.begin(), rates.end(), ';'));
    if (count != rows.size() - d - 1) {
      throw parse_error(file, line,
                        "device " + std::to_string(id) + " needs " + std::to_string(rows.size() - d - 1) +
                          " transfer rates, one for each device with a larger id, but lists " +
                          std::to_string(count));
    }
  }
  std::vector<device> devices;
  link_matrix links{rows.size()};
  std::vector<std::string> names;
  bool numbered = true; // the ids are 0, 1, 2, …
  for (const device_id d : ids(rows.size())) {
    const auto& [id, line, what, rates] = rows[d];
    auto rest = rates;
    for (device_id e = d + 1; e < rows.size(); ++e) {
      const auto at_line = rows[d].line;
      const auto fail_there = [&](const std::string& problem) { throw parse_error(file, at_line, problem); };
      const auto entry = trim(rest.substr(0, rest.find(';')));
      rest.remove_prefix(std::min(rest.find(';'), rest.size() - 1) + 1);
      const auto rate = parse_number<double>(entry, "transfer rate", fail_there);
      if (rate == 0) {
        fail_there("a transfer rate must not be 0");
      }
      links.connect(d, e, {.latency = 0, .bandwidth = rate});
    }
    devices.push_back(what);
    names.push_back(std::to_string(id));
    numbered = numbered && id == static_cast<std::int64_t>(d);
  }
  platform<> p{std::move(devices), std::move(links), 10};
  if (!numbered) {
    p.set_names(std::move(names));
  }
  return p;
}

} // namespace detail

/// Reads a workload. Nodes become ops in ascending order of their ids, whatever the ids are; each op has exactly one
/// output tensor, so tensor t is what op t produces. A node without a name gets its id as its name, unless that is
/// its op number. `file` is what errors call the input.
/// Throws `parse_error` with file and line; when the graph as a whole is unusable (a cycle, colocated nodes without a
/// common device kind), the underlying error is nested in it.
inline workload read_workload_csv(std::istream& in, const std::string& file = "<stream>") {
  return detail::workload_from_csv(read_all(in, file), file);
}
/// The same from a file. Throws `error` if it cannot be opened.
inline workload read_workload_csv(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_workload_csv(in, path.string());
}

/// Reads a platform: each rate holds in both directions, `send_work` is 10 ([CP] §2), latencies are 0. Devices are
/// numbered in ascending order of their ids; they get the ids as names unless these are 0, 1, 2, …
/// Throws `parse_error` with file and line.
inline platform<> read_platform_csv(std::istream& in, const std::string& file = "<stream>") {
  return detail::platform_from_csv(read_all(in, file), file);
}
/// The same from a file. Throws `error` if it cannot be opened.
inline platform<> read_platform_csv(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_platform_csv(in, path.string());
}

/// Reads the paper's graphs for `read_model`.
struct critical_path_csv_reader {
  static constexpr std::string_view format() { return "critical-path CSV"; }
  static bool recognises(std::string_view bytes) { return detail::csv_kind_of(bytes) == detail::csv_kind::graph; }
  static model read(std::string_view bytes, const std::string& file) {
    model m;
    m.ops = detail::workload_from_csv(bytes, file);
    m.format = format();
    m.unit = work_unit::own;
    return m;
  }
};

/// Reads the paper's devices for `read_platform`.
struct critical_path_csv_platform_reader {
  static constexpr std::string_view format() { return "critical-path CSV"; }
  static bool recognises(std::string_view bytes) { return detail::csv_kind_of(bytes) == detail::csv_kind::devices; }
  static platform<> read(std::string_view bytes, const std::string& file) {
    return detail::platform_from_csv(bytes, file);
  }
};

/// The policy of a CSV writer when the format cannot hold something that changes the problem. Labels that it cannot
/// hold (op types, device names) are always dropped, and its rates are what ops reach.
enum class csv_losses {
  refuse, ///< throw `value_error` that names it
  accept, ///< write the closest problem that the format can hold; see docs/formats.md
};

/// Writes a workload, ops numbered from 0. The format has one tensor per op and one allowed device kind or any.
/// With `csv_losses::accept`, several outputs become one of their total size and several kinds become any kind.
/// Line breaks and blanks at the ends of names are not kept.
template <dataflow_workload W>
void write_workload_csv(std::ostream& out, const W& w, csv_losses losses = csv_losses::refuse) {
  const auto list = [](const std::vector<op_id>& ops) {
    std::string text;
    for (const op_id v : ops) {
      text += (text.empty() ? "" : ";") + std::to_string(v);
    }
    return text;
  };
  const auto n = static_cast<std::size_t>(w.num_ops());
  std::vector<std::vector<op_id>> groups(static_cast<std::size_t>(w.num_groups()));
  for (const op_id v : ids(n)) {
    if (w.group(v) != none) {
      groups[w.group(v)].push_back(v);
    }
  }
  const auto in_order = [](std::vector<op_id> ops) {
    sort_unique(ops);
    return ops;
  };
  out << detail::csv_graph::header << '\n';
  for (const op_id v : ids(n)) {
    const auto refuse = [&](const std::string& what) {
      if (losses == csv_losses::refuse) {
        throw value_error("op " + std::to_string(v), what + ", which the CSV format cannot hold; write JSON instead");
      }
    };
    std::vector<op_id> successors;
    std::vector<op_id> predecessors;
    byte_count bytes = 0;
    std::size_t outputs = 0;
    for (const tensor_id t : w.outputs(v)) {
      bytes += w.bytes(t);
      ++outputs;
      for (const op_id c : w.consumers(t)) {
        successors.push_back(c);
      }
    }
    if (outputs > 1) {
      refuse("has " + std::to_string(outputs) + " output tensors");
    }
    for (const tensor_id t : w.inputs(v)) {
      predecessors.push_back(w.producer(t));
    }
    std::string kind = "NO";
    if (std::has_single_bit(w.kinds(v).bits())) {
      kind = upper(to_string(w.kinds(v)));
    } else if (!w.kinds(v).is_all()) {
      refuse("allows the device kinds " + to_string(w.kinds(v)));
    }
    std::vector<op_id> colocated;
    if (w.group(v) != none) { // a chain is enough: colocation is transitive
      const auto& members = groups[w.group(v)];
      const auto at = std::lower_bound(members.begin(), members.end(), v);
      if (at != members.begin()) {
        colocated.push_back(at[-1]);
      }
      if (at + 1 != members.end()) {
        colocated.push_back(at[1]);
      }
    }
    std::string name;
    if constexpr (requires { std::string{w.name(v)}; }) {
      name = w.name(v);
      std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    }
    out << std::to_string(v) + ',' + list(in_order(successors)) + ',' + list(in_order(predecessors)) + ',' +
             list(colocated) + ',' + std::to_string(bytes) + ',' + number_text(w.work(v)) + ',' +
             std::to_string(w.resident_bytes(v)) + ',' + kind + ',' + name + '\n';
  }
}

/// Writes a platform. The format has symmetric, finite rates, no latencies, one slot per device, and send work 10.
/// With `csv_losses::accept`, the slower direction of a link counts and what else it cannot hold is dropped.
template <link_model Links>
void write_platform_csv(std::ostream& out, const platform<Links>& p, csv_losses losses = csv_losses::refuse) {
  const auto refuse = [losses](bool lost, const std::string& where, const std::string& what) {
    if (lost && losses == csv_losses::refuse) {
      throw value_error(where, what + ", which the CSV format cannot hold; write JSON instead");
    }
  };
  refuse(p.send_work() != 10, "platform",
         "has a send work of " + number_text(p.send_work()) + " instead of 10");
  out << "Id,RAM,#operations,commnication speed,type\n";
  for (const device_id d : ids(p.num_devices())) {
    const std::string where = "device " + std::to_string(d);
    refuse(p.slots(d) != 1, where, "has " + std::to_string(p.slots(d)) + " slots");
    refuse(std::isfinite(p.memory_bandwidth(d)), where, "has a memory bandwidth");
    refuse(p.send_overhead(d) != 0, where, "has a send overhead");
    refuse(p.memory_of(d) != d, where, "works in another device's memory");
    std::string rates;
    for (device_id e = d + 1; e < p.num_devices(); ++e) {
      const std::string link = where + ": link to device " + std::to_string(e);
      refuse(p.latency(d, e) != 0 || p.latency(e, d) != 0, link, "has a latency");
      refuse(p.bandwidth(d, e) != p.bandwidth(e, d), link, "has another bandwidth in each direction");
      const double rate = std::min(p.bandwidth(d, e), p.bandwidth(e, d));
      refuse(!std::isfinite(rate), link, "has an infinite bandwidth");
      rates += (rates.empty() ? "" : ";") + number_text(std::min(rate, std::numeric_limits<double>::max()));
    }
    out << std::to_string(d) + ',' + std::to_string(p.memory_capacity(d)) + ',' + number_text(p.speed(d)) +
             ',' + rates + ',' + upper(to_string(p.kind(d))) + '\n';
  }
}

} // namespace weft::io
