// SPDX-License-Identifier: BSL-1.0
/// The frame of a tool's `main`, and the command line that it was given.
#pragma once

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace tool {

/// A word as one would type it in a shell, in quotes if it has to be.
inline std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"_@%+=:,./-"}.find(c) != std::string_view::npos;
  });
  if (plain) {
    return std::string{word};
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  }
  return quoted + '\'';
}

/// A command line as one would type it in a shell.
inline std::string command_line(const char* program, int argc, char** argv) {
  std::string line = program;
  for (int i = 1; i < argc; ++i) {
    line += ' ' + shell_word(argv[i]);
  }
  return line;
}

/// The whole of `main`: what `run(argc, argv)` returns, or 2 after one line that says what is wrong.
template <class Run>
int main_of(const char* program, int argc, char** argv, Run run) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: out of memory\n", program);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
  }
  return 2;
}

} // namespace tool
