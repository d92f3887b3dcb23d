// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/gzip.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <zlib.h>

namespace interop_gzip_test {

using namespace weft;

struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("weft_gzip_test_" + std::to_string(reinterpret_cast<std::uintptr_t>(&path)));
  folder() { std::filesystem::create_directory(path); }
  ~folder() { std::filesystem::remove_all(path); }
};

std::string content(const std::filesystem::path& file) {
  interop::gzip_stream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

TEST_CASE("gzip_stream: compressed files, plain ones, damaged ones") {
  const folder f;
  std::string text;
  for (int i = 0; i < 30'000; ++i) {
    text += std::to_string(i * 7919 % 10'007) + '\n';
  }
  const auto zipped = f.path / "text.gz";
  gzFile out = gzopen(zipped.string().c_str(), "wb");
  REQUIRE(gzwrite(out, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  gzclose(out);
  CHECK(content(zipped) == text);

  std::ofstream{f.path / "plain", std::ios::binary} << text;
  CHECK(content(f.path / "plain") == text);
  std::ofstream{f.path / "empty", std::ios::binary};
  CHECK(content(f.path / "empty").empty());

  std::string bytes;
  {
    std::ifstream in{zipped, std::ios::binary};
    bytes.assign(std::istreambuf_iterator<char>{in}, {});
  }
  std::ofstream{f.path / "cut.gz", std::ios::binary} << bytes.substr(0, bytes.size() / 2);
  CHECK_THROWS_WITH_AS(content(f.path / "cut.gz"), doctest::Contains("damaged or end early"), error);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  std::ofstream{f.path / "damaged.gz", std::ios::binary} << bytes;
  CHECK_THROWS_WITH_AS(content(f.path / "damaged.gz"), doctest::Contains("damaged or end early"), error);

  CHECK_THROWS_WITH_AS(content(f.path / "none"), doctest::Contains("cannot read"), error);
  CHECK_THROWS_WITH_AS(content(f.path), doctest::Contains("cannot read"), error);
}

} // namespace interop_gzip_test
