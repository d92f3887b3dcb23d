// SPDX-License-Identifier: BSL-1.0
/// The traces of all ranks, gathered into one.
#pragma once

#include "weft/execute/program.hpp"
#include "weft/interop/mpi/clock_offsets.hpp"
#include "weft/interop/mpi/communicator.hpp"
#include "weft/plan/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::mpi::detail {

/// When ops ran on this rank and messages were sent and had arrived, by `MPI_Wtime`; 0 is never. Different threads
/// write of different ops and messages.
class run_record {
public:
  /// Forgets the run before; of a run that is not recorded, nothing may follow.
  void begin(const execute::program& p, bool records) {
    ops_.assign(records ? p.num_ops() : 0, {});
    sent_.assign(records ? p.messages().size() : 0, 0);
    arrived_.assign(records ? p.messages().size() : 0, 0);
  }
  void op(op_id v, double start, double finish) { ops_[v] = {start, finish}; }
  void sent(std::uint32_t m, double when) { sent_[m] = when; }
  void arrived(std::uint32_t m, double when) {
    if (arrived_[m] == 0) {
      arrived_[m] = when;
    }
  }

  /// Brings what all ranks have to rank 0, in seconds from `begin`, the start of the run by rank 0's clock. Collective.
  /// The other ranks get what they had themselves.
  trace gather(const communicator& all, const execute::program& p, const common_time& time, double begin) const {
    trace t;
    t.ops.resize(p.num_ops());
    std::vector<transfer_record> transfers(p.messages().size());
    const auto mine = entries(time, begin);
    add(mine, p, t, transfers);
    const std::uint64_t count = mine.size();
    const auto counts = all.all_gather(count);
    constexpr int tag = 0;
    if (all.rank() == 0) {
      std::vector<entry> theirs;
      for (int r = 1; r < all.size(); ++r) {
        theirs.resize(counts[static_cast<std::size_t>(r)]);
        all.receive(std::as_writable_bytes(std::span{theirs}), r, tag);
        add(theirs, p, t, transfers);
      }
    } else {
      all.send(std::as_bytes(std::span{mine}), 0, tag);
    }
    for (transfer_record& x : transfers) {
      if (x.tensor == none || x.start < 0 || x.arrival < 0) {
        continue; // one end did not come so far, or is unknown here
      }
      x.arrival = std::max(x.arrival, x.start); // clocks may be a little apart
      t.transfers.push_back(x);
      t.makespan = std::max(t.makespan, x.arrival);
    }
    for (const op_record& r : t.ops) {
      t.makespan = std::max(t.makespan, r.finish);
    }
    return t;
  }

private:
  struct interval {
    double start = 0;
    double finish = 0;
  };
  /// An op, or an end of a message.
  struct entry {
    enum class kind : std::uint32_t { ran, left, came };
    kind what;
    std::uint32_t id;
    double start;
    double finish;
  };

  std::vector<entry> entries(const common_time& time, double begin) const {
    std::vector<entry> all;
    const auto add = [&](entry::kind what, std::uint32_t id, double start, double finish) {
      if (start != 0) {
        all.push_back({what, id, std::max(0.0, time(start) - begin), std::max(0.0, time(finish) - begin)});
      }
    };
    for (const auto v : ids(ops_.size())) {
      add(entry::kind::ran, v, ops_[v].start, ops_[v].finish);
    }
    for (const auto m : ids(sent_.size())) {
      add(entry::kind::left, m, sent_[m], sent_[m]);
      add(entry::kind::came, m, arrived_[m], arrived_[m]);
    }
    return all;
  }

  static void add(std::span<const entry> entries, const execute::program& p, trace& t,
                  std::vector<transfer_record>& transfers) {
    for (const entry& e : entries) {
      if (e.what == entry::kind::ran) {
        t.ops[e.id] = {p.device(e.id), e.start, e.finish};
        continue;
      }
      transfer_record& x = transfers[e.id];
      const message& m = p.messages()[e.id];
      if (x.tensor == none) {
        x = {m.tensor, m.from, m.to, -1, -1, -1, -1};
      }
      if (e.what == entry::kind::left) {
        x.send_start = x.send_finish = x.start = e.start;
      } else {
        x.arrival = e.start;
      }
    }
  }

  std::vector<interval> ops_; // by op
  std::vector<double> sent_;  // by message
  std::vector<double> arrived_;
};

} // namespace weft::mpi::detail
