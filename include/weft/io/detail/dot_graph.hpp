// SPDX-License-Identifier: BSL-1.0
/// A directed graph in the DOT language: its tokens, and the nodes and edges with those attributes that weigh them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/numbering.hpp"
#include "weft/core/sort.hpp"
#include "weft/io/detail/json_text.hpp" // line_at
#include "weft/io/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace weft::io::detail {

/// Splits a text into the tokens of DOT. Comments are skipped, and so are lines that begin with `#`.
class dot_lexer {
public:
  struct token {
    char kind = 0; ///< `i` for a word or number, `"` for a quoted string, `<` for HTML, `>` for an arrow, `-` for an
                   ///< undirected edge, another sign for itself, 0 at the end
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    bool is_id() const { return kind == 'i' || kind == '"' || kind == '<'; }
  };

  dot_lexer(std::string_view text, std::string file) : text_{text}, file_{std::move(file)} {
    if (text.size() >= std::numeric_limits<std::uint32_t>::max()) {
      throw parse_error(file_, 0, "DOT of 4 GiB or more is not read");
    }
    at_ = text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;
  }

  token next() {
    skip();
    const auto begin = at_;
    if (at_ >= text_.size()) {
      return make(0, begin);
    }
    const char c = text_[at_++];
    if (c == '"') {
      read_quoted(begin);
      return make('"', begin);
    }
    if (c == '<') {
      read_html(begin);
      return make('<', begin);
    }
    if (c == '-' && at_ < text_.size() && (text_[at_] == '>' || text_[at_] == '-')) {
      const char kind = text_[at_++];
      return make(kind, begin);
    }
    if (std::string_view{"{}[];,=:"}.find(c) != std::string_view::npos) {
      return make(c, begin);
    }
    if (c == '-' || c == '.' || is_digit(c)) { // a number, perhaps with an exponent, or a name that begins like one
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) {
        const bool exponent = (text_[at_] == 'e' || text_[at_] == 'E') && is_digit(text_[at_ - 1]);
        ++at_;
        at_ += exponent && at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+') ? 1u : 0u;
      }
      return make('i', begin);
    }
    if (!is_letter(c)) {
      fail(begin, "this is not DOT: " + in_quotes(text_.substr(begin, 20)));
    }
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
      ++at_;
    }
    return make('i', begin);
  }

  std::string_view text(const token& t) const { return text_.substr(t.begin, t.end - t.begin); }

  /// What an id means: without quotes, its pieces joined. Escapes other than that of a quote remain.
  std::string value(const token& t) const {
    if (t.kind != '"') {
      return std::string{text(t)};
    }
    std::string result;
    bool inside = false;
    for (std::size_t i = t.begin; i < t.end; ++i) {
      if (text_[i] == '"') {
        inside = !inside;
      } else if (inside && text_[i] == '\\' && text_[i + 1] == '"') {
        result += text_[++i];
      } else if (inside && text_[i] == '\\' && text_[i + 1] == '\\') { // so that the next quote ends the string
        result += text_.substr(i++, 2);
      } else if (inside && text_[i] == '\\' && text_[i + 1] == '\n') {
        ++i; // a line goes on
      } else if (inside) {
        result += text_[i];
      }
    }
    return result;
  }

  bool is_word(const token& t, std::string_view keyword) const { return t.kind == 'i' && lower(text(t)) == keyword; }

  std::size_t line(std::size_t position) const { return line_at(text_, position); }
  std::string_view all() const { return text_; }
  const std::string& file() const { return file_; }
  [[noreturn]] void fail(std::size_t position, const std::string& problem) const {
    throw parse_error(file_, line(position), problem);
  }

private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 128;
  }

  token make(char kind, std::size_t begin) const {
    return {kind, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
  }

  void skip() {
    for (;;) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n\f\v", at_), text_.size());
      const auto rest = text_.substr(at_);
      if (rest.starts_with("//") || (rest.starts_with('#') && (at_ == 0 || text_[at_ - 1] == '\n'))) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const auto end = text_.find("*/", at_ + 2);
        if (end == text_.npos) {
          fail(at_, "the comment does not end");
        }
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  /// After the opening quote. Strings with a plus sign between them are one.
  void read_quoted(std::size_t begin) {
    for (;;) {
      while (at_ < text_.size() && text_[at_] != '"') {
        at_ += text_[at_] == '\\' ? 2u : 1u;
      }
      if (at_ >= text_.size()) {
        fail(begin, "the string does not end");
      }
      const auto end = ++at_;
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      if (at_ < text_.size() && text_[at_] == '+') {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_ + 1), text_.size());
        if (at_ < text_.size() && text_[at_] == '"') {
          ++at_;
          continue;
        }
        fail(begin, "a plus sign joins two strings in quotes");
      }
      at_ = end;
      return;
    }
  }

  void read_html(std::size_t begin) {
    for (std::size_t depth = 1; depth > 0; ++at_) {
      if (at_ >= text_.size()) {
        fail(begin, "the HTML text does not end");
      }
      depth += text_[at_] == '<' ? 1u : 0u;
      depth -= text_[at_] == '>' ? 1u : 0u;
    }
  }

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
};

/// The attributes that are kept; `values` are tokens, absent where nothing is given. Where people have several names
/// for the same thing, the earlier in the list counts.
template <std::size_t Keys>
struct dot_attributes {
  std::array<dot_lexer::token, Keys> values{};
  std::array<std::uint8_t, Keys> rank{};
};

enum class dot_node_key { work, bytes, resident_bytes, label, name, type, kinds, colocation, slots, outputs, count };
enum class dot_edge_key { bytes, tensor, count };

struct dot_key {
  std::string_view name;
  std::size_t key;
};

inline constexpr auto dot_node_keys = [] {
  using k = dot_node_key;
  const auto n = [](k key) { return static_cast<std::size_t>(key); };
  return std::array<dot_key, 19>{{{"work", n(k::work)},
                                  {"work_weight", n(k::work)},
                                  {"weight", n(k::work)},
                                  {"comp", n(k::work)},
                                  {"computation", n(k::work)},
                                  {"cost", n(k::work)},
                                  {"size", n(k::work)},
                                  {"bytes", n(k::bytes)},
                                  {"comm_weight", n(k::bytes)},
                                  {"comm", n(k::bytes)},
                                  {"resident_bytes", n(k::resident_bytes)},
                                  {"label", n(k::label)},
                                  {"name", n(k::name)},
                                  {"type", n(k::type)},
                                  {"kinds", n(k::kinds)},
                                  {"colocation", n(k::colocation)},
                                  {"slots", n(k::slots)},
                                  {"outputs", n(k::outputs)},
                                  {"", n(k::count)}}};
}();

inline constexpr auto dot_edge_keys = [] {
  using k = dot_edge_key;
  const auto n = [](k key) { return static_cast<std::size_t>(key); };
  return std::array<dot_key, 7>{{{"bytes", n(k::bytes)},
                                 {"comm_weight", n(k::bytes)},
                                 {"comm", n(k::bytes)},
                                 {"size", n(k::bytes)},
                                 {"weight", n(k::bytes)},
                                 {"tensor", n(k::tensor)},
                                 {"", n(k::count)}}};
}();

/// Attributes of Graphviz's own that may begin with a number; what else does may be a weight. Ascending.
inline constexpr std::string_view graphviz_attributes[]{
  "area", "arrowsize", "class", "color", "colorscheme", "comment", "constraint", "distortion", "fillcolor",
  "fixedsize", "fontcolor", "fontname", "fontsize", "gradientangle", "group", "head_lp", "headclip", "headlabel",
  "headport", "height", "href", "id", "image", "imagepos", "imagescale", "label", "labelangle", "labeldistance",
  "labelfontcolor", "labelfontsize", "labelloc", "layer", "len", "lhead", "lp", "ltail", "margin", "minlen", "order",
  "ordering", "orientation", "penwidth", "peripheries", "pin", "pos", "rank", "rects", "regular", "root", "samehead",
  "sametail", "samplepoints", "shape", "showboxes", "sides", "skew", "sortv", "style", "tail_lp", "tailclip",
  "taillabel", "tailport", "target", "tooltip", "url", "vertices", "weight", "width", "xlabel", "xlp", "z"};

/// Reads a graph statement by statement. Nodes are numbered in the order in which they are first mentioned. An
/// attribute that is repeated at many nodes by a default is kept once.
class dot_graph {
public:
  using token = dot_lexer::token;
  using node_attributes = dot_attributes<static_cast<std::size_t>(dot_node_key::count)>;
  using edge_attributes = dot_attributes<static_cast<std::size_t>(dot_edge_key::count)>;
  static constexpr std::size_t max_depth = 64; ///< of subgraphs

  struct node {
    token id;
    std::uint32_t attributes; ///< in `node_sets`
  };
  struct edge {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t attributes; ///< in `edge_sets`
    std::uint32_t position;   ///< of its statement
  };

  dot_graph(std::string_view text, const std::string& file) : lexer{text, file} {
    advance();
    if (lexer.is_word(now_, "strict")) {
      strict = true;
      advance();
    }
    if (lexer.is_word(now_, "graph")) {
      fail("the graph is undirected, but data flows one way: write 'digraph' and '->'");
    }
    if (!lexer.is_word(now_, "digraph")) {
      fail("expected 'digraph'");
    }
    advance();
    if (now_.is_id()) {
      advance();
    }
    read_body();
    if (now_.kind != 0) {
      fail("expected nothing after the graph; write one graph per file");
    }
  }

  dot_lexer lexer;
  bool strict = false; ///< an edge that is given again is the same one
  std::vector<node> nodes;
  std::vector<edge> edges;
  std::vector<node_attributes> node_sets{node_attributes{}};
  std::vector<edge_attributes> edge_sets{edge_attributes{}};
  /// Names of attributes with numbers that are not kept and nothing that Graphviz knows; the first few.
  std::vector<std::string> unread_of_nodes;
  std::vector<std::string> unread_of_edges;

private:
  void advance() { now_ = lexer.next(); }

  [[noreturn]] void fail(const std::string& problem) const {
    lexer.fail(now_.begin, problem + (now_.kind == 0 ? ", but the file ends" : ", at " + in_quotes(lexer.text(now_))));
  }

  void expect(char kind, const char* what) {
    if (now_.kind != kind) {
      fail(std::string{"expected "} + what);
    }
    advance();
  }

  /// `{ statements }`. Defaults that are set inside end with it.
  void read_body() {
    if (++depth_ > max_depth) {
      fail("subgraphs are nested more than " + std::to_string(max_depth) + " deep");
    }
    expect('{', "'{'");
    const auto node_default = node_default_;
    const auto edge_default = edge_default_;
    while (now_.kind != '}') {
      if (now_.kind == ';') {
        advance();
      } else {
        read_statement();
      }
    }
    node_default_ = node_default;
    edge_default_ = edge_default;
    --depth_;
    advance();
  }

  void read_statement() {
    if (lexer.is_word(now_, "node") || lexer.is_word(now_, "edge") || lexer.is_word(now_, "graph")) {
      const char which = lexer.text(now_)[0];
      advance();
      if (now_.kind != '[') {
        fail("expected '[' after a keyword; a node of that name needs quotes");
      }
      if (which == 'n' || which == 'N') {
        node_default_ = read_attributes(node_sets, node_default_, dot_node_keys, unread_of_nodes);
      } else if (which == 'e' || which == 'E') {
        edge_default_ = read_attributes(edge_sets, edge_default_, dot_edge_keys, unread_of_edges);
      } else {
        skip_attributes();
      }
      return;
    }
    const auto position = now_.begin;
    const auto first_mention = mentions_.size();
    const auto first_edge = edges.size();
    const bool subgraph = read_end(true);
    if (now_.kind == '=') { // an attribute of the graph, which was taken for a node
      advance();
      if (!now_.is_id()) {
        fail("expected a value");
      }
      advance();
      return;
    }
    if (!subgraph && now_.kind != '>' && now_.kind != '-') {
      mentions_.push_back(node_called(last_id_));
      if (now_.kind == '[') {
        auto& set = nodes[mentions_.back()].attributes;
        set = read_attributes(node_sets, set, dot_node_keys, unread_of_nodes);
      }
      end_statement(first_mention);
      return;
    }
    if (!subgraph) {
      mentions_.push_back(node_called(last_id_));
    }
    auto left = ends_since(first_mention);
    while (now_.kind == '>' || now_.kind == '-') {
      if (now_.kind == '-') {
        fail("'--' is an undirected edge, but data flows one way: write '->'");
      }
      advance();
      const auto begin = mentions_.size();
      if (!read_end(false)) {
        mentions_.push_back(node_called(last_id_));
      }
      auto right = ends_since(begin);
      end_statement(first_mention);
      connect(left, right, position);
      left = std::move(right);
    }
    if (now_.kind == '[' && edges.size() > first_edge) {
      const auto set = read_attributes(edge_sets, edge_default_, dot_edge_keys, unread_of_edges);
      for (auto e = first_edge; e < edges.size(); ++e) {
        edges[e].attributes = set;
      }
    } else if (now_.kind == '[') {
      skip_attributes();
    }
    end_statement(first_mention);
  }

  /// One end of an edge: a subgraph, whose nodes are then in `mentions_` (returns true), or an id, in `last_id_`, with
  /// a port, which is skipped.
  bool read_end(bool may_be_setting) {
    const bool named = lexer.is_word(now_, "subgraph");
    if (named) {
      advance();
      if (now_.is_id()) {
        advance();
      }
    }
    if (named || now_.kind == '{') {
      read_body();
      return true;
    }
    if (!now_.is_id()) {
      fail(may_be_setting ? "expected a node, an edge, a subgraph or '}'" : "expected a node or a subgraph");
    }
    last_id_ = now_;
    advance();
    for (int ports = 0; ports < 2 && now_.kind == ':'; ++ports) {
      advance();
      if (!now_.is_id()) {
        fail("expected a port");
      }
      advance();
    }
    return false;
  }

  std::vector<std::uint32_t> ends_since(std::size_t begin) const {
    std::vector<std::uint32_t> ends(mentions_.begin() + static_cast<std::ptrdiff_t>(begin), mentions_.end());
    sort_unique(ends);
    return ends;
  }

  /// Outside of subgraphs nobody asks what was mentioned.
  void end_statement(std::size_t first_mention) {
    if (depth_ == 1) {
      mentions_.resize(first_mention);
    }
  }

  void connect(const std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& right,
               std::uint32_t position) {
    if (edges.size() + left.size() * right.size() > 10'000 + lexer.all().size() / 2) { // all pairs of two subgraphs
      lexer.fail(position, "edges between subgraphs are too many for a file of this size");
    }
    for (const auto from : left) {
      for (const auto to : right) {
        edges.push_back({from, to, edge_default_, position});
      }
    }
  }

  /// Adds `[key=value, ...] ...` to a set of attributes, as a new set if it has any that are kept.
  template <class Set, std::size_t N>
  std::uint32_t read_attributes(std::vector<Set>& sets, std::uint32_t base, const std::array<dot_key, N>& keys,
                                std::vector<std::string>& unread) {
    Set set = sets[base];
    bool changed = false;
    while (now_.kind == '[') {
      advance();
      while (now_.kind != ']') {
        if (!now_.is_id()) {
          fail("expected an attribute or ']'");
        }
        const auto key = lower(lexer.value(now_));
        advance();
        token value{};
        if (now_.kind == '=') {
          advance();
          if (!now_.is_id()) {
            fail("expected a value");
          }
          value = now_;
          advance();
        }
        const auto known = std::find_if(keys.begin(), keys.end() - 1, [&](const dot_key& k) { return k.name == key; });
        if (known != keys.end() - 1 && value.kind != 0) {
          const auto rank = static_cast<std::uint8_t>(known - keys.begin());
          auto& old = set.values[known->key];
          if (old.kind == 0 || rank <= set.rank[known->key]) {
            old = value;
            set.rank[known->key] = rank;
            changed = true;
          }
        } else if (value.kind != 0) {
          note_unread(key, value, unread);
        }
        if (now_.kind == ',' || now_.kind == ';') {
          advance();
        }
      }
      advance();
    }
    if (!changed) {
      return base;
    }
    sets.push_back(set);
    return static_cast<std::uint32_t>(sets.size() - 1);
  }

  void skip_attributes() {
    std::vector<edge_attributes> ignored(1);
    std::vector<std::string> unread;
    (void)read_attributes(ignored, 0, dot_edge_keys, unread);
  }

  static bool is_unit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '%'; }

  /// Remembers what may be a weight: a number, perhaps with a unit, or a label of an edge that is one.
  void note_unread(const std::string& key, const token& value, std::vector<std::string>& unread) const {
    constexpr std::size_t most = 6;
    const auto written = lexer.value(value);
    const auto text = trim(written);
    double number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
    const bool is_amount = status == std::errc{} && unit.size() <= 6 &&
                           std::all_of(unit.begin(), unit.end(), [](char c) { return is_unit(c); });
    const bool is_label = key == "label" && &unread == &unread_of_edges && unit.empty();
    const bool is_known = std::binary_search(std::begin(graphviz_attributes), std::end(graphviz_attributes), key);
    if (is_amount && (is_label || !is_known) && unread.size() < most &&
        std::find(unread.begin(), unread.end(), key) == unread.end()) {
      unread.push_back(key);
    }
  }

  /// The number of the node with that id, which is new if nothing mentioned it before.
  std::uint32_t node_called(const token& id) {
    const std::uint32_t number = names_.number(lexer.value(id));
    if (number == nodes.size()) {
      nodes.push_back({id, node_default_});
    }
    return number;
  }

  token now_;
  token last_id_;
  std::size_t depth_ = 0;
  std::uint32_t node_default_ = 0;
  std::uint32_t edge_default_ = 0;
  std::vector<std::uint32_t> mentions_; // nodes of the subgraphs that are open, in order
  numbering<std::string> names_; // of nodes
};

} // namespace weft::io::detail
