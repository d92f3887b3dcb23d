// SPDX-License-Identifier: BSL-1.0
// The corpus of the fuzzer of ONNX models and damaged copies of it, the same in every run.
#include "fuzz/corpus.hpp"
#include "fuzz/onnx.hpp"
#include "weft/interop/onnx.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("fuzz: every ONNX model of the corpus, and damaged ones, are read or refused as they should be") {
  weft::test::fuzz::check_corpus("onnx", {.least = 15}, [](const std::string& bytes, bool whole) {
    CHECK((!whole || weft::onnx::reader{}.recognises(bytes)));
    weft::test::fuzz::onnx(bytes);
  });
}
