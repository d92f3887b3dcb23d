// SPDX-License-Identifier: BSL-1.0
#include "weft/io/sha256.hpp"

#include <doctest/doctest.h>

#include <string>

namespace io_sha256_test {

using weft::io::sha256;

TEST_CASE("sha256: the examples of the standard") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: every length around the end of a block") { // as Python's hashlib has it
  std::string chained;
  for (std::size_t size = 0; size <= 130; ++size) {
    chained = sha256(chained + std::string(size, static_cast<char>(size)));
  }
  CHECK(chained == "27552bd3c482f985ad6c37511ad29c43c14649f438fa1e44061b98866986b970");
}

} // namespace io_sha256_test
