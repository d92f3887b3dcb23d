// SPDX-License-Identifier: BSL-1.0
/// Makes a workload of a graph in the DOT language.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/io/detail/dot_graph.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace weft::io::detail {

/// Makes a workload of a graph.
class dot_model {
public:
  dot_model(std::string_view text, const std::string& file) : graph_{text, file} {
    if (const auto zero = text.find('\0'); zero != text.npos) {
      graph_.lexer.fail(zero, "this is not text: there is a byte of zero");
    }
  }

  model read() && {
    if (graph_.strict) {
      keep_last_of_each_edge();
    }
    builder_.reserve(graph_.nodes.size(), 0, graph_.edges.size());
    for (const auto& node : graph_.nodes) {
      add_op(node);
    }
    weft::stable_sort(graph_.edges,
                     [](const auto& a, const auto& b) { return a.from < b.from; });
    for (auto first = graph_.edges.begin(); first != graph_.edges.end();) {
      const auto last = std::find_if(first, graph_.edges.end(), [&](const auto& e) { return e.from != first->from; });
      add_edges({first, last});
      first = last;
    }
    model m;
    m.format = "DOT";
    m.unit = work_unit::own;
    try {
      m.ops = std::move(builder_).build();
    } catch (const cycle_error& e) {
      fail_nested(e.ops.front(), e);
    } catch (const constraint_error& e) {
      fail_nested(e.ops.front(), e);
    } catch (const error& e) {
      std::throw_with_nested(parse_error(graph_.lexer.file(), 0, e.what()));
    }
    if (num_without_work_ > 0) {
      const bool all = num_without_work_ == m.ops.num_ops();
      m.notes.push_back((all ? "no node has a weight under a name that is known here (" + names_of_weights() +
                                 "); the work of each is 1"
                             : counted(num_without_work_, "{node has|nodes have} no weight; {its|their} work is 1")) +
                        unread(graph_.unread_of_nodes));
    }
    if (num_without_bytes_ > 0) {
      m.notes.push_back(counted(num_without_bytes_, "{edge has|edges have} no weight; {it is a control edge|they are "
                                                    "control edges}") +
                        unread(graph_.unread_of_edges));
    }
    return m;
  }

private:
  using key = dot_node_key;
  using edge = dot_graph::edge;

  const dot_lexer::token& value(const dot_graph::node& n, key k) const {
    return graph_.node_sets[n.attributes].values[static_cast<std::size_t>(k)];
  }
  const dot_lexer::token& value(const edge& e, dot_edge_key k) const {
    return graph_.edge_sets[e.attributes].values[static_cast<std::size_t>(k)];
  }

  static std::string names_of_weights() {
    std::string list;
    for (const auto& [name, k] : dot_node_keys) {
      list += k != static_cast<std::size_t>(key::work) ? "" : (list.empty() ? "" : ", ") + std::string{name};
    }
    return list;
  }

  static std::string unread(const std::vector<std::string>& names) {
    std::string list;
    for (const auto& name : names) {
      list += (list.empty() ? "; they have numbers that are not read: " : ", ") + on_one_line(name);
    }
    return list;
  }

  [[noreturn]] void fail_nested(op_id v, const error& e) const {
    std::throw_with_nested(
      parse_error(graph_.lexer.file(), graph_.lexer.line(graph_.nodes[v].id.begin), on_one_line(e.what())));
  }

  template <class T>
  T number(const dot_lexer::token& t, std::string_view text, const char* what) const {
    return parse_number<T>(trim(text), what, [&](const std::string& problem) { graph_.lexer.fail(t.begin, problem); });
  }

  /// A whole number, or another one rounded up.
  byte_count bytes(const dot_lexer::token& t, std::string_view text, const char* what) const {
    text = trim(text);
    if (!text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos) {
      const auto whole = number<byte_count>(t, text, what);
      if (whole <= workload_builder::max_total_bytes) {
        return whole;
      }
    }
    const double x = std::ceil(number<double>(t, text, what));
    if (x > static_cast<double>(workload_builder::max_total_bytes)) {
      graph_.lexer.fail(t.begin, std::string{what} + " " + in_quotes(text) + " is too large");
    }
    return static_cast<byte_count>(x);
  }

  /// True if a size is -1, by which SimGrid and the generators for it mean an edge that carries nothing.
  static bool carries_nothing(std::string_view text) {
    text = trim(text);
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    return status == std::errc{} && end == text.data() + text.size() && value == -1;
  }

  /// A label as it is drawn: with line breaks, and the id where it stands for that.
  std::string drawn(const dot_lexer::token& t, const dot_lexer::token& id) const {
    const auto text = graph_.lexer.value(t);
    if (t.kind != '"') {
      return text;
    }
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 1 == text.size()) {
        result += text[i];
      } else if (const char c = text[++i]; c == 'n' || c == 'l' || c == 'r') {
        result += '\n';
      } else if (c == 'N') {
        result += graph_.lexer.value(id);
      } else {
        result += c;
      }
    }
    return result;
  }

  void add_op(const dot_graph::node& n) {
    const auto& lexer = graph_.lexer;
    op o;
    o.work = 1;
    if (const auto& t = value(n, key::work); t.kind != 0) {
      o.work = number<double>(t, lexer.value(t), "work");
    } else {
      ++num_without_work_;
    }
    if (const auto& t = value(n, key::resident_bytes); t.kind != 0) {
      o.resident_bytes = bytes(t, lexer.value(t), "resident_bytes");
    }
    const auto& name = value(n, key::name);
    const auto& label = value(n, key::label);
    o.name = name.kind != 0                          ? drawn(name, n.id)
             : label.kind != 0 && label.kind != '<' ? drawn(label, n.id)
                                                    : lexer.value(n.id);
    if (const auto& t = value(n, key::type); t.kind != 0) {
      o.type = drawn(t, n.id);
    }
    if (const auto& t = value(n, key::kinds); t.kind != 0) {
      o.kinds = {};
      const auto text = lexer.value(t);
      for (const auto kind : split(text, '|')) {
        const auto parsed = parse_device_kind(kind);
        if (!parsed) {
          lexer.fail(t.begin, "unknown device kind " + in_quotes(kind) +
                                ": use cpu, gpu, tpu, npu, fpga, dsp or kind8 to kind63");
        }
        o.kinds = o.kinds | *parsed;
      }
    }
    if (const auto& t = value(n, key::slots); t.kind != 0) {
      o.slots = number<std::uint32_t>(t, lexer.value(t), "slots");
      if (o.slots == 0) {
        lexer.fail(t.begin, "slots must be a whole number from 1");
      }
    }
    const op_id v = builder_.add_op(std::move(o));
    if (const auto& t = value(n, key::colocation); t.kind != 0) {
      const auto [first, is_new] = first_of_group_.emplace(lexer.value(t), v);
      if (!is_new) {
        builder_.colocate(first->second, v);
      }
    }
    if (const auto& t = value(n, key::outputs); t.kind != 0) {
      const auto text = lexer.value(t);
      std::string_view rest = text;
      for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
        builder_.add_output(v, bytes(t, word, "outputs"));
      }
    }
  }

  /// The edges from one node. Which tensor an edge carries: one of those that the node lists, or one of the edge's own
  /// size, or that of the node for all edges without a size, or none. The same edge without a tensor of its own is
  /// added once.
  void add_edges(std::span<const edge> edges) {
    const auto from = edges.front().from;
    const auto& node = graph_.nodes[from];
    const auto& listed = value(node, key::outputs);
    const auto& shared = value(node, key::bytes);
    const std::string outputs = listed.kind != 0 ? graph_.lexer.value(listed) : std::string{};
    const auto num_listed = count_words(outputs);
    std::uint32_t next = static_cast<std::uint32_t>(num_listed);
    std::uint32_t of_node = none; // number of the output for all edges without a size
    std::vector<std::pair<std::uint32_t, std::uint32_t>> carried; // output and consumer; `none` for control edges
    carried.reserve(edges.size());
    for (const auto& e : edges) {
      const auto& tensor = value(e, dot_edge_key::tensor);
      const auto& size = value(e, dot_edge_key::bytes);
      if (listed.kind != 0) {
        const auto k = tensor.kind == 0 ? 0 : number<std::uint32_t>(tensor, graph_.lexer.value(tensor), "tensor");
        if (k >= num_listed) {
          graph_.lexer.fail(e.position, "the node has no output " + std::to_string(k) + ", it lists " +
                                          std::to_string(num_listed));
        }
        carried.emplace_back(k, e.to);
      } else if (size.kind != 0 && carries_nothing(graph_.lexer.value(size))) {
        carried.emplace_back(none, e.to);
      } else if (size.kind != 0) {
        builder_.add_output(from, bytes(size, graph_.lexer.value(size), "bytes"));
        builder_.add_edge(from, e.to, next++);
      } else if (shared.kind != 0) {
        if (of_node == none) {
          builder_.add_output(from, bytes(shared, graph_.lexer.value(shared), "bytes"));
          of_node = next++;
        }
        carried.emplace_back(of_node, e.to);
      } else {
        ++num_without_bytes_;
        carried.emplace_back(none, e.to);
      }
    }
    sort_unique(carried);
    for (const auto& [output, to] : carried) {
      output == none ? builder_.add_control_edge(from, to) : builder_.add_edge(from, to, output);
    }
  }

  void keep_last_of_each_edge() {
    auto& edges = graph_.edges;
    weft::stable_sort(edges,
                     [](const auto& a, const auto& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
    auto kept = edges.begin();
    for (auto e = edges.begin(); e != edges.end(); ++e) {
      if (e + 1 == edges.end() || e[1].from != e->from || e[1].to != e->to) {
        *kept++ = *e;
      }
    }
    edges.erase(kept, edges.end());
  }

  dot_graph graph_;
  workload_builder builder_;
  std::map<std::string, op_id> first_of_group_;
  std::size_t num_without_work_ = 0;
  std::size_t num_without_bytes_ = 0;
};

} // namespace weft::io::detail
