// SPDX-License-Identifier: BSL-1.0
/// Reads and writes task graphs of the Standard Task Graph Set.
#pragma once

#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/identical.hpp" // IWYU pragma: export
#include "weft/workload/builder.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
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

inline workload workload_from_stg(std::string_view text, const std::string& file) {
  struct edge {
    std::uint32_t from, to;
  };
  line_reader lines{text, file};
  const auto fail = [&lines](const std::string& problem) { lines.fail(problem); };
  const auto next_line = [&] {
    auto line = lines.next();
    while (line && line->front() == '#') {
      line = lines.next();
    }
    return line;
  };
  const auto first = next_line();
  if (!first) {
    lines.fail("the number of tasks is missing: an STG file starts with it");
  }
  if (count_words(*first) != 1) {
    lines.fail("expected the number of tasks alone on the first line, got " + in_quotes(*first));
  }
  const auto inner = parse_number<std::uint32_t>(*first, "number of tasks", fail);
  workload_builder b;
  std::vector<edge> edges;
  std::vector<std::uint32_t> line_of;
  while (const auto line = next_line()) {
    const auto id = b.num_ops();
    const auto words = count_words(*line);
    if (words < 3) {
      lines.fail("expected 'id time number_of_predecessors predecessors...', got " + in_quotes(*line));
    }
    auto rest = *line;
    const auto first_word = next_word(rest);
    if (parse_number<std::uint32_t>(first_word, "task id", fail) != id) {
      lines.fail("expected task " + std::to_string(id) + ", got " + in_quotes(first_word) +
                 "; tasks are listed in the order of their ids, from 0");
    }
    b.add_op({.work = parse_number<double>(next_word(rest), "time", fail)});
    line_of.push_back(static_cast<std::uint32_t>(lines.line()));
    const auto count = parse_number<std::uint32_t>(next_word(rest), "number of predecessors", fail);
    if (count != words - 3) {
      lines.fail("task " + std::to_string(id) + " says " + std::to_string(count) + " predecessors, but " +
                 std::to_string(words - 3) + " follow");
    }
    for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
      edges.push_back({parse_number<std::uint32_t>(word, "predecessor", fail), static_cast<std::uint32_t>(id)});
    }
  }
  const std::uint64_t said = inner;
  if (b.num_ops() != said + 2 && b.num_ops() != said) {
    lines.fail("the first line says " + std::to_string(said) + " tasks, so " + std::to_string(said + 2) +
               " lines with the two dummies must follow, but there are " + std::to_string(b.num_ops()));
  }
  b.reserve_edges(edges.size());
  for (const auto& [from, to] : edges) {
    if (from >= b.num_ops()) {
      throw parse_error(file, line_of[to], "predecessor " + std::to_string(from) + " does not exist; the last task is " +
                                      std::to_string(b.num_ops() - 1));
    }
    b.add_control_edge(from, to);
  }
  try {
    return std::move(b).build();
  } catch (const cycle_error& e) {
    std::string path;
    for (const op_id v : e.ops) {
      path += std::to_string(v) + " -> ";
    }
    std::throw_with_nested(parse_error(file, line_of[e.ops.front()],
                                       "the tasks wait for each other in a cycle: " + path +
                                         std::to_string(e.ops.front())));
  } catch (const duplicate_edge_error& e) {
    std::throw_with_nested(parse_error(file, line_of[e.target], "task " + std::to_string(e.target) +
                                                                  " lists predecessor " + std::to_string(e.source) +
                                                                  " twice"));
  } catch (const error& e) {
    std::throw_with_nested(parse_error(file, 0, e.what()));
  }
}

} // namespace detail

/// Reads a workload from a file of the Standard Task Graph Set: the number of tasks without the two dummies, then one
/// line `id time number_of_predecessors predecessors...` per task, first and last of them a dummy that takes no time.
/// A line that starts with `#` is a comment. Some files of the set count the dummies on the first line, too; both are
/// understood.
///
/// Op v is task v of the file, so that both dummies are ops without work: op 0 before everything and op n + 1 after
/// everything. Work is the time of a task. Edges are control edges, which carry no bytes. For the set's machine of P
/// identical processors use `presets::identical(P)`.
///
/// Throws `parse_error` with file and line; when the graph as a whole is unusable (a cycle, an edge twice), the
/// underlying error is nested in it. Complexity: O(n + m log d).
/// Source: Tobita, Kasahara, A standard task graph set for fair evaluation of multiprocessor scheduling algorithms,
/// Journal of Scheduling 5, 2002.
inline workload read_workload_stg(std::istream& in, const std::string& file = "<stream>") {
  return detail::workload_from_stg(read_all(in, file), file);
}
/// The same from a file. Throws `error` if it cannot be opened.
inline workload read_workload_stg(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_workload_stg(in, path.string());
}

/// Reads standard task graphs for `read_model`. Work is the time of a task, in whatever unit the file means.
struct stg_reader {
  static constexpr std::string_view format() { return "Standard Task Graph"; }
  /// The first line that is no comment is a number and nothing else.
  static bool recognises(std::string_view bytes) {
    line_reader lines{bytes, ""};
    auto line = lines.next();
    while (line && line->front() == '#') {
      line = lines.next();
    }
    return line && line->find_first_not_of("0123456789") == std::string_view::npos;
  }
  static model read(std::string_view bytes, const std::string& file) {
    model m;
    m.ops = detail::workload_from_stg(bytes, file);
    m.format = format();
    m.unit = work_unit::own;
    m.notes.push_back("work is the processing time of a task, in the file's unit; edges carry no bytes");
    return m;
  }
};

/// Writes a workload as a task graph: its ops in topological order of their ids, their work as times, and an edge where
/// at least one tensor connects two ops. Where op 0 is no dummy or the last op none, dummies are added, which shifts
/// all ids by one. Sizes, names, kinds and groups are dropped: the format cannot hold them.
/// Throws `value_error` if an op's id is not larger than those of its predecessors.
template <dataflow_workload W>
void write_workload_stg(std::ostream& out, const W& w) {
  const auto n = static_cast<std::size_t>(w.num_ops());
  std::vector<std::vector<op_id>> before(n);
  std::vector<std::uint8_t> has_successor(n, 0);
  for (const op_id v : ids(n)) {
    for (const tensor_id t : w.inputs(v)) {
      const op_id u = w.producer(t);
      if (u >= v) {
        throw value_error("op " + std::to_string(v), "waits for op " + std::to_string(u) +
                                                       "; number the ops in topological order to write them as STG");
      }
      before[v].push_back(u);
      has_successor[u] = 1;
    }
    std::sort(before[v].begin(), before[v].end());
    before[v].erase(std::unique(before[v].begin(), before[v].end()), before[v].end());
  }
  // Dummies take no time; the first is before everything, the last after everything.
  const auto sources = std::count_if(before.begin(), before.end(), [](const auto& list) { return list.empty(); });
  const auto sinks = std::count(has_successor.begin(), has_successor.end(), std::uint8_t{0});
  const bool complete = n >= 2 && sources == 1 && sinks == 1 && w.work(0) == 0 && w.work(static_cast<op_id>(n - 1)) == 0;
  const std::size_t shift = complete ? 0 : 1;
  const auto write_line = [&](std::size_t id, double time, const std::vector<op_id>& list) {
    std::string line = std::to_string(id) + ' ' + number_text(time) + ' ' + std::to_string(list.size());
    for (const op_id u : list) {
      line += ' ' + std::to_string(u);
    }
    out << line << '\n';
  };
  out << (complete ? n - 2 : n) << '\n';
  if (!complete) {
    write_line(0, 0, {});
  }
  for (const op_id v : ids(n)) {
    auto list = before[v];
    for (op_id& u : list) {
      u += static_cast<op_id>(shift);
    }
    if (!complete && list.empty()) {
      list.push_back(0);
    }
    write_line(v + shift, w.work(v), list);
  }
  if (!complete) {
    std::vector<op_id> last;
    for (const op_id v : ids(n)) {
      if (!has_successor[v]) {
        last.push_back(v + 1);
      }
    }
    if (last.empty()) {
      last.push_back(0);
    }
    write_line(n + 1, 0, last);
  }
}

} // namespace weft::io
