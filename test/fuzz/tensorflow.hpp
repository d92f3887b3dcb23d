// SPDX-License-Identifier: BSL-1.0
/// Any bytes as TensorFlow's graph files: returns if they are read or refused as they should be, see readers.hpp.
#pragma once

#include "fuzz/expect.hpp"
#include "weft/interop/tensorflow.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test::fuzz {

namespace detail {

/// What is read must be whole; a placement that is written into it must leave everything else as it was.
inline void check_graph(const tensorflow::reader& read, std::string_view bytes) {
  const auto m = checked(read.read(bytes, "<bytes>"));
  expect(read.recognises(bytes), "a graph is read but not recognised");
  if (m.format == "TensorFlow CostGraphDef") {
    return;
  }
  std::vector<device_id> placement(m.ops.num_ops());
  for (std::size_t v = 0; v < placement.size(); ++v) {
    placement[v] = v % 3 == 2 ? none : static_cast<device_id>(v % 2);
  }
  const std::vector<std::string> names{"/device:CPU:0", "/device:GPU:0"};
  std::ostringstream placed;
  const auto left_out = tensorflow::write_placed(placed, bytes, m.ops, placement, names);
  std::ostringstream again;
  tensorflow::write_placed(again, placed.str(), m.ops, placement, names);
  expect(placed.str() == again.str(), "a placement is written differently the second time");
  const auto text = placed.str();
  const tensorflow::detail::encoded_file file{text, "<placed>"};
  const bool is_saved = file.message == tensorflow::schema::message_id::saved_model;
  std::string which;
  tensorflow::detail::function_library copy{tensorflow::graph::of_graph_def(
    is_saved ? tensorflow::detail::chosen_graph(file.bytes, "", which).graph_def : file.bytes)};
  for (op_id v = 0; v < m.ops.num_ops(); ++v) {
    const auto at = copy.locate(m.ops.name(v));
    expect(at.has_value(), "a placed graph has lost a node");
    const auto& node = at->body->nodes[at->node];
    expect(node.op == m.ops.type(v), "a placed node is another one");
    const bool shared = !left_out.empty() && at->body != &copy.top(); // with a call that is placed elsewhere
    const bool is_argument = node.op == "_Arg"; // of a function; a call gave it nothing
    expect(shared || is_argument || placement[v] == none || node.device == names[placement[v]],
           "a node is not where it was placed");
  }
}

} // namespace detail

/// Texts are read as graphs, and as the binary encoding of what they say.
inline void tensorflow_text(std::string_view bytes) {
  refused_in_one_line([&] { detail::check_graph({.batch = 2}, bytes); });
  refused_in_one_line([&] {
    const auto encoded = tensorflow::from_text(bytes, tensorflow::schema::message_id::graph_def, "<bytes>");
    const auto text = tensorflow::to_text(encoded, tensorflow::schema::message_id::graph_def);
    std::string copy;
    try {
      copy = tensorflow::from_text(text, tensorflow::schema::message_id::graph_def, "<copy>");
    } catch (const error&) {
      throw std::logic_error{"a text that was written is refused"};
    }
    const auto nan_free = text.find("nan") == text.npos; // of which there are many
    expect(!nan_free || copy == encoded, "a text that was written says something else");
  });
}

inline void tensorflow_binary(std::string_view bytes) {
  refused_in_one_line([&] { detail::check_graph({.batch = 2}, bytes); });
}

/// Models with signatures and functions, as text or binary; calls are replaced, or stay.
inline void tensorflow_saved_model(std::string_view bytes) {
  refused_in_one_line([&] { detail::check_graph({.batch = 2}, bytes); });
  refused_in_one_line([&] { detail::check_graph({.trips = {{"*", 3}}, .keep_functions = true}, bytes); });
}

/// Files with times, as text or binary; also as workloads.
inline void tensorflow_costs(std::string_view bytes) {
  refused_in_one_line([&] {
    for (const auto& [name, seconds] : tensorflow::read_costs(bytes, "<bytes>").seconds) {
      expect(seconds >= 0 && std::isfinite(seconds), "a time is negative or infinite");
    }
  });
  refused_in_one_line([&] { detail::check_graph({.batch = 2}, bytes); });
}

} // namespace weft::test::fuzz
