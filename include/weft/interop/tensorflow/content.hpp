// SPDX-License-Identifier: BSL-1.0
/// Recognition of TensorFlow's files by content, and their binary encoding.
#pragma once

#include "weft/interop/tensorflow/graph.hpp"
#include "weft/interop/tensorflow/text_format.hpp"

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// A message, as text or binary.
struct content {
  schema::message_id message = schema::message_id::none; ///< none: not a file of TensorFlow's that is known
  bool is_text = false;
};

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The next name in a text, behind blanks and comments; and what follows it.
inline std::string_view first_name(std::string_view text, std::string_view& rest) {
  for (;;) {
    const auto at = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(at == text.npos ? text.size() : at);
    if (!text.starts_with('#')) {
      break;
    }
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  const auto end = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), text.size());
  rest = text.substr(end);
  while (!rest.empty() && is_blank(rest.front())) {
    rest.remove_prefix(1);
  }
  return text.substr(0, end);
}

/// A text is told by the name of its first field, followed by a brace, bracket or colon; a `node` by whether an `op:`
/// comes before its first inner brace, for a CostGraphDef's has none.
inline schema::message_id text_content(std::string_view text) {
  using enum schema::message_id;
  if (text.starts_with("\xef\xbb\xbf")) {
    text.remove_prefix(3);
  }
  std::string_view rest;
  const auto name = first_name(text, rest);
  if (name.empty() || rest.empty() || (rest.front() != '{' && rest.front() != ':' && rest.front() != '<')) {
    return none;
  }
  if (name == "node") {
    const auto body = rest.substr(0, 1 << 16);
    const auto open = body.find_first_of("{<");
    const auto inner = open == body.npos ? std::string_view{} : body.substr(open + 1);
    const auto head = inner.substr(0, inner.find_first_of("{}<>"));
    std::string_view behind;
    for (std::size_t at = head.find("op"); at != head.npos; at = head.find("op", at + 1)) {
      const bool whole = at == 0 || is_blank(head[at - 1]) || head[at - 1] == ',' || head[at - 1] == ';' ||
                         head[at - 1] == '"' || head[at - 1] == '\'';
      if (whole && first_name(head.substr(at), behind) == "op" && behind.starts_with(':')) {
        return graph_def;
      }
    }
    return inner.find("id:") == inner.npos && inner.find("compute_cost") == inner.npos ? graph_def : cost_graph_def;
  }
  for (const auto& [first, message] : {std::pair{"library", graph_def}, {"versions", graph_def}, {"version", graph_def},
                                       {"cost", cost_graph_def}, {"dev_stats", step_stats},
                                       {"step_stats", run_metadata}, {"cost_graph", run_metadata},
                                       {"partition_graphs", run_metadata}, {"function_graphs", run_metadata},
                                       {"saved_model_schema_version", saved_model}, {"meta_graphs", saved_model}}) {
    if (name == first) {
      return message;
    }
  }
  return none;
}

/// Whether bytes look like the name of an op or a node: printable, without blanks.
inline bool is_printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > 32 && c < 127; });
}

/// A version, and then a graph, which begins with what is said about it, or with its nodes.
inline bool is_saved_model(std::string_view bytes) {
  if (bytes.starts_with('\x08')) {
    bytes.remove_prefix(1);
    (void)wire::detail::take_varint(bytes);
  }
  if (!bytes.starts_with('\x12')) {
    return false;
  }
  bytes.remove_prefix(1);
  (void)wire::detail::take_varint(bytes);
  if (!bytes.starts_with('\x0a') && !bytes.starts_with('\x12')) {
    return false;
  }
  bytes.remove_prefix(1);
  const auto length = wire::detail::take_varint(bytes);
  const auto info = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(length, bytes.size())));
  const auto tag = info.empty() ? 0 : static_cast<unsigned char>(info.front());
  return info.empty() || (tag < 0x80 && tag >> 3 >= 1 && tag >> 3 <= 8 && ((tag & 7) == 2 || (tag & 7) == 0));
}

/// What the first field of a binary message says, which may have been cut off behind.
inline schema::message_id binary_content(std::string_view bytes) {
  using enum schema::message_id;
  try {
    if (bytes.starts_with('\x08') && is_saved_model(bytes)) {
      return saved_model;
    }
    auto rest = bytes;
    std::string_view first;
    const auto tag = wire::detail::take_varint(rest);
    const auto size = tag == 0x0a ? wire::detail::take_varint(rest) : 0;
    first = rest.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(size, rest.size())));
    if (tag != 0x0a) { // no nodes: only versions and a library, and nothing else
      std::size_t fields = 0;
      for (const auto& f : wire::fields{bytes}) {
        if (f.number < 2 || f.number > 4 || (f.kind == wire::kind::bytes) == (f.number == 3)) {
          return none;
        }
        for (const auto& inner : wire::fields{f.number == 3 ? std::string_view{} : f.bytes}) {
          if (inner.number > 3) {
            return none;
          }
        }
        ++fields;
      }
      return fields > 0 ? graph_def : none;
    }
    bool named = false;
    bool op = false;
    int seen = 0;
    while (!first.empty() && seen++ < 8) {
      auto head = first;
      const auto number = wire::detail::take_varint(head);
      if ((number & 7) == 2) {
        const auto length = wire::detail::take_varint(head);
        const auto text = head.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(length, head.size())));
        if (number == 0x0a && seen == 1) {
          if (is_printable(text)) {
            named = true;
          } else { // dev_stats {device} within step_stats
            const auto device = text.size() > 2 && text[0] == 0x0a ? text.substr(2) : std::string_view{};
            return device.starts_with('/') ? run_metadata : none;
          }
          if (text.starts_with('/') && text.find(':') != text.npos) {
            return step_stats; // a node's name has no colon
          }
        } else if (number == 0x12) {
          op = is_printable(text) && text.find_first_of("/:") == text.npos;
        }
      } else if (named && (number >> 3) >= 3) {
        return cost_graph_def; // a NodeDef has no numbers
      }
      if (op && named) {
        return graph_def;
      }
      (void)wire::detail::take_field(first);
    }
    return named && seen > 1 ? cost_graph_def : none;
  } catch (const error&) {
    return none;
  }
}

inline content content_of(std::string_view bytes) {
  if (const auto text = text_content(bytes); text != schema::message_id::none) {
    return {text, true};
  }
  return {binary_content(bytes), false};
}

/// Without control characters, which names may have.
inline std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, '?');
  return text;
}

/// What a field holds that nodes are in: a graph, a library, a function, nodes; `none` for any other field.
constexpr schema::message_id holds_nodes(schema::message_id id, std::uint32_t number) {
  using enum schema::message_id;
  if ((id == saved_model && number == 2) || (id == meta_graph && number == 2) || (id == graph_def && number <= 2) ||
      (id == library && number == 1) || (id == function_def && number == 3)) {
    for (const auto& f : schema::of(id).fields) {
      if (f.number == number) {
        return f.of;
      }
    }
  }
  return none;
}

/// Calls `visit(body)` with each encoded NodeDef of a message, those of functions, too, in their order in the file.
template <class Visit>
void for_each_node(std::string_view bytes, schema::message_id id, const Visit& visit) {
  for (const auto& f : wire::fields{bytes}) {
    if (const auto inner = holds_nodes(id, f.number); inner == schema::message_id::node_def) {
      visit(f.bytes);
    } else if (inner != schema::message_id::none) {
      for_each_node(f.bytes, inner, visit);
    }
  }
}

/// A file's message in its binary encoding.
struct encoded_file {
  schema::message_id message = schema::message_id::none;
  bool is_text = false;
  std::string converted = {};               ///< of a text
  std::string_view bytes = {};              ///< of the file, or `converted`
  std::vector<device_place> places = {};    ///< of the nodes of a text, in the order of `for_each_node`

  encoded_file(std::string_view file_bytes, const std::string& file) : bytes{file_bytes} {
    const auto what = content_of(file_bytes);
    message = what.message;
    is_text = what.is_text;
    if (is_text) {
      converted = from_text(file_bytes, message, file, &places);
      bytes = converted;
    }
  }
  encoded_file(const encoded_file&) = delete;
  encoded_file& operator=(const encoded_file&) = delete;

  /// The line of a text in which a node ends its head, or 0.
  std::size_t line_of(const char* node, std::string_view text) const {
    std::size_t at = 0;
    std::size_t found = places.size();
    if (is_text) {
      for_each_node(bytes, message, [&](std::string_view body) {
        found = body.data() == node ? at : found;
        ++at;
      });
    }
    if (found == places.size()) {
      return 0;
    }
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(places[found].first);
    return static_cast<std::size_t>(1 + std::count(text.begin(), end, '\n'));
  }
};

/// Calls read(const encoded_file&) and gives every error the file's name, and the line of the node that it is about if
/// there is one.
template <class Read>
auto in_file(const std::string& file, std::string_view bytes, const Read& read) {
  std::optional<encoded_file> encoded;
  try {
    encoded.emplace(bytes, file);
    return read(*encoded);
  } catch (const parse_error&) {
    throw;
  } catch (const node_error& e) {
    throw parse_error(file, encoded ? encoded->line_of(e.node, bytes) : 0, one_line(e.what()));
  } catch (const error& e) {
    std::throw_with_nested(parse_error(file, 0, one_line(e.what())));
  }
}

} // namespace weft::tensorflow::detail
