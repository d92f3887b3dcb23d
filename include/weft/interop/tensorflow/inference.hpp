// SPDX-License-Identifier: BSL-1.0
/// Shapes of all tensors of a graph, and the work of its ops.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/interop/tensorflow/functions.hpp"
#include "weft/interop/tensorflow/shape_table.hpp"
#include "weft/interop/tensorflow/work.hpp"
#include "weft/workload/model.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow {

/// Values for the extents that a file leaves open.
struct shape_options {
  std::uint64_t batch = 1;                                ///< for unknown outermost extents
  std::uint64_t extent = 1;                               ///< for all other unknown extents
  std::map<std::string, nn::extents, std::less<>> shapes = {}; ///< of inputs and first outputs, by names of nodes
};

namespace detail {

/// The assumptions made, for notes.
struct assumptions {
  bool uses_batch = false;                                   ///< whether any shape depends on the batch size
  std::vector<assumed_size> open = {};                       ///< nodes of outputs whose other extents nothing tells
  std::set<std::string, std::less<>> given = {};             ///< nodes whose shapes an option gave
  std::vector<std::string> deduced = {};                     ///< inputs whose shapes come from their readers
  std::vector<std::string> guessed = {};                     ///< inputs whose shapes nothing tells
  std::size_t at_most = 0;                                   ///< outputs whose extents data decide
  std::size_t unknown_shapes = 0;                            ///< other outputs of which nothing is known
  std::map<std::string, std::size_t, std::less<>> no_formula = {}; ///< ops per type that is not known
  std::set<std::string, std::less<>> bad_functions = {};     ///< functions that could not be looked into
};

/// Numbers of extents of outputs that are assumed, by the kind of assumption.
struct assumed_extents {
  std::uint32_t first = 0, others = 0, at_most = 0, uses_batch = 0; ///< of the first output and of others, but batches

  assumed_extents& operator+=(const assumed_extents& x) {
    first += x.first;
    others += x.others;
    at_most += x.at_most;
    uses_batch += x.uses_batch;
    return *this;
  }
  friend assumed_extents operator-(const assumed_extents& a, const assumed_extents& b) {
    return {a.first - b.first, a.others - b.others, a.at_most - b.at_most, a.uses_batch - b.uses_batch};
  }
};

/// The outputs and the cost of a call of a function.
struct called {
  std::vector<tensor_info> outputs = {};
  double work = 0;
  byte_count resident_bytes = 0; ///< of the parameters inside
  bool text = false;             ///< whether ops inside read or make texts
};

/// Tells that of a node that calls functions, from its inputs; nothing if it cannot. `last`: in no later round its
/// inputs are known any better.
using call_rule = std::function<std::optional<called>(const node&, std::span<const tensor_info* const>, bool last)>;

/// Infers shapes front to back. Edges that close a loop are left out: what a loop does is counted once.
class inference {
public:
  /// The first nodes of a function are its `arguments`, of these shapes, as far as they are known; what it `returns`
  /// are outputs, too, though no node reads them.
  inference(const graph& g, const shape_options& options, assumptions& assumed, const call_rule& calls,
            std::span<const tensor_info> arguments = {}, std::span<const source> returns = {})
      : g_{g}, options_{options}, assumed_{assumed}, calls_{calls}, arguments_{arguments}, order_{in_order(g)} {
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      families_.push_back(find_op(g_[v].op));
      rules_.push_back(shape_rule_of(g_[v].op));
    }
    number_outputs(returns);
    work_.assign(g_.num_nodes(), 0);
    resident_.assign(g_.num_nodes(), 0);
    calls_on_text_.assign(g_.num_nodes(), false);
    assumed_of_.resize(g_.num_nodes());
    is_settled_.assign(g_.num_nodes(), false);
    for (int round = 0; round < 4; ++round) { // each may tell more about inputs without a shape
      run();
      if (!deduce()) {
        break;
      }
    }
    guess_ = true;
    run();
    count_assumptions();
  }

  const graph& nodes() const { return g_; }
  std::size_t num_loops() const { return num_loops_; } ///< how many edges lead back

  /// Whether an input is the edge that closes a loop.
  bool leads_back(op_id v, const source& s) const {
    return closes_loop(g_, v, s);
  }
  /// The numbers of v's outputs that exist in the workload, ascending.
  std::span<const std::uint32_t> ports(op_id v) const {
    return std::span{ports_}.subspan(first_[v], first_[v + 1] - first_[v]);
  }
  const tensor_info& output(op_id v, std::size_t i) const { return tensors_[first_[v] + i]; }
  const tensor_info& output(const source& s) const { return output(s.from, position(s.from, s.port)); }
  /// Where output number `port` is among `ports(v)`.
  std::size_t position(op_id v, std::uint32_t port) const {
    const auto all = ports(v);
    return static_cast<std::size_t>(std::ranges::lower_bound(all, port) - all.begin());
  }
  double work(op_id v) const { return work_[v]; }
  /// Of the parameters inside the functions that v calls.
  byte_count resident_bytes(op_id v) const { return resident_[v]; }
  /// Whether v reads or makes texts, or an op inside the functions that it calls does.
  bool handles_text(op_id v) const {
    const auto is_text = [](const tensor_info& t) { return value_type(t.type) == dt::string; };
    for (std::size_t i = 0; i < ports(v).size(); ++i) {
      if (is_text(output(v, i))) {
        return true;
      }
    }
    const auto inputs = g_.inputs(v);
    return calls_on_text_[v] || type_attribute(g_[v], "T") == dt::string ||
           std::ranges::any_of(inputs, [&](const source& s) {
             return !s.is_control() && is_text(output(s));
           });
  }

  static std::string text(const nn::extents& dims) {
    return "[" + io::joined(dims, [](std::uint64_t d) { return std::to_string(d); }) + "]";
  }

private:
  std::optional<shape_source> source_of(op_id v) const {
    return rules_[v] != nullptr ? std::optional{rules_[v]->source} : std::nullopt;
  }
  bool is_placeholder(op_id v) const { return source_of(v) == shape_source::placeholder; }

  std::size_t usual_outputs(op_id v) const {
    if (updates_resource(g_[v].op)) {
      return 0;
    }
    const auto* const family = families_[v];
    const std::size_t count = family == nullptr ? 1 : family->outputs;
    const auto declared = shapes_attribute(g_[v], "_output_shapes").size();
    return declared == 0 ? count : std::min<std::size_t>(declared, 16);
  }

  /// An output exists if it is read; also if it is known to be there, up to the sixteenth.
  void number_outputs(std::span<const source> returns) {
    std::vector<std::pair<op_id, std::uint32_t>> all;
    for (const auto& s : returns) {
      all.emplace_back(s.from, s.port);
    }
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      for (const auto& s : g_.inputs(v)) {
        if (!s.is_control()) {
          all.emplace_back(s.from, s.port);
          num_loops_ += leads_back(v, s) ? 1u : 0u;
        }
      }
      const auto count = usual_outputs(v);
      for (std::uint32_t i = 0; i < count; ++i) {
        all.emplace_back(v, i);
      }
    }
    sort_unique(all);
    first_.assign(g_.num_nodes() + 1, 0);
    for (const auto& [v, port] : all) {
      ++first_[v + 1];
      ports_.push_back(port);
    }
    for (std::size_t v = 0; v < g_.num_nodes(); ++v) {
      first_[v + 1] += first_[v];
    }
    tensors_.resize(all.size());
  }

  void run() {
    assumed_in_round_ = {};
    unknown_ = 0;
    for (const op_id v : order_) {
      if (is_settled_[v]) { // in a round before, by what does not change any more
        assumed_in_round_ += assumed_of_[v];
        tell_work(v);
      } else {
        const auto before = assumed_in_round_;
        infer(v);
        assumed_of_[v] = assumed_in_round_ - before;
      }
    }
  }
  void tell_work(op_id v) {
    if (guess_) {
      gather_inputs(v);
      work_[v] = work_of(call_of(g_[v], inputs_, families_[v] != nullptr), families_[v], inputs_, outputs_of(v));
    }
  }
  std::span<const tensor_info> outputs_of(op_id v) const {
    return std::span{tensors_}.subspan(first_[v], first_[v + 1] - first_[v]);
  }

  /// The data inputs of v, in order; those that close a loop are unknown.
  void gather_inputs(op_id v) {
    static const tensor_info unknown{};
    inputs_.clear();
    sources_.clear();
    for (const auto& s : g_.inputs(v)) {
      if (!s.is_control()) {
        inputs_.push_back(leads_back(v, s) ? &unknown : &output(s));
        sources_.push_back(s);
      }
    }
  }

  void infer(op_id v) {
    gather_inputs(v);
    const auto& n = g_[v];
    const auto outputs = ports(v);
    const auto* const family = families_[v];
    const bool computes = !element_rule_of(n.op).empty() && !inputs_.empty() && inputs_[0]->values;
    const bool reads = family != nullptr && (guess_ || computes || rules_[v]->reads_attributes);
    auto op = call_of(n, inputs_, reads);
    std::vector<std::shared_ptr<const ops::known_tensor>> elements(outputs.size());
    auto proposals = apply_rules(v, op, elements);
    const bool calls = calls_function(g_, n, rules_[v]);
    const auto call = calls ? calls_(n, inputs_, guess_) : std::nullopt;
    const auto declared = shapes_attribute(n, "_output_shapes");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto port = outputs[i];
      tensor_info result;
      if (call && port < call->outputs.size()) {
        result = call->outputs[port];
      }
      if (const auto given = port == 0 ? options_.shapes.find(n.name) : options_.shapes.end();
          given != options_.shapes.end() && source_of(v) != shape_source::constant) {
        result.dims = given->second;
        result.known = true;
        assumed_.given.insert(given->first);
      } else {
        own_shape(v, port, proposals[i], result);
        if (elements[i]) {
          proposals[i] = elements[i]->dims;
          result.values = std::move(elements[i]);
        }
        settle(v, port, proposals[i], port < declared.size() ? shape_of(declared[port]) : std::nullopt, result);
      }
      if (!result.known && guess_) {
        if (family == nullptr && !inputs_.empty() && inputs_[0]->known) {
          result.dims = inputs_[0]->dims; // as most ops do
        } else {
          result.dims = {options_.batch};
          assumed_in_round_.uses_batch += 1;
        }
        result.known = true;
        ++(port == 0 ? assumed_in_round_.first : assumed_in_round_.others);
        if (is_placeholder(v)) {
          assumed_.guessed.push_back(io::in_quotes(n.name));
        } else {
          ++unknown_;
        }
      }
      // Each type takes a walk through the node, so there is a limit to telling them apart.
      result.type =
        i < 64 ? type_of_output(n, rules_[v], port, inputs_, result.type) : tensors_[first_[v] + 63].type;
      const auto format = format_of(result.type);
      const auto fits = [&](const ops::known_tensor& x) {
        return format && format->holds(x) && x.dims == ops::known::extents{result.dims.begin(), result.dims.end()};
      };
      if (result.values && !(result.known && fits(*result.values))) {
        result.values = nullptr;
      }
      tensors_[first_[v] + i] = std::move(result);
    }
    if (guess_) {
      work_[v] =
        call ? call->work
             : work_of(std::move(op), family, inputs_, outputs_of(v));
      resident_[v] = call ? call->resident_bytes : 0;
      calls_on_text_[v] = call && call->text;
    }
    const auto is_settled = [&](const source& s) { return s.is_control() || leads_back(v, s) || is_settled_[s.from]; };
    is_settled_[v] = !calls && std::ranges::all_of(outputs_of(v), &tensor_info::known) &&
                     std::ranges::all_of(g_.inputs(v), is_settled);
  }

  /// Extents of v's outputs as far as its rule tells, -1 for an open one, and the elements of those where these follow.
  std::vector<partial_shape> apply_rules(op_id v, ops::call& op,
                                         std::vector<std::shared_ptr<const ops::known_tensor>>& elements) {
    const auto outputs = ports(v);
    std::vector<partial_shape> all(outputs.size());
    const auto* const rule = rules_[v];
    if (rule == nullptr || outputs.empty()) {
      return all;
    }
    if (rule->source == shape_source::iterator) {
      return listed(g_[v], "output_shapes", outputs, std::nullopt);
    }
    if (rule->source == shape_source::dequeue) { // the queue knows the shapes of its entries
      const auto has = [&](std::string_view part) { return g_[v].op.find(part) != std::string_view::npos; };
      const auto count = has("Many") || has("UpTo") ? std::optional{op.value(1).value_or(-1)} : std::nullopt;
      return sources_.empty() ? all : listed(g_[sources_[0].from], "shapes", outputs, count);
    }
    if (rule->infer == nullptr) {
      return all;
    }
    const bool has_elements = !element_rule_of(op.type).empty();
    const bool stays = rule->translate == nullptr && !has_elements;
    translated_call c{stays || !guess_ ? std::move(op) : op, inputs_}; // its work is told by the node's own arguments
    if (rule->translate != nullptr && !rule->translate(c)) {
      return all;
    }
    tensors_of_call_.resize(c.inputs.size());
    ops::shape_call shapes{c.op, tensors_of_call_, [&c](std::size_t i) { return c.inputs[i]->values.get(); }, outputs};
    rule->infer(shapes);
    const bool at_most = shapes.at_most();
    auto made = std::move(shapes).take();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const bool is_range = gives_ranges(g_[v].op) && (outputs[i] > 0 || g_[v].op.starts_with("RequantizationRange"));
      all[i] = is_range ? partial_shape{std::in_place} : std::move(made[i].dims);
      assumed_in_round_.at_most += at_most && all[i] ? 1u : 0u;
    }
    const auto known = has_elements
                         ? known_outputs_of(c, type_of_output(g_[v], rule, 0, inputs_, dt::float32))
                         : std::vector<std::optional<ops::known_tensor>>{};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto from = rule->is_each ? outputs[i] : 0;
      if (outputs[i] < known.size() && known[outputs[i]]) {
        elements[i] = std::make_shared<const ops::known_tensor>(*known[outputs[i]]);
      } else if (rule->passes && from < inputs_.size()) {
        elements[i] = inputs_[from]->values;
      }
    }
    if (stays) {
      op = std::move(c.op);
    }
    return all;
  }
  /// Shapes from a list among a node's attributes, each behind a leading extent if there is one.
  static std::vector<partial_shape> listed(const node& n, std::string_view key, std::span<const std::uint32_t> outputs,
                                           std::optional<std::int64_t> leading) {
    const auto shapes = shapes_attribute(n, key);
    std::vector<partial_shape> all;
    for (const auto i : outputs) {
      auto& shape = all.emplace_back(i < shapes.size() ? shape_of(shapes[i]) : std::nullopt);
      if (shape && leading) {
        shape->insert(shape->begin(), *leading);
      }
    }
    return all;
  }

  /// Shapes that come from the node itself, or from outside.
  void own_shape(op_id v, std::uint32_t port, partial_shape& proposed, tensor_info& result) const {
    if (port != 0 || rules_[v] == nullptr) {
      return;
    }
    const auto& n = g_[v];
    const auto source = source_of(v);
    if (source == shape_source::constant) {
      if (tensors_[first_[v]].known) { // it was read in a round before
        result = tensors_[first_[v]];
      } else if (const auto value = attribute(n, "value")) {
        result = read_tensor(text_field(*value, 8)).info;
      }
    } else if (source == shape_source::argument && v < arguments_.size()) {
      result = arguments_[v];
    } else if (source == shape_source::variable || source == shape_source::handle) {
      const auto shapes = shapes_attribute(n, "shape");
      proposed = shapes.empty() ? partial_shape{std::vector<std::int64_t>{}} : shape_of(shapes.front());
    } else if (source == shape_source::placeholder) {
      if (const auto found = given_.find(v); found != given_.end()) {
        result.dims = found->second;
        result.known = true;
      } else if (const auto shapes = shapes_attribute(n, "shape"); !shapes.empty()) {
        const auto dims = shape_of(shapes.front());
        // Before version 24, no extents meant that nothing is known. Source: tensorflow/core/ops/array_ops.cc.
        if (dims && (!dims->empty() || g_.producer() >= 24)) {
          proposed = dims;
        }
      }
    }
  }

  /// Takes each extent from the first that knows it: the file's declaration, the rule, the options.
  void settle(op_id v, std::uint32_t port, const partial_shape& inferred, const partial_shape& declared,
              tensor_info& result) {
    const bool fed = is_placeholder(v) && result.known;
    if (result.known && (!declared || fed)) {
      return;
    }
    const auto proposed =
      result.known ? partial_shape{std::vector<std::int64_t>(result.dims.begin(), result.dims.end())} : inferred;
    if (!declared && !proposed) {
      return;
    }
    const auto& base = declared ? *declared : *proposed;
    const bool both = declared && proposed && declared->size() == proposed->size();
    if (base.size() > std::size_t{ops::max_axes}) {
      return;
    }
    nn::extents dims;
    for (std::size_t i = 0; i < base.size(); ++i) {
      const auto known = base[i] >= 0 ? base[i] : both ? (*proposed)[i] : -1;
      if (known < 0 && i > 0 && !guess_) {
        return; // another round may know it
      }
      if (known < 0) {
        auto& now = assumed_in_round_;
        ++(i == 0 ? now.uses_batch : port == 0 ? now.first : now.others);
      }
      dims.push_back(known >= 0 ? static_cast<std::uint64_t>(known) : i == 0 ? options_.batch : options_.extent);
    }
    result.dims = std::move(dims);
    result.known = true;
  }

  /// Finds shapes of inputs that say nothing themselves, from the ops that read them. Returns whether it found some.
  bool deduce() {
    bool found = false;
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      const auto all = g_.inputs(v);
      for (const auto& s : all.first(std::min<std::size_t>(all.size(), 4))) { // those of the ops that tell something
        if (s.is_control() || s.port != 0 || leads_back(v, s)) {
          continue;
        }
        op_id from = s.from;
        const bool reshaped = g_[from].op == "Reshape" && !g_.inputs(from).empty() && !g_.inputs(from)[0].is_control();
        from = reshaped ? g_.inputs(from)[0].from : from;
        if (!is_placeholder(from) || ports(from).empty() || output(from, 0).known || given_.contains(from)) {
          continue;
        }
        if (auto dims = wanted(v, s, reshaped)) {
          found = given_.try_emplace(from, std::move(*dims)).second;
        }
      }
    }
    return found;
  }

  /// The shape that v needs of an input: one row per example where it is reshaped or multiplied with a matrix, the
  /// shape of the other operand where both must agree, else, for elementwise ops, a scalar.
  std::optional<nn::extents> wanted(op_id v, const source& s, bool reshaped) {
    gather_inputs(v);
    const auto& n = g_[v];
    const auto other = [&]() -> const tensor_info* {
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (sources_[i].from != s.from && inputs_[i]->known) {
          return inputs_[i];
        }
      }
      return nullptr;
    }();
    if (n.op == "SoftmaxCrossEntropyWithLogits" && other != nullptr) {
      return other->dims;
    }
    if (reshaped) {
      return std::nullopt;
    }
    if (n.op == "Reshape" && inputs_.size() > 1 && inputs_[1]->values && inputs_[1]->values->whole() != nullptr) {
      std::uint64_t row = 1;
      const auto& target = *inputs_[1]->values->whole();
      for (std::size_t i = 0; i < target.size(); ++i) {
        row = i > 0 || target[i] > 0 ? row * static_cast<std::uint64_t>(std::clamp<std::int64_t>(target[i], 1, 1 << 15))
                                     : row;
      }
      const bool rows = !target.empty() && target.front() == -1;
      const bool open = std::ranges::find(target, -1) != target.end();
      rows_per_example_ = rows_per_example_ || (rows && row > 1);
      return rows && row > 1 ? std::optional{nn::extents{options_.batch, row}}
             : open          ? std::nullopt
                             : std::optional{nn::extents{row}};
    }
    if (n.op == "MatMul" && other != nullptr && other->dims.size() == 2 && inputs_[1] == other) {
      rows_per_example_ = true;
      return nn::extents{options_.batch, other->dims[bool_attribute(n, "transpose_b") ? 1 : 0]};
    }
    const bool elementwise = rules_[v] != nullptr && rules_[v]->stretches_inputs;
    return elementwise && other != nullptr ? std::optional{nn::extents{}} : std::nullopt;
  }

  void count_assumptions() {
    assumed_.uses_batch = assumed_.uses_batch || assumed_in_round_.uses_batch != 0 || rows_per_example_;
    assumed_.unknown_shapes += unknown_;
    assumed_.at_most += assumed_in_round_.at_most;
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      const std::string name{g_[v].name}, maker{is_placeholder(v) ? std::string_view{} : g_[v].op};
      if (assumed_of_[v].first != 0) {
        assumed_.open.push_back({assumed_size::option::shape, name, maker, options_.extent});
      }
      if (assumed_of_[v].others != 0) {
        assumed_.open.push_back({assumed_size::option::nothing, "other outputs of " + name, maker, options_.extent});
      }
      if (rules_[v] == nullptr && !only_on_cpu(g_[v].op) && !g_.function(g_[v].op)) {
        const auto type = g_[v].op.substr(0, 60);
        if (assumed_.no_formula.contains(type) || assumed_.no_formula.size() < 1000) {
          ++assumed_.no_formula[std::string{type}];
        }
      }
      if (is_placeholder(v) && !ports(v).empty()) {
        if (const auto found = given_.find(v); found != given_.end()) {
          assumed_.deduced.push_back(io::in_quotes(g_[v].name) + " " + text(found->second));
        }
      }
    }
  }

  const graph& g_;
  const shape_options& options_;
  assumptions& assumed_;
  const call_rule& calls_;
  std::span<const tensor_info> arguments_;
  std::vector<op_id> order_; // without nodes on cycles, which are refused when the workload is built
  std::vector<const ops::facts*> families_; // per node; null if it is not known
  std::vector<const shape_rule*> rules_;  // likewise
  std::vector<std::uint32_t> first_; // per node where its outputs begin, plus the end
  std::vector<std::uint32_t> ports_;
  std::vector<tensor_info> tensors_;
  std::map<op_id, nn::extents> given_; // shapes of inputs that were deduced
  std::vector<double> work_;
  std::vector<byte_count> resident_; // of calls
  std::vector<bool> calls_on_text_;
  std::vector<const tensor_info*> inputs_; // of the node at hand
  std::vector<source> sources_;
  std::vector<ops::shape_input> tensors_of_call_; // of which rules ask for no types
  std::size_t num_loops_ = 0;
  assumed_extents assumed_in_round_ = {};
  std::vector<assumed_extents> assumed_of_; // per node
  std::vector<bool> is_settled_;            // per node: its outputs do not change any more
  std::size_t unknown_ = 0;
  bool rows_per_example_ = false; // of an input whose shape was deduced
  bool guess_ = false;
};

} // namespace detail
} // namespace weft::tensorflow
