// SPDX-License-Identifier: BSL-1.0
/// Expands any forward workload, such as one read from a model file, to its training step.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/optimizer.hpp"
#include "weft/workload/parameter_holders.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/step_origins.hpp" // IWYU pragma: export

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// Options of making a training step of a forward workload.
struct step_options {
  optimizer rule = optimizer::adam;
  bool colocate_gradients = false;    ///< gradient ops run where their forward op runs
  std::vector<op_id> outputs = {};    ///< where the loss is; empty: all ops whose results no differentiable op reads
  std::vector<op_id> recompute = {};  ///< their results are not kept for the backward pass but made again
  std::uint64_t element_bytes = 4;    ///< of a parameter and of a number in a tensor; 4 for float32
  std::vector<byte_count> frozen = {}; ///< per op, of its parameters those that are not trained; empty: none
};

/// A workload made of another one's ops, and per op of it the op of the other one that it came from.
struct expanded_workload {
  workload graph;
  std::vector<op_id> origin;
};

/// A training step of a forward workload.
struct expanded_step {
  workload graph;
  step_origins from;
};

namespace detail {

/// Reverse accumulation over a workload that tells no shapes.
template <class Workload>
class graph_backward_pass {
public:
  graph_backward_pass(const Workload& forward, const step_options& options)
      : f_{forward}, o_{options}, order_{graph::topological_order(forward)}, rules_(f_.num_ops()),
        depends_(f_.num_ops(), false), only_parameters_(f_.num_ops(), false),
        parameters_of_(f_.num_ops(), none), copy_(f_.num_ops(), none), segments_{f_.num_ops()},
        triggers_(f_.num_ops()), recomputed_(f_.num_ops(), false), arrived_(f_.num_tensors()),
        silent_(f_.num_ops(), none), changes_(f_.num_ops()) {
    if (o_.element_bytes == 0) {
      throw value_error("training_step: element_bytes", "must be positive");
    }
    check_frozen();
    classify();
    copy_forward();
    const auto seeds = find_seeds();
    find_segments();
    for (const op_id v : seeds) {
      add_loss(v);
    }
    for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
      if (depends_[*v]) {
        differentiate(*v);
      }
    }
    for (const op_id v : ids(f_.num_ops())) {
      add_update(v);
    }
  }

  expanded_step finish() && {
    expanded_step made{std::move(b_).build(), std::move(from_)};
    for (const op_id v : ids(made.graph.num_ops())) {
      of_[v].resize(made.graph.outputs(v).size()); // with what only orders ops
      made.from.of.insert(made.from.of.end(), of_[v].begin(), of_[v].end());
    }
    return made;
  }

private:
  using value = forward_output; // of an op of the step
  using values = std::vector<value>;
  using tensors = std::vector<tensor_id>;

  bool trainable(op_id v) const { return parameters_of_[v] == v; }
  /// Of the parameters of an op that holds some, those that are not frozen.
  byte_count trained_bytes(op_id holder) const {
    return f_.resident_bytes(holder) - (o_.frozen.empty() ? 0 : o_.frozen[holder]);
  }
  /// True for a product whose other factor is frozen. A bias has one number for each sum of products, so it is a small
  /// part of the parameters, unlike one of the matrices of a recurrent layer.
  bool trains_bias_alone(op_id v) const {
    return trained_bytes(parameters_of_[v]) < f_.resident_bytes(parameters_of_[v]) / 8;
  }
  /// True if the op reads parameters beside its inputs that are trained, at least some of them.
  bool trains(op_id v) const { return parameters_of_[v] != none && trained_bytes(parameters_of_[v]) > 0; }
  bool flows(tensor_id t) const { return f_.bytes(t) > 0 && depends_[f_.producer(t)]; }
  /// The inputs that are not mere control edges.
  tensors data_inputs(op_id v) const {
    tensors list;
    for (const tensor_id t : f_.inputs(v)) {
      if (f_.bytes(t) > 0) {
        list.push_back(t);
      }
    }
    return list;
  }
  double elements(byte_count bytes) const { return static_cast<double>(bytes) / static_cast<double>(o_.element_bytes); }
  std::string name(op_id v) const { return f_.name(v).empty() ? "op_" + std::to_string(v) : std::string{f_.name(v)}; }
  std::string gradient_type(op_id v) const { return f_.type(v).empty() ? "" : std::string{f_.type(v)} + "Grad"; }
  void check(op_id v, const char* what) const {
    if (v >= f_.num_ops()) {
      throw dangling_id_error("training_step: " + std::string{what},
                              "there is no op " + std::to_string(v) + " in the forward workload");
    }
  }

  void check_frozen() const {
    if (!o_.frozen.empty() && o_.frozen.size() != f_.num_ops()) {
      throw value_error("training_step: frozen", "has " + std::to_string(o_.frozen.size()) + " numbers for " +
                                                   std::to_string(f_.num_ops()) + " ops; give one for each");
    }
    for (op_id v = 0; v < o_.frozen.size(); ++v) {
      if (o_.frozen[v] > f_.resident_bytes(v)) {
        throw value_error("training_step: frozen", "op " + std::to_string(v) + " '" + name(v) + "' holds " +
                                                     std::to_string(f_.resident_bytes(v)) + " bytes, fewer than the " +
                                                     std::to_string(o_.frozen[v]) + " that are frozen");
      }
    }
  }

  /// Finds the ops that a gradient passes on its way to parameters. An op holds the same, whatever is frozen.
  void classify() {
    const auto holders = find_holders();
    std::vector<bool> would_depend(f_.num_ops(), false); // if nothing were frozen
    for (const op_id v : order_) {
      const auto inputs = data_inputs(v);
      const bool reached = std::any_of(inputs.begin(), inputs.end(), [this](tensor_id t) { return flows(t); });
      const bool would_be_reached =
        std::any_of(inputs.begin(), inputs.end(), [&](tensor_id t) { return bool{would_depend[f_.producer(t)]}; });
      const bool holds_indices = rules_[v].reads == ops::gradient_reads::selectors && would_be_reached;
      if (may_hold_parameters(f_, v) && !holds_indices) {
        parameters_of_[v] = v;
      } else if (rules_[v].product && inputs.size() <= 1 && f_.resident_bytes(v) <= largest_constant &&
                 f_.group(v) != none) {
        parameters_of_[v] = holders[f_.group(v)];
      }
      const auto is_parameter = [this](tensor_id t) { return bool{only_parameters_[f_.producer(t)]}; };
      only_parameters_[v] =
        inputs.empty() ? is_variable(f_, v) && trainable(v) : std::all_of(inputs.begin(), inputs.end(), is_parameter);
      depends_[v] = trains(v) || (rules_[v].differentiable && reached);
      would_depend[v] = parameters_of_[v] != none || (rules_[v].differentiable && would_be_reached);
    }
  }

  /// Finds the rules, and per group the one op that may hold parameters. Products of the group that read at most one
  /// tensor and hold nothing have their other factor from there, such as the logits that are made with the matrix of
  /// embeddings.
  std::vector<op_id> find_holders() {
    std::vector<op_id> holder(f_.num_groups(), none);
    std::vector<bool> several(f_.num_groups(), false);
    for (const op_id v : ids(f_.num_ops())) {
      if (f_.name(v).starts_with("gradients/") || is_update(f_, v)) {
        throw value_error("training_step",
                          "op " + std::to_string(v) + " '" + name(v) +
                            "' belongs to a training step already; give the forward ops alone");
      }
      rules_[v] = ops::facts_of(f_.type(v)).gradient;
      if (const auto g = f_.group(v); g != none && may_hold_parameters(f_, v)) {
        several[g] = several[g] || holder[g] != none;
        holder[g] = several[g] ? none : v;
      }
    }
    return holder;
  }

  /// The forward ops keep their ids.
  void copy_forward() {
    copy_ops(
      b_, f_, [this](op_id v) { return f_.resident_bytes(v); }, [this](tensor_id t) { return f_.bytes(t); });
    for (const op_id v : ids(f_.num_ops())) {
      note(v, step_role::forward, parameters_of_[v]);
      for (const tensor_id t : f_.outputs(v)) {
        of_[v].push_back(forward(t));
      }
    }
  }
  /// Notes where the op comes from that was added last.
  void note(op_id origin, step_role role, op_id holder) {
    from_.op.push_back(origin);
    from_.role.push_back(role);
    from_.holder.push_back(holder);
    of_.emplace_back();
  }
  forward_output forward(tensor_id t) const {
    const op_id v = f_.producer(t);
    return {v, t - *f_.outputs(v).begin()};
  }
  value add_output(op_id made, byte_count bytes, forward_output of) {
    const auto output = b_.add_output(made, bytes);
    of_[made].resize(output);
    of_[made].push_back(of);
    return {made, output};
  }

  /// The ops on which the loss is computed, ascending.
  std::vector<op_id> find_seeds() const {
    auto seeds = o_.outputs;
    sort_unique(seeds);
    for (const op_id v : seeds) {
      check(v, "outputs");
      if (!depends_[v]) {
        throw value_error("training_step: outputs", "no gradient reaches parameters (resident bytes) from op " +
                                                      std::to_string(v) + " '" + name(v) + "'");
      }
    }
    for (op_id v = 0; o_.outputs.empty() && v < f_.num_ops(); ++v) {
      const auto goes_on = [this](tensor_id t) {
        const auto& readers = f_.consumers(t);
        return f_.bytes(t) > 0 &&
               std::any_of(readers.begin(), readers.end(), [this](op_id c) { return bool{depends_[c]}; });
      };
      const auto& outputs = f_.outputs(v);
      if (depends_[v] && std::none_of(outputs.begin(), outputs.end(), goes_on)) {
        seeds.push_back(v);
      }
    }
    if (seeds.empty()) {
      throw value_error("training_step",
                        std::string{"no differentiable op has parameters (resident bytes)"} +
                          (o_.frozen.empty() ? "" : " that are not frozen") + ": nothing to train");
    }
    return seeds;
  }

  /// A segment: recomputed ops that hang together. It is made again when the gradient of its last op is there, which
  /// depends on no gradient inside.
  void find_segments() {
    for (const op_id v : o_.recompute) {
      check(v, "recompute");
      recomputed_[v] = true;
    }
    for (const op_id v : ids(f_.num_ops())) {
      for (const tensor_id t : f_.inputs(v)) {
        if (recomputed_[v] && f_.bytes(t) > 0 && recomputed_[f_.producer(t)]) {
          segments_.unite(v, f_.producer(t));
        }
      }
    }
  }

  /// What the gradient of `reader` gets for a tensor of the forward pass.
  value saved(tensor_id t, op_id reader) {
    const auto [v, output] = forward(t);
    return {recomputed_[v] && recomputed_[reader] && segments_.find(v) == segments_.find(reader) ? made_again(v) : v,
            output};
  }

  op_id made_again(op_id wanted) {
    std::vector<op_id> open;
    const auto copy = [&](op_id v) {
      if (copy_[v] == none) {
        op o = op_of(f_, v);
        o.name = "recompute/" + name(v);
        o.role = op_role::gradient;
        o.resident_bytes = 0;
        copy_[v] = b_.add_op(std::move(o));
        note(v, step_role::again, parameters_of_[v]);
        for (const tensor_id t : f_.outputs(v)) {
          (void)add_output(copy_[v], f_.bytes(t), forward(t));
        }
        if (f_.resident_bytes(v) > 0 || parameters_of_[v] != none) {
          b_.colocate(v, copy_[v]);
        }
        open.push_back(v);
      }
      return copy_[v];
    };
    copy(wanted);
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      bool first = true;
      for (const tensor_id t : data_inputs(v)) {
        const auto [from, output] = forward(t);
        first = first && !recomputed_[from];
        b_.add_edge(recomputed_[from] ? copy(from) : from, copy_[v], output);
      }
      for (const op_id before : triggers_[segments_.find(v)]) {
        if (first) { // the others follow
          b_.add_control_edge(before, copy_[v]);
        }
      }
    }
    return copy_[wanted];
  }

  /// Adds an op that came from v, without outputs yet.
  op_id add(op_id v, step_role role, op_id holder, std::string op_name, std::string op_type, double work,
            const values& reads) {
    const op_id made =
      b_.add_op({.work = work, .kinds = f_.kinds(v), .name = std::move(op_name), .type = std::move(op_type)});
    note(v, role, holder);
    for (const auto& [from, output] : reads) {
      b_.add_edge(from, made, output);
    }
    return made;
  }

  /// The loss of what v makes: 1 FLOP per element, and 1 for its gradient.
  void add_loss(op_id v) {
    values reads;
    double work = 0;
    for (const tensor_id t : f_.outputs(v)) {
      if (f_.bytes(t) > 0) {
        reads.push_back(forward(t));
        work += elements(f_.bytes(t));
      }
    }
    const op_id loss = add(v, step_role::loss, none, "loss/" + name(v), "Loss", work, reads);
    b_.add_output(loss, o_.element_bytes);
    const bool silent = reads.empty(); // an op without results: the loss only waits for it
    if (silent) {
      b_.add_control_edge(v, loss);
    }
    reads.push_back({loss, 0});
    const op_id gradient = add(v, step_role::loss, none, "gradients/loss/" + name(v), "LossGrad", work, reads);
    if (o_.colocate_gradients) {
      b_.colocate(loss, gradient);
    }
    for (const tensor_id t : f_.outputs(v)) {
      if (f_.bytes(t) > 0) {
        arrived_[t].push_back(add_output(gradient, f_.bytes(t), forward(t)));
      }
    }
    if (silent) {
      b_.add_output(gradient, o_.element_bytes);
      silent_[v] = gradient;
    }
  }

  /// The gradient of a variable's reference is as large as the variable.
  byte_count gradient_bytes(tensor_id t) const {
    const op_id v = f_.producer(t);
    return is_variable(f_, v) && trainable(v) && f_.outputs(v).size() == 1 ? f_.resident_bytes(v) : f_.bytes(t);
  }

  /// The gradients of v's outputs, those of several consumers added up.
  values arrived_at(op_id v) {
    values all;
    for (const tensor_id t : f_.outputs(v)) {
      const auto terms = sum(v, "/AddN", gradient_bytes(t), arrived_[t], forward(t));
      all.insert(all.end(), terms.begin(), terms.end());
    }
    if (silent_[v] != none) {
      all.push_back({silent_[v], 0});
    }
    return all;
  }

  /// The sum of gradients of a forward tensor, or of the parameters that v holds.
  values sum(op_id v, const char* suffix, byte_count bytes, const values& terms, forward_output of) {
    if (terms.size() < 2) {
      return terms;
    }
    const bool of_parameters = of.op == none;
    const op_id made =
      add(v, of_parameters ? step_role::parameter_sum : step_role::sum, of_parameters ? v : op_id{none},
          "gradients/" + name(v) + suffix, "AddN", static_cast<double>(terms.size() - 1) * elements(bytes), terms);
    const auto total = add_output(made, bytes, of);
    colocate_gradient(v, made);
    return {total};
  }

  void colocate_gradient(op_id v, op_id made) {
    if (o_.colocate_gradients) {
      b_.colocate(v, made);
    }
  }

  /// A gradient op of v that makes the gradients of some inputs.
  op_id add_gradient(op_id v, const char* part, double work, values dy, const tensors& of) {
    for (const tensor_id t : reads(v, of)) {
      dy.push_back(saved(t, v));
    }
    const auto role = of.empty() ? step_role::parameter_gradient : step_role::gradient;
    const op_id made = add(v, role, parameters_of_[v], "gradients/" + name(v) + part, gradient_type(v), work, dy);
    for (const tensor_id t : of) {
      arrived_[t].push_back(add_output(made, gradient_bytes(t), forward(t)));
    }
    colocate_gradient(v, made);
    return made;
  }

  /// What a gradient op of v reads of the forward pass to make the gradients of the inputs `of`, or of v's own
  /// parameters if there are none.
  tensors reads(op_id v, const tensors& of) const {
    const auto rule = rules_[v];
    tensors list;
    if (of.empty() && rule.product && trains_bias_alone(v)) {
      return list;
    }
    for (const tensor_id t : data_inputs(v)) {
      const bool own_operand =
        rule.product && of.size() == 1 && of.front() == t; // a factor's gradient needs the others
      if (rule.reads == ops::gradient_reads::both || (rule.reads == ops::gradient_reads::inputs && !own_operand) ||
          (rule.reads == ops::gradient_reads::selectors && !flows(t))) {
        list.push_back(t);
      }
    }
    for (const tensor_id t : f_.outputs(v)) {
      if (f_.bytes(t) > 0 && (rule.reads == ops::gradient_reads::outputs || rule.reads == ops::gradient_reads::both)) {
        list.push_back(t);
      }
    }
    return list;
  }

  void differentiate(op_id v) {
    const auto dy = arrived_at(v);
    if (dy.empty()) {
      return;
    }
    double arriving = 0;
    for (const tensor_id t : f_.outputs(v)) {
      arriving += arrived_[t].empty() ? 0 : elements(f_.bytes(t));
    }
    if (auto& trigger = triggers_[segments_.find(v)]; recomputed_[v] && trigger.empty()) {
      for (const auto& g : dy) {
        trigger.push_back(g.op);
      }
      sort_unique(trigger);
    }
    const bool product = rules_[v].product;
    const op_id holder = parameters_of_[v];
    tensors data, weights; // inputs that have a gradient; of a product's, those that are parameters
    for (const tensor_id t : f_.inputs(v)) {
      if (flows(t)) {
        (product && only_parameters_[f_.producer(t)] ? weights : data).push_back(t);
      }
    }
    if (product && holder == none && weights.empty() && data.size() > 1) { // two factors, whatever they are
      weights.assign(data.begin() + 1, data.end());
      data.resize(1);
    }
    if (!data.empty()) {
      const op_id made = add_gradient(v, holder != none || !weights.empty() ? "/input" : "", f_.work(v), dy, data);
      if (holder != none) { // it reads the parameters
        b_.colocate(v, made);
        changes_[holder].readers.push_back(made);
      }
    }
    if (!weights.empty()) {
      add_gradient(v, holder != none ? "/operand" : "/weights", f_.work(v), dy, weights);
    }
    if (holder != none && is_variable(f_, v)) {
      changes_[holder].gradients.insert(changes_[holder].gradients.end(), dy.begin(), dy.end());
    } else if (trains(v)) {
      const double share = static_cast<double>(trained_bytes(holder)) / static_cast<double>(f_.resident_bytes(holder));
      const double work = std::max(share * f_.work(v), arriving); // at least each number is added to some gradient
      const op_id made = add_gradient(v, "/weights", work, dy, {});
      changes_[holder].gradients.push_back(add_output(made, trained_bytes(holder), {}));
    }
  }

  /// What changes the parameters that v holds, where they are, when all who read them are done.
  void add_update(op_id v) {
    auto gradients = changes_[v].gradients;
    if (gradients.empty()) {
      return;
    }
    const auto bytes = trained_bytes(v);
    if (!is_variable(f_, v) || f_.outputs(v).size() == 1) { // outputs of one variable are parts of it
      gradients = sum(v, "/weights/AddN", bytes, gradients, {});
    }
    const auto cost = cost_of(o_.rule);
    const op_id update = b_.add_op({.work = cost.flop_per_parameter * elements(bytes),
                                    .resident_bytes = cost.slots * bytes,
                                    .kinds = f_.kinds(v),
                                    .name = std::string{cost.name} + "/update_" + name(v),
                                    .type = cost.update_type});
    note(v, step_role::update, v);
    b_.colocate(v, update);
    for (const auto& [from, output] : gradients) {
      b_.add_edge(from, update, output);
    }
    for (const op_id reader : changes_[v].readers) {
      b_.add_control_edge(reader, update);
    }
  }

  /// The gradients of an op's parameters, and the ops that read these.
  struct change {
    values gradients = {};
    std::vector<op_id> readers = {}; ///< gradient ops that read the parameters
  };

  const Workload& f_;
  const step_options& o_;
  std::vector<op_id> order_;
  std::vector<ops::gradient_rule> rules_;
  std::vector<bool> depends_;         // gradients pass it on their way to parameters
  std::vector<bool> only_parameters_; // made of parameters alone, such as what reads a variable
  std::vector<op_id> parameters_of_;  // who holds the parameters that the op reads beside its inputs
  std::vector<op_id> copy_;           // per recomputed op the one that makes it again, once there is one
  graph::disjoint_sets segments_;
  std::vector<std::vector<op_id>> triggers_; // per segment, at its root: what is awaited before it is made again
  std::vector<bool> recomputed_;
  std::vector<values> arrived_; // gradients per forward tensor
  std::vector<op_id> silent_;   // per op without results the gradient of its loss
  std::vector<change> changes_;
  workload_builder b_;
  step_origins from_;
  std::vector<std::vector<forward_output>> of_; // by op of the step and output
};

} // namespace detail

/// The training step of any forward workload, and what its ops and tensors come from; the forward ops come first and
/// keep their ids, names and groups.
///
/// Parameters are the resident bytes of differentiable ops; op_catalogue.hpp knows those that are not differentiable or
/// hold something else, by type, and up to 8 bytes are a constant. A loss (`loss/…`) is added to each output, and from
/// there, backward, per op on a way to parameters:
/// - a gradient op `gradients/<name>` of type `<Type>Grad`, or of none if the op has none, with the work of the op.
///   Products and ops with parameters have two, `…/input` and `…/weights`, so that the backward pass of a product costs
///   twice its forward pass.
///   A gradient op reads what op_catalogue.hpp says of the op's inputs and outputs, which stay alive until then.
/// - an AddN op where gradients of several consumers arrive at one tensor,
/// - an update `<Optimiser>/update_<name>`, with the optimiser's slots as its resident bytes, on the device of the op
///   whose parameters it changes. The `…/input` gradient is there too, since it reads them.
/// An op without inputs and work that holds parameters is a variable, if op_catalogue.hpp says so of its type or does
/// not know it: what arrives at it is their gradient. Other ops without inputs read what the model is given, which
/// needs no gradient. A product that lacks a factor has it from the one op of its colocation group that holds
/// parameters, and adds to their gradient.
///
/// Parameters that are `frozen` have no gradient, no update and no state. Gradients go back to the first parameters
/// that are trained. Of an op some of whose parameters are frozen, the gradient takes its share of the work; of a
/// product of whose parameters less than an eighth is trained, that is a bias, and its gradient reads no input.
///
/// Results of ops in `recompute` are made again (`recompute/<name>`) for the gradients of ops that hang together with
/// them in `recompute`; what other ops read is kept.
/// Source: Chen, Xu, Zhang, Guestrin, *Training Deep Nets with Sublinear Memory Cost*, arXiv 1604.06174.
///
/// Throws `value_error` if nothing can be trained or the workload is a training step already, `dangling_id_error` for
/// ids that do not exist. Complexity: O((n + m) log n).
template <named_workload Workload>
expanded_step training_step_with_origins(const Workload& forward, const step_options& options = {}) {
  return detail::graph_backward_pass<Workload>{forward, options}.finish();
}

/// The same workload alone.
/// ```
/// const workload step = training_step(forward, {.rule = optimizer::momentum});
/// ```
template <named_workload Workload>
workload training_step(const Workload& forward, const step_options& options = {}) {
  return training_step_with_origins(forward, options).graph;
}

} // namespace weft
