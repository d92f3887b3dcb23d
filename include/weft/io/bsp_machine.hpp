// SPDX-License-Identifier: BSL-1.0
/// Reads the machine files that go with HyperDAG files: processors of the bulk-synchronous model.
#pragma once

#include "weft/io/hyperdag.hpp"
#include "weft/io/json_platform.hpp"
#include "weft/platform/platform.hpp"

#include <algorithm>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

/// Reads a machine: `P g L`, then for each pair of processors a line `i j cost`, in any order; comments begin with
/// `%`. Processors become CPUs of speed 1, so that times are in the file's unit of work. To move one byte (a unit of
/// communication weight) from i to j takes g · cost, with cost 1 if the file lists no pair; each transfer takes L
/// besides, which is what the model charges to synchronise before data can be used. After L there may be the kind of
/// memory limit and the limit: kinds 1 (per processor) and 3 (persistent and transient) become the capacity of each
/// device, kind 0 is none; kind 2, a limit on all processors together, is refused: devices do not share memory.
/// Throws `parse_error` with file and line. Complexity: O(P²).
/// Source: as for io/hyperdag.hpp.
struct bsp_machine_reader {
  static constexpr std::string_view format() { return "BSP machine"; }
  static bool recognises(std::string_view bytes) {
    if (const auto header = detail::read_numbered_header(bytes)) {
      return detail::is_bsp_machine(*header);
    }
    detail::number_lines lines{bytes, ""}; // costs need not be whole
    const auto first = lines.next();
    return first && lower(lines.first_comment()).starts_with("% bsp") && count_words(*first) >= 3;
  }
  static platform<> read(std::string_view bytes, const std::string& file) {
    detail::number_lines lines{bytes, file};
    const auto first = lines.next();
    if (!first) {
      lines.fail("expected 'P g L': the number of processors, the cost of communication, and the latency");
    }
    auto rest = *first;
    const auto p = lines.number<std::uint32_t>(rest, "number of processors");
    const auto g = lines.number<double>(rest, "communication cost");
    const auto latency = lines.number<double>(rest, "latency");
    device processor{.kind = device_kind::cpu, .reached_rates = true};
    if (!trim(rest).empty()) {
      const auto kind = lines.number<std::uint32_t>(rest, "kind of memory limit");
      const auto limit = lines.number<byte_count>(rest, "memory limit");
      if (kind > 3 || kind == 2) {
        lines.fail("memory limits of kind " + std::to_string(kind) +
                   " are not understood: use 0 (none), 1 (per processor) or 3 (persistent and transient)");
      }
      processor.memory_capacity = kind == 0 ? processor.memory_capacity : limit;
    }
    std::uint64_t pairs = 0;
    for (auto rows = lines; rows.next();) {
      ++pairs;
    }
    if (p == 0 || (pairs == 0 && p > max_platform_devices) || p > max_listed_devices) {
      lines.fail("expected 1 to " + std::to_string(pairs == 0 ? max_platform_devices : max_listed_devices) +
                 " processors, got " + std::to_string(p));
    }
    if (pairs != 0 && pairs != std::uint64_t{p} * p) {
      lines.fail(std::to_string(p) + " processors need " + std::to_string(std::uint64_t{p} * p) +
                 " lines 'i j cost', or none at all, but " + std::to_string(pairs) + " follow");
    }
    const auto link_of = [&](double cost) {
      link l{.latency = latency};
      if (g * cost > 0) {
        l.bandwidth = 1 / (g * cost);
      }
      if (!(l.bandwidth > 0)) {
        lines.fail("communication would take forever: the cost " + number_text(cost) + " is too large");
      }
      return l;
    };
    link_matrix links{p, link_of(1)};
    std::vector<bool> seen(pairs, false);
    for (std::uint64_t i = 0; i < pairs; ++i) {
      auto row = *lines.next();
      const auto from = lines.number<std::uint32_t>(row, "processor");
      const auto to = lines.number<std::uint32_t>(row, "processor");
      const auto cost = lines.number<double>(row, "cost");
      if (from >= p || to >= p) {
        lines.fail("processor " + std::to_string(std::max(from, to)) + " does not exist; there are " +
                   std::to_string(p) + ", numbered from 0");
      }
      if (seen[from * std::size_t{p} + to]) {
        lines.fail("the cost from " + std::to_string(from) + " to " + std::to_string(to) + " is listed twice");
      }
      seen[from * std::size_t{p} + to] = true;
      if (from != to) {
        links.set(from, to, link_of(cost));
      }
    }
    return {std::vector<device>(p, processor), std::move(links)};
  }
};

/// The same from a stream. `file` is what errors call the input.
inline platform<> read_bsp_machine(std::istream& in, const std::string& file = "<stream>") {
  return bsp_machine_reader::read(read_all(in, file), file);
}
/// The same from a file. Throws `error` if it cannot be opened.
inline platform<> read_bsp_machine(const std::filesystem::path& path) {
  return bsp_machine_reader::read(read_file(path), path.string());
}

} // namespace weft::io
