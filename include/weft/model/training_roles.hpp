// SPDX-License-Identifier: BSL-1.0
/// The ops of a traced training step that make gradients of parameters, and those that change parameters with them.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/model/batch.hpp"
#include "weft/model/graph.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft {
namespace detail {

/// Tells the update of a step from its passes by the batch alone: what reads nothing that grows with it, and leads to a
/// parameter's new value, is of the update; what it reads that was made of the batch is a gradient.
class training_roles_of_graph {
public:
  training_roles_of_graph(const model_graph& g, const graph_batch& batch)
      : g_{g}, readers_(g.num_tensors()), is_update_(g.num_ops(), false), roles_(g.num_ops(), op_role::forward) {
    for (const op_id v : ids(g.num_ops())) {
      bool grows = false;
      each_read(v, [&](tensor_id t) {
        readers_[t].push_back(v);
        grows = grows || batch.grows[t] != 0;
      });
      reads_batch_.push_back(grows);
    }
  }

  std::vector<op_role> find() && {
    if (!lead_back()) {
      return std::move(roles_);
    }
    leave_out_shared();
    for (const op_id v : ids(g_.num_ops())) {
      roles_[v] = is_update_[v] ? op_role::update : roles_[v];
    }
    bool again = true;
    while (again) {
      again = false;
      for (const op_id v : ids(g_.num_ops())) {
        again = add_up(v) || again;
      }
    }
    return std::move(roles_);
  }

private:
  template <class Visit>
  void each_read(op_id v, Visit visit) const {
    for (const auto* list : {&g_[v].inputs, &g_[v].captured}) {
      for (const tensor_id t : *list) {
        t != none ? visit(t) : void();
      }
    }
  }

  /// The ops that make the new values of parameters.
  std::vector<op_id> last_ops() const {
    std::vector<op_id> found;
    const auto is_parameter = [&](tensor_id t) { return g_.role(g_.storage(t)) == tensor_role::parameter; };
    for (const op_id v : ids(g_.num_ops())) {
      const auto& made = g_.outputs(v);
      if (g_[v].form == storage_form::writes && !made.empty() && is_parameter(*made.begin())) {
        found.push_back(v);
      }
    }
    for (const auto& r : g_.replacements()) {
      if (is_parameter(r.old) && g_.producer(r.by) != none) {
        found.push_back(g_.producer(r.by));
      }
    }
    return found;
  }

  /// Marks what leads to new values and reads nothing of the batch, and the ops whose results that reads. False if
  /// there is nothing of the kind, or if a new value is made of the batch itself.
  bool lead_back() {
    auto open = last_ops();
    const bool is_mixed = std::any_of(open.begin(), open.end(), [&](op_id v) { return bool{reads_batch_[v]}; });
    if (is_mixed || open.empty()) {
      return false;
    }
    for (const op_id v : open) {
      is_update_[v] = true;
    }
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      each_read(v, [&](tensor_id t) {
        const op_id from = g_.producer(t);
        if (from == none || g_[from].is_known) {
          return;
        }
        if (reads_batch_[from]) {
          roles_[from] = op_role::parameter_gradient;
        } else if (!is_update_[from]) {
          is_update_[from] = true;
          open.push_back(from);
        }
      });
    }
    return true;
  }

  /// What the passes read as well, such as a parameter in another form, is not of the update, unless it follows from a
  /// gradient or changes something.
  void leave_out_shared() {
    std::vector<op_id> open;
    std::vector<bool> stays(g_.num_ops(), false);
    for (const op_id v : ids(g_.num_ops())) {
      if (roles_[v] == op_role::parameter_gradient) {
        open.push_back(v);
      } else if (is_update_[v] && g_[v].form == storage_form::writes) {
        stays[v] = true;
      }
    }
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      each_reader(v, [&](op_id c) {
        if (is_update_[c] && !stays[c]) {
          stays[c] = true;
          open.push_back(c);
        }
      });
    }
    for (const op_id v : ids(g_.num_ops())) {
      if (is_update_[v] && !stays[v]) {
        open.push_back(v);
      }
    }
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      bool is_shared = false;
      each_reader(v, [&](op_id c) { is_shared = is_shared || !is_update_[c]; });
      if (is_update_[v] && is_shared) {
        is_update_[v] = false;
        each_read(v, [&](tensor_id t) {
          const op_id from = g_.producer(t);
          from != none && is_update_[from] && !stays[from] ? open.push_back(from) : void();
        });
      }
    }
  }

  template <class Visit>
  void each_reader(op_id v, Visit visit) const {
    for (const tensor_id t : g_.outputs(v)) {
      std::for_each(readers_[t].begin(), readers_[t].end(), visit);
    }
  }

  /// Where gradients are added up that nothing else reads, such as those of the uses of one parameter, or are shown in
  /// another form for that, what comes out is the gradient.
  bool add_up(op_id v) {
    const auto type = ops::plain_type(g_[v].type);
    const auto& in = g_[v].inputs;
    const auto made = g_.outputs(v);
    const bool shows = g_[v].form == storage_form::view && in.size() == 1;
    const bool adds = g_[v].form == storage_form::own && in.size() > 1 &&
                      (type == "add" || type == "Add" || type == "AddN");
    if (roles_[v] != op_role::update || made.size() != 1 || !(shows || adds)) {
      return false;
    }
    const bool all = std::all_of(in.begin(), in.end(), [&](tensor_id t) {
      return t != none && g_.producer(t) != none && roles_[g_.producer(t)] == op_role::parameter_gradient &&
             readers_[t].size() == 1 && g_.bytes(t) == g_.bytes(*made.begin());
    });
    roles_[v] = all ? op_role::parameter_gradient : roles_[v];
    return all;
  }

  const model_graph& g_;
  std::vector<std::vector<op_id>> readers_; // by tensor
  std::vector<bool> reads_batch_, is_update_;
  std::vector<op_role> roles_;
};

} // namespace detail

/// Gives the ops of a graph that changes its parameters itself their roles, as those of a program that was traced with
/// its optimiser. Gradients are what the update reads and ops make that read something which grows with the batch; each
/// of several replicas, with a part of the batch, makes its own, and their sum is that of the whole. Where the batch is
/// not known, or a new parameter is made of it directly, nothing changes. Complexity: O((n + m) log d).
inline void mark_training_roles(model_graph& g) {
  if (!changes_parameters(g)) {
    return;
  }
  if (const auto batch = batch_of(g); batch.size != 0) {
    const auto roles = detail::training_roles_of_graph{g, batch}.find();
    for (const op_id v : ids(g.num_ops())) {
      roles[v] != op_role::forward ? g.set_role(v, roles[v]) : void();
    }
  }
}

} // namespace weft
