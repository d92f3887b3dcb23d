// SPDX-License-Identifier: BSL-1.0
/// Makes the workload of a model's main graph.
#pragma once

#include "weft/graph/adjacency.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/interop/onnx/analysis.hpp"
#include "weft/interop/onnx/wire.hpp"
#include "weft/io/foreign_formats.hpp"
#include "weft/model/traced_workload.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace weft::onnx {

namespace detail {

/// Decodes a model. Throws `parse_error` for bytes that are no model, and for a model that would take far more memory
/// than it has bytes.
inline ::onnx::ModelProto decode(std::string_view bytes, const std::string& file) {
  if (!wire::is_model(bytes)) {
    throw parse_error(file, 0,
                      bytes.empty()               ? "the file is empty, not an ONNX model"
                      : bytes.starts_with('\x08') ? "not an ONNX model: it has no graph, or is damaged"
                                                  : "not an ONNX model: " + io::what_it_looks_like(bytes));
  }
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw parse_error(file, 0,
                      "larger than 2 GiB, which ONNX cannot hold in one file; keep the weights in external data");
  }
  const std::uint64_t most = 20 * std::uint64_t{bytes.size()} + (std::uint64_t{64} << 20);
  if (wire::decoded_bytes(bytes, most) > most) {
    throw parse_error(file, 0,
                      "decoding it would take over 20 times its size: it has millions of tiny parts, unlike any model");
  }
  ::onnx::ModelProto m;
  if (!m.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw parse_error(file, 0, "the model is damaged or truncated: its bytes are not a complete ModelProto");
  }
  return m;
}

/// Makes the workload of a model's main graph.
class workload_of_graph {
public:
  workload_of_graph(const ::onnx::ModelProto& m, const reader& options, const std::string& file)
      : g_{m.graph()}, file_{file}, analysis_{m, options, file}, count_{static_cast<std::size_t>(
                                                                   m.graph().node_size())},
        inputs_(count_), costs_(count_), is_size_(count_) {}

  model operator()() {
    resolve_names();
    for (const op_id v : visiting_order()) {
      costs_[v] = analysis_.visit(node(v));
      name_parameters(v);
    }
    model result{.format = "ONNX"};
    try {
      add_ops();
      result.parameters = ops_.named_parameters();
      result.ops = std::move(ops_).build();
    } catch (const cycle_error& e) {
      std::throw_with_nested(parse_error(file_, 0, "the nodes wait for each other in a cycle: " + path(e.ops)));
    } catch (const parse_error&) {
      throw;
    } catch (const error& e) {
      std::throw_with_nested(parse_error(file_, 0, one_line(e.what())));
    }
    for (const auto& x : g_.output()) {
      if (const op_id v = maker(x.name()); v != none) {
        result.returned.push_back(v);
      }
    }
    std::ranges::sort(result.returned);
    analysis_.check_given();
    result.assumed = analysis_.assumed();
    result.notes = analysis_.notes();
    result.float_bytes = analysis_.float_bytes();
    if (num_on_text_ != 0) {
      result.notes.push_back(io::counted(num_on_text_, "{op reads or makes strings, and runs|ops read or make "
                                                       "strings, and run} on CPUs only"));
    }
    if (folded_ != 0) {
      result.notes.push_back(io::counted(folded_, "{op makes|ops make} parameters from parameters alone: no work, "
                                                  "{its|their} results are resident with what reads them"));
    }
    if (num_of_sizes_ != 0) {
      result.notes.push_back(io::counted(num_of_sizes_, "{op works out sizes that are known before the model runs: it "
                                                        "takes|ops work out sizes that are known before the model "
                                                        "runs: they take} no time"));
    }
    return result;
  }

  // What was found out on the way: the names that a node reads, each once, with those that its bodies take from around
  // them; who makes a tensor, `none` if it is no node; what is known of a tensor; and whether a node's outputs are
  // known before the model runs.
  const std::vector<std::string_view>& inputs(op_id v) const { return inputs_[v]; }
  op_id maker(std::string_view name) const {
    const auto found = made_by_.find(name);
    return found == made_by_.end() ? none : found->second.op;
  }
  const value* find(std::string_view name) { return analysis_.main().find(name); }
  byte_count bytes_of(std::string_view name) {
    const value* v = find(name);
    return v == nullptr ? 0 : analysis_.bytes_of(*v, name);
  }
  bool makes_parameters(op_id v) const { return costs_[v].parameter; }
  /// True if what a node makes is known before the model runs and as little as a shape: hosts work it out.
  bool makes_sizes(op_id v) {
    const auto& n = node(v);
    bool some = false;
    for (const auto& x : n.output()) {
      if (x.empty()) {
        continue;
      }
      const auto& made = analysis_.main().values.at(x);
      const auto* elements = made.elements();
      if (made.parameter || elements == nullptr || elements->size() > std::size_t{ops::max_axes}) {
        return false;
      }
      some = true;
    }
    return some && n.domain() != "ai.weft";
  }

private:
  struct origin {
    op_id op = none;
    std::uint32_t output = 0; ///< counted without outputs that have no name
  };

  const ::onnx::NodeProto& node(op_id v) const { return g_.node(static_cast<int>(v)); }
  std::string name(op_id v) const {
    const auto& n = node(v);
    return !n.name().empty() ? n.name() : n.output_size() > 0 ? n.output(0) : std::string{};
  }
  std::string where(op_id v) const { return "node " + std::to_string(v) + " " + io::in_quotes(name(v)); }
  static std::string one_line(std::string text) {
    std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, '?');
    return text;
  }
  std::string path(const std::vector<op_id>& cycle) const {
    std::string text;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (i == 8) {
        return text + "... (" + std::to_string(cycle.size()) + " nodes)";
      }
      text += where(cycle[i]) + " -> ";
    }
    return text + where(cycle.front());
  }

  /// The producer of each tensor, and the inputs of each node, once each.
  void resolve_names() {
    std::uint32_t v = 0;
    for (const auto& n : g_.node()) {
      if (n.op_type().empty()) {
        throw parse_error(file_, 0, where(v) + " has no op type");
      }
      std::uint32_t output = 0;
      for (const auto& x : n.output()) {
        if (x.empty()) {
          continue;
        }
        const bool known = analysis_.main().values.contains(x);
        if (const auto [at, is_new] = made_by_.try_emplace(x, origin{v, output}); !is_new || known) {
          throw parse_error(file_, 0,
                            "tensor " + io::in_quotes(x) + " is an output of " + where(v) + " and " +
                              (known ? "an input or initializer of the graph" : "of " + where(at->second.op)) +
                              "; names of tensors must differ");
        }
        ++output;
      }
      ++v;
    }
    for (v = 0; v < count_; ++v) {
      const auto& n = node(v);
      std::set<std::string_view> names;
      add_reads(n, names);
      names.erase("");
      for (const auto x : names) {
        if (!made_by_.contains(x) && !analysis_.main().values.contains(x)) {
          throw parse_error(file_, 0,
                            where(v) + " reads tensor " + io::in_quotes(x) +
                              ", which no node makes and which is not an input or initializer");
        }
      }
      inputs_[v].assign(names.begin(), names.end());
    }
  }

  /// As in the file, if that is topological; else the first one that is ready, and members of cycles at the end.
  std::vector<op_id> visiting_order() const {
    std::vector<std::vector<op_id>> readers(count_);
    bool sorted = true;
    for (const op_id v : ids(count_)) {
      for (const auto x : inputs_[v]) {
        if (const auto made = made_by_.find(x); made != made_by_.end()) {
          readers[made->second.op].push_back(v);
          sorted = sorted && made->second.op < v;
        }
      }
    }
    auto order = sorted ? std::vector<op_id>{} : graph::acyclic_part(readers);
    std::vector<std::uint8_t> is_listed(count_, 0);
    for (const op_id v : order) {
      is_listed[v] = 1;
    }
    std::ranges::copy_if(ids(count_), std::back_inserter(order), [&](op_id v) { return !is_listed[v]; });
    return order;
  }

  /// Calls what a node makes of parameters as the first of these that has a name: a transposed weight like the weight.
  void name_parameters(op_id v) {
    if (!costs_[v].parameter) {
      return;
    }
    const auto& read = node(v).input();
    const auto first = std::ranges::find_if(read, [](const std::string& x) { return !x.empty(); });
    for (const auto& x : node(v).output()) {
      if (first != read.end()) {
        called_.emplace(x, called(*first));
      }
    }
  }
  /// The name of a parameter in the file.
  std::string_view called(std::string_view x) const {
    const auto found = called_.find(x);
    return found == called_.end() ? x : found->second;
  }

  void add_ops() {
    for (const op_id v : ids(count_)) {
      is_size_[v] = makes_sizes(v);
    }
    for (const op_id v : ids(count_)) {
      const auto& n = node(v);
      const auto& cost = costs_[v];
      folded_ += cost.parameter && n.op_type() != "Constant" && n.op_type() != "ConstantOfShape" ? 1u : 0u;
      num_on_text_ += cost.text ? 1u : 0u;
      op o{.work = cost.flop,
           .resident_bytes = cost.resident_bytes,
           .kinds = cost.text ? kind_set{device_kind::cpu} : kind_set::all(),
           .name = name(v),
           .type = detail::type_of(n)};
      std::optional<std::int64_t> group;
      if (n.domain() == "ai.weft") {
        group = restore(o, n, v);
      }
      const bool sizes = is_size_[v];
      num_of_sizes_ += sizes ? 1u : 0u;
      const auto reads = reads_of(v);
      if (cost.parameter || sizes) {
        ops_.add_view(std::move(o), reads);
      } else {
        ops_.add_op(std::move(o), reads);
      }
      for (const auto& x : n.output()) {
        if (!x.empty()) {
          ops_.add_output(v, cost.parameter || sizes ? 0 : analysis_.bytes_of(analysis_.main().values.at(x), x));
        }
      }
      if (group) {
        ops_.colocate(groups_.try_emplace(*group, v).first->second, v);
      }
    }
  }

  /// The values that a node reads; of parameters their storage, unless it makes parameters of them. Size ops need
  /// nothing but other sizes: a shape is known without the tensor.
  std::vector<traced_value> reads_of(op_id v) {
    std::vector<traced_value> reads;
    for (const auto x : inputs_[v]) {
      traced_value read;
      if (const auto made = made_by_.find(x); made != made_by_.end()) {
        read = {made->second.op, made->second.output};
      }
      if (is_size_[v] && (read.op == none || !is_size_[read.op])) {
        continue;
      }
      const value& known = analysis_.main().values.at(x);
      if (known.parameter && !costs_[v].parameter) {
        const value* storage = known.storage != nullptr ? known.storage : &known;
        const auto [at, is_new] = parameters_.try_emplace(storage, none);
        if (is_new) {
          at->second = ops_.add_parameter(analysis_.bytes_of(known, x), std::string{called(x)}).parameter;
        }
        read.parameter = at->second;
      }
      reads.push_back(read);
    }
    return reads;
  }

  /// Gives an op what `write_network` kept of it; the number of its group, if it was in one.
  std::optional<std::int64_t> restore(op& o, const ::onnx::NodeProto& n, op_id v) const {
    const auto bytes = number_attribute(n, "weft_resident_bytes", 0);
    if (bytes < 0) {
      throw parse_error(file_, 0, where(v) + ": weft_resident_bytes is negative");
    }
    o.resident_bytes += static_cast<byte_count>(bytes);
    if (const auto* kinds = attribute(n, "weft_kinds"); kinds != nullptr) {
      o.kinds = {};
      for (const auto field : io::split(kinds->s(), '|')) {
        const auto kind = parse_device_kind(field);
        if (!kind) {
          throw parse_error(file_, 0,
                            where(v) + ": weft_kinds names " + io::in_quotes(field) + ", no kind of device");
        }
        o.kinds = o.kinds | *kind;
      }
    }
    const auto* group = attribute(n, "weft_group");
    return group != nullptr ? std::optional{group->i()} : std::nullopt;
  }

  const ::onnx::GraphProto& g_;
  const std::string& file_;
  analysis analysis_;
  std::size_t count_;
  std::unordered_map<std::string_view, origin> made_by_;
  std::vector<std::vector<std::string_view>> inputs_; // names per node, each once
  std::vector<node_cost> costs_;
  std::vector<bool> is_size_;
  std::unordered_map<const value*, std::uint32_t> parameters_; // by storage, of those that are read
  std::unordered_map<std::string_view, std::string_view> called_; // by what nodes make of parameters: their names
  std::map<std::int64_t, op_id> groups_; // of what `write_network` wrote
  std::size_t folded_ = 0;
  std::size_t num_of_sizes_ = 0;
  std::size_t num_on_text_ = 0;
  traced_workload ops_;
};

} // namespace detail
} // namespace weft::onnx
