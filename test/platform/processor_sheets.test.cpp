// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/processor_sheets.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>

namespace processor_sheets_test {

using namespace weft;
using source = data_sheets::found_memory::source;

data_sheets::found_memory memory_of(const std::string& name, std::uint32_t sockets = 1, std::uint32_t cores = 8) {
  return data_sheets::memory_of({.kinds = {{.model = name, .cores = cores}}, .sockets = sockets}, sockets, cores);
}
/// GB/s of a socket by the product line; 0 if that is not known.
double line(const std::string& name) {
  const auto found = memory_of(name);
  return found.by == source::line ? found.memory.bandwidth() / 1e9 : 0;
}

TEST_CASE("processor sheets: patterns begin words, and trademarks do not count") {
  using data_sheets::has_pattern;
  CHECK(has_pattern("Intel(R) Xeon(R) CPU           E5620  @ 2.40GHz", "Xeon E56##"));
  CHECK(has_pattern("AMD EPYC 7B12", "epyc 7??2"));
  CHECK(!has_pattern("AMD EPYC 7B12", "7??3"));
  CHECK(!has_pattern("AMD EPYC 7B12", "PYC"));
  CHECK(has_pattern("AMD Ryzen 7 PRO 4750G with Radeon Graphics", "Ryzen*4###"));
  CHECK(has_pattern("Intel(R) Xeon(R) 6760P", "Xeon 6[57]##"));
  CHECK(!has_pattern("Intel(R) Xeon(R) 6960P", "Xeon 6[57]##"));
  CHECK(!has_pattern("", "x"));
  CHECK(!has_pattern("Xeon 6", "Xeon 6[57]"));
}

TEST_CASE("processor sheets: servers of AMD, also under the names that clouds gave them") {
  CHECK(line("AMD EPYC 7451 24-Core Processor") == doctest::Approx(170.7).epsilon(1e-3));
  CHECK(line("AMD EPYC 7742 64-Core Processor") == 204.8);
  CHECK(line("AMD EPYC 7B12") == 204.8);
  CHECK(line("AMD EPYC 7R32") == 204.8);
  CHECK(line("AMD EPYC 7R13 Processor") == 204.8);
  CHECK(line("AMD EPYC 7V73X 64-Core Processor") == 204.8);
  CHECK(line("AMD EPYC 73F3 16-Core Processor") == 204.8);
  CHECK(line("AMD EPYC 9R14") == 460.8);
  CHECK(line("AMD EPYC 9654 96-Core Processor") == 460.8);
  CHECK(line("AMD EPYC 9V33X 96-Core Processor") == 460.8);
  CHECK(line("AMD EPYC 9B45") == 614.4);
  CHECK(line("AMD EPYC 9755 128-Core Processor") == 614.4);
  CHECK(line("AMD EPYC 8534P 64-Core Processor") == 230.4);
  CHECK(line("AMD EPYC 4564P 16-Core Processor") == 83.2);
  CHECK(line("AMD EPYC 3251 8-Core Processor") == doctest::Approx(42.7).epsilon(1e-3));
  CHECK(line("AMD EPYC-Milan Processor") == 204.8);
  CHECK(line("AMD EPYC Processor (with IBPB)") > 100);
}

TEST_CASE("processor sheets: desktops and laptops of AMD") {
  CHECK(line("AMD Ryzen 9 5950X 16-Core Processor") == 51.2);
  CHECK(line("AMD Ryzen 7 1700 Eight-Core Processor") == doctest::Approx(42.7).epsilon(1e-3));
  CHECK(line("AMD Ryzen 7 5800X3D 8-Core Processor") == 51.2);
  CHECK(line("AMD Ryzen 5 3500U with Radeon Vega Mobile Gfx") == 38.4);
  CHECK(line("AMD Ryzen 9 7950X 16-Core Processor") == 83.2);
  CHECK(line("AMD Ryzen 7 7840U w/ Radeon  780M Graphics") == 89.6);
  CHECK(line("AMD Ryzen 7 7730U with Radeon Graphics") == 51.2);
  CHECK(line("AMD Ryzen 3 7320U with Radeon Graphics") == 44);
  CHECK(line("AMD Ryzen 9 9950X 16-Core Processor") == 89.6);
  CHECK(line("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S") == 256);
  CHECK(line("AMD Ryzen AI 9 HX 370 w/ Radeon 890M") == 89.6);
  CHECK(line("AMD Ryzen Threadripper 3970X 32-Core Processor") == 102.4);
  CHECK(line("AMD Ryzen Threadripper 2990WX 32-Core Processor") == doctest::Approx(93.9).epsilon(1e-3));
  CHECK(line("AMD Ryzen Threadripper PRO 5995WX 64-Cores") == 204.8);
  CHECK(line("AMD Ryzen Threadripper PRO 7995WX 96-Cores") == 332.8);
  CHECK(line("AMD FX(tm)-8350 Eight-Core Processor") == doctest::Approx(29.9).epsilon(1e-2));
}

TEST_CASE("processor sheets: Xeon") {
  CHECK(line("Intel(R) Xeon(R) Platinum 8480C") == 307.2);
  CHECK(line("Intel(R) Xeon(R) Platinum 8488C") == 307.2);
  CHECK(line("Intel(R) Xeon(R) Platinum 8175M CPU @ 2.50GHz") == doctest::Approx(128).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz") == doctest::Approx(140.8).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz") == 204.8);
  CHECK(line("INTEL(R) XEON(R) PLATINUM 8592+") == 358.4);
  CHECK(line("Intel(R) Xeon(R) Platinum 8376H CPU @ 2.60GHz") == 153.6);
  CHECK(line("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz") == doctest::Approx(128).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) Silver 4210R CPU @ 2.40GHz") == 115.2);
  CHECK(line("Intel(R) Xeon(R) Bronze 3106 CPU @ 1.70GHz") == doctest::Approx(102.4).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) 6972P") == 614.4);
  CHECK(line("Intel(R) Xeon(R) 6780E") == 409.6);
  CHECK(line("Intel(R) Xeon(R) 6975P-C") == 614.4);
  CHECK(line("Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz") == 76.8);
  CHECK(line("Intel(R) Xeon(R) CPU E5-2650L v3 @ 1.80GHz") == doctest::Approx(68.3).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) CPU E5-2680 v2 @ 2.80GHz") == doctest::Approx(59.7).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz") == 51.2);
  CHECK(line("Intel(R) Xeon(R) CPU E7-8890 v4 @ 2.20GHz") == 102.4);
  CHECK(line("Intel(R) Xeon(R) CPU E3-1240 v5 @ 3.50GHz") == doctest::Approx(34.1).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) CPU E3-1230 V2 @ 3.30GHz") == 25.6);
  CHECK(line("Intel(R) Xeon(R) E-2278G CPU @ 3.40GHz") == doctest::Approx(42.7).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) W-2145 CPU @ 3.70GHz") == doctest::Approx(85.3).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) w9-3495X") == 307.2);
  CHECK(line("Intel(R) Xeon(R) CPU D-1541 @ 2.10GHz") == doctest::Approx(34.1).epsilon(1e-3));
  CHECK(line("Intel(R) Xeon(R) CPU           X5650  @ 2.67GHz") == doctest::Approx(32).epsilon(1e-3));
  CHECK(line("Intel Xeon Processor (Icelake)") == 204.8);
  CHECK(line("Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz") == 115.2);
}

TEST_CASE("processor sheets: Core") {
  CHECK(line("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz") == 38.4);
  CHECK(line("Intel(R) Core(TM) i9-9900K CPU @ 3.60GHz") == doctest::Approx(42.7).epsilon(1e-3));
  CHECK(line("Intel(R) Core(TM) i9-9900X CPU @ 3.50GHz") == doctest::Approx(85.3).epsilon(1e-3));
  CHECK(line("Intel(R) Core(TM) i9-10980XE CPU @ 3.00GHz") == doctest::Approx(93.9).epsilon(1e-3));
  CHECK(line("Intel(R) Core(TM) i7-10700 CPU @ 2.90GHz") == doctest::Approx(42.7).epsilon(1e-3));
  CHECK(line("Intel(R) Core(TM) i7-1065G7 CPU @ 1.30GHz") == 51.2);
  CHECK(line("11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz") == 51.2);
  CHECK(line("12th Gen Intel(R) Core(TM) i7-1260P") == 76.8);
  CHECK(line("13th Gen Intel(R) Core(TM) i9-13900K") == 89.6);
  CHECK(line("Intel(R) Core(TM) i9-14900K") == 89.6);
  CHECK(line("Intel(R) Core(TM) Ultra 7 155H") == 89.6);
  CHECK(line("Intel(R) Core(TM) Ultra 9 285K") == 102.4);
  CHECK(line("Intel(R) Core(TM) Ultra 7 258V") > 130);
  CHECK(line("Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz") == 25.6);
  CHECK(line("Intel(R) Core(TM) i7-5960X CPU @ 3.00GHz") == doctest::Approx(68.3).epsilon(1e-3));
  CHECK(line("Intel(R) Core(TM) i7 CPU         920  @ 2.67GHz") == doctest::Approx(25.6).epsilon(1e-3));
  CHECK(line("Intel(R) N100") == 38.4);
}

TEST_CASE("processor sheets: Arm, POWER and others") {
  CHECK(line("Neoverse-N1") == 204.8);
  CHECK(line("Neoverse-V1") == 307.2);
  CHECK(line("Neoverse-V2") == 512);
  CHECK(line("A64FX") == 1024);
  CHECK(line("POWER9, altivec supported") == doctest::Approx(170.7).epsilon(1e-3));
  CHECK(line("POWER8 (raw), altivec supported") == 115.2);
  CHECK(line("POWER10 (architected), altivec supported") == 409.6);
  CHECK(line("Firestorm-M1-Max") > 400);
  const inventory::processors phone{.kinds = {{.model = "Cortex-A510", .cores = 3}, {.model = "Cortex-X3"}}};
  CHECK(data_sheets::memory_of(phone, 1, 4).memory.bandwidth() == 67.2e9); // by its largest core
  const inventory::processors graviton{.kinds = {{.model = "Neoverse-V2"}}, .product = "AWS Graviton4"};
  CHECK(data_sheets::memory_of(graviton, 1, 96).memory.bandwidth() == doctest::Approx(537.6e9)); // the product counts
}

TEST_CASE("processor sheets: a name without a sheet has the memory of its family, or of what it seems to be") {
  const inventory::processors cloud{
    .kinds = {{.model = "Intel(R) Xeon(R) CPU @ 2.20GHz"}}, .vendor = "GenuineIntel", .family = 6, .number = 79};
  CHECK(data_sheets::memory_of(cloud, 1, 8).by == source::family);
  CHECK(data_sheets::memory_of(cloud, 1, 8).memory.bandwidth() == 76.8e9);
  CHECK(memory_of("Intel(R) Xeon(R) CPU @ 2.20GHz").kind == "a server");
  CHECK(memory_of("Intel(R) Core(TM)2 Duo CPU E8400 @ 3.00GHz").kind == "a desktop");
  CHECK(memory_of("Cortex-A72").kind == "a board");
  CHECK(memory_of("Foo", 2).kind == "a server");
  CHECK(memory_of("Foo", 1, 64).kind == "a server");
  CHECK(memory_of("Foo").kind == "some machine");
  CHECK(memory_of("").by == source::kind);
}

TEST_CASE("processor sheets: every row can be found, and none has a memory out of proportion") {
  std::set<std::string_view> seen;
  for (const auto& [pattern, memory] : data_sheets::processor_memories) {
    CAPTURE(pattern);
    CHECK(seen.insert(pattern).second);
    CHECK(memory.bandwidth() >= 8e9);
    CHECK(memory.bandwidth() <= 1100e9);
  }
  for (const auto& c : data_sheets::x86_cores) {
    CAPTURE(c.first);
    CHECK(c.memory.bandwidth() >= 8e9);
    CHECK((c.max_flop_per_cycle == 8 || c.max_flop_per_cycle == 16 || c.max_flop_per_cycle == 32 ||
           c.max_flop_per_cycle == 64));
  }
}

TEST_CASE("processor sheets: cores of Arm by the makers' guides") {
  const auto flop = [](const char* name) { return data_sheets::find_core(name)->flop_per_cycle; };
  CHECK(flop("Cortex-A53") == 8);
  CHECK(flop("Cortex-A55") == 8);
  CHECK(flop("Cortex-A510") == 8);
  CHECK(flop("Cortex-A72") == 8);
  CHECK(flop("Cortex-A720") == 16);
  CHECK(flop("Cortex-A76") == 16);
  CHECK(flop("Cortex-A78AE") == 16);
  CHECK(flop("Cortex-A715") == 16);
  CHECK(flop("Cortex-A7") == 2);
  CHECK(flop("Cortex-X3") == 32);
  CHECK(flop("Cortex-X925") == 48);
  CHECK(flop("Neoverse-N1") == 16);
  CHECK(flop("Neoverse-N2") == 16);
  CHECK(flop("Neoverse-V1") == 32);
  CHECK(flop("Neoverse-V2") == 32);
  CHECK(flop("Icestorm-M1") == 16);
  CHECK(flop("Firestorm-M1-Pro") == 32);
  CHECK(data_sheets::find_core("Mystery") == nullptr);
}

} // namespace processor_sheets_test
