// SPDX-License-Identifier: BSL-1.0
#include "weft/io/buffers.hpp"

#include "io/support.hpp"
#include "support/offsets.hpp"
#include "weft/allocate/offsets.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace io_buffers_test {

using namespace weft;
using allocate::lifetime;

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(io::read_buffers(text, "list.csv"));
  } catch (const parse_error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("buffers: columns in any order, and older names") {
  const auto plain = io::read_buffers("id,lower,upper,size\nb1,0,3,4\r\n\nb 2,-3,9,5\n", "list.csv");
  CHECK(plain.names == std::vector<std::string>{"b1", "b 2"});
  CHECK(plain.lifetimes == std::vector<lifetime>{{0, 3, 4}, {-3, 9, 5}});
  const auto mixed = io::read_buffers("offset,size,alignment,upper,id,lower\n,7,64,8,x,3", "list.csv");
  CHECK(mixed.lifetimes == std::vector<lifetime>{{3, 8, 7, 64}});
  const auto old = io::read_buffers("buffer,start,end,size\n1,0,2,4\n2,3,3,4\n3,4,3,1\n", "list.csv");
  CHECK(old.lifetimes == std::vector<lifetime>{{0, 3, 4}, {3, 4, 4}, {4, 4, 1}});
  CHECK(io::read_buffers("id,lower,upper,size", "list.csv").names.empty());
}

TEST_CASE("buffers: what is written reads back") {
  for (const byte_count alignment : {1u, 8u}) {
    const io::buffer_list all{{"a", "b"}, {{0, 2, 5, alignment}, {1, 3, 6}}};
    std::ostringstream plain, with_offsets;
    io::write_buffers(plain, all);
    io::write_buffers(with_offsets, all, std::vector<byte_count>{6, 0});
    CHECK(io::read_buffers(plain.str(), "copy") == all);
    CHECK(io::read_buffers(with_offsets.str(), "copy") == all);
    CHECK(with_offsets.str() == (alignment == 1 ? "id,lower,upper,size,offset\na,0,2,5,6\nb,1,3,6,0\n"
                                                : "id,lower,upper,size,alignment,offset\na,0,2,5,8,6\nb,1,3,6,1,0\n"));
  }
}

TEST_CASE("buffers: what is wrong is refused, by line") {
  const std::string header = "id,lower,upper,size,alignment\n";
  CHECK(refusal("") == "list.csv: there is no header line: expected 'id,lower,upper,size'");
  CHECK(refusal("id,lower,upper\n") == "list.csv:1: the header lacks the column 'size'");
  CHECK(refusal("id,lower,upper,size,gaps\n") ==
        "list.csv:1: column 'gaps' is not known; there are id, lower, upper, size, alignment and offset");
  CHECK(refusal("id,lower,upper,end,size\n") == "list.csv:1: there are two columns for 'upper'");
  CHECK(refusal(header + "\na,0,1,5\n") == "list.csv:3: expected 5 fields, as the header has, got 4");
  CHECK(refusal(header + "a,0,1,5,1,\n") == "list.csv:2: expected 5 fields, as the header has, got more");
  CHECK(refusal(header + ",0,1,5,1\n") == "list.csv:2: the buffer has no id");
  CHECK(refusal(header + "a,0.5,1,5,1\n") == "list.csv:2: lower '0.5' is not a whole number");
  CHECK(refusal(header + "a,0,1,-5,1\n") ==
        "list.csv:2: size '-5' is negative, or not a number: write a number that is not negative");
  CHECK(refusal(header + "a,2,1,5,1\n") == "list.csv:2: the buffer ends before it begins");
  CHECK(refusal(header + "a,0,1,5,0\n") == "list.csv:2: alignment is 0: write 1 if any offset will do");
  CHECK(refusal(header + "a,0,1,1152921504606846970,1\nb,0,1,5,1\n") ==
        "list.csv:3: sizes and alignments of all buffers add up to more than 2^60 bytes");
  CHECK(refusal("id,lower,end,size\na,0,9223372036854775807,5\n") ==
        "list.csv:2: end '9223372036854775807' is too large");
  CHECK_THROWS_AS(io::read_buffers(std::filesystem::path{"no such file"}), error);
}

TEST_CASE("buffers: published instances are solved") {
#if defined(WEFT_REFERENCE_DATA) && !defined(WEFT_SANITIZED) // with them, it takes a minute
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{std::string{WEFT_REFERENCE_DATA} + "/data/minimalloc"}) {
    const auto name = entry.path().filename().string(); // A.1048576.csv
    CAPTURE(name);
    const auto all = io::read_buffers(entry.path()).lifetimes;
    const auto capacity = std::stoull(name.substr(2));
    const auto found = allocate::within(all, capacity);
    REQUIRE(found.outcome == allocate::fit::found);
    CHECK(weft_test::wrong_with(all, found.offsets, capacity) == "");
    CHECK(allocate::within(all, allocate::live_bytes(all) - 1).outcome == allocate::fit::impossible);
    ++count;
  }
  CHECK(count > 0);
#else
  MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
#endif
}

} // namespace io_buffers_test
