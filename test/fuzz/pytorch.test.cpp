// SPDX-License-Identifier: BSL-1.0
#include "fuzz/pytorch.hpp"
#include "fuzz/corpus.hpp"

#include <doctest/doctest.h>

namespace fuzz_pytorch_test {

constexpr const char* likely = "{}[]:,\"-0123456789.eE \n\xff";

TEST_CASE("fuzz: every exported program of the corpus, and damaged ones, are read or refused as they should be") {
  weft::test::fuzz::run_corpus("pytorch", 8, likely, weft::test::fuzz::pytorch);
}

TEST_CASE("fuzz: symbolic sizes have a finite value or none") {
  weft::test::fuzz::run_corpus("pytorch_expression", 5, likely, weft::test::fuzz::pytorch_expression);
}

} // namespace fuzz_pytorch_test
