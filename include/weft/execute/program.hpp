// SPDX-License-Identifier: BSL-1.0
/// A plan compiled to a program per device: ops to run, tensors to send and receive, and memory to free.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/sort.hpp"
#include "weft/execute/detail/run_order.hpp"
#include "weft/plan/instruction.hpp"
#include "weft/plan/trace.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::execute {

/// Options of a program.
struct program_options {
  /// Tensors whose memory on the device that makes them is not freed, so that they can be read after a run.
  std::vector<tensor_id> keep = {};
  bool in_place = true; ///< an input that is not kept and `is_overwritten` is the same bytes as the output for kernels
};

/// Memory for a tensor on a device: where it is made, and on every device that receives it. Of the device that makes a
/// tensor it is the buffer of the same number; the one that message m is received in is `num_tensors + m`.
struct tensor_buffer {
  device_id device = none;
  tensor_id tensor = none;
  byte_count bytes = 0;
  std::uint32_t begin = 0; ///< the instruction of the device's program that takes the memory
  std::uint32_t end = 0;   ///< the one that frees it or writes another one over it, or the program's length
  std::uint32_t over = none; ///< the buffer in whose memory it lies, which ends as it begins; `none`: one of its own
  friend constexpr bool operator==(const tensor_buffer&, const tensor_buffer&) = default;
};

/// A plan as one program per device, made once and run many times: by threads (`static_executor`), by the processes of
/// a cluster (`mpi::executor`), by other runtimes. A program needs neither the workload nor the plan that it is made
/// of.
/// ```
/// const weft::execute::program program{workload, result.plan};
/// for (const weft::instruction& i : program.of(0)) { … }
/// ```
/// Every device runs its ops one at a time, in the plan's order. A tensor is sent as soon as it is made (or where the
/// plan's order says), is received by each device that reads it in a buffer of its own, and only two things wait: an op
/// for the messages that it reads, and memory that is to be used again for messages that are still sent from it. The
/// latter is put off for as long as the device's memory stays below what it needs anyhow.
///
/// **It cannot deadlock**, whether or not the network keeps messages that nobody is ready for. All instructions of all
/// devices are made in one sequence, of which each device has its own part, and whatever a `wait` waits for (the send
/// and the receive of its message) comes earlier in that sequence and does not wait itself. So of all instructions that
/// are still to be done, the first one of the sequence can always go on. `validate/program.hpp` checks this and
/// that no memory is used too early or too late, by other means.
class program {
public:
  program() = default;

  /// In the plan's order, or in a topological one where it has none. When messages begin is guessed from the ops' work.
  /// Throws `value_error` if the plan does not fit the workload, `constraint_error` if its order contradicts the graph.
  /// Complexity: O((n + m) log(n + m)) for n ops and m messages.
  template <must_be::dataflow_workload W>
  program(const W& w, const plan& p, const program_options& options = {}) {
    const concurrency::op_graph g{w};
    sequence_ = detail::planned_order(g, p);
    detail::make_topological(w, g, p.placement, sequence_);
    read(w, p.placement, options);
    std::vector<double> work(num_ops());
    for (const op_id v : ids(num_ops())) {
      work[v] = w.work(v);
    }
    compile(guessed_times(p, work), options);
  }

  /// In the order of a run of the plan, with receives and memory as in that run: `t` is what a simulator recorded, or a
  /// validated trace. Ops that overlap on a device of several slots run one after the other.
  template <must_be::dataflow_workload W>
  program(const W& w, const plan& p, const trace& t, const program_options& options = {}) {
    const concurrency::op_graph g{w};
    sequence_ = detail::planned_order(g, p);
    if (t.ops.size() != sequence_.size()) {
      throw value_error("the trace", "has " + std::to_string(t.ops.size()) + " ops, the workload " +
                                       std::to_string(sequence_.size()));
    }
    sequence_.assign(g.topological_order().begin(), g.topological_order().end());
    stable_sort(sequence_, [&](op_id a, op_id b) { return t.ops[a].start < t.ops[b].start; });
    detail::make_topological(w, g, p.placement, sequence_);
    read(w, p.placement, options);
    compile(times_of(t), options);
  }

  std::size_t num_ops() const { return placement_.size(); }
  std::size_t num_tensors() const { return num_tensors_; }
  /// One more than the largest device that has ops.
  std::size_t num_devices() const { return code_.size(); }

  /// The program of a device; empty if it has no ops.
  std::span<const instruction> of(device_id d) const { return code_[d]; }
  std::span<const message> messages() const { return messages_; }
  std::span<const tensor_buffer> buffers() const { return buffers_; }
  /// All ops in an order in which one device alone could run them; every device's ops are in its program's order.
  std::span<const op_id> sequence() const { return sequence_; }

  device_id device(op_id v) const { return placement_[v]; }
  /// The buffers that an op reads and writes, in the order of the workload's `inputs` and `outputs`.
  std::span<const std::uint32_t> inputs(op_id v) const { return part(inputs_, first_input_, v); }
  std::span<const std::uint32_t> outputs(op_id v) const { return part(outputs_, first_output_, v); }
  /// Parameters and state of an op, which stay on its device.
  byte_count resident_bytes(op_id v) const { return resident_[v]; }

  /// The most that buffers and residents of a device take at once, in bytes.
  byte_count peak_bytes(device_id d) const { return peak_[d]; }

  /// A number that differs, all but surely, between programs that differ: what processes compare before they run one.
  std::uint64_t fingerprint() const { return fingerprint_; }

private:
  /// The times at which a message is sent, its transfer begins and it has arrived.
  struct message_times {
    double send = 0;
    double begin = 0;
    double end = 0;
  };
  struct run_times {
    std::vector<double> start; // by op
    std::vector<double> finish;
    std::vector<message_times> messages;
  };
  /// A message that is sent, or has been, in the one sequence of all devices.
  struct event {
    double time = 0;
    std::uint64_t rank = 0; ///< of those at the same time, what comes first
    std::uint32_t message = none;
    bool is_over = false;
    bool operator<(const event& o) const { return std::tie(time, rank, message) < std::tie(o.time, o.rank, o.message); }
  };

  static std::span<const std::uint32_t> part(const std::vector<std::uint32_t>& all,
                                             const std::vector<std::uint32_t>& first, op_id v) {
    return std::span{all}.subspan(first[v], first[v + 1] - first[v]);
  }

  bool is_own(std::uint32_t b) const { return b < num_tensors_; }

  /// The message that brings a tensor to a device.
  std::uint32_t message_to(tensor_id t, device_id d) const {
    std::uint32_t m = first_message_[t];
    while (m != none && messages_[m].to != d) {
      m = next_message_[m];
    }
    return m;
  }

  /// What the workload says, and all messages, numbered in the sequence of the ops that are the first to read them.
  template <class W>
  void read(const W& w, const placement& where, const program_options& options) {
    const auto n = sequence_.size();
    placement_ = where;
    num_tensors_ = static_cast<std::uint32_t>(w.num_tensors());
    code_.resize(n == 0 ? 0 : std::size_t{*std::max_element(where.begin(), where.end())} + 1);
    resident_.resize(n);
    buffers_.resize(num_tensors_);
    first_input_.assign(1, 0);
    first_output_.assign(1, 0);
    for (const op_id v : ids(n)) {
      resident_[v] = static_cast<byte_count>(w.resident_bytes(v));
      for (const auto t : w.outputs(v)) {
        buffers_[t] = {
          .device = where[v], .tensor = static_cast<tensor_id>(t), .bytes = static_cast<byte_count>(w.bytes(t))};
        outputs_.push_back(static_cast<std::uint32_t>(t));
      }
      for (const auto t : w.inputs(v)) {
        inputs_.push_back(static_cast<std::uint32_t>(t));
      }
      first_output_.push_back(static_cast<std::uint32_t>(outputs_.size()));
      first_input_.push_back(static_cast<std::uint32_t>(inputs_.size()));
    }
    first_message_.assign(num_tensors_, none);
    for (const op_id v : sequence_) {
      for (std::uint32_t i = first_input_[v]; i < first_input_[v + 1]; ++i) {
        const tensor_id t = inputs_[i];
        if (buffers_[t].device == where[v]) {
          continue;
        }
        auto m = message_to(t, where[v]);
        if (m == none) {
          m = static_cast<std::uint32_t>(messages_.size());
          messages_.push_back({.tensor = t,
                               .from = buffers_[t].device,
                               .to = where[v],
                               .source = t,
                               .target = num_tensors_ + m,
                               .bytes = buffers_[t].bytes});
          buffers_.push_back({.device = where[v], .tensor = t, .bytes = buffers_[t].bytes});
          next_message_.push_back(first_message_[t]);
          first_message_[t] = m;
          first_reader_.push_back(v);
        }
        inputs_[i] = num_tensors_ + m;
      }
    }
    producer_.assign(num_tensors_, none);
    is_overwritten_.assign(buffers_.size(), 0);
    for (const op_id v : ids(n)) {
      for (const auto b : outputs(v)) {
        producer_[b] = v;
      }
      for (const auto b : inputs(v)) {
        if (const tensor_id t = buffers_[b].tensor; options.in_place && is_overwritten(w, t) &&
                                                    std::ranges::find(options.keep, t) == options.keep.end()) {
          buffers_[outputs(v).front()].over = b;
          is_overwritten_[b] = 1;
        }
      }
    }
    std::vector<std::uint32_t> by_pair(messages_.size());
    for (const auto m : ids(messages_.size())) {
      by_pair[m] = m;
    }
    const auto pair = [&](std::uint32_t m) { return std::pair{messages_[m].from, messages_[m].to}; };
    stable_sort(by_pair, [&](auto a, auto b) { return pair(a) < pair(b); });
    for (std::size_t i = 1; i < by_pair.size(); ++i) {
      messages_[by_pair[i]].tag = pair(by_pair[i]) == pair(by_pair[i - 1]) ? messages_[by_pair[i - 1]].tag + 1 : 0;
    }
  }

  /// Every op takes as long as its work says, and a transfer may take until its tensor is read.
  run_times guessed_times(const plan& p, const std::vector<double>& work) const {
    const auto n = num_ops();
    std::vector<op_id> before(messages_.size(), none); // the op that the plan's order puts last before a message's send
    std::vector<op_id> last(num_devices(), none);
    for (const step& s : p.order) {
      if (!s.is_send()) {
        last[placement_[s.op]] = s.op;
      } else if (s.tensor < num_tensors_) {
        if (const auto m = message_to(s.tensor, s.to); m != none) {
          before[m] = last[messages_[m].from];
        }
      }
    }
    run_times times{std::vector<double>(n, 0), std::vector<double>(n, 0), std::vector<message_times>(messages_.size())};
    std::vector<double> free_at(num_devices(), 0);
    for (const op_id v : sequence_) {
      double& start = times.start[v];
      start = free_at[placement_[v]];
      for (const auto b : inputs(v)) {
        start = std::max(start, times.finish[producer_[buffers_[b].tensor]]);
        if (!is_own(b) && before[b - num_tensors_] != none) {
          start = std::max(start, times.finish[before[b - num_tensors_]]); // 0 if that op comes later
        }
      }
      times.finish[v] = free_at[placement_[v]] = start + work[v];
    }
    for (const auto m : ids(messages_.size())) {
      const double made = times.finish[producer_[messages_[m].tensor]];
      const double sent = before[m] == none ? made : std::max(made, times.finish[before[m]]);
      times.messages[m] = {sent, sent, times.start[first_reader_[m]]};
    }
    return times;
  }

  run_times times_of(const trace& t) const {
    run_times times;
    for (const op_record& r : t.ops) {
      times.start.push_back(r.start);
      times.finish.push_back(r.finish);
    }
    for (const auto m : ids(messages_.size())) {
      const double made = times.finish[producer_[messages_[m].tensor]];
      times.messages.push_back({made, made, times.start[first_reader_[m]]});
    }
    for (const transfer_record& r : t.transfers) {
      if (const auto m = r.tensor < num_tensors_ ? message_to(r.tensor, r.to) : none; m != none) {
        times.messages[m] = {r.send_start, r.start, r.arrival};
      }
    }
    return times;
  }

  /// Makes times that were measured, or guessed, agree with the sequence, whatever they are.
  void reconcile(run_times& times) const {
    double now = 0;
    for (const op_id v : sequence_) {
      now = times.start[v] = std::max(now, times.start[v]);
      times.finish[v] = std::max(now, times.finish[v]);
    }
    for (const auto m : ids(messages_.size())) {
      auto& x = times.messages[m];
      const double read = times.start[first_reader_[m]];
      x.send = std::clamp(x.send, times.start[producer_[messages_[m].tensor]], read);
      x.begin = std::clamp(x.begin, x.send, read);
      x.end = std::clamp(x.end, x.begin, read);
    }
  }

  void compile(run_times times, const program_options& options) {
    reconcile(times);
    lay_out_instructions(times, options);
    peak_.assign(num_devices(), 0);
    for (device_id d = 0; d < num_devices(); ++d) {
      place_waits(d);
    }
    for (const op_id v : ids(num_ops())) {
      peak_[placement_[v]] += resident_[v];
    }
    take_fingerprint();
  }

  /// Makes the instructions in one sequence: the runs of ops, the sends, and, where a message has come over, the
  /// sender's `free` of what has no other use. Receives come before the op during which their transfers begin, or,
  /// where that would take more memory than `times` ever do, after it.
  void lay_out_instructions(const run_times& times, const program_options& options) {
    // By buffer: reads on its device and messages still to come. What is overwritten is not freed.
    std::vector<std::uint32_t> uses(is_overwritten_.begin(), is_overwritten_.end());
    for (const auto b : inputs_) {
      ++uses[b];
    }
    for (const message& m : messages_) {
      ++uses[m.source];
    }
    for (const tensor_id t : options.keep) {
      if (t >= num_tensors_) {
        throw value_error("program_options.keep", "names tensor " + std::to_string(t) + " of " +
                                                    std::to_string(num_tensors_));
      }
      ++uses[t];
    }
    std::vector<std::vector<std::uint32_t>> arriving(num_devices()); // messages to each device as they begin
    std::vector<std::size_t> received(num_devices(), 0);
    for (const auto m : ids(messages_.size())) {
      arriving[messages_[m].to].push_back(m);
    }
    for (auto& all : arriving) {
      stable_sort(all, [&](auto a, auto b) { return times.messages[a].begin < times.messages[b].begin; });
    }
    const auto limit = max_at_once(times, options);
    std::vector<byte_count> in_use(num_devices(), 0);
    std::vector<std::uint8_t> is_posted(messages_.size(), 0), is_read(messages_.size(), 0);
    const auto add = [&](device_id d, const instruction& i) {
      code_[d].push_back(i);
      in_use[d] += taken_by(i);
      in_use[d] -= i.what == instruction::kind::free ? buffers_[i.id].bytes : 0;
    };
    const auto receive = [&](std::uint32_t m) {
      if (!is_posted[m]) {
        is_posted[m] = 1;
        add(messages_[m].to, {instruction::kind::receive, m});
      }
    };
    const auto end_use = [&](std::uint32_t b) {
      if (--uses[b] == 0) {
        add(buffers_[b].device, {instruction::kind::free, b});
      }
    };
    const auto run = [&](op_id v) {
      const device_id d = placement_[v];
      const byte_count bytes = taken_by({instruction::kind::run, v});
      for (auto& next = received[d]; next < arriving[d].size(); ++next) {
        const auto m = arriving[d][next];
        if (!is_posted[m] && (times.messages[m].begin >= times.finish[v] ||
                              in_use[d] + bytes + messages_[m].bytes > limit[d])) {
          break;
        }
        receive(m);
      }
      for (const auto b : inputs(v)) {
        if (const auto m = b - num_tensors_; !is_own(b) && !is_read[m]) {
          add(d, {instruction::kind::wait, m});
          is_read[m] = 1;
        }
      }
      add(d, {instruction::kind::run, v});
      for (const auto b : inputs(v)) {
        end_use(b);
      }
      for (const auto b : outputs(v)) {
        if (uses[b] == 0) {
          add(d, {instruction::kind::free, b});
        }
      }
    };
    const auto events = events_of(times);
    auto e = events.begin();
    for (std::size_t i = 0; i <= sequence_.size(); ++i) {
      for (; e != events.end() && (i == sequence_.size() || *e < event{times.start[sequence_[i]], rank_of(i)}); ++e) {
        if (!e->is_over) {
          add(messages_[e->message].from, {instruction::kind::send, e->message});
        } else {
          receive(e->message);
          end_use(messages_[e->message].source);
        }
      }
      if (i < sequence_.size()) {
        run(sequence_[i]);
      }
    }
  }

  /// The most that each device's buffers take at once by these times, if what is sent is held until it has arrived: a
  /// tensor from when its op starts, or its transfer begins, until its last use there is over.
  std::vector<byte_count> max_at_once(const run_times& times, const program_options& options) const {
    std::vector<double> begin(buffers_.size()), end(buffers_.size(), 0);
    for (const auto t : ids(num_tensors_)) {
      begin[t] = times.start[producer_[t]];
      end[t] = times.finish[producer_[t]];
    }
    for (const auto m : ids(messages_.size())) {
      begin[messages_[m].target] = times.messages[m].begin;
      end[messages_[m].source] = std::max(end[messages_[m].source], times.messages[m].end);
    }
    for (const op_id v : ids(num_ops())) {
      for (const auto b : inputs(v)) {
        end[b] = std::max(end[b], is_overwritten_[b] != 0 ? times.start[v] : times.finish[v]);
      }
    }
    for (const tensor_id t : options.keep) {
      end[t] = std::numeric_limits<double>::infinity();
    }
    struct change {
      double time;
      bool begins; // what ends comes first
      std::uint32_t buffer;
    };
    std::vector<change> changes;
    for (const auto b : ids(buffers_.size())) {
      if (begin[b] < end[b]) {
        changes.push_back({begin[b], true, b});
        changes.push_back({end[b], false, b});
      }
    }
    sort(changes, [](const change& a, const change& b) {
      return std::tie(a.time, a.begins, a.buffer) < std::tie(b.time, b.begins, b.buffer);
    });
    std::vector<byte_count> in_use(num_devices(), 0), most(num_devices(), 0);
    for (const auto& [time, begins, b] : changes) {
      byte_count& now = in_use[buffers_[b].device];
      now = begins ? now + buffers_[b].bytes : now - buffers_[b].bytes;
      most[buffers_[b].device] = std::max(most[buffers_[b].device], now);
    }
    return most;
  }

  /// Where op i of the sequence comes among what happens at the same time: before its sends, and after the ends of the
  /// messages that it reads.
  static std::uint64_t rank_of(std::size_t i) { return 3 * (i + 1); }

  /// What happens to messages, in the order of the sequence.
  std::vector<event> events_of(const run_times& times) const {
    std::vector<std::uint64_t> rank(num_ops());
    for (std::size_t i = 0; i < sequence_.size(); ++i) {
      rank[sequence_[i]] = rank_of(i);
    }
    std::vector<event> events;
    events.reserve(2 * messages_.size());
    for (const auto m : ids(messages_.size())) {
      const auto& x = times.messages[m];
      events.push_back({x.send, rank[producer_[messages_[m].tensor]] + 1, m, false});
      events.push_back({x.end, rank[first_reader_[m]] - 1, m, true});
    }
    sort(events);
    return events;
  }

  /// Puts the waits for what was sent from a buffer before its `free`, and both as late as the device's memory allows:
  /// it never takes more than if all were done at once.
  void place_waits(device_id d) {
    const auto draft = std::move(code_[d]);
    auto& code = code_[d];
    code.clear();
    byte_count in_use = 0, most = 0;
    for (const instruction& i : draft) {
      in_use += taken_by(i);
      most = std::max(most, in_use);
      in_use -= i.what == instruction::kind::free ? buffers_[i.id].bytes : 0;
    }
    peak_[d] = most;

    std::vector<std::uint32_t> sent; // buffers that messages may still be sent from, the oldest first
    std::size_t next = 0;
    in_use = 0;
    const auto release = [&](std::uint32_t b) {
      in_use -= buffers_[b].bytes;
      buffers_[b].end = static_cast<std::uint32_t>(code.size());
      code.push_back({instruction::kind::free, b});
    };
    const auto wait_for_sends = [&](std::uint32_t b) {
      for (auto m = first_message_[b]; m != none; m = next_message_[m]) {
        code.push_back({instruction::kind::wait, m});
      }
    };
    for (const instruction& i : draft) {
      if (i.what == instruction::kind::free) {
        if (is_own(i.id) && first_message_[i.id] != none) {
          sent.push_back(i.id);
        } else {
          release(i.id);
        }
        continue;
      }
      const byte_count bytes = taken_by(i);
      while (in_use + bytes > most && bytes > 0) {
        WEFT_ASSERT(next < sent.size());
        wait_for_sends(sent[next]);
        release(sent[next++]);
      }
      in_use += bytes;
      for_each_taken_by(i, [&](std::uint32_t b) {
        buffers_[b].begin = static_cast<std::uint32_t>(code.size());
        if (const auto below = buffers_[b].over; below != none) {
          buffers_[below].end = buffers_[b].begin;
        }
      });
      code.push_back(i);
    }
    for (; next < sent.size(); ++next) {
      wait_for_sends(sent[next]);
      release(sent[next]);
    }
    std::vector<std::uint32_t> kept;
    for (const instruction& i : draft) {
      for_each_taken_by(i, [&](std::uint32_t b) {
        if (buffers_[b].end == 0) {
          kept.push_back(b);
          wait_for_sends(b);
        }
      });
    }
    for (const auto b : kept) {
      buffers_[b].end = static_cast<std::uint32_t>(code.size());
    }
  }

  /// The buffers whose memory an instruction takes.
  template <class F>
  void for_each_taken_by(const instruction& i, F&& f) const {
    if (i.what == instruction::kind::receive) {
      f(messages_[i.id].target);
    } else if (i.what == instruction::kind::run) {
      for (const auto b : outputs(i.id)) {
        f(b);
      }
    }
  }

  byte_count taken_by(const instruction& i) const {
    byte_count bytes = 0;
    for_each_taken_by(i, [&](std::uint32_t b) { bytes += buffers_[b].over == none ? buffers_[b].bytes : 0; });
    return bytes;
  }

  void take_fingerprint() {
    const auto add = [this](std::uint64_t x) { fingerprint_ = rng::mix(fingerprint_ ^ (x + 0x9e3779b97f4a7c15u)); };
    for (const auto& code : code_) {
      add(code.size());
      for (const instruction& i : code) {
        add((std::uint64_t{i.id} << 8) | static_cast<std::uint8_t>(i.what));
      }
    }
    for (const message& m : messages_) {
      add((std::uint64_t{m.from} << 32) | m.to);
      add(m.tensor);
      add(m.bytes);
    }
    for (const tensor_buffer& b : buffers_) {
      add(b.bytes);
      add(b.over);
    }
    for (const auto* all : {&inputs_, &first_input_, &outputs_, &first_output_, &placement_}) {
      for (const std::uint32_t x : *all) {
        add(x);
      }
    }
    for (const byte_count x : resident_) {
      add(x);
    }
  }

  std::uint32_t num_tensors_ = 0;
  weft::placement placement_;
  std::vector<op_id> sequence_;
  std::vector<std::vector<instruction>> code_; // by device
  std::vector<message> messages_;
  std::vector<std::uint32_t> first_message_; // by tensor, a list through next_message_
  std::vector<std::uint32_t> next_message_;
  std::vector<op_id> first_reader_; // by message
  std::vector<op_id> producer_;     // by tensor
  std::vector<tensor_buffer> buffers_;     // of the tensors, then of the messages
  std::vector<std::uint8_t> is_overwritten_; // by buffer
  std::vector<std::uint32_t> inputs_, first_input_;
  std::vector<std::uint32_t> outputs_, first_output_;
  std::vector<byte_count> resident_; // by op
  std::vector<byte_count> peak_;     // by device
  std::uint64_t fingerprint_ = 0;
};

} // namespace weft::execute
