// SPDX-License-Identifier: BSL-1.0
/// Reads the output of lscpu and /proc/meminfo: processors and memory of a Linux machine.
#pragma once

#include "weft/io/detail/json_document.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/inventory.hpp"
#include "weft/platform/processor_sheets.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace weft::io {

/// Reads `lscpu` and `lscpu -J`, and the tables of `lscpu -e` and `lscpu -p`, as text and as JSON, which have cores and
/// clocks only. Cores of several kinds (big.LITTLE) are kept apart.
///
/// The clock is the one in the model's name if there is one, which all cores keep, else the highest, else the present
/// one, else that of the time stamp counter of x86 (half of its BogoMIPS), which is the base clock; 0 if none is
/// listed. FLOP per cycle in single precision are those of the core by its name or family
/// (platform/processor_sheets.hpp) with the vector units that the flags name: with two of them per core 512 bit 64,
/// AVX2 with FMA 32, AVX 16, SSE2 8; SVE of an unknown core 16, NEON 8; LASX 32, LSX 16; RISC-V with V 8, without it 2.
/// Throws `parse_error`.
struct lscpu_reader {
  static constexpr std::string_view format() { return "lscpu"; }

  static bool recognises(std::string_view bytes) {
    return detail::outermost_value(bytes, "lscpu").has_value() || is_table(bytes) ||
           (bytes.substr(0, 2000).find("Architecture:") != bytes.npos && bytes.find("CPU(s):") != bytes.npos);
  }

  static inventory::processors read(std::string_view bytes, const std::string& file) {
    if (is_table(bytes)) {
      return processors_of_table(bytes, file);
    }
    const auto list =
      detail::outermost_value(bytes, "lscpu") ? fields_of_json(bytes, file) : fields_of_text(bytes, file);
    return maker{list, file}.make();
  }

private:
  static constexpr std::uint32_t max_cores = 65'536;
  static constexpr std::size_t max_kinds = 64;

  using field = std::pair<std::string, std::string>;
  using fields = std::map<std::string_view, std::string_view>;

  static void add(std::vector<field>& all, std::string_view name, std::string_view value) {
    all.emplace_back(trim(name.substr(0, name.find(':'))), trim(value));
  }
  static void add_json(const detail::json_value& list, std::vector<field>& all) {
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
  static std::vector<field> fields_of_json(std::string_view bytes, const std::string& file) {
    const detail::json_document document{bytes, file};
    const detail::json_value root{document};
    const auto list = root.at("lscpu");
    std::vector<field> all;
    add_json(list, all);
    return all;
  }
  static std::vector<field> fields_of_text(std::string_view bytes, const std::string& file) {
    line_reader lines{bytes, file};
    std::vector<field> all;
    while (const auto line = lines.next()) {
      const auto pair = split(*line, ':', 2);
      if (pair.size() == 2) {
        add(all, pair[0], pair[1]);
      }
    }
    return all;
  }

  static double clock_of(std::string_view megahertz, const char* what, const std::string& file) {
    const auto fail = [&](const std::string& problem) { throw parse_error(file, 0, problem); };
    const double hertz = 1e6 * parse_number<double>(megahertz, what, fail);
    if (!(hertz >= 0 && hertz < 1e11)) {
      fail("a clock of " + number_text(hertz / 1e9) + " GHz is out of range");
    }
    return hertz;
  }

  /// Makes processors of the fields of a list. Those that come before the second model name are of the whole and of the
  /// first kind of cores; each further model name begins another kind.
  class maker {
  public:
    maker(const std::vector<field>& list, const std::string& file) : file_{file} {
      std::string_view vendor;
      for (const auto& [name, value] : list) {
        vendor = name == "Vendor ID" ? value : vendor;
        if (name == "Model name" && (kinds_.empty() || kinds_.back().contains("Model name"))) {
          kinds_.emplace_back(kinds_.empty() ? whole_ : fields{});
          if (kinds_.size() > max_kinds) {
            fail("more than " + std::to_string(max_kinds) + " kinds of cores");
          }
        }
        fields& now = kinds_.empty() ? whole_ : kinds_.back();
        now.emplace(name, value);
        if (!vendor.empty()) {
          now.emplace("Vendor ID", vendor);
        }
      }
      if (kinds_.empty()) {
        kinds_.push_back(whole_);
      }
      whole_ = kinds_.front();
    }

    inventory::processors make() {
      inventory::processors p;
      p.vendor = text(whole_, "Vendor ID");
      p.family = number(text(whole_, "CPU family"), 0);
      p.number = number(text(whole_, "Model"), none);
      p.product = on_one_line(text(whole_, "BIOS Model name")).substr(0, 200);
      const auto virtualization = text(whole_, "Virtualization type");
      p.is_virtual = virtualization == "full" || virtualization == "para";
      std::uint64_t threads = 0;
      std::uint64_t cores = 0;
      for (const auto& f : kinds_) {
        p.kinds.push_back(kind_of(f));
        p.sockets = std::max({p.sockets, is_x86() || kinds_.size() == 1 ? count(f, "Socket(s)") : 1, 1u});
        cores += p.kinds.back().cores;
        threads += std::uint64_t{p.kinds.back().cores} * std::max(count(f, "Thread(s) per core"), 1u);
      }
      if (cores > max_cores) {
        fail("more than 65536 cores");
      }
      const auto cpus = count(whole_, "CPU(s)");
      if (!is_x86() && threads < cpus && text(whole_, "Off-line CPU(s) list").empty()) {
        fail("cores are listed for " + std::to_string(threads) + " of " + std::to_string(cpus) +
             " CPUs; give the whole output of lscpu, of util-linux 2.37 or newer where cores are of several kinds");
      }
      if (p.kinds.front().model == "A64FX") { // whose groups of twelve cores count as sockets
        p.sockets = std::max(p.cores() / 48, 1u);
      }
      for (std::size_t i = 0; i < kinds_.size(); ++i) {
        set_units(p, i);
      }
      data_sheets::split_efficient_cores(p, cpus);
      return p;
    }

  private:
    static std::string_view text(const fields& all, std::string_view name) {
      const auto found = all.find(name);
      return found == all.end() || found->second == "-" ? std::string_view{} : found->second;
    }
    /// `otherwise` for what is no number, such as the hexadecimal ones of RISC-V.
    static std::uint32_t number(std::string_view value, std::uint32_t otherwise) {
      std::uint32_t x = 0;
      const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), x);
      return status == std::errc{} && end == value.data() + value.size() ? x : otherwise;
    }
    [[noreturn]] void fail(const std::string& problem) const { throw parse_error(file_, 0, problem); }
    std::uint32_t count(const fields& all, const char* name) const {
      const auto value = text(all, name);
      if (value.empty()) {
        return 0;
      }
      const auto x = parse_number<std::uint32_t>(value, name, [&](const std::string& problem) { fail(problem); });
      if (x == 0 || x > max_cores) {
        fail(std::string{name} + " " + in_quotes(value) + " is not a number from 1 to 65536");
      }
      return x;
    }
    bool is_x86() const {
      const auto architecture = text(whole_, "Architecture");
      return architecture == "x86_64" || architecture == "i686" || architecture == "i386";
    }

    inventory::core_kind kind_of(const fields& f) const {
      inventory::core_kind made{.model = on_one_line(text(f, "Model name")).substr(0, 200)};
      const auto cpus = kinds_.size() == 1 ? count(f, "CPU(s)") : 0;
      const auto product = [&](const char* each, const char* all) {
        return std::uint64_t{count(f, each)} * count(f, all);
      };
      const auto threads = std::max(count(f, "Thread(s) per core"), 1u);
      const auto listed =
        std::max(product("Core(s) per socket", "Socket(s)"), product("Core(s) per cluster", "Cluster(s)"));
      const std::uint64_t cores = listed != 0 ? listed : cpus / threads;
      if (cores == 0 && cpus == 0) {
        fail(kinds_.size() == 1
               ? "neither 'Core(s) per socket' nor 'CPU(s)' is there, so the number of cores is not known"
               : "the number of cores " + in_quotes(made.model) + " is not known: 'Core(s) per socket' is not there");
      }
      if (cores > max_cores) {
        fail("more than 65536 cores");
      }
      made.cores = std::max(static_cast<std::uint32_t>(cores), 1u);
      if (text(f, "Vendor ID") == "FUJITSU" || text(f, "Vendor ID") == "0x46") {
        made.model = "A64FX";
      } else if (made.model.empty()) {
        made.model = on_one_line(text(whole_, "Architecture")).substr(0, 200);
      }
      set_clock(made, f);
      return made;
    }

    void set_clock(inventory::core_kind& made, const fields& f) const {
      using inventory::clock_kind;
      const std::string_view model = made.model;
      const auto at = model.find('@');
      const auto unit = model.find("GHz", at);
      if (at != model.npos && unit != model.npos) {
        made.hertz = 1e3 * clock_of(trim(model.substr(at + 1, unit - at - 1)), "the clock in 'Model name'", file_);
        made.clock = clock_kind::base;
        return;
      }
      constexpr std::pair<const char*, clock_kind> listed[]{{"CPU max MHz", clock_kind::highest},
                                                            {"CPU MHz", clock_kind::present},
                                                            {"CPU dynamic MHz", clock_kind::present}};
      for (const auto& [name, clock] : listed) {
        const auto megahertz = text(f, name);
        if (made.hertz == 0 && !megahertz.empty()) {
          made.hertz = clock_of(megahertz, name, file_);
          made.clock = clock;
        }
      }
      if (const auto mips = text(f, "BogoMIPS"); made.hertz == 0 && is_x86() && !mips.empty()) {
        made.hertz = clock_of(mips, "BogoMIPS", file_) / 2;
        made.clock = clock_kind::base;
      }
    }

    /// The units that flags name, and what they do per cycle with two of them, as makers have had them.
    struct vector_unit {
      std::string_view flag;
      double flop_per_cycle;
      const char* name;
    };
    static constexpr vector_unit x86_units[]{
      {"avx512f", 64, "AVX-512"}, {"fma", 32, "AVX2"}, {"avx", 16, "AVX"}, {"sse2", 8, "SSE2"}};
    static constexpr vector_unit other_units[]{
      {"sve", 16, "SVE"}, {"asimd", 8, "NEON"}, {"neon", 8, "NEON"}, {"lasx", 32, "LASX"}, {"lsx", 16, "LSX"}};

    void set_units(inventory::processors& p, std::size_t i) const {
      auto& k = p.kinds[i];
      const auto flags = text(kinds_[i], "Flags");
      const auto has = [&](std::string_view flag) {
        auto rest = flags;
        for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
          if (word == flag) {
            return true;
          }
        }
        return false;
      };
      if (is_x86()) {
        for (const auto& u : x86_units) {
          if (k.flop_per_cycle == 0 && has(u.flag) && (u.flag != "fma" || has("avx2"))) {
            k.units = u.name;
            k.flop_per_cycle = data_sheets::x86_flop_per_cycle(u.flop_per_cycle, p);
          }
        }
        return;
      }
      if (const auto* core = data_sheets::find_core(k.model)) {
        k.flop_per_cycle = core->flop_per_cycle;
        k.units = "by the core's documents";
        return;
      }
      for (const auto& u : other_units) {
        if (k.flop_per_cycle == 0 && has(u.flag)) {
          k.units = u.name;
          k.flop_per_cycle = u.flop_per_cycle;
        }
      }
      if (const auto architecture = text(whole_, "Architecture"); architecture.starts_with("riscv")) {
        const auto isa = text(kinds_[i], "ISA").empty() ? text(whole_, "ISA") : text(kinds_[i], "ISA");
        const bool vectors = isa.size() > 4 && isa.substr(4, isa.find('_') - 4).find('v') != isa.npos;
        k.units = vectors ? "V" : "F";
        k.flop_per_cycle = vectors ? 8 : 2;
      }
    }

    const std::string& file_;
    fields whole_;
    std::vector<fields> kinds_;
  };

  /// The rows of `lscpu -e` and `lscpu -p` and the names of their columns, in upper case.
  struct table {
    std::vector<std::string> columns = {};
    std::vector<std::vector<std::string>> rows = {};
  };

  static bool is_table(std::string_view bytes) {
    const auto line = line_reader{bytes.substr(0, 2000), ""}.next().value_or("");
    auto rest = line;
    const bool table = next_word(rest) == "CPU" && (rest.find("CORE") != rest.npos || rest.find("SOCKET") != rest.npos);
    return table || line.starts_with("# The following is the parsable format") || line.starts_with("# CPU,") ||
           detail::outermost_value(bytes, "cpus").has_value();
  }

  static table table_of(std::string_view bytes, const std::string& file) {
    table made;
    if (detail::outermost_value(bytes, "cpus")) {
      const detail::json_document document{bytes, file};
      const detail::json_value root{document};
      const auto list = root.at("cpus");
      list.array("a list of CPUs");
      for (const detail::json_value& cpu : list) {
        cpu.object();
        if (made.columns.empty()) {
          for (const char* name : {"SOCKET", "CORE", "ONLINE", "MAXMHZ", "MHZ", "MODELNAME"}) {
            if (cpu.has(lower(name))) {
              made.columns.emplace_back(name);
            }
          }
        }
        auto& row = made.rows.emplace_back();
        for (const auto& column : made.columns) {
          const auto value = cpu.find(lower(column));
          row.push_back(!value || value->is_null() ? "-"
                        : value->is_string()       ? value->text()
                        : value->is_boolean()      ? (value->token() == "true" ? "yes" : "no")
                                                   : std::string{value->token()});
        }
      }
      return made;
    }
    line_reader lines{bytes, file};
    const bool commas = line_reader{bytes, ""}.next().value_or("").starts_with("#");
    const auto cells = [&](std::string_view line) {
      std::vector<std::string> all;
      if (commas) {
        const auto parts = split(line, ',');
        all.assign(parts.begin(), parts.end());
      } else {
        for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
          all.emplace_back(word);
        }
      }
      return all;
    };
    while (const auto line = lines.next()) {
      if (line->starts_with("#") || made.columns.empty()) {
        made.columns = cells(upper(line->substr(commas ? 1 : 0)));
        continue;
      }
      made.rows.push_back(cells(*line));
      const bool model_is_last = made.columns.back() == "MODELNAME" && made.rows.back().size() > made.columns.size();
      if (made.rows.back().size() != made.columns.size() && !model_is_last) {
        lines.fail(std::to_string(made.rows.back().size()) + " entries for " + std::to_string(made.columns.size()) +
                   " columns");
      }
    }
    return made;
  }

  static inventory::processors processors_of_table(std::string_view bytes, const std::string& file) {
    const auto listed = table_of(bytes, file);
    const auto column = [&](std::string_view name) {
      return static_cast<std::size_t>(std::find(listed.columns.begin(), listed.columns.end(), name) -
                                      listed.columns.begin());
    };
    const auto cell = [&](const std::vector<std::string>& row, std::size_t at) {
      return at >= listed.columns.size() || row[at] == "-" ? std::string_view{} : std::string_view{row[at]};
    };
    const auto core = column("CORE");
    const auto socket = column("SOCKET");
    if (core == listed.columns.size()) {
      throw parse_error(file, 0, "there is no column CORE, so the number of cores is not known; give lscpu -J");
    }
    inventory::processors p;
    std::set<std::pair<std::string_view, std::string_view>> seen;
    std::set<std::string_view> sockets;
    for (const auto& row : listed.rows) {
      const auto online = cell(row, column("ONLINE"));
      if (online == "no" || online == "N" || !seen.emplace(cell(row, socket), cell(row, core)).second) {
        continue;
      }
      sockets.insert(cell(row, socket));
      inventory::core_kind k;
      for (const auto& [name, clock] : {std::pair{"MAXMHZ", inventory::clock_kind::highest},
                                        std::pair{"MHZ", inventory::clock_kind::present}}) {
        const auto megahertz = cell(row, column(name));
        if (k.hertz == 0 && !megahertz.empty()) {
          k.hertz = clock_of(megahertz, name, file);
          k.clock = clock;
        }
      }
      if (const auto first = column("MODELNAME"); first < listed.columns.size()) {
        for (auto at = first; at < row.size() && row[at] != "-"; ++at) { // a name has blanks
          k.model += (at == first ? "" : " ") + row[at];
          if (first + 1 < listed.columns.size()) {
            break;
          }
        }
      }
      const auto same = std::find_if(p.kinds.begin(), p.kinds.end(),
                                     [&](const inventory::core_kind& other) { return other.model == k.model; });
      if (same != p.kinds.end()) { // some cores of one model may have other clocks than the rest: the mean says as much
        same->hertz += (k.hertz - same->hertz) / ++same->cores;
      } else {
        p.kinds.push_back(k);
      }
      if (p.kinds.size() > max_kinds) {
        throw parse_error(file, 0, "more than " + std::to_string(max_kinds) + " kinds of cores");
      }
      if (seen.size() > max_cores) {
        throw parse_error(file, 0, "more than 65536 cores");
      }
    }
    if (p.kinds.empty()) {
      throw parse_error(file, 0, "no CPU follows the line of headers");
    }
    p.sockets = static_cast<std::uint32_t>(sockets.size());
    return p;
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
