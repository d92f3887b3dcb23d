// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "weft/io/lscpu.hpp"

#include <doctest/doctest.h>

#include <string>

namespace io_lscpu_test {

using namespace weft;
using weft_test::refusal;

// util-linux 2.38: a tree.
constexpr const char* nested = R"json({
   "lscpu": [
      {
         "field": "Architecture:",
         "data": "x86_64",
         "children": [
            {
               "field": "Byte Order:",
               "data": "Little Endian"
            }
         ]
      },{
         "field": "CPU(s):",
         "data": "256"
      },{
         "field": "Vendor ID:",
         "data": "AuthenticAMD",
         "children": [
            {
               "field": "Model name:",
               "data": "AMD EPYC 7742 64-Core Processor",
               "children": [
                  {"field": "CPU family:", "data": "23"},
                  {"field": "Thread(s) per core:", "data": "2"},
                  {"field": "Core(s) per socket:", "data": "64"},
                  {"field": "Socket(s):", "data": "2"},
                  {"field": "CPU max MHz:", "data": "2250.0000"},
                  {"field": "Flags:", "data": "fpu sse sse2 ssse3 fma sse4_1 avx f16c avx2 clzero"}
               ]
            }
         ]
      },{
         "field": "Caches (sum of all):",
         "data": null,
         "children": [{"field": "L3:", "data": "512 MiB (32 instances)"}]
      }
   ]
})json";

using reader = io::lscpu_reader;
using inventory::clock_kind;

inventory::processors read(const std::string& text) { return reader::read(text, "in"); }

TEST_CASE("lscpu -J: a tree of fields") {
  CHECK(reader::recognises(nested));
  CHECK(read(nested) == inventory::processors{.kinds = {{.model = "AMD EPYC 7742 64-Core Processor",
                                                         .cores = 128,
                                                         .hertz = 2.25e9,
                                                         .flop_per_cycle = 32,
                                                         .units = "AVX2"}},
                                              .sockets = 2,
                                              .vendor = "AuthenticAMD",
                                              .family = 23});
}

TEST_CASE("lscpu -J: a flat list of an older version, with the clock in the name") {
  const auto p = read(R"({"lscpu": [
    {"field": "Architecture:", "data": "x86_64"}, {"field": "CPU(s):", "data": "40"},
    {"field": "Thread(s) per core:", "data": "1"}, {"field": "Core(s) per socket:", "data": "20"},
    {"field": "Socket(s):", "data": "2"}, {"field": "Vendor ID:", "data": "GenuineIntel"},
    {"field": "CPU family:", "data": "6"}, {"field": "Model:", "data": "85"},
    {"field": "Model name:", "data": "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz"},
    {"field": "CPU MHz:", "data": "1000.000"}, {"field": "CPU max MHz:", "data": "3700.0000"},
    {"field": "Flags:", "data": "fpu sse2 avx avx2 fma avx512f avx512cd"}]})");
  REQUIRE(p.kinds.size() == 1);
  CHECK(p.cores() == 40);
  CHECK(p.kinds[0].hertz == 2.4e9);
  CHECK(p.kinds[0].clock == clock_kind::base);
  CHECK(p.kinds[0].flop_per_cycle == 64);
}

/// One kind of cores of x86.
std::string x86(const std::string& vendor, const std::string& family, const std::string& number,
                const std::string& name, const std::string& flags) {
  return "Architecture:        x86_64\nCPU(s):              2\nVendor ID:           " + vendor +
         (family.empty() ? "" : "\nCPU family:          " + family + "\nModel:               " + number) +
         "\nModel name:          " + name +
         "\nThread(s) per core:  1\nCore(s) per socket:  2\nSocket(s):           1\nFlags:               " + flags +
         "\n";
}

TEST_CASE("lscpu: vector units of x86 by the makers' documents, not by the widest instruction") {
  const std::string avx2 = "sse2 avx avx2 fma";
  const std::string avx512 = avx2 + " avx512f";
  const auto amd = [&](const char* family, const char* number, const std::string& flags,
                       const char* name = "AMD EPYC") {
    return read(x86("AuthenticAMD", family, number, name, flags)).kinds.front().flop_per_cycle;
  };
  CHECK(amd("23", "1", avx2) == 16);    // Zen
  CHECK(amd("23", "24", avx2) == 16);   // Zen+
  CHECK(amd("23", "49", avx2) == 32);   // Zen 2
  CHECK(amd("25", "33", avx2) == 32);   // Zen 3
  CHECK(amd("25", "97", avx512) == 32); // Zen 4
  CHECK(amd("26", "68", avx512) == 64); // Zen 5
  CHECK(amd("26", "36", avx512) == 32); // … of laptops
  CHECK(amd("26", "112", avx512) == 64);
  CHECK(amd("21", "2", "sse2 avx fma") == 8);
  CHECK(amd("", "", avx2, "AMD EPYC 7451 24-Core Processor") == 16); // lists that leave the family out
  CHECK(amd("", "", avx2, "AMD Ryzen 7 1700 Eight-Core Processor") == 16);
  CHECK(amd("", "", avx2, "AMD Ryzen 5 3400G with Radeon Vega Graphics") == 16);
  CHECK(amd("", "", avx2, "AMD Ryzen 9 5950X 16-Core Processor") == 32);
  CHECK(amd("", "", avx512, "AMD Ryzen 9 7950X 16-Core Processor") == 32);
  CHECK(amd("", "", avx512, "AMD Ryzen 9 9950X 16-Core Processor") == 64);
  CHECK(amd("", "", avx512, "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S") == 64);
  CHECK(amd("", "", avx512, "AMD Ryzen AI 9 HX 370 w/ Radeon 890M") == 32);
  CHECK(read(x86("HygonGenuine", "24", "1", "Hygon C86 7185 32-core Processor", avx2)).kinds[0].flop_per_cycle == 16);

  const auto intel = [&](const char* number, const std::string& flags,
                         const char* name = "Intel(R) Xeon(R) CPU @ 2.00GHz") {
    return read(x86("GenuineIntel", "6", number, name, flags)).kinds.front().flop_per_cycle;
  };
  CHECK(intel("85", avx512) == 64);
  CHECK(intel("85", avx512, "Intel(R) Xeon(R) Silver 4114 CPU @ 2.20GHz") == 32); // one unit of 512 bits
  CHECK(intel("85", avx512, "Intel(R) Xeon(R) Gold 5218 CPU @ 2.30GHz") == 32);
  CHECK(intel("85", avx512, "Intel(R) Xeon(R) Gold 5122 CPU @ 3.60GHz") == 64);
  CHECK(intel("85", avx512, "Intel(R) Xeon(R) Bronze 3106 CPU @ 1.70GHz") == 32);
  CHECK(intel("85", avx512, "Intel(R) Core(TM) i9-10980XE CPU @ 3.00GHz") == 64);
  CHECK(intel("106", avx512, "Intel(R) Xeon(R) Silver 4310 CPU @ 2.10GHz") == 64); // two since Ice Lake
  CHECK(intel("140", avx512, "11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz") == 32);
  CHECK(intel("167", avx512, "11th Gen Intel(R) Core(TM) i9-11900K @ 3.50GHz") == 32);
  CHECK(intel("190", avx2, "Intel(R) N100") == 16);
  CHECK(intel("175", avx2, "Intel(R) Xeon(R) 6780E") == 16);
  CHECK(intel("173", avx512, "Intel(R) Xeon(R) 6972P") == 64);
  CHECK(intel("45", "sse2 avx") == 16);
  CHECK(intel("44", "sse2") == 8);
  CHECK(intel("85", avx2) == 32); // a virtual machine that hides them
  CHECK(intel("85", "avx512fake") == 0);
}

TEST_CASE("lscpu: big.LITTLE, each kind of cores with its clock and its units") {
  const auto p = read("Architecture:             aarch64\n"
                      "CPU(s):                   8\n"
                      "  On-line CPU(s) list:    0-7\n"
                      "Vendor ID:                ARM\n"
                      "  Model name:             Cortex-A55\n"
                      "    Model:                0\n"
                      "    Thread(s) per core:   1\n"
                      "    Core(s) per socket:   4\n"
                      "    Socket(s):            1\n"
                      "    CPU max MHz:          1800.0000\n"
                      "    Flags:                fp asimd crc32\n"
                      "  Model name:             Cortex-A76\n"
                      "    Model:                0\n"
                      "    Thread(s) per core:   1\n"
                      "    Core(s) per socket:   2\n"
                      "    Socket(s):            2\n"
                      "    CPU max MHz:          2400.0000\n"
                      "    Flags:                fp asimd crc32\n"
                      "Caches (sum of all):\n"
                      "  L1d:                    384 KiB (8 instances)\n");
  REQUIRE(p.kinds.size() == 2);
  CHECK(p.cores() == 8);
  CHECK(p.kinds[0] ==
        inventory::core_kind{
          .model = "Cortex-A55", .cores = 4, .hertz = 1.8e9, .flop_per_cycle = 8, .units = "by the core's documents"});
  CHECK(p.kinds[1] ==
        inventory::core_kind{
          .model = "Cortex-A76", .cores = 4, .hertz = 2.4e9, .flop_per_cycle = 16, .units = "by the core's documents"});
}

TEST_CASE("lscpu -J: cores of two makers") {
  const auto p = read(R"({"lscpu": [
    {"field": "Architecture:", "data": "aarch64"}, {"field": "CPU(s):", "data": "6"},
    {"field": "Vendor ID:", "data": "ARM", "children": [{"field": "Model name:", "data": "Cortex-A57", "children": [
      {"field": "Core(s) per cluster:", "data": "4"}, {"field": "Socket(s):", "data": "-"},
      {"field": "Cluster(s):", "data": "1"}, {"field": "CPU max MHz:", "data": "2035.2000"}]}]},
    {"field": "Vendor ID:", "data": "NVIDIA", "children": [{"field": "Model name:", "data": "Denver 2", "children": [
      {"field": "Core(s) per cluster:", "data": "2"}, {"field": "Socket(s):", "data": "-"},
      {"field": "Cluster(s):", "data": "1"}, {"field": "CPU max MHz:", "data": "2035.2000"}]}]}]})");
  REQUIRE(p.kinds.size() == 2);
  CHECK(p.kinds[0].cores == 4);
  CHECK(p.kinds[1].cores == 2);
  CHECK(p.kinds[1].flop_per_cycle == 16);
  CHECK(p.sockets == 1);
}

TEST_CASE("lscpu: a hybrid Intel, whose small cores are those without a second thread") {
  const std::string text = "Architecture: x86_64\nCPU(s): 24\nVendor ID: GenuineIntel\n"
                           "Model name: 12th Gen Intel(R) Core(TM) i9-12900K\nCPU family: 6\nModel: 151\n"
                           "Thread(s) per core: 2\nCore(s) per socket: 16\nSocket(s): 1\nCPU max MHz: 5200.0000\n"
                           "Flags: sse2 avx avx2 fma\n";
  const auto p = read(text);
  REQUIRE(p.kinds.size() == 2);
  CHECK(p.kinds[0].cores == 8);
  CHECK(p.kinds[0].flop_per_cycle == 32);
  CHECK(p.kinds[1].cores == 8);
  CHECK(p.kinds[1].flop_per_cycle == 16);
  CHECK(p.cores() == 16);
}

TEST_CASE("lscpu: virtual machines that list no clock") {
  const auto of = [](const std::string& more) {
    return read("Architecture: x86_64\nCPU(s): 8\nThread(s) per core: 2\nCore(s) per socket: 4\nSocket(s): 1\n"
                "Vendor ID: AuthenticAMD\nCPU family: 23\nModel: 49\nModel name: AMD EPYC 7B12\n"
                "Hypervisor vendor: KVM\nVirtualization type: full\nFlags: fpu sse2 avx avx2 fma\n" + more);
  };
  CHECK(of("").kinds[0].hertz == 0);
  CHECK(of("").is_virtual);
  CHECK(of("BogoMIPS: 4499.99\n").kinds[0].hertz == 2249.995e6); // twice the clock of the time stamp counter
  CHECK(of("BogoMIPS: 4499.99\n").kinds[0].clock == clock_kind::base);
  CHECK(of("CPU MHz: 2300\n").kinds[0].clock == clock_kind::present);
  CHECK(of("CPU max MHz: -\n").kinds[0].hertz == 0);
  const auto arm =
    read("Architecture: aarch64\nCPU(s): 4\nThread(s) per core: 1\nCore(s) per cluster: 4\nSocket(s): -\n"
         "Cluster(s): 1\nVendor ID: Apple\nModel: 0\nBogoMIPS: 48.00\nFlags: fp asimd\n");
  CHECK(arm.kinds[0].hertz == 0); // a timer, not a clock
  CHECK(arm.kinds[0].model == "aarch64");
  CHECK(arm.kinds[0].flop_per_cycle == 8);
  CHECK(arm.cores() == 4);
}

TEST_CASE("lscpu: Arm servers") {
  const auto grace = read("Architecture: aarch64\nCPU(s): 72\nModel name: Neoverse-V2\nThread(s) per core: 1\n"
                          "Core(s) per socket: 72\nSocket(s): -\nCPU max MHz: 3357.0000\n"
                          "Flags: fp asimd evtstrm aes sve sve2\n");
  CHECK(grace.cores() == 72);
  CHECK(grace.sockets == 1);
  CHECK(grace.kinds[0].flop_per_cycle == 32);
  CHECK(grace.kinds[0].hertz == 3.357e9);
  const auto altra = read("Architecture: aarch64\nCPU(s): 160\nVendor ID: ARM\nBIOS Vendor ID: Ampere(R)\n"
                          "Model name: Neoverse-N1\nBIOS Model name: Ampere(R) Altra(R) Processor Q80-30 CPU @ 3.0GHz\n"
                          "Model: 1\nThread(s) per core: 1\nCore(s) per socket: 80\nSocket(s): 2\nStepping: r3p1\n"
                          "CPU max MHz: 3000.0000\nFlags: fp asimd\n");
  CHECK(altra.cores() == 160);
  CHECK(altra.kinds[0].flop_per_cycle == 16);
  CHECK(altra.product == "Ampere(R) Altra(R) Processor Q80-30 CPU @ 3.0GHz");
}

TEST_CASE("lscpu: A64FX, of which old lists know the maker's number only") {
  for (const char* named : {"Vendor ID: 0x46\nModel: 0\n", "Vendor ID: FUJITSU\nModel: 0\nModel name: A64FX\n"}) {
    const auto p = read(std::string{"Architecture: aarch64\nCPU(s): 48\nThread(s) per core: 1\nCore(s) per socket: 12\n"
                                    "Socket(s): 4\nNUMA node(s): 4\n"} +
                        named + "BogoMIPS: 200.00\nFlags: fp asimd sve\n");
    CHECK(p.cores() == 48);
    CHECK(p.sockets == 1); // groups of cores are no sockets
    CHECK(p.kinds[0].model == "A64FX");
    CHECK(p.kinds[0].flop_per_cycle == 64);
  }
}

TEST_CASE("lscpu: POWER, whose hardware threads are many, and which lists no flags") {
  const auto p =
    read("Architecture:        ppc64le\nByte Order:          Little Endian\nCPU(s):              160\n"
         "On-line CPU(s) list: 0-159\nThread(s) per core:  4\nCore(s) per socket:  20\nSocket(s):           2\n"
         "NUMA node(s):        6\nModel:               2.1 (pvr 004e 1201)\n"
         "Model name:          POWER9, altivec supported\nCPU max MHz:         3800.0000\n");
  CHECK(p.cores() == 40);
  CHECK(p.kinds[0].flop_per_cycle == 16);
}

TEST_CASE("lscpu: RISC-V, with and without vectors, and numbers in hexadecimal") {
  const auto of = [](const std::string& isa) {
    return read(
      "Architecture: riscv64\nByte Order: Little Endian\nCPU(s): 8\nOn-line CPU(s) list: 0-7\n"
      "Vendor ID: 0x710\nCPU family: 0x8000000058000001\nModel: 0x1000000049772200\nModel name: Spacemit(R) X60\n"
      "Thread(s) per core: 1\nCore(s) per socket: 8\nSocket(s): 1\nCPU max MHz: 1600.0000\nISA: " +
      isa + "\n");
  };
  CHECK(of("rv64imafdcv_zicsr_zvl256b").kinds[0].flop_per_cycle == 8);
  CHECK(of("rv64imafdc_zicsr_zifencei_zve").kinds[0].flop_per_cycle == 2);
  CHECK(of("").kinds[0].flop_per_cycle == 2);
  CHECK(of("").cores() == 8);
}

TEST_CASE("lscpu: LoongArch and Z, whose family is no number") {
  const auto p = read("Architecture: loongarch64\nCPU(s): 8\nVendor ID: Loongson\nCPU family: Loongson-64bit\n"
                      "Model name: Loongson-3A6000\nThread(s) per core: 2\nCore(s) per socket: 4\nSocket(s): 1\n"
                      "CPU max MHz: 2500.0000\nFlags: cpucfg lam ual fpu lsx lasx\n");
  CHECK(p.kinds[0].flop_per_cycle == 32);
  const auto z =
    read("Architecture: s390x\nCPU(s): 4\nOn-line CPU(s) list: 0-3\nThread(s) per core: 1\nCore(s) per socket: 4\n"
         "Socket(s) per book: 1\nBook(s) per drawer: 1\nDrawer(s): 1\nVendor ID: IBM/S390\nMachine type: 8561\n"
         "CPU dynamic MHz: 5200\nCPU static MHz: 5200\nFlags: esan3 zarch vx vxe\n");
  CHECK(z.cores() == 4);
  CHECK(z.kinds[0].hertz == 5.2e9);
  CHECK(z.kinds[0].flop_per_cycle == 0);
}

TEST_CASE("lscpu -e: cores and clocks of a table") {
  const std::string text = "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE    MAXMHZ   MINMHZ\n"
                           "  0    0      0    0 0:0:0:0          yes 5000.0000 800.0000\n"
                           "  1    0      0    1 1:1:1:0          yes 4000.0000 800.0000\n"
                           "  2    0      0    0 0:0:0:0          yes 5000.0000 800.0000\n"
                           "  3    0      0    1 1:1:1:0          yes 4000.0000 800.0000\n"
                           "  4    -      -    - -                 no         -        -\n";
  CHECK(reader::recognises(text));
  const auto p = read(text);
  REQUIRE(p.kinds.size() == 1);
  CHECK(p.cores() == 2);
  CHECK(p.kinds[0].hertz == 4.5e9); // of the mean core, which adds up to the same
  CHECK(p.kinds[0].flop_per_cycle == 0);
  const auto named = read("CPU CORE SOCKET MODELNAME\n0 0 0 Cortex-A53 r0\n1 1 0 Cortex-A72\n2 2 0 Cortex-A72\n");
  REQUIRE(named.kinds.size() == 2);
  CHECK(named.kinds[0].model == "Cortex-A53 r0");
  CHECK(named.kinds[1].cores == 2);
}

TEST_CASE("lscpu -p and lscpu -e -J: the same as lines for programs and as JSON") {
  const std::string lines = "# The following is the parsable format, which can be fed to other\n"
                            "# programs. Each different item in every column has an unique ID\n"
                            "# starting usually from zero.\n"
                            "# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n"
                            "0,0,0,0,,0,0,0,0\n1,1,0,0,,1,1,1,0\n2,2,1,1,,2,2,2,1\n3,3,1,1,,3,3,3,1\n";
  CHECK(reader::recognises(lines));
  CHECK(read(lines).cores() == 4);
  CHECK(read(lines).sockets == 2);
  CHECK(read(lines).kinds[0].hertz == 0);
  const std::string json = R"({"cpus": [
    {"cpu": 0, "node": 0, "socket": 0, "core": 0, "l1d:l1i:l2:l3": "0:0:0:0", "online": true, "maxmhz": 3600.0000},
    {"cpu": 1, "node": 0, "socket": 0, "core": 0, "l1d:l1i:l2:l3": "0:0:0:0", "online": true, "maxmhz": 3600.0000},
    {"cpu": 2, "node": null, "socket": null, "core": null, "online": false, "maxmhz": null}]})";
  CHECK(reader::recognises(json));
  CHECK(read(json).cores() == 1);
  CHECK(read(json).kinds[0].hertz == 3.6e9);
}

TEST_CASE("lscpu: what cannot be read is refused in one line") {
  CHECK(refusal<reader>(R"({"lscpu": 3})") == "in:1: /lscpu: expected a list of fields, found 3");
  CHECK(refusal<reader>(R"({"lscpu": []})") ==
        "in: neither 'Core(s) per socket' nor 'CPU(s)' is there, so the number of cores is not known");
  CHECK(refusal<reader>("Architecture: x\nCPU(s): many\n") == "in: CPU(s) 'many' is not a whole number");
  CHECK(refusal<reader>("Architecture: x\nCPU(s): 70000\n") == "in: CPU(s) '70000' is not a number from 1 to 65536");
  CHECK(refusal<reader>("Architecture: x\nCPU(s): 4\nCPU max MHz: 1e9\n") ==
        "in: a clock of 1000000 GHz is out of range");
  CHECK(refusal<reader>(R"({"lscpu": [{"data": "x"}]})") == "in:1: /lscpu/0: the key 'field' is missing");
  CHECK(
    refusal<reader>(
      "Architecture: aarch64\nCPU(s): 8\nModel name: Cortex-A510\nCore(s) per socket: 3\nSocket(s): 1\n") ==
    "in: cores are listed for 3 of 8 CPUs; give the whole output of lscpu, of util-linux 2.37 or newer where cores are "
    "of several kinds");
  CHECK(refusal<reader>("Architecture: aarch64\nCPU(s): 8\nModel name: A\nCore(s) per socket: 4\nSocket(s): 1\n"
                        "Model name: B\nCPU max MHz: 1000\n") ==
        "in: the number of cores 'B' is not known: 'Core(s) per socket' is not there");
  CHECK(refusal<reader>("CPU NODE SOCKET ONLINE\n0 0 0 yes\n") ==
        "in: there is no column CORE, so the number of cores is not known; give lscpu -J");
  CHECK(refusal<reader>(R"({"cpus": [{"cpu": 0, "online": true}, {"cpu": 1, "online": true}]})") ==
        "in: there is no column CORE, so the number of cores is not known; give lscpu -J");
  CHECK(refusal<reader>("CPU SOCKET CORE\n0 0\n") == "in:2: 2 entries for 3 columns");
  CHECK(refusal<reader>("CPU SOCKET CORE\n") == "in: no CPU follows the line of headers");
}

TEST_CASE("/proc/meminfo: all memory") {
  const std::string text = "MemTotal:       263932132 kB\nMemFree:        1234 kB\n";
  CHECK(io::meminfo_reader::recognises(text));
  CHECK(io::meminfo_reader::read(text, "in") == 263932132ull * 1024);
  CHECK(refusal<io::meminfo_reader>("MemTotal: 12 MB\n") == "in:1: MemTotal must be a positive number of kB");
  CHECK(refusal<io::meminfo_reader>("MemTotal: x kB\n") == "in:1: MemTotal 'x' is not a whole number");
  CHECK(refusal<io::meminfo_reader>("MemFree: 1 kB\n") == "in:1: there is no line that begins with 'MemTotal:'");
}

} // namespace io_lscpu_test
