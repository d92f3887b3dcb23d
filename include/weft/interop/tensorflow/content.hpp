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

inline constexpr std::string_view blanks = " \t\r\n";

/// The next name in a text, behind blanks and comments; and what follows it.
inline std::string_view first_name(std::string_view text, std::string_view& rest) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (!text.starts_with('#')) {
      break;
    }
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  const auto end = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), text.size());
  rest = text.substr(end);
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
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
      if ((at == 0 || std::string_view{" \t\r\n,;\"'"}.find(head[at - 1]) != head.npos) &&
          first_name(head.substr(at), behind) == "op" && behind.starts_with(':')) {
        return graph_def;
      }
    }
    return inner.find("id:") == inner.npos && inner.find("compute_cost") == inner.npos ? graph_def : cost_graph_def;
  }
  for (const auto message : {graph_def, cost_graph_def, step_stats, run_metadata, saved_model}) {
    if (schema::find(schema::of(message), &schema::field::name, name) != nullptr) {
      return message;
    }
  }
  return none;
}

/// True if bytes look like the name of an op or a node: printable, without blanks.
inline bool is_printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > 32 && c < 127; });
}

/// The first field of a message, also if it is cut off; of number 0 if there is none.
inline wire::field first_field(std::string_view bytes) {
  bool damaged = false;
  const wire::fields all{bytes, damaged};
  const auto first = all.begin();
  return first == all.end() ? wire::field{} : *first;
}

/// A version, and then a graph, which begins with what is said about it, or with its nodes.
inline bool is_saved_model(std::string_view bytes) {
  const auto version = first_field(bytes);
  const auto graph = first_field(bytes.substr(version.whole.size()));
  const auto info = first_field(graph.bytes);
  const auto inner = first_field(info.bytes);
  return version.number == 1 && version.kind == wire::kind::varint && graph.number == 2 &&
         (info.number == 1 || info.number == 2) && info.kind == wire::kind::bytes &&
         (info.bytes.empty() || (inner.number >= 1 && inner.number <= 8 &&
                                 (inner.kind == wire::kind::bytes || inner.kind == wire::kind::varint)));
}

/// The message that a binary file has, by its first field, which may have been cut off behind.
inline schema::message_id binary_content(std::string_view bytes) {
  using enum schema::message_id;
  bool damaged = false;
  const auto first = first_field(bytes);
  if (is_saved_model(bytes)) {
    return saved_model;
  }
  if (first.number != 1 || first.kind != wire::kind::bytes) { // no nodes: only versions and a library
    for (const auto& f : wire::fields{bytes, damaged}) {
      if (f.number < 2 || f.number > 4 || (f.kind == wire::kind::bytes) == (f.number == 3)) {
        return none;
      }
      for (const auto& inner : wire::fields{f.bytes, damaged}) {
        if (inner.number > 3) {
          return none;
        }
      }
    }
    return !damaged && !bytes.empty() ? graph_def : none;
  }
  bool named = false;
  int seen = 0;
  for (const auto& f : wire::fields{first.bytes, damaged}) {
    if (f.kind == wire::kind::bytes && f.number == 1 && seen == 0) {
      named = is_printable(f.bytes);
      if (!named) { // dev_stats {device} within step_stats
        return first_field(f.bytes).bytes.starts_with('/') ? run_metadata : none;
      }
      if (f.bytes.starts_with('/') && f.bytes.find(':') != f.bytes.npos) {
        return step_stats; // a node's name has no colon
      }
    } else if (f.kind == wire::kind::bytes && f.number == 2 && named && is_printable(f.bytes) &&
               f.bytes.find_first_of("/:") == f.bytes.npos) {
      return graph_def;
    } else if (f.kind != wire::kind::bytes && named && f.number >= 3) {
      return cost_graph_def; // a NodeDef has no numbers
    }
    if (++seen == 8) {
      break;
    }
  }
  return !damaged && named && seen > 1 ? cost_graph_def : none;
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
  const auto* const f = schema::find(schema::of(id), &schema::field::number, number);
  const auto of = f == nullptr ? none : f->of;
  return of == meta_graph || of == graph_def || of == library || of == function_def || of == node_def ? of : none;
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
    std::size_t line = 0;
    for_each_node(is_text ? bytes : std::string_view{}, message, [&](std::string_view body) {
      const auto end = places[at++].first;
      line = body.data() == node ? 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, end), '\n')) : line;
    });
    return line;
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
