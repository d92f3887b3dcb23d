// SPDX-License-Identifier: BSL-1.0
/// Reads the output of nvidia-smi: the table of --query-gpu, the list of -L and the matrix of topo -m.
#pragma once

#include "weft/io/text.hpp"
#include "weft/platform/inventory.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

/// Reads `nvidia-smi --query-gpu=… --format=csv`, with any fields of which one is `name`, with the line of headers,
/// with or without units. Used are name, memory.total, power.limit (or power.default_limit, power.max_limit),
/// pcie.link.gen.max and pcie.link.width.max. Fields in brackets such as [N/A] are missing; a GPU whose memory.total is
/// not available or not supported has none of its own and shares that of the processors (Grace Blackwell desktops,
/// Jetson). Reads `nvidia-smi -L` as
/// well, which has names only; a GPU with slices (MIG) in it is those, called as the driver calls them, such as `NVIDIA
/// A100-SXM4-40GB MIG 3g.20gb`. Throws `parse_error`.
struct gpu_list_reader {
  static constexpr std::string_view format() { return "nvidia-smi --query-gpu"; }

  static bool recognises(std::string_view bytes) {
    const auto line = line_reader{bytes, ""}.next();
    if (!line) {
      return false;
    }
    if (is_listed(*line)) {
      return true;
    }
    for (const auto field : split(*line, ',')) {
      if (is_name(field) || field == "memory.total [MiB]" || field == "pci.bus_id" || is_gpu(field)) {
        return true;
      }
    }
    return false;
  }

  static std::vector<inventory::gpu> read(std::string_view bytes, const std::string& file) {
    line_reader lines{bytes, file};
    const auto header = lines.next();
    if (header && is_listed(*header)) {
      return listed_gpus(lines, *header);
    }
    const auto headers = split(header.value_or(""), ',');
    const auto column = [&](std::string_view name) -> std::optional<std::size_t> {
      for (std::size_t i = 0; i < headers.size(); ++i) {
        if (without_unit(headers[i]) == name) {
          return i;
        }
      }
      return std::nullopt;
    };
    if (headers.size() > max_columns) {
      lines.fail("more than " + std::to_string(max_columns) + " columns");
    }
    const auto name = column("name") ? column("name") : column("gpu_name");
    if (!name) {
      lines.fail(std::any_of(headers.begin(), headers.end(), is_gpu)
                   ? "the line of headers is missing; leave 'noheader' out of --format"
                   : "there is no column 'name'; ask for it, as in --query-gpu=name,memory.total");
    }
    std::vector<inventory::gpu> gpus;
    while (const auto line = lines.next()) {
      const auto fields = split(*line, ',');
      if (fields.size() != headers.size()) {
        lines.fail(std::to_string(fields.size()) + " fields for " + std::to_string(headers.size()) + " columns");
      }
      const auto value = [&](std::string_view what, const char* unit, double most) -> std::optional<double> {
        const auto at = column(what);
        auto field = at ? fields[*at] : std::string_view{};
        if (is_missing(field)) {
          return std::nullopt;
        }
        field = trim(field.substr(0, field.size() - (field.ends_with(unit) ? std::string_view{unit}.size() : 0)));
        const auto x =
          parse_number<double>(field, std::string{what}.c_str(), [&](const std::string& p) { lines.fail(p); });
        if (!(x >= 0 && x <= most)) {
          lines.fail(std::string{what} + " " + in_quotes(field) + " is out of range");
        }
        return x;
      };
      inventory::gpu g{.name = on_one_line(fields[*name])};
      if (g.name.empty() || g.name.front() == '[') {
        lines.fail("the GPU has no name");
      }
      if (const auto mebibytes = value("memory.total", "MiB", 1e9)) {
        g.memory = static_cast<byte_count>(*mebibytes * 1024) * 1024;
      }
      const auto memory = column("memory.total");
      g.shares_memory = memory && has_none(fields[*memory]);
      for (const char* limit : {"power.limit", "power.default_limit", "power.max_limit"}) {
        g.watts = g.watts ? g.watts : value(limit, "W", 1e6);
      }
      const auto small = [](std::optional<double> x) {
        return x && *x >= 1 ? std::optional{static_cast<std::uint32_t>(*x)} : std::nullopt;
      };
      g.pcie = small(value("pcie.link.gen.max", "", 100));
      g.pcie_lanes = small(value("pcie.link.width.max", "", 100));
      gpus.push_back(std::move(g));
    }
    if (gpus.empty()) {
      lines.fail("no GPU follows the line of headers");
    }
    return gpus;
  }

private:
  static constexpr std::size_t max_columns = 1000; // the driver knows about 200

  /// A line of -L: `GPU 0: NVIDIA L4 (UUID: GPU-…)`, or `MIG 3g.20gb Device 0: (UUID: MIG-…)` below it.
  static bool is_listed(std::string_view line) {
    const auto id = line.find(" (UUID: ");
    return line.starts_with("GPU ") && id != line.npos && line.find(": ") < id;
  }
  static std::vector<inventory::gpu> listed_gpus(line_reader& lines, std::string_view first) {
    std::vector<inventory::gpu> gpus;
    std::string whole;
    std::uint32_t number = 0;
    bool sliced = false;
    for (auto line = std::optional{first}; line; line = lines.next()) {
      if (is_listed(*line)) {
        const auto begin = line->find(": ") + 2;
        whole = on_one_line(trim(line->substr(begin, line->rfind("(UUID: ") - begin)));
        if (whole.empty()) {
          lines.fail("the GPU has no name");
        }
        gpus.push_back({.name = whole});
        sliced = false;
        ++number;
        continue;
      }
      auto rest = *line;
      if (next_word(rest) != "MIG") {
        lines.fail(in_quotes(*line) +
                   " is neither a GPU nor a slice of one, such as 'MIG 3g.20gb Device 0: (UUID: ...)'");
      }
      if (!sliced) { // they take the place of their GPU
        gpus.pop_back();
        sliced = true;
      }
      gpus.push_back({.name = whole + " MIG " + on_one_line(next_word(rest)), .slice_of = number - 1});
    }
    return gpus;
  }

  /// The words of drivers for a property that a GPU does not have, also with brackets around it.
  static bool has_none(std::string_view field) {
    if (field.starts_with('[') && field.ends_with(']')) {
      field = field.substr(1, field.size() - 2);
    }
    return field == "N/A" || field == "Not Supported";
  }
  static bool is_missing(std::string_view field) {
    return field.empty() || field.front() == '[' || has_none(field);
  }

  static bool is_name(std::string_view field) { return field == "name" || field == "gpu_name"; }
  static bool is_gpu(std::string_view field) {
    return field.starts_with("NVIDIA ") || field.starts_with("Tesla ") || field.starts_with("GeForce ");
  }
  static std::string_view without_unit(std::string_view header) { return trim(header.substr(0, header.find('['))); }
};

/// Reads `nvidia-smi topo -m`: GPUs, network cards and the way between each two. The matrix may stand among other
/// lines; colours are skipped. Rows of network cards may be missing, since those of the GPUs say the same; then cards
/// count as far from each other. Matrices of other tools (`rocm-smi --showtopo`) are not taken for it. Throws
/// `parse_error`.
struct gpu_matrix_reader {
  static constexpr std::string_view format() { return "nvidia-smi topo -m"; }

  static bool recognises(std::string_view bytes) {
    const std::string text = plain(bytes.substr(0, 20'000));
    for (const char* other : {"ROCm", "XGMI", "between two GPUs"}) {
      if (text.find(other) != text.npos) {
        return false;
      }
    }
    line_reader lines{text, ""};
    while (const auto line = lines.next()) {
      if (is_header(*line)) {
        return true;
      }
    }
    return false;
  }

  static inventory::matrix read(std::string_view bytes, const std::string& file) {
    const std::string text = plain(bytes);
    line_reader lines{text, file};
    inventory::matrix m;
    auto line = lines.next();
    while (line && !is_header(*line)) {
      line = lines.next();
    }
    if (!line) {
      lines.fail("there is no line of headers, such as 'GPU0 GPU1 CPU Affinity'");
    }
    read_header(*line, m, lines);
    const std::size_t n = m.parts.size();
    m.ways.assign(n * n, {inventory::distance::machine});
    std::vector<bool> seen(n, false);
    while ((line = lines.next())) {
      auto rest = *line;
      const auto name = next_word(rest);
      const auto part = std::find_if(m.parts.begin(), m.parts.end(), [&](const auto& p) { return p.name == name; });
      if (name == "Legend:" || name == "NIC" || part == m.parts.end()) {
        read_name(*line, m);
        continue;
      }
      const auto row = static_cast<std::size_t>(part - m.parts.begin());
      if (seen[row]) {
        lines.fail("the row " + std::string{name} + " appears twice; give the topology of one node");
      }
      read_row(rest, row, m, seen, lines);
      seen[row] = true;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!seen[i] && m.parts[i].is_gpu) {
        lines.fail("the row " + m.parts[i].name + " is missing");
      }
      m.ways[i * n + i] = {};
    }
    return m;
  }

private:
  static constexpr std::size_t max_parts = 1000;

  /// Without what switches colours and underlines on and off, also where its escape characters got lost, as they do in
  /// what is pasted into a page.
  static std::string plain(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool escaped = bytes[i] == '\x1b';
      const auto rest = bytes.substr(i + (escaped ? 1 : 0));
      const auto end = rest.starts_with('[') ? rest.find_first_not_of("0123456789;", 1) : rest.npos;
      if (end != rest.npos && (escaped || rest[end] == 'm')) {
        i += end + (escaped ? 1 : 0);
      } else {
        text += bytes[i];
      }
    }
    return text;
  }

  static bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  }
  static bool is_gpu(std::string_view name) { return name.starts_with("GPU") && is_number(name.substr(3)); }

  /// Names of GPUs and nothing else than parts and the titles of the last columns, of which there is at least one.
  static bool is_header(std::string_view line) {
    const auto first = next_word(line);
    if (!is_gpu(first)) {
      return false;
    }
    const auto second = next_word(line);
    return is_gpu(second) || second == "CPU" || (!second.empty() && line.find("CPU Affinity") != line.npos);
  }

  static void read_header(std::string_view line, inventory::matrix& m, const line_reader& lines) {
    for (auto word = next_word(line); !word.empty() && word != "CPU" && word != "NUMA"; word = next_word(line)) {
      const auto same = [&](const auto& p) { return p.name == word; };
      if (std::any_of(m.parts.begin(), m.parts.end(), same)) {
        lines.fail("two columns are called " + in_quotes(word));
      }
      m.parts.push_back({.name = std::string{word}, .is_gpu = is_gpu(word)});
      if (m.parts.size() > max_parts) {
        lines.fail("more than " + std::to_string(max_parts) + " columns");
      }
    }
  }

  static void read_row(std::string_view rest, std::size_t row, inventory::matrix& m, const std::vector<bool>& seen,
                       const line_reader& lines) {
    const std::size_t n = m.parts.size();
    for (std::size_t i = 0; i < n; ++i) {
      const auto word = next_word(rest);
      const auto at = [&] { return m.parts[row].name + " to " + m.parts[i].name; };
      if (word.empty()) {
        lines.fail("the row " + m.parts[row].name + " has " + std::to_string(i) + " entries for " + std::to_string(n) +
                   " columns");
      }
      if ((word == "X") != (i == row)) {
        lines.fail(at() + " is " + in_quotes(word) + "; X stands for a part and itself");
      }
      const auto way = way_of(word);
      if (!way) {
        lines.fail(at() + ": " + in_quotes(word) +
                   " is not understood; use X, NV1 to NV255, PIX, PXB, PHB, NODE or SYS");
      }
      if (way->nvlinks > 0 && !(m.parts[row].is_gpu && m.parts[i].is_gpu)) {
        lines.fail(at() + " is " + in_quotes(word) + ", but only GPUs have NVLinks");
      }
      if (seen[i] && m.at(i, row) != *way) {
        lines.fail(at() + " is " + in_quotes(word) + ", which the row " + m.parts[i].name + " says differently");
      }
      m.ways[row * n + i] = *way;
      m.ways[i * n + row] = *way;
    }
    if (m.parts[row].is_gpu) {
      const auto known = [](std::string_view word) { return std::string{word == "N/A" ? "" : word}; };
      m.parts[row].cpus = known(next_word(rest));
      m.parts[row].numa = known(next_word(rest));
      m.parts[row].memory_node = known(next_word(rest));
    }
  }

  static std::optional<inventory::way> way_of(std::string_view word) {
    using inventory::distance;
    constexpr std::pair<std::string_view, distance> names[]{
      {"X", distance::same},         {"PIX", distance::bridge},     {"PSB", distance::bridge},
      {"PXB", distance::bridges},    {"PHB", distance::host_bridge}, {"NODE", distance::numa_node},
      {"SYS", distance::machine},    {"SOC", distance::machine}};
    for (const auto& [name, over] : names) {
      if (name == word) {
        return inventory::way{over};
      }
    }
    std::uint8_t links = 0;
    if (word.starts_with("NV") && is_number(word.substr(2)) &&
        std::from_chars(word.data() + 2, word.data() + word.size(), links).ec == std::errc{} && links > 0) {
      return inventory::way{distance::machine, links};
    }
    return std::nullopt;
  }

  /// A line of the legend of network cards: `NIC0: mlx5_0`.
  static void read_name(std::string_view line, inventory::matrix& m) {
    const auto pair = split(line, ':', 2);
    for (auto& p : m.parts) {
      if (pair.size() == 2 && p.name == pair[0]) {
        p.device = std::string{pair[1]};
      }
    }
  }
};

} // namespace weft::io
