// SPDX-License-Identifier: BSL-1.0
// The corpus of TensorFlow's fuzzers and damaged copies of it, the same in every run.
#include "fuzz/tensorflow.hpp"
#include "weft/core/random.hpp"
#include "weft/interop/tensorflow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace interop_tensorflow_damaged_test {

std::vector<std::string> corpus_of(const char* reader) {
  const auto folder = std::filesystem::path{__FILE__}.parent_path().parent_path() / "fuzz/corpus" / reader;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> files;
  for (const auto& path : paths) {
    std::ifstream in{path, std::ios::binary};
    files.emplace_back(std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{});
  }
  return files;
}

/// Bytes changed, left out or doubled, or the beginning of a file followed by the end of another.
std::string damaged(weft::rng& random, std::string bytes, const std::string& other) {
  for (auto changes = 1 + random.below(3); changes > 0 && !bytes.empty(); --changes) {
    const auto at = random.below(bytes.size());
    const auto length = random.below(30);
    switch (random.below(5)) {
    case 0: bytes[at] = static_cast<char>(random.below(256)); break;
    case 1: bytes.erase(at, 1 + length); break;
    case 2: bytes.insert(at, bytes.substr(length % bytes.size(), length)); break;
    case 3: bytes.resize(at); break;
    default: bytes = bytes.substr(0, at) + other.substr(random.below(other.size() + 1)); break;
    }
  }
  return bytes;
}

void check(const char* name, void (*reader)(std::string_view)) {
  const auto files = corpus_of(name);
  REQUIRE(files.size() >= 5);
  weft::rng random{2017};
  for (const auto& file : files) {
    // Fewer of a large file, which takes longer and differs from a small one by having more of the same.
    const auto copies = std::clamp<std::size_t>(400'000 / (file.size() + 1), 20, 200);
    for (std::size_t i = 0; i < copies; ++i) {
      const auto bytes = i == 0 ? file : damaged(random, file, files[random.below(files.size())]);
      try {
        reader(bytes);
      } catch (const std::exception& e) {
        FAIL_CHECK(name << ": " << e.what() << "\n" << bytes);
      }
    }
  }
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
