// SPDX-License-Identifier: BSL-1.0
/// The graph of a SavedModel, and the inputs and outputs of its signatures.
///
/// Source: tensorflow/core/protobuf/{saved_model, meta_graph}.proto, tensorflow/python/saved_model/tag_constants.py.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/interop/tensorflow/graph.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tensorflow::detail {

/// A computation that a model offers: the names of the tensors that it gives.
struct signature {
  std::string_view name;
  std::vector<std::string> outputs = {};
};

/// One graph of a SavedModel.
struct meta_graph {
  std::string_view graph_def = {};
  std::vector<std::string_view> tags = {};  ///< sorted
  std::vector<signature> signatures = {};   ///< sorted by name; without those of TensorFlow's own, for initialising

  std::string tags_text() const { return io::joined(tags, {}, ","); }
  std::string signatures_text() const { return io::joined(signatures, &signature::name, ","); }
};

/// A TensorInfo: a dense tensor has one name; a sparse one three; any other one those of its components.
inline void append_tensors(std::string_view info, std::vector<std::string>& names, int depth = 0) {
  for (const auto& f : wire::fields{info}) {
    if (f.number == 1 && !f.bytes.empty()) {
      names.emplace_back(f.bytes);
    } else if (f.number == 4) {
      for (const auto& part : wire::fields{f.bytes}) {
        names.emplace_back(part.bytes);
      }
    } else if (f.number == 5 && depth < 16) {
      for (const auto& part : wire::fields{f.bytes, 2}) {
        append_tensors(part.bytes, names, depth + 1);
      }
    }
  }
}

inline meta_graph meta_graph_of(std::string_view bytes) {
  meta_graph m;
  for (const auto& f : wire::fields{bytes}) {
    if (f.number == 1) {
      for (const auto& info : wire::fields{f.bytes, 4}) {
        m.tags.push_back(info.bytes);
      }
    } else if (f.number == 2) {
      m.graph_def = f.bytes;
    } else if (f.number == 5) {
      signature s{text_field(f.bytes, 1)};
      for (const auto& part : wire::fields{text_field(f.bytes, 2), 2}) {
        append_tensors(text_field(part.bytes, 2), s.outputs);
      }
      if (!s.name.starts_with("__saved_model_")) {
        m.signatures.push_back(std::move(s));
      }
    }
  }
  weft::sort(m.tags);
  std::ranges::sort(m.signatures, {}, &signature::name);
  return m;
}

/// The graph with these tags, as `serve` or `serve,gpu`; if none are given, the first with the tag `serve`, or just the
/// first. `note` gets which one that was, if there are several. Throws `error` if there is none.
inline meta_graph chosen_graph(std::string_view saved_model, std::string_view tags, std::string& note) {
  std::vector<meta_graph> all;
  for (const auto& f : wire::fields{saved_model, 2}) {
    all.push_back(meta_graph_of(f.bytes));
  }
  if (all.empty()) {
    throw error("the SavedModel has no graph");
  }
  const auto known = io::joined(all, [](const meta_graph& m) { return io::in_quotes(m.tags_text()); });
  auto wanted = io::split(tags, ',');
  weft::sort(wanted);
  auto found = tags.empty() ? std::ranges::find_if(all, [](const meta_graph& m) {
    return std::ranges::binary_search(m.tags, "serve");
  }) : std::ranges::find(all, wanted, &meta_graph::tags);
  if (found == all.end() && !tags.empty()) {
    throw error("the SavedModel has no graph with the tags " + io::in_quotes(tags) + "; there is " + known);
  }
  found = found == all.end() ? all.begin() : found;
  if (all.size() > 1) {
    note = "of " + std::to_string(all.size()) + " graphs that with the tags " + io::in_quotes(found->tags_text()) +
           " is taken; give tags to choose among " + known;
  }
  return std::move(*found);
}

/// The signature of that name; if none is given, `serving_default`, or the first. `note` gets which one it is. Throws
/// `error` if there is none.
inline const signature& chosen_signature(const meta_graph& m, std::string_view name, std::string& note) {
  if (m.signatures.empty()) {
    throw error("the SavedModel has no signature, so nothing tells what a step computes: save it with signatures, or "
                "name the nodes that a step fetches");
  }
  auto found = std::ranges::find(m.signatures, name.empty() ? "serving_default" : name, &signature::name);
  if (found == m.signatures.end() && !name.empty()) {
    throw error("the SavedModel has no signature " + io::in_quotes(name) + "; there is " + m.signatures_text());
  }
  found = found == m.signatures.end() ? m.signatures.begin() : found;
  if (found->outputs.empty()) {
    throw error("signature " + io::in_quotes(found->name) + " gives nothing; there is " + m.signatures_text());
  }
  note = "a step computes the signature " + io::in_quotes(found->name);
  note += m.signatures.size() > 1 ? "; there is " + io::on_one_line(m.signatures_text()) : "";
  return *found;
}

} // namespace weft::tensorflow::detail
