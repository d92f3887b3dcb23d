// SPDX-License-Identifier: BSL-1.0
// Finds offsets for the buffers of a CSV file, such as MiniMalloc's, within a capacity or in as little memory as it
// can, and prints the file with a column for them.
//
// allocate_buffers FILE [CAPACITY]
#include <weft/allocate/offsets.hpp>
#include <weft/io/buffers.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: allocate_buffers FILE [CAPACITY in bytes; without it as little as possible]\n");
    return 2;
  }
  try {
    const auto buffers = weft::io::read_buffers(argv[1]);
    const weft::budget spend{.seconds = 10};
    weft::allocate::allocation found;
    if (argc == 3) {
      const auto capacity = weft::io::parse_number<weft::byte_count>(
        argv[2], "the capacity", [](const std::string& problem) { throw weft::error(problem); });
      found = weft::allocate::within(buffers.lifetimes, capacity, spend);
      if (found.outcome == weft::allocate::fit::impossible) {
        throw weft::error("no packing fits into " + std::to_string(capacity) + " bytes; at least " +
                          std::to_string(found.bound) + " are needed");
      } else if (found.outcome == weft::allocate::fit::unknown) {
        throw weft::error("no offsets that end by " + std::to_string(capacity) + " bytes were found in 10 seconds, " +
                          "and it is not proven that there are none; give more bytes, or leave the capacity out");
      }
    } else {
      found = weft::allocate::least(buffers.lifetimes, spend);
    }
    weft::io::write_buffers(std::cout, buffers, found.offsets);
    std::fprintf(stderr, "%llu bytes; %llu are needed at least\n", static_cast<unsigned long long>(found.bytes),
                 static_cast<unsigned long long>(found.bound));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "allocate_buffers: %s\n", e.what());
    return 1;
  }
}
