// SPDX-License-Identifier: BSL-1.0
/// Data sheets of processors: memory bandwidth, and FLOP per cycle and core.
///
/// Channels and transfers are those of the fastest memory that the maker specifies for the line, each channel of 64
/// bits. Sources: the data sheets of AMD's Ryzen, Threadripper and EPYC and the specifications of Intel's Core and
/// Xeon, line by line; AWS's, Arm's and NVIDIA's documents on Graviton, Neoverse and Grace; IBM's *POWER Processor
/// Chip* user manuals; Fujitsu's *A64FX Microarchitecture Manual*. FLOP per cycle: AMD's *Software Optimization Guides*
/// of families 15h to 1Ah, Intel's *64 and IA-32 Architectures Optimization Reference Manual* and its "number of
/// AVX-512 FMA units", and Arm's *Software Optimization Guides* of the cores. A row stands for a whole line: single
/// parts of it may take slower memory. Names that clouds made up follow the maker's: the last digit of an EPYC is its
/// generation, the second of a Xeon.
#pragma once

#include "weft/platform/data_sheets.hpp"
#include "weft/platform/detail/core_tables.hpp"
#include "weft/platform/inventory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace weft::data_sheets {

struct named_memory {
  std::string_view pattern; ///< see `has_pattern`
  processor_memory memory;
};

/// The first pattern that is in a name counts.
inline constexpr named_memory processor_memories[]{
  // AMD EPYC, with the letters that clouds put in; 9V33X and 9V64H are of the generation of 9004.
  {"EPYC 7??1", {8, 2667}},
  {"EPYC 7??2", {8, 3200}},
  {"EPYC 7??3", {8, 3200}},
  {"EPYC 9V33", {12, 4800}},
  {"EPYC 9V64", {12, 4800}},
  {"EPYC 9??4", {12, 4800}},
  {"EPYC 9??5", {12, 6400}},
  {"EPYC 8??4", {6, 4800}},
  {"EPYC 8??5", {6, 6400}},
  {"EPYC 4??4", {2, 5200}},
  {"EPYC 4??5", {2, 5600}},
  {"EPYC 3[34]?1", {4, 2667}},
  {"EPYC 3??1", {2, 2667}},
  {"EPYC Embedded 3[34]?1", {4, 2667}},
  {"EPYC Embedded 3??1", {2, 2667}},
  {"EPYC-Rome", {8, 3200}},
  {"EPYC-Milan", {8, 3200}},
  {"EPYC-Genoa", {12, 4800}},
  {"EPYC-Turin", {12, 6400}},
  {"EPYC", {8, 2667}}, // the slowest of them
  // AMD Ryzen; the letters of mobile ones come first where their memory is another.
  {"Threadripper PRO 3###", {8, 3200}},
  {"Threadripper PRO 5###", {8, 3200}},
  {"Threadripper PRO 7###", {8, 5200}},
  {"Threadripper PRO 9###", {8, 6400}},
  {"Threadripper 1###", {4, 2667}},
  {"Threadripper 2###", {4, 2933}},
  {"Threadripper 3###", {4, 3200}},
  {"Threadripper 7###", {4, 5200}},
  {"Threadripper 9###", {4, 6400}},
  {"Ryzen AI MAX", {4, 8000}},
  {"Ryzen AI", {2, 5600}},
  {"Ryzen Z1", {2, 6400}},
  {"Ryzen Z2", {2, 7500}},
  {"Ryzen*2###U", {2, 2400}},
  {"Ryzen*3###U", {2, 2400}},
  {"Ryzen*3##0H", {2, 2400}},
  {"Ryzen*7#2#", {1, 5500}},
  {"Ryzen*7#30", {2, 3200}},
  {"Ryzen*7#35", {2, 4800}},
  {"Ryzen*7#40", {2, 5600}},
  {"Ryzen*8#4#", {2, 5600}},
  {"Ryzen*1###", {2, 2667}},
  {"Ryzen*2###", {2, 2933}},
  {"Ryzen*3###", {2, 3200}},
  {"Ryzen*4###", {2, 3200}},
  {"Ryzen*5###", {2, 3200}},
  {"Ryzen*6###", {2, 4800}},
  {"Ryzen*7###", {2, 5200}},
  {"Ryzen*8###", {2, 5200}},
  {"Ryzen*9###", {2, 5600}},
  {"Athlon", {2, 2400}},
  {"AMD FX", {2, 1866}},
  {"AMD A#", {2, 1866}},
  {"Opteron*4###", {2, 1600}},
  {"Opteron*62##", {4, 1600}},
  {"Opteron*63##", {4, 1866}},
  {"Opteron*61##", {4, 1333}},
  // Intel Xeon: by metal and generation; H behind the number are those of the third that are made for four sockets.
  {"Platinum 83##H", {6, 3200}},
  {"Gold 63##H", {6, 2933}},
  {"Gold 53##H", {6, 2667}},
  {"Platinum 81##", {6, 2667}},
  {"Platinum 82##", {6, 2933}},
  {"Platinum 83##", {8, 3200}},
  {"Platinum 84##", {8, 4800}},
  {"Platinum 85##", {8, 5600}},
  {"Platinum 92##", {12, 2933}},
  {"Gold 61##", {6, 2667}},
  {"Gold 62##", {6, 2933}},
  {"Gold 63##", {8, 3200}},
  {"Gold 64##", {8, 4800}},
  {"Gold 65##", {8, 5200}},
  {"Gold 51##", {6, 2400}},
  {"Gold 52##", {6, 2667}},
  {"Gold 53##", {8, 2933}},
  {"Gold 54##", {8, 4400}},
  {"Gold 55##", {8, 4800}},
  {"Silver 41##", {6, 2400}},
  {"Silver 42##", {6, 2400}},
  {"Silver 43##", {8, 2667}},
  {"Silver 44##", {8, 4000}},
  {"Silver 45##", {8, 4400}},
  {"Bronze 31##", {6, 2133}},
  {"Bronze 32##", {6, 2133}},
  {"Bronze 34##", {8, 4000}},
  {"Bronze 35##", {8, 4400}},
  {"Xeon Max 94##", {8, 4800}}, // where the memory on the package is not the main memory
  {"Xeon Phi", {6, 2400}},      // … as here
  {"Xeon 69##", {12, 6400}},
  {"Xeon 6[57]##", {8, 6400}},
  {"Xeon 63##", {2, 5600}},
  {"Xeon 6 69##", {12, 6400}},
  {"Xeon 6 6[57]##", {8, 6400}},
  {"Xeon 6 63##", {2, 5600}},
  {"W-21##", {4, 2667}},
  {"W-22##", {4, 2933}},
  {"W-31##", {6, 2667}},
  {"W-32##", {6, 2933}},
  {"W-33##", {8, 3200}},
  {"W-1###", {2, 2933}},
  {"w#-24##", {4, 4800}},
  {"w#-25##", {4, 4800}},
  {"w#-34##", {8, 4800}},
  {"w#-35##", {8, 4800}},
  {"D-15##", {2, 2133}},
  {"D-16##", {2, 2133}},
  {"D-17##", {2, 2667}},
  {"D-18##", {2, 2667}},
  {"D-21##", {4, 2400}},
  {"D-27##", {4, 2933}},
  {"D-28##", {4, 2933}},
  {"E5-24##", {3, 1600}},
  {"E5-14##", {3, 1600}},
  {"E5-#### v4", {4, 2400}},
  {"E5-####? v4", {4, 2400}},
  {"E5-#### v3", {4, 2133}},
  {"E5-####? v3", {4, 2133}},
  {"E5-#### v2", {4, 1866}},
  {"E5-####? v2", {4, 1866}},
  {"E5-####", {4, 1600}},
  {"E7-#### v4", {4, 3200}}, // each buffer joins two channels of slower memory
  {"E7-#### v3", {4, 3200}},
  {"E7-#### v2", {4, 2667}},
  {"E7-", {4, 1067}},
  {"E3-1###? v6", {2, 2400}},
  {"E3-1### v6", {2, 2400}},
  {"E3-1###? v5", {2, 2133}},
  {"E3-1### v5", {2, 2133}},
  {"E3-1### v2", {2, 1600}},
  {"E3-1### v", {2, 1600}},
  {"E3-1###? v", {2, 1600}},
  {"E3-1###", {2, 1333}},
  {"E3-12xx v2", {2, 1600}},
  {"E312xx", {2, 1333}},
  {"E-21##", {2, 2667}},
  {"E-22##", {2, 2667}},
  {"E-23##", {2, 3200}},
  {"E-24##", {2, 4800}},
  {"Xeon*X56##", {3, 1333}},
  {"Xeon*E56##", {3, 1067}},
  {"Xeon*L56##", {3, 1067}},
  {"Xeon*X55##", {3, 1333}},
  {"Xeon*E55##", {3, 1067}},
  {"Xeon*L55##", {3, 1067}},
  {"Xeon*X75##", {4, 1067}},
  {"Xeon Processor (Cascadelake", {6, 2933}},
  {"Xeon Processor (Icelake", {8, 3200}},
  {"Xeon Processor (Cooperlake", {6, 2933}},
  {"Xeon Processor (Skylake", {6, 2667}},
  {"Xeon Processor (SapphireRapids", {8, 4800}},
  {"Xeon Processor (GraniteRapids", {8, 6400}},
  {"Xeon Processor (SierraForest", {8, 6400}},
  // Intel Core: those with more than two channels first, then by generation.
  {"i7-39##", {4, 1600}},
  {"i7-3820", {4, 1600}},
  {"i7-49[36]0", {4, 1866}},
  {"i7-4820", {4, 1866}},
  {"i7-58[23]0K", {4, 2133}},
  {"i7-59##", {4, 2133}},
  {"i7-68[05]0K", {4, 2400}},
  {"i7-69##", {4, 2400}},
  {"i7-78[02]0X", {4, 2667}},
  {"i9-78##X", {4, 2667}},
  {"i9-79##X", {4, 2667}},
  {"i7-9800X", {4, 2667}},
  {"i9-98##X", {4, 2667}},
  {"i9-99##X", {4, 2667}},
  {"i9-109##X", {4, 2933}},
  {"i7 9##", {3, 1067}},
  {"i7 X 9##", {3, 1067}},
  {"i7 8##", {2, 1333}},
  {"i5 7##", {2, 1333}},
  {"i#-10##G#", {2, 3200}},
  {"i#-10##NG#", {2, 3200}},
  {"i#-10###", {2, 2667}},
  {"i#-11##", {2, 3200}},
  {"i#-12##", {2, 4800}},
  {"i#-13##", {2, 5600}},
  {"i#-14##", {2, 5600}},
  {"i3-N3##", {1, 4800}},
  {"i#-2###", {2, 1333}},
  {"i#-3###", {2, 1600}},
  {"i#-4###", {2, 1600}},
  {"i#-5###", {2, 1600}},
  {"i#-6###", {2, 2133}},
  {"i#-7###", {2, 2400}},
  {"i#-8###", {2, 2400}},
  {"i#-9###", {2, 2667}},
  {"Core # 1##", {2, 5200}},
  {"Core # 2##", {2, 5200}},
  {"Core Ultra # 1##", {2, 5600}},
  {"Core Ultra # 2##V", {2, 8533}},
  {"Core Ultra # 2##", {2, 6400}},
  {"Core Ultra", {2, 7200}},
  {"Intel N##", {1, 4800}},
  {"Intel N###", {1, 4800}},
  {"Celeron*N###", {2, 2133}},
  {"Celeron*J###", {2, 2133}},
  // Arm's cores have the names of their designs: of those that several products have, what the slowest has.
  {"Ampere*Altra", {8, 3200}},
  {"Ampere-1", {8, 5200}},
  {"AmpereOne", {8, 5200}},
  {"Graviton4", {12, 5600}},
  {"Graviton3", {8, 4800}},
  {"Graviton2", {8, 3200}},
  {"Graviton", {2, 2400}},
  {"Grace", {8, 8000}},
  {"Axion", {12, 5600}},
  {"Cobalt", {12, 4800}},
  {"Neoverse-N1", {8, 3200}},
  {"Neoverse-N2", {8, 4800}},
  {"Neoverse-N3", {8, 4800}},
  {"Neoverse-V1", {8, 4800}},
  {"Neoverse-V2", {8, 8000}},
  {"Neoverse-V3", {8, 8000}},
  {"Kunpeng", {8, 2933}},
  {"TSV110", {8, 2933}},
  {"TaiShan", {8, 2933}},
  {"ThunderX2", {8, 2667}},
  {"ThunderX", {4, 2133}},
  {"FTC66", {8, 2667}},
  {"eMAG", {8, 2667}},
  {"X-Gene", {4, 1600}},
  {"Falkor", {6, 2667}},
  {"Oryon", {2, 8448}},
  {"Carmel", {4, 4266}},
  {"Cortex-A78AE", {4, 6400}},
  {"Cortex-X925", {1, 8533}},
  {"Cortex-X4", {1, 8533}},
  {"Cortex-X3", {1, 8400}},
  {"Cortex-X2", {1, 6400}},
  {"Cortex-X1", {1, 6400}},
  {"Apple M# Ultra", {16, 6400}},
  {"Apple M# Max", {6, 6400}},
  {"Apple M# Pro", {3, 6400}},
  {"Firestorm-M1-Max", {8, 6400}},
  {"Firestorm-M1-Pro", {4, 6400}},
  {"Firestorm", {2, 4266}},
  {"Avalanche-M2-Max", {8, 6400}},
  {"Avalanche-M2-Pro", {4, 6400}},
  {"Avalanche", {2, 6400}},
  {"Apple M#", {2, 4266}},
  {"A64FX", {64, 2000}}, // four stacks of HBM2 of 1024 bits
  // POWER: scale-out machines.
  {"POWER7", {4, 1067}},
  {"POWER8", {4, 3600}}, // buffers of 28.8 GB/s
  {"POWER9", {8, 2667}},
  {"POWER1#", {16, 3200}},
  {"SG2042", {4, 3200}},
  {"Loongson-3C", {4, 3200}},
  {"Loongson-3D", {8, 3200}},
  {"Loongson-3", {2, 3200}},
  {"C86-4G", {12, 4800}},
  {"Hygon C86 7", {8, 2667}},
  {"Hygon C86 5", {4, 2667}},
  {"Hygon C86 3", {2, 2667}},
};

/// The assumed memory of a processor without a known data sheet, by what it seems to be. The first pattern counts.
struct assumed_memory {
  std::string_view pattern;
  std::string_view kind;
  processor_memory memory;
};
inline constexpr assumed_memory assumed_memories[]{
  {"Xeon", "a server", {4, 2133}},
  {"Opteron", "a server", {2, 1333}},
  {"Neoverse", "a server", {8, 2667}},
  {"Hygon", "a server", {2, 2667}},
  {"Mobile", "a laptop", {2, 1600}},
  {"Celeron", "a laptop", {2, 1600}},
  {"Atom", "a laptop", {1, 1600}},
  {"Intel Core", "a desktop", {2, 1600}},
  {"Pentium", "a desktop", {2, 1333}},
  {"Ryzen", "a desktop", {2, 2667}},
  {"Phenom", "a desktop", {2, 1333}},
  {"Cortex-A", "a board", {1, 1600}},
  {"Kryo", "a phone", {1, 3200}},
};
inline constexpr assumed_memory assumed_memory_of_many{"", "a server", {4, 2133}}; ///< of several sockets or many cores
inline constexpr assumed_memory assumed_memory_of_others{"", "some machine", {1, 2133}};

/// Bytes/s that a core draws at most: it has no more requests to memory under way. Few cores, as of a virtual machine,
/// do not reach what all channels have; those of a virtual machine that says so share them with others besides.
inline constexpr double bandwidth_of_core = 30e9;
inline constexpr double bandwidth_of_virtual_core = 12e9;

/// Assumptions where no list has a clock or vector units: 2 GHz, and one unit of 128 bits that multiplies and
/// adds.
inline constexpr double assumed_clock = 2e9;
inline constexpr double assumed_flop_per_cycle = 8;

namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

/// Whether a text begins with a pattern.
constexpr bool matches(std::string_view text, std::string_view pattern) {
  while (!pattern.empty()) {
    const char p = pattern.front();
    pattern.remove_prefix(1);
    if (p == '*') {
      for (; !text.empty(); text.remove_prefix(1)) {
        if (matches(text, pattern)) {
          return true;
        }
      }
      return matches(text, pattern);
    }
    if (text.empty()) {
      return false;
    }
    const char c = lower(text.front());
    text.remove_prefix(1);
    if (p == '[') {
      const auto end = pattern.find(']');
      if (pattern.substr(0, end).find(c) == pattern.npos) {
        return false;
      }
      pattern.remove_prefix(end + 1);
    } else if (!(p == '#' ? is_digit(c) : p == '?' ? is_digit(c) || is_letter(c) : c == lower(p))) {
      return false;
    }
  }
  return true;
}

/// Without trademarks and what not all names of a line have, one blank between words.
inline std::string plain_name(std::string_view name) {
  std::string made;
  for (std::size_t i = 0; i < name.size(); ++i) {
    bool left_out = false;
    for (const std::string_view mark : {"(R)", "(TM)", " CPU", " with Radeon"}) {
      if (begins_with(name.substr(i), mark)) {
        i += mark.size() - 1;
        left_out = true;
        break;
      }
    }
    const bool again = !made.empty() && made.back() == ' ' && name[i] == ' ';
    if (!left_out && !again) {
      made += name[i];
    }
  }
  return made;
}

/// Whether a plain name has a pattern in it that begins a word.
constexpr bool has_plain(std::string_view plain, std::string_view pattern) {
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool begins = i == 0 || !(is_digit(plain[i - 1]) || is_letter(plain[i - 1]));
    if (begins && matches(plain.substr(i), pattern)) {
      return true;
    }
  }
  return false;
}

/// The first row whose pattern is in a name; null if none is.
template <class Row, std::size_t N>
const Row* first_in(const Row (&rows)[N], std::string_view name) {
  const std::string plain = plain_name(name);
  const auto found =
    std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return has_plain(plain, r.pattern); });
  return found == std::end(rows) ? nullptr : found;
}

inline const x86_core* find_x86(std::string_view vendor, std::uint32_t family, std::uint32_t number) {
  const auto found = std::find_if(std::begin(x86_cores), std::end(x86_cores), [&](const x86_core& c) {
    return c.vendor == vendor && c.family == family && c.first <= number && number <= c.last;
  });
  return found == std::end(x86_cores) ? nullptr : found;
}

} // namespace detail

/// Whether a name has a pattern in it that begins a word: `#` is a digit, `?` a digit or a letter, `[ab]` one of those,
/// `*` any text; upper or lower case. "(R)", "(TM)" and "CPU" do not count.
inline bool has_pattern(std::string_view name, std::string_view pattern) {
  return detail::has_plain(detail::plain_name(name), pattern);
}

/// The core of that name; null if none is known.
inline const named_core* find_core(std::string_view name) { return detail::first_in(named_cores, name); }

/// FLOP per cycle in single precision that an x86 core reaches whose widest instructions would do `wanted`.
inline double x86_flop_per_cycle(double wanted, const inventory::processors& p) {
  const std::string_view name = p.kinds.empty() ? std::string_view{} : std::string_view{p.kinds.front().model};
  if (const auto* named = detail::first_in(x86_names, name)) {
    return std::min(wanted, named->flop_per_cycle);
  }
  const auto* core = detail::find_x86(p.vendor, p.family, p.number);
  return core != nullptr ? std::min(wanted, core->max_flop_per_cycle) : wanted;
}

/// FLOP per cycle in single precision of a core of which no list has the vector units, by its name or family; 0 if
/// neither is known.
inline double documented_flop_per_cycle(const inventory::core_kind& k, const inventory::processors& p) {
  if (const auto* core = find_core(k.model)) {
    return core->flop_per_cycle;
  }
  constexpr double any = std::numeric_limits<double>::infinity();
  const double most = x86_flop_per_cycle(any, p);
  return most < any ? most : 0;
}

/// FLOP per cycle in single precision of the efficient cores of a processor of that name, which have fewer units than
/// its others; 0 if none has fewer, or nobody says.
inline double efficient_flop_per_cycle(const inventory::processors& p, std::string_view model) {
  if (const auto* core = detail::find_x86(p.vendor, p.family, p.number)) {
    return core->efficient_flop_per_cycle;
  }
  const auto* named = detail::first_in(efficient_cores, model);
  return named != nullptr ? named->flop_per_cycle : 0;
}

/// Makes cores the efficient ones of a processor; nothing if those are like its others.
inline void make_efficient(inventory::core_kind& k, double flop_per_cycle) {
  if (flop_per_cycle == 0) {
    return;
  }
  k.model += ", efficient cores";
  if (k.flop_per_cycle == 0) {
    k.units = "by the core's documents";
    k.flop_per_cycle = flop_per_cycle;
  }
  k.flop_per_cycle = std::min(k.flop_per_cycle, flop_per_cycle);
}

/// Splits cores that a list has as of one kind, though some are efficient ones: of those that have `threads` hardware
/// threads together, the others have two each, and the efficient ones one.
inline void split_efficient_cores(inventory::processors& p, std::uint32_t threads) {
  const double flop_per_cycle = p.kinds.size() == 1 ? efficient_flop_per_cycle(p, p.kinds.front().model) : 0;
  const auto cores = p.cores();
  if (flop_per_cycle == 0 || threads <= cores || threads >= 2 * cores) {
    return;
  }
  auto efficient = p.kinds.front();
  efficient.cores = 2 * cores - threads;
  make_efficient(efficient, flop_per_cycle);
  p.kinds.front().cores -= efficient.cores;
  p.kinds.push_back(std::move(efficient));
}

/// The name of a core of Arm's architecture by its implementer and part; empty if none is known.
constexpr std::string_view arm_core_name(std::uint32_t implementer, std::uint32_t part) {
  for (const auto& core : arm_cores) {
    if (core.implementer == implementer && core.part == part) {
      return core.name;
    }
  }
  return {};
}

/// The memory of a socket, and where that is from.
struct found_memory {
  enum class source : std::uint8_t { line, family, kind };
  processor_memory memory;
  source by = source::line;     ///< the product line of its name, the family of its cores, or what it seems to be
  std::string_view kind = {}; ///< what it seems to be, such as "a desktop"
};

/// The memory of each of the `sockets` of a node with so many cores in all.
/// Complexity: O(rows of the tables × length of the name).
inline found_memory memory_of(const inventory::processors& p, std::uint32_t sockets, std::uint32_t cores) {
  using enum found_memory::source;
  for (const auto& k : p.kinds) {
    if (const auto* named = detail::first_in(processor_memories, p.product + " / " + k.model)) {
      return {named->memory, line};
    }
  }
  if (const auto* core = detail::find_x86(p.vendor, p.family, p.number)) {
    return {core->memory, family};
  }
  for (const auto& k : p.kinds) {
    if (const auto* assumed = detail::first_in(assumed_memories, k.model)) {
      return {assumed->memory, kind, assumed->kind};
    }
  }
  const auto& other = sockets > 1 || cores >= 32 ? assumed_memory_of_many : assumed_memory_of_others;
  return {other.memory, kind, other.kind};
}

} // namespace weft::data_sheets
