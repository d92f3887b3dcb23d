// SPDX-License-Identifier: BSL-1.0
/// The critical path of a run: the chain of ops, sends and transfers that made it end when it did.
#pragma once

#include "weft/evaluate/detail/run_items.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weft {

/// One op, send or transfer of the path, and what it had waited for.
struct path_step {
  enum class kind : std::uint8_t { op, send, transfer };
  enum class cause : std::uint8_t {
    start,  ///< nothing: it is the first
    data,   ///< what the step before it made or moved
    device, ///< its device, which the step before it kept busy
    link,   ///< a port of its link, which the step before it kept busy
  };

  kind what = kind::op;
  std::uint32_t index = 0; ///< the op, or the position in `trace::transfers` of what is sent or moved
  double start = 0;        ///< seconds
  double finish = 0;
  cause after = cause::start;
  double idle = 0; ///< seconds between the end of the step before it (or the start of the run) and its own start
  friend constexpr bool operator==(const path_step&, const path_step&) = default;
};

constexpr std::string_view to_string(path_step::kind k) {
  return k == path_step::kind::op ? "op" : k == path_step::kind::send ? "send" : "transfer";
}

namespace detail {

/// Walks back through a run.
template <class Problem>
class run_path_finder {
  using item = typename run_items<Problem>::item;

public:
  run_path_finder(const Problem& p, const trace& run) : run_{run}, items_{p, run}, on_path_(items_.size(), 0) {}

  std::vector<path_step> operator()() && {
    std::vector<path_step> path;
    for (candidate at = last(); at.what != none;) {
      const auto [start, finish] = items_.times(at.what);
      on_path_[at.what] = 1;
      const candidate before = best_before(at.what);
      path.push_back({.what = items_.is_op(at.what)     ? path_step::kind::op
                              : items_.is_send(at.what) ? path_step::kind::send
                                                        : path_step::kind::transfer,
                      .index = items_.index(at.what),
                      .start = start,
                      .finish = finish,
                      .after = before.why,
                      .idle = std::max(0.0, start - (before.what == none ? 0 : items_.times(before.what).second))});
      at = before;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

private:
  struct candidate {
    item what = none;
    path_step::cause why = path_step::cause::start;
  };

  candidate last() const {
    candidate found;
    for (item i = 0; i < items_.size(); ++i) {
      if (!items_.is_send(i) && items_.happened(i) && (found.what == none || items_.key(found.what) < items_.key(i))) {
        found.what = i;
      }
    }
    return found;
  }

  /// The last of a list that was over when i started, and is not yet on the path: items without length may have come
  /// one after the other at one instant, in an order that the trace does not tell.
  item last_before(const std::vector<item>& list, item i) const {
    const double start = items_.times(i).first;
    auto end =
      std::partition_point(list.begin(), list.end(), [&](item x) { return items_.times(x).second <= start; });
    while (end != list.begin() && on_path_[*(end - 1)] != 0) {
      --end;
    }
    return end == list.begin() ? none : *(end - 1);
  }

  candidate best_before(item i) const {
    candidate found;
    const auto offer = [&](item x, path_step::cause why) {
      if (x != none && on_path_[x] == 0 && items_.times(x).second <= items_.times(i).second &&
          (found.what == none || items_.times(x).second > items_.times(found.what).second)) {
        found = {x, why};
      }
    };
    items_.for_each_input(i, [&](item x) { offer(x, path_step::cause::data); });
    if (items_.is_op(i)) {
      offer(last_before(items_.on_device()[run_.ops[i].device], i), path_step::cause::device);
    } else if (items_.is_send(i)) {
      offer(last_before(items_.on_device()[items_.moved(i).from], i), path_step::cause::device);
    } else if (items_.waited_for_ports(i)) {
      offer(last_before(items_.from_port()[items_.moved(i).from], i), path_step::cause::link);
      offer(last_before(items_.to_port()[items_.moved(i).to], i), path_step::cause::link);
    }
    return found;
  }

  const trace& run_;
  run_items<Problem> items_;
  std::vector<std::uint8_t> on_path_;
};

} // namespace detail

/// The steps from the first to the last to end. Each began when it did because of the one before it: of what it needed
/// (its inputs, its device, the ports of its link), that was free last. Of several, data comes before devices and
/// links, then the one that the workload lists first. Where nothing ended at that very moment, as in measured runs or
/// with policies that wait, `idle` says how long nothing on the path happened.
///
/// Preconditions: the run has a record for every op of the problem (device `none` if it did not run), and names
/// existing tensors and devices. Complexity: O((n + m) log(n + m)).
template <class Problem>
std::vector<path_step> path_of_run(const Problem& p, const trace& run) {
  return detail::run_path_finder<Problem>{p, run}();
}

} // namespace weft
