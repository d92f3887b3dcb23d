// SPDX-License-Identifier: BSL-1.0
/// An order of a parallel step that follows an order of the step that it was made of.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::parallel {

namespace detail {

template <class Workload>
class copies_in_order_builder {
public:
  copies_in_order_builder(const Workload& w, std::span<const op_id> origin)
      : w_{w}, origin_{origin}, waits_{w}, wanted_(w.num_ops(), false) {}

  std::vector<op_id> make(std::span<const op_id> sequence) {
    std::vector<std::vector<op_id>> copies(sequence.size());
    for (const op_id v : ids(origin_.size())) {
      if (origin_[v] != none) {
        copies[origin_[v]].push_back(v);
      }
    }
    want_sums_and_updates();
    for (const op_id of : sequence) {
      for (const op_id v : copies[of]) {
        want(v);
      }
      run();
    }
    for (const op_id v : ids(w_.num_ops())) { // what nobody reads
      want(v);
    }
    run();
    return std::move(order_);
  }

private:
  bool is_copy(op_id v) const { return origin_[v] != none && !is_update(w_, v); }

  /// Updates, and ops of no model's op from which no data gets to a copy.
  void want_sums_and_updates() {
    std::vector<bool> leads(w_.num_ops(), false);
    const auto order = graph::topological_order(w_);
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      for (const tensor_id t : w_.outputs(*i)) {
        for (const op_id c : w_.consumers(t)) {
          leads[*i] = leads[*i] || (w_.bytes(t) > 0 && (is_copy(c) || (origin_[c] == none && leads[c])));
        }
      }
    }
    for (const op_id v : ids(w_.num_ops())) {
      if (!is_copy(v) && (origin_[v] != none || !leads[v])) {
        mark(v);
      }
    }
  }

  /// The op runs as soon as it can, and so does what it reads of ops that are no copies.
  void want(op_id v) {
    std::vector<op_id> open{v};
    while (!open.empty()) {
      const op_id u = open.back();
      open.pop_back();
      if (wanted_[u]) {
        continue;
      }
      mark(u);
      for (const tensor_id t : w_.inputs(u)) {
        if (origin_[w_.producer(t)] == none) {
          open.push_back(w_.producer(t));
        }
      }
    }
  }

  void mark(op_id v) {
    wanted_[v] = true;
    if (waits_.is_ready(v)) {
      ready_.push_back(v);
    }
  }

  void run() {
    for (; next_ < ready_.size(); ++next_) {
      const op_id v = ready_[next_];
      order_.push_back(v);
      waits_.finish(w_, v, [&](op_id c) {
        if (wanted_[c]) {
          ready_.push_back(c);
        }
      });
    }
  }

  const Workload& w_;
  std::span<const op_id> origin_;
  graph::release_counter<> waits_;
  std::vector<bool> wanted_;
  std::vector<op_id> ready_; ///< wanted, in the order in which they got so
  std::size_t next_ = 0;     ///< of these
  std::vector<op_id> order_;
};

} // namespace detail

/// All ops of a step that was made for several devices of a step of one, each after what it reads. `origin` has the op
/// that each is a copy or a part of, or `none`; `sequence` all ops of the one step, each after what it reads. Copies
/// follow each other as in `sequence`: where they run in this order, they hold what the one step holds. What adds
/// gradients up, and updates, run as soon as they can, since they free what they read; what else is no copy, such as
/// parameters that are gathered, when a copy wants it. Copies that wait for updates run after these.
/// Complexity: O(n + m).
template <named_workload Workload>
std::vector<op_id> copies_in_order(const Workload& w, std::span<const op_id> origin, std::span<const op_id> sequence) {
  return detail::copies_in_order_builder<Workload>{w, origin}.make(sequence);
}

} // namespace weft::parallel
