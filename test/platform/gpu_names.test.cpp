// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/gpu_names.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace gpu_names_test {

using namespace weft;
using names = std::vector<std::string>;

TEST_CASE("names of GPUs: types of batch systems are words of the names of data sheets") {
  CHECK(data_sheets::has_word("A100-SXM4-80GB", "a100"));
  CHECK(data_sheets::has_word("H100 80GB HBM3", "nvidia_h100_80gb_hbm3"));
  CHECK(!data_sheets::has_word("L40", "l4"));
  CHECK(!data_sheets::has_word("L40", ""));
  CHECK(data_sheets::sheets_of_type("rtx_3090") == names{"GeForce RTX 3090"}); // not the Ti: it is the whole type
  CHECK(data_sheets::sheets_of_type("nvidia_geforce_rtx_3080") == names{"GeForce RTX 3080"});
  CHECK(data_sheets::sheets_of_type("rtx_4060_ti") == names{"GeForce RTX 4060 Ti"});
  CHECK(data_sheets::sheets_of_type("geforce-rtx-4080") == names{"GeForce RTX 4080"});
  CHECK(data_sheets::sheets_of_type("v100-pcie") == names{"Tesla V100-PCIE-16GB", "Tesla V100-PCIE-32GB"});
  CHECK(data_sheets::sheets_of_type("l4") == names{"L4"});
  CHECK(data_sheets::sheets_of_type("a100_3g.20gb") == names{"A100-PCIE-40GB MIG 3g.20gb"}); // alike on all of 40 GB
  CHECK(data_sheets::sheets_of_type("a100_3g.99gb").empty());
  CHECK(data_sheets::sheets_of_type("gb10_1g.5gb").empty()); // has no memory to be cut
  CHECK(data_sheets::sheets_of_type("").empty());
}

TEST_CASE("names of GPUs: data sheets that share a number with a name") {
  CHECK(data_sheets::sheets_like("NVIDIA H100-SXM5-80GB") == names{"H100 PCIe", "H100 NVL", "H100 80GB HBM3"});
  CHECK(data_sheets::sheets_like("Foo 80GB").empty()); // an amount of memory
  CHECK(data_sheets::sheets_like("").empty());
}

TEST_CASE("names of GPUs: what an option has to give is what is neither known nor listed") {
  CHECK(data_sheets::which_may_be({}).empty());
  CHECK(data_sheets::which_may_be({"A", "B"}) == ", which may be 'A', 'B'");
  CHECK(data_sheets::which_may_be(names(10, "A")).ends_with(", 'A' or 2 others"));
  CHECK(data_sheets::name_option("x", {"A", "B"}) == "--gpu 'x=A'");
  CHECK(data_sheets::name_option("x", {}) == "--gpu 'x=A100-SXM4-80GB'");
  CHECK(data_sheets::figures_option("x", {}, true, true) ==
        "--gpu 'x=fp32:60,half:120,bandwidth:900,memory:24,nvlink:25,nvlinks:12'");
  CHECK(data_sheets::figures_option("x", {}, false, false) == "--gpu 'x=fp32:60,half:120,bandwidth:900'");
  const data_sheets::gpu known{.tflops = 1, .gibibytes = 1, .gigabytes_per_second = 1, .nvlinks = 4};
  CHECK(data_sheets::figures_option("x", known, true, true) == "--gpu 'x=nvlink:25'");
}

} // namespace gpu_names_test
