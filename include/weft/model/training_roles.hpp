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
#include <string_view>
#include <utility>
#include <vector>

namespace weft {
namespace detail {

/// Tells the update of a step from its passes, which read what grows with the batch.
class training_roles_of_graph {
public:
  training_roles_of_graph(const model_graph& g, const graph_batch& batch)
      : g_{g}, readers_(g.num_tensors()), writers_(g.num_tensors()), leads_(g.num_ops(), false),
        roles_(g.num_ops(), op_role::forward) {
    for (const op_id v : ids(g.num_ops())) {
      bool grows = false;
      each_read(v, [&](tensor_id t) {
        readers_[t].push_back(v);
        grows = grows || batch.grows[t] != 0;
      });
      reads_batch_.push_back(grows);
      if (g[v].form == storage_form::writes && !g.outputs(v).empty()) {
        writers_[storage_of(v)].push_back(v);
      }
    }
  }

  /// By op; all are forward ops where it cannot be told.
  std::vector<op_role> find() && {
    if (!lead_back()) {
      return std::move(roles_);
    }
    leave_to_passes();
    if (is_clear()) {
      follow(find_gradients());
      take_along();
      add_up();
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
  template <class Visit>
  void each_reader(op_id v, Visit visit) const {
    for (const tensor_id t : g_.outputs(v)) {
      std::for_each(readers_[t].begin(), readers_[t].end(), visit);
    }
  }
  tensor_id storage_of(op_id v) const { return g_.storage(*g_.outputs(v).begin()); }
  bool is_known(op_id v) const { return v == none || g_[v].is_known; }

  /// The ops that made what v reads: who made a tensor, and who wrote into its storage since then.
  template <class Visit>
  void each_maker(op_id v, Visit visit) const {
    each_read(v, [&](tensor_id t) {
      const op_id from = g_.producer(t);
      is_known(from) ? void() : visit(from);
      for (const op_id w : writers_[g_.storage(t)]) {
        w < v && w != from && (from == none || w > from) ? visit(w) : void();
      }
    });
  }

  /// The ops that make the new values of parameters and states; of these, no passes themselves.
  std::vector<op_id> last_ops() const {
    std::vector<op_id> found;
    const auto take = [&](tensor_id kept, op_id by) {
      const auto role = g_.role(g_.storage(kept));
      if (role == tensor_role::parameter || (role == tensor_role::state && !reads_batch_[by])) {
        found.push_back(by);
      }
    };
    for (const auto& list : writers_) {
      for (const op_id v : list) {
        take(*g_.outputs(v).begin(), v);
      }
    }
    for (const auto& r : g_.replacements()) {
      is_known(g_.producer(r.by)) ? void() : take(r.old, g_.producer(r.by));
    }
    return found;
  }

  /// Marks what leads to new values and reads nothing that grows. False if a parameter's new value is made of that
  /// itself.
  bool lead_back() {
    auto open = last_ops();
    if (std::any_of(open.begin(), open.end(), [&](op_id v) { return bool{reads_batch_[v]}; })) {
      return false;
    }
    for (const op_id v : open) {
      leads_[v] = true;
    }
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      each_maker(v, [&](op_id from) {
        if (!reads_batch_[from] && !leads_[from]) {
          leads_[from] = true;
          open.push_back(from);
        }
      });
    }
    return true;
  }

  /// False if a pass writes into what an update reads.
  bool is_clear() const {
    bool clear = true;
    for (const op_id v : ids(g_.num_ops())) {
      if (leads_[v]) {
        each_maker(v, [&](op_id from) {
          clear = clear && !(reads_batch_[from] && g_[from].form == storage_form::writes);
        });
      }
    }
    return clear;
  }

  /// What passes read is of the passes: a loss, parameters in another form, statistics of a normalisation.
  void leave_to_passes() {
    std::vector<op_id> open;
    for (const op_id v : ids(g_.num_ops())) {
      reads_batch_[v] ? open.push_back(v) : void();
    }
    is_of_passes_ = reads_batch_;
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      each_read(v, [&](tensor_id t) {
        if (const op_id from = g_.producer(t); from != none && !is_of_passes_[from]) {
          is_of_passes_[from] = true;
          leads_[from] = false;
          open.push_back(from);
        }
      });
    }
  }

  /// Gradients are made in the passes, read by no other op of them, and lead to new values. Returns the ops that read
  /// them.
  std::vector<op_id> find_gradients() {
    std::vector<op_id> found;
    for (const op_id v : ids(g_.num_ops())) {
      for (const tensor_id t : g_.outputs(v)) {
        const auto& all = readers_[t];
        const bool leads = std::any_of(all.begin(), all.end(), [&](op_id c) { return bool{leads_[c]}; });
        if (reads_batch_[v] && leads &&
            std::none_of(all.begin(), all.end(), [&](op_id c) { return bool{is_of_passes_[c]}; })) {
          roles_[v] = op_role::parameter_gradient;
          found.insert(found.end(), all.begin(), all.end());
        }
      }
    }
    return found;
  }

  /// What follows from gradients is of the update.
  void follow(std::vector<op_id> open) {
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      if (!is_of_passes_[v] && roles_[v] == op_role::forward) {
        roles_[v] = op_role::update;
        each_reader(v, [&](op_id c) { open.push_back(c); });
        if (g_[v].form == storage_form::writes) { // whoever reads that afterwards
          const auto& others = writers_[storage_of(v)];
          open.insert(open.end(), others.begin(), others.end());
        }
      }
    }
  }

  /// What only the update reads belongs to it as well, such as a schedule of rates.
  void take_along() {
    std::vector<std::size_t> others(g_.num_ops(), 0); // reads by what is not of the update
    std::vector<op_id> open;
    const auto each_origin = [&](op_id v, auto visit) {
      each_read(v, [&](tensor_id t) { g_.producer(t) != none ? visit(g_.producer(t)) : void(); });
    };
    for (const op_id v : ids(g_.num_ops())) {
      if (roles_[v] == op_role::update) {
        open.push_back(v);
      } else {
        each_origin(v, [&](op_id from) { ++others[from]; });
      }
    }
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      each_origin(v, [&](op_id from) {
        if (leads_[from] && roles_[from] == op_role::forward && others[from] == 0) {
          roles_[from] = op_role::update;
          each_origin(from, [&](op_id u) { --others[u]; });
          open.push_back(from);
        }
      });
    }
  }

  /// Where gradients are added up that nothing else reads, such as those of the uses of one parameter, or made smaller,
  /// or are shown in another form for that, what comes out is the gradient.
  void add_up() {
    std::vector<op_id> open;
    for (const op_id v : ids(g_.num_ops())) {
      roles_[v] == op_role::parameter_gradient ? each_reader(v, [&](op_id c) { open.push_back(c); }) : void();
    }
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      if (roles_[v] == op_role::update && is_linear_in_gradients(v)) {
        roles_[v] = op_role::parameter_gradient;
        each_reader(v, [&](op_id c) { open.push_back(c); });
      }
    }
  }
  bool is_linear_in_gradients(op_id v) const {
    constexpr std::string_view sums[] = {"AddN", "Add", "add"};
    constexpr std::string_view smaller[] = {"embedding_dense_backward", "sum", "Sum", "ReduceSum"};
    const auto type = ops::plain_type(g_[v].type);
    const auto has = [&](const auto& list) { return std::ranges::find(list, type) != std::end(list); };
    const auto made = g_.outputs(v);
    const bool keeps = g_[v].form == storage_form::writes && g_.role(storage_of(v)) != tensor_role::computed;
    if (made.size() != 1 || keeps) {
      return false;
    }
    std::size_t terms = 0, others = 0;
    byte_count largest = 0, least = ~byte_count{0};
    each_read(v, [&](tensor_id t) {
      const op_id from = g_.producer(t);
      const bool is_term = from != none && roles_[from] == op_role::parameter_gradient && readers_[t].size() == 1;
      terms += is_term ? 1u : 0u;
      others += is_term ? 0u : 1u;
      largest = is_term ? std::max(largest, g_.bytes(t)) : largest;
      least = is_term ? std::min(least, g_.bytes(t)) : least;
    });
    const auto bytes = g_.bytes(*made.begin());
    const bool adds = has(sums) && terms > 1 && others == 0 && least == bytes;
    const bool shows = g_[v].form == storage_form::view && terms == 1 && others == 0;
    return terms > 0 && largest >= bytes && (adds || shows ? largest == bytes : has(smaller) && terms == 1);
  }

  const model_graph& g_;
  std::vector<std::vector<op_id>> readers_; // by tensor
  std::vector<std::vector<op_id>> writers_; // by storage, in order
  std::vector<bool> reads_batch_, is_of_passes_, leads_; // by op
  std::vector<op_role> roles_;
};

} // namespace detail

/// Gives the ops of a graph that changes its parameters itself their roles, as those of a program that was traced with
/// its optimiser. What leads to new parameters or states, reads nothing that grows with the batch, and is not read by
/// what does, is the update. Gradients are what it reads and ops make that read something which grows; each of several
/// replicas, with a part of the batch, makes its own, and their sum is that of the whole. Statistics of a norm, which
/// the passes read, too, are none. Where the batch is not known, a new parameter is made of it directly, or a pass
/// writes into what the update reads, nothing changes. Complexity: O((n + m) log d), and of writes into one storage
/// O(readers × writes).
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
