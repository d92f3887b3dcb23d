// SPDX-License-Identifier: BSL-1.0
/// Data sheets of GPUs, by the names that nvidia-smi prints; for processors, see processor_sheets.hpp.
///
/// Rates are peak rates without sparsity. `tflops` is for single precision: TF32 matrix units where a GPU has them,
/// else FP32. Where GeForce cards are faster when they add up in half precision, what they reach when they add up in
/// single precision is meant. NVLink bandwidths are those of one link in one direction. Sources are NVIDIA's data
/// sheets of that name, if nothing else is said; those of GeForce and TITAN cards are the white papers on their
/// architectures (*Turing*, 2018, reference boards; *Ampere GA102*, 2020; *Ada*, 2022; *RTX Blackwell*, 2025) and, for
/// those that came later, NVIDIA's pages on them, with the FLOP per clock that the papers say. Of A10G, H20 and L20
/// there is no sheet in public: those figures are what clouds and makers of servers state, less sure than the others.
#pragma once

#include "weft/platform/number_format.hpp"
#include "weft/platform/platform.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::data_sheets {

/// PCI Express Base Specification: a lane at 2.5, 5 GT/s with 8b/10b coding, at 8, 16, 32 GT/s with 128b/130b coding
/// and at 64 GT/s in flits, rounded as bytes per second of 16 lanes in one direction; 0 for a generation that is not
/// known.
constexpr double pcie_x16(std::uint32_t generation) {
  constexpr std::array<double, 7> gigabytes{0, 4, 8, 15.75, 31.5, 63, 121};
  return generation < gigabytes.size() ? gigabytes[generation] * 1e9 : 0;
}

/// Seconds that it takes to start a transfer: to launch a copy to or from a GPU and record its event, as long as a
/// kernel; to post a message to a network card or another socket. docs/costs.md has the sources.
inline constexpr double copy_launch = 5e-6;
inline constexpr double message_post = 1e-6;

/// Assumed power of idle devices, as shares of their thermal design power: it is not on data sheets.
inline constexpr double idle_share_of_accelerators = 0.15;
inline constexpr double idle_share_of_processors = 0.3;

/// The figures of a GPU; 0 for what it does not have or nobody says.
struct gpu {
  double tflops = 0;    ///< 10^12 FLOP/s in single precision
  double half = 0;      ///< the same in fp16 and bf16
  double fp8 = 0;
  double int8 = 0;      ///< 10^12 operations per second
  double gibibytes = 0; ///< memory
  double gigabytes_per_second = 0;
  double watts = 0;     ///< thermal design power or board power
  std::uint32_t nvlinks = 0;
  double nvlink = 0;    ///< GB/s of one link in one direction
  std::uint32_t pcie = 0;        ///< generation
  std::uint32_t pcie_lanes = 0;
  bool board = false;   ///< comes on a board that joins several by NVLink (SXM), not as a card

  /// The device that data sheets make of it, in FLOP/s and bytes.
  constexpr device as_device() const {
    constexpr double tera = 1e12;
    return {.kind = device_kind::gpu,
            .speed = tflops * tera,
            .memory_capacity = static_cast<byte_count>(gibibytes * (byte_count{1} << 30)),
            .memory_bandwidth = gigabytes_per_second * 1e9,
            .idle_watts = idle_share_of_accelerators * watts,
            .active_watts = watts,
            .narrow = {half * tera, fp8 * tera, int8 * tera}};
  }
};

struct named_gpu {
  std::string_view name; ///< as nvidia-smi prints it, without "NVIDIA " before it
  gpu figures;
};

// Columns: TFLOP/s single, half, fp8, int8; GiB; GB/s; W; NVLinks and GB/s of each; PCIe generation and lanes; on a
// board. H100, H200, B200 and GB200, L4, L40 and L40S: half of what the data sheets say with sparsity. B200 is an
// eighth of an *DGX B200*, B300 of a *DGX B300*, GB200 a 72nd of a *GB200 NVL72*. A800 and H800 are an A100 and an H100
// with fewer NVLinks. P100 and V100 compute in FP32, Turing cards have no TF32;
// a GB10 has an eighth of the rate in fp4 with sparsity in fp16, and no memory of its own: it works in the processors';
// older GPUs are no faster in half precision. A driver gives cards of 8 and of 16 GB one name, which stands for that of
// 8 GB where nobody lists the memory.
inline constexpr std::array<named_gpu, 72> gpus{{
  {"Tesla K40m", {4.29, 0, 0, 0, 12, 288, 235, 0, 0, 3, 16, false}},
  {"Tesla K80", {4.37, 0, 0, 0, 12, 240, 150, 0, 0, 3, 16, false}},
  {"Tesla P40", {11.8, 0, 0, 47, 24, 346, 250, 0, 0, 3, 16, false}},
  {"Tesla P100-PCIE-16GB", {9.3, 18.7, 0, 0, 16, 732, 250, 0, 0, 3, 16, false}},
  {"Tesla P100-SXM2-16GB", {10.6, 21.2, 0, 0, 16, 732, 300, 4, 20, 3, 16, true}},
  {"Tesla V100-PCIE-16GB", {14, 112, 0, 0, 16, 900, 250, 0, 0, 3, 16, false}},
  {"Tesla V100-PCIE-32GB", {14, 112, 0, 0, 32, 900, 250, 0, 0, 3, 16, false}},
  {"Tesla V100-SXM2-16GB", {15.7, 125, 0, 0, 16, 900, 300, 6, 25, 3, 16, true}},
  {"Tesla V100-SXM2-32GB", {15.7, 125, 0, 0, 32, 900, 300, 6, 25, 3, 16, true}},
  {"Tesla V100-SXM3-32GB", {16.4, 131, 0, 0, 32, 981, 350, 6, 25, 3, 16, true}},
  {"Tesla T4", {8.1, 65, 0, 130, 16, 300, 70, 0, 0, 3, 16, false}},
  {"A2", {9, 18, 0, 36, 16, 200, 60, 0, 0, 4, 8, false}},
  {"A10", {62.5, 125, 0, 250, 24, 600, 150, 0, 0, 4, 16, false}},
  {"A10G", {35, 70, 0, 140, 24, 600, 300, 0, 0, 4, 16, false}},
  {"A30", {82, 165, 0, 330, 24, 933, 165, 4, 25, 4, 16, false}},
  {"A40", {74.8, 149.7, 0, 299.3, 48, 696, 300, 4, 14.0625, 4, 16, false}},
  {"A100-PCIE-40GB", {156, 312, 0, 624, 40, 1555, 250, 12, 25, 4, 16, false}},
  {"A100 80GB PCIe", {156, 312, 0, 624, 80, 1935, 300, 12, 25, 4, 16, false}},
  {"A100-SXM4-40GB", {156, 312, 0, 624, 40, 1555, 400, 12, 25, 4, 16, true}},
  {"A100-SXM4-80GB", {156, 312, 0, 624, 80, 2039, 400, 12, 25, 4, 16, true}},
  {"A800-SXM4-80GB", {156, 312, 0, 624, 80, 2039, 400, 8, 25, 4, 16, true}},
  {"H100 PCIe", {378, 756.5, 1513, 1513, 80, 2000, 350, 12, 25, 5, 16, false}},
  {"H100 NVL", {417.5, 835.5, 1670.5, 1670.5, 94, 3900, 400, 12, 25, 5, 16, false}},
  {"H100 80GB HBM3", {494.5, 989.5, 1979, 1979, 80, 3350, 700, 18, 25, 5, 16, true}},
  {"H800", {494.5, 989.5, 1979, 1979, 80, 3350, 700, 8, 25, 5, 16, true}},
  {"H20", {74, 148, 296, 296, 96, 4000, 400, 18, 25, 5, 16, true}},
  {"GH200 480GB", {494.5, 989.5, 1979, 1979, 96, 4000, 900, 0, 0, 5, 16, false}},
  {"H200", {494.5, 989.5, 1979, 1979, 141, 4800, 700, 18, 25, 5, 16, true}},
  {"H200 NVL", {417.5, 835.5, 1670.5, 1670.5, 141, 4800, 600, 18, 25, 5, 16, false}},
  {"B200", {1125, 2250, 4500, 4500, 180, 8000, 1000, 18, 50, 5, 16, true}},
  {"B300 SXM6 AC", {1125, 2250, 4500, 0, 270, 8000, 1400, 18, 50, 5, 16, true}},
  {"GB200", {1250, 2500, 5000, 5000, 186, 8000, 1200, 18, 50, 5, 16, true}},
  {"GB10", {62.5, 125, 250, 250, 0, 273, 140, 0, 0, 5, 16, false}},
  {"L4", {60, 121, 242.5, 242.5, 24, 300, 72, 0, 0, 4, 16, false}},
  {"L20", {59.8, 119.5, 239, 239, 48, 864, 275, 0, 0, 4, 16, false}},
  {"L40", {90.5, 181, 362, 362, 48, 864, 300, 0, 0, 4, 16, false}},
  {"L40S", {183, 366, 733, 733, 48, 864, 350, 0, 0, 4, 16, false}},
  {"Quadro RTX 6000", {16.3, 130.5, 0, 261, 24, 672, 260, 2, 25, 3, 16, false}},
  {"Quadro RTX 8000", {16.3, 130.5, 0, 261, 48, 672, 260, 2, 25, 3, 16, false}},
  {"RTX A4000", {38.3, 76.7, 0, 153.4, 16, 448, 140, 0, 0, 4, 16, false}},
  {"RTX A5000", {55.6, 111.1, 0, 222.2, 24, 768, 230, 4, 14.0625, 4, 16, false}},
  {"RTX A6000", {77.4, 154.8, 0, 309.7, 48, 768, 300, 4, 14.0625, 4, 16, false}},
  {"RTX 6000 Ada Generation", {182.1, 364.2, 728.5, 728.5, 48, 960, 300, 0, 0, 4, 16, false}},
  {"RTX PRO 6000 Blackwell Workstation Edition", {251.9, 503.8, 1007.6, 1007.6, 96, 1792, 600, 0, 0, 5, 16, false}},
  {"RTX PRO 6000 Blackwell Max-Q Workstation Edition", {219.5, 438.9, 877.9, 877.9, 96, 1792, 300, 0, 0, 5, 16, false}},
  {"RTX PRO 6000 Blackwell Server Edition", {240, 480, 960, 960, 96, 1597, 600, 0, 0, 5, 16, false}},
  {"TITAN RTX", {16.3, 130.5, 0, 261, 24, 672, 280, 2, 25, 3, 16, false}},
  {"GeForce GTX 1080 Ti", {11.3, 0, 0, 45.4, 11, 484, 250, 0, 0, 3, 16, false}},
  {"GeForce RTX 2080 Ti", {13.4, 53.8, 0, 215.2, 11, 616, 250, 2, 25, 3, 16, false}},
  {"GeForce RTX 3060", {12.7, 25.4, 0, 101.6, 12, 360, 170, 0, 0, 4, 16, false}},
  {"GeForce RTX 3060 Ti", {16.2, 32.4, 0, 129.6, 8, 448, 200, 0, 0, 4, 16, false}},
  {"GeForce RTX 3070", {20.3, 40.6, 0, 162.4, 8, 448, 220, 0, 0, 4, 16, false}},
  {"GeForce RTX 3080", {29.8, 59.5, 0, 238, 10, 760, 320, 0, 0, 4, 16, false}},
  {"GeForce RTX 3080 Ti", {34.1, 68.2, 0, 272.8, 12, 912, 350, 0, 0, 4, 16, false}},
  {"GeForce RTX 3090", {35.6, 71, 0, 284, 24, 936, 350, 4, 14.0625, 4, 16, false}},
  {"GeForce RTX 3090 Ti", {40, 80, 0, 320, 24, 1008, 450, 4, 14.0625, 4, 16, false}},
  {"GeForce RTX 4060", {15.1, 30.2, 60.4, 120.8, 8, 272, 115, 0, 0, 4, 8, false}},
  {"GeForce RTX 4060 Ti", {22.1, 44.2, 88.4, 176.8, 8, 288, 160, 0, 0, 4, 8, false}},
  {"GeForce RTX 4060 Ti 16GB", {22.1, 44.2, 88.4, 176.8, 16, 288, 165, 0, 0, 4, 8, false}},
  {"GeForce RTX 4070", {29.1, 58.2, 116.4, 232.8, 12, 504.2, 200, 0, 0, 4, 16, false}},
  {"GeForce RTX 4070 SUPER", {35.5, 71, 142, 284, 12, 504.2, 220, 0, 0, 4, 16, false}},
  {"GeForce RTX 4070 Ti", {40.1, 80.2, 160.4, 320.8, 12, 504.2, 285, 0, 0, 4, 16, false}},
  {"GeForce RTX 4070 Ti SUPER", {44.1, 88.2, 176.4, 352.8, 16, 672.3, 285, 0, 0, 4, 16, false}},
  {"GeForce RTX 4080", {48.7, 97.5, 194.9, 389.9, 16, 716.8, 320, 0, 0, 4, 16, false}},
  {"GeForce RTX 4080 SUPER", {52.2, 104.4, 208.8, 417.6, 16, 736.3, 320, 0, 0, 4, 16, false}},
  {"GeForce RTX 4090", {82.6, 165.2, 330.3, 660.6, 24, 1008, 450, 0, 0, 4, 16, false}},
  {"GeForce RTX 5060 Ti", {23.7, 47.4, 94.8, 189.6, 8, 448, 180, 0, 0, 5, 8, false}},
  {"GeForce RTX 5060 Ti 16GB", {23.7, 47.4, 94.8, 189.6, 16, 448, 180, 0, 0, 5, 8, false}},
  {"GeForce RTX 5070", {30.9, 61.8, 123.6, 247.2, 12, 672, 250, 0, 0, 5, 16, false}},
  {"GeForce RTX 5070 Ti", {43.9, 87.8, 175.6, 351.2, 16, 896, 300, 0, 0, 5, 16, false}},
  {"GeForce RTX 5080", {56.3, 112.6, 225.1, 450.2, 16, 960, 360, 0, 0, 5, 16, false}},
  {"GeForce RTX 5090", {104.8, 209.5, 419, 838, 32, 1792, 575, 0, 0, 5, 16, false}},
}};

namespace detail {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The text from a position on, if it begins with the pattern, in which `#` is a digit; upper or lower case.
constexpr bool begins_with(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) {
    return false;
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == '#' ? !digit : lower(text[i]) != lower(pattern[i])) {
      return false;
    }
  }
  return true;
}
constexpr bool is_same(std::string_view a, std::string_view b) { return a.size() == b.size() && begins_with(a, b); }

/// Drivers before 2021 wrote names without the maker, and some drivers write "Tesla" before, or leave it out.
constexpr std::string_view without_maker(std::string_view name) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (begins_with(name, maker)) {
      name.remove_prefix(maker.size());
    }
  }
  return name;
}

} // namespace detail

/// Whether two names mean one GPU: with or without "NVIDIA " and "Tesla ", in upper or lower case.
constexpr bool is_same_gpu(std::string_view a, std::string_view b) {
  return detail::is_same(detail::without_maker(a), detail::without_maker(b));
}

/// The figures of a GPU by the name that nvidia-smi prints, with or without "NVIDIA " and "Tesla "; null if none are
/// known.
constexpr const named_gpu* find_gpu(std::string_view name) {
  for (const auto& g : gpus) {
    if (is_same_gpu(name, g.name)) {
      return &g;
    }
  }
  return nullptr;
}

/// The same as a device of a preset. Precondition: it is known.
constexpr device gpu_device(std::string_view name) { return find_gpu(name)->figures.as_device(); }

/// The slice of a GPU (MIG) that a name stands for, such as `A100-SXM4-40GB MIG 3g.20gb`, `a100_3g.20gb` or
/// `1c.3g.20gb`; `slices` is 0 if it stands for none.
struct mig_slice {
  std::string_view whole = {};  ///< what stands before it
  std::string_view profile = {}; ///< 3g.20gb
  std::uint32_t slices = 0;     ///< of computing: 3
  std::uint32_t computing = 0; ///< … those that this part of the slice has; the rest is another's, and so is its memory
  double gigabytes = 0;
};
constexpr mig_slice slice_in(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = 0; at + 4 < name.size(); ++at) {
    if (!detail::begins_with(name.substr(at), "#g.#") || (at > 0 && is_digit(name[at - 1]))) {
      continue;
    }
    mig_slice s{.slices = static_cast<std::uint32_t>(name[at] - '0')};
    s.computing = s.slices;
    auto rest = name.substr(at + 3);
    while (!rest.empty() && is_digit(rest.front()) && s.gigabytes < 1e4) {
      s.gigabytes = 10 * s.gigabytes + (rest.front() - '0');
      rest.remove_prefix(1);
    }
    auto begin = at;
    if (at >= 3 && detail::begins_with(name.substr(at - 3), "#c.")) {
      s.computing = static_cast<std::uint32_t>(name[at - 3] - '0');
      begin = at - 3;
    }
    s.whole = name.substr(0, begin);
    s.profile = name.substr(begin);
    const auto trimmed = [](std::string_view text) { return text.substr(0, text.find_last_not_of(" _-.") + 1); };
    s.whole = trimmed(s.whole);
    if (const auto size = s.whole.size(); size >= 3 && detail::is_same(s.whole.substr(size - 3), "MIG")) {
      s.whole = trimmed(s.whole.substr(0, size - 3));
    }
    const bool fits = detail::begins_with(rest, "gb") && s.slices > 0 && s.computing > 0 && s.computing <= s.slices;
    return fits ? s : mig_slice{};
  }
  return {};
}

/// The figures of a slice by NVIDIA's *Multi-Instance GPU User Guide*: so many of the seven slices of computing and
/// eighths of the memory that a GPU has (four and quarters of an A30 and an RTX PRO 6000), without NVLinks; of a part
/// of a slice its share of both. Nothing if the GPU has no such slice, or no memory of its own.
constexpr std::optional<gpu> slice_figures(const named_gpu& whole, const mig_slice& s) {
  const auto& all = whole.figures;
  if (all.gibibytes == 0) {
    return std::nullopt;
  }
  const std::uint32_t slices = whole.name == "A30" || whole.name.starts_with("RTX PRO 6000") ? 4 : 7;
  const std::uint32_t parts = slices == 4 ? 4 : 8;
  const auto memory = static_cast<std::uint32_t>(s.gigabytes / all.gibibytes * parts + 0.5); // names round
  const double listed = all.gibibytes * memory / parts;
  const bool is_memory = s.gigabytes > 0.9 * listed && s.gigabytes < 1.1 * listed;
  const auto usual = s.slices == 3 || s.slices == 7 ? s.slices + 1 : s.slices;
  if (s.slices > slices || !is_memory || (memory != usual && !(s.slices == 1 && memory == 2))) {
    return std::nullopt;
  }
  const double computing = static_cast<double>(s.computing) / slices;
  const double share = static_cast<double>(memory) / parts * s.computing / s.slices;
  return gpu{.tflops = all.tflops * computing,
             .half = all.half * computing,
             .fp8 = all.fp8 * computing,
             .int8 = all.int8 * computing,
             .gibibytes = all.gibibytes * share,
             .gigabytes_per_second = all.gigabytes_per_second * share,
             .watts = all.watts * computing,
             .pcie = all.pcie,
             .pcie_lanes = all.pcie_lanes};
}

/// The figures of a GPU, or of a slice of one, by its name; nothing if none are known.
constexpr std::optional<gpu> figures_of(std::string_view name) {
  if (const auto* whole = find_gpu(name)) {
    return whole->figures;
  }
  const auto slice = slice_in(name);
  const auto* whole = slice.slices > 0 ? find_gpu(slice.whole) : nullptr;
  return whole != nullptr ? slice_figures(*whole, slice) : std::nullopt;
}

} // namespace weft::data_sheets
