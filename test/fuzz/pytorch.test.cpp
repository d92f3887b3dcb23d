// SPDX-License-Identifier: BSL-1.0
#include "fuzz/pytorch.hpp"
#include "fuzz/corpus.hpp"

#include <doctest/doctest.h>

#include <string>

namespace fuzz_pytorch_test {

constexpr const char* likely = "{}[]:,\"-0123456789.eE \n\xff";

TEST_CASE("fuzz: every exported program of the corpus, and damaged ones, are read or refused as they should be") {
  weft::test::fuzz::check_corpus("pytorch", {.least = 8, .copies = 300, .likely = likely},
                                 [](const std::string& bytes, bool) { weft::test::fuzz::pytorch(bytes); });
}

TEST_CASE("fuzz: symbolic sizes have a finite value or none") {
  weft::test::fuzz::check_corpus("pytorch_expression", {.least = 5, .copies = 300, .likely = likely},
                                 [](const std::string& bytes, bool) { weft::test::fuzz::pytorch_expression(bytes); });
}

} // namespace fuzz_pytorch_test
