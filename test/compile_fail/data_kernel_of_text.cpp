// SPDX-License-Identifier: BSL-1.0
// expect: weft: with memory, a kernel is called with
#include "weft/execute/static_executor.hpp"

#include <string>

#ifdef WEFT_COMPILE_FAIL
using argument = const std::string&; // ops are told by number
#else
using argument = weft::op_id;
#endif

auto run(weft::static_executor& executor, const weft::execute::memory& memory) {
  return executor([](argument, const weft::execute::op_buffers&) {}, memory).num_finished;
}
