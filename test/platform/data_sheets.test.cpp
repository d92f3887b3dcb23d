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

TEST_CASE("data sheets: what people have at home, and what came last") {
  struct expected {
    const char* name;
    double gibibytes;
    double gigabytes_per_second;
  };
  for (const auto& [name, gibibytes, bandwidth] :
       {expected{"NVIDIA GeForce RTX 3060", 12, 360}, expected{"NVIDIA GeForce RTX 4060 Ti", 8, 288},
        expected{"NVIDIA GeForce RTX 4070", 12, 504.2}, expected{"NVIDIA GeForce RTX 4070 Ti SUPER", 16, 672.3},
        expected{"NVIDIA GeForce RTX 5060 Ti", 8, 448}, expected{"NVIDIA GeForce RTX 5090", 32, 1792},
        expected{"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 96, 1792},
        expected{"GeForce GTX 1080 Ti", 11, 484}, expected{"Tesla K40m", 12, 288},
        expected{"Tesla V100-SXM3-32GB", 32, 981}, expected{"NVIDIA H200", 141, 4800},
        expected{"NVIDIA B200", 180, 8000}}) {
    CAPTURE(name);
    const auto figures = data_sheets::figures_of(name);
    REQUIRE(figures);
    CHECK(figures->gibibytes == gibibytes);
    CHECK(figures->gigabytes_per_second == bandwidth);
  }
  CHECK(data_sheets::figures_of("GeForce RTX 4060 Ti 16GB")->gibibytes == 16); // the driver prints no 16GB
  CHECK(data_sheets::figures_of("Tesla K40m")->half == 0);
}

TEST_CASE("data sheets: figures that cannot be told from each other by eye hang together") {
  std::set<std::string_view> names;
  for (const auto& [name, g] : data_sheets::gpus) {
    CAPTURE(name);
    CHECK(names.insert(name).second);
    CHECK(g.tflops > 0);
    CHECK((g.half == 0 || g.half >= 1.9 * g.tflops)); // matrix units are at least twice as fast in half precision …
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

TEST_CASE("data sheets: slices of GPUs (MIG) have their share of computing and of memory") {
  const auto of = [](const char* name) { return data_sheets::figures_of(name).value_or(data_sheets::gpu{}); };
  const auto a100 = of("NVIDIA A100-SXM4-40GB");
  const auto slice = of("NVIDIA A100-SXM4-40GB MIG 3g.20gb");
  CHECK(slice.tflops == doctest::Approx(a100.tflops * 3 / 7));
  CHECK(slice.half == doctest::Approx(a100.half * 3 / 7));
  CHECK(slice.gibibytes == 20);
  CHECK(slice.gigabytes_per_second == doctest::Approx(a100.gigabytes_per_second / 2));
  CHECK(slice.nvlinks == 0);
  CHECK(!slice.board);
  CHECK(of("NVIDIA A100-SXM4-40GB MIG 7g.40gb").tflops == a100.tflops);
  CHECK(of("A100-SXM4-80GB MIG 1g.10gb+me").gibibytes == 10);
  CHECK(of("A100-SXM4-40GB MIG 1g.10gb").gibibytes == 10); // two eighths
  CHECK(of("NVIDIA H100 80GB HBM3 MIG 1g.10gb").gibibytes == 10);
  CHECK(of("NVIDIA H200 MIG 1g.18gb").gibibytes == doctest::Approx(141.0 / 8));
  CHECK(of("NVIDIA A30 MIG 1g.6gb").tflops == doctest::Approx(of("A30").tflops / 4));
  CHECK(of("RTX PRO 6000 Blackwell Server Edition MIG 2g.48gb").tflops == 120);
  CHECK(of("RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb").gibibytes == 24);
  CHECK(!data_sheets::figures_of("NVIDIA GB10 MIG 1g.5gb"));
  const auto part = of("NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb"); // shares the memory of its slice
  CHECK(part.tflops == doctest::Approx(a100.tflops / 7));
  CHECK(part.gibibytes == doctest::Approx(20.0 / 3));
  CHECK(!data_sheets::figures_of("NVIDIA A100-SXM4-40GB MIG 3g.40gb"));
  CHECK(!data_sheets::figures_of("NVIDIA A100-SXM4-40GB MIG 9g.40gb"));
  CHECK(!data_sheets::figures_of("NVIDIA A100-SXM4-80GB MIG 1g.5gb")); // half of what its slices have
  for (const char* name : {"NVIDIA H100 NVL MIG 1g.12gb", "NVIDIA H200 MIG 3g.71gb", "NVIDIA B200 MIG 1g.23gb",
                           "NVIDIA A30 MIG 2g.12gb", "NVIDIA A100-SXM4-40GB MIG 4g.20gb"}) {
    CHECK(data_sheets::figures_of(name));
  }
  CHECK(!data_sheets::figures_of("NVIDIA Foo MIG 3g.20gb"));
  CHECK(data_sheets::slice_in("a100_mig-3g.20gb").whole == "a100");
  CHECK(data_sheets::slice_in("gh200 480gb").slices == 0);
}

} // namespace data_sheets_test
