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

TEST_CASE("lscpu -J: a tree of fields") {
  CHECK(io::lscpu_reader::recognises(nested));
  CHECK(io::lscpu_reader::read(nested, "in") == inventory::processors{.model = "AMD EPYC 7742 64-Core Processor",
                                                                      .sockets = 2,
                                                                      .cores = 128,
                                                                      .hertz = 2.25e9,
                                                                      .flop_per_cycle = 32,
                                                                      .units = "two units of AVX2"});
}

TEST_CASE("lscpu -J: a flat list of an older version, with the clock in the name") {
  const std::string flat = R"({"lscpu": [
    {"field": "Architecture:", "data": "x86_64"}, {"field": "CPU(s):", "data": "40"},
    {"field": "Thread(s) per core:", "data": "1"}, {"field": "Core(s) per socket:", "data": "20"},
    {"field": "Socket(s):", "data": "2"}, {"field": "Vendor ID:", "data": "GenuineIntel"},
    {"field": "CPU family:", "data": "6"}, {"field": "Model name:", "data": "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz"},
    {"field": "CPU MHz:", "data": "1000.000"}, {"field": "CPU max MHz:", "data": "3700.0000"},
    {"field": "Flags:", "data": "fpu sse2 avx avx2 fma avx512f avx512cd"}]})";
  const auto p = io::lscpu_reader::read(flat, "in");
  CHECK(p.cores == 40);
  CHECK(p.hertz == 2.4e9);
  CHECK(p.base_clock);
  CHECK(p.flop_per_cycle == 64);
}

TEST_CASE("lscpu: plain text, vector units of makers") {
  const auto of = [](const std::string& vendor, const std::string& family, const std::string& flags) {
    return io::lscpu_reader::read("Architecture:        x86_64\nCPU(s):              2\nVendor ID:           " + vendor +
                                    "\nCPU family:          " + family +
                                    "\nModel name:          AMD EPYC\nThread(s) per core:  1\nCore(s) per socket:  2\n"
                                    "Socket(s):           1\nFlags:               " + flags + "\n",
                                  "in");
  };
  CHECK(of("AuthenticAMD", "25", "sse2 avx avx2 fma avx512f").flop_per_cycle == 32); // Zen 4 takes two cycles
  CHECK(of("AuthenticAMD", "26", "sse2 avx avx2 fma avx512f").flop_per_cycle == 64);
  CHECK(of("GenuineIntel", "6", "sse2 avx").flop_per_cycle == 16);
  CHECK(of("GenuineIntel", "6", "sse2").flop_per_cycle == 8);
  CHECK(of("GenuineIntel", "6", "avx512fake").flop_per_cycle == 0);
  CHECK(of("GenuineIntel", "6", "").hertz == 0);
}

TEST_CASE("lscpu: Arm processors, whose sockets may be unknown") {
  const auto p = io::lscpu_reader::read("Architecture: aarch64\nCPU(s): 72\nModel name: Neoverse-V2\nThread(s) per core: 1\n"
                                        "Core(s) per socket: 72\nSocket(s): -\nCPU max MHz: 3357.0000\n"
                                        "Flags: fp asimd evtstrm aes sve sve2\n",
                                        "in");
  CHECK(p.cores == 72);
  CHECK(p.sockets == 1);
  CHECK(p.flop_per_cycle == 32);
  CHECK(p.hertz == 3.357e9);
}

TEST_CASE("lscpu: what cannot be read is refused in one line") {
  using reader = io::lscpu_reader;
  CHECK(refusal<reader>(R"({"lscpu": 3})") == "in:1: /lscpu: expected a list of fields, found 3");
  CHECK(refusal<reader>(R"({"lscpu": []})") ==
        "in: neither 'Core(s) per socket' nor 'CPU(s)' is there, so the number of cores is not known");
  CHECK(refusal<reader>("Architecture: x\nCPU(s): many\n") == "in: CPU(s) 'many' is not a whole number");
  CHECK(refusal<reader>("Architecture: x\nCPU(s): 70000\n") == "in: CPU(s) '70000' is not a number from 1 to 65536");
  CHECK(refusal<reader>("Architecture: x\nCPU(s): 4\nCPU max MHz: 1e9\n") ==
        "in: a clock of 1000000 GHz is out of range");
  CHECK(refusal<reader>(R"({"lscpu": [{"data": "x"}]})") == "in:1: /lscpu/0: the key 'field' is missing");
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
