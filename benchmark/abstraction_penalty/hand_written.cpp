// SPDX-License-Identifier: BSL-1.0
// The same algorithm for one purpose: linear costs, transfers at full rate, the critical path on the fastest device,
// the longest remaining time first. Plain arrays, no templates of its own, nothing that this combination can do
// without.
#include "solvers.hpp"

#include "weft/core/random.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace penalty {
namespace {

using u32 = std::uint32_t;
constexpr u32 none = 0xffff'ffff;

// ---- where: the critical path on the fastest device that it fits, the rest where there is the least to do

class partitioner {
public:
  explicit partitioner(const input& in)
      : in_{in}, num_ops_{static_cast<u32>(in.work.size())}, num_devices_{static_cast<u32>(in.speed.size())},
        place_(num_ops_, none), free_(in.capacity), load_(num_devices_, 0.0) {}

  bool run(std::uint64_t seed) {
    for (u32 v = find_path(); v != none; v = next_[v]) {
      const u32 c = in_.component[v];
      if (!is_placed(c)) {
        const u32 d = fastest_fit(c);
        if (d == none) {
          return false;
        }
        put(c, d);
      }
    }
    const u32 num_components = static_cast<u32>(in_.kinds.size());
    std::vector<u32> sequence(num_components);
    for (u32 c = 0; c < num_components; ++c) {
      sequence[c] = c;
    }
    weft::rng random{seed};
    for (u32 i = num_components; i > 1; --i) {
      std::swap(sequence[i - 1], sequence[random.below(i)]);
    }
    for (const u32 c : sequence) {
      if (!is_placed(c)) {
        const u32 d = least_busy_fit(c);
        if (d == none) {
          return false;
        }
        put(c, d);
      }
    }
    return true;
  }

  const std::vector<u32>& place() const { return place_; }

private:
  bool is_placed(u32 c) const { return place_[in_.members[in_.first_member[c]]] != none; }

  double seconds(u32 c, u32 d) const {
    double sum = 0;
    for (u32 i = in_.first_member[c]; i < in_.first_member[c + 1]; ++i) {
      sum += in_.work[in_.members[i]] / in_.speed[d];
    }
    return sum;
  }

  u32 fastest_fit(u32 c) const {
    const std::uint64_t kinds = in_.kinds[c];
    const std::uint64_t demand = in_.demand[c];
    u32 best = none;
    double least = std::numeric_limits<double>::infinity();
    for (u32 d = 0; d < num_devices_; ++d) {
      if ((kinds & in_.kind[d]) != 0 && free_[d] >= demand) {
        if (const double s = seconds(c, d); s < least) {
          best = d;
          least = s;
        }
      }
    }
    return best;
  }

  u32 least_busy_fit(u32 c) const {
    const std::uint64_t kinds = in_.kinds[c];
    const std::uint64_t demand = in_.demand[c];
    const std::uint64_t* const kind = in_.kind.data();
    const std::uint64_t* const free = free_.data();
    const double* const load = load_.data();
    u32 best = none;
    double least = std::numeric_limits<double>::infinity();
    for (u32 d = 0; d < num_devices_; ++d) {
      if ((kinds & kind[d]) != 0 && free[d] >= demand && load[d] < least) {
        best = d;
        least = load[d];
      }
    }
    return best;
  }

  void put(u32 c, u32 d) {
    free_[d] -= in_.demand[c];
    load_[d] += seconds(c, d);
    for (u32 i = in_.first_member[c]; i < in_.first_member[c + 1]; ++i) {
      place_[in_.members[i]] = d;
    }
  }

  /// Ranks the ops by the mean times to a sink; returns where the critical path begins, `next_` is how it goes on.
  u32 find_path() {
    double mean_speed = 0;
    for (const double s : in_.speed) {
      mean_speed += s;
    }
    mean_speed /= num_devices_;
    double mean_latency = 0; // from the first device to the others
    double mean_inverse_bandwidth = 0;
    for (u32 d = 1; d < num_devices_; ++d) {
      mean_latency += in_.latency[d];
      mean_inverse_bandwidth += 1 / in_.bandwidth[d];
    }
    if (num_devices_ > 1) {
      mean_latency /= num_devices_ - 1;
      mean_inverse_bandwidth /= num_devices_ - 1;
    }
    std::vector<double> rank(num_ops_);
    next_.assign(num_ops_, none);
    for (u32 i = num_ops_; i-- > 0;) {
      const u32 v = in_.topological_order[i];
      double rest = 0;
      u32 next = none;
      for (u32 t = in_.first_output[v]; t < in_.first_output[v + 1]; ++t) {
        const double transfer = mean_latency + static_cast<double>(in_.bytes[t]) * mean_inverse_bandwidth;
        for (u32 k = in_.first_consumer[t]; k < in_.first_consumer[t + 1]; ++k) {
          const u32 c = in_.consumers[k];
          const double through = transfer + rank[c];
          if (next == none || through > rest || (through == rest && c < next)) {
            rest = through;
            next = c;
          }
        }
      }
      next_[v] = next;
      rank[v] = rest + in_.work[v] / mean_speed;
    }
    return num_ops_ == 0 ? none : static_cast<u32>(std::max_element(rank.begin(), rank.end()) - rank.begin());
  }

  const input& in_;
  u32 num_ops_;
  u32 num_devices_;
  std::vector<u32> place_;
  std::vector<std::uint64_t> free_;
  std::vector<double> load_;
  std::vector<u32> next_;
};

// ---- when: an event loop over devices that take the ready item with the longest remaining time

class event_loop {
public:
  event_loop(const input& in, const std::vector<u32>& place)
      : in_{in}, place_{place}, num_ops_{static_cast<u32>(in.work.size())},
        num_tensors_{static_cast<u32>(in.bytes.size())}, num_devices_{static_cast<u32>(in.speed.size())} {}

  outcome run() {
    find_transfers();
    rank_items();
    make_queues();
    std::size_t slots = 0;
    for (const u32 s : in_.slots) {
      slots += s;
    }
    events_.resize(std::min<std::size_t>(slots, num_ops_ + transfers_.size()) + transfers_.size());
    free_slots_ = in_.slots;
    missing_ = in_.num_inputs;
    touched_.resize(num_devices_);
    is_touched_.assign(num_devices_, 0);
    for (u32 v = 0; v < num_ops_; ++v) {
      if (missing_[v] == 0) {
        make_ready(v, place_[v]);
      }
    }
    outcome result{.feasible = true};
    double now = 0;
    serve_devices(now);
    while (num_events_ > 0) {
      now = events_[0].time;
      do {
        const u32 code = events_[0].code;
        pop_event();
        ++result.num_events;
        complete(code, now);
      } while (num_events_ > 0 && events_[0].time == now);
      serve_devices(now);
    }
    result.makespan = now;
    for (const transfer& x : transfers_) {
      result.transfer_bytes += x.bytes;
    }
    return result;
  }

private:
  struct transfer {
    u32 from;
    u32 to;
    u32 first_consumer;
    u32 num_consumers;
    double send_time;
    double transfer_time;
    std::uint64_t bytes;
  };
  /// Code below num_ops: an op; then the sends; then the arrivals, both by transfer.
  struct event {
    double time;
    u32 code;
    bool operator<(const event& e) const { return time < e.time || (time == e.time && code < e.code); }
  };
  struct waiting {
    double key;
    u32 arrival;
    u32 item;
    bool operator<(const waiting& w) const { return key > w.key || (key == w.key && arrival < w.arrival); }
  };
  struct queue {
    u32 first;
    u32 size;
  };

  /// One transfer per tensor and device that needs it; the consumers of a tensor sorted by where they are.
  void find_transfers() {
    std::vector<u32> last_tensor(num_devices_, none);
    std::vector<u32> transfer_to(num_devices_);
    num_local_.resize(num_tensors_);
    first_transfer_.resize(num_tensors_ + 1);
    consumers_.resize(in_.consumers.size());
    transfers_.reserve(in_.consumers.size());
    for (u32 t = 0; t < num_tensors_; ++t) {
      const u32 here = place_[in_.producer[t]];
      const u32 begin = in_.first_consumer[t];
      const u32 end = in_.first_consumer[t + 1];
      const u32 first = static_cast<u32>(transfers_.size());
      first_transfer_[t] = first;
      u32 local = 0;
      for (u32 k = begin; k < end; ++k) {
        const u32 there = place_[in_.consumers[k]];
        if (there == here) {
          ++local;
        } else if (last_tensor[there] == t) {
          ++transfers_[transfer_to[there]].num_consumers;
        } else {
          last_tensor[there] = t;
          transfer_to[there] = static_cast<u32>(transfers_.size());
          const std::size_t link = here * num_devices_ + there;
          transfers_.push_back({here, there, 0, 1, in_.send_work / in_.speed[here],
                                in_.latency[link] + static_cast<double>(in_.bytes[t]) / in_.bandwidth[link],
                                in_.bytes[t]});
        }
      }
      num_local_[t] = local;
      if (first == transfers_.size()) {
        for (u32 k = begin; k < end; ++k) {
          consumers_[k] = in_.consumers[k];
        }
        continue;
      }
      u32 next = begin;
      u32 at = begin + local;
      for (u32 k = first; k < transfers_.size(); ++k) {
        transfers_[k].first_consumer = at;
        at += transfers_[k].num_consumers;
        transfers_[k].num_consumers = 0;
      }
      for (u32 k = begin; k < end; ++k) {
        const u32 c = in_.consumers[k];
        if (place_[c] == here) {
          consumers_[next++] = c;
        } else {
          transfer& x = transfers_[transfer_to[place_[c]]];
          consumers_[x.first_consumer + x.num_consumers++] = c;
        }
      }
    }
    num_transfers_ = static_cast<u32>(transfers_.size());
    first_transfer_[num_tensors_] = num_transfers_;
  }

  /// The longest remaining time of every op and send.
  void rank_items() {
    keys_.resize(num_ops_ + transfers_.size());
    compute_time_.resize(num_ops_);
    double* const keys = keys_.data();
    for (u32 i = num_ops_; i-- > 0;) {
      const u32 v = in_.topological_order[i];
      double rest = 0;
      const u32 last_output = in_.first_output[v + 1];
      for (u32 t = in_.first_output[v]; t < last_output; ++t) {
        const u32* c = &consumers_[in_.first_consumer[t]];
        for (const u32* const end = c + num_local_[t]; c != end; ++c) {
          rest = std::max(rest, keys[*c]);
        }
        const u32 last = first_transfer_[t + 1];
        for (u32 k = first_transfer_[t]; k < last; ++k) {
          const transfer& x = transfers_[k];
          double key = 0;
          c = &consumers_[x.first_consumer];
          for (const u32* const end = c + x.num_consumers; c != end; ++c) {
            key = std::max(key, keys[*c]);
          }
          key = key + in_.send_work / in_.speed[x.to] + x.transfer_time + x.send_time;
          keys[num_ops_ + k] = key;
          rest = std::max(rest, key);
        }
      }
      compute_time_[v] = in_.work[v] / in_.speed[place_[v]];
      keys[v] = rest + compute_time_[v];
    }
  }

  /// One heap per device in one array.
  void make_queues() {
    queues_.assign(num_devices_, {0, 0});
    for (u32 v = 0; v < num_ops_; ++v) {
      ++queues_[place_[v]].first;
    }
    for (const transfer& x : transfers_) {
      ++queues_[x.from].first;
    }
    u32 end = 0;
    for (queue& q : queues_) {
      end += q.first;
      q.first = end - q.first;
    }
    heap_.resize(end);
  }

  void touch(u32 d) {
    if (!is_touched_[d]) {
      is_touched_[d] = 1;
      touched_[num_touched_++] = d;
    }
  }

  void make_ready(u32 item, u32 d) {
    queue& q = queues_[d];
    waiting* const heap = &heap_[q.first];
    const waiting w{keys_[item], arrivals_++, item};
    u32 hole = q.size++;
    while (hole > 0 && w < heap[(hole - 1) / 4]) {
      heap[hole] = heap[(hole - 1) / 4];
      hole = (hole - 1) / 4;
    }
    heap[hole] = w;
    touch(d);
  }

  u32 take_next(u32 d) {
    queue& q = queues_[d];
    waiting* const heap = &heap_[q.first];
    const u32 item = heap[0].item;
    const waiting moved = heap[--q.size];
    u32 hole = 0;
    for (;;) {
      const u32 first = 4 * hole + 1;
      if (first >= q.size) {
        break;
      }
      waiting* best = heap + first;
      if (first + 4 <= q.size) {
        waiting* const child = best;
        best = *best < child[1] ? best : child + 1;
        best = *best < child[2] ? best : child + 2;
        best = *best < child[3] ? best : child + 3;
      } else {
        for (waiting* child = best + 1; child != heap + q.size; ++child) {
          best = *best < *child ? best : child;
        }
      }
      if (!(*best < moved)) {
        break;
      }
      heap[hole] = *best;
      hole = static_cast<u32>(best - heap);
    }
    heap[hole] = moved;
    return item;
  }

  void push_event(double time, u32 code) {
    event* const heap = events_.data();
    const event e{time, code};
    std::size_t hole = num_events_++;
    while (hole > 0 && e < heap[(hole - 1) / 4]) {
      heap[hole] = heap[(hole - 1) / 4];
      hole = (hole - 1) / 4;
    }
    heap[hole] = e;
  }

  void pop_event() {
    event* const heap = events_.data();
    const std::size_t size = --num_events_;
    const event moved = heap[size];
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = 4 * hole + 1;
      if (first >= size) {
        break;
      }
      event* best = heap + first;
      if (first + 4 <= size) {
        event* const child = best;
        best = *best < child[1] ? best : child + 1;
        best = *best < child[2] ? best : child + 2;
        best = *best < child[3] ? best : child + 3;
      } else {
        for (event* child = best + 1; child != heap + size; ++child) {
          best = *best < *child ? best : child;
        }
      }
      if (!(*best < moved)) {
        break;
      }
      heap[hole] = *best;
      hole = static_cast<std::size_t>(best - heap);
    }
    heap[hole] = moved;
  }

  void begin_transfer(u32 k, double now) {
    push_event(now + transfers_[k].transfer_time, num_ops_ + num_transfers_ + k);
  }

  void deliver(u32 first, u32 count, u32 d) {
    const u32* c = &consumers_[first];
    for (const u32* const end = c + count; c != end; ++c) {
      if (--missing_[*c] == 0) {
        make_ready(*c, d);
      }
    }
  }

  void complete(u32 code, double now) {
    if (code >= num_ops_ + num_transfers_) {
      const transfer& x = transfers_[code - num_ops_ - num_transfers_];
      deliver(x.first_consumer, x.num_consumers, x.to);
    } else if (code >= num_ops_) {
      const u32 d = transfers_[code - num_ops_].from;
      ++free_slots_[d];
      touch(d);
      begin_transfer(code - num_ops_, now);
    } else {
      const u32 d = place_[code];
      ++free_slots_[d];
      touch(d);
      const u32 last_output = in_.first_output[code + 1];
      const u32 last_transfer = first_transfer_[last_output];
      for (u32 k = first_transfer_[in_.first_output[code]]; k < last_transfer; ++k) {
        if (transfers_[k].send_time > 0) {
          make_ready(num_ops_ + k, d);
        } else {
          begin_transfer(k, now);
        }
      }
      for (u32 t = in_.first_output[code]; t < last_output; ++t) {
        deliver(in_.first_consumer[t], num_local_[t], d);
      }
    }
  }

  void serve_devices(double now) {
    if (num_touched_ > 1) {
      std::sort(touched_.begin(), touched_.begin() + num_touched_);
    }
    for (u32 i = 0; i < num_touched_; ++i) {
      const u32 d = touched_[i];
      is_touched_[d] = 0;
      while (free_slots_[d] > 0 && queues_[d].size > 0) {
        const u32 item = take_next(d);
        --free_slots_[d];
        const double seconds = item < num_ops_ ? compute_time_[item] : transfers_[item - num_ops_].send_time;
        push_event(now + seconds, item);
      }
    }
    num_touched_ = 0;
  }

  const input& in_;
  const std::vector<u32>& place_;
  u32 num_ops_;
  u32 num_tensors_;
  u32 num_devices_;
  u32 num_transfers_ = 0;
  u32 arrivals_ = 0;
  u32 num_touched_ = 0;
  std::size_t num_events_ = 0;
  std::vector<transfer> transfers_; // by tensor
  std::vector<u32> first_transfer_; // per tensor, plus the end
  std::vector<u32> num_local_;      // per tensor
  std::vector<u32> consumers_;      // per tensor: the local ones, then those of each transfer
  std::vector<double> compute_time_;
  std::vector<double> keys_; // per item: ops, then sends
  std::vector<queue> queues_;
  std::vector<waiting> heap_;
  std::vector<event> events_;
  std::vector<u32> missing_; // per op: inputs that are not there yet
  std::vector<u32> free_slots_;
  std::vector<u32> touched_; // devices that may have something new to run
  std::vector<std::uint8_t> is_touched_;
};

} // namespace
} // namespace penalty

void solve_hand_written(const penalty::input& in, std::uint64_t seed, penalty::outcome& out) {
  penalty::partitioner where{in};
  if (!where.run(seed)) {
    out = {};
    return;
  }
  out = penalty::event_loop{in, where.place()}.run();
}
