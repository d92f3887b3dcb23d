// SPDX-License-Identifier: BSL-1.0
/// The flow graph of a changing placement: ops and the transfers between devices, with their dependences.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/revertible.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

/// A `placed_flow` for a placement that is changed op by op and changed back. Item v is op v; item
/// `num_ops() + k` is a transfer, which happens while it has a destination. An **edge** is an input of an op. Rules for
/// changes: what an op takes from another device comes by the transfer there, which knows its users.
///
/// Complexity: O(n + m) to set up; what goes over a tensor's consumers or transfers is linear in them. Memory: about 40
/// bytes per edge.
class changing_flow {
public:
  template <class Problem>
  explicit changing_flow(const Problem& p) : n_{static_cast<item_id>(p.num_ops())} {
    const auto& w = p.workload();
    const std::size_t tensors = p.num_tensors();
    cons_row_.assign(tensors + 1, 0);
    slot_row_.assign(tensors + 1, 0);
    cons_.reserve(p.num_edges());
    for (const tensor_id t : ids(tensors)) {
      producer_.push_back(w.producer(t));
      for (const op_id c : w.consumers(t)) {
        cons_.push_back(c);
      }
      cons_row_[t + 1] = static_cast<std::uint32_t>(cons_.size());
      const auto most = std::min<std::size_t>(cons_row_[t + 1] - cons_row_[t], p.num_devices());
      tensor_of_.insert(tensor_of_.end(), most, t);
      slot_row_[t + 1] = static_cast<std::uint32_t>(tensor_of_.size());
    }
    in_row_.assign(n_ + 1, 0);
    out_row_.assign(n_ + 1, 0);
    for (const op_id v : ids(n_)) {
      for (const tensor_id t : w.inputs(v)) {
        in_tensor_.push_back(t);
      }
      for (const tensor_id t : w.outputs(v)) {
        out_tensor_.push_back(t);
      }
      in_row_[v + 1] = static_cast<std::uint32_t>(in_tensor_.size());
      out_row_[v + 1] = static_cast<std::uint32_t>(out_tensor_.size());
    }
    cons_edge_.resize(cons_.size());
    for (const tensor_id t : ids(tensors)) {
      for (const auto k : consumers(t)) {
        auto e = in_row_[cons_[k]];
        while (in_tensor_[e] != t) {
          ++e;
        }
        cons_edge_[k] = e;
      }
    }
    device_ = revertible<device_id>(n_, none);
    source_ = revertible<item_id>(in_tensor_.size(), none);
    destination_ = revertible<device_id>(tensor_of_.size(), none);
    users_ = revertible<std::uint32_t>(tensor_of_.size(), 0);
  }

  // ---- the graph
  item_id num_ops() const { return n_; }
  std::size_t num_items() const { return n_ + tensor_of_.size(); }
  bool is_op(item_id i) const { return i < n_; }
  tensor_id tensor(item_id transfer) const { return tensor_of_[transfer - n_]; }
  op_id producer(item_id transfer) const { return producer_[tensor(transfer)]; }
  op_id producer_of(tensor_id t) const { return producer_[t]; }
  /// The edges into v, and what they are of.
  id_range inputs(op_id v) const { return {in_row_[v], in_row_[v + 1]}; }
  tensor_id tensor_of_edge(std::uint32_t e) const { return in_tensor_[e]; }
  template <class F>
  void for_each_output(op_id v, F f) const {
    for (auto o = out_row_[v]; o < out_row_[v + 1]; ++o) {
      f(out_tensor_[o]);
    }
  }
  /// Calls f(op, edge) for each consumer of t.
  template <class F>
  void for_each_use(tensor_id t, F f) const {
    for (const auto k : consumers(t)) {
      f(cons_[k], cons_edge_[k]);
    }
  }

  // ---- where things are
  bool is_live(item_id i) const { return i < n_ || destination_[i - n_] != none; }
  device_id device(op_id v) const { return device_[v]; }
  /// Of a transfer, where it starts.
  device_id device_of(item_id i) const { return device_[i < n_ ? i : producer(i)]; }
  device_id destination(item_id transfer) const { return destination_[transfer - n_]; }
  /// The item that brings an input: a transfer, or the producer.
  item_id source(std::uint32_t e) const { return source_[e]; }
  std::uint32_t users(item_id transfer) const { return users_[transfer - n_]; }
  /// The transfer of t to d, or `none`.
  item_id find(tensor_id t, device_id d) const {
    for (auto k = slot_row_[t]; k < slot_row_[t + 1]; ++k) {
      if (destination_[k] == d) {
        return n_ + k;
      }
    }
    return none;
  }
  template <class F>
  void for_each_transfer(tensor_id t, F f) const {
    for (auto k = slot_row_[t]; k < slot_row_[t + 1]; ++k) {
      if (destination_[k] != none) {
        f(n_ + k);
      }
    }
  }
  /// Calls f for what waits for i, its lane aside.
  template <class F>
  void for_each_consumer(item_id i, F f) const {
    const auto on = [&](tensor_id t) {
      for (const auto k : consumers(t)) {
        if (source_[cons_edge_[k]] == i) {
          f(cons_[k]);
        }
      }
    };
    if (i >= n_) {
      on(tensor(i));
      return;
    }
    for_each_output(i, [&](tensor_id t) {
      on(t);
      for_each_transfer(t, f);
    });
  }
  /// Calls f for what i waits for, its lane aside.
  template <class F>
  void for_each_source(item_id i, F f) const {
    if (i >= n_) {
      f(producer(i));
      return;
    }
    for (const auto e : inputs(i)) {
      f(source_[e]);
    }
  }

  // ---- changes
  void set_device(op_id v, device_id d) { device_.set(v, d); }
  void set_source(std::uint32_t e, item_id s) { source_.set(e, s); }
  void set_users(item_id transfer, std::uint32_t count) { users_.set(transfer - n_, count); }
  /// The first transfer of t without a destination.
  template <class Destinations>
  item_id free_transfer(tensor_id t, const Destinations& destination) const {
    auto k = slot_row_[t];
    while (destination[k] != none) {
      ++k;
    }
    return n_ + k;
  }
  /// A transfer of t to d that nobody waits for yet.
  item_id take(tensor_id t, device_id d) {
    const item_id s = free_transfer(t, destination_);
    destination_.set(s - n_, d);
    users_.set(s - n_, 0);
    return s;
  }
  void drop(item_id transfer) { destination_.set(transfer - n_, none); }

  /// Sets everything anew. Precondition: there is a transfer to each device with consumers of what is made elsewhere.
  void settle(const std::vector<device_id>& device, const std::vector<device_id>& destination) {
    device_.settle(device);
    destination_.settle(destination);
    users_.fill(0);
    for (const op_id v : ids(n_)) {
      for (const auto e : inputs(v)) {
        const op_id u = producer_[in_tensor_[e]];
        const item_id s = device[u] == device[v] ? u : find(in_tensor_[e], device[v]);
        WEFT_ASSERT(s != none);
        source_.settle(e, s);
        if (s >= n_) {
          users_.settle(s - n_, users_[s - n_] + 1);
        }
      }
    }
  }
  void commit() { commit_all(device_, source_, destination_, users_); }
  void rollback() { rollback_all(device_, source_, destination_, users_); }
  bool is_settled() const { return all_settled(device_, source_, destination_, users_); }
  const std::vector<device_id>& devices() const { return device_.values(); }
  const std::vector<device_id>& destinations() const { return destination_.values(); }

private:
  id_range consumers(tensor_id t) const { return {cons_row_[t], cons_row_[t + 1]}; }

  item_id n_ = 0; // ops
  // The graph: rows of inputs and outputs per op, of consumers and transfers per tensor.
  std::vector<std::uint32_t> in_row_, out_row_, cons_row_, slot_row_;
  std::vector<tensor_id> in_tensor_, out_tensor_, tensor_of_;
  std::vector<op_id> producer_, cons_;
  std::vector<std::uint32_t> cons_edge_; // per (tensor, consumer): the consumer's input
  revertible<device_id> device_;         // per op
  revertible<item_id> source_;           // per edge
  revertible<device_id> destination_;    // per transfer; none if it does not happen
  revertible<std::uint32_t> users_;      // per transfer: how many consumers wait for it
};

} // namespace weft
