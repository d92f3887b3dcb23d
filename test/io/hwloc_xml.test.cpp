// SPDX-License-Identifier: BSL-1.0
#include "weft/core/random.hpp"
#include "weft/io/hwloc_xml.hpp"
#include "weft/platform/described_machine.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace io_hwloc_xml_test {

using namespace weft;
using io::hwloc_xml_reader;
using inventory::distance;
using inventory::way;

/// Two sockets, a P100 at each, as hwloc 2 writes them; the first one shares a PCIe switch with an InfiniBand card.
std::string two_p100() {
  std::ifstream in{std::filesystem::path{__FILE__}.parent_path() / "hwloc_p100.xml", std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

TEST_CASE("hwloc XML: processors, memory, GPUs and how they are joined") {
  const auto text = two_p100();
  CHECK(hwloc_xml_reader::recognises(text));
  const auto all = hwloc_xml_reader::read(text, "in");
  REQUIRE(all.host);
  CHECK(*all.host == inventory::processors{.kinds = {{.model = "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz",
                                                      .cores = 4,
                                                      .hertz = 2.6e9,
                                                      .clock = inventory::clock_kind::base}},
                                           .sockets = 2,
                                           .vendor = "GenuineIntel",
                                           .family = 6,
                                           .number = 79});
  CHECK(all.memory == byte_count{128} << 30);
  REQUIRE(all.gpus.size() == 2); // each is seen by two backends
  CHECK(all.gpus[0] == inventory::gpu{"Tesla P100-SXM2-16GB", byte_count{16671616} * 1024});
  REQUIRE(all.joined);
  REQUIRE(all.joined->parts.size() == 3);
  CHECK(all.joined->parts[2] == inventory::matrix::part{"NIC0", false, "", "", "mlx5_0"});
  CHECK(all.joined->at(0, 1) == way{distance::machine, 2}); // two links of 20 GB/s
  CHECK(all.joined->at(0, 2) == way{distance::bridge});
  CHECK(all.joined->at(2, 1) == way{distance::machine});
  CHECK(all.joined->at(1, 1) == way{});
  const auto p = describe_machine(all, {.host_speed = 1e12}).devices;
  CHECK(p.num_devices() == 3);
  CHECK(p.bandwidth(1, 2) == 40e9);
  CHECK(p.memory_bandwidth(0) == 4 * 30e9); // what four cores draw at most of 2 * 76.8e9
}

TEST_CASE("hwloc XML: what is none is refused in one line") {
  const auto refused = [](const std::string& text) {
    try {
      static_cast<void>(hwloc_xml_reader::read(text, "in"));
    } catch (const parse_error& e) {
      return std::string{e.what()};
    }
    return std::string{};
  };
  CHECK(refused("") == "in: the topology is not complete; write it again with lstopo --of xml");
  CHECK(refused("<topology>") == "in: the topology is not complete; write it again with lstopo --of xml");
  CHECK(refused("<html/>") == "in:1: the outermost element is not 'topology'");
  CHECK(refused("<topology>\n<object></topology>") == "in:2: the end of 'topology' is not expected here");
  CHECK(refused("<topology a=1>") == "in:1: the tag 'topology' is not right: attributes are KEY=\"VALUE\"");
  CHECK(refused("<topology><!-- ") == "in:1: the tag that begins here does not end");
  CHECK(!hwloc_xml_reader::recognises("topology"));
  const auto text = two_p100();
  CHECK(!refused(text.substr(0, text.size() / 2)).empty());
}

TEST_CASE("hwloc XML: NVLinks to switches") {
  auto text = two_p100();
  const auto at = text.find("<distances2hetero");
  text = text.substr(0, at) + R"(<distances2hetero nbobjs="3" kind="25" name="NVLinkBandwidth">
    <indexes length="37">OSDev:112 OSDev:142 PCIDev:120 </indexes>
    <u64values length="1">1000000 0 80000 0 1000000 80000 80000 80000 0</u64values>
  </distances2hetero><cpukind cpuset="0x1"><info name="FrequencyMaxMHz" value="3500"/></cpukind></topology>)";
  CHECK(hwloc_xml_reader::read(text, "in").joined->at(0, 1).nvlinks == 4);
}

TEST_CASE("hwloc XML: version 1, without GPUs, with a clock of the kinds of cores") {
  const auto all = hwloc_xml_reader::read(R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc.dtd">
<topology>
  <!-- of hwloc 1.11 -->
  <object type="Machine" os_index="0" cpuset="0x3" nodeset="0x1" local_memory="8589934592">
    <object type="Socket" os_index="0" cpuset="0x3"><info name="CPUModel" value="A &amp; B"/>
      <object type="PU" os_index="0"/><object type="PU" os_index="1"/>
    </object>
  </object>
  <cpukind cpuset="0x3"><info name="FrequencyMaxMHz" value="4000"/><info name="FrequencyBaseMHz" value="3000"/></cpukind>
</topology>)",
                                          "in");
  CHECK(*all.host == inventory::processors{
                       .kinds = {{.model = "A & B", .cores = 2, .hertz = 3e9, .clock = inventory::clock_kind::base}}});
  CHECK(all.memory == byte_count{8} << 30);
  CHECK(all.gpus.empty());
  CHECK(!all.joined);
}

TEST_CASE("hwloc XML: damaged files are read or refused") {
  const auto whole = two_p100();
  rng random{20180101};
  for (int i = 0; i < 300; ++i) {
    auto text = whole;
    for (auto changes = 1 + random.below(3); changes > 0; --changes) {
      const auto at = random.below(text.size());
      switch (random.below(3)) {
      case 0: text[at] = "0123456789<>\"x= "[random.below(16)]; break;
      case 1: text.erase(at, 1 + random.below(10)); break;
      default: text.insert(random.below(text.size()), text.substr(at, random.below(60))); break;
      }
    }
    try {
      static_cast<void>(describe_machine(hwloc_xml_reader::read(text, "in"), {.host_speed = 1e12}));
    } catch (const error& e) {
      CHECK(std::string{e.what()}.find('\n') == std::string::npos);
    }
  }
}

} // namespace io_hwloc_xml_test
