// SPDX-License-Identifier: BSL-1.0
/// Reads topologies that hwloc wrote as XML: the processors, memory and GPUs of a node, and how they are joined.
#pragma once

#include "weft/core/error.hpp"
#include "weft/io/detail/xml_tags.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/data_sheets.hpp"
#include "weft/platform/inventory.hpp"
#include "weft/platform/processor_sheets.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::io {

/// Reads `lstopo --of xml` (hwloc 1 and 2). Taken are sockets, cores of each kind, the processors' model and all
/// memory; the clock if the model or the kinds of cores name it; NVIDIA's GPUs with the model that hwloc's CUDA, NVML
/// or OpenCL backend gave them, their memory if the backend told it, NVLinks, and how far apart they and InfiniBand
/// cards are. hwloc lists no vector units. Throws `parse_error`. Complexity: O(size of the text × kinds of cores) and
/// for each two GPUs and cards.
struct hwloc_xml_reader {
  static constexpr std::string_view format() { return "hwloc XML"; }
  static bool recognises(std::string_view bytes) {
    const auto begin = bytes.substr(0, 1000);
    return begin.find("<topology") != begin.npos && (begin.starts_with("<") || begin.starts_with("\xef\xbb\xbf<"));
  }

  static inventory::listing read(std::string_view bytes, const std::string& file) {
    topology t;
    t.read(bytes, file);
    inventory::listing all;
    all.host = t.processors();
    if (t.memory != 0) {
      all.memory = t.memory;
    }
    t.add_gpus(all);
    return all;
  }

private:
  static constexpr std::size_t max_depth = 128;
  static constexpr std::size_t max_parts = 1000;
  static constexpr std::size_t max_kinds = 64;

  enum class kind : std::uint8_t { other, package, core, unit, bridge, host_bridge, device, system_device };

  struct object {
    kind is = kind::other;
    std::uint32_t above = none;
    bool one_numa_node = false;
    std::uint32_t unit = none; ///< the first hardware thread in it
    std::uint32_t package = 0; ///< that it is in or is, 0 for the whole machine
  };
  struct package {
    std::string model = {};
    std::uint32_t arm_implementer = 0; ///< of the cores, with the number of their part
    std::uint32_t arm_part = 0;

    std::string name() const {
      return model.empty() ? std::string{data_sheets::arm_core_name(arm_implementer, arm_part)} : model;
    }
  };
  struct kind_of_cores {
    std::vector<std::uint32_t> units = {}; ///< a bit for each hardware thread, the first 32 first
    std::string type = {};
    double clock = 0; ///< MHz
    bool base_clock = false;

    bool has(std::uint32_t unit) const {
      return unit / 32 < units.size() && ((units[unit / 32] >> unit % 32) & 1u) != 0;
    }
  };
  struct system_device { ///< an object of the operating system that stands for a device
    std::uint32_t place = none; ///< the device on the bus
    std::string name;
    bool infiniband = false;
    std::string vendor = {};
    std::string model = {};
    byte_count memory = 0;
  };

  /// A topology as the text has it.
  struct topology {
    std::vector<object> objects = {};
    std::vector<system_device> devices = {};
    std::unordered_map<std::string, std::uint32_t> place_of = {}; ///< of a device, by the id that matrices name it by
    std::vector<std::string> ends = {}; ///< of the matrix of NVLinks
    std::vector<double> megabytes = {}; ///< … row by row
    byte_count memory = 0;
    std::vector<package> packages = {{}}; ///< the first stands for the whole machine
    std::string vendor = {};
    std::uint32_t family = 0;
    std::uint32_t number_of_model = none;
    std::vector<kind_of_cores> cpu_kinds = {}; ///< the most efficient ones first

    void read(std::string_view bytes, const std::string& file) {
      const auto fail = [&](std::size_t line, const std::string& problem) { throw parse_error(file, line, problem); };
      detail::xml_tags tags{bytes, fail};
      std::vector<std::string_view> open;
      std::vector<std::uint32_t> inside; // objects
      bool nvlinks = false;
      while (tags.next()) {
        if (open.empty() && objects.empty() && tags.name() != "topology") {
          fail(tags.line(), "the outermost element is not 'topology'");
        }
        if (tags.opens()) {
          open.push_back(tags.name());
          if (open.size() > max_depth) {
            fail(tags.line(), "elements are nested more than " + std::to_string(max_depth) + " deep");
          }
          if (tags.name() == "object") {
            add_object(tags, inside);
          } else if (tags.name() == "cpukind") {
            if (cpu_kinds.size() == max_kinds) {
              fail(tags.line(), "more than " + std::to_string(max_kinds) + " kinds of cores");
            }
            cpu_kinds.push_back({.units = words_of(tags["cpuset"])});
          } else if (tags.name() == "info") {
            add_info(tags["name"], tags["value"], inside, open);
          } else if (tags.name().starts_with("distances2")) {
            nvlinks = tags["name"] == "NVLinkBandwidth";
          }
        }
        if (tags.closes()) {
          if (open.empty() || open.back() != tags.name()) {
            fail(tags.line(), "the end of '" + std::string{tags.name().substr(0, 40)} + "' is not expected here");
          }
          open.pop_back();
          if (tags.name() == "object") {
            inside.pop_back();
          } else if (nvlinks && (tags.name() == "indexes" || tags.name() == "u64values")) {
            add_distances(tags.text_before(), tags.name() == "indexes");
          }
        }
      }
      if (!open.empty() || objects.empty()) {
        fail(0, "the topology is not complete; write it again with lstopo --of xml");
      }
      if (ends.size() > max_parts || megabytes.size() != ends.size() * ends.size()) {
        fail(0, "the matrix of NVLinks has " + std::to_string(megabytes.size()) + " numbers for " +
                  std::to_string(ends.size()) + " parts");
      }
    }

    inventory::processors processors() const {
      std::vector<const object*> cores;
      std::vector<const object*> units;
      for (const auto& o : objects) {
        if (o.is == kind::core) {
          cores.push_back(&o);
        } else if (o.is == kind::unit) {
          units.push_back(&o);
        }
      }
      inventory::processors made;
      made.vendor = vendor;
      made.family = family;
      made.number = number_of_model;
      add_kinds(cores.empty() ? units : cores, made);
      const bool alike = std::all_of(packages.begin() + 1, packages.end(),
                                     [&](const package& p) { return p.name() == packages[1].name(); });
      const std::size_t sockets = alike ? packages.size() - 1 : 1; // clusters of Arm's cores are no sockets
      made.sockets = static_cast<std::uint32_t>(std::clamp<std::size_t>(sockets, 1, max_cores));
      if (cpu_kinds.size() < 2) {
        data_sheets::split_efficient_cores(made, static_cast<std::uint32_t>(units.size()));
      }
      return made;
    }

    void add_gpus(inventory::listing& all) const {
      std::vector<std::uint32_t> places;
      inventory::matrix joined;
      for (const bool cards : {false, true}) { // GPUs first
        for (const auto& d : devices) {
          const bool gpu = d.vendor.starts_with("NVIDIA") && !d.model.empty();
          if (d.place == none || (cards ? !d.infiniband : !gpu)) {
            continue;
          }
          const auto i = static_cast<std::size_t>(std::find(places.begin(), places.end(), d.place) - places.begin());
          if (i == places.size() && places.size() < max_parts) {
            const auto number = places.size() - (cards ? all.gpus.size() : 0);
            joined.parts.push_back({.name = (cards ? "NIC" : "GPU") + std::to_string(number),
                                    .is_gpu = !cards,
                                    .device = cards ? d.name : ""});
            places.push_back(d.place);
            if (!cards) {
              all.gpus.push_back({.name = on_one_line(d.model)});
            }
          }
          if (!cards && d.memory > 0 && i < all.gpus.size()) { // each backend adds what it knows
            all.gpus[i].memory = d.memory;
          }
        }
      }
      if (all.gpus.empty()) {
        return;
      }
      for (const auto a : places) {
        for (const auto b : places) {
          joined.ways.push_back({a == b ? inventory::distance::same : apart(a, b)});
        }
      }
      add_nvlinks(places, all, joined);
      all.joined = std::move(joined);
    }

  private:
    static constexpr std::uint32_t max_cores = 65'536;

    /// Adds the cores of each kind and package, the fastest kind first, which cores of no kind are counted to.
    void add_kinds(const std::vector<const object*>& cores, inventory::processors& made) const {
      const auto all = cpu_kinds.empty() ? std::vector<kind_of_cores>(1) : cpu_kinds;
      std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> count; // by kind, from the last one, and package
      for (const auto* core : cores) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& k) { return k.has(core->unit); });
        const auto last = found == all.end() ? 0 : all.end() - found - 1;
        ++count[{static_cast<std::size_t>(last), core->package}];
      }
      if (count.empty()) { // the cores are not listed
        count[{0, 0}] = 1;
      }
      for (const auto& [of, cores_of_it] : count) {
        const auto& k = all[all.size() - 1 - of.first];
        auto now = named_kind(k, packages[of.second]);
        if (k.type == "IntelAtom") {
          data_sheets::make_efficient(now, data_sheets::efficient_flop_per_cycle(made, now.model));
        }
        auto same = std::find_if(made.kinds.begin(), made.kinds.end(), [&](const auto& other) {
          now.cores = other.cores;
          return other == now;
        });
        if (same == made.kinds.end() && made.kinds.size() < max_kinds) {
          now.cores = 0;
          same = made.kinds.insert(same, now);
        }
        auto& kept = same != made.kinds.end() ? *same : made.kinds.back();
        kept.cores = std::min(kept.cores + cores_of_it, max_cores);
      }
    }

    /// Cores of a kind with the name that their package has, else any, and the clock that they have.
    inventory::core_kind named_kind(const kind_of_cores& k, const package& of) const {
      const auto named =
        std::find_if(packages.begin(), packages.end(), [](const package& p) { return !p.name().empty(); });
      const std::string model = !of.name().empty() ? of.name() : named != packages.end() ? named->name() : "";
      inventory::core_kind made{.model = model};
      made.model += k.type.starts_with("apple,") ? ", " + k.type.substr(6, k.type.find(';') - 6) + " cores" : "";
      const auto at = model.find("@ ");
      const double clock = at != model.npos && model.ends_with("GHz") ? number(model.substr(at + 2)) * 1000 : 0;
      made.hertz = 1e6 * (clock > 0 ? clock : k.clock);
      made.clock = clock > 0 || k.base_clock ? inventory::clock_kind::base : inventory::clock_kind::highest;
      return made;
    }

    /// The words of 32 bits of a set such as 0x00000003,,0x00000001, the last one first.
    static std::vector<std::uint32_t> words_of(std::string_view set) {
      std::vector<std::uint32_t> words;
      for (const auto word : split(set.substr(0, 100'000), ',')) {
        std::uint32_t bits = 0;
        const auto digits = word.substr(word.starts_with("0x") ? 2 : 0);
        std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
        words.push_back(bits);
      }
      std::reverse(words.begin(), words.end());
      return words;
    }

    static double number(std::string_view text) {
      double x = 0;
      std::from_chars(text.data(), text.data() + text.size(), x);
      return x > 0 && x < 1e6 ? x : 0;
    }
    static std::uint32_t whole_number(std::string_view text, int base) {
      text.remove_prefix(text.starts_with("0x") ? 2 : 0);
      std::uint32_t x = 0;
      std::from_chars(text.data(), text.data() + text.size(), x, base);
      return x;
    }
    static std::string value(std::string_view text) { return detail::xml_value(text.substr(0, 200)); }

    /// The number of bits in a set such as 0x00000003,0x00000001.
    static int bits(std::string_view set) {
      int count = 0;
      for (std::size_t i = 0; i < set.size(); ++i) {
        unsigned digit = 0;
        if (set.substr(i, 2) != "0x" && std::from_chars(&set[i], &set[i] + 1, digit, 16).ec == std::errc{}) {
          count += std::popcount(digit);
        }
      }
      return count;
    }

    template <class Tags>
    void add_object(const Tags& tags, std::vector<std::uint32_t>& inside) {
      constexpr std::pair<std::string_view, kind> kinds[]{
        {"Package", kind::package}, {"Socket", kind::package}, {"Core", kind::core},
        {"PU", kind::unit},         {"Bridge", kind::bridge},  {"PCIDev", kind::device},
        {"OSDev", kind::system_device}};
      object made{.above = inside.empty() ? none : inside.back(), .one_numa_node = bits(tags["nodeset"]) == 1};
      for (const auto& [name, k] : kinds) {
        made.is = tags["type"] == name ? k : made.is;
      }
      if (made.is == kind::bridge && tags["bridge_type"].starts_with("0-")) {
        made.is = kind::host_bridge;
      }
      made.package = inside.empty() ? 0 : objects[inside.back()].package;
      if (made.is == kind::package && packages.size() <= max_cores) {
        made.package = static_cast<std::uint32_t>(packages.size());
        packages.emplace_back();
      }
      if (made.is == kind::unit) {
        made.unit = tags["os_index"].empty() ? none : whole_number(tags["os_index"], 10);
        for (auto x = made.above; x != none; x = objects[x].above) {
          if (objects[x].is == kind::core) {
            objects[x].unit = std::min(objects[x].unit, made.unit);
          }
        }
      }
      const auto id = static_cast<std::uint32_t>(objects.size());
      if (made.is == kind::system_device) {
        std::uint32_t place = made.above;
        while (place != none && objects[place].is == kind::system_device) {
          place = objects[place].above;
        }
        devices.push_back({.place = place,
                           .name = value(tags["name"]),
                           .infiniband = tags["osdev_type"] == "3" || tags["subtype"] == "OpenFabrics"});
        place_of.emplace("OSDev:" + std::string{tags["gp_index"]}, place);
      }
      place_of.emplace(std::string{tags["type"]} + ":" + std::string{tags["gp_index"]}, id);
      byte_count local = 0;
      const auto bytes = tags["local_memory"];
      std::from_chars(bytes.data(), bytes.data() + bytes.size(), local);
      memory += std::min(local, (byte_count{1} << 60) - std::min(memory, byte_count{1} << 60));
      objects.push_back(made);
      inside.push_back(id);
    }

    void add_info(std::string_view name, std::string_view text, const std::vector<std::uint32_t>& inside,
                  const std::vector<std::string_view>& open) {
      auto& here = packages[inside.empty() ? 0 : objects[inside.back()].package];
      if (name == "CPUModel" && here.model.empty()) {
        here.model = value(text);
      } else if (name == "CPUVendor" && vendor.empty()) {
        vendor = value(text);
      } else if (name == "CPUFamilyNumber") {
        family = whole_number(text, 10);
      } else if (name == "CPUModelNumber") {
        number_of_model = whole_number(text, 10);
      } else if (name == "CPUImplementer") {
        here.arm_implementer = whole_number(text, 16);
      } else if (name == "CPUPart") {
        here.arm_part = whole_number(text, 16);
      } else if (open.size() > 1 && open[open.size() - 2] == "cpukind") {
        add_kind_info(name, text, cpu_kinds.back());
      } else if (!inside.empty() && objects[inside.back()].is == kind::system_device) {
        auto& d = devices.back();
        if (name == "GPUVendor") {
          d.vendor = value(text);
        } else if (name == "GPUModel") {
          d.model = value(text);
        } else if (name == "CUDAGlobalMemorySize" || name == "OpenCLGlobalMemorySize") { // KiB
          byte_count kibibytes = 0;
          std::from_chars(text.data(), text.data() + text.size(), kibibytes);
          d.memory = kibibytes < byte_count{1} << 50 ? kibibytes * 1024 : 0;
        }
      }
    }

    static void add_kind_info(std::string_view name, std::string_view text, kind_of_cores& k) {
      const bool base = name == "FrequencyBaseMHz";
      if (name == "CoreType" || name == "DarwinCompatible") {
        k.type = value(text);
      } else if ((base && !k.base_clock) || (name == "FrequencyMaxMHz" && k.clock == 0)) {
        k.clock = number(text);
        k.base_clock = base && k.clock > 0;
      }
    }

    void add_distances(std::string_view text, bool names) {
      std::replace_copy(text.begin(), text.end(), std::back_inserter(scratch_), '\n', ' ');
      std::string_view rest = scratch_;
      for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
        if (names) {
          ends.emplace_back(word.substr(0, 100));
        } else {
          megabytes.push_back(number(word));
        }
      }
      scratch_.clear();
    }

    inventory::distance apart(std::uint32_t a, std::uint32_t b) const {
      using inventory::distance;
      std::vector<std::uint32_t> above;
      for (auto x = a; x != none; x = objects[x].above) {
        above.push_back(x);
      }
      const auto bridges = [this](std::uint32_t from, std::uint32_t to) {
        std::size_t count = 0;
        for (auto x = from; x != to; x = objects[x].above) {
          count += objects[x].is == kind::bridge ? 1u : 0u;
        }
        return count;
      };
      auto common = b;
      while (common != none && std::find(above.begin(), above.end(), common) == above.end()) {
        common = objects[common].above;
      }
      if (common == none) {
        return distance::machine;
      }
      switch (objects[common].is) { // a switch is a bridge up and bridges down
      case kind::bridge:
        return std::max(bridges(a, common), bridges(b, common)) <= 1 ? distance::bridge : distance::bridges;
      case kind::host_bridge: return distance::host_bridge;
      default: return objects[common].one_numa_node ? distance::numa_node : distance::machine;
      }
    }

    /// The matrix has the bandwidth between GPUs in MB/s, summed over their NVLinks, or that to switches, which give
    /// each two GPUs what the one with fewer links has.
    void add_nvlinks(const std::vector<std::uint32_t>& places, const inventory::listing& all,
                     inventory::matrix& joined) const {
      const std::size_t n = ends.size();
      std::vector<std::size_t> part(n, none); // of each end
      for (std::size_t i = 0; i < n; ++i) {
        const auto place = place_of.find(ends[i]);
        const auto found =
          place == place_of.end() ? places.end() : std::find(places.begin(), places.end(), place->second);
        const auto k = static_cast<std::size_t>(found - places.begin());
        part[i] = k < all.gpus.size() ? k : part[i];
      }
      const auto links = [&](std::size_t i, double megabyte) {
        const auto* sheet = data_sheets::find_gpu(all.gpus[part[i]].name);
        const double one = sheet != nullptr && sheet->figures.nvlink > 0 ? sheet->figures.nvlink : 25;
        return static_cast<std::uint32_t>(std::min(std::lround(megabyte / 1000 / one), 255L));
      };
      std::vector<double> to_switches(n, 0);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) {
          const bool is_switch = part[k] == none && ends[k].find("Package") == std::string::npos;
          to_switches[i] += part[i] != none && is_switch ? megabytes[i * n + k] : 0;
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) {
          if (i != k && part[i] != none && part[k] != none && part[i] != part[k]) {
            const double direct = std::max(megabytes[i * n + k], megabytes[k * n + i]);
            const double rate = direct > 0 ? direct : std::min(to_switches[i], to_switches[k]);
            const auto number = std::min(links(i, rate), links(k, rate));
            joined.ways[part[i] * places.size() + part[k]].nvlinks = number;
            joined.ways[part[k] * places.size() + part[i]].nvlinks = number;
          }
        }
      }
    }

    std::string scratch_ = {};
  };
};

} // namespace weft::io
