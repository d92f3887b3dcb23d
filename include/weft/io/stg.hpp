// SPDX-License-Identifier: BSL-1.0
/// Reads and writes task graphs of the Standard Task Graph Set.
#pragma once

#include "weft/io/detail/assembly_shop.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/identical.hpp" // IWYU pragma: export
#include "weft/workload/builder.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <istream>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

namespace detail {

/// The columns of a file beside the id of a task, its time, the number of its predecessors, and these.
struct stg_layout {
  enum class deadline : std::uint8_t { none, before_predecessors, last };
  enum class costs : std::uint8_t { none, beside, below }; ///< of communication: after each predecessor, perhaps on a
                                                           ///< line of its own with it
  deadline due = deadline::none;
  costs cost = costs::none;

  std::size_t count_at() const { return due == deadline::before_predecessors ? 3 : 2; }
  std::size_t words(std::size_t predecessors) const {
    const std::size_t each = cost == costs::none ? 1 : cost == costs::beside ? 2 : 0;
    return 3 + (due == deadline::none ? 0u : 1u) + each * predecessors;
  }
};

/// The lines of a file with numbers on them, and what they say.
class stg_file {
public:
  stg_file(std::string_view text, std::string file) : file_{std::move(file)} {
    line_reader lines{text, file_};
    while (const auto numbers = next_numbers(lines)) {
      lines_.push_back({*numbers, lines.line()});
    }
    last_ = lines.line();
  }

  /// The next line with something that is no comment.
  static std::optional<std::string_view> next_numbers(line_reader& lines) {
    while (const auto line = lines.next()) {
      if (const auto numbers = trim(line->substr(0, line->find('#'))); !numbers.empty()) {
        return numbers;
      }
    }
    return std::nullopt;
  }

  /// Whether what follows a first line of two or three numbers are tasks.
  bool has_tasks() const {
    if (lines_.size() < 2 || word(1, 0) != "0" || count_words(lines_[1].text) > 4 ||
        (lines_.size() > 2 && word(2, 0) != "1")) {
      return false;
    }
    const bool by_sight = count_words(lines_[0].text) == 2 && count_words(lines_[1].text) == 3 && word(1, 2) == "0";
    const auto how = layout(); // the first task waits for none; a job may begin with any machine
    return by_sight || (how && count_words(lines_[1].text) == how->words(0));
  }

  model read() && {
    if (lines_.empty()) {
      fail(last_, "the number of tasks is missing: an STG file starts with it");
    }
    const auto header = count_words(lines_[0].text);
    if (header > 3) {
      fail(lines_[0].number, "expected the number of tasks on the first line, perhaps with those of processors and a "
                             "deadline after it, got " + in_quotes(lines_[0].text));
    }
    const auto said = number<std::uint32_t>(0, word(0, 0), "number of tasks");
    const auto processors = header > 1 ? number<std::uint32_t>(0, word(0, 1), "number of processors") : 0;
    const auto how = layout().value_or(stg_layout{});
    std::vector<std::size_t> line_of; // of a task
    for (std::size_t i = 1; i < lines_.size();) {
      line_of.push_back(i);
      i = read_task(i, how);
    }
    if (ops_.num_ops() != std::uint64_t{said} + 2 && ops_.num_ops() != said) {
      fail(last_, "the first line says " + std::to_string(said) + " tasks, so " +
                    std::to_string(std::uint64_t{said} + 2) + " lines with the two dummies must follow, but there " +
                    "are " + std::to_string(ops_.num_ops()));
    }
    model m;
    m.ops = build(line_of);
    m.format = "Standard Task Graph";
    m.unit = work_unit::own;
    const bool costs = how.cost != stg_layout::costs::none;
    m.notes.push_back(std::string{"work is the processing time of a task, in the file's unit; "} +
                      (costs ? "the cost of an edge is its bytes, so that links of bandwidth 1 take that time"
                             : "edges carry no bytes"));
    if (processors > 0) {
      m.notes.push_back("the file is meant for " + std::to_string(processors) + " processors");
    }
    if (how.due != stg_layout::deadline::none || header == 3) {
      m.notes.push_back("deadlines are left out");
    }
    return m;
  }

private:
  struct numbered_line {
    std::string_view text;
    std::size_t number;
  };
  struct edge {
    std::uint32_t from, to;
    byte_count bytes;
  };

  [[noreturn]] void fail(std::size_t line, const std::string& problem) const {
    throw parse_error(file_, line, problem);
  }

  /// Empty if there is none.
  std::string_view word(std::size_t line, std::size_t at) const {
    auto rest = lines_[line].text;
    auto found = next_word(rest);
    for (; at > 0; --at) {
      found = next_word(rest);
    }
    return found;
  }

  template <class T>
  T number(std::size_t line, std::string_view word, const char* what) const {
    return parse_number<T>(word, what, [&](const std::string& problem) { fail(lines_[line].number, problem); });
  }

  bool fits(const stg_layout& how) const {
    for (std::size_t i = 1; i < lines_.size();) {
      const auto said = word(i, how.count_at());
      std::uint32_t count = 0;
      const auto [end, status] = std::from_chars(said.data(), said.data() + said.size(), count);
      if (status != std::errc{} || end != said.data() + said.size() ||
          count_words(lines_[i].text) != how.words(count)) {
        return false;
      }
      ++i;
      for (; how.cost == stg_layout::costs::below && count > 0; --count, ++i) {
        if (i == lines_.size() || count_words(lines_[i].text) != 2) {
          return false;
        }
      }
    }
    return true;
  }

  /// The one that all lines have, if there is one; the first of several, which differ in nothing that is there.
  std::optional<stg_layout> layout() const {
    using deadline = stg_layout::deadline;
    using costs = stg_layout::costs;
    for (const auto due : {deadline::none, deadline::last, deadline::before_predecessors}) {
      for (const auto cost : {costs::none, costs::beside, costs::below}) {
        if (const stg_layout how{due, cost}; fits(how)) {
          return how;
        }
      }
    }
    return std::nullopt;
  }

  /// Reads the task on line i; the number of the line after it.
  std::size_t read_task(std::size_t i, const stg_layout& how) {
    const auto id = static_cast<std::uint32_t>(ops_.num_ops());
    const auto& text = lines_[i].text;
    const auto words = count_words(text);
    if (words < 3) {
      fail(lines_[i].number, "expected 'id time number_of_predecessors predecessors...', got " + in_quotes(text));
    }
    auto rest = text;
    const auto first = next_word(rest);
    if (number<std::uint32_t>(i, first, "task id") != id) {
      fail(lines_[i].number, "expected task " + std::to_string(id) + ", got " + in_quotes(first) +
                               "; tasks are listed in the order of their ids, from 0");
    }
    ops_.add_op({.work = number<double>(i, next_word(rest), "time")});
    if (how.due == stg_layout::deadline::before_predecessors) {
      (void)next_word(rest);
    }
    const auto count = number<std::uint32_t>(i, next_word(rest), "number of predecessors");
    if (words != how.words(count)) {
      fail(lines_[i].number, "task " + std::to_string(id) + " says " + std::to_string(count) + " predecessors, but " +
                               std::to_string(words - 3) + " follow");
    }
    for (std::uint32_t k = 0; k < count; ++k) {
      if (how.cost == stg_layout::costs::below) {
        rest = lines_[++i].text;
      }
      edge e{number<std::uint32_t>(i, next_word(rest), "predecessor"), id, 0};
      if (how.cost != stg_layout::costs::none) {
        const double cost = std::ceil(number<double>(i, next_word(rest), "communication cost"));
        if (cost > static_cast<double>(workload_builder::max_total_bytes)) {
          fail(lines_[i].number, "communication cost " + number_text(cost) + " is too large");
        }
        e.bytes = static_cast<byte_count>(cost);
      }
      edges_.push_back(e);
    }
    return i + 1;
  }

  workload build(const std::vector<std::size_t>& line_of) {
    ops_.reserve_edges(edges_.size());
    const auto number_of = [&](op_id v) { return lines_[line_of[v]].number; };
    for (const auto& [from, to, bytes] : edges_) {
      if (from >= ops_.num_ops()) {
        fail(number_of(to), "predecessor " + std::to_string(from) + " does not exist; the last task is " +
                              std::to_string(ops_.num_ops() - 1));
      }
      if (bytes > 0) {
        ops_.add_edge(from, to, ops_.add_output(from, bytes));
      } else {
        ops_.add_control_edge(from, to);
      }
    }
    try {
      return std::move(ops_).build();
    } catch (const cycle_error& e) {
      std::string path;
      for (const op_id v : e.ops) {
        path += std::to_string(v) + " -> ";
      }
      std::throw_with_nested(parse_error(file_, number_of(e.ops.front()),
                                         "the tasks wait for each other in a cycle: " + path +
                                           std::to_string(e.ops.front())));
    } catch (const duplicate_edge_error& e) {
      std::throw_with_nested(parse_error(file_, number_of(e.target), "task " + std::to_string(e.target) +
                                                                      " lists predecessor " + std::to_string(e.source) +
                                                                      " twice"));
    } catch (const error& e) {
      std::throw_with_nested(parse_error(file_, 0, e.what()));
    }
  }

  std::string file_;
  std::vector<numbered_line> lines_;
  std::size_t last_ = 0; // line of the file
  workload_builder ops_;
  std::vector<edge> edges_;
};

} // namespace detail

/// Reads task graphs of the Standard Task Graph Set and of those who took its format over: the number of tasks without
/// the two dummies, perhaps with the number of processors and a deadline behind it, then one line
/// `id time number_of_predecessors predecessors...` per task, first and last of them a dummy that takes no time. Text
/// behind a `#` is a comment. Some files of the set count the dummies on the first line, too; both are understood. A
/// task may have a deadline before the number of its predecessors or at the end of its line, which a note says is left
/// out, and its predecessors a cost of communication each, beside them or on a line per predecessor below.
///
/// Op v is task v of the file, so that both dummies are ops without work: op 0 before everything and op n + 1 after
/// everything. Work is the time of a task, in whatever unit the file means. Edges are control edges, which carry no
/// bytes, or have a tensor each of as many bytes as the cost of communication, rounded up. For the set's machine of P
/// identical processors use `presets::identical(P)`.
///
/// Throws `parse_error` with file and line; when the graph as a whole is unusable (a cycle, an edge twice), the
/// underlying error is nested in it. Complexity: O(n + m log d).
/// Source: Tobita, Kasahara, A standard task graph set for fair evaluation of multiprocessor scheduling algorithms,
/// Journal of Scheduling 5, 2002.
struct stg_reader {
  static constexpr std::string_view format() { return "Standard Task Graph"; }
  /// The first line that is no comment is a number and nothing else, or it is two or three numbers before tasks.
  static bool recognises(std::string_view bytes) {
    line_reader lines{bytes, ""};
    const auto first = detail::stg_file::next_numbers(lines);
    if (!first || first->find_first_not_of("0123456789 \t") != first->npos || count_words(*first) > 3) {
      return false;
    }
    return count_words(*first) == 1 ||
           (detail::stg_file{bytes, ""}.has_tasks() && !detail::looks_like_assembly_shop(bytes));
  }
  static model read(std::string_view bytes, const std::string& file) { return detail::stg_file{bytes, file}.read(); }
};

/// The workload alone, from a stream. `file` is what errors call the input.
inline workload read_workload_stg(std::istream& in, const std::string& file = "<stream>") {
  return stg_reader::read(read_all(in, file), file).ops;
}
/// The same from a file. Throws `error` if it cannot be opened.
inline workload read_workload_stg(const std::filesystem::path& path) {
  return stg_reader::read(read_file(path), path.string()).ops;
}

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
  const bool complete =
    n >= 2 && sources == 1 && sinks == 1 && w.work(0) == 0 && w.work(static_cast<op_id>(n - 1)) == 0;
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
