// SPDX-License-Identifier: BSL-1.0
/// The processors of a node as one device, and the notes on where its figures come from.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/platform/data_sheets.hpp"
#include "weft/platform/inventory.hpp"
#include "weft/platform/platform.hpp"
#include "weft/platform/processor_sheets.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::detail {

/// A number without zeros at its end.
inline std::string short_number(double x) {
  std::string text = std::to_string(x);
  while (text.back() == '0') {
    text.pop_back();
  }
  return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}
inline std::string in_giga(double x) { return short_number(x / 1e9); }

/// Lines about the figures of a machine, each once.
struct machine_notes {
  std::vector<std::string> lines = {};
  std::vector<std::string> guesses = {}; ///< of the lines

  void note(const std::string& line) { add(lines, line); }
  /// Notes what is a guess at a figure that plans rest on.
  void guess(const std::string& line) {
    add(lines, line);
    add(guesses, line);
  }

private:
  static void add(std::vector<std::string>& all, const std::string& line) {
    if (std::find(all.begin(), all.end(), line) == all.end()) {
      all.push_back(line);
    }
  }
};

/// Figures of the processors of a node that were given; 0 for what was not.
struct given_host {
  double speed = 0;     ///< FLOP/s
  double bandwidth = 0; ///< bytes/s
  byte_count memory = 0;
  double watts = 0;
};

/// The memory that a GPU has in common with the processors, as far as the GPU's figures say; no GPU if none has. What
/// is of GPUs that have their own, but make it a NUMA node of the system (GH200), is apart.
struct shared_pool {
  std::string gpu = {};
  double bandwidth = 0; ///< bytes/s, 0 if nobody says
  byte_count memory = 0;
  byte_count of_gpus = 0; ///< that the node's memory includes, but is the GPUs' own
};

class host_maker {
public:
  host_maker(const inventory::listing& all, const given_host& given, const shared_pool& pool, machine_notes& notes)
      : all_{all}, host_{all.host.value_or(inventory::processors{})}, given_{given}, pool_{pool}, notes_{notes} {}

  /// Nothing if nobody says how fast they are.
  std::optional<device> make(const inventory::node& n) {
    device d{.kind = device_kind::cpu};
    const std::uint32_t cores = n.cores != 0 ? n.cores : host_.cores();
    const std::uint32_t sockets = n.sockets != 0 ? n.sockets : host_.sockets;
    if (given_.speed > 0) {
      d.speed = given_.speed;
      notes_.note("cpu: " + in_giga(d.speed / 1e3) + " TFLOP/s, as given");
    } else if (host_.cores() > 0) {
      d.speed = 0;
      for (const auto& k : host_.kinds) {
        d.speed += cores * (static_cast<double>(k.cores) / host_.cores()) * speed_of_core(k, cores);
      }
    } else {
      notes_.note("cpu: left out, since nothing says how fast it is; add lscpu -J");
      return std::nullopt;
    }
    d.memory_bandwidth = bandwidth(sockets, cores);
    if (given_.watts > 0) {
      d.active_watts = given_.watts;
      d.idle_watts = data_sheets::idle_share_of_processors * given_.watts;
    }
    const byte_count listed = n.memory != 0 ? n.memory : all_.memory.value_or(0);
    const byte_count memory = given_.memory != 0        ? given_.memory
                              : listed > pool_.of_gpus ? listed - pool_.of_gpus
                              : listed != 0             ? listed // which then cannot have theirs in it
                                                        : pool_.memory;
    if (memory != 0) {
      d.memory_capacity = memory;
    } else {
      notes_.note("cpu: nothing says how much memory it has, so it has no limit; add /proc/meminfo");
    }
    return d;
  }

private:
  /// FLOP/s of a core of a node with so many cores in all.
  double speed_of_core(const inventory::core_kind& k, std::uint32_t cores) {
    using inventory::clock_kind;
    const auto count = host_.kinds.size() == 1 ? cores : k.cores;
    const auto* sheet = data_sheets::find_core(k.model);
    const bool clock_by_sheet = k.hertz == 0 && sheet != nullptr && sheet->gigahertz > 0;
    const double hertz = k.hertz > 0 ? k.hertz : clock_by_sheet ? sheet->gigahertz * 1e9 : data_sheets::assumed_clock;
    const double documented = data_sheets::documented_flop_per_cycle(k, host_);
    const bool units_by_sheet = k.flop_per_cycle == 0 && documented > 0;
    const double flop = k.flop_per_cycle > 0 ? k.flop_per_cycle
                        : units_by_sheet     ? documented
                                             : data_sheets::assumed_flop_per_cycle;
    const char* clock = k.hertz == 0                      ? "assumed, no list has its clock"
                        : k.clock == clock_kind::base     ? "base clock"
                        : k.clock == clock_kind::present ? "its clock when it was listed"
                                                         : "highest clock, which not all cores keep";
    const std::string line = "cpu: " + (k.model.empty() ? "" : k.model + ", ") + std::to_string(count) +
                             (count == 1 ? " core at " : " cores at ") + in_giga(hertz) + " GHz (" + clock + ") with " +
                             short_number(flop) + " FLOP per cycle (" +
                             (k.flop_per_cycle > 0 ? k.units
                              : units_by_sheet     ? "by the core's documents"
                                                   : "assumed, no list has its vector units; add lscpu -J") +
                             ")";
    if (k.hertz > 0 && (k.flop_per_cycle > 0 || units_by_sheet)) {
      notes_.note(line);
    } else {
      notes_.guess(line + "; give its peak rate in TFLOP/s, as in --cpu fp32:2.5");
    }
    return hertz * flop;
  }

  /// Bytes/s from the memory of so many sockets.
  double bandwidth(std::uint32_t sockets, std::uint32_t cores) {
    if (given_.bandwidth > 0) {
      notes_.note("cpu: memory bandwidth " + in_giga(given_.bandwidth) + " GB/s, as given");
      return given_.bandwidth;
    }
    const auto found = data_sheets::memory_of(host_, sockets, cores);
    using source = data_sheets::found_memory::source;
    const double all = pool_.bandwidth > 0 ? pool_.bandwidth : sockets * found.memory.bandwidth();
    const bool is_virtual = host_.is_virtual;
    const double core = is_virtual ? data_sheets::bandwidth_of_virtual_core : data_sheets::bandwidth_of_core;
    const double drawn = cores * core;
    constexpr const char* give = "; give it, as in --cpu bandwidth:200";
    if (cores > 0 && drawn < all) {
      notes_.guess("cpu: memory bandwidth " + in_giga(drawn) + " GB/s, the most that its cores draw at " +
                   in_giga(core) + " GB/s each" + (is_virtual ? " in a virtual machine" : "") + " (assumed)" + give);
      return drawn;
    }
    if (pool_.bandwidth > 0) {
      notes_.note("cpu: memory bandwidth " + in_giga(all) + " GB/s, that of the memory that it shares with " +
                  pool_.gpu);
      return all;
    }
    const std::string figures = "memory bandwidth " + in_giga(found.memory.bandwidth()) + " GB/s for each of " +
                                std::to_string(sockets) + " socket" + (sockets == 1 ? "" : "s") + ", ";
    const std::string channels = short_number(found.memory.channels) + " channel" +
                                 (found.memory.channels == 1 ? "" : "s") + " at " +
                                 short_number(found.memory.megatransfers) + " MT/s";
    if (found.by == source::line) {
      notes_.note("cpu: " + figures + "by its data sheet with all channels used (" + channels + ")");
    } else {
      notes_.guess("cpu: " + figures + "taken to be that of " +
                   (found.by == source::family ? "the family of its cores" : std::string{found.kind}) + ", " +
                   channels + ", since its name has no data sheet here" + give);
    }
    return all;
  }

  const inventory::listing& all_;
  inventory::processors host_;
  given_host given_;
  const shared_pool& pool_;
  machine_notes& notes_;
};

} // namespace weft::detail
