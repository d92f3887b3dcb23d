// SPDX-License-Identifier: BSL-1.0
/// Live ranges of tensors in a run: where each lies in memory, and from when to when.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/platform/concepts.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

/// A tensor in a memory for some time, as `peak_memory_of` defines it: half-open, `[begin, end)` in seconds.
struct live_range {
  tensor_id tensor = none;
  device_id device = none; ///< the one whose memory it is
  double begin = 0;
  double end = 0;
  op_id keeper = none;   ///< the op there that needs it last; `none`: a send or nothing does
  bool received = false; ///< whether it is a copy of what another device made
  friend constexpr bool operator==(const live_range&, const live_range&) = default;
};

/// Finds the stays of one tensor at a time: on its producer's device from the op's start until its last consumer there
/// has finished and its last send is over, on each other from the start of the transfer until its last consumer there
/// has finished. A transfer to a device that works in the producer's memory copies nothing: the tensor stays where it
/// is until it has arrived and its last consumer there has finished. A consumer that writes over the tensor needs it
/// until it starts: its result takes the place. A resident tensor takes no memory of its own where it is made.
template <class W>
class live_range_finder {
public:
  /// Each device has a memory of its own.
  live_range_finder(const W& w, std::size_t num_devices) : w_{&w}, keeper_(num_devices, none) {
    for (const device_id d : ids(num_devices)) {
      memory_.push_back(d);
    }
  }
  template <device_platform P>
  live_range_finder(const W& w, const P& p) : live_range_finder{w, static_cast<std::size_t>(p.num_devices())} {
    for (device_id& d : memory_) {
      d = memory_of(p, d);
    }
  }

  /// Calls f(live_range) for those that take memory for some time. `run` has `device(op)`, `start(op)`, `finish(op)`,
  /// and `for_each_transfer(t, g)`, which calls g(to, start, send_finish, arrival). Complexity: O(consumers +
  /// transfers).
  template <class Run, class F>
  void operator()(tensor_id t, const Run& run, F f) {
    const op_id u = w_->producer(t);
    const byte_count bytes = w_->bytes(t);
    if (bytes == 0) {
      return;
    }
    for (const op_id c : w_->consumers(t)) {
      auto& last = keeper_[run.device(c)];
      last = last == none || run.finish(c) > run.finish(last) ? c : last;
    }
    const bool gives_place = is_overwritten(*w_, t); // to the result of its one consumer
    const auto use_ends = [&](op_id c) { return gives_place ? run.start(c) : run.finish(c); };
    const auto stay = [&](device_id d, double begin, double end, op_id last, bool received) {
      if (begin < end) {
        f(live_range{t, memory_[d], begin, end, last, received});
      }
    };
    op_id last = keeper_[run.device(u)];
    double end = last != none ? use_ends(last) : run.finish(u);
    run.for_each_transfer(t, [&](device_id to, double start, double send_finish, double arrival) {
      last = send_finish > end ? none : last;
      end = std::max(end, send_finish);
      const op_id there = keeper_[to];
      const double until = there == none ? arrival : std::max(arrival, use_ends(there));
      if (memory_[to] != memory_[run.device(u)]) {
        stay(to, start, until, there, true);
      } else if (until > end) {
        last = there;
        end = until;
      }
    });
    if (!is_resident(*w_, t)) {
      stay(run.device(u), run.start(u), end, last, false);
    }
    for (const op_id c : w_->consumers(t)) {
      keeper_[run.device(c)] = none;
    }
  }

private:
  const W* w_;
  std::vector<op_id> keeper_;     // of the tensor at hand, per device
  std::vector<device_id> memory_; // per device, whose memory it works in
};

/// The stays of whole runs. Kept between them, it does not allocate after the first.
template <class W>
class live_ranges_of_runs {
public:
  /// `devices`: a platform, or the number of devices, each with a memory of its own.
  template <class Devices>
  live_ranges_of_runs(const W& w, const Devices& devices)
      : find_{w, devices}, num_tensors_{static_cast<std::size_t>(w.num_tensors())} {
    std::size_t max_transfers = 0;
    for (const tensor_id t : ids(num_tensors_)) {
      max_transfers += static_cast<std::size_t>(std::ranges::size(w.consumers(t)));
    }
    sent_.reserve(max_transfers);
  }

  /// Calls f(live_range) for each; those of a tensor together, by tensor. Preconditions: as for `peak_memory_of`.
  /// Complexity: O(n + m + transfers).
  template <class F>
  void operator()(const placement& where, const trace& run, F f) {
    first_.assign(num_tensors_ + 2, 0); // two ahead, so that filling leaves the starts
    for (const auto& x : run.transfers) {
      ++first_[x.tensor + 2];
    }
    for (const tensor_id t : ids(num_tensors_)) {
      first_[t + 2] += first_[t + 1];
    }
    sent_.resize(run.transfers.size());
    for (std::uint32_t k = 0; k < run.transfers.size(); ++k) {
      sent_[first_[run.transfers[k].tensor + 1]++] = k;
    }
    for (const tensor_id t : ids(num_tensors_)) {
      find_(t, recorded{*this, where, run}, f);
    }
  }

private:
  struct recorded {
    const live_ranges_of_runs& by_tensor;
    const placement& where;
    const trace& run;

    device_id device(op_id v) const { return where[v]; }
    double start(op_id v) const { return run.ops[v].start; }
    double finish(op_id v) const { return run.ops[v].finish; }
    template <class G>
    void for_each_transfer(tensor_id t, G g) const {
      for (auto k = by_tensor.first_[t]; k < by_tensor.first_[t + 1]; ++k) {
        const auto& x = run.transfers[by_tensor.sent_[k]];
        g(x.to, x.start, x.send_finish, x.arrival);
      }
    }
  };

  live_range_finder<W> find_;
  std::size_t num_tensors_;
  std::vector<std::uint32_t> first_, sent_; // transfers by tensor
};

/// All stays of a run, as `live_ranges_of_runs` tells them.
template <class W, class Devices>
buffer<live_range> live_ranges(const W& w, const Devices& devices, const placement& where, const trace& run) {
  buffer<live_range> stays;
  live_ranges_of_runs<W>{w, devices}(where, run, [&](const live_range& s) { stays.push_back(s); });
  return stays;
}

} // namespace weft
