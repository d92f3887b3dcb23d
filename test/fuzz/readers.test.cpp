// SPDX-License-Identifier: BSL-1.0
// The corpus of the fuzzers and damaged copies of it, the same in every run.
#include "fuzz/corpus.hpp"
#include "fuzz/readers.hpp"
#include "weft/io/read.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace fuzz_readers_test {

namespace fuzz = weft::test::fuzz;

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
  for (const auto& reader : fuzz::readers) {
    fuzz::check_corpus(reader.name, {.likely = "0123456789-.eE,;:\"\\[]{} \n\r\tNOCPUx\xff"},
                       [&](const std::string& bytes, bool) { reader.read(bytes); });
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
