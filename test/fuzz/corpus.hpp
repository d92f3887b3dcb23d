// SPDX-License-Identifier: BSL-1.0
/// The corpus of a fuzzer and damaged copies of it, the same in every run.
#pragma once

#include "weft/core/random.hpp"
#include "weft/io/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test::fuzz {

/// Some bytes changed, left out or put elsewhere, or a part of another text put in; `likely` are bytes to put in.
inline std::string damaged(rng& random, std::string text, const std::string& other, std::string_view likely) {
  for (auto changes = 1 + random.below(3); changes > 0 && !text.empty(); --changes) {
    const auto at = random.below(text.size());
    const auto length = random.below(40);
    const char c = likely[random.below(likely.size())];
    switch (random.below(7)) {
    case 0: text[at] = c; break;
    case 1: text.insert(at, 1, c); break;
    case 2: text[at] = static_cast<char>(text[at] ^ (1 << random.below(8))); break;
    case 3: text.erase(at, 1 + length / 4); break;
    case 4: text.insert(length % text.size(), text.substr(at, length)); break;
    case 5: text.insert(at, other.substr(random.below(other.size()), 4 * length)); break;
    default: text.resize(at); break;
    }
  }
  return text;
}

/// Reads the files in a folder of the corpus, at least so many, and 300 copies of each. Returns the files.
inline std::vector<std::string> run_corpus(const std::string& folder, std::size_t least, std::string_view likely,
                                           void (*read)(std::string_view)) {
  std::vector<std::filesystem::path> paths;
  const auto corpus = std::filesystem::path{__FILE__}.parent_path() / "corpus";
  for (const auto& entry : std::filesystem::directory_iterator{corpus / folder}) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() >= least);
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    texts.push_back(io::read_file(path));
  }
  rng random{11};
  for (std::size_t k = 0; k < texts.size(); ++k) {
    CAPTURE(paths[k].filename().string());
    for (int i = 0; i < 300; ++i) {
      const auto tried = i == 0 ? texts[k] : damaged(random, texts[k], texts[random.below(texts.size())], likely);
      try {
        read(tried);
      } catch (const std::exception& e) {
        FAIL_CHECK(e.what() << "\n" << tried.substr(0, 2000));
      }
    }
  }
  return texts;
}

} // namespace weft::test::fuzz
