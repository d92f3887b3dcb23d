// SPDX-License-Identifier: BSL-1.0
/// Slack in a run: how much later each op could have ended without delaying the end.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/evaluate/detail/run_items.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace weft {

namespace detail {

/// What each item of a run came after: its inputs, what its device's slot had run before it, what had started before it
/// on a device with several slots, and, where transfers take turns at ports, what passed its ports before it.
template <class Problem>
class run_precedence {
public:
  using item = typename run_items<Problem>::item;

  run_precedence(const Problem& p, const trace& run, contention_model contention)
      : items_{p, run}, backwards_(items_.size()), last_input_(items_.size(), 0.0), on_slot_(items_.size(), none),
        started_before_(items_.size(), none), started_after_(items_.size(), none), from_port_(items_.size(), none),
        to_port_(items_.size(), none) {
    for (const device_id d : ids(p.num_devices())) {
      if (p.platform().slots(d) > 1) {
        find_last_inputs(items_.on_device()[d]);
      }
      link(items_.on_device()[d], p.platform().slots(d), on_slot_, [](item) { return true; });
      if (contention == contention_model::port) {
        link(items_.from_port()[d], 1, from_port_, [this](item i) { return takes_time(i); });
        link(items_.to_port()[d], 1, to_port_, [this](item i) { return takes_time(i); });
      }
    }
    std::iota(backwards_.begin(), backwards_.end(), item{0});
    std::erase_if(backwards_, [this](item i) { return !items_.happened(i); });
    weft::sort(backwards_, [this](item a, item b) { return key(b) < key(a); });
  }

  const run_items<Problem>& items() const { return items_; }
  /// What happened, each after all that came after it.
  const std::vector<item>& backwards() const { return backwards_; }

  /// What had to end before i.
  template <class F>
  void for_each_before(item i, F f) const {
    items_.for_each_input(i, f);
    for (const item before : {on_slot_[i], from_port_[i], to_port_[i]}) {
      if (before != none) {
        f(before);
      }
    }
  }
  /// What had to start before i, since it comes before it in the order of their device, which has several slots; `none`
  /// if there is nothing.
  item started_before(item i) const { return started_before_[i]; }
  /// What else started together with i on its device, which has several slots: any of them may come first in the order.
  template <class F>
  void for_each_beside(item i, F f) const {
    const auto go = [&](const std::vector<item>& next) {
      const double start = items_.times(i).first;
      for (item x = next[i]; x != none && takes_time(x) && items_.times(x).first == start; x = next[x]) {
        f(x);
      }
    };
    if (takes_time(i)) {
      go(started_before_);
      go(started_after_);
    }
  }

private:
  bool takes_time(item i) const { return items_.times(i).second > items_.times(i).first; }

  /// The order of items by their starts. Of those that start together, what takes no time comes first, for others may
  /// have waited for it, and then that whose inputs came last, for which the others on its device may have waited.
  auto key(item i) const {
    const auto [start, finish] = items_.times(i);
    return std::tuple{start, takes_time(i), -last_input_[i], finish, items_.rank(i), i};
  }

  void find_last_inputs(const std::vector<item>& list) {
    for (const item i : list) {
      if (takes_time(i)) { // what takes none stays in the order of the graph
        items_.for_each_input(
          i, [&](item input) { last_input_[i] = std::max(last_input_[i], items_.times(input).second); });
      }
    }
  }

  /// Deals items to slots by their starts, each to the slot that had been free for longest. What does not occupy one
  /// waits for it all the same.
  template <class Occupies>
  void link(std::vector<item> list, std::size_t num_slots, std::vector<item>& before, Occupies occupies) {
    weft::sort(list, [this](item a, item b) { return key(a) < key(b); });
    std::vector<item> last(std::min(num_slots, list.size()), none);
    const auto free_from = [this](item i) { return i == none ? 0.0 : items_.times(i).second; };
    item previous = none;
    for (const item i : list) {
      const auto slot =
        std::min_element(last.begin(), last.end(), [&](item a, item b) { return free_from(a) < free_from(b); });
      before[i] = *slot;
      if (occupies(i)) {
        *slot = i;
      }
      if (num_slots > 1) {
        if (previous != none) {
          started_after_[previous] = i;
        }
        started_before_[i] = std::exchange(previous, i);
      }
    }
  }

  run_items<Problem> items_;
  std::vector<item> backwards_;
  std::vector<double> last_input_; // seconds; on devices with several slots
  std::vector<item> on_slot_;      // per item: what it came after there
  std::vector<item> started_before_;
  std::vector<item> started_after_;
  std::vector<item> from_port_;
  std::vector<item> to_port_;
};

} // namespace detail

/// For every op, by how many seconds longer it alone may take than it did without a later end of the run, if devices
/// and ports go on in the order of this run and all else takes as long as it did; transfers, too, also where they share
/// links. 0 on the longest paths, infinite for ops that did not run. On devices with several slots, ops keep theirs and
/// start one after the other, as under `schedule::static_order`: an op that starts late holds up those after it there,
/// and those that started together with it, since a run does not tell which of them comes first; what takes no time is
/// taken to do so.
///
/// Preconditions: the run keeps to the execution model under the contention that is named. Complexity:
/// O((n + m) (log(n + m) + slots)).
template <class Problem>
std::vector<double> slack_of_run(const Problem& p, const trace& run,
                                 contention_model contention = contention_model::none) {
  const detail::run_precedence<Problem> precedence{p, run, contention};
  const auto& items = precedence.items();
  std::vector<double> latest_finish(items.size(), run.makespan);
  std::vector<double> latest_start(items.size(), run.makespan);
  for (const auto i : precedence.backwards()) {
    const auto [start, finish] = items.times(i);
    latest_start[i] = std::min(latest_start[i], latest_finish[i] - (finish - start));
    precedence.for_each_beside(i, [&](auto other) {
      const double seconds = items.times(other).second - start;
      latest_start[i] = std::min({latest_start[i], latest_start[other], latest_finish[other] - seconds});
    });
    const auto bring_forward = [from = latest_start[i]](double& latest) { latest = std::min(latest, from); };
    precedence.for_each_before(i, [&](auto before) { bring_forward(latest_finish[before]); });
    if (const auto first = precedence.started_before(i); first != none) {
      bring_forward(latest_start[first]);
    }
  }
  std::vector<double> slack(p.num_ops(), std::numeric_limits<double>::infinity());
  for (const op_id v : ids(p.num_ops())) {
    if (items.happened(v)) {
      const double seconds = latest_finish[v] - run.ops[v].finish;
      slack[v] = seconds > 1e-12 * run.makespan ? seconds : 0; // what is less comes from rounding
    }
  }
  return slack;
}

/// For every op, whether it is on a longest path of the run: one of the chains, such as `path_of_run` returns one, of
/// what ended last, what it had waited for, what that had waited for, … Where several things ended together that it
/// needed (inputs, its device, ports where the contention has any), the chains through all of them count. Where nothing
/// ended when it started, on a device with several slots, it had waited for what comes before it in the order there and
/// started then: the chains go on with what that had waited for.
///
/// Preconditions: as of `path_of_run`. Complexity: as of `slack_of_run`.
template <class Problem>
std::vector<std::uint8_t> on_longest_paths(const Problem& p, const trace& run,
                                           contention_model contention = contention_model::none) {
  const detail::run_precedence<Problem> precedence{p, run, contention};
  const auto& items = precedence.items();
  const auto finish = [&](auto i) { return items.times(i).second; };
  double end = 0;
  for (const auto i : precedence.backwards()) {
    end = std::max(end, finish(i));
  }
  std::vector<std::uint8_t> on_path(items.size(), 0);
  std::vector<std::uint8_t> start_is_on_path(items.size(), 0); // though it may end later than what goes on there
  for (const auto i : precedence.backwards()) {
    on_path[i] |= finish(i) == end;
    if (on_path[i] == 0 && start_is_on_path[i] == 0) {
      continue;
    }
    double last = 0;
    precedence.for_each_before(i, [&](auto before) { last = std::max(last, finish(before)); });
    if (const auto first = precedence.started_before(i); first != none && items.times(first).first > last) {
      start_is_on_path[first] = 1;
    } else {
      precedence.for_each_before(i, [&](auto before) { on_path[before] |= finish(before) == last; });
    }
  }
  on_path.resize(p.num_ops());
  return on_path;
}

} // namespace weft
