// SPDX-License-Identifier: BSL-1.0
/// The exception for a failed call of MPI.
#pragma once

#include "weft/core/error.hpp"

#include <string>
#include <string_view>

#include <mpi.h>

namespace weft::mpi {

/// A call of MPI that failed: which one, and what MPI says of it, in one line.
struct call_error : error {
  /// `code` is what the call returned.
  call_error(std::string_view call, int code)
      : error{std::string{call} + ": " + reason(code)}, error_class{class_of(code)} {}
  int error_class; ///< such as `MPI_ERR_TRUNCATE`

private:
  static int class_of(int code) {
    int c = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &c);
    return c;
  }
  /// The first line; MPICH adds a stack of its functions.
  static std::string reason(int code) {
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) {
      return "error " + std::to_string(code);
    }
    std::string_view line{text};
    line = line.substr(0, line.find('\n'));
    if (const std::string_view end = ", error stack:"; line.ends_with(end)) {
      line.remove_suffix(end.size());
    }
    return std::string{line};
  }
};

/// Throws `call_error` unless a call returned `MPI_SUCCESS`; `call` names it and who took part: "MPI_Send to rank 3".
inline void check(int code, std::string_view call) {
  if (code != MPI_SUCCESS) {
    throw call_error{call, code};
  }
}

} // namespace weft::mpi
