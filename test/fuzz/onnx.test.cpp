// SPDX-License-Identifier: BSL-1.0
// The corpus of the fuzzer of ONNX models and damaged copies of it, the same in every run.
#include "fuzz/onnx.hpp"
#include "weft/core/random.hpp"
#include "weft/interop/onnx.hpp"
#include "weft/io/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace fuzz_onnx_test {

/// Some bytes changed, left out, doubled or put elsewhere.
std::string damaged(weft::rng& random, std::string bytes) {
  for (auto changes = 1 + random.below(3); changes > 0 && !bytes.empty(); --changes) {
    const auto at = random.below(bytes.size());
    const auto length = random.below(20);
    switch (random.below(5)) {
    case 0: bytes[at] = static_cast<char>(random.below(256)); break;
    case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8))); break;
    case 2: bytes.erase(at, 1 + length / 4); break;
    case 3: bytes.insert(length % bytes.size(), bytes.substr(at, length)); break;
    default: bytes.resize(at); break;
    }
  }
  return bytes;
}

TEST_CASE("fuzz: every ONNX model of the corpus, and damaged ones, are read or refused as they should be") {
  std::vector<std::filesystem::path> paths;
  const auto folder = std::filesystem::path{__FILE__}.parent_path() / "corpus" / "onnx";
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() >= 15);
  weft::rng random{7};
  for (const auto& path : paths) {
    CAPTURE(path.filename().string());
    auto in = weft::io::open_for_reading(path);
    const auto bytes = weft::io::read_all(in, path.string());
    CHECK(weft::onnx::reader{}.recognises(bytes));
    for (int i = 0; i < 150; ++i) {
      const auto tried = i == 0 ? bytes : damaged(random, bytes);
      try {
        weft::test::fuzz::onnx(tried);
      } catch (const std::exception& e) {
        FAIL_CHECK(e.what());
      }
    }
  }
}

} // namespace fuzz_onnx_test
