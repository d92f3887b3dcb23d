// SPDX-License-Identifier: BSL-1.0
/// Reads what Linux says of processors and memory: lscpu, as JSON and as text, and /proc/meminfo.
#pragma once

#include "weft/io/detail/json_document.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/inventory.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weft::io {

/// Reads `lscpu -J` and `lscpu`. The clock is the one in the model's name if there is one, which all cores keep, else
/// the highest, else the present one. FLOP per cycle in single precision follow from the vector units that the flags
/// name, with two of them per core: 512 bit 64 (32 on AMD's before family 26, where they take two cycles), AVX2 with FMA
/// 32, AVX 16, SSE2 8; SVE 32 and NEON 16. Throws `parse_error`.
struct lscpu_reader {
  static constexpr std::string_view format() { return "lscpu"; }

  static bool recognises(std::string_view bytes) {
    return detail::outermost_value(bytes, "lscpu").has_value() ||
           (bytes.substr(0, 2000).find("Architecture:") != bytes.npos && bytes.find("CPU(s):") != bytes.npos);
  }

  static inventory::processors read(std::string_view bytes, const std::string& file) {
    const fields all = detail::outermost_value(bytes, "lscpu") ? fields_of_json(bytes, file) : fields_of_text(bytes, file);
    const auto text = [&](const char* name) {
      const auto found = all.find(name);
      return found == all.end() ? std::string_view{} : std::string_view{found->second};
    };
    const auto fail = [&](const std::string& problem) { throw parse_error(file, 0, problem); };
    const auto count = [&](const char* name) -> std::uint32_t {
      const auto value = text(name);
      if (value.empty() || value == "-") {
        return 0;
      }
      const auto x = parse_number<std::uint32_t>(value, name, fail);
      if (x == 0 || x > 65'536) {
        fail(std::string{name} + " " + in_quotes(value) + " is not a number from 1 to 65536");
      }
      return x;
    };
    inventory::processors made{.model = std::string{text("Model name")}};
    made.sockets = std::max(count("Socket(s)"), 1u);
    const auto per_socket = count("Core(s) per socket");
    const auto threads = std::max(count("Thread(s) per core"), 1u);
    const auto cpus = count("CPU(s)");
    if (per_socket == 0 && cpus == 0) {
      fail("neither 'Core(s) per socket' nor 'CPU(s)' is there, so the number of cores is not known");
    }
    const auto cores = per_socket != 0 && count("Socket(s)") != 0 ? std::uint64_t{per_socket} * made.sockets
                                                                   : std::max(cpus / threads, 1u);
    if (cores > 65'536) {
      fail("more than 65536 cores");
    }
    made.cores = static_cast<std::uint32_t>(cores);
    set_clock(made, text("CPU max MHz"), text("CPU MHz"), fail);
    set_units(made, text("Flags"), text("Vendor ID"), count("CPU family"));
    if (made.model.empty()) {
      made.model = text("Architecture");
    }
    made.model = on_one_line(made.model).substr(0, 200);
    return made;
  }

private:
  using fields = std::map<std::string, std::string, std::less<>>;

  /// The first field of a name counts; its colon is left out.
  static void add(fields& all, std::string_view name, std::string value) {
    name = trim(name.substr(0, name.find(':')));
    all.emplace(std::string{name}, std::move(value));
  }

  static void add_json(const detail::json_value& list, fields& all) {
    list.array("a list of fields");
    for (const detail::json_value& entry : list) {
      const auto data = entry.object().find("data");
      if (data && data->is_string()) {
        add(all, entry.at("field").text(), data->text());
      }
      if (const auto children = entry.find("children")) {
        add_json(*children, all);
      }
    }
  }
  static fields fields_of_json(std::string_view bytes, const std::string& file) {
    const detail::json_document document{bytes, file};
    const detail::json_value root{document};
    const auto list = root.at("lscpu");
    fields all;
    add_json(list, all);
    return all;
  }
  static fields fields_of_text(std::string_view bytes, const std::string& file) {
    line_reader lines{bytes, file};
    fields all;
    while (const auto line = lines.next()) {
      const auto pair = split(*line, ':', 2);
      if (pair.size() == 2) {
        add(all, pair[0], std::string{pair[1]});
      }
    }
    return all;
  }

  template <class Fail>
  static void set_clock(inventory::processors& made, std::string_view highest, std::string_view present,
                        const Fail& fail) {
    const std::string_view model = made.model;
    const auto at = model.find('@');
    const auto unit = model.find("GHz", at);
    if (at != model.npos && unit != model.npos) {
      made.hertz = 1e9 * parse_number<double>(trim(model.substr(at + 1, unit - at - 1)), "the clock in 'Model name'", fail);
      made.base_clock = true;
    } else if (const auto megahertz = highest.empty() || highest == "-" ? present : highest; !megahertz.empty()) {
      made.hertz = 1e6 * parse_number<double>(megahertz, "CPU max MHz", fail);
    }
    if (!(made.hertz >= 0 && made.hertz < 1e11)) {
      fail("a clock of " + number_text(made.hertz / 1e9) + " GHz is out of range");
    }
  }

  static void set_units(inventory::processors& made, std::string_view flags, std::string_view vendor,
                        std::uint32_t family) {
    const auto has = [&](std::string_view flag) {
      auto rest = flags;
      for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
        if (word == flag) {
          return true;
        }
      }
      return false;
    };
    const auto set = [&](double flop, const char* units) {
      made.flop_per_cycle = flop;
      made.units = units;
    };
    if (has("avx512f") && vendor == "AuthenticAMD" && family < 26) {
      set(32, "AVX-512 in two cycles");
    } else if (has("avx512f")) {
      set(64, "two units of AVX-512");
    } else if (has("avx2") && has("fma")) {
      set(32, "two units of AVX2");
    } else if (has("avx")) {
      set(16, "AVX");
    } else if (has("sse2")) {
      set(8, "SSE2");
    } else if (has("sve")) {
      set(32, "SVE");
    } else if (has("asimd")) {
      set(16, "NEON");
    }
  }
};

/// Reads the memory of a machine in bytes from /proc/meminfo. Throws `parse_error`.
struct meminfo_reader {
  static constexpr std::string_view format() { return "/proc/meminfo"; }
  static bool recognises(std::string_view bytes) { return bytes.substr(0, 2000).find("MemTotal:") != bytes.npos; }
  static byte_count read(std::string_view bytes, const std::string& file) {
    line_reader lines{bytes, file};
    while (const auto line = lines.next()) {
      auto rest = *line;
      if (next_word(rest) == "MemTotal:") {
        const auto kibibytes =
          parse_number<std::uint64_t>(next_word(rest), "MemTotal", [&](const std::string& p) { lines.fail(p); });
        if (kibibytes == 0 || kibibytes > std::uint64_t{1} << 50 || trim(rest) != "kB") {
          lines.fail("MemTotal must be a positive number of kB");
        }
        return kibibytes * 1024;
      }
    }
    lines.fail("there is no line that begins with 'MemTotal:'");
  }
};

} // namespace weft::io
