// SPDX-License-Identifier: BSL-1.0
/// Reads Slurm's lists of nodes: scontrol show node, sinfo -N, and expressions such as node[01-04,07].
#pragma once

#include "weft/io/text.hpp"
#include "weft/platform/inventory.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::io {

/// No list may have more nodes than that.
inline constexpr std::size_t max_listed_nodes = 10'000;

namespace detail {

/// Adds the names that one part of an expression stands for: `prefix` with each number of the first brackets, and so
/// on with what follows them.
template <class Fail>
void expand_nodes(const std::string& prefix, std::string_view rest, std::vector<std::string>& names, int depth,
                  const Fail& fail) {
  const auto open = rest.find('[');
  if (open == rest.npos) {
    names.push_back(prefix + std::string{rest});
    if (!std::all_of(names.back().begin(), names.back().end(), [](char c) { return c > ' ' && c < 127; })) {
      fail("no node has a name such as " + in_quotes(names.back()));
    }
    if (names.size() > max_listed_nodes) {
      fail("more than " + std::to_string(max_listed_nodes) + " nodes");
    }
    return;
  }
  const auto close = rest.find(']', open);
  if (close == rest.npos || depth == 0) {
    fail(close == rest.npos ? "there is a '[' without ']'" : "there are too many brackets");
  }
  const auto before = prefix + std::string{rest.substr(0, open)};
  for (const auto range : split(rest.substr(open + 1, close - open - 1), ',')) {
    const auto ends = split(range, '-', 2);
    const auto number = [&](std::string_view text) {
      std::uint32_t x = 0;
      const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), x);
      if (text.empty() || text.size() > 9 || status != std::errc{} || end != text.data() + text.size()) {
        fail(in_quotes(range) + " is not a number or a range such as 01-04");
      }
      return x;
    };
    const auto first = number(ends.front());
    const auto last = number(ends.back());
    if (last < first || last - first >= max_listed_nodes) {
      fail("the range " + in_quotes(range) + " must go up, and by less than " + std::to_string(max_listed_nodes));
    }
    for (auto k = first; k <= last; ++k) {
      std::string digits = std::to_string(k);
      digits.insert(0, ends.front().size() > digits.size() ? ends.front().size() - digits.size() : 0, '0');
      expand_nodes(before + digits, rest.substr(close + 1), names, depth - 1, fail);
    }
  }
}

} // namespace detail

/// The names that a node-list expression stands for, in order: `node[01-04,07],login1`. Calls `fail(problem)`, which
/// must throw, for brackets and ranges that are not right, and for more than `max_listed_nodes` names.
template <class Fail>
std::vector<std::string> node_names(std::string_view expression, const Fail& fail) {
  std::vector<std::string> names;
  std::size_t depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= expression.size(); ++i) {
    const char c = i < expression.size() ? expression[i] : ',';
    depth += c == '[' ? 1u : 0u;
    depth -= c == ']' && depth > 0 ? 1u : 0u;
    if ((c == ',' && depth == 0) || i == expression.size()) {
      const auto part = trim(expression.substr(begin, i - begin));
      if (part.empty()) {
        fail("a name is missing in " + in_quotes(expression));
      }
      detail::expand_nodes("", part, names, 4, fail);
      begin = i + 1;
    }
  }
  return names;
}
/// The same for an expression that somebody typed. Throws `error`.
inline std::vector<std::string> node_names(std::string_view expression) {
  return node_names(expression, [&](const std::string& problem) {
    throw error("node list " + in_quotes(expression) + ": " + problem);
  });
}

namespace detail {

/// Nodes by name: one that is listed again, as for each of its partitions, must be the same.
class node_list {
public:
  template <class Fail>
  void add(const inventory::node& n, const Fail& fail) {
    const auto [found, is_new] = index_.try_emplace(n.name, nodes_.size());
    if (is_new) {
      nodes_.push_back(n);
    } else if (nodes_[found->second] != n) {
      fail("the node " + in_quotes(n.name) + " is listed twice with different figures");
    }
    if (nodes_.size() > max_listed_nodes || ++times_ > max_partitions * max_listed_nodes) {
      fail("more than " + std::to_string(max_listed_nodes) + " nodes, or more than " + std::to_string(max_partitions) +
           " times as many lines");
    }
  }
  std::vector<inventory::node> take() && { return std::move(nodes_); }
  bool empty() const { return nodes_.empty(); }

private:
  static constexpr std::size_t max_partitions = 20;

  std::vector<inventory::node> nodes_;
  std::size_t times_ = 0;
  std::unordered_map<std::string, std::size_t> index_;
};

/// GPUs among generic resources: `gpu:a100:8(S:0-1),shard:4`, `gpu:2`.
template <class Fail>
std::vector<inventory::gpu_count> gpus_in(std::string_view resources, const Fail& fail) {
  std::vector<inventory::gpu_count> gpus;
  std::uint32_t total = 0;
  std::size_t begin = 0;
  std::size_t depth = 0;
  for (std::size_t i = 0; i <= resources.size(); ++i) {
    const char c = i < resources.size() ? resources[i] : ',';
    depth += c == '(' ? 1u : 0u;
    depth -= c == ')' && depth > 0 ? 1u : 0u;
    if (i < resources.size() && (c != ',' || depth > 0)) {
      continue;
    }
    const auto whole = resources.substr(begin, i - begin);
    begin = i + 1;
    const auto parts = split(whole.substr(0, whole.find('(')), ':');
    if (parts.front() != "gpu") {
      continue;
    }
    inventory::gpu_count some{.type = parts.size() > 2 ? std::string{parts[1]} : "", .count = 1};
    if (parts.size() == 2 && parts[1].find_first_not_of("0123456789") != parts[1].npos) {
      some.type = std::string{parts[1]};
    } else if (parts.size() > 1) {
      some.count = parse_number<std::uint32_t>(parts.back(), "number of GPUs", fail);
    }
    total = some.count > 1000 ? 1001 : total + some.count;
    if (total > 1000) {
      fail("more than 1000 GPUs in a node");
    }
    if (some.count > 0) {
      gpus.push_back(std::move(some));
    }
  }
  return gpus;
}

template <class Fail>
std::uint32_t slurm_count(std::string_view text, const char* what, const Fail& fail) {
  text = text.substr(0, text.size() - (text.ends_with('+') ? 1 : 0)); // sinfo without --exact: at least so many
  const auto x = parse_number<std::uint32_t>(text, what, fail);
  if (x > 65'536) {
    fail(std::string{what} + " " + in_quotes(text) + " is more than 65536");
  }
  return x;
}
template <class Fail>
byte_count slurm_memory(std::string_view mebibytes, const Fail& fail) {
  mebibytes = mebibytes.substr(0, mebibytes.size() - (mebibytes.ends_with('+') ? 1 : 0));
  const auto x = parse_number<std::uint64_t>(mebibytes, "memory", fail);
  if (x > std::uint64_t{1} << 40) {
    fail("memory " + in_quotes(mebibytes) + " is out of range");
  }
  return x <= 1 ? 0 : x << 20; // 1 is what Slurm takes where slurm.conf says nothing
}

/// The cores of a node; 0 if nobody says. CPUs are hardware threads, so they tell cores only with the threads of a
/// core.
template <class Fail>
std::uint32_t slurm_cores(std::uint64_t sockets, std::uint32_t per_socket, std::uint32_t cpus, std::uint32_t threads,
                          const Fail& fail) {
  const auto product = sockets * per_socket;
  if (product > 65'536) {
    fail(std::to_string(product) + " cores in a node are more than 65536");
  }
  return product != 0 ? static_cast<std::uint32_t>(product) : threads != 0 ? cpus / threads : 0;
}

} // namespace detail

/// Reads `scontrol show node`, also with -o, and lines of slurm.conf that describe nodes; there, NodeName=DEFAULT holds
/// for the nodes behind it. Used are NodeName, Sockets or SocketsPerBoard × Boards, CoresPerSocket, CPUTot or CPUs with
/// ThreadsPerCore, RealMemory in MiB and Gres. Throws `parse_error`.
struct scontrol_reader {
  static constexpr std::string_view format() { return "scontrol show node"; }
  static bool recognises(std::string_view bytes) {
    line_reader lines{bytes.substr(0, 20'000), ""};
    while (const auto line = lines.next()) {
      if (line->starts_with("NodeName=")) {
        return true;
      }
    }
    return false;
  }

  static std::vector<inventory::node> read(std::string_view bytes, const std::string& file) {
    line_reader lines{bytes, file};
    const auto fail = [&](const std::string& problem) { lines.fail(problem); };
    detail::node_list all;
    entry defaults;
    entry now;
    while (const auto line = lines.next()) {
      auto rest = *line;
      bool is_text = false; // words of a value, such as those of OS=Linux 5.15 #101-Ubuntu SMP
      for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
        const auto equals = word.find('=');
        if (word.front() == '#' && !is_text) {
          break;
        }
        if (equals == word.npos) {
          continue; // what follows a blank in the value before, such as that of OS
        }
        const auto value = word.substr(equals + 1);
        const auto key = word.substr(0, equals);
        is_text = key == "OS";
        if (key == "NodeName") {
          finish(now, defaults, all, fail);
          now = defaults;
          now.names = node_names(value, fail);
        } else if (!now.names.empty()) {
          read_value(key, value, now, fail);
        }
      }
    }
    finish(now, defaults, all, fail);
    if (all.empty()) {
      lines.fail("there is no node; a node begins with NodeName=");
    }
    return std::move(all).take();
  }

private:
  struct entry {
    std::vector<std::string> names = {};
    std::uint32_t sockets = 0;
    std::uint32_t per_board = 0; ///< sockets
    std::uint32_t boards = 1;
    std::uint32_t per_socket = 0;
    std::uint32_t cpus = 0;
    std::uint32_t threads = 0;
    byte_count memory = 0;
    std::vector<inventory::gpu_count> gpus = {};
  };

  template <class Fail>
  static void read_value(std::string_view key, std::string_view value, entry& now, const Fail& fail) {
    const auto count = [&](const char* what) { return detail::slurm_count(value, what, fail); };
    if (key == "Sockets") {
      now.sockets = count("Sockets");
    } else if (key == "SocketsPerBoard") {
      now.per_board = count("SocketsPerBoard");
    } else if (key == "Boards") {
      now.boards = count("Boards");
    } else if (key == "CoresPerSocket") {
      now.per_socket = count("CoresPerSocket");
    } else if (key == "CPUTot" || key == "CPUs") {
      now.cpus = count("CPUTot");
    } else if (key == "ThreadsPerCore") {
      now.threads = count("ThreadsPerCore");
    } else if (key == "RealMemory") {
      now.memory = detail::slurm_memory(value, fail);
    } else if (key == "Gres") { // "(null)" names none
      now.gpus = detail::gpus_in(value, fail);
    }
  }

  template <class Fail>
  static void finish(const entry& e, entry& defaults, detail::node_list& all, const Fail& fail) {
    if (e.names == std::vector<std::string>{"DEFAULT"}) {
      defaults = e;
      return;
    }
    const auto sockets = e.sockets != 0 ? e.sockets : std::uint64_t{e.per_board} * e.boards;
    if (sockets > 65'536) {
      fail(std::to_string(sockets) + " sockets in a node are more than 65536");
    }
    const auto cores = detail::slurm_cores(sockets, e.per_socket, e.cpus, e.threads, fail);
    for (const auto& name : e.names) {
      all.add({.name = name,
               .sockets = static_cast<std::uint32_t>(sockets),
               .cores = cores,
               .memory = e.memory,
               .gpus = e.gpus},
              fail);
    }
  }
};

/// Reads `sinfo -N -o …` and `sinfo -N -O …` with a line of headers, of which NODELIST or HOSTNAMES must be one. Used
/// are besides S:C:T (or SOCKETS, CORES, THREADS), MEMORY in MiB and GRES; CPUS, which are hardware threads, only with
/// the threads of a core. A node may be listed several times, as for each of its partitions, and a date may stand
/// before all. Only REASON, as the last column, may hold blanks. Throws `parse_error`.
struct sinfo_reader {
  static constexpr std::string_view format() { return "sinfo -N"; }
  static bool recognises(std::string_view bytes) {
    line_reader lines{bytes, ""};
    return is_header(lines.next().value_or("")) || is_header(lines.next().value_or(""));
  }

  static std::vector<inventory::node> read(std::string_view bytes, const std::string& file) {
    line_reader lines{bytes, file};
    const auto fail = [&](const std::string& problem) { lines.fail(problem); };
    auto header = lines.next().value_or("");
    header = is_header(header) ? header : lines.next().value_or("");
    const auto headers = words(header);
    const auto column = [&](std::initializer_list<std::string_view> names) -> std::optional<std::size_t> {
      const auto found = std::find_first_of(headers.begin(), headers.end(), names.begin(), names.end());
      return found == headers.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - headers.begin())};
    };
    const auto name = column({"NODELIST", "HOSTNAMES"});
    if (!is_header(header)) {
      fail("the first line must name the columns, with NODELIST among them; leave -h out, as in sinfo -N -o '%N %z %m "
           "%G'");
    }
    detail::node_list all;
    while (const auto line = lines.next()) {
      const auto fields = words(*line);
      if (fields.size() < headers.size() || (fields.size() > headers.size() && headers.back() != "REASON")) {
        fail(std::to_string(fields.size()) + " fields for " + std::to_string(headers.size()) +
             " columns; have columns written that hold no blanks, and blanks between them, as in sinfo -N -o '%N %z %m "
             "%G'");
      }
      const auto count = [&](std::initializer_list<std::string_view> names, const char* what) {
        const auto at = column(names);
        return at ? detail::slurm_count(fields[*at], what, fail) : 0u;
      };
      inventory::node n;
      n.sockets = count({"SOCKETS"}, "SOCKETS");
      auto per_socket = count({"CORES"}, "CORES");
      auto threads = count({"THREADS"}, "THREADS");
      if (const auto at = column({"S:C:T"})) {
        const auto parts = split(fields[*at], ':');
        if (parts.size() != 3) {
          fail("S:C:T " + in_quotes(fields[*at]) + " must be sockets:cores:threads");
        }
        n.sockets = detail::slurm_count(parts[0], "sockets", fail);
        per_socket = detail::slurm_count(parts[1], "cores", fail);
        threads = detail::slurm_count(parts[2], "threads", fail);
      }
      n.cores = detail::slurm_cores(n.sockets, per_socket, count({"CPUS"}, "CPUS"), threads, fail);
      if (const auto at = column({"MEMORY"})) {
        n.memory = detail::slurm_memory(fields[*at], fail);
      }
      if (const auto at = column({"GRES"}); at && fields[*at] != "(null)") {
        n.gpus = detail::gpus_in(fields[*at], fail);
      }
      for (auto& each : node_names(fields[*name], fail)) {
        n.name = std::move(each);
        all.add(n, fail);
      }
    }
    if (all.empty()) {
      fail("no node follows the line of headers");
    }
    return std::move(all).take();
  }

private:
  static constexpr std::size_t max_columns = 100;

  static bool is_header(std::string_view line) {
    bool nodes = false;
    std::size_t columns = 0;
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
      nodes = nodes || word == "NODELIST" || word == "HOSTNAMES";
      if (upper(word) != word || ++columns > max_columns) {
        return false;
      }
    }
    return nodes;
  }
  static std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> all;
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
      all.push_back(word);
    }
    return all;
  }
};

} // namespace weft::io
