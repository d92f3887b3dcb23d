// SPDX-License-Identifier: BSL-1.0
#include "fuzz/stablehlo.hpp"
#include "fuzz/corpus.hpp"

#include <doctest/doctest.h>

namespace fuzz_stablehlo_test {

TEST_CASE("fuzz: every StableHLO program of the corpus, and damaged ones, are read or refused as they should be") {
  const auto texts =
    weft::test::fuzz::run_corpus("stablehlo", 10, "%#@^(){}[]<>:,=\"-> x0123\n", weft::test::fuzz::stablehlo);
  for (const auto& text : texts) {
    CHECK(weft::stablehlo::reader{}.recognises(text));
  }
}

} // namespace fuzz_stablehlo_test
