// SPDX-License-Identifier: BSL-1.0
// The corpus of the fuzzer of StableHLO programs and damaged copies of it, the same in every run.
#include "fuzz/corpus.hpp"
#include "fuzz/stablehlo.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("fuzz: every StableHLO program of the corpus, and damaged ones, are read or refused as they should be") {
  weft::test::fuzz::check_corpus(
    "stablehlo", {.least = 10, .copies = 300, .likely = "%#@^(){}[]<>:,=\"-> x0123\n"},
    [](const std::string& text, bool whole) {
      CHECK((!whole || weft::stablehlo::reader{}.recognises(text)));
      weft::test::fuzz::stablehlo(text);
    });
}
