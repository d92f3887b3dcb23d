// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "weft/io/nvidia_smi.hpp"

#include <doctest/doctest.h>

#include <string>

namespace io_nvidia_smi_test {

using namespace weft;
using weft_test::refusal;
using inventory::distance;
using inventory::way;

constexpr const char* with_units =
  "index, name, pci.bus_id, driver_version, memory.total [MiB], power.limit [W], pcie.link.gen.max, "
  "pcie.link.width.max\n"
  "0, NVIDIA A100-SXM4-80GB, 00000000:07:00.0, 535.129.03, 81920 MiB, 400.00 W, 4, 16\n"
  "1, NVIDIA A100-SXM4-80GB, 00000000:0F:00.0, 535.129.03, 81920 MiB, [N/A], 3, 8\n";

TEST_CASE("nvidia-smi --query-gpu: fields with units") {
  CHECK(io::gpu_list_reader::recognises(with_units));
  const auto gpus = io::gpu_list_reader::read(with_units, "in");
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0] == inventory::gpu{"NVIDIA A100-SXM4-80GB", byte_count{81920} << 20, 400.0, 4u, 16u});
  CHECK(gpus[1] == inventory::gpu{"NVIDIA A100-SXM4-80GB", byte_count{81920} << 20, std::nullopt, 3u, 8u});
}

TEST_CASE("nvidia-smi --query-gpu: without units, in any order, of an old driver, with carriage returns") {
  const std::string text =
    "memory.total [MiB], utilization.gpu [%], gpu_name\r\n16160, 0, Tesla V100-SXM2-16GB\r\n\r\n";
  CHECK(io::gpu_list_reader::recognises(text));
  const auto gpus = io::gpu_list_reader::read(text, "in");
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0] == inventory::gpu{"Tesla V100-SXM2-16GB", byte_count{16160} << 20});
  const auto bare = io::gpu_list_reader::read("name\nNVIDIA L4\nNVIDIA L4\n", "in");
  CHECK(bare.size() == 2);
  CHECK(!bare[0].memory);
}

TEST_CASE("nvidia-smi --query-gpu: GPUs without memory of their own, and memory that is not known") {
  const auto of = [](const std::string& field) {
    return io::gpu_list_reader::read("name, memory.total [MiB]\nX, " + field + "\n", "in").front();
  };
  for (const char* none : {"[N/A]", "N/A", "[Not Supported]", "Not Supported"}) {
    CHECK(of(none) == inventory::gpu{.name = "X", .shares_memory = true});
  }
  CHECK(!of("[Unknown Error]").shares_memory);
  CHECK(!of("8 MiB").shares_memory);
  const auto board = io::gpu_list_reader::read(
    "name, memory.total [MiB], power.limit [W]\nOrin (nvgpu), Not Supported, Not Supported\n", "in");
  CHECK(!board[0].watts);
}

TEST_CASE("nvidia-smi -L: GPUs and slices of them") {
  using reader = io::gpu_list_reader;
  const std::string text = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-01234567-89ab-cdef-0123-456789abcdef)\n"
                           "  MIG 3g.20gb     Device  0: (UUID: MIG-c7384736-a75d-5afc-978f-d2f1294409fd)\n"
                           "  MIG 1c.3g.20gb  Device  1: (UUID: MIG-28ad2f04-1ab2-5a5e-8a0b-9a3b0d8c7f01)\n"
                           "GPU 1: NVIDIA L4 (UUID: GPU-11234567-89ab-cdef-0123-456789abcdef)\n";
  CHECK(reader::recognises(text));
  const auto gpus = reader::read(text, "in");
  REQUIRE(gpus.size() == 3);
  CHECK(gpus[0] == inventory::gpu{.name = "NVIDIA A100-SXM4-40GB MIG 3g.20gb", .slice_of = 0});
  CHECK(gpus[1] == inventory::gpu{.name = "NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb", .slice_of = 0});
  CHECK(gpus[2] == inventory::gpu{.name = "NVIDIA L4"});
  CHECK(
    refusal<reader>("GPU 0: NVIDIA L4 (UUID: GPU-1)\nfoo\n").starts_with("in:2: 'foo' is neither a GPU nor a slice"));
}

TEST_CASE("nvidia-smi topo -m: the topology of ROCm is not taken for it") {
  CHECK(!io::gpu_matrix_reader::recognises("============ ROCm System Management Interface ============\n"
                                           "================ Weight between two GPUs =================\n"
                                           "       GPU0         GPU1         \nGPU0   0            15           \n"
                                           "GPU1   15           0            \n"));
  CHECK(
    !io::gpu_matrix_reader::recognises("       GPU0         GPU1\nGPU0   0            XGMI\nGPU1   XGMI         0\n"));
}

TEST_CASE("nvidia-smi --query-gpu: what cannot be read is refused in one line") {
  using reader = io::gpu_list_reader;
  CHECK(reader::recognises("NVIDIA A100-SXM4-80GB, 81920 MiB\n"));
  CHECK(refusal<reader>("NVIDIA A100-SXM4-80GB, 81920 MiB\n") ==
        "in:1: the line of headers is missing; leave 'noheader' out of --format");
  CHECK(refusal<reader>("index, memory.total [MiB]\n0, 1 MiB\n") ==
        "in:1: there is no column 'name'; ask for it, as in --query-gpu=name,memory.total");
  CHECK(refusal<reader>("name, memory.total [MiB]\n") == "in:1: no GPU follows the line of headers");
  CHECK(refusal<reader>("name, memory.total [MiB]\nTesla T4\n") == "in:2: 1 fields for 2 columns");
  CHECK(refusal<reader>("name, memory.total [MiB]\nTesla T4, lots\n") == "in:2: memory.total 'lots' is not a number");
  CHECK(refusal<reader>("name, memory.total [MiB]\nTesla T4, 1e300 MiB\n") ==
        "in:2: memory.total '1e300' is out of range");
  CHECK(refusal<reader>("name, memory.total [MiB]\n[Unknown Error], 15109 MiB\n") == "in:2: the GPU has no name");
}

// As driver 535 prints it to a terminal: the headers are underlined, tabs between columns, two before the last one.
constexpr const char* underlined = "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
                                   "GPU0\t X \tNV12\tPXB\tSYS\t48-63,176-191\t3\t\tN/A\n"
                                   "GPU1\tNV12\t X \tSYS\tPIX\t16-31,144-159\t1\t\tN/A\n"
                                   "NIC0\tPXB\tSYS\t X \tSYS\t\t\t\t\n"
                                   "NIC1\tSYS\tPIX\tSYS\t X \t\t\t\t\n"
                                   "\nLegend:\n\n"
                                   "  X    = Self\n"
                                   "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA "
                                   "nodes (e.g., QPI/UPI)\n"
                                   "  NV#  = Connection traversing a bonded set of # NVLinks\n"
                                   "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_bond_0\n\n";

TEST_CASE("nvidia-smi topo -m: GPUs and network cards of a driver of today") {
  CHECK(io::gpu_matrix_reader::recognises(underlined));
  const auto m = io::gpu_matrix_reader::read(underlined, "in");
  std::string pasted = underlined; // into a page, which drops the escape characters
  std::erase(pasted, '\x1b');
  CHECK(io::gpu_matrix_reader::recognises(pasted));
  CHECK(io::gpu_matrix_reader::read(pasted, "in") == m);
  REQUIRE(m.parts.size() == 4);
  CHECK(m.parts[0] == inventory::matrix::part{"GPU0", true, "48-63,176-191", "3", ""});
  CHECK(m.parts[3] == inventory::matrix::part{"NIC1", false, "", "", "mlx5_bond_0"});
  CHECK(m.at(0, 0) == way{});
  CHECK(m.at(0, 1) == way{distance::machine, 12});
  CHECK(m.at(0, 2) == way{distance::bridges});
  CHECK(m.at(3, 1) == way{distance::bridge});
  CHECK(m.at(2, 3) == way{distance::machine});
}

// As people paste it: blanks for tabs, the prompt above, cards by their own names, no NUMA column (drivers before 450).
constexpr const char* pasted = "$ nvidia-smi topo -m\n"
                               "        GPU0    GPU1    GPU2    GPU3    mlx5_0  CPU Affinity\n"
                               "GPU0     X      NV1     PHB     SYS     PIX     0-19,40-59\n"
                               "GPU1    NV1      X      NODE    SYS     PHB     0-19,40-59\n"
                               "GPU2    PHB     NODE     X      SOC     NODE    0-19,40-59\n"
                               "GPU3    SYS     SYS     SOC      X      SYS     20-39,60-79\n"
                               "mlx5_0  PIX     PHB     NODE    SYS      X \n";

TEST_CASE("nvidia-smi topo -m: what people paste of an older driver") {
  CHECK(io::gpu_matrix_reader::recognises(pasted));
  const auto m = io::gpu_matrix_reader::read(pasted, "in");
  REQUIRE(m.parts.size() == 5);
  CHECK(m.parts[3] == inventory::matrix::part{"GPU3", true, "20-39,60-79", "", ""});
  CHECK(!m.parts[4].is_gpu);
  CHECK(m.at(0, 1) == way{distance::machine, 1});
  CHECK(m.at(0, 2) == way{distance::host_bridge});
  CHECK(m.at(2, 1) == way{distance::numa_node});
  CHECK(m.at(3, 2) == way{distance::machine});
}

TEST_CASE("nvidia-smi topo -m: one GPU, and no rows of network cards") {
  const auto one = io::gpu_matrix_reader::read(
    "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t\t\t\tN/A\n\nLegend:\n", "in");
  CHECK(one.parts.size() == 1);
  CHECK(one.parts[0].cpus.empty()); // 'N/A' is no processor
  const auto node = io::gpu_matrix_reader::read(
    "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-71\t0\t\t1\n", "in");
  CHECK(node.parts[0].memory_node == "1");
  const auto cut =
    io::gpu_matrix_reader::read("  GPU0 GPU1 NIC0 CPU Affinity\nGPU0 X SYS PIX 0-3\nGPU1 SYS X SYS 4-7\n", "in");
  CHECK(cut.at(2, 0) == way{distance::bridge});
  CHECK(cut.at(2, 2) == way{});
}

TEST_CASE("nvidia-smi topo -m: what cannot be read is refused in one line") {
  using reader = io::gpu_matrix_reader;
  const std::string head = "\tGPU0\tGPU1\tCPU Affinity\n";
  CHECK(!reader::recognises("GPU, 1\n"));
  CHECK(refusal<reader>("no matrix\n") == "in:1: there is no line of headers, such as 'GPU0 GPU1 CPU Affinity'");
  CHECK(refusal<reader>(head + "GPU0 X SYS 0\n") == "in:2: the row GPU1 is missing");
  CHECK(refusal<reader>(head + "GPU0 X\n") == "in:2: the row GPU0 has 1 entries for 2 columns");
  CHECK(refusal<reader>(head + "GPU0 X SYS 0\nGPU1 PIX X 0\n") ==
        "in:3: GPU1 to GPU0 is 'PIX', which the row GPU0 says differently");
  CHECK(refusal<reader>(head + "GPU0 SYS X 0\n") == "in:2: GPU0 to GPU0 is 'SYS'; X stands for a part and itself");
  CHECK(refusal<reader>(head + "GPU0 X NV0 0\n") ==
        "in:2: GPU0 to GPU1: 'NV0' is not understood; use X, NV1 to NV255, PIX, PXB, PHB, NODE or SYS");
  CHECK(refusal<reader>(head + "GPU0 X OK 0\n").find("'OK' is not understood") != std::string::npos); // of topo -p2p
  CHECK(refusal<reader>("\tGPU0\tNIC0\tCPU Affinity\nGPU0 X NV4 0\n") ==
        "in:2: GPU0 to NIC0 is 'NV4', but only GPUs have NVLinks");
  CHECK(refusal<reader>(head + "GPU0 X SYS 0\nGPU0 X SYS 0\n") ==
        "in:3: the row GPU0 appears twice; give the topology of one node");
  CHECK(refusal<reader>("\tGPU0\tGPU0\tCPU Affinity\n") == "in:1: two columns are called 'GPU0'");
}

} // namespace io_nvidia_smi_test
