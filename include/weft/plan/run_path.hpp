// SPDX-License-Identifier: BSL-1.0
/// The critical path of a run: the chain of ops, sends and transfers that made it end when it did.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
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

/// Walks back through a run. Item i < n is op i; then come the sends and then the transfers, as the trace has them.
template <class Problem>
class run_path_finder {
  using item = std::uint32_t;

public:
  run_path_finder(const Problem& p, const trace& run)
      : problem_{p}, run_{run}, n_(static_cast<item>(p.num_ops())), k_(static_cast<item>(run.transfers.size())),
        rank_(n_, 0), on_path_(n_ + std::size_t{2} * k_, 0), on_device_(p.num_devices()), from_port_(p.num_devices()), to_port_(p.num_devices()) {
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
    for (auto* lists : {&on_device_, &from_port_, &to_port_}) {
      for (auto& list : *lists) {
        weft::sort(list, [this](item a, item b) { return key(a) < key(b); });
      }
    }
    weft::sort(arrivals_, [this](item a, item b) { return goes(a) < goes(b); });
  }

  std::vector<path_step> operator()() && {
    std::vector<path_step> path;
    for (candidate at = last(); at.what != none;) {
      const auto [start, finish] = times(at.what);
      on_path_[at.what] = 1;
      const candidate before = best_before(at.what);
      const bool op = at.what < n_, send = !op && at.what < n_ + k_;
      path.push_back({.what = op     ? path_step::kind::op
                              : send ? path_step::kind::send
                                     : path_step::kind::transfer,
                      .index = op ? at.what : (at.what - n_) % k_,
                      .start = start,
                      .finish = finish,
                      .after = before.why,
                      .idle = std::max(0.0, start - (before.what == none ? 0 : times(before.what).second))});
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

  std::pair<double, double> times(item i) const {
    if (i < n_) {
      return {run_.ops[i].start, run_.ops[i].finish};
    }
    const auto& x = run_.transfers[(i - n_) % k_];
    return i < n_ + k_ ? std::pair{x.send_start, x.send_finish} : std::pair{x.start, x.arrival};
  }
  /// The order of items by their ends; of items that end together, what others wait for comes first.
  std::tuple<double, double, item, item> key(item i) const {
    const auto [start, finish] = times(i);
    const op_id v = i < n_ ? i : problem_.workload().producer(run_.transfers[(i - n_) % k_].tensor);
    return {finish, start, rank_[v], i};
  }
  std::pair<tensor_id, device_id> goes(item k) const { return {run_.transfers[k].tensor, run_.transfers[k].to}; }

  candidate last() const {
    candidate found;
    const auto take = [&](item i) {
      if (found.what == none || key(found.what) < key(i)) {
        found.what = i;
      }
    };
    for (item i = 0; i < n_; ++i) {
      if (run_.ops[i].device != none) {
        take(i);
      }
    }
    for (item k = 0; k < k_; ++k) {
      take(n_ + k_ + k);
    }
    return found;
  }

  /// The last of a list that was over when i started, and is not yet on the path: items without length may have come
  /// one after the other at one instant, in an order that the trace does not tell.
  item last_before(const std::vector<item>& list, item i) const {
    const double start = times(i).first;
    auto end = std::partition_point(list.begin(), list.end(), [&](item x) { return times(x).second <= start; });
    while (end != list.begin() && on_path_[*(end - 1)] != 0) {
      --end;
    }
    return end == list.begin() ? none : *(end - 1);
  }

  candidate best_before(item i) const {
    candidate found;
    const auto offer = [&](item x, path_step::cause why) {
      if (x != none && on_path_[x] == 0 && times(x).second <= times(i).second && (found.what == none || times(x).second > times(found.what).second)) {
        found = {x, why};
      }
    };
    const auto& w = problem_.workload();
    if (i < n_) {
      for (const tensor_id t : w.inputs(i)) {
        const op_id u = w.producer(t);
        if (run_.ops[u].device == run_.ops[i].device) {
          offer(u, path_step::cause::data);
          continue;
        }
        const auto at = std::lower_bound(arrivals_.begin(), arrivals_.end(), std::pair{t, run_.ops[i].device},
                                         [this](item k, const auto& x) { return goes(k) < x; });
        if (at != arrivals_.end() && goes(*at) == std::pair{t, run_.ops[i].device}) {
          offer(n_ + k_ + *at, path_step::cause::data);
        }
      }
      offer(last_before(on_device_[run_.ops[i].device], i), path_step::cause::device);
      return found;
    }
    const item k = (i - n_) % k_;
    const auto& x = run_.transfers[k];
    const bool sent = x.send_finish > x.send_start;
    if (i < n_ + k_ || !sent) {
      offer(w.producer(x.tensor), path_step::cause::data);
    } else {
      offer(n_ + k, path_step::cause::data);
    }
    if (i < n_ + k_) {
      offer(last_before(on_device_[x.from], i), path_step::cause::device);
    } else if (x.start > x.send_finish) {
      offer(last_before(from_port_[x.from], i), path_step::cause::link);
      offer(last_before(to_port_[x.to], i), path_step::cause::link);
    }
    return found;
  }

  const Problem& problem_;
  const trace& run_;
  item n_;
  item k_;
  std::vector<item> rank_;
  std::vector<std::uint8_t> on_path_;
  std::vector<std::vector<item>> on_device_; // ops and sends, by key
  std::vector<std::vector<item>> from_port_; // transfers, by key
  std::vector<std::vector<item>> to_port_;
  std::vector<item> arrivals_; // transfers by tensor and destination
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
