// SPDX-License-Identifier: BSL-1.0
/// Tables of cores: what they compute per cycle, by name, or by the family and model that the CPUID instruction has.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>
#include <string_view>

namespace weft::data_sheets {

/// The memory of a socket.
struct processor_memory {
  double channels = 0; ///< of 64 bits
  double megatransfers = 0; ///< per second of a channel
  constexpr double bandwidth() const { return channels * 8 * megatransfers * 1e6; } ///< bytes/s
};

/// A core with a name of its own: FLOP per cycle in single precision, the clock that servers and clouds run it at where
/// systems do not say it (0: they do).
struct named_core {
  std::string_view pattern;
  double flop_per_cycle;
  double gigahertz = 0;
};
inline constexpr named_core named_cores[]{
  {"Neoverse-E1", 8},       {"Neoverse-N1", 16, 2.5}, {"Neoverse-N2", 16, 2.7}, {"Neoverse-N3", 16, 2.7},
  {"Neoverse-V1", 32, 2.6}, {"Neoverse-V2", 32, 2.7}, {"Neoverse-V3", 32, 2.7}, {"A64FX", 64, 1.8},
  {"Cortex-X925", 48},      {"Cortex-X", 32},         {"Cortex-A7##", 16},      {"Cortex-A7[678]", 16},
  {"Cortex-A72", 8, 2.3},   {"Cortex-A7[35]", 8},     {"Cortex-A65", 8},        {"Cortex-A5#", 8},
  {"Cortex-A3#", 4},        {"Cortex-A1[57]", 8},     {"Cortex-A12", 8},        {"Cortex-A[89]", 4},
  {"Cortex-A[57]", 2},      {"Icestorm", 16},         {"Firestorm", 32},        {"Blizzard", 16},
  {"Avalanche", 32},        {"Apple M#", 16, 3},      {"Oryon", 32},            {"Kryo-4XX-Gold", 16},
  {"Kryo", 8},              {"Carmel", 16},           {"Denver", 16},           {"Ampere-1", 16, 3},
  {"TSV110", 16, 2.6},      {"ThunderX2", 16, 2},     {"FTC6", 8, 2.2},         {"Falkor", 8, 2.2},
  {"X-Gene", 8},            {"POWER[789]", 16, 3},    {"POWER1#", 32, 3},
};

/// Cores of x86, by the vendor, family and numbers of models that the CPUID instruction has: the FLOP per cycle that
/// their units reach, however wide the instructions are that they take (0: that of the instructions), and the memory of
/// a socket. Where some cores of a processor are efficient ones with fewer units, so do those.
struct x86_core {
  std::string_view vendor;
  std::uint32_t family;
  std::uint32_t first;
  std::uint32_t last;
  double max_flop_per_cycle;
  processor_memory memory = {};
  double efficient_flop_per_cycle = 0; ///< 0: no core is slower than the others
};
inline constexpr std::string_view intel = "GenuineIntel";
inline constexpr std::string_view amd = "AuthenticAMD";
inline constexpr x86_core x86_cores[]{
  {amd, 21, 0, 255, 8, {2, 1866}},    // Bulldozer: two cores share two units of 128 bits
  {amd, 22, 0, 255, 8, {1, 1600}},    // Jaguar: 128 bits
  {amd, 23, 0x00, 0x2f, 16, {2, 2667}}, // Zen and Zen+: 128 bits
  {amd, 23, 0x30, 0xff, 32, {2, 3200}}, // Zen 2
  {amd, 25, 0x00, 0xff, 32, {2, 3200}}, // Zen 3; Zen 4 takes two cycles for 512 bits
  {amd, 26, 0x20, 0x2f, 32, {2, 5600}}, // mobile Zen 5, too
  {amd, 26, 0x60, 0x6f, 32, {2, 5600}},
  {amd, 26, 0x00, 0xff, 64, {2, 5600}},
  {"HygonGenuine", 24, 0, 255, 16, {2, 2667}}, // Zen
  {intel, 6, 26, 26, 8, {3, 1067}},   // Nehalem, Westmere
  {intel, 6, 30, 31, 8, {2, 1333}},
  {intel, 6, 37, 37, 8, {2, 1067}},
  {intel, 6, 44, 44, 8, {3, 1333}},
  {intel, 6, 46, 47, 8, {4, 1067}},
  {intel, 6, 42, 42, 16, {2, 1333}},  // Sandy Bridge, Ivy Bridge
  {intel, 6, 45, 45, 16, {4, 1600}},
  {intel, 6, 58, 58, 16, {2, 1600}},
  {intel, 6, 62, 62, 16, {4, 1866}},
  {intel, 6, 60, 61, 32, {2, 1600}},  // Haswell, Broadwell
  {intel, 6, 63, 63, 32, {4, 2133}},
  {intel, 6, 69, 71, 32, {2, 1600}},
  {intel, 6, 79, 79, 32, {4, 2400}},
  {intel, 6, 86, 86, 32, {2, 2133}},
  {intel, 6, 78, 78, 32, {2, 2133}},  // Skylake and what followed it
  {intel, 6, 94, 94, 32, {2, 2133}},
  {intel, 6, 142, 142, 32, {2, 2400}},
  {intel, 6, 158, 158, 32, {2, 2400}},
  {intel, 6, 165, 166, 32, {2, 2667}},
  {intel, 6, 85, 85, 64, {6, 2667}},  // Skylake-SP, Cascade Lake, Cooper Lake
  {intel, 6, 87, 87, 64, {6, 2400}},  // Knights Landing, Knights Mill
  {intel, 6, 133, 133, 64, {6, 2400}},
  {intel, 6, 102, 102, 32, {2, 2400}}, // Cannon Lake, Ice Lake, Tiger Lake, Rocket Lake: one unit of 512 bits
  {intel, 6, 125, 126, 32, {2, 3200}},
  {intel, 6, 140, 141, 32, {2, 3200}},
  {intel, 6, 167, 167, 32, {2, 3200}},
  {intel, 6, 106, 106, 64, {8, 2933}}, // Ice Lake-SP
  {intel, 6, 108, 108, 64, {2, 2667}},
  {intel, 6, 143, 143, 64, {8, 4400}}, // Sapphire, Emerald and Granite Rapids
  {intel, 6, 207, 207, 64, {8, 4800}},
  {intel, 6, 173, 174, 64, {8, 6400}},
  {intel, 6, 151, 151, 32, {2, 3200}, 16}, // Alder Lake to Panther Lake
  {intel, 6, 154, 154, 32, {2, 3200}, 16},
  {intel, 6, 183, 183, 32, {2, 4800}, 16},
  {intel, 6, 186, 186, 32, {2, 4800}, 16},
  {intel, 6, 191, 191, 32, {2, 3200}, 16},
  {intel, 6, 170, 172, 32, {2, 5600}, 16},
  {intel, 6, 181, 181, 32, {2, 5600}},
  {intel, 6, 189, 189, 32, {2, 8533}},
  {intel, 6, 197, 198, 32, {2, 5600}},
  {intel, 6, 204, 204, 32, {2, 6400}},
  {intel, 6, 190, 190, 16, {1, 4800}}, // cores of Atom's line: two units of 128 bits
  {intel, 6, 175, 175, 16, {8, 6400}},
  {intel, 6, 182, 182, 16, {2, 2933}},
  {intel, 6, 221, 221, 32, {12, 6400}}, // Clearwater Forest: four
  {intel, 6, 55, 55, 8, {1, 1333}},
  {intel, 6, 76, 77, 8, {2, 1600}},
  {intel, 6, 92, 92, 8, {2, 1866}},
  {intel, 6, 95, 95, 8, {2, 2400}},
  {intel, 6, 122, 122, 8, {2, 2400}},
  {intel, 6, 134, 134, 8, {2, 2933}},
  {intel, 6, 150, 150, 8, {2, 3200}},
  {intel, 6, 156, 156, 8, {2, 2933}},
};

/// The units of x86 cores by name, which counts before families: those of one family may have one unit of 512
/// bits or two, and some lists leave the family out. The first pattern counts.
inline constexpr named_core x86_names[]{
  {"Gold 5122", 64},         {"Gold 5222", 64},         {"Gold 51##", 32},          {"Gold 52##", 32},
  {"Silver 41##", 32},       {"Silver 42##", 32},       {"Bronze 31##", 32},        {"Bronze 32##", 32},
  {"D-21##", 32},            {"i7-78##X", 64},          {"i9-7###X", 64},           {"i7-98##X", 64},
  {"i9-98##X", 64},          {"i9-99##X", 64},          {"i9-109##X", 64},          {"i3-N3##", 16},
  {"Intel N###", 16},        {"Intel N##", 16},         {"Core i", 32},             {"Core Ultra", 32},
  {"Core # ", 32},           {"EPYC 7??1", 16},         {"EPYC 3??1", 16},          {"EPYC 9V33", 32},
  {"EPYC 9??4", 32},         {"EPYC 8??4", 32},         {"EPYC 4??4", 32},          {"Threadripper 1###", 16},
  {"Threadripper 2###", 16}, {"Threadripper*7###", 32}, {"Ryzen AI MAX", 64},       {"Ryzen AI", 32},
  {"Ryzen*1###", 16},        {"Ryzen*2###", 16},        {"Ryzen*3###U", 16},        {"Ryzen*3###G", 16},
  {"Ryzen*3##0H", 16},       {"Ryzen*7###", 32},        {"Ryzen*8###", 32},         {"Athlon", 16},
  {"AMD FX", 8},             {"Hygon C86 7#8#", 16},    {"Hygon C86 5###", 16},     {"Hygon C86 3###", 16},
};

/// Processors of which some cores are efficient ones with fewer units, for lists that leave the family out.
inline constexpr named_core efficient_cores[]{
  {"i#-12##", 16}, {"i#-13##", 16}, {"i#-14##", 16}, {"Core Ultra # 1##", 16}, {"Core # 1##U", 16}, {"Core # 1##H", 16},
};

/// Cores of Arm's architecture by the implementer and part that their identification registers have.
struct arm_core {
  std::uint32_t implementer;
  std::uint32_t part;
  std::string_view name;
};
inline constexpr arm_core arm_cores[]{
  {0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd05, "Cortex-A55"},   {0x41, 0xd07, "Cortex-A57"},
  {0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd09, "Cortex-A73"},   {0x41, 0xd0a, "Cortex-A75"},
  {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"},  {0x41, 0xd0d, "Cortex-A77"},
  {0x41, 0xd40, "Neoverse-V1"}, {0x41, 0xd41, "Cortex-A78"},   {0x41, 0xd42, "Cortex-A78AE"},
  {0x41, 0xd44, "Cortex-X1"},   {0x41, 0xd49, "Neoverse-N2"},  {0x41, 0xd4f, "Neoverse-V2"},
  {0x41, 0xd81, "Cortex-A720"}, {0x41, 0xd82, "Cortex-X4"},    {0x41, 0xd84, "Neoverse-V3"},
  {0x41, 0xd85, "Cortex-X925"}, {0x41, 0xd87, "Cortex-A725"},  {0x41, 0xd8e, "Neoverse-N3"},
  {0x43, 0x0af, "ThunderX2"},   {0x46, 0x001, "A64FX"},        {0x48, 0xd01, "TSV110"},
  {0x4e, 0x004, "Carmel"},      {0x51, 0xc00, "Falkor"},       {0xc0, 0xac3, "Ampere-1"},
};

} // namespace weft::data_sheets
