// SPDX-License-Identifier: BSL-1.0
// The corpus of TensorFlow's fuzzers and damaged copies of it, the same in every run.
#include "fuzz/corpus.hpp"
#include "fuzz/tensorflow.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace interop_tensorflow_damaged_test {

void check(const char* name, void (*read)(std::string_view)) {
  weft::test::fuzz::check_corpus(name, {.least = 5, .copies = 200, .bytes = 400'000},
                                 [&](const std::string& bytes, bool) { read(bytes); });
}

TEST_CASE("damaged graphs are read or refused in one line") {
  check("tensorflow_text", weft::test::fuzz::tensorflow_text);
  check("tensorflow_binary", weft::test::fuzz::tensorflow_binary);
}

TEST_CASE("damaged models with functions are read or refused in one line") {
  check("tensorflow_saved_model", weft::test::fuzz::tensorflow_saved_model);
}

TEST_CASE("damaged costs are read or refused in one line") {
  check("tensorflow_costs", weft::test::fuzz::tensorflow_costs);
}

} // namespace interop_tensorflow_damaged_test
