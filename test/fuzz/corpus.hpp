// SPDX-License-Identifier: BSL-1.0
/// The corpora of the fuzzers and damaged copies of their files, the same in every run.
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

/// Some bytes changed, left out, doubled or put elsewhere, or a part of another file in their place. New bytes are
/// among the likely ones, or any.
inline std::string damaged(rng& random, std::string bytes, const std::string& other, std::string_view likely) {
  for (auto changes = 1 + random.below(3); changes > 0 && !bytes.empty(); --changes) {
    const auto at = random.below(bytes.size());
    const auto length = random.below(40);
    const char c = likely.empty() ? static_cast<char>(random.below(256)) : likely[random.below(likely.size())];
    switch (random.below(8)) {
    case 0: bytes[at] = c; break;
    case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8))); break;
    case 2: bytes.insert(at, 1, c); break;
    case 3: bytes.erase(at, 1 + length / 4); break;
    case 4: bytes.insert(length % bytes.size(), bytes.substr(at, length)); break;
    case 5: bytes.insert(at, other.substr(random.below(other.size() + 1), 4 * length)); break;
    case 6: bytes.resize(at); break;
    default: bytes = bytes.substr(0, at) + other.substr(random.below(other.size() + 1)); break;
    }
  }
  return bytes;
}

/// The runs over a corpus.
struct corpus_runs {
  std::size_t least = 2;         ///< files that there must be
  std::size_t copies = 150;      ///< of each file, at the most
  std::size_t bytes = 1'000'000; ///< to be read of each file's copies, about, but 20 of them at the least
  std::string_view likely = {};  ///< bytes that mean something; empty: all do
};

/// Calls `read(bytes, is_whole)` with each file of a corpus and with damaged copies; it must not throw.
template <class Read>
void check_corpus(const char* name, const corpus_runs& runs, const Read& read) {
  std::vector<std::filesystem::path> paths;
  const auto folder = std::filesystem::path{__FILE__}.parent_path() / "corpus" / name;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() >= runs.least);
  std::vector<std::string> files;
  for (const auto& path : paths) {
    files.push_back(io::read_file(path));
  }
  rng random{20180101};
  for (std::size_t k = 0; k < files.size(); ++k) {
    CAPTURE(paths[k].string());
    const auto copies = std::min(runs.copies, std::max<std::size_t>(runs.bytes / (files[k].size() + 1), 20));
    for (std::size_t i = 0; i <= copies; ++i) {
      const auto& other = files[random.below(files.size())];
      const auto bytes = i == 0 ? files[k] : damaged(random, files[k], other, runs.likely);
      try {
        read(bytes, i == 0);
      } catch (const std::exception& e) {
        FAIL_CHECK(e.what() << "\n" << bytes.substr(0, 2000));
      }
    }
  }
}

} // namespace weft::test::fuzz
