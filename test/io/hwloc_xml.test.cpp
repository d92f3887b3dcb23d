// SPDX-License-Identifier: BSL-1.0
#include "weft/core/random.hpp"
#include "weft/io/hwloc_xml.hpp"
#include "weft/platform/described_machine.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
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

/// A package of `cores`, each with so many hardware threads, and what follows it.
std::string package(const std::string& infos, std::initializer_list<int> cores, const std::string& kinds) {
  std::string text = "<topology version=\"2.0\"><object type=\"Machine\"><object type=\"Package\">" + infos;
  int unit = 0;
  for (const int threads : cores) {
    text += "<object type=\"Core\">";
    for (int i = 0; i < threads; ++i) {
      text += "<object type=\"PU\" os_index=\"" + std::to_string(unit++) + "\"/>";
    }
    text += "</object>";
  }
  return text + "</object></object>" + kinds + "</topology>";
}
std::string cpu_info(const std::string& name, const std::string& value) {
  return "<info name=\"" + name + "\" value=\"" + value + "\"/>";
}
std::string cpu_kind(const std::string& set, const std::string& infos) {
  return "<cpukind cpuset=\"" + set + "\">" + infos + "</cpukind>";
}
inventory::processors processors(const std::string& text) { return *hwloc_xml_reader::read(text, "in").host; }

TEST_CASE("hwloc XML: kinds of cores, each with its clock and its units") {
  const auto raptor = cpu_info("CPUModel", "13th Gen Intel(R) Core(TM) i7-1355U") +
                      cpu_info("CPUVendor", "GenuineIntel") + cpu_info("CPUFamilyNumber", "6") +
                      cpu_info("CPUModelNumber", "186");
  const auto p = processors(package(
    raptor, {2, 2, 1, 1, 1, 1},
    cpu_kind("0x000000f0", cpu_info("CoreType", "IntelAtom") + cpu_info("FrequencyMaxMHz", "3700")) +
      cpu_kind("0x0000000f", cpu_info("CoreType", "IntelCore") + cpu_info("FrequencyMaxMHz", "5000"))));
  REQUIRE(p.kinds.size() == 2);
  CHECK(p.kinds[0].model == "13th Gen Intel(R) Core(TM) i7-1355U");
  CHECK(p.kinds[0].cores == 2);
  CHECK(p.kinds[0].hertz == 5e9);
  CHECK(p.kinds[1].model == "13th Gen Intel(R) Core(TM) i7-1355U, efficient cores");
  CHECK(p.kinds[1].cores == 4);
  CHECK(p.kinds[1].hertz == 3.7e9);
  CHECK(p.kinds[1].flop_per_cycle == 16);
  inventory::listing all;
  all.host = p;
  CHECK(describe_machine(all).devices.speed(0) == doctest::Approx(2 * 5e9 * 32 + 4 * 3.7e9 * 16));

  const auto unnamed = processors(package(raptor, {2, 2, 1, 1, 1, 1}, "")); // before hwloc 2.4
  REQUIRE(unnamed.kinds.size() == 2);
  CHECK(unnamed.kinds[0].cores == 2);
  CHECK(unnamed.kinds[1].flop_per_cycle == 16);
  CHECK(processors(package(raptor, {2, 2, 2}, "")).kinds.size() == 1); // all of one kind

  const auto arrow = processors(package(
    cpu_info("CPUModel", "Intel(R) Core(TM) Ultra 9 285K") + cpu_info("CPUVendor", "GenuineIntel") +
      cpu_info("CPUFamilyNumber", "6") + cpu_info("CPUModelNumber", "198"),
    {1, 1, 1},
    cpu_kind("0x6", cpu_info("CoreType", "IntelAtom")) + cpu_kind("0x1", cpu_info("CoreType", "IntelCore"))));
  CHECK(arrow.kinds.size() == 1); // whose efficient cores have as many units, and nobody lists clocks
  CHECK(arrow.cores() == 3);
}

TEST_CASE("hwloc XML: kinds that differ by their clocks, sets of more than 32 threads, cores of no kind") {
  const auto turbo = processors(package(cpu_info("CPUModel", "Foo"), {2, 2, 2, 2},
                                        cpu_kind("0x0f", cpu_info("FrequencyMaxMHz", "4000")) +
                                          cpu_kind("0x30", cpu_info("FrequencyMaxMHz", "4100")) +
                                          cpu_kind("0xc0", cpu_info("FrequencyMaxMHz", "4100"))));
  REQUIRE(turbo.kinds.size() == 2);
  CHECK(turbo.kinds[0].hertz == 4.1e9);
  CHECK(turbo.kinds[0].cores == 2);
  CHECK(turbo.kinds[1].cores == 2);
  std::string text = "<topology><object type=\"Machine\">";
  for (int i = 0; i < 70; ++i) {
    text += "<object type=\"Core\"><object type=\"PU\" os_index=\"" + std::to_string(i) + "\"/></object>";
  }
  const auto many = processors(text + "</object>" + cpu_kind("0x3f,,0xffffffff", cpu_info("FrequencyMaxMHz", "2000")) +
                               cpu_kind("0x0000ffff,0x0", cpu_info("FrequencyMaxMHz", "3000")) + "</topology>");
  REQUIRE(many.kinds.size() == 2);
  CHECK(many.kinds[0].cores == 32); // 16, and 16 of no kind
  CHECK(many.kinds[1].cores == 32 + 6);
  const auto empty = processors(package("", {2, 2}, cpu_kind("0x0", "") + cpu_kind("", "")));
  CHECK(empty.kinds.size() == 1);
  CHECK(empty.cores() == 2);
}

TEST_CASE("hwloc XML: cores of Arm's architecture") {
  const auto grace = processors(package(cpu_info("CPUImplementer", "0x41") + cpu_info("CPUPart", "0xd4f"), {1, 1}, ""));
  CHECK(grace.kinds[0].model == "Neoverse-V2");
  const auto cluster = [](const char* part, int cores) {
    std::string text = "<object type=\"Package\">" + cpu_info("CPUImplementer", "0x41") + cpu_info("CPUPart", part);
    for (int i = 0; i < cores; ++i) {
      text += "<object type=\"Core\"><object type=\"PU\"/></object>";
    }
    return text + "</object>";
  };
  const auto clusters = processors("<topology><object type=\"Machine\">" + cluster("0xd05", 4) + cluster("0xd0b", 2) +
                                   cluster("0xd0b", 2) + "</object></topology>");
  REQUIRE(clusters.kinds.size() == 2);
  CHECK(clusters.kinds[0].model == "Cortex-A55");
  CHECK(clusters.kinds[1].model == "Cortex-A76");
  CHECK(clusters.kinds[1].cores == 4);
  CHECK(clusters.sockets == 1);
  const auto apple = processors(
    package(cpu_info("CPUModel", "Apple M1 Pro"), {1, 1, 1},
            cpu_kind("0x1", cpu_info("DarwinCompatible", "apple,icestorm;ARM,v8") +
                              cpu_info("FrequencyMaxMHz", "2064")) +
              cpu_kind("0x6", cpu_info("DarwinCompatible", "apple,firestorm;ARM,v8") +
                                cpu_info("FrequencyMaxMHz", "3228"))));
  REQUIRE(apple.kinds.size() == 2);
  CHECK(apple.kinds[0].model == "Apple M1 Pro, firestorm cores");
  inventory::listing all;
  all.host = apple;
  const auto made = describe_machine(all).devices;
  CHECK(made.speed(0) == doctest::Approx(2 * 3.228e9 * 32 + 2.064e9 * 16));
  CHECK(made.memory_bandwidth(0) == 3 * 30e9); // three cores draw less than the memory's 153.6e9
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
