// SPDX-License-Identifier: BSL-1.0
/// The ops, sends and transfers of a run, numbered together, and the inputs of each.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::detail {

/// Item i < n is op i; then come the sends and then the transfers, as the trace has them. Refers to the problem and
/// the run. Preconditions: the run has a record for every op of the problem (device `none` if it did not run), and
/// names existing tensors and devices. Construction: O((n + m) log(n + m)).
template <class Problem>
class run_items {
public:
  using item = std::uint32_t;
  using lists = std::vector<std::vector<item>>;

  run_items(const Problem& p, const trace& run)
      : problem_{&p}, run_{&run}, n_(static_cast<item>(p.num_ops())), k_(static_cast<item>(run.transfers.size())),
        rank_(n_, 0), on_device_(p.num_devices()), from_port_(p.num_devices()), to_port_(p.num_devices()) {
    for (item i = 0; i < n_; ++i) {
      rank_[p.topological_order()[i]] = i;
      if (const device_id d = run.ops[i].device; d != none) {
        on_device_[d].push_back(i);
      }
    }
    for (item k = 0; k < k_; ++k) {
      const auto& x = run.transfers[k];
      if (x.send_finish > x.send_start) {
        on_device_[x.from].push_back(n_ + k);
      }
      from_port_[x.from].push_back(n_ + k_ + k);
      to_port_[x.to].push_back(n_ + k_ + k);
      arrivals_.push_back(k);
    }
    for (auto* all : {&on_device_, &from_port_, &to_port_}) {
      for (auto& list : *all) {
        weft::sort(list, [this](item a, item b) { return key(a) < key(b); });
      }
    }
    weft::sort(arrivals_, [this](item a, item b) { return goes(a) < goes(b); });
  }

  item num_ops() const { return n_; }
  item size() const { return n_ + 2 * k_; }
  bool is_op(item i) const { return i < n_; }
  bool is_send(item i) const { return i >= n_ && i < n_ + k_; }
  /// The op, or the place of what is sent or moved in the trace.
  item index(item i) const { return i < n_ ? i : (i - n_) % k_; }
  const transfer_record& moved(item i) const { return run_->transfers[index(i)]; }
  /// Whether there is such an item: ops that ran, sends that took time, and transfers.
  bool happened(item i) const {
    return is_op(i) ? run_->ops[i].device != none : !is_send(i) || moved(i).send_finish > moved(i).send_start;
  }

  std::pair<double, double> times(item i) const {
    if (is_op(i)) {
      return {run_->ops[i].start, run_->ops[i].finish};
    }
    const auto& x = moved(i);
    return is_send(i) ? std::pair{x.send_start, x.send_finish} : std::pair{x.start, x.arrival};
  }
  /// The order of items by their ends; of items that end together, what others wait for comes first.
  std::tuple<double, double, item, item> key(item i) const {
    const auto [start, finish] = times(i);
    return {finish, start, rank(i), i};
  }
  /// The place of the op, or of what made the tensor, in the topological order.
  item rank(item i) const { return rank_[is_op(i) ? i : problem_->workload().producer(moved(i).tensor)]; }

  /// What ran, was sent and moved where, by `key`.
  const lists& on_device() const { return on_device_; }
  const lists& from_port() const { return from_port_; }
  const lists& to_port() const { return to_port_; }

  /// Whether a transfer began later than it could have: a port of its link was not free.
  bool waited_for_ports(item i) const { return i >= n_ + k_ && moved(i).start > moved(i).send_finish; }

  /// Calls `f(item)` for each item that made or moved what i needed.
  template <class F>
  void for_each_input(item i, F f) const {
    const auto& w = problem_->workload();
    if (!is_op(i)) {
      const item send = n_ + index(i);
      f(is_send(i) || !happened(send) ? item{w.producer(moved(i).tensor)} : send);
      return;
    }
    const device_id here = run_->ops[i].device;
    for (const tensor_id t : w.inputs(i)) {
      const op_id u = w.producer(t);
      if (run_->ops[u].device == here) {
        f(u);
        continue;
      }
      const auto at = std::lower_bound(arrivals_.begin(), arrivals_.end(), std::pair{t, here},
                                       [this](item k, const auto& x) { return goes(k) < x; });
      if (at != arrivals_.end() && goes(*at) == std::pair{t, here}) {
        f(n_ + k_ + *at);
      }
    }
  }

private:
  std::pair<tensor_id, device_id> goes(item k) const { return {run_->transfers[k].tensor, run_->transfers[k].to}; }

  const Problem* problem_;
  const trace* run_;
  item n_;
  item k_;
  std::vector<item> rank_;
  lists on_device_;
  lists from_port_;
  lists to_port_;
  std::vector<item> arrivals_; // transfers by tensor and destination
};

} // namespace weft::detail
