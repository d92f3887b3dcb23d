// SPDX-License-Identifier: BSL-1.0
/// The `main` of a program for MPI, on each of its ranks.
#pragma once

#include "tool/command_line.hpp"

#include "weft/core/error.hpp"
#include "weft/interop/mpi/communicator.hpp"
#include "weft/interop/mpi/session.hpp"
#include "weft/io/files.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

namespace tool {

/// Reads the command line on every rank, calls `check()`, which throws `weft::error` for wrong arguments, and makes
/// sure that the first rank can write the file `output`, unless that is empty. Then returns what `run()` does. Returns
/// 2, on all ranks and after one line of the first, if something is wrong before `run`; an exception of `run` ends all
/// ranks.
template <class Check, class Run>
int main_of_ranks(const weft::mpi::communicator& all, CLI::App& app, const char* program, int argc, char** argv,
                  const std::string& output, Check check, Run run) {
  const bool first = all.rank() == 0;
  std::string wrong;
  bool was_asked = false; // for --help or --version
  int answer = 0;
  try {
    read_command_line(app, program, argc, argv);
    check();
    if (first && !output.empty()) {
      weft::io::require_writable(output);
    }
  } catch (const CLI::Success& e) {
    was_asked = true;
    answer = first ? app.exit(e) : 0;
  } catch (const std::exception& e) {
    wrong = e.what();
  }
  for (const std::string& text : all.all_gather(wrong)) {
    if (!text.empty()) {
      if (first) {
        fmt::print(stderr, "{}: {}\n", program, text);
      }
      return 2;
    }
  }
  for (const int other : all.all_gather(was_asked ? 1 : 0)) { // ranks may have arguments of their own
    if (other != 0) {
      return answer;
    }
  }
  try {
    return run();
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: rank {}: {}\n", program, all.rank(), e.what());
    std::fflush(stderr);
    weft::mpi::session::end_all_ranks(2); // others may wait for this one
  }
  return 2;
}

} // namespace tool
