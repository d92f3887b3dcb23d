// SPDX-License-Identifier: BSL-1.0
/// Which ops of a run could have been later without a later end, and which not.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/detail/run_items.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

namespace weft {

namespace detail {

/// What each item of a run came after: its inputs, what its device's slot had run before it, and, where transfers take
/// turns at ports, what passed its ports before it.
template <class Problem>
class run_precedence {
public:
  using item = typename run_items<Problem>::item;

  run_precedence(const Problem& p, const trace& run)
      : items_{p, run}, backwards_(items_.size()), on_slot_(items_.size(), none), from_port_(items_.size(), none),
        to_port_(items_.size(), none) {
    std::iota(backwards_.begin(), backwards_.end(), item{0});
    std::erase_if(backwards_, [this](item i) { return !items_.happened(i); });
    weft::sort(backwards_, [this](item a, item b) { return items_.key(b) < items_.key(a); });
    for (const device_id d : ids(p.num_devices())) {
      link(items_.on_device()[d], p.platform().slots(d), on_slot_, [](item) { return true; });
      const auto takes_time = [this](item i) { return items_.times(i).second > items_.times(i).first; };
      link(items_.from_port()[d], 1, from_port_, takes_time);
      link(items_.to_port()[d], 1, to_port_, takes_time);
    }
  }

  const run_items<Problem>& items() const { return items_; }
  /// What happened, each after all that came after it.
  const std::vector<item>& backwards() const { return backwards_; }

  template <class F>
  void for_each_before(item i, bool ports, F f) const {
    items_.for_each_input(i, f);
    for (const item before : {on_slot_[i], ports ? from_port_[i] : item{none}, ports ? to_port_[i] : item{none}}) {
      if (before != none) {
        f(before);
      }
    }
  }

private:
  /// Deals items to slots by their starts, each to the slot that had been free for longest.
  template <class Takes>
  void link(std::vector<item> list, std::size_t num_slots, std::vector<item>& before, Takes takes) const {
    const auto key = [this](item i) {
      const auto [start, finish] = items_.times(i);
      return std::tuple{start, finish, items_.rank(i), i};
    };
    weft::sort(list, [&](item a, item b) { return key(a) < key(b); });
    std::vector<item> last(std::min(num_slots, list.size()), none);
    const auto free_from = [this](item i) { return i == none ? 0.0 : items_.times(i).second; };
    for (const item i : list) {
      if (takes(i)) {
        const auto slot =
          std::min_element(last.begin(), last.end(), [&](item a, item b) { return free_from(a) < free_from(b); });
        before[i] = *slot;
        *slot = i;
      }
    }
  }

  run_items<Problem> items_;
  std::vector<item> backwards_;
  std::vector<item> on_slot_; // per item: what it came after there
  std::vector<item> from_port_;
  std::vector<item> to_port_;
};

} // namespace detail

/// For every op, by how many seconds it alone may finish later than it did without a later end of the run, if devices
/// and ports go on in the order of this run and all else takes as long as it did; transfers, too, also where they share
/// links. 0 on the longest paths, infinite for ops that did not run. On devices with several slots, ops keep theirs.
///
/// Preconditions: the run keeps to the execution model under the contention that is named. Complexity:
/// O((n + m) (log(n + m) + slots)).
template <class Problem>
std::vector<double> slack_of_run(const Problem& p, const trace& run,
                                 contention_model contention = contention_model::none) {
  const detail::run_precedence<Problem> precedence{p, run};
  const auto& items = precedence.items();
  std::vector<double> latest(items.size(), run.makespan); // finish
  for (const auto i : precedence.backwards()) {
    const auto [start, finish] = items.times(i);
    const double latest_start = latest[i] - (finish - start);
    precedence.for_each_before(i, contention == contention_model::port,
                          [&](auto before) { latest[before] = std::min(latest[before], latest_start); });
  }
  std::vector<double> slack(p.num_ops(), std::numeric_limits<double>::infinity());
  for (const op_id v : ids(p.num_ops())) {
    if (items.happened(v)) {
      const double seconds = latest[v] - run.ops[v].finish;
      slack[v] = seconds > 1e-12 * run.makespan ? seconds : 0; // what is less comes from rounding
    }
  }
  return slack;
}

/// For every op, whether it is on a longest path of the run: one of the chains, such as `path_of_run` returns one, of
/// what ended last, what it had waited for, what that had waited for, … Where several things ended together that it
/// needed (inputs, its device, ports), the chains through all of them count.
///
/// Preconditions: as of `path_of_run`. Complexity: as of `slack_of_run`.
template <class Problem>
std::vector<std::uint8_t> on_longest_paths(const Problem& p, const trace& run) {
  const detail::run_precedence<Problem> precedence{p, run};
  const auto& items = precedence.items();
  const auto finish = [&](auto i) { return items.times(i).second; };
  std::vector<std::uint8_t> on_path(items.size(), 0);
  const double end = precedence.backwards().empty() ? 0 : finish(precedence.backwards().front());
  for (const auto i : precedence.backwards()) {
    on_path[i] = on_path[i] != 0 || finish(i) == end;
    if (on_path[i] == 0) {
      continue;
    }
    const bool ports = items.waited_for_ports(i);
    double last = 0;
    precedence.for_each_before(i, ports, [&](auto before) { last = std::max(last, finish(before)); });
    precedence.for_each_before(i, ports, [&](auto before) { on_path[before] |= finish(before) == last; });
  }
  on_path.resize(p.num_ops());
  return on_path;
}

} // namespace weft
