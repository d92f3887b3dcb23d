// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/data_sheets.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace data_sheets_test {

using namespace weft;

TEST_CASE("data sheets: GPUs by the names that drivers print") {
  REQUIRE(data_sheets::find_gpu("NVIDIA A100-SXM4-80GB") != nullptr);
  CHECK(data_sheets::find_gpu("NVIDIA A100-SXM4-80GB")->figures.half == 312);
  CHECK(data_sheets::find_gpu("A100-SXM4-80GB") == data_sheets::find_gpu("NVIDIA A100-SXM4-80GB")); // before 2021
  CHECK(data_sheets::find_gpu("GeForce RTX 3090") == data_sheets::find_gpu("NVIDIA GeForce RTX 3090"));
  CHECK(data_sheets::find_gpu("V100-SXM2-16GB") == data_sheets::find_gpu("Tesla V100-SXM2-16GB"));
  CHECK(data_sheets::find_gpu("NVIDIA GeForce RTX 3090")->figures.gigabytes_per_second == 936);
  CHECK(data_sheets::find_gpu("NVIDIA H200")->figures.gibibytes == 141); // and not that of the H200 NVL
  CHECK(data_sheets::find_gpu("NVIDIA A100") == nullptr);
  CHECK(data_sheets::find_gpu("") == nullptr);
}

TEST_CASE("data sheets: figures that cannot be told from each other by eye hang together") {
  std::set<std::string_view> names;
  for (const auto& [name, g] : data_sheets::gpus) {
    CAPTURE(name);
    CHECK(names.insert(name).second);
    CHECK(g.tflops > 0);
    CHECK(g.half >= 1.9 * g.tflops); // matrix units are at least twice as fast in half precision …
    CHECK((g.fp8 == 0 || (g.fp8 > 1.9 * g.half && g.fp8 < 2.1 * g.half)));
    CHECK((g.int8 == 0 || g.int8 > 1.9 * g.half));
    CHECK(g.watts > 0);
    CHECK(g.gigabytes_per_second > 100);
    CHECK((g.nvlinks == 0) == (g.nvlink == 0));
    CHECK((!g.board || g.nvlinks > 0));
    CHECK(data_sheets::pcie_x16(g.pcie) > 0);
    CHECK(data_sheets::find_gpu(name)->name == name);
  }
}

TEST_CASE("data sheets: processors by a pattern of their names") {
  const auto of = data_sheets::memory_bandwidth_of_processor;
  CHECK(of("AMD EPYC 7742 64-Core Processor") == 204.8e9);
  CHECK(of("AMD EPYC 9654 96-Core Processor") == 460.8e9);
  CHECK(of("Intel(R) Xeon(R) Platinum 8480C") == 307.2e9);
  CHECK(of("Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz") == 76.8e9);
  CHECK(of("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz") == 128e9);
  CHECK(of("AMD EPYC") == 0);
  CHECK(of("") == 0);
}

} // namespace data_sheets_test
