// SPDX-License-Identifier: BSL-1.0
// The corpus of the fuzzer of StableHLO programs and damaged copies of it, the same in every run.
#include "fuzz/stablehlo.hpp"
#include "weft/core/random.hpp"
#include "weft/io/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace fuzz_stablehlo_test {

/// Some bytes changed, left out or put elsewhere, or a part of another text put in.
std::string damaged(weft::rng& random, std::string text, const std::string& other) {
  static const std::string likely = "%#@^(){}[]<>:,=\"-> x0123\n";
  for (auto changes = 1 + random.below(3); changes > 0 && !text.empty(); --changes) {
    const auto at = random.below(text.size());
    const auto length = random.below(40);
    switch (random.below(6)) {
    case 0: text[at] = likely[random.below(likely.size())]; break;
    case 1: text.insert(at, 1, likely[random.below(likely.size())]); break;
    case 2: text.erase(at, 1 + length / 4); break;
    case 3: text.insert(length % text.size(), text.substr(at, length)); break;
    case 4: text.insert(at, other.substr(random.below(other.size()), 4 * length)); break;
    default: text.resize(at); break;
    }
  }
  return text;
}

TEST_CASE("fuzz: every StableHLO program of the corpus, and damaged ones, are read or refused as they should be") {
  std::vector<std::filesystem::path> paths;
  const auto folder = std::filesystem::path{__FILE__}.parent_path() / "corpus" / "stablehlo";
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() >= 10);
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    texts.push_back(weft::io::read_file(path));
    CHECK(weft::stablehlo::reader{}.recognises(texts.back()));
  }
  weft::rng random{11};
  for (std::size_t k = 0; k < texts.size(); ++k) {
    CAPTURE(paths[k].filename().string());
    for (int i = 0; i < 300; ++i) {
      const auto tried = i == 0 ? texts[k] : damaged(random, texts[k], texts[random.below(texts.size())]);
      try {
        weft::test::fuzz::stablehlo(tried);
      } catch (const std::exception& e) {
        FAIL_CHECK(e.what() << "\n" << tried);
      }
    }
  }
}

} // namespace fuzz_stablehlo_test
