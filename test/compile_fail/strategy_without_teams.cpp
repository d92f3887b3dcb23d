// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a thread policy
#include "weft/concurrency/strategy.hpp"

#include <vector>

struct threads {
#ifdef WEFT_COMPILE_FAIL
  int operator()(const weft::concurrency::time_table&, const weft::machine&) const { return 1; }
#else
  std::vector<weft::team> operator()(const weft::concurrency::time_table& times, const weft::machine&) const {
    return std::vector<weft::team>(times.classes().num_classes());
  }
#endif
};

using mine = weft::concurrency::strategy<threads, weft::concurrency::fill_idle>;
mine make() { return {}; }
