// SPDX-License-Identifier: BSL-1.0
/// What `main` of a tool is.
#pragma once

#include <cstdio>
#include <exception>
#include <new>

namespace tool {

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
