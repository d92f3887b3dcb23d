// SPDX-License-Identifier: BSL-1.0
/// Workloads as JSON, `"format": "weft.workload"`; see docs/formats.md and docs/schema/weft.workload.schema.json.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/io/detail/json_document.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <exception>
#include <istream>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::io {

namespace detail {

/// Finds ops by what an `inputs` entry calls them.
class op_names {
public:
  explicit op_names(const json_value& ops) {
    for (const json_value& o : ops) {
      if (const auto name = o.find("name")) {
        names_.emplace_back(name->text(), static_cast<op_id>(num_ops_));
      }
      ++num_ops_;
    }
    weft::sort(names_);
  }

  /// The op that a string (its name) or a number (its position) stands for.
  op_id find(const json_value& reference) const {
    if (reference.is_number()) {
      const auto v = reference.integer();
      if (v < 0 || static_cast<std::size_t>(v) >= num_ops_) {
        reference.fail("there is no op " + std::to_string(v) + ": the workload has " +
                       weft::detail::only_ops(num_ops_));
      }
      return static_cast<op_id>(v);
    }
    reference.expect(reference.is_string(), "the name or the number of an op, or [op, number of its output]");
    const std::string name = reference.text();
    const auto at = std::lower_bound(names_.begin(), names_.end(), std::pair{name, op_id{0}});
    if (at == names_.end() || at->first != name) {
      reference.fail("there is no op called " + in_quotes(name));
    }
    if (at + 1 != names_.end() && at[1].first == name) {
      reference.fail("the ops " + std::to_string(at->second) + " and " + std::to_string(at[1].second) +
                     " are both called " + in_quotes(name) + "; refer to one by its number, without quotes");
    }
    return at->second;
  }

private:
  std::size_t num_ops_ = 0;
  std::vector<std::pair<std::string, op_id>> names_;
};

inline kind_set kinds_from_json(const json_value& list) {
  kind_set kinds;
  for (const json_value& entry : list.array("a list of device kinds")) {
    const auto kind = parse_device_kind(entry.text());
    if (!kind) {
      entry.fail("unknown device kind " + in_quotes(entry.text()) +
                 ": use cpu, gpu, tpu, npu, fpga, dsp or kind8 to kind63");
    }
    kinds = kinds | *kind;
  }
  if (kinds.empty()) {
    list.fail("lists no device kind; leave the key out to allow any");
  }
  return kinds;
}

/// Adds an op without its edges; returns the number of its outputs.
inline std::uint32_t op_from_json(workload_builder& b, const json_value& o) {
  o.object({"name", "type", "kinds", "group", "work", "resident_bytes", "slots", "output_memory", "role", "inputs",
            "outputs"});
  op result;
  if (const auto name = o.find("name")) {
    result.name = name->text();
  }
  if (const auto type = o.find("type")) {
    result.type = type->text();
  }
  if (const auto kinds = o.find("kinds")) {
    result.kinds = kinds_from_json(*kinds);
  }
  if (const auto work = o.find("work")) {
    result.work = work->number();
  }
  if (const auto bytes = o.find("resident_bytes")) {
    result.resident_bytes = bytes->whole(0, workload_builder::max_total_bytes);
  }
  if (const auto slots = o.find("slots")) {
    result.slots = static_cast<std::uint32_t>(slots->whole(1, none - 1));
  }
  if (const auto role = o.find("role")) {
    const auto name = role->text();
    const auto* const found = std::ranges::find(op_role_names, name);
    if (name.empty() || found == std::end(op_role_names)) {
      role->fail("is not forward, gradient, parameter_gradient or update");
    }
    result.role = static_cast<op_role>(found - std::begin(op_role_names));
  }
  if (const auto memory = o.find("output_memory")) {
    const auto text = memory->text();
    if (text != "own" && text != "over_input" && text != "view") {
      memory->fail("is not own, over_input or view");
    }
    result.memory = text == "view"  ? output_memory::view
                    : text == "own" ? output_memory::own
                                    : output_memory::over_input;
  }
  const op_id v = b.add_op(std::move(result));
  std::uint32_t count = 0;
  if (const auto outputs = o.find("outputs")) {
    for (const json_value& bytes : outputs->array("a list of sizes in bytes")) {
      b.add_output(v, bytes.whole(0, workload_builder::max_total_bytes));
      ++count;
    }
  }
  return count;
}

/// Adds the edges into v.
inline void inputs_from_json(workload_builder& b, op_id v, const json_value& inputs, const op_names& names,
                             const std::vector<std::uint32_t>& num_outputs) {
  struct entry {
    op_id producer;
    std::uint32_t output;
    std::uint32_t position;
  };
  std::vector<entry> seen;
  seen.reserve(inputs.array("a list of inputs").size());
  for (const json_value& input : inputs) {
    std::int64_t output = 0;
    op_id producer = none;
    if (input.is_array()) {
      input.expect(input.size() == 2, "the name or the number of an op, or [op, number of its output]");
      producer = names.find(input[0]);
      output = input[1].integer();
    } else {
      producer = names.find(input);
    }
    if (const auto count = num_outputs[producer]; output < 0 || output >= count) {
      input.fail("op " + std::to_string(producer) + " has no output " + std::to_string(output) + ", it has " +
                 std::to_string(count) + " outputs; list their sizes as its \"outputs\"");
    }
    b.add_edge(producer, v, static_cast<std::uint32_t>(output));
    seen.push_back({producer, static_cast<std::uint32_t>(output), static_cast<std::uint32_t>(seen.size())});
  }
  weft::sort(seen, [](const entry& x, const entry& y) {
    return std::tie(x.producer, x.output, x.position) < std::tie(y.producer, y.output, y.position);
  });
  for (std::size_t i = 1; i < seen.size(); ++i) {
    if (seen[i].producer == seen[i - 1].producer && seen[i].output == seen[i - 1].output) {
      inputs[seen[i].position].fail("this input is listed twice");
    }
  }
}

inline workload workload_from_json(const json_document& document) {
  const json_value root{document};
  check_format(root, "weft.workload");
  root.object({"$schema", "format", "version", "description", "ops"});
  const auto ops = root.at("ops");
  std::size_t num_ops = 0;
  std::size_t num_tensors = 0;
  std::size_t num_edges = 0;
  for (const json_value& o : ops.array("a list of ops")) {
    const auto outputs = o.find("outputs");
    const auto inputs = o.find("inputs");
    num_tensors += outputs ? outputs->size() : 0;
    num_edges += inputs ? inputs->size() : 0;
    ++num_ops;
  }
  workload_builder b;
  b.reserve(num_ops, num_tensors, num_edges);
  std::vector<std::uint32_t> num_outputs;
  num_outputs.reserve(num_ops);
  for (const json_value& o : ops) {
    num_outputs.push_back(op_from_json(b, o));
  }
  const op_names names{ops};
  std::map<std::string, op_id> first_of_group; // 1 and "1" are different groups
  op_id v = 0;
  for (const json_value& o : ops) {
    if (const auto inputs = o.find("inputs")) {
      inputs_from_json(b, v, *inputs, names, num_outputs);
    }
    if (const auto label = o.find("group")) {
      label->expect(label->is_string() || (label->is_number() &&
                                           label->token().find_first_not_of("0123456789") == std::string_view::npos),
                    "a name or a number that is not negative");
      const auto [at, is_new] =
        first_of_group.emplace(label->is_string() ? '"' + label->text() : std::string{label->token()}, v);
      if (!is_new) {
        b.colocate(at->second, v);
      }
    }
    ++v;
  }
  num_outputs = {};
  try {
    return std::move(b).build();
  } catch (const cycle_error& e) {
    std::throw_with_nested(ops[e.ops.front()].located(e.what()));
  } catch (const constraint_error& e) {
    std::throw_with_nested(ops[e.ops.front()].located(e.what()));
  } catch (const error& e) {
    std::throw_with_nested(ops.located(e.what()));
  }
}

/// The reference to each op in `inputs` entries: its name if no other op has it, else its number.
template <class W>
std::vector<nlohmann::ordered_json> op_references(const W& w) {
  std::vector<nlohmann::ordered_json> references;
  for (const op_id v : ids(static_cast<std::size_t>(w.num_ops()))) {
    references.emplace_back(v);
  }
  if constexpr (requires { std::string{w.name(0)}; }) {
    std::vector<std::pair<std::string, op_id>> names; // as they come out, so that replaced bytes are seen
    for (const op_id v : ids(references.size())) {
      names.emplace_back(one_line(std::string{w.name(v)}), v);
    }
    weft::sort(names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& [text, v] = names[i];
      const bool shared = (i > 0 && names[i - 1].first == text) || (i + 1 < names.size() && names[i + 1].first == text);
      if (!shared && !w.name(v).empty()) {
        references[v] = std::string{w.name(v)};
      }
    }
  }
  return references;
}

} // namespace detail

/// Reads a workload. `file` is what errors call the input. Throws `parse_error` with file, line and the path of the
/// value; when the graph as a whole is unusable (`cycle_error`, `constraint_error`, `value_error`), that error is
/// nested in it.
inline workload read_workload_json(std::istream& in, const std::string& file = "<stream>") {
  const std::string text = read_all(in, file);
  return detail::workload_from_json({text, file});
}
/// The same from a file. Throws `error` if it cannot be opened.
inline workload read_workload_json(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_workload_json(in, path.string());
}

/// Reads native workloads for `read_model`. There are no measured times in them.
struct json_workload_reader {
  static constexpr std::string_view format() { return "weft JSON"; }
  static bool recognises(std::string_view bytes) { return detail::has_json_format(bytes, "weft.workload"); }
  static model read(std::string_view bytes, const std::string& file) {
    model m;
    m.ops = detail::workload_from_json({bytes, file});
    m.format = format();
    return m;
  }
};

/// Writes a workload, one op per line. Reading it back gives an equal workload. Complexity: O(n log n + m).
template <dataflow_workload W>
void write_workload_json(std::ostream& out, const W& w) {
  const auto references = detail::op_references(w);
  std::vector<std::uint32_t> output_number(static_cast<std::size_t>(w.num_tensors()), 0);
  for (const op_id v : ids(references.size())) {
    std::uint32_t k = 0;
    for (const tensor_id t : w.outputs(v)) {
      output_number[t] = k++;
    }
  }
  out << "{\n  \"format\": \"weft.workload\",\n  \"version\": 1,\n  \"ops\": [";
  for (const op_id v : ids(references.size())) {
    auto o = nlohmann::ordered_json::object();
    if constexpr (requires { std::string{w.name(v)}; }) {
      if (!w.name(v).empty()) {
        o["name"] = std::string{w.name(v)};
      }
    }
    if constexpr (requires { std::string{w.type(v)}; }) {
      if (!w.type(v).empty()) {
        o["type"] = std::string{w.type(v)};
      }
    }
    if (!w.kinds(v).is_all()) {
      for (unsigned k = 0; k < 64; ++k) {
        if (const auto kind = static_cast<device_kind>(k); w.kinds(v).contains(kind)) {
          o["kinds"].push_back(to_string(kind));
        }
      }
    }
    if (w.group(v) != none) {
      o["group"] = static_cast<std::uint32_t>(w.group(v));
    }
    if (w.work(v) != 0) {
      o["work"] = detail::json_number(w.work(v));
    }
    if (w.resident_bytes(v) != 0) {
      o["resident_bytes"] = static_cast<byte_count>(w.resident_bytes(v));
    }
    if constexpr (requires { std::uint32_t{w.slots(v)}; }) {
      if (w.slots(v) != 1) {
        o["slots"] = w.slots(v);
      }
    }
    if constexpr (requires { w.output_memory(v); }) {
      if (w.output_memory(v) != output_memory::own) {
        o["output_memory"] = w.output_memory(v) == output_memory::view ? "view" : "over_input";
      }
    }
    if constexpr (requires { op_role{w.role(v)}; }) {
      if (w.role(v) != role_by_name(w.type(v), w.name(v))) {
        o["role"] = to_string(w.role(v));
      }
    }
    for (const tensor_id t : w.inputs(v)) {
      const auto& producer = references[w.producer(t)];
      o["inputs"].push_back(output_number[t] == 0 ? producer : nlohmann::ordered_json{producer, output_number[t]});
    }
    for (const tensor_id t : w.outputs(v)) {
      o["outputs"].push_back(static_cast<byte_count>(w.bytes(t)));
    }
    out << (v == 0 ? "\n    " : ",\n    ") << detail::one_line(o);
  }
  out << "\n  ]\n}\n";
}

} // namespace weft::io
