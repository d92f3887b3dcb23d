// SPDX-License-Identifier: BSL-1.0
// The corpus of the fuzzers of exported PyTorch programs and damaged copies of it, the same in every run.
#include "fuzz/corpus.hpp"
#include "fuzz/pytorch.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace fuzz_pytorch_test {

void run(const char* name, void (*read)(std::string_view), std::size_t least) {
  weft::test::fuzz::check_corpus(name, {.least = least, .copies = 300, .likely = "{}[]:,\"-0123456789.eE \n\xff"},
                                 [&](const std::string& bytes, bool) { read(bytes); });
}

TEST_CASE("fuzz: every exported program of the corpus, and damaged ones, are read or refused as they should be") {
  run("pytorch", weft::test::fuzz::pytorch, 8);
}

TEST_CASE("fuzz: symbolic sizes have a finite value or none") {
  run("pytorch_expression", weft::test::fuzz::pytorch_expression, 5);
}

} // namespace fuzz_pytorch_test
