// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not a co-run policy
#include "weft/concurrency/strategy.hpp"

#include <optional>

struct corun {
#ifdef WEFT_COMPILE_FAIL
  weft::op_id operator()(const weft::concurrency::run_view& view) const { return view.ready.front(); }
#else
  std::optional<weft::concurrency::launch> operator()(const weft::concurrency::run_view& view) const {
    return weft::concurrency::launch{view.ready.front(), view.chosen(view.ready.front())};
  }
#endif
};

using mine = weft::concurrency::strategy<weft::concurrency::best_threads, corun>;
mine make() { return {}; }
