// SPDX-License-Identifier: BSL-1.0
/// Problems of Piper, a planner of pipeline stages, as JSON.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/io/detail/json_document.hpp"
#include "weft/io/files.hpp"
#include "weft/parallel/stages.hpp"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::io {

namespace detail {

/// The layers of a file by id, and edges by the ids of their ends.
class piper_reader {
public:
  explicit piper_reader(const json_value& root) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - 1;
    root.object();
    p_.num_devices = static_cast<std::uint32_t>(root.at("maxDevices").whole(1, most));
    p_.micro_batches = static_cast<std::uint32_t>(root.at("mbsInBatch").whole(1, most));
    p_.memory_bytes = root.at("maxMemoryPerDevice").number(true);
    p_.bandwidth = root.at("bandwidth").number(true);
    const auto nodes = root.at("nodes"), edges = root.at("edges");
    number_layers(nodes.array("a list of layers"));
    for (const json_value& e : edges.array("a list of edges")) {
      add_edge(e);
    }
    try {
      parallel::check_stages(p_);
    } catch (const cycle_error& e) {
      edges.fail(std::string{"with layers counted from 0, "} + e.what());
    }
    std::uint32_t v = 0;
    for (const json_value& node : nodes) {
      read_variants(node, v++);
    }
  }
  parallel::stage_problem take() && { return std::move(p_); }

private:
  void number_layers(const json_value& nodes) {
    for (const json_value& node : nodes) {
      const auto id = node.object().at("id");
      if (!layer_.emplace(id.integer(), static_cast<std::uint32_t>(p_.layers.size())).second) {
        id.fail("another layer has the id " + std::to_string(id.integer()) + "; ids must differ");
      }
      const auto name = node.find("name");
      p_.layers.push_back({name ? name->text() : "", {}});
    }
    in_.resize(p_.layers.size());
    out_.resize(p_.layers.size());
  }

  std::uint32_t layer(const json_value& id) const {
    const auto found = layer_.find(id.integer());
    if (found == layer_.end()) {
      id.fail("no layer has the id " + std::to_string(id.integer()) + "; it must be one of those in 'nodes'");
    }
    return found->second;
  }

  void add_edge(const json_value& e) {
    e.object();
    const auto from = e.at("sourceId"), to = e.at("destId");
    const parallel::stage_edge edge{layer(from), layer(to), e.at("communicationCost").number()};
    const auto place = out_[edge.from].size();
    if (!out_[edge.from].emplace(to.integer(), place).second) {
      e.fail("there is an edge between these layers already; add up their costs");
    }
    in_[edge.to].emplace(from.integer(), in_[edge.to].size());
    p_.edges.push_back(edge);
  }

  void read_variants(const json_value& node, std::uint32_t v) {
    const auto by_degree = node.at("TMPCs");
    by_degree.object();
    for (const json_value& list : by_degree) {
      const auto degree = number(list);
      if (degree < 1 || degree > std::numeric_limits<std::uint32_t>::max() - 1) {
        list.fail("the key must be how many devices share the layer, such as \"2\"");
      }
      for (const json_value& x : list.array("a list of variants")) {
        x.object();
        p_.layers[v].variants.push_back({.name = x.at("id").text(),
                                         .tensor_degree = static_cast<std::uint32_t>(degree),
                                         .seconds = x.at("timePerSample").number(),
                                         .parameter_bytes = x.at("parameterSize").number(),
                                         .bytes_per_micro_batch = x.at("memoryUsageA").number(),
                                         .fixed_bytes = x.at("memoryUsageB").number(),
                                         .input_bytes = bytes_of(x.at("syncTimeFw"), in_[v]),
                                         .output_bytes = bytes_of(x.at("syncTimeBw"), out_[v])});
      }
    }
  }

  /// Bytes by edge, from those by the id of its other end.
  static std::vector<double> bytes_of(const json_value& sync, const std::map<std::int64_t, std::size_t>& edges) {
    sync.object();
    std::vector<double> bytes(edges.size(), -1.0);
    for (const json_value& x : sync) {
      const auto edge = edges.find(number(x));
      if (edge == edges.end()) {
        x.fail("no edge leads to or from layer " + in_quotes(x.key()) + " here; the keys are those of 'edges'");
      }
      bytes[edge->second] = x.number();
    }
    for (const auto& [id, edge] : edges) {
      if (bytes[edge] < 0) {
        sync.fail("the edge to or from layer " + std::to_string(id) + " is missing; every edge needs its bytes, or 0");
      }
    }
    return bytes;
  }

  /// The number that the key of a member is, or -1.
  static std::int64_t number(const json_value& member) {
    const auto key = member.key();
    std::int64_t x = 0;
    const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), x);
    return problem == std::errc{} && end == key.data() + key.size() ? x : -1;
  }

  parallel::stage_problem p_;
  std::map<std::int64_t, std::uint32_t> layer_;
  std::vector<std::map<std::int64_t, std::size_t>> in_, out_; // by layer: edges by the id of the other end
};

} // namespace detail

/// Reads a problem of Piper: layers (`nodes`) in the order of the file, edges, devices, memory, bandwidth and the
/// number of micro-batches. What the file calls sync times are bytes. Other keys are ignored. `file` is what errors
/// call the input. Throws `parse_error` with file, line and the path of the value. Complexity: O(size · log size).
/// Source: github.com/msr-fiddle/piper.
inline parallel::stage_problem read_piper(std::istream& in, const std::string& file = "<stream>") {
  const std::string text = read_all(in, file);
  const detail::json_document document{text, file};
  const detail::json_value root{document};
  return detail::piper_reader{root}.take();
}
/// The same from a file. Throws `error` if it cannot be opened.
inline parallel::stage_problem read_piper(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_piper(in, path.string());
}

} // namespace weft::io
