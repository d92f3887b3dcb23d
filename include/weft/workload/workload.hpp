// SPDX-License-Identifier: BSL-1.0
/// The library's workload: a dataflow graph in compressed sparse rows with its op and tensor columns.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/error.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/role.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

class workload_builder;
namespace detail {
class workload_copy;
}

/// An immutable dataflow graph with columns. Each op's tensors have consecutive ids, so an op with one output whose
/// predecessors in id order have one output too produces the tensor of its own number.
/// Models `dataflow_workload` and `bidirectional_dataflow_graph`. Made by `workload_builder` (workload/builder.hpp).
/// Memory: 8 bytes per edge, about 70 per op and 20 per tensor, and the names.
class workload {
public:
  using checked_type = workload; ///< its numbers were checked for good; a class that inherits is not this one

  constexpr workload() = default;

  constexpr std::size_t num_ops() const { return work_.size(); }
  constexpr std::size_t num_tensors() const { return bytes_.size(); }
  constexpr std::size_t num_edges() const { return consumers_.size(); }
  constexpr std::size_t num_groups() const { return num_groups_; }

  /// The tensors that v produces, ascending.
  constexpr id_range outputs(op_id v) const { return {first_output_[v], first_output_[v + 1]}; }
  /// The tensors that v consumes, ascending.
  constexpr std::span<const tensor_id> inputs(op_id v) const { return row(inputs_, first_input_, v); }
  /// The ops that consume t, ascending.
  constexpr std::span<const op_id> consumers(tensor_id t) const { return row(consumers_, first_consumer_, t); }
  constexpr op_id producer(tensor_id t) const { return producer_[t]; }

  constexpr byte_count bytes(tensor_id t) const { return bytes_[t]; }                 ///< size in bytes
  constexpr double work(op_id v) const { return work_[v]; }                           ///< work units (FLOP)
  constexpr byte_count resident_bytes(op_id v) const { return resident_bytes_[v]; }   ///< parameters and state, bytes
  constexpr kind_set kinds(op_id v) const { return kinds_[v]; }                       ///< where v may run
  constexpr group_id group(op_id v) const { return group_[v]; }                       ///< `none` if v is free
  /// The number of its device's slots that v takes at once. Problems want ops of one slot each; see workload/slots.hpp.
  constexpr std::uint32_t slots(op_id v) const { return slots_.empty() ? 1 : slots_[v]; }
  constexpr std::string_view name(op_id v) const { return names_.empty() ? std::string_view{} : names_[v]; }
  constexpr std::string_view type(op_id v) const {
    return types_.empty() ? std::string_view{} : type_names_[types_[v]];
  }
  /// What v is for in a training step.
  constexpr op_role role(op_id v) const { return roles_.empty() ? op_role::forward : op_role{roles_[v]}; }

  /// The memory in which the first output of v may lie.
  constexpr weft::output_memory output_memory(op_id v) const {
    return output_memory_.empty() ? weft::output_memory::own : output_memory_[v];
  }
  /// True if the op that reads t puts its first output there. It may, no other op reads t, t is as large as the output,
  /// and its producer reads bytes or has work: what is fed or constant is there for the next run as well. Of several
  /// such inputs the first one is taken; a view shows the one input of its size.
  constexpr bool is_overwritten(tensor_id t) const { return !shared_.empty() && shared_[t] == shared::with_result; }
  /// True if t is a view of what an op that reads no bytes keeps, such as a variable: the producer of t itself, or one
  /// that is colocated with it and whose output it shows.
  constexpr bool is_resident(tensor_id t) const { return !shared_.empty() && shared_[t] == shared::with_resident; }

  /// True if t is a message of a collective: the kernel that the collective is on its device sends it.
  constexpr bool is_message(tensor_id t) const { return !messages_.empty() && messages_[t] != 0; }

  /// The same with other places for the first outputs, one per op. Throws `value_error` for another number of them.
  /// Complexity: O(n + m).
  workload with_output_memory(std::vector<weft::output_memory> where) const {
    if (where.size() != num_ops()) {
      throw value_error("output_memory",
                        std::to_string(where.size()) + " values for " + std::to_string(num_ops()) + " ops");
    }
    workload made = *this;
    made.output_memory_ = std::move(where);
    made.share_memory();
    return made;
  }

  /// The same with other kinds of devices for its ops, one set per op. Throws `value_error` for another number of them,
  /// `constraint_error` for an op or a colocation group that would be left without any. Complexity: a copy.
  constexpr workload with_kinds(std::span<const kind_set> kinds) const {
    if (kinds.size() != num_ops()) {
      throw value_error("kinds", std::to_string(kinds.size()) + " sets for " + std::to_string(num_ops()) + " ops");
    }
    workload made = *this;
    std::vector<kind_set> of_groups(num_groups_, kind_set::all());
    for (const op_id v : ids(num_ops())) {
      made.kinds_[v] = kinds[v];
      auto left = kinds[v];
      if (group_[v] != none) {
        left = of_groups[group_[v]] = of_groups[group_[v]] & left;
      }
      if (left.empty()) {
        throw constraint_error({v}, "kinds: op " + std::to_string(v) + ", or its colocation group, allows no device "
                                    "kind at all");
      }
    }
    return made;
  }

  /// Edges in both directions, for graph algorithms.
  class out_edge_range {
  public:
    class iterator {
    public:
      using value_type = flow_edge;
      using difference_type = std::ptrdiff_t;
      constexpr iterator() = default;
      constexpr iterator(const workload& w, op_id v, std::size_t at) : w_{&w}, v_{v}, t_{w.first_output_[v]}, at_{at} {
        settle();
      }
      constexpr flow_edge operator*() const { return {v_, w_->consumers_[at_], t_}; }
      constexpr iterator& operator++() {
        ++at_;
        settle();
        return *this;
      }
      constexpr iterator operator++(int) {
        auto old = *this;
        ++*this;
        return old;
      }
      friend constexpr bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

    private:
      constexpr void settle() { // steps to the tensor that position `at_` belongs to
        while (t_ + 1 < w_->first_output_[v_ + 1] && at_ >= w_->first_consumer_[t_ + 1]) {
          ++t_;
        }
      }
      const workload* w_ = nullptr;
      op_id v_ = none;
      tensor_id t_ = none;
      std::size_t at_ = 0;
    };
    constexpr out_edge_range(const workload& w, op_id v) : w_{&w}, v_{v} {}
    constexpr iterator begin() const { return {*w_, v_, w_->first_consumer_[w_->first_output_[v_]]}; }
    constexpr iterator end() const { return {*w_, v_, w_->first_consumer_[w_->first_output_[v_ + 1]]}; }

  private:
    const workload* w_;
    op_id v_;
  };

  class in_edge_range {
  public:
    class iterator {
    public:
      using value_type = flow_edge;
      using difference_type = std::ptrdiff_t;
      constexpr iterator() = default;
      constexpr iterator(const workload& w, op_id v, const tensor_id* at) : w_{&w}, v_{v}, at_{at} {}
      constexpr flow_edge operator*() const { return {w_->producer_[*at_], v_, *at_}; }
      constexpr iterator& operator++() {
        ++at_;
        return *this;
      }
      constexpr iterator operator++(int) {
        auto old = *this;
        ++at_;
        return old;
      }
      friend constexpr bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

    private:
      const workload* w_ = nullptr;
      op_id v_ = none;
      const tensor_id* at_ = nullptr;
    };
    constexpr in_edge_range(const workload& w, op_id v) : w_{&w}, v_{v} {}
    constexpr iterator begin() const { return {*w_, v_, w_->inputs(v_).data()}; }
    constexpr iterator end() const { return {*w_, v_, w_->inputs(v_).data() + w_->inputs(v_).size()}; }

  private:
    const workload* w_;
    op_id v_;
  };

  constexpr out_edge_range out_edges(op_id v) const { return {*this, v}; }
  constexpr in_edge_range in_edges(op_id v) const { return {*this, v}; }
  constexpr op_id source(const flow_edge& e) const { return e.source; }
  constexpr op_id target(const flow_edge& e) const { return e.target; }

  /// Whether some op takes more than one slot.
  constexpr bool takes_several_slots() const { return !slots_.empty(); }
  /// The same with ops that take one slot each.
  constexpr workload with_one_slot_each() && {
    slots_ = {};
    return std::move(*this);
  }

private:
  friend workload_builder;
  friend detail::workload_copy;

  enum class shared : std::uint8_t { no, with_result, with_resident };

  /// Finds the tensors that take no memory of their own, or give it to a result.
  void share_memory() {
    shared_.assign(output_memory_.empty() ? 0 : num_tensors(), shared::no);
    for (op_id v = 0; v < output_memory_.size(); ++v) {
      std::vector<op_id> views; // of what v keeps
      if (reads_at_most(v) && shows(v, v)) {
        views.push_back(v);
      }
      while (!views.empty()) {
        const tensor_id t = *outputs(views.back()).begin();
        views.pop_back();
        shared_[t] = shared::with_resident;
        for (const op_id c : consumers(t)) {
          if (reads_at_most(c, t) && group_[c] != none && group_[c] == group_[v] && shows(c, v)) {
            views.push_back(c);
          }
        }
      }
    }
    for (op_id v = 0; v < output_memory_.size(); ++v) {
      if (output_memory_[v] == weft::output_memory::own || outputs(v).empty()) {
        continue;
      }
      const tensor_id made = *outputs(v).begin();
      tensor_id over = none;
      std::size_t num_as_large = 0;
      for (const tensor_id t : inputs(v)) {
        const bool as_large = bytes_[t] == bytes_[made] && bytes_[t] > 0;
        num_as_large += as_large ? 1u : 0u;
        if (as_large && over == none && shared_[t] == shared::no && consumers(t).size() == 1 &&
            (!reads_at_most(producer_[t]) || work_[producer_[t]] > 0)) {
          over = t;
        }
      }
      const bool is_clear = output_memory_[v] == weft::output_memory::over_input || num_as_large == 1; // of a view
      if (over != none && is_clear && shared_[made] != shared::with_resident) {
        shared_[over] = shared::with_result;
      }
    }
  }
  /// True if t is all that v reads. Tensors without bytes only tell v when to start.
  bool reads_at_most(op_id v, tensor_id t = none) const {
    for (const tensor_id u : inputs(v)) {
      if (u != t && bytes_[u] > 0) {
        return false;
      }
    }
    return true;
  }
  /// True if the first output of v may be a view of what `keeper` keeps.
  bool shows(op_id v, op_id keeper) const {
    return output_memory_[v] == weft::output_memory::view && !outputs(v).empty() &&
           bytes_[*outputs(v).begin()] <= resident_bytes_[keeper];
  }

  template <class Column>
  static constexpr std::span<const typename Column::value_type> row(const Column& column,
                                                                     const std::vector<std::uint32_t>& first,
                                                                     std::size_t i) {
    return std::span{column}.subspan(first[i], first[i + 1] - first[i]);
  }

  std::vector<tensor_id> first_output_{0};         // per op, plus the end
  std::vector<std::uint32_t> first_input_{0};      // per op, plus the end
  std::vector<std::uint32_t> first_consumer_{0};   // per tensor, plus the end
  std::vector<tensor_id> inputs_;
  std::vector<op_id> consumers_;
  std::vector<op_id> producer_;
  std::vector<byte_count> bytes_;
  std::vector<double> work_;
  std::vector<byte_count> resident_bytes_;
  buffer<kind_set> kinds_;
  std::vector<group_id> group_;
  std::vector<std::uint32_t> slots_;      // empty when each op takes one
  std::vector<weft::output_memory> output_memory_; // empty when all are in memory of their own
  std::vector<shared> shared_;            // per tensor, likewise
  std::vector<std::uint8_t> messages_;    // per tensor; empty when none is a message
  std::vector<std::string> names_;        // empty when no op has a name
  std::vector<std::string> type_names_;   // each type once
  std::vector<std::uint32_t> types_;      // index into type_names_; empty when no op has a type
  std::vector<std::uint8_t> roles_;       // empty when all are of a forward pass
  std::size_t num_groups_ = 0;
};

} // namespace weft
