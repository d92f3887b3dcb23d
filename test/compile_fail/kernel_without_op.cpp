// SPDX-License-Identifier: BSL-1.0
// expect: weft: a kernel is called with
#include "weft/execute/concurrent_executor.hpp"

using executor = weft::concurrent_executor<decltype(weft::concurrency::uniform(1, 1))>;

auto run(executor& e) {
#ifdef WEFT_COMPILE_FAIL
  return e([](weft::team) {}).num_finished;
#else
  return e([](weft::op_id, weft::team) {}).num_finished;
#endif
}
