// SPDX-License-Identifier: BSL-1.0
// The corpus of the fuzzers and damaged copies of it, the same in every run.
#include "fuzz/readers.hpp"
#include "weft/core/random.hpp"
#include "weft/io/read.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace fuzz_readers_test {

namespace fuzz = weft::test::fuzz;

std::vector<std::string> corpus_of(const char* reader) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator{std::filesystem::path{__FILE__}.parent_path() / "corpus" / reader}) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream in{path, std::ios::binary};
    texts.emplace_back(std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{});
  }
  return texts;
}

/// Some bytes changed, left out, doubled or moved, or the beginning of the text followed by the end of another.
std::string damaged(weft::rng& random, std::string text, const std::string& other) {
  static const std::string likely = "0123456789-.eE,;:\"\\[]{} \n\r\tNOCPUx\xff";
  for (auto changes = 1 + random.below(3); changes > 0 && !text.empty(); --changes) {
    const auto at = random.below(text.size());
    const auto length = random.below(40);
    const char c = likely[random.below(likely.size())];
    switch (random.below(6)) {
    case 0: text[at] = c; break;
    case 1: text.insert(at, 1, c); break;
    case 2: text.erase(at, 1 + length / 4); break;
    case 3: text.insert(length % text.size(), text.substr(at, length)); break;
    case 4: text.resize(at); break;
    default: text = text.substr(0, at) + other.substr(random.below(other.size() + 1)); break;
    }
  }
  return text;
}

void check(const fuzz::named_reader& reader, const std::string& text) {
  try {
    reader.read(text);
  } catch (const std::exception& e) {
    FAIL_CHECK(reader.name << ": " << e.what() << "\n" << text.substr(0, 2000));
  }
}

/// What `reader` says to bytes that it must refuse.
template <class Read>
std::string refusal(const Read& read, const std::string& text) {
  std::istringstream in{text};
  try {
    read(in);
  } catch (const weft::parse_error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("fuzz: readers take any bytes") {
  constexpr int damaged_copies = 150; // per file
  weft::rng random{20180101};
  for (const auto& reader : fuzz::readers) {
    const auto corpus = corpus_of(reader.name);
    REQUIRE(corpus.size() >= 2);
    for (const auto& text : corpus) {
      check(reader, text);
      for (int i = 0; i < damaged_copies; ++i) {
        const auto& other = corpus[random.below(corpus.size())];
        check(reader, damaged(random, text, other));
      }
    }
  }
}

TEST_CASE("fuzz: nesting that would overflow the stack is refused") {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const auto workload = [](std::istream& in) { weft::io::read_workload_json(in); };
  const std::string begin = "{\"format\": \"weft.workload\", \"version\": ";
  CHECK(
    refusal(workload, begin + "1,\n\"ops\": [" + deep + "]}").starts_with("<stream>:2: lists and objects are nested"));
  CHECK(refusal(workload, begin + deep + ", \"ops\": []}").starts_with("<stream>:1: lists and objects are nested"));
  CHECK(refusal(workload, std::string(200'000, '[')).starts_with("<stream>:1: not valid JSON"));
}

TEST_CASE("fuzz: many rows without rates take no memory for links") {
  std::string text = "Id,RAM,#operations,commnication speed,type\n";
  for (int i = 0; i < 100'000; ++i) {
    text += std::to_string(i) + ",1,1,,CPU\n";
  }
  const auto platform = [](std::istream& in) { weft::io::read_platform_csv(in); };
  CHECK(refusal(platform, text).find("device 0 needs 99999 transfer rates") != std::string::npos);
}

} // namespace fuzz_readers_test
