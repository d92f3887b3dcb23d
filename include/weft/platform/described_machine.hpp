// SPDX-License-Identifier: BSL-1.0
/// A platform made from tools' lists of a machine, from data sheets, and from stated assumptions.
#pragma once

#include "weft/core/error.hpp"
#include "weft/platform/data_sheets.hpp"
#include "weft/platform/detail/host_maker.hpp"
#include "weft/platform/detail/node_wiring.hpp"
#include "weft/platform/gpu_names.hpp"
#include "weft/platform/inventory.hpp"
#include "weft/platform/platform.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// Assumptions about what no tool lists.
struct machine_assumptions {
  /// Figures of GPUs by the name or the type that lists have. They win over lists and data sheets, which say what is 0.
  std::map<std::string, data_sheets::gpu> gpus = {};
  /// The GPU that a name or a type of a batch system means, by its name in data_sheets.hpp.
  std::map<std::string, std::string> types = {};
  double host_speed = 0;     ///< FLOP/s of a node's processors; 0: sum of clock × FLOP per cycle of their cores
  double host_bandwidth = 0; ///< bytes/s from their memory; 0: by data sheet, or assumed
  byte_count host_memory = 0; ///< bytes; 0: as listed
  double host_watts = 0;      ///< that a node's processors draw at work; 0: what they draw is not counted
  double network_bandwidth = 0; ///< bytes/s of each network card and direction; needed for several nodes
  double network_latency = 5e-6; ///< seconds from node to node
  double pcie_latency = 10e-6;   ///< of a small copy over PCIe
  double nvlink_latency = 5e-6;
  double copy_launch = data_sheets::copy_launch;   ///< seconds that a copy to or from a GPU keeps its sender
  double message_post = data_sheets::message_post; ///< … and that any other transfer does
  /// The rate that all transfers between NUMA nodes reach together, as a share of the rate of 16 PCIe lanes
  /// (presets.hpp).
  double between_numa_nodes = 2.0 / 3;
};

struct described_machine {
  platform<> devices;
  std::vector<std::string> notes; ///< a line for each figure that was taken from elsewhere, and for each assumption
};

namespace detail {

/// Collects the parts of a machine, and what has to be said about them.
class machine_maker {
public:
  machine_maker(const inventory::listing& all, const machine_assumptions& assumed) : all_{all}, assumed_{assumed} {}

  described_machine make() && {
    auto nodes = all_.nodes;
    if (nodes.empty()) {
      nodes.push_back({.name = "node"});
    }
    const bool several = nodes.size() > 1;
    if (several && !(assumed_.network_bandwidth > 0)) {
      throw error("the machine has " + std::to_string(nodes.size()) +
                  " nodes, but nothing lists their network; give its bandwidth, as in --network 200Gbit/s");
    }
    require_node_of_lists(nodes);
    std::vector<node_parts> parts;
    for (const auto& n : nodes) {
      parts.push_back(parts_of(n));
      const std::string prefix = several ? n.name + "/" : "";
      add_devices(parts.back(), prefix);
      if (devices_.size() > max_devices) {
        throw error("the machine has more than " + std::to_string(max_devices) +
                    " devices, the most that a platform may have" +
                    (several ? "; choose some of its " + std::to_string(nodes.size()) + " nodes, as in --nodes '" +
                                 nodes[0].name + "," + nodes[1].name + "'"
                             : ""));
      }
    }
    if (devices_.empty()) {
      throw error(
        "the lists name neither a GPU nor a processor whose speed is known; add the output of lscpu -J, or of "
        "nvidia-smi --query-gpu=name,memory.total --format=csv");
    }
    if (std::any_of(parts.begin(), parts.end(), [](const node_parts& p) { return pcie_of(p.wiring) > 0; })) {
      notes_.note("transfers: a copy takes " + short_number(assumed_.pcie_latency * 1e6) + " us over PCIe and " +
           short_number(assumed_.nvlink_latency * 1e6) + " us over NVLink, and keeps what sends it for " +
           short_number(assumed_.copy_launch * 1e6) + " us");
    }
    require_use();
    interconnect_builder b{devices_.size(), {.spread = several}}; // what leaves a node, over its network cards
    const auto fabric = several ? b.add_switch("network") : none;
    device_id first = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      first = wire_node(b, parts[i].wiring, first, several ? nodes[i].name + "/" : "", fabric);
    }
    if (several) {
      notes_.note("network: " + in_giga(assumed_.network_bandwidth) + " GB/s for each card and direction, as given; " +
           short_number(assumed_.network_latency * 1e6) + " us from node to node");
    }
    link_matrix links = devices_.size() > 1 ? link_matrix{std::move(b).build()} : link_matrix{1}; // nobody to talk to
    described_machine made{{std::move(devices_), std::move(links)}, std::move(notes_.lines)};
    made.devices.set_names(std::move(names_));
    made.devices.set_notes(std::move(notes_.guesses));
    return made;
  }

private:
  static constexpr std::uint32_t usual_pcie = 4; // where nobody says
  static constexpr std::uint32_t usual_lanes = 16;
  static constexpr double flop_per_byte = 100; // of GPUs in single precision, about the most that data sheets have
  static constexpr std::size_t max_devices = 1000; // a link for each pair; readers of platforms have the same limit

  struct node_parts {
    std::optional<device> host;
    std::vector<device> gpus;
    byte_count memory = 0; ///< of the node, 0 if nobody says
    node_wiring wiring;
  };

  /// The assumptions about the GPU of a name or type; null if nothing.
  template <class Value>
  const Value* given_for(const std::map<std::string, Value>& given, const std::string& name) {
    const auto found = std::find_if(given.begin(), given.end(),
                                    [&](const auto& g) { return data_sheets::is_same_gpu(g.first, name); });
    if (found == given.end()) {
      return nullptr;
    }
    used_.insert(&found->first);
    return &found->second;
  }

  /// Refuses lists of GPUs that no node has.
  void require_node_of_lists(const std::vector<inventory::node>& nodes) {
    if (num_listed() == 0 ||
        std::any_of(nodes.begin(), nodes.end(), [this](const inventory::node& n) { return is_listed(n); })) {
      return;
    }
    const auto& n = nodes.front();
    std::string has;
    for (const auto& [type, count] : n.gpus) {
      has += (has.empty() ? "" : ", ") + std::to_string(count) + (type.empty() ? "" : " of type '" + type + "'");
    }
    throw error("the lists have " + std::to_string(num_listed()) + " GPUs" +
                (all_.gpus.empty() ? "" : " (" + all_.gpus.front().name + ")") + ", but no node has those: '" +
                n.name + "' has " + (has.empty() ? "none" : has) +
                "; give lists of a node of the machine and nodes with their GPUs (Gres), or leave the lists out");
  }

  /// Refuses figures that are of no GPU of the machine.
  void require_use() const {
    const auto refuse_unused = [&](const auto& given) {
      for (const auto& g : given) {
        if (!used_.contains(&g.first)) {
          std::string names;
          for (const auto& name : seen_) {
            names += (names.empty() ? "'" : ", '") + name + "'";
          }
          throw error("the GPU '" + g.first +
                      "' is described, but the machine has none of that name; it has " +
                      (names.empty() ? "no GPUs" : names));
        }
      }
    };
    refuse_unused(assumed_.gpus);
    refuse_unused(assumed_.types);
  }

  /// The figures of a GPU by its name, or by the one that it was said to be.
  data_sheets::gpu figures_of(const inventory::gpu& g, const data_sheets::gpu* given, bool nvlinks) {
    const auto& name = g.name;
    const auto known = known_figures(name);
    if (given == nullptr && !known) {
      no_data_sheet(name, needs_memory(g), nvlinks);
    }
    auto f = known.value_or(data_sheets::gpu{});
    if (known && !(given != nullptr && given->tflops > 0)) {
      notes_.note(name + ": " + short_number(f.tflops) + " TFLOP/s, " + short_number(f.half) + " in half precision, " +
           short_number(f.gigabytes_per_second) + " GB/s, by its data sheet");
    }
    if (given != nullptr) {
      using figures = data_sheets::gpu;
      const auto take = [&](auto... members) {
        ((f.*members = given->*members > 0 ? given->*members : f.*members), ...);
      };
      take(&figures::tflops, &figures::half, &figures::fp8, &figures::int8, &figures::gibibytes,
           &figures::gigabytes_per_second, &figures::watts, &figures::nvlinks, &figures::nvlink, &figures::pcie,
           &figures::pcie_lanes);
      f.board = f.board || given->board;
      notes_.note(name + ": figures as given");
    }
    return f;
  }
  [[noreturn]] static void no_data_sheet(const std::string& name, bool needs_memory, bool nvlinks) {
    const auto may_be = data_sheets::sheets_like(name);
    throw error("no data sheet is known for the GPU '" + name + "'" + data_sheets::which_may_be(may_be) + "; " +
                (may_be.empty() ? "" : "say so, as in " + data_sheets::name_option(name, may_be) + ", or ") +
                "give its peak rates in TFLOP/s and GB/s" +
                (needs_memory ? " and its memory in GiB" : "") + ", as in " +
                data_sheets::figures_option(name, {}, needs_memory, nvlinks));
  }

  /// The GPU that a batch system calls so: the one that was given, or the only one whose name has the type in it.
  std::string name_of_type(const std::string& type) {
    const std::string name = type.empty() ? data_sheets::untyped_gpu : type;
    seen_.insert(name);
    if (const auto* given = given_for(assumed_.types, name)) {
      return *given;
    }
    if (given_for(assumed_.gpus, name) != nullptr) {
      return name;
    }
    auto may_be = data_sheets::sheets_of_type(type);
    if (may_be.size() == 1) {
      return std::move(may_be.front());
    }
    throw error("the nodes have GPUs " +
                (type.empty() ? "without a type"
                 : may_be.empty()
                   ? "of type '" + type + "', which no data sheet is known for"
                   : "of type '" + type + "'" + data_sheets::which_may_be(may_be)) +
                "; say what they are, as in " + data_sheets::name_option(name, may_be) +
                (may_be.empty() ? ", or give their figures, as in " +
                                    data_sheets::figures_option(name, {}, true, false)
                                : ""));
  }

  /// Whether the GPUs that are listed by name are those of this node.
  bool is_listed(const inventory::node& n) {
    std::size_t count = 0;
    bool fits = true;
    for (const auto& [type, some] : n.gpus) {
      count += some;
      fits = fits && (type.empty() || all_.gpus.empty() || may_be(all_.gpus.front().name, type));
    }
    return all_.nodes.empty() || all_.nodes_are_alike || (fits && count > 0 && count == num_listed());
  }
  /// Whether a batch system may call a GPU so. Words that are in no GPU's name say nothing.
  bool may_be(const std::string& name, const std::string& type) {
    if (const auto* given = given_for(assumed_.types, type)) {
      return data_sheets::is_same_gpu(*given, name);
    }
    const auto has_type = [&](const data_sheets::named_gpu& g) { return data_sheets::has_word(g.name, type); };
    return data_sheets::has_word(name, type) ||
           (given_for(assumed_.gpus, type) == nullptr &&
            std::none_of(data_sheets::gpus.begin(), data_sheets::gpus.end(), has_type));
  }
  std::size_t num_listed() const {
    return !all_.gpus.empty() || !all_.joined ? all_.gpus.size() : num_gpus(*all_.joined);
  }
  static std::size_t num_gpus(const inventory::matrix& m) {
    return static_cast<std::size_t>(
      std::count_if(m.parts.begin(), m.parts.end(), [](const auto& p) { return p.is_gpu; }));
  }

  std::vector<inventory::gpu> gpus_of(const inventory::node& n, bool listed) {
    std::vector<inventory::gpu> made;
    if (listed && !all_.gpus.empty()) {
      return all_.gpus;
    }
    for (const auto& [type, count] : n.gpus) {
      made.insert(made.end(), count, {.name = name_of_type(type)});
    }
    return made;
  }

  node_parts parts_of(const inventory::node& n) {
    node_parts made;
    auto& w = made.wiring;
    const bool listed = is_listed(n);
    const auto gpus = gpus_of(n, listed);
    auto pool = pool_of(gpus);
    pool.of_gpus = listed ? memory_nodes(gpus) : 0;
    const given_host given{assumed_.host_speed, assumed_.host_bandwidth, assumed_.host_memory, assumed_.host_watts};
    made.host = host_maker{all_, given, pool, notes_}.make(n);
    made.memory = n.memory != 0 ? n.memory : all_.memory.value_or(pool.memory);
    w.has_host = made.host.has_value();
    w.host_bandwidth = made.host ? made.host->memory_bandwidth : std::numeric_limits<double>::infinity();
    w.pcie_latency = assumed_.pcie_latency;
    w.nvlink_latency = assumed_.nvlink_latency;
    w.memory_latency = assumed_.message_post;
    w.network = {assumed_.network_latency, assumed_.network_bandwidth, 8 * 250e-12 / 2};
    w.between_numa_nodes = assumed_.between_numa_nodes;
    const bool sliced = std::any_of(gpus.begin(), gpus.end(), is_slice);
    const bool joined = all_.joined && listed && !sliced;
    if (joined && num_gpus(*all_.joined) != gpus.size()) {
      throw error("the topology has " + std::to_string(num_gpus(*all_.joined)) + " GPUs, but " +
                  std::to_string(gpus.size()) + " are listed by name; take both from the same node, without "
                  "CUDA_VISIBLE_DEVICES, and with the output of nvidia-smi --query-gpu=name,memory.total --format=csv");
    }
    w.joined = joined ? *all_.joined : matrix_of(gpus);
    const auto nvlinked = gpus_with_nvlinks(w.joined);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      add_gpu(made, gpus[i], nvlinked[i]);
    }
    const bool draws = std::any_of(made.gpus.begin(), made.gpus.end(),
                                   [](const device& d) { return d.active_watts > 0; });
    if (made.host && draws && !(made.host->active_watts > 0)) {
      notes_.note("cpu: nothing says what it draws, so its energy is not counted; give it, as in --cpu watts:400");
    }
    if (sliced) {
      notes_.note("slices of a GPU (MIG) share its PCIe lanes and have no NVLinks");
    } else {
      note_wiring(w, joined);
    }
    return made;
  }

  void note_wiring(node_wiring& w, bool joined) {
    if (!joined && w.gpus.size() > 1) {
      const auto boards = add_assumed_nvlinks(w);
      notes_.note(std::string{"no list says how the GPUs of a node are joined: taken to be "} +
                  (boards == 0               ? "over PCIe only"
                   : boards == w.gpus.size() ? "by all their NVLinks"
                                             : "by all NVLinks of those on one board, others over PCIe only") +
                  ", with PCIe lanes of their own; add nvidia-smi topo -m");
    } else if (joined) {
      note_unknown_nvlinks(w);
      if (const double lanes = pcie_of(w); lanes > 0) {
        notes_.note("PCIe: " + in_giga(lanes) + " GB/s for the lanes of a GPU and for the uplink of each switch, which "
                    "those behind it share; NUMA nodes exchange " + in_giga(assumed_.between_numa_nodes * lanes) +
                    " GB/s in all (assumed)");
      }
    }
  }
  void note_unknown_nvlinks(const node_wiring& w) {
    const bool any = std::any_of(w.joined.ways.begin(), w.joined.ways.end(),
                                 [](const auto& x) { return x.nvlinks > 0; });
    for (const auto& g : w.gpus) {
      if (any && g.nvlinks == 0) {
        notes_.note(g.name + ": nothing says how many NVLinks it has, so each pair of GPUs has those of the topology "
                    "for itself; give them, as in --gpu '" + g.name + "=nvlinks:12'");
      }
    }
  }
  /// Joins GPUs of one name that are on a board by all their NVLinks: up to four directly, more by switches. Returns
  /// the number of such GPUs.
  static std::size_t add_assumed_nvlinks(node_wiring& w) {
    const std::size_t n = w.gpus.size();
    std::size_t on_boards = 0;
    for (std::size_t a = 0; a < n; ++a) {
      const auto on_board = [&](const wired_gpu& g) { return g.board && g.name == w.gpus[a].name; };
      const auto alike = static_cast<std::size_t>(std::count_if(w.gpus.begin(), w.gpus.end(), on_board));
      on_boards += alike > 1 ? 1u : 0u;
      for (std::size_t c = 0; c < n; ++c) {
        if (a != c && alike > 1 && on_board(w.gpus[c])) {
          const auto links = w.gpus[a].nvlinks;
          w.joined.ways[a * n + c].nvlinks = alike <= 4 ? links / static_cast<std::uint32_t>(alike - 1) : links;
        }
      }
    }
    return on_boards;
  }

  /// The GPUs of a topology that have NVLinks to others.
  static std::vector<bool> gpus_with_nvlinks(const inventory::matrix& m) {
    std::vector<bool> found;
    for (std::size_t a = 0; a < m.parts.size(); ++a) {
      const auto row = m.ways.begin() + static_cast<std::ptrdiff_t>(a * m.parts.size());
      if (m.parts[a].is_gpu) {
        found.push_back(std::any_of(row, row + static_cast<std::ptrdiff_t>(m.parts.size()),
                                    [](const inventory::way& x) { return x.nvlinks > 0; }));
      }
    }
    return found;
  }
  /// Of the first GPU that is on PCIe; 0 if none is.
  static double pcie_of(const node_wiring& w) {
    const auto found = std::find_if(w.gpus.begin(), w.gpus.end(), [](const wired_gpu& g) { return !g.shares_memory; });
    return found == w.gpus.end() ? 0 : found->lanes;
  }

  /// True if a GPU works in the memory of the processors beside it.
  bool shares_memory(const inventory::gpu& g) {
    const auto known = known_figures(g.name);
    return data_sheets::shares_memory(g.name) || (g.shares_memory && !(known && known->gibibytes > 0));
  }
  /// True if nothing but a data sheet or an option can say how much memory a GPU has.
  bool needs_memory(const inventory::gpu& g) { return g.memory.value_or(0) == 0 && !shares_memory(g); }
  /// The figures of a data sheet by the name of a GPU, or by the one that it was said to be.
  std::optional<data_sheets::gpu> known_figures(const std::string& name) {
    const auto* meant = given_for(assumed_.types, name);
    return data_sheets::figures_of(meant != nullptr ? *meant : name);
  }

  /// Bytes of GPUs whose memory is a NUMA node of the system by the topology.
  byte_count memory_nodes(const std::vector<inventory::gpu>& gpus) {
    byte_count all = 0;
    std::size_t i = 0;
    for (const auto& part : all_.joined ? all_.joined->parts : std::vector<inventory::matrix::part>{}) {
      if (part.is_gpu && i < gpus.size() && !part.memory_node.empty() && !shares_memory(gpus[i])) {
        const auto known = known_figures(gpus[i].name).value_or(data_sheets::gpu{});
        all += gpus[i].memory.value_or(known.as_device().memory_capacity);
      }
      i += part.is_gpu ? 1 : 0;
    }
    return all;
  }

  shared_pool pool_of(const std::vector<inventory::gpu>& gpus) {
    const auto found = std::find_if(gpus.begin(), gpus.end(), [this](const auto& g) { return shares_memory(g); });
    if (found == gpus.end()) {
      return {};
    }
    const auto known = known_figures(found->name).value_or(data_sheets::gpu{});
    const auto* given = given_for(assumed_.gpus, found->name);
    const double gigabytes =
      given != nullptr && given->gigabytes_per_second > 0 ? given->gigabytes_per_second : known.gigabytes_per_second;
    const double gibibytes = given != nullptr ? given->gibibytes : 0;
    const auto memory = static_cast<byte_count>(gibibytes * (byte_count{1} << 30));
    return {found->name, gigabytes * 1e9, memory != 0 ? memory : found->memory.value_or(0)};
  }

  static bool is_slice(const inventory::gpu& g) {
    return g.slice_of != none || data_sheets::slice_in(g.name).slices > 0;
  }

  /// GPUs with PCIe lanes of their own; slices of one share them, as what is behind a switch does.
  static inventory::matrix matrix_of(const std::vector<inventory::gpu>& gpus) {
    inventory::matrix m;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      m.parts.push_back({.name = "GPU" + std::to_string(i), .is_gpu = true});
      for (std::size_t k = 0; k < gpus.size(); ++k) {
        const bool shared = gpus[i].slice_of != none && gpus[i].slice_of == gpus[k].slice_of;
        m.ways.push_back({i == k   ? inventory::distance::same
                          : shared ? inventory::distance::bridge
                                   : inventory::distance::host_bridge});
      }
    }
    return m;
  }

  /// `nvlinks`: the topology lists some of this GPU.
  void add_gpu(node_parts& made, const inventory::gpu& g, bool nvlinks) {
    seen_.insert(g.name);
    const auto* given = given_for(assumed_.gpus, g.name);
    using figures = data_sheets::gpu;
    const auto is_listed = [&](const auto& value, auto member) {
      return value.value_or(0) > 0 && !(given != nullptr && given->*member > 0);
    };
    auto f = figures_of(g, given, nvlinks);
    device d = f.as_device();
    const auto option = [&] { return data_sheets::figures_option(g.name, f, needs_memory(g), nvlinks); };
    if (!(d.speed > 0)) {
      throw error("the rates of the GPU '" + g.name + "' lack fp32; give its TFLOP/s, as in " + option());
    }
    if (nvlinks && !(f.nvlink > 0)) {
      throw error("the topology lists NVLinks of '" + g.name +
                  "', but nothing says how fast they are; give GB/s of one link in one direction, as in " + option());
    }
    const bool shared = shares_memory(g);
    set_bandwidth(d, g, shared ? made.host : std::nullopt);
    if (shared) {
      set_shared_memory(d, g, made);
    } else if (is_listed(g.memory, &figures::gibibytes)) {
      d.memory_capacity = *g.memory;
    } else if (d.memory_capacity == 0) {
      throw error("nothing says how much memory the GPU '" + g.name + "' has; add memory.total to the fields of "
                  "nvidia-smi --query-gpu, or give it in GiB, as in " + option());
    }
    if (is_listed(g.watts, &figures::watts)) {
      d.active_watts = *g.watts;
      d.idle_watts = data_sheets::idle_share_of_accelerators * *g.watts;
    }
    made.gpus.push_back(d);
    f.pcie = is_listed(g.pcie, &figures::pcie) && data_sheets::pcie_x16(*g.pcie) > 0 ? *g.pcie : f.pcie;
    f.pcie_lanes = is_listed(g.pcie_lanes, &figures::pcie_lanes) ? *g.pcie_lanes : f.pcie_lanes;
    const double x16 = data_sheets::pcie_x16(f.pcie != 0 ? f.pcie : usual_pcie);
    made.wiring.gpus.push_back({.lanes = x16 / 16 * (f.pcie_lanes != 0 ? f.pcie_lanes : usual_lanes),
                                .nvlink = f.nvlink * 1e9,
                                .nvlinks = f.nvlinks,
                                .board = f.board,
                                .shares_memory = shared && made.host,
                                .name = g.name});
    if (shared && made.host) {
      made.wiring.gpus.back().lanes = std::min(d.memory_bandwidth, made.host->memory_bandwidth);
    }
  }

  /// A guess where nobody knows the memory bandwidth of a GPU, except that the processors' memory may be its own.
  void set_bandwidth(device& d, const inventory::gpu& g, const std::optional<device>& host) {
    if (d.memory_bandwidth > 0) {
      return;
    }
    if (host) {
      d.memory_bandwidth = host->memory_bandwidth;
      return;
    }
    d.memory_bandwidth = d.speed / flop_per_byte;
    notes_.guess(g.name + ": its memory bandwidth is not known and taken to be " + in_giga(d.memory_bandwidth) +
                 " GB/s, a byte for each " + short_number(flop_per_byte) + " FLOP; give it, as in --gpu '" + g.name +
                 "=bandwidth:900'");
  }

  /// A GPU without memory of its own works in that of the processors, or has all of the node's where those are left
  /// out.
  void set_shared_memory(device& d, const inventory::gpu& g, const node_parts& made) {
    if (made.host) {
      d.memory_capacity = 0;
      d.memory_of = 0; // of the node's devices
      notes_.note(g.name + ": works in the memory of the processors and has none of its own");
    } else if (made.memory != 0) {
      d.memory_capacity = made.memory;
    } else {
      throw error("the GPU '" + g.name + "' works in the memory of the processors, and nothing says how much that is; "
                  "add lscpu -J and /proc/meminfo, or give it in GiB, as in --gpu '" + g.name + "=memory:24'");
    }
  }

  void add_devices(const node_parts& made, const std::string& prefix) {
    const auto host = static_cast<device_id>(devices_.size());
    const double overhead = made.gpus.empty() ? assumed_.message_post : assumed_.copy_launch;
    if (made.host) {
      devices_.push_back(*made.host);
      devices_.back().send_overhead = overhead;
      names_.push_back(prefix + "cpu");
    }
    for (std::size_t i = 0; i < made.gpus.size(); ++i) {
      devices_.push_back(made.gpus[i]);
      devices_.back().send_overhead = overhead;
      devices_.back().memory_of = made.gpus[i].memory_of == none ? none : host;
      names_.push_back(prefix + "gpu" + std::to_string(i));
    }
  }

  const inventory::listing& all_;
  const machine_assumptions& assumed_;
  std::vector<device> devices_;
  std::vector<std::string> names_;
  machine_notes notes_;
  std::set<std::string> seen_;             // names and types of GPUs
  std::set<const std::string*> used_;      // of the names in `assumed_`
};

} // namespace detail

/// The platform of a machine: for each node its processors as one device, `cpu`, if their speed is known, and its GPUs,
/// `gpu0`, …; with several nodes, names begin with the node's. Nodes that have as many GPUs as are listed by name are
/// taken to be like the one that was listed; other nodes get theirs by the type that the batch system has. Lists and
/// figures that are of no GPU of the machine are refused.
///
/// Speeds are peak rates of data sheets, and cores × clock × FLOP per cycle of processors. GPUs whose parts have
/// NVLinks of all together more than they have themselves reach each other through switches that give each its full
/// rate; else each two have links of their own. GPUs and network cards that are behind one PCIe switch share its
/// uplink; what crosses NUMA nodes shares the links between them. A clock, units or the bandwidth of a memory that
/// neither lists nor data sheets have are guessed, and the platform's `notes` say so. Throws `error` of one line for
/// what else is missing.
/// Complexity: O(devices × links).
inline described_machine describe_machine(const inventory::listing& all, const machine_assumptions& assumed = {}) {
  return detail::machine_maker{all, assumed}.make();
}

} // namespace weft
