// SPDX-License-Identifier: BSL-1.0
// The corpus of the fuzzers of exported PyTorch programs and damaged copies of it, the same in every run.
#include "fuzz/pytorch.hpp"
#include "weft/core/random.hpp"
#include "weft/io/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace fuzz_pytorch_test {

/// Some bytes changed, left out or put elsewhere, or a part of another file put in.
std::string damaged(weft::rng& random, std::string text, const std::string& other) {
  static const std::string likely = "{}[]:,\"-0123456789.eE \n\xff";
  for (auto changes = 1 + random.below(3); changes > 0 && !text.empty(); --changes) {
    const auto at = random.below(text.size());
    const auto length = random.below(40);
    switch (random.below(6)) {
    case 0: text[at] = likely[random.below(likely.size())]; break;
    case 1: text[at] = static_cast<char>(text[at] ^ (1 << random.below(8))); break;
    case 2: text.erase(at, 1 + length / 4); break;
    case 3: text.insert(length % text.size(), text.substr(at, length)); break;
    case 4: text.insert(at, other.substr(random.below(other.size()), 4 * length)); break;
    default: text.resize(at); break;
    }
  }
  return text;
}

/// Reads the corpus of a function, and copies of it.
void run(const char* name, void (*read)(std::string_view), std::size_t least) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator{std::filesystem::path{__FILE__}.parent_path() / "corpus" / name}) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() >= least);
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    texts.push_back(weft::io::read_file(path));
  }
  weft::rng random{13};
  for (std::size_t k = 0; k < texts.size(); ++k) {
    CAPTURE(paths[k].filename().string());
    for (int i = 0; i < 300; ++i) {
      try {
        read(i == 0 ? texts[k] : damaged(random, texts[k], texts[random.below(texts.size())]));
      } catch (const std::exception& e) {
        FAIL_CHECK(e.what());
      }
    }
  }
}

TEST_CASE("fuzz: every exported program of the corpus, and damaged ones, are read or refused as they should be") {
  run("pytorch", weft::test::fuzz::pytorch, 8);
}

TEST_CASE("fuzz: symbolic sizes have a finite value or none") {
  run("pytorch_expression", weft::test::fuzz::pytorch_expression, 5);
}

} // namespace fuzz_pytorch_test
