// SPDX-License-Identifier: BSL-1.0
/// The typed exceptions for bad data. An infeasible problem is not an error; see plan/infeasibility.hpp.
#pragma once

#include "weft/core/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Base of everything that weft throws: data that cannot be used. `what()` is one line that names
/// what is wrong, where, and how to fix it.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A number that is negative, not finite, or too large.
struct value_error : error {
  value_error(std::string at, const std::string& problem) : error{at + ": " + problem}, where{std::move(at)} {}
  std::string where; ///< the op, tensor or device and the column, e.g. `op 3 'conv1': work`
};

/// A count, if so many things can have ids of 32 bits, of which the last one is `none`; else throws `value_error`. To
/// be asked before anything is allocated for them.
constexpr std::size_t checked_count(std::size_t count, const char* where, const char* things) {
  if (count > none) {
    throw value_error(where, "has " + std::to_string(count) + " " + things + "; ids have 32 bits, so at most " +
                               std::to_string(none) + " are possible");
  }
  return count;
}

namespace detail {

/// An id of nothing. A negative number that became an id is shown as the negative number.
inline std::string missing_id(std::size_t id) {
  const bool negative = id > std::size_t{none} / 2 && id <= none;
  return negative ? std::to_string(static_cast<std::int64_t>(id) - (std::int64_t{none} + 1)) : std::to_string(id);
}

/// `only the ops 0 to 2`, for what is said of a graph with `count` ops when another one is asked for.
inline std::string only_ops(std::size_t count) {
  return count == 0   ? std::string{"no ops"}
         : count == 1 ? std::string{"only op 0"}
                      : "only the ops 0 to " + std::to_string(count - 1);
}

} // namespace detail

/// An edge, group or reference to something that does not exist.
struct dangling_id_error : error {
  dangling_id_error(std::string at, const std::string& problem) : error{at + ": " + problem}, where{std::move(at)} {}
  std::string where;
};

/// The same op consumes the same tensor twice.
struct duplicate_edge_error : error {
  duplicate_edge_error(op_id from, op_id to, const std::string& names)
      : error{"duplicate edge " + names + ": list each consumer of a tensor once"}, source{from}, target{to} {}
  op_id source;
  op_id target;
};

/// The graph has a cycle; `ops` lists it in order, each op an input of the next and the last one of the first.
struct cycle_error : error {
  cycle_error(std::vector<op_id> cycle, const std::string& names)
      : error{"the graph has a cycle: " + names + "; a dataflow graph must be acyclic (unroll loops first)"},
        ops{std::move(cycle)} {}
  std::vector<op_id> ops;
};

/// Constraints that no platform could meet, such as a colocation group whose members allow no common device kind.
struct constraint_error : error {
  constraint_error(std::vector<op_id> members, const std::string& message)
      : error{message}, ops{std::move(members)} {}
  std::vector<op_id> ops;
};

/// A file or text that does not follow its format.
struct parse_error : error {
  parse_error(std::string path, std::size_t at_line, const std::string& problem)
      : error{path + (at_line ? ":" + std::to_string(at_line) : "") + ": " + problem}, file{std::move(path)},
        line{at_line} {}
  std::string file;
  std::size_t line; ///< counted from 1; 0 when the problem has no line
};

} // namespace weft
