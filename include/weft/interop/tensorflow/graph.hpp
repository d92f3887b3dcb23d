// SPDX-License-Identifier: BSL-1.0
/// The nodes of a GraphDef or of a function's body, with their inputs resolved; a view of its binary encoding.
#pragma once

#include "weft/core/error.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/interop/tensorflow/data_type.hpp"
#include "weft/interop/tensorflow/output_names.hpp"
#include "weft/io/protobuf.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::tensorflow {

namespace wire = io::protobuf;

/// Something wrong with one node, told by its encoded NodeDef; readers add the file and, in texts, the line.
struct node_error : error {
  node_error(std::string_view body, const std::string& problem) : error{problem}, node{body.data()} {}
  const char* node;
};

/// A NodeDef. Views into the bytes that were read.
struct node {
  std::string_view name = {};
  std::string_view op = {};
  std::string_view device = {};
  std::string_view body = {}; ///< the encoded NodeDef
};

/// The source of an input: output `port` of `from`; a control input has no port.
struct source {
  op_id from = none;
  std::uint32_t port = none;
  static constexpr std::uint32_t every_port = none - 1; ///< of a call, among what is fetched
  bool is_control() const { return port == none; }
};

/// A shape as a file has it: -1 for an extent that is not known; nothing if not even their number is.
using partial_shape = std::optional<std::vector<std::int64_t>>;

namespace detail {

/// The last field of that number in a message, which is the one that counts.
inline std::optional<wire::field> last_field(std::string_view message, std::uint32_t number) {
  std::optional<wire::field> found;
  for (const auto& f : wire::fields{message, number}) {
    found = f;
  }
  return found;
}
inline std::string_view text_field(std::string_view message, std::uint32_t number) {
  return last_field(message, number).value_or(wire::field{}).bytes;
}
inline std::int64_t integer_field(std::string_view message, std::uint32_t number) {
  return last_field(message, number).value_or(wire::field{}).integer();
}

/// The value of a key among a message's entries of that number.
inline std::optional<std::string_view> entry(std::string_view message, std::uint32_t number, std::string_view key) {
  std::optional<std::string_view> found;
  for (const auto& f : wire::fields{message, number}) {
    if (text_field(f.bytes, 1) == key) {
      found = text_field(f.bytes, 2);
    }
  }
  return found;
}

/// Reads a TensorShapeProto. More than 32 extents count as an unknown number, as no op has so many.
inline partial_shape shape_of(std::string_view bytes) {
  std::vector<std::int64_t> dims;
  for (const auto& f : wire::fields{bytes}) {
    if (f.number == 3 && f.value != 0) {
      return std::nullopt;
    }
    if (f.number == 2) {
      dims.push_back(std::max<std::int64_t>(-1, integer_field(f.bytes, 1)));
      if (dims.size() > 32) {
        return std::nullopt;
      }
    }
  }
  return dims;
}

} // namespace detail

/// The value of an attribute of a node, or nothing.
inline std::optional<std::string_view> attribute(const node& v, std::string_view key) {
  return detail::entry(v.body, 5, key);
}
inline std::int64_t integer_attribute(const node& v, std::string_view key, std::int64_t otherwise = 0) {
  const auto f = detail::last_field(attribute(v, key).value_or(""), 3);
  return f ? f->integer() : otherwise;
}
inline bool bool_attribute(const node& v, std::string_view key) {
  return detail::integer_field(attribute(v, key).value_or(""), 5) != 0;
}
/// The encoded ListValue of an attribute; empty if it is none.
inline std::string_view list_attribute(const node& v, std::string_view key) {
  return detail::text_field(attribute(v, key).value_or(""), 1);
}
/// The names of nodes that an attribute `_class` keeps v together with.
inline std::vector<std::string_view> colocated_with(const node& v) {
  std::vector<std::string_view> names;
  for (const auto& f : wire::fields{list_attribute(v, "_class"), 2}) {
    if (f.bytes.starts_with("loc:@")) {
      names.push_back(f.bytes.substr(5));
    }
  }
  return names;
}
/// A type, or entry `i` of a list of types.
inline std::optional<data_type> type_attribute(const node& v, std::string_view key, std::uint32_t i = 0) {
  const auto value = attribute(v, key).value_or("");
  if (const auto f = detail::last_field(value, 6)) {
    return static_cast<data_type>(f->value);
  }
  std::optional<data_type> found;
  std::uint32_t at = 0;
  for (const auto& f : wire::fields{detail::text_field(value, 1), 6}) {
    wire::for_each_integer(f, [&](std::uint64_t type) {
      found = at == i ? static_cast<data_type>(type) : found;
      return at++ < i;
    });
  }
  return found;
}
/// The integers of an encoded ListValue, at most 32 of them.
inline std::vector<std::int64_t> integers_of(std::string_view list) {
  std::vector<std::int64_t> integers;
  for (const auto& f : wire::fields{list, 3}) {
    wire::for_each_integer(f, [&](std::uint64_t i) {
      integers.push_back(static_cast<std::int64_t>(i));
      return integers.size() < 32;
    });
  }
  return integers;
}
/// The encoded shapes of a list, or the one shape of an attribute that is no list.
inline std::vector<std::string_view> shapes_attribute(const node& v, std::string_view key) {
  std::vector<std::string_view> list;
  const auto value = attribute(v, key).value_or("");
  for (const auto holder : {value, detail::text_field(value, 1)}) {
    for (const auto& f : wire::fields{holder, 7}) {
      list.push_back(f.bytes);
    }
  }
  return list;
}

/// Nodes and who feeds whom. The bytes must outlive it. Memory: about 110 bytes per node and 12 per input.
class graph {
  using function_map = std::unordered_map<std::string_view, std::string_view>;

public:
  graph() = default;

  /// A GraphDef. Throws `error` for bytes that are none, `node_error` for a node without a name or type, for a name
  /// given twice, and for an input that does not exist. Complexity: O(size).
  static graph of_graph_def(std::string_view bytes) {
    graph g;
    function_map functions;
    const wire::fields nodes{bytes, 1};
    const auto count = static_cast<std::size_t>(std::ranges::distance(nodes.begin(), nodes.end()));
    g.nodes_.reserve(count);
    g.ids_.reserve(count);
    for (const auto& f : wire::fields{bytes}) {
      if (f.number == 1) {
        g.add_node(f.bytes);
      } else if (f.number == 2) {
        add_library(f.bytes, functions);
      } else if (f.number == 3) {
        g.producer_ = f.integer();
      } else if (f.number == 4) {
        g.producer_ = detail::integer_field(f.bytes, 1);
      }
    }
    g.functions_ = std::make_shared<const function_map>(std::move(functions));
    g.resolve_inputs();
    return g;
  }

  /// The body of a function; its arguments come first, as nodes of type `_Arg`. Throws as above.
  static graph of_function(std::string_view bytes, const graph& library) {
    graph g;
    for (const auto& f : wire::fields{detail::text_field(bytes, 1), 2}) {
      g.add({detail::text_field(f.bytes, 1), "_Arg", {}, {}}); // no node, but has its name in the same place
      ++g.num_arguments_;
    }
    for (const auto& f : wire::fields{bytes, 3}) {
      g.add_node(f.bytes);
    }
    g.resolve_inputs(&library);
    return g;
  }

  /// Nodes and what each reads: sources [first[v], first[v + 1]) for node v. Functions and version are those of
  /// `library`. Throws `node_error` for a name given twice.
  graph(const std::vector<node>& nodes, std::vector<std::uint32_t> first, std::vector<source> sources,
        const graph& library)
      : first_source_{std::move(first)}, sources_{std::move(sources)}, functions_{library.functions_},
        producer_{library.producer_} {
    nodes_.reserve(nodes.size());
    ids_.reserve(nodes.size());
    for (const auto& n : nodes) {
      add(n);
    }
  }

  std::size_t num_nodes() const { return nodes_.size(); }
  std::size_t num_arguments() const { return num_arguments_; }
  const node& operator[](op_id v) const { return nodes_[v]; }
  /// The inputs of v, control inputs among them, as the file lists them.
  std::span<const source> inputs(op_id v) const {
    return std::span{sources_}.subspan(first_source_[v], first_source_[v + 1] - first_source_[v]);
  }
  std::optional<op_id> find(std::string_view name) const {
    const auto at = ids_.find(name);
    return at == ids_.end() ? std::nullopt : std::optional{at->second};
  }
  /// The encoded FunctionDef of that name, or nothing.
  std::optional<std::string_view> function(std::string_view name) const {
    const auto at = functions_ ? functions_->find(name) : function_map::const_iterator{};
    return !functions_ || at == functions_->end() ? std::nullopt : std::optional{at->second};
  }
  /// The source that a text such as `node:2`, or `node:output:1` in a function, refers to; `none` as its node if there
  /// is none.
  source refers_to(std::string_view text, const graph* library = nullptr) const { return parse(text, library).first; }
  /// The version of GraphDef that the file was written for; 0 if it does not say.
  std::int64_t producer() const { return producer_; }

private:
  void add(const node& n) {
    const auto v = static_cast<op_id>(nodes_.size());
    const auto problem = [&](const char* what) {
      return node_error(n.body, "node " + std::to_string(v) + " " + io::in_quotes(n.name) + " " + what);
    };
    nodes_.push_back(n);
    if (n.name.empty() || n.op.empty()) {
      throw problem(n.name.empty() ? "has no name" : "has no op");
    }
    if (!ids_.try_emplace(n.name, v).second) {
      throw problem("has a name that another node has already: names must differ");
    }
  }
  void add_node(std::string_view body) {
    node n{.body = body};
    for (const auto& f : wire::fields{body}) {
      auto* const member = f.number == 1 ? &n.name : f.number == 2 ? &n.op : f.number == 4 ? &n.device : nullptr;
      if (member != nullptr) {
        *member = f.bytes;
      }
    }
    add(n);
  }
  static void add_library(std::string_view bytes, function_map& functions) {
    for (const auto& f : wire::fields{bytes, 1}) {
      functions.try_emplace(detail::text_field(detail::text_field(f.bytes, 1), 1), f.bytes);
    }
  }

  void resolve_inputs(const graph* library = nullptr) {
    first_source_.push_back(0);
    for (op_id v = 0; v < nodes_.size(); ++v) {
      for (const auto& f : wire::fields{nodes_[v].body, 3}) {
        const auto [found, problem] = parse(f.bytes, library);
        if (problem != nullptr) {
          throw node_error(nodes_[v].body, "node " + io::in_quotes(nodes_[v].name) + " has input " +
                                             io::in_quotes(f.bytes) + problem);
        }
        sources_.push_back(found);
      }
      if (sources_.size() >= none) {
        throw node_error(nodes_[v].body, "there are more than 2^32 - 2 inputs");
      }
      first_source_.push_back(static_cast<std::uint32_t>(sources_.size()));
    }
  }

  /// `^node`, `node`, `node:port`, or in functions `node:output:index`; and what is wrong with it, or nullptr.
  std::pair<source, const char*> parse(std::string_view input, const graph* library) const {
    const bool control = input.starts_with('^');
    const auto text = control ? input.substr(1) : input;
    const auto colon = control ? text.npos : text.find(':');
    const auto from = find(text.substr(0, colon));
    if (!from) {
      return {{}, ", but there is no node of that name"};
    }
    if (control) {
      return {{*from, none}, nullptr};
    }
    std::uint32_t port = 0;
    if (colon != text.npos) {
      const auto last = text.rfind(':');
      const auto digits = text.substr(last + 1);
      const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
      const bool whole = status == std::errc{} && end == digits.data() + digits.size() && port <= 0xffff;
      const bool named = last == colon && !digits.empty() && (digits[0] < '0' || digits[0] > '9');
      if (!whole && !named) {
        return {{}, ": after the colon comes the number of an output, from 0 to 65535"};
      }
      const auto output = named ? digits : text.substr(colon + 1, std::max(last, colon + 1) - colon - 1);
      port = (whole ? port : 0) + (output.empty() ? 0 : first_port(nodes_[*from], output, library));
    }
    return {{*from, port}, nullptr};
  }

  /// The number of the first of a node's outputs that have that name.
  static std::uint32_t first_port(const node& n, std::string_view output, const graph* library) {
    if (const auto names = detail::output_names(n.op); !names.empty()) {
      return detail::first_output(names, output, [&n](std::string_view attr) { return length_of(n, attr); });
    }
    const auto called = library != nullptr ? library->function(n.op) : std::nullopt;
    std::uint32_t at = 0;
    for (const auto& f : wire::fields{detail::text_field(called.value_or(""), 1), 3}) {
      if (detail::text_field(f.bytes, 1) == output) {
        return at;
      }
      ++at;
    }
    return 0;
  }
  /// What an attribute says of how many outputs have one name: their number, or their types.
  static std::uint32_t length_of(const node& n, std::string_view key) {
    auto count = static_cast<std::uint64_t>(integer_attribute(n, key));
    for (const auto& f : wire::fields{list_attribute(n, key)}) {
      wire::for_each_integer(f, [&](std::uint64_t) { return ++count < 0xffff; });
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 0xffff));
  }

  std::vector<node> nodes_;
  std::unordered_map<std::string_view, op_id> ids_;
  std::vector<std::uint32_t> first_source_; // per node, plus the end
  std::vector<source> sources_;
  std::shared_ptr<const function_map> functions_;
  std::size_t num_arguments_ = 0;
  std::int64_t producer_ = 0;
};

/// Whether an input of v is the edge that closes a loop.
inline bool closes_loop(const graph& g, op_id v, const source& s) {
  return !s.is_control() && g[s.from].op.ends_with("NextIteration") && g[v].op.ends_with("Merge");
}

namespace detail {

/// The nodes, each after what it reads but for the edges that close loops; none that is on another cycle or behind one.
inline std::vector<op_id> in_order(const graph& g) {
  std::vector<std::vector<op_id>> readers(g.num_nodes());
  for (op_id v = 0; v < g.num_nodes(); ++v) {
    for (const auto& s : g.inputs(v)) {
      if (!closes_loop(g, v, s)) {
        readers[s.from].push_back(v);
      }
    }
  }
  return weft::graph::acyclic_part(readers);
}

/// The nodes that some outputs need, those that make these included.
inline std::vector<bool> needed(const graph& g, std::span<const source> wanted) {
  std::vector<bool> result(g.num_nodes(), false);
  std::vector<source> open{wanted.begin(), wanted.end()};
  while (!open.empty()) {
    const op_id v = open.back().from;
    open.pop_back();
    if (!result[v]) {
      result[v] = true;
      open.insert(open.end(), g.inputs(v).begin(), g.inputs(v).end());
    }
  }
  return result;
}

} // namespace detail

} // namespace weft::tensorflow
