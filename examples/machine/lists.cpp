// SPDX-License-Identifier: BSL-1.0
#include "lists.hpp"

#include "weft/io/foreign_formats.hpp"
#include "weft/io/files.hpp"
#include "weft/io/hwloc_xml.hpp"
#include "weft/io/lscpu.hpp"
#include "weft/io/nvidia_smi.hpp"
#include "weft/io/slurm.hpp"
#include "weft/platform/gpu_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace machine_program {
namespace {

using namespace weft;

constexpr std::string_view known_lists =
  "nvidia-smi --query-gpu=… --format=csv, nvidia-smi -L, nvidia-smi topo -m, lscpu -J, /proc/meminfo, lstopo --of xml, "
  "scontrol show node and sinfo -N";

/// Lists of other tools, known by words in them, and what to give instead.
struct other_list {
  std::string_view words;
  std::string_view what;
};
constexpr other_list other_lists[]{
  {"Link Type between two GPUs",
   "it is rocm-smi --showtopo, the links of GPUs under ROCm, for which there are no data sheets here"},
  {"Weight between two GPUs",
   "it is rocm-smi --showtopo, the links of GPUs under ROCm, for which there are no data sheets here"},
  {"Hops between two GPUs",
   "it is rocm-smi --showtopo, the links of GPUs under ROCm, for which there are no data sheets here"},
  {"LINK TYPE TABLE",
   "it is amd-smi topology, the links of GPUs under ROCm, for which there are no data sheets here"},
  {"ROCm System Management Interface",
   "it is of rocm-smi, which lists GPUs under ROCm, for which there are no data sheets here"},
  {"ROCm SMI",
   "it is of rocm-smi, which lists GPUs under ROCm, for which there are no data sheets here"},
  {"XGMI",
   "it is a matrix of rocm-smi or amd-smi, the links of GPUs under ROCm, for which there are no data sheets here"},
  {"ROCk module",
   "it is rocminfo, which lists GPUs under ROCm, for which there are no data sheets here"},
  {"NVSMI LOG", "it is nvidia-smi -q; give nvidia-smi --query-gpu=name,memory.total --format=csv instead"},
  {"| NVIDIA-SMI", "it is the table of nvidia-smi; give nvidia-smi --query-gpu=name,memory.total --format=csv instead"},
  {"ONE-SIZE", "it is lscpu -C, the caches of a processor; give lscpu -J instead"},
  {"NODELIST", "it is a list of Slurm without the columns of nodes; give sinfo -N -o '%N %z %m %G' instead"},
  {"processor\t:", "it is /proc/cpuinfo; give lscpu -J instead"},
  {"available:", "it is numactl -H; give lscpu -J instead"},
  {"PU L#", "it is lstopo in words; give lstopo --of xml instead"},
  {"VGA compatible controller", "it is lspci; give nvidia-smi --query-gpu=name,memory.total --format=csv instead"},
};

std::string what_it_is(std::string_view bytes) {
  const auto begin = bytes.substr(0, 20'000);
  for (const auto& [words, what] : other_lists) {
    if (begin.find(words) != begin.npos) {
      return std::string{what};
    }
  }
  return io::what_it_looks_like(bytes);
}

/// Collects what files say; what two say is an error, except that lscpu knows more of processors than hwloc does.
class collector {
public:
  void add(const std::string& file) {
    const auto bytes = io::read_file(file);
    const auto as = [&](const auto& reader, const auto& keep) {
      return reader.recognises(bytes) && (keep(reader.read(bytes, file)), true);
    };
    const bool known =
      as(io::gpu_matrix_reader{}, [&](auto x) { set(all_.joined, std::move(x), file, "how GPUs are joined"); }) ||
      as(io::lscpu_reader{}, [&](auto x) { set(lscpu_, std::move(x), file, "the processors"); }) ||
      as(io::meminfo_reader{}, [&](auto x) { set(meminfo_, x, file, "the memory"); }) ||
      as(io::scontrol_reader{}, [&](auto x) { add_nodes(std::move(x), file); }) ||
      as(io::sinfo_reader{}, [&](auto x) { add_nodes(std::move(x), file); }) ||
      as(io::hwloc_xml_reader{}, [&](auto x) { set(hwloc_, std::move(x), file, "the topology"); }) ||
      as(io::gpu_list_reader{}, [&](auto x) { add_gpus(std::move(x), file); });
    if (!known) {
      throw error(fmt::format("{}: {}; machine reads {}", file, what_it_is(bytes), known_lists));
    }
  }

  inventory::listing take() && {
    const auto fill = [](auto& place, auto& other, bool lacks) {
      if (lacks) {
        place = std::move(other);
      }
    };
    all_.host = std::move(lscpu_);
    all_.memory = meminfo_;
    if (hwloc_) { // what the other tools say comes first
      fill(all_.gpus, hwloc_->gpus, all_.gpus.empty());
      fill(all_.joined, hwloc_->joined, !all_.joined);
      fill(all_.host, hwloc_->host, !all_.host);
      fill(all_.memory, hwloc_->memory, !all_.memory);
    }
    return std::move(all_);
  }

private:
  template <class T>
  static void set(std::optional<T>& place, T x, const std::string& file, const char* what) {
    if (place) {
      throw error(fmt::format("{}: another file lists {} already; give the lists of one node", file, what));
    }
    place = std::move(x);
  }
  void add_gpus(std::vector<inventory::gpu> gpus, const std::string& file) {
    if (!all_.gpus.empty()) {
      throw error(fmt::format("{}: another file lists GPUs already; give the lists of one node", file));
    }
    all_.gpus = std::move(gpus);
  }
  void add_nodes(std::vector<inventory::node> nodes, const std::string& file) {
    if (!all_.nodes.empty()) {
      throw error(fmt::format("{}: another file lists nodes already; give one of them", file));
    }
    all_.nodes = std::move(nodes);
  }

  inventory::listing all_;
  std::optional<inventory::listing> hwloc_;
  std::optional<inventory::processors> lscpu_;
  std::optional<byte_count> meminfo_;
};

/// The figures in `fp32:60,bandwidth:900`, each of which must be one of `keys`.
template <class Set>
void read_figures(std::string_view text, const char* option, std::initializer_list<std::string_view> keys,
                  const Set& set) {
  for (const auto part : io::split(text, ',')) {
    const auto pair = io::split(part, ':', 2);
    if (pair.size() != 2 || std::find(keys.begin(), keys.end(), pair[0]) == keys.end()) {
      throw error(fmt::format("{}: '{}' is not a figure; write KEY:NUMBER with one of {}", option, part,
                              fmt::join(keys, ", ")));
    }
    const auto x = io::parse_number<double>(pair[1], option, [](const std::string& problem) { throw error(problem); });
    if (!(x > 0 && x < 1e9)) {
      throw error(fmt::format("{}: {} must be positive and below 1e9", option, pair[0]));
    }
    set(pair[0], x);
  }
}

} // namespace

inventory::listing read_lists(const std::vector<std::string>& files) {
  collector all;
  for (const auto& file : files) {
    all.add(file);
  }
  return std::move(all).take();
}

void choose_nodes(inventory::listing& all, const std::string& expression) {
  std::unordered_map<std::string, std::size_t> listed;
  for (std::size_t i = 0; i < all.nodes.size(); ++i) {
    listed.emplace(all.nodes[i].name, i);
  }
  std::vector<inventory::node> chosen;
  for (auto& name : io::node_names(expression)) {
    if (listed.empty()) {
      chosen.push_back({.name = std::move(name)});
    } else if (const auto found = listed.find(name); found != listed.end()) {
      chosen.push_back(all.nodes[found->second]);
    } else {
      throw error(fmt::format("--nodes: no node is called '{}'; the list begins with '{}'", name, all.nodes[0].name));
    }
  }
  all.nodes_are_alike = listed.empty();
  all.nodes = std::move(chosen);
}

void add_gpu(machine_assumptions& assumed, const std::string& text) {
  const auto at = text.find('=');
  if (at == text.npos || at == 0 || at + 1 == text.size()) {
    throw error(fmt::format("--gpu: '{}' must be NAME=fp32:60,bandwidth:900,… or TYPE=NAME", text));
  }
  const auto name = text.substr(0, at);
  const auto value = text.substr(at + 1);
  if (value.find(':') == value.npos) {
    if (!data_sheets::figures_of(value)) {
      const auto may_be = data_sheets::sheets_like(value);
      throw error(fmt::format("--gpu: no data sheet is known for '{}'{}; {}give its figures, as in {}", value,
                              data_sheets::which_may_be(may_be),
                              may_be.empty()
                                ? ""
                                : fmt::format("say so, as in {}, or ", data_sheets::name_option(name, may_be)),
                              data_sheets::figures_option(name, {}, true, false)));
    }
    assumed.types[name] = value;
    return;
  }
  const auto same = std::find_if(assumed.gpus.begin(), assumed.gpus.end(),
                                 [&](const auto& other) { return data_sheets::is_same_gpu(other.first, name); });
  auto& g = same != assumed.gpus.end() ? same->second : assumed.gpus[name]; // options of one GPU add up
  using figures = data_sheets::gpu;
  constexpr std::pair<std::string_view, double figures::*> rates[]{
    {"fp32", &figures::tflops},      {"half", &figures::half},           {"fp8", &figures::fp8},
    {"int8", &figures::int8},        {"memory", &figures::gibibytes},    {"bandwidth", &figures::gigabytes_per_second},
    {"watts", &figures::watts},      {"nvlink", &figures::nvlink}};
  constexpr std::tuple<std::string_view, std::uint32_t, std::uint32_t figures::*> counts[]{
    {"nvlinks", 100, &figures::nvlinks}, {"pcie", 6, &figures::pcie}};
  read_figures(value, "--gpu",
               {"fp32", "half", "fp8", "int8", "memory", "bandwidth", "watts", "nvlink", "nvlinks", "pcie"},
               [&](std::string_view given, double x) {
                 for (const auto& [key, member] : rates) {
                   g.*member = key == given ? x : g.*member;
                 }
                 for (const auto& [key, most, member] : counts) {
                   if (key != given) {
                     continue;
                   }
                   if (x > most || x != std::floor(x)) {
                     throw error(fmt::format("--gpu: {} must be a whole number from 1 to {}", key, most));
                   }
                   g.*member = static_cast<std::uint32_t>(x);
                 }
               });
}

void set_cpu(machine_assumptions& assumed, const std::string& text) {
  read_figures(text, "--cpu", {"fp32", "bandwidth", "memory", "watts"}, [&](std::string_view key, double x) {
    if (key == "fp32") {
      assumed.host_speed = x * 1e12;
    } else if (key == "bandwidth") {
      assumed.host_bandwidth = x * 1e9;
    } else if (key == "watts") {
      assumed.host_watts = x;
    } else {
      assumed.host_memory = static_cast<byte_count>(x * (byte_count{1} << 30));
    }
  });
}

double bandwidth(const std::string& text, const char* option) {
  constexpr std::pair<std::string_view, double> units[]{
    {"Gbit/s", 1e9 / 8}, {"Gb/s", 1e9 / 8}, {"Tbit/s", 1e12 / 8}, {"GB/s", 1e9}, {"MB/s", 1e6}};
  for (const auto& [unit, bytes] : units) {
    if (text.ends_with(unit)) {
      const auto number = io::trim(std::string_view{text}.substr(0, text.size() - unit.size()));
      const auto x = io::parse_number<double>(number, option, [](const std::string& problem) { throw error(problem); });
      if (x > 0 && x < 1e6) {
        return x * bytes;
      }
    }
  }
  throw error(fmt::format("{}: '{}' is not a bandwidth; write, for example, 200Gbit/s or 25GB/s", option, text));
}

} // namespace machine_program
