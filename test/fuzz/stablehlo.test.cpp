// SPDX-License-Identifier: BSL-1.0
#include "fuzz/stablehlo.hpp"
#include "fuzz/corpus.hpp"

#include <doctest/doctest.h>

#include <string>

namespace fuzz_stablehlo_test {

TEST_CASE("fuzz: every StableHLO program of the corpus, and damaged ones, are read or refused as they should be") {
  weft::test::fuzz::check_corpus(
    "stablehlo", {.least = 10, .copies = 300, .likely = "%#@^(){}[]<>:,=\"-> x0123\n"},
    [](const std::string& bytes, bool whole) {
      CHECK((!whole || weft::stablehlo::reader{}.recognises(bytes)));
      weft::test::fuzz::stablehlo(bytes);
    });
}

} // namespace fuzz_stablehlo_test
