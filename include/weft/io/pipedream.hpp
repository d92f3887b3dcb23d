// SPDX-License-Identifier: BSL-1.0
/// Reads the profiles of layers that PipeDream measures and partitions.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/io/text.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <istream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::io {

namespace detail {

/// A layer as the file describes it, and where its tensors are while ops are added.
struct pipedream_layer {
  std::string_view id;
  std::string_view description;
  double forward = 0;  // seconds
  double backward = 0; // seconds
  byte_count parameters = 0;
  std::uint32_t first_size = 0; // of its activations, in a list for all layers
  std::uint32_t num_sizes = 0;
  std::uint32_t line = 0;
};

/// The layers in the order of the file, and which feeds which.
class pipedream_file {
public:
  pipedream_file(std::string_view text, const std::string& file) : lines_{text, file} {
    while (const auto line = lines_.next()) {
      const auto first = line->find(separator);
      if (first == line->npos) {
        lines_.fail("expected 'node -- description -- forward_compute_time=...' or an edge 'node -- node', got " +
                    in_quotes(*line));
      }
      const auto id = trim(line->substr(0, first));
      const auto rest = line->substr(first + separator.size());
      if (const auto values = rest.rfind(values_begin); values != rest.npos) {
        read_layer(id, rest.substr(0, values), rest.substr(values + separator.size()));
      } else {
        const auto target = trim(rest);
        if (id.empty() || target.empty() || target.find(' ') != target.npos) {
          lines_.fail("expected an edge 'node -- node', got " + in_quotes(*line));
        }
        pending_.push_back({id, target, static_cast<std::uint32_t>(lines_.line())});
      }
    }
    if (layers.empty()) {
      lines_.fail("there is no layer");
    }
    std::vector<std::uint32_t> order(layers.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    weft::sort(order, [this](std::uint32_t a, std::uint32_t b) {
      return layers[a].id != layers[b].id ? layers[a].id < layers[b].id : a < b;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (layers[order[i]].id == layers[order[i - 1]].id) {
        fail(layers[order[i]].line, "layer " + in_quotes(layers[order[i]].id) + " was already described on line " +
                                      std::to_string(layers[order[i - 1]].line));
      }
    }
    edges.reserve(pending_.size());
    for (const auto& [from, to, line] : pending_) {
      edges.push_back({find(order, from, line), find(order, to, line), line});
    }
    pending_ = {};
    weft::sort(edges, [](const edge& a, const edge& b) {
      return std::tie(a.to, a.from, a.line) < std::tie(b.to, b.from, b.line);
    });
    for (std::size_t i = 1; i < edges.size(); ++i) {
      if (edges[i].from == edges[i - 1].from && edges[i].to == edges[i - 1].to) {
        fail(edges[i].line, "the edge was already listed on line " + std::to_string(edges[i - 1].line));
      }
    }
  }

  struct edge {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t line;
  };
  std::vector<pipedream_layer> layers;
  std::vector<byte_count> sizes; ///< bytes of all activations, layer by layer
  std::vector<edge> edges;       ///< sorted by target, then by source
  std::size_t stages = 0;        ///< layers that say to which stage they belong

  [[noreturn]] void fail(std::size_t line, const std::string& problem) const {
    throw parse_error(lines_.file(), line, problem);
  }

private:
  static constexpr std::string_view separator = " -- ";
  static constexpr std::string_view values_begin = " -- forward_compute_time=";

  struct pending_edge {
    std::string_view from;
    std::string_view to;
    std::uint32_t line;
  };

  std::uint32_t find(const std::vector<std::uint32_t>& order, std::string_view id, std::size_t line) const {
    const auto at =
      std::lower_bound(order.begin(), order.end(), id, [this](auto i, auto name) { return layers[i].id < name; });
    if (at == order.end() || layers[*at].id != id) {
      fail(line, "there is no layer " + in_quotes(id));
    }
    return *at;
  }

  double number(std::string_view field, const char* what) const {
    return parse_number<double>(trim(field), what, [this](const std::string& problem) { lines_.fail(problem); });
  }

  byte_count bytes(std::string_view field, const char* what) const {
    const double x = std::ceil(number(field, what));
    if (x > static_cast<double>(workload_builder::max_total_bytes)) {
      lines_.fail(std::string{what} + " " + in_quotes(trim(field)) + " is too large");
    }
    return static_cast<byte_count>(x);
  }

  void read_layer(std::string_view id, std::string_view description, std::string_view values) {
    pipedream_layer l{.id = id,
                      .description = trim(description),
                      .first_size = static_cast<std::uint32_t>(sizes.size()),
                      .line = static_cast<std::uint32_t>(lines_.line())};
    if (id.empty()) {
      lines_.fail("the layer has no name");
    }
    if (const auto stage = values.find(separator); stage != values.npos) {
      ++stages;
      values = values.substr(0, stage);
    }
    int seen = 0;
    while (!values.empty()) {
      const auto end = std::min(values.find(','), values.size());
      const auto setting = values.substr(0, end);
      values.remove_prefix(std::min(end + 1, values.size()));
      const auto equals = setting.find('=');
      const auto key = trim(setting.substr(0, equals));
      const auto value = equals == setting.npos ? std::string_view{} : setting.substr(equals + 1);
      if (key == "forward_compute_time") {
        l.forward = number(value, "forward_compute_time") / 1000;
        seen |= 1;
      } else if (key == "backward_compute_time") {
        l.backward = number(value, "backward_compute_time") / 1000;
        seen |= 2;
      } else if (key == "activation_size") {
        read_sizes(trim(value));
        seen |= 4;
      } else if (key == "parameter_size") {
        l.parameters = bytes(value, "parameter_size");
        seen |= 8;
      } else {
        lines_.fail("unknown value " + in_quotes(trim(setting)) +
                    "; there are forward_compute_time, backward_compute_time, activation_size and parameter_size");
      }
    }
    if (seen != 15) {
      lines_.fail("a value is missing: a layer has forward_compute_time, backward_compute_time, activation_size and "
                  "parameter_size");
    }
    l.num_sizes = static_cast<std::uint32_t>(sizes.size()) - l.first_size;
    layers.push_back(l);
  }

  /// One size, or several as `[a; b]`.
  void read_sizes(std::string_view text) {
    const bool list = text.starts_with('[');
    if (list && !text.ends_with(']')) {
      lines_.fail("the list of activation sizes does not end: " + in_quotes(text));
    }
    text = list ? text.substr(1, text.size() - 2) : text;
    for (;;) {
      const auto end = list ? text.find(';') : text.npos;
      sizes.push_back(bytes(text.substr(0, end), "activation_size"));
      if (end == text.npos) {
        return;
      }
      text.remove_prefix(end + 1);
    }
  }

  line_reader lines_;
  std::vector<pending_edge> pending_;
};

/// The activations of `count` that a layer reads of its source: one if it takes an element of them, else all.
inline std::pair<std::uint32_t, std::uint32_t> activations_read(std::string_view description, std::uint32_t count) {
  constexpr std::string_view element = "__getitem__(";
  if (description.starts_with(element)) {
    std::uint32_t k = 0;
    const auto* begin = description.data() + element.size();
    const auto* end = description.data() + description.size();
    const auto [at, status] = std::from_chars(begin, end, k);
    if (status == std::errc{} && at != end && *at == ')' && k < count) {
      return {k, k + 1};
    }
  }
  return {0, count};
}

} // namespace detail

/// Reads profiles of PipeDream: lines `id -- description -- forward_compute_time=ms, backward_compute_time=ms,
/// activation_size=bytes, parameter_size=bytes`, where an activation size may be a list `[a; b]`, and edges
/// `id -- id`. Layers become ops in the order of the file, with their parameters as resident bytes; the begin of the
/// description, up to the first bracket, is the type. Each activation is a tensor that the layer's successors consume;
/// a successor called `__getitem__(k)` consumes only activation k. Work is seconds on the GPU that was measured, and
/// so are `model::seconds`.
///
/// By default an op does the forward and the backward pass of its layer. With `backward_ops` there is a second op for
/// the backward pass of each layer, colocated with the first because of the parameters: it consumes the activations
/// that its layer read, those that it made, and from the backward op of each successor the gradients of the latter
/// (each as large as its activation); the backward op of a layer without successors begins the backward pass.
///
/// Throws `parse_error` with file and line; when the graph as a whole is unusable (a cycle), the underlying error is
/// nested in it. Complexity: O(n log n + m log m), m counting each activation that an edge carries.
/// Source: Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP 2019.
struct pipedream_reader {
  bool backward_ops = false; ///< an op of its own for the backward pass of each layer

  static constexpr std::string_view format() { return "PipeDream profile"; }
  static bool recognises(std::string_view bytes) {
    line_reader lines{bytes, ""};
    const auto line = lines.next();
    return line && line->find(" -- ") != line->npos &&
           (line->find("forward_compute_time=") != line->npos || bytes.find("-- forward_compute_time=") != bytes.npos);
  }

  model read(std::string_view bytes, const std::string& file) const {
    const detail::pipedream_file f{bytes, file};
    const auto n = static_cast<op_id>(f.layers.size());
    workload_builder b;
    model m;
    m.format = format();
    m.unit = work_unit::seconds;
    m.measured_on = device_kind::gpu;
    const auto add_op = [&](const detail::pipedream_layer& l, const char* suffix, double seconds, byte_count resident) {
      b.add_op({.work = seconds,
                .resident_bytes = resident,
                .name = std::string{l.id} + suffix,
                .type = std::string{trim(l.description.substr(0, l.description.find('(')))} + suffix});
      m.seconds.push_back(seconds);
    };
    for (const auto& l : f.layers) {
      add_op(l, "", backward_ops ? l.forward : l.forward + l.backward, l.parameters);
      for (std::uint32_t k = 0; k < l.num_sizes; ++k) {
        b.add_output(static_cast<op_id>(b.num_ops() - 1), f.sizes[l.first_size + k]);
      }
    }
    if (backward_ops) {
      for (op_id v = 0; v < n; ++v) {
        add_op(f.layers[v], "/backward", f.layers[v].backward, 0);
        b.colocate(v, n + v);
        for (std::uint32_t k = 0; k < f.layers[v].num_sizes; ++k) {
          b.add_edge(v, n + v, k);
        }
      }
    }
    std::size_t tensors_read = 0; // lists of activations and edges multiply
    for (const auto& [from, to, line] : f.edges) {
      const auto [first, last] = detail::activations_read(f.layers[to].description, f.layers[from].num_sizes);
      tensors_read += last - first;
      if (tensors_read > 10'000 + bytes.size() / 4) {
        f.fail(line, "the activations that all edges carry are too many for a file of this size");
      }
    }
    std::uint32_t gradients = 0; // outputs of the backward op of the target so far
    for (std::size_t i = 0; i < f.edges.size(); ++i) {
      const auto [from, to, line] = f.edges[i];
      gradients = i > 0 && f.edges[i - 1].to == to ? gradients : 0;
      const auto& source = f.layers[from];
      const auto [first, last] = detail::activations_read(f.layers[to].description, source.num_sizes);
      for (std::uint32_t k = first; k < last; ++k) {
        b.add_edge(from, to, k);
        if (backward_ops && from != to) {
          b.add_edge(from, n + to, k);
          b.add_output(n + to, f.sizes[source.first_size + k]);
          b.add_edge(n + to, n + from, gradients++);
        }
      }
    }
    try {
      m.ops = std::move(b).build();
    } catch (const cycle_error& e) {
      std::string way;
      for (const op_id v : e.ops) {
        way += std::string{f.layers[v % n].id} + " -> ";
      }
      std::throw_with_nested(parse_error(file, f.layers[e.ops.front() % n].line,
                                         "the layers form a cycle: " + way +
                                           std::string{f.layers[e.ops.front() % n].id}));
    } catch (const error& e) {
      std::throw_with_nested(parse_error(file, 0, e.what()));
    }
    m.notes.push_back(backward_ops ? "each layer has an op for its forward and one for its backward pass"
                                   : "the time of an op is that of the forward and the backward pass of its layer");
    if (f.stages > 0) {
      m.notes.push_back("the stages to which " + std::to_string(f.stages) + " layers were assigned are not kept");
    }
    return m;
  }
};

/// The same from a stream. `file` is what errors call the input.
inline model read_pipedream(std::istream& in, const std::string& file = "<stream>", const pipedream_reader& how = {}) {
  return how.read(read_all(in, file), file);
}
/// The same from a file. Throws `error` if it cannot be opened.
inline model read_pipedream(const std::filesystem::path& path, const pipedream_reader& how = {}) {
  return how.read(read_file(path), path.string());
}

} // namespace weft::io
