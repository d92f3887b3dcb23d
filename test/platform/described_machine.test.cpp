// SPDX-License-Identifier: BSL-1.0
#include "routes.hpp"
#include "weft/platform/described_machine.hpp"
#include "weft/platform/presets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace described_machine_test {

using namespace weft;
using inventory::distance;
using inventory::way;

const inventory::processors epyc{.kinds = {{.model = "AMD EPYC 7742 64-Core Processor",
                                            .cores = 128,
                                            .hertz = 2.25e9,
                                            .flop_per_cycle = 32,
                                            .units = "AVX2"}},
                                 .sockets = 2};

/// `gpus` GPUs and then cards; the way between each two by a function of their numbers.
template <class Way>
inventory::matrix joined(std::size_t gpus, std::size_t cards, const Way& between) {
  inventory::matrix m;
  for (std::size_t i = 0; i < gpus + cards; ++i) {
    const bool gpu = i < gpus;
    m.parts.push_back({.name = (gpu ? "GPU" : "NIC") + std::to_string(gpu ? i : i - gpus), .is_gpu = gpu});
  }
  for (std::size_t a = 0; a < gpus + cards; ++a) {
    for (std::size_t b = 0; b < gpus + cards; ++b) {
      m.ways.push_back(a == b ? way{} : between(std::min(a, b), std::max(a, b)));
    }
  }
  return m;
}

/// A DGX A100: two GPUs and two cards behind each PCIe switch, NVLinks to switches.
inventory::listing dgx_a100() {
  inventory::listing all;
  all.gpus.assign(8, {.name = "NVIDIA A100-SXM4-80GB", .memory = byte_count{80} << 30});
  all.joined = joined(8, 8, [](std::size_t a, std::size_t b) {
    return b < 8                                ? way{distance::machine, 12}
           : (a % 8) / 2 == (b % 8) / 2 ? way{distance::bridges}
                                                : way{distance::machine};
  });
  for (std::size_t i = 0; i < 8; ++i) {
    all.joined->parts[i].numa = std::to_string((i / 2) ^ 1);
  }
  all.host = epyc;
  all.memory = byte_count{2048} << 30;
  return all;
}

std::string refusal(const inventory::listing& all, const machine_assumptions& assumed = {}) {
  try {
    static_cast<void>(describe_machine(all, assumed));
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

bool says(const described_machine& m, const std::string& words) {
  return std::any_of(m.notes.begin(), m.notes.end(), [&](const auto& n) { return n.find(words) != n.npos; });
}

TEST_CASE("described machines: the lists of a DGX A100 make what the preset has") {
  const auto made = describe_machine(dgx_a100());
  const auto preset = presets::dgx_a100();
  const auto& p = made.devices;
  REQUIRE(p.num_devices() == 9);
  for (const device_id d : ids(9)) {
    CHECK(p.name(d) == preset.name(d));
    CHECK(p.kind(d) == preset.kind(d));
    CHECK(p.speed(d) == preset.speed(d));
    CHECK(p.memory_capacity(d) == preset.memory_capacity(d));
    CHECK(p.memory_bandwidth(d) == preset.memory_bandwidth(d));
    CHECK(p.send_overhead(d) == preset.send_overhead(d));
    for (const device_id e : ids(9)) {
      CHECK(p.bandwidth(d, e) == preset.bandwidth(d, e));
      CHECK(p.latency(d, e) == doctest::Approx(preset.latency(d, e)));
    }
  }
  CHECK(weft_test::route(p, 1, 0)[1] == weft_test::route(p, 2, 0)[1]); // two GPUs share an uplink
  CHECK(weft_test::route(p, 1, 0)[1] != weft_test::route(p, 3, 0)[1]);
  CHECK(says(made, "NVIDIA A100-SXM4-80GB: 156 TFLOP/s, 312 in half precision, 2039 GB/s, by its data sheet"));
  CHECK(says(made, "highest clock"));
}

TEST_CASE("described machines: two nodes, whose cards are those next to the GPUs") {
  auto all = dgx_a100();
  all.nodes = {{.name = "a", .cores = 128, .gpus = {{"a100", 8}}}, {.name = "b", .cores = 64, .gpus = {{"a100", 8}}}};
  CHECK(refusal(all) == "the machine has 2 nodes, but nothing lists their network; give its bandwidth, as in --network "
                        "200Gbit/s");
  const auto p = describe_machine(all, {.network_bandwidth = 25e9}).devices;
  REQUIRE(p.num_devices() == 18);
  CHECK(p.name(9) == "b/cpu");
  CHECK(p.speed(9) == p.speed(0) / 2); // by the batch system's cores
  CHECK(p.bandwidth(1, 10) == 25e9);
  CHECK(p.latency(1, 10) == doctest::Approx(5e-6 + 10e-6)); // the network, and two half ways over PCIe
  CHECK(p.bandwidth(1, 2) == 300e9);
  // Of two cards behind its switch, a GPU takes one by whom it sends to.
  CHECK(weft_test::route(p, 1, 10)[1] != weft_test::route(p, 1, 11)[1]);
}

TEST_CASE("described machines: direct NVLinks, several or one, and pairs without") {
  inventory::listing all;
  all.gpus.assign(4, {.name = "Tesla V100-SXM2-16GB"});
  all.joined = joined(4, 0, [](std::size_t a, std::size_t b) {
    return a == 0 && b == 1   ? way{distance::machine, 2}
           : a == 2 && b == 3 ? way{distance::machine, 1}
           : a == 0 && b == 2 ? way{distance::bridge}
                              : way{distance::machine};
  });
  const auto made = describe_machine(all);
  const auto& p = made.devices; // no processor
  REQUIRE(p.num_devices() == 4);
  CHECK(p.bandwidth(0, 1) == 50e9);
  CHECK(p.latency(0, 1) == 5e-6);
  CHECK(p.bandwidth(3, 2) == 25e9);
  CHECK(p.bandwidth(0, 2) == 15.75e9); // behind one switch, PCIe 3.0
  CHECK(p.bandwidth(0, 3) == doctest::Approx(15.75e9 * 2 / 3)); // across NUMA nodes
  CHECK(weft_test::route(p, 0, 2).size() == 2);
  CHECK(says(made, "cpu: left out"));
}

TEST_CASE("described machines: PCIe switches inside each other") {
  inventory::listing all;
  all.gpus.assign(5, {.name = "NVIDIA L4", .pcie = 4u, .pcie_lanes = 8u});
  all.joined = joined(5, 0, [](std::size_t a, std::size_t b) {
    return b == 4             ? way{distance::host_bridge}
           : a / 2 == b / 2 ? way{distance::bridge}
                            : way{distance::bridges};
  });
  all.host = epyc;
  const auto p = describe_machine(all).devices;
  CHECK(weft_test::route(p, 1, 2).size() == 2); // one switch
  CHECK(weft_test::route(p, 1, 3).size() == 4); // up and down again
  CHECK(weft_test::route(p, 5, 0).size() == 2); // lanes of its own
  CHECK(weft_test::route(p, 1, 0).size() == 4);
  CHECK(p.bandwidth(1, 0) == 15.75e9);
  CHECK(p.latency(1, 0) == doctest::Approx(10e-6));
  CHECK(p.latency(5, 0) == doctest::Approx(10e-6));
}

TEST_CASE("described machines: Slurm's lists alone") {
  inventory::listing all;
  all.host = epyc;
  all.nodes = {{.name = "g1", .memory = byte_count{1} << 40, .gpus = {{"nvidia_h100_80gb_hbm3", 4}}},
               {.name = "c1", .memory = byte_count{1} << 38}};
  const auto made = describe_machine(all, {.network_bandwidth = 25e9});
  const auto& p = made.devices;
  REQUIRE(p.num_devices() == 6);
  CHECK(p.speed(1) == 494.5e12);
  CHECK(p.bandwidth(1, 2) == 6 * 25e9); // 18 links to three others
  CHECK(p.name(5) == "c1/cpu");
  CHECK(p.memory_capacity(5) == byte_count{1} << 38);
  CHECK(says(made, "taken to be by all their NVLinks"));
  all.nodes[0].gpus = {{"a100", 4}};
  CHECK(refusal(all, {.network_bandwidth = 25e9}).starts_with("the nodes have GPUs of type 'a100', which may be "
                                                               "'A100-PCIE-40GB', "));
  const auto chosen = describe_machine(all, {.types = {{"a100", "A100-SXM4-40GB"}}, .network_bandwidth = 25e9}).devices;
  CHECK(chosen.memory_capacity(1) == byte_count{40} << 30);
  all.nodes[0].gpus = {{"a100_3g", 2}};
  CHECK(refusal(all, {.network_bandwidth = 25e9}) ==
        "the nodes have GPUs of type 'a100_3g', which no data sheet is known for; say what they are, as in --gpu "
        "'a100_3g=A100-SXM4-80GB', or give their figures, as in --gpu "
        "'a100_3g=fp32:60,half:120,bandwidth:900,memory:24'");
  all.nodes[0].gpus = {{"l4", 1}};
  CHECK(describe_machine(all, {.network_bandwidth = 25e9}).devices.speed(1) == 60e12); // and not an L40
}

TEST_CASE("described machines: GPUs under names that no data sheet has") {
  inventory::listing all;
  all.gpus = {{.name = "RTX 3090"}};
  CHECK(refusal(all) == "no data sheet is known for the GPU 'RTX 3090', which may be 'GeForce RTX 3090', 'GeForce RTX "
                        "3090 Ti'; say so, as in --gpu 'RTX 3090=GeForce RTX 3090', or give its peak "
                        "rates in TFLOP/s and GB/s and its memory in GiB, as in --gpu "
                        "'RTX 3090=fp32:60,half:120,bandwidth:900,memory:24'");
  CHECK(describe_machine(all, {.types = {{"RTX 3090", "GeForce RTX 3090"}}}).devices.speed(0) == 35.6e12);
  all.gpus = {{.name = "NVIDIA H100-SXM5-80GB"}};
  CHECK(refusal(all).find("which may be 'H100 PCIe', 'H100 NVL', 'H100 80GB HBM3'; ") != std::string::npos);
  all.gpus = {{.name = "NVIDIA Foo 80GB"}};
  CHECK(refusal(all).starts_with("no data sheet is known for the GPU 'NVIDIA Foo 80GB'; give its peak rates"));
}

TEST_CASE("described machines: nodes with other GPUs than those that are listed by name") {
  auto all = dgx_a100();
  all.nodes = {{.name = "a", .gpus = {{"a100", 8}}}, {.name = "v", .gpus = {{"tesla_v100-sxm2-32gb", 8}}}};
  const auto p = describe_machine(all, {.network_bandwidth = 25e9}).devices;
  CHECK(p.speed(1) == 156e12);
  CHECK(p.speed(10) == 15.7e12);
  CHECK(p.memory_capacity(10) == byte_count{32} << 30);
}

TEST_CASE("described machines: figures that are given count before data sheets") {
  inventory::listing all;
  all.gpus = {{.name = "NVIDIA Foo"}};
  CHECK(refusal(all) ==
        "no data sheet is known for the GPU 'NVIDIA Foo'; give its peak rates in TFLOP/s and GB/s and its memory "
        "in GiB, as in --gpu 'NVIDIA Foo=fp32:60,half:120,bandwidth:900,memory:24'");
  all.gpus[0].memory = 1 << 30;
  CHECK(refusal(all).ends_with("'NVIDIA Foo=fp32:60,half:120,bandwidth:900'")); // the memory is listed
  all.gpus[0].memory.reset();
  machine_assumptions assumed;
  assumed.gpus["NVIDIA Foo"] = {.tflops = 60, .half = 120, .gigabytes_per_second = 900};
  CHECK(refusal(all, assumed).starts_with("nothing says how much memory the GPU 'NVIDIA Foo' has"));
  all.gpus[0].memory = 1 << 30;
  assumed.host_speed = 2e12;
  assumed.host_memory = 1 << 20;
  const auto p = describe_machine(all, assumed).devices;
  CHECK(p.speed(0) == 2e12);
  CHECK(p.memory_capacity(0) == 1 << 20);
  CHECK(p.devices()[1].narrow == narrow_speeds{.half = 120e12});
  assumed.gpus["NVIDIA Foo"].tflops = 0;
  CHECK(refusal(all, assumed).starts_with("the rates of the GPU 'NVIDIA Foo' lack fp32"));
}

TEST_CASE("described machines: figures are given by name without its maker, win over lists, and leave the rest") {
  inventory::listing all;
  all.gpus = {
    {.name = "NVIDIA A100-SXM4-80GB", .memory = byte_count{80} << 30, .watts = 400.0, .pcie = 4u, .pcie_lanes = 16u}};
  all.host = epyc;
  const machine_assumptions assumed{
    .gpus = {{"a100-sxm4-80gb", {.gibibytes = 64, .watts = 300, .pcie = 3}}}, .host_watts = 500};
  const auto made = describe_machine(all, assumed);
  const auto& p = made.devices;
  CHECK(p.memory_capacity(1) == byte_count{64} << 30);
  CHECK(p.devices()[1].active_watts == 300);
  CHECK(p.devices()[1].idle_watts == 0.15 * 300);
  CHECK(p.bandwidth(0, 1) == 15.75e9);
  CHECK(p.speed(1) == 156e12); // by its data sheet
  CHECK(p.devices()[0].active_watts == 500);
  CHECK(p.devices()[0].idle_watts == 0.3 * 500);
  CHECK(!says(made, "what it draws"));
  CHECK(says(describe_machine(all), "cpu: nothing says what it draws, so its energy is not counted"));
  CHECK(
    refusal(all, {.gpus = {{"A30", {.gibibytes = 20}}}}) ==
    "the GPU 'A30' is described, but the machine has none of that name; it has 'NVIDIA A100-SXM4-80GB'");
  CHECK(refusal(all, {.types = {{"a100", "A30"}}}).starts_with("the GPU 'a100' is described, but"));
}

TEST_CASE("described machines: lists of GPUs that no node has are refused") {
  auto all = dgx_a100();
  all.nodes = {{.name = "a"}, {.name = "b"}};
  const machine_assumptions net{.network_bandwidth = 25e9};
  CHECK(
    refusal(all, net) ==
    "the lists have 8 GPUs (NVIDIA A100-SXM4-80GB), but no node has those: 'a' has none; give lists of a node of the "
    "machine and nodes with their GPUs (Gres), or leave the lists out");
  all.nodes = {{.name = "a", .gpus = {{"A100-SXM4-80GB", 4}}}, {.name = "b"}};
  CHECK(refusal(all, net).find("'a' has 4 of type 'A100-SXM4-80GB'") != std::string::npos);
  all.gpus.clear();
  CHECK(refusal(all, net).starts_with("the lists have 8 GPUs, but no node has those"));
  all.nodes[1].gpus = {{"A100-SXM4-80GB", 8}};
  CHECK(refusal(all, net) == "");
}

TEST_CASE("described machines: without the number of its NVLinks, no GPU is taken to have switches") {
  inventory::listing all;
  all.gpus.assign(4, {.name = "X", .memory = 1 << 30});
  all.joined = joined(4, 0, [](std::size_t, std::size_t) { return way{distance::machine, 4}; });
  machine_assumptions assumed{.gpus = {{"X", {.tflops = 1, .nvlink = 25}}}};
  const auto made = describe_machine(all, assumed);
  CHECK(weft_test::route(made.devices, 0, 1).size() == 1);
  CHECK(says(made, "X: nothing says how many NVLinks it has"));
  assumed.gpus["X"].nvlinks = 4;
  CHECK(weft_test::route(describe_machine(all, assumed).devices, 0, 1).size() == 2);
}

bool guesses(const described_machine& m, const std::string& words) {
  const auto& all = m.devices.notes();
  return std::any_of(all.begin(), all.end(), [&](const auto& n) { return n.find(words) != n.npos; });
}

TEST_CASE("described machines: no processor is without a bandwidth, and what is a guess stays with the platform") {
  inventory::listing pc;
  pc.host = inventory::processors{.kinds = {{.model = "AMD Ryzen 9 5950X 16-Core Processor",
                                             .cores = 16,
                                             .hertz = 5e9,
                                             .flop_per_cycle = 32,
                                             .units = "AVX2"}}};
  const auto known = describe_machine(pc);
  CHECK(known.devices.memory_bandwidth(0) == 51.2e9);
  CHECK(says(known, "cpu: memory bandwidth 51.2 GB/s for each of 1 socket, by its data sheet with all channels used (2 "
                    "channels at 3200 MT/s)"));
  CHECK(known.devices.notes().empty());
  pc.host->kinds[0].model = "Foo";
  const auto unknown = describe_machine(pc);
  CHECK(unknown.devices.memory_bandwidth(0) == doctest::Approx(17.064e9));
  CHECK(guesses(unknown,
                "cpu: memory bandwidth 17.064 GB/s for each of 1 socket, taken to be that of some machine, 1 channel "
                "at 2133 MT/s, since its name has no data sheet here; give it, as in --cpu bandwidth:200"));
  CHECK(describe_machine(pc, {.host_bandwidth = 1e11}).devices.notes().empty());
  inventory::listing bare; // the speed alone
  const auto given = describe_machine(bare, {.host_speed = 1e12});
  CHECK(given.devices.memory_bandwidth(0) < 1e11);
  CHECK(guesses(given, "memory bandwidth"));
}

TEST_CASE("described machines: a virtual machine draws no more than its cores do") {
  inventory::listing all;
  all.host = inventory::processors{
    .kinds = {{.model = "AMD EPYC 7B12", .cores = 4, .hertz = 2.25e9, .flop_per_cycle = 32}}, .is_virtual = true};
  const auto small = describe_machine(all);
  CHECK(small.devices.memory_bandwidth(0) == 48e9);
  CHECK(guesses(small, "memory bandwidth 48 GB/s, the most that its cores draw at 12 GB/s each in a virtual machine"));
  all.host->kinds[0].cores = 48;
  const auto large = describe_machine(all);
  CHECK(large.devices.memory_bandwidth(0) == 204.8e9);
  all.host = inventory::processors{.kinds = {{.model = "Neoverse-V1", .cores = 2, .flop_per_cycle = 32}}};
  const auto silent = describe_machine(all); // a virtual machine that does not say so
  CHECK(silent.devices.memory_bandwidth(0) == 60e9);
  CHECK(guesses(silent, "the most that its cores draw at 30 GB/s each (assumed)"));
  CHECK(large.devices.notes().empty());
}

TEST_CASE("described machines: cores whose clock or units no list has run at a cautious rate, and that is said") {
  inventory::listing all;
  all.host = inventory::processors{.kinds = {{.model = "Foo", .cores = 4}}};
  const auto made = describe_machine(all);
  CHECK(made.devices.speed(0) == 4 * 2e9 * 8);
  CHECK(guesses(
    made, "cpu: Foo, 4 cores at 2 GHz (assumed, no list has its clock) with 8 FLOP per cycle (assumed, no list has "
          "its vector units; add lscpu -J); give its peak rate in TFLOP/s, as in --cpu fp32:2.5"));
  all.host->kinds[0] = {.model = "POWER9", .cores = 20, .hertz = 3e9}; // as hwloc lists it
  const auto power = describe_machine(all);
  CHECK(power.devices.speed(0) == 20 * 3e9 * 16);
  CHECK(power.devices.notes().empty());
  all.host->kinds[0] = {.model = "A64FX", .cores = 48, .flop_per_cycle = 64, .units = "SVE"};
  const auto a64fx = describe_machine(all);
  CHECK(a64fx.devices.speed(0) == doctest::Approx(48 * 1.8e9 * 64));
  CHECK(a64fx.devices.memory_bandwidth(0) == 1024e9);
  CHECK(guesses(a64fx, "1.8 GHz"));
}

TEST_CASE("described machines: cores of several kinds add up") {
  inventory::listing all;
  all.host =
    inventory::processors{.kinds = {{.model = "Cortex-A55", .cores = 4, .hertz = 1.8e9, .flop_per_cycle = 8},
                                    {.model = "Cortex-A76", .cores = 4, .hertz = 2.4e9, .flop_per_cycle = 16}}};
  const auto made = describe_machine(all);
  REQUIRE(made.devices.num_devices() == 1);
  CHECK(made.devices.speed(0) == doctest::Approx(4 * 1.8e9 * 8 + 4 * 2.4e9 * 16));
  CHECK(says(made, "cpu: Cortex-A55, 4 cores at 1.8 GHz"));
  CHECK(says(made, "cpu: Cortex-A76, 4 cores at 2.4 GHz"));
}

TEST_CASE("described machines: a GPU whose bandwidth nobody gives has a guess at it") {
  inventory::listing all;
  all.gpus = {{.name = "Foo", .memory = byte_count{1} << 34}};
  const auto made = describe_machine(all, {.gpus = {{"Foo", {.tflops = 60}}}});
  CHECK(made.devices.memory_bandwidth(0) == 600e9);
  CHECK(guesses(made, "Foo: its memory bandwidth is not known and taken to be 600 GB/s"));
}

TEST_CASE("described machines: slices of a GPU (MIG)") {
  inventory::listing all;
  const std::string name = "NVIDIA A100-SXM4-40GB MIG 3g.20gb";
  all.gpus = {{.name = name, .slice_of = 0}, {.name = name, .slice_of = 0}, {.name = "NVIDIA A100-SXM4-40GB"}};
  all.host = epyc;
  all.joined = joined(2, 0, [](std::size_t, std::size_t) { return way{distance::machine, 12}; }); // of whole GPUs
  const auto made = describe_machine(all);
  const auto& p = made.devices;
  REQUIRE(p.num_devices() == 4);
  CHECK(p.speed(1) == doctest::Approx(156e12 * 3 / 7));
  CHECK(p.memory_capacity(1) == byte_count{20} << 30);
  CHECK(p.speed(3) == 156e12);
  CHECK(weft_test::route(p, 1, 0)[1] == weft_test::route(p, 2, 0)[1]); // the same lanes
  CHECK(says(made, "slices of a GPU (MIG) share its PCIe lanes"));
  inventory::listing slurm;
  slurm.nodes = {{.name = "n1", .gpus = {{"a100_3g.20gb", 2}}}};
  const auto by_type = describe_machine(slurm).devices;
  CHECK(by_type.speed(0) == doctest::Approx(156e12 * 3 / 7));
  slurm.nodes[0].gpus = {{"a100_1g.10gb", 7}};
  CHECK(refusal(slurm).starts_with(
    "the nodes have GPUs of type 'a100_1g.10gb', which may be 'A100-PCIE-40GB MIG 1g.10gb', "));
  const auto chosen = describe_machine(slurm, {.types = {{"a100_1g.10gb", "A100-SXM4-80GB MIG 1g.10gb"}}}).devices;
  CHECK(chosen.memory_capacity(0) == byte_count{10} << 30);
}

/// Twenty cores and a GPU that work in one memory.
inventory::listing gb10() {
  inventory::listing all;
  all.gpus = {{.name = "NVIDIA GB10", .shares_memory = true}};
  all.host = inventory::processors{
    .kinds = {{.model = "Cortex-X925", .cores = 10, .hertz = 3.9e9, .flop_per_cycle = 48},
              {.model = "Cortex-A725", .cores = 10, .hertz = 2.8e9, .flop_per_cycle = 16}}};
  all.memory = byte_count{122} << 30;
  return all;
}

TEST_CASE("described machines: a GPU that works in the processors' memory") {
  auto all = gb10();
  const auto made = describe_machine(all);
  const auto& p = made.devices;
  REQUIRE(p.num_devices() == 2);
  CHECK(p.devices()[0].memory_capacity == byte_count{122} << 30);
  CHECK(p.devices()[1].memory_capacity == 0);
  CHECK(p.devices()[1].memory_of == 0);
  CHECK(p.speed(1) == 62.5e12);
  CHECK(p.memory_bandwidth(0) == 273e9); // one memory, one bandwidth
  CHECK(p.memory_bandwidth(1) == 273e9);
  CHECK(p.bandwidth(0, 1) == 273e9);
  CHECK(p.latency(1, 0) == 1e-6);
  CHECK(says(made, "NVIDIA GB10: works in the memory of the processors and has none of its own"));
  CHECK(says(made, "cpu: memory bandwidth 273 GB/s, that of the memory that it shares with NVIDIA GB10"));
  CHECK(!says(made, "PCIe"));
  const auto given =
    describe_machine(all, {.gpus = {{"GB10", {.tflops = 31, .gibibytes = 121, .gigabytes_per_second = 250}}}}).devices;
  CHECK(given.devices()[1].memory_capacity == 0); // one memory stays one
  CHECK(given.devices()[0].memory_capacity == byte_count{122} << 30);
  CHECK(given.memory_bandwidth(0) == 250e9);
  all.memory.reset();
  CHECK(describe_machine(all, {.gpus = {{"GB10", {.gibibytes = 121}}}}).devices.memory_capacity(0) ==
        byte_count{121} << 30);
  all.memory = byte_count{122} << 30;
  all.joined = joined(1, 2, [](std::size_t, std::size_t) { return way{distance::numa_node}; });
  all.nodes = {{.name = "a"}, {.name = "b"}};
  all.nodes_are_alike = true;
  const auto two = describe_machine(all, {.network_bandwidth = 25e9}).devices;
  REQUIRE(two.num_devices() == 4);
  CHECK(two.devices()[3].memory_of == 2);
  CHECK(two.bandwidth(2, 3) == 273e9);
  CHECK(two.bandwidth(1, 3) == 25e9);
}

TEST_CASE("described machines: a shared memory where processors are left out, and GPUs that have their own") {
  auto all = gb10();
  all.host.reset();
  CHECK(describe_machine(all).devices.memory_capacity(0) == byte_count{122} << 30);
  all.memory.reset();
  CHECK(refusal(all) == "the GPU 'NVIDIA GB10' works in the memory of the processors, and nothing says how much that "
                        "is; add lscpu -J and /proc/meminfo, or give it in GiB, as in --gpu 'NVIDIA GB10=memory:24'");
  CHECK(describe_machine(all, {.gpus = {{"GB10", {.gibibytes = 24}}}}).devices.memory_capacity(0) ==
        byte_count{24} << 30);
  all = gb10();
  all.gpus = {{.name = "Orin (nvgpu)", .memory = byte_count{61} << 30}}; // as CUDA lists it: all of the memory
  CHECK(refusal(all).find("memory") == std::string::npos); // only the rates are missing
  const auto orin = describe_machine(all, {.gpus = {{"Orin (nvgpu)", {.tflops = 5.3}}}});
  CHECK(orin.devices.devices()[1].memory_capacity == 0);
  CHECK(orin.devices.memory_bandwidth(1) == orin.devices.memory_bandwidth(0)); // nobody says more
  all = gb10();
  all.memory.reset();
  all.gpus[0].memory = byte_count{119} << 30; // the processors have what the GPU lists
  CHECK(describe_machine(all).devices.memory_capacity(0) == byte_count{119} << 30);
  CHECK(describe_machine(all, {.gpus = {{"GB10", {.gibibytes = 121}}}}).devices.memory_capacity(0) ==
        byte_count{121} << 30);
  all.gpus = {{.name = "Thor"}};
  CHECK(!refusal(all).ends_with("memory:24'")); // nor has one that lists none to be given some
  all = gb10();
  all.gpus = {{.name = "NVIDIA L4", .shares_memory = true}}; // a list that does not know
  CHECK(describe_machine(all).devices.devices()[1].memory_capacity == byte_count{24} << 30);
  all.gpus = {{.name = "Foo", .shares_memory = true}};
  const auto foo = describe_machine(all, {.gpus = {{"Foo", {.tflops = 1, .gibibytes = 8}}}}).devices;
  CHECK(foo.devices()[1].memory_of == 0);
}

TEST_CASE("described machines: memory of GPUs that the system counts as its own is the GPUs'") {
  inventory::listing all;
  all.gpus = {{.name = "NVIDIA GH200 480GB", .memory = byte_count{96} << 30}};
  all.host = inventory::processors{.kinds = {{.model = "Neoverse-V2", .cores = 72, .hertz = 3.4e9}}};
  all.memory = byte_count{574} << 30;
  all.joined = joined(1, 0, [](std::size_t, std::size_t) { return way{}; });
  CHECK(describe_machine(all).devices.memory_capacity(0) == byte_count{574} << 30);
  all.joined->parts[0].memory_node = "1";
  const auto p = describe_machine(all).devices;
  CHECK(p.memory_capacity(0) == byte_count{574 - 96} << 30);
  CHECK(p.memory_capacity(1) == byte_count{96} << 30);
  CHECK(describe_machine(all, {.host_memory = 1 << 30}).devices.memory_capacity(0) == 1 << 30);
  all.memory = byte_count{64} << 30; // less than the GPU has: it cannot be in it
  CHECK(describe_machine(all).devices.memory_capacity(0) == byte_count{64} << 30);
}

TEST_CASE("described machines: GPUs that a batch system lists without a type") {
  inventory::listing all;
  all.nodes = {{.name = "n1", .gpus = {{"", 4}}}};
  CHECK(refusal(all) == "the nodes have GPUs without a type; say what they are, as in --gpu 'gpu=A100-SXM4-80GB', or "
                        "give their figures, as in --gpu 'gpu=fp32:60,half:120,bandwidth:900,memory:24'");
  const auto named = describe_machine(all, {.types = {{"gpu", "A100-SXM4-80GB"}}}).devices;
  REQUIRE(named.num_devices() == 4);
  CHECK(named.speed(0) == 156e12);
  const data_sheets::gpu figures{.tflops = 60, .gibibytes = 24, .gigabytes_per_second = 900};
  CHECK(describe_machine(all, {.gpus = {{"gpu", figures}}}).devices.speed(3) == 60e12);
  CHECK(refusal(all, {.types = {{"gpu", "A30"}, {"foo", "A30"}}}) ==
        "the GPU 'foo' is described, but the machine has none of that name; it has 'A30', 'gpu'");
}

TEST_CASE("described machines: without a topology, NVLinks join only GPUs of one board") {
  inventory::listing all;
  all.gpus = {{.name = "NVIDIA A100-SXM4-80GB"}, {.name = "Tesla T4"}, {.name = "NVIDIA A100-SXM4-80GB"}};
  const auto made = describe_machine(all); // nothing is said of NVLinks of a T4
  CHECK(made.devices.bandwidth(0, 2) == 300e9);
  CHECK(made.devices.bandwidth(0, 1) == 15.75e9);
  CHECK(says(made, "taken to be by all NVLinks of those on one board, others over PCIe only"));
  all.joined = joined(3, 0, [](std::size_t, std::size_t) { return way{distance::machine, 2}; });
  CHECK(refusal(all) == "the topology lists NVLinks of 'Tesla T4', but nothing says how fast they are; give GB/s of "
                        "one link in one direction, as in --gpu 'Tesla T4=nvlink:25,nvlinks:12'");
}

TEST_CASE("described machines: what is missing, in one line") {
  CHECK(refusal({}).starts_with("the lists name neither a GPU nor a processor"));
  auto all = dgx_a100();
  all.gpus.pop_back();
  CHECK(refusal(all).starts_with("the topology has 8 GPUs, but 7 are listed by name"));
  all.gpus.clear();
  CHECK(refusal(all).starts_with("the topology has 8 GPUs, but 0 are listed by name"));
  auto many = dgx_a100();
  many.nodes.assign(200, {.name = "n", .gpus = {{"", 8}}});
  CHECK(
    refusal(many, {.network_bandwidth = 1e9}) ==
    "the machine has more than 1000 devices, the most that a platform may have; choose some of its 200 nodes, as in "
    "--nodes 'n,n'");
  inventory::listing links;
  links.gpus.assign(2, {.name = "X", .memory = 1 << 30});
  links.joined = joined(2, 0, [](std::size_t, std::size_t) { return way{distance::machine, 4}; });
  CHECK(refusal(links, {.gpus = {{"X", {.tflops = 1}}}}).find("nvlink:25,nvlinks:12'") != std::string::npos);
}

} // namespace described_machine_test
