// SPDX-License-Identifier: BSL-1.0
/// The workload and the platform of the rest of a run (solve/continuation.hpp).
#pragma once

#include "weft/core/error.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/solve/detail/continued_costs.hpp"
#include "weft/solve/detail/kept_routes.hpp"
#include "weft/solve/detail/run_snapshot.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/copy_ops.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// An output of an op of the rest; `op` is `none` for nothing.
struct output_number {
  op_id op = none;
  std::uint32_t number = 0;
};

/// A tensor that was made, and that ops which are left need.
struct made_tensor {
  tensor_id tensor = none;
  device_id home = none;            ///< from where it is sent, where sends take time; else `none`
  double at_home = 0;               ///< since when it is there
  output_number sent = {};          ///< what is sent, in the rest
  std::vector<device_id> from = {}; ///< by device: from where it comes if it has to, where sends take no time
};

/// Ops 0, 1, 2, … of the rest are those that are left, ascending; then come those of the past.
template <class Numbers>
class rest_of_run {
  using facts_type = continued_facts<Numbers>;
  using op_facts = typename facts_type::op_facts;
  using tensor_facts = typename facts_type::tensor_facts;

public:
  rest_of_run(const Numbers& p, run_state s) : p_{&p}, snapshot_{p, std::move(s)} {
    facts_.whole = p_;
    facts_.num_devices = p.num_devices();
    find_devices();
    find_groups();
    find_made_tensors();
    choose_kinds();
  }
  rest_of_run(const rest_of_run&) = delete; // costs refer to the facts
  rest_of_run& operator=(const rest_of_run&) = delete;

  const run_snapshot<Numbers>& state() const { return snapshot_; }
  const facts_type& facts() const { return facts_; }
  const std::vector<made_tensor>& made() const { return made_; }
  /// The number of t in `made`, or `none`.
  std::uint32_t made_number(tensor_id t) const { return row_of_[t]; }
  bool is_there(std::uint32_t r, device_id d) const { return facts_.there[r * facts_.num_devices + d] != 0; }
  /// The op of the rest; `none` if v is not left.
  op_id op(op_id v) const { return rest_of_[v]; }
  /// The output of an op that is left.
  output_number output(tensor_id t) const { return {rest_of_[p_->workload().producer(t)], number_[t]}; }
  /// The ops of the past, which begin at once.
  const std::vector<op_id>& first() const { return first_; }

  workload make_workload() {
    const auto& w = p_->workload();
    rest_of_.assign(p_->num_ops(), none);
    number_.assign(p_->num_tensors(), 0);
    for (const op_id v : snapshot_.left()) {
      weft::op o = op_of(w, v);
      o.kinds = kinds_of(v);
      o.memory = shares_memory(v) ? o.memory : output_memory::own; // also where fewer readers are left
      rest_of_[v] = add(std::move(o), {v, only_[v], 0});
      for (const tensor_id t : w.outputs(v)) {
        number_[t] = add_tensor(rest_of_[v], w.bytes(t), {t, none, none}).number;
      }
    }
    colocate();
    const op_id past = add_first(past_device(), 0, "what was made");
    for (std::uint32_t r = 0; r < made_.size(); ++r) {
      add_tensor(past, w.bytes(made_[r].tensor), {made_[r].tensor, r, none});
    }
    const auto clock = add_tensor(past, 0, {none, num_made(), none});
    if (const double last = snapshot_.state().begun.makespan; last > snapshot_.now() || snapshot_.left().empty()) {
      add_first(past_device(), last, "what is under way"); // so that nothing ends sooner
    }
    for (const device_id d : ids(p_->num_devices())) {
      if (is_held_[d]) {
        hold(d);
      }
    }
    connect(past, clock);
    for (const auto& outputs : outputs_) {
      facts_.tensors.insert(facts_.tensors.end(), outputs.begin(), outputs.end());
    }
    return std::move(builder_).build();
  }

  /// The devices and, last, the past, where all is that was. What was placed takes what reservations give it, also what
  /// is resident. Call it after `make_workload`.
  platform<> make_platform() const {
    const auto& w = p_->workload();
    const auto& q = p_->platform();
    auto devices = q.devices();
    std::vector<std::string> names;
    for (const device_id d : ids(p_->num_devices())) {
      devices[d].kind = hardware_kind(q, d);
      bool is_usable = false;
      p_->memories().for_each_sharing(d, [&](device_id e) { is_usable = is_usable || facts_.usable(e); });
      devices[d].memory_capacity = is_usable ? p_->capacity(d) : 0;
      names.emplace_back(q.name(d));
    }
    for (const op_id v : ids(p_->num_ops())) {
      if (const device_id d = snapshot_.state().begun.ops[v].device; d != none) {
        byte_count& free = devices[p_->memory_of(d)].memory_capacity;
        const auto take = [&](byte_count bytes) { free -= std::min(free, bytes); };
        take(w.resident_bytes(v));
        for (const tensor_id t : w.outputs(v)) {
          take(w.bytes(t));
        }
        for (const tensor_id t : w.inputs(v)) {
          take(w.bytes(t));
        }
      }
    }
    devices.push_back({.slots = 2});
    names.emplace_back("the past");
    auto made = platform<>{std::move(devices), links_with_the_past(q.links())}.with_kinds(kind_)
                  .with_link_share(q.link_share());
    made.set_names(std::move(names));
    return made;
  }

private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  /// Nothing that comes from the past passes a link: it arrives when the costs say.
  static link_matrix links_with_the_past(const link_matrix& links) {
    const std::size_t n = links.num_devices();
    if (links.shares_links()) {
      std::vector<device_id> origin(n + 1, 0);
      std::iota(origin.begin(), origin.end(), device_id{0});
      return {n + 1, kept_routes{links.wiring(), origin, n}};
    }
    link_matrix made{n + 1};
    for (const device_id from : ids(n)) {
      for (const device_id to : ids(n)) {
        made.set(from, to, links(from, to));
      }
    }
    return made;
  }

  device_id past_device() const { return static_cast<device_id>(p_->num_devices()); }
  std::uint32_t num_made() const { return static_cast<std::uint32_t>(made_.size()); }

  /// Which are gone, which hold what began, and when they are free.
  void find_devices() {
    std::vector<device_id> live;
    for (const device_id d : ids(p_->num_devices())) {
      facts_.gone.push_back(snapshot_.is_gone(d));
      if (facts_.usable(d)) {
        live.push_back(d);
      }
      const auto slots = snapshot_.slots(d);
      free_from_.push_back(facts_.usable(d) ? slots.back().until : never);
      is_held_.push_back(facts_.usable(d) && slots.size() > 1 && slots.front().until > snapshot_.now());
    }
    if (live.empty()) {
      throw value_error("run_state", "all devices are gone; a run needs one to go on");
    }
    facts_.stand_in[0] = live.front();
    facts_.stand_in[1] = live.size() > 1 ? live[1] : live.front();
  }

  /// A group that has begun stays where it is, unless that is gone.
  void find_groups() {
    const auto& w = p_->workload();
    std::vector<device_id> begun_on(static_cast<std::size_t>(w.num_groups()), none);
    for (const op_id v : ids(p_->num_ops())) {
      const device_id d = snapshot_.state().begun.ops[v].device;
      if (w.group(v) != none && d != none && facts_.usable(d)) {
        begun_on[w.group(v)] = d;
      }
    }
    only_.assign(p_->num_ops(), none);
    for (const op_id v : snapshot_.left()) {
      only_[v] = w.group(v) == none ? none : begun_on[w.group(v)];
    }
  }

  void find_made_tensors() {
    row_of_.assign(p_->num_tensors(), none);
    for (const op_id v : snapshot_.left()) {
      for (const tensor_id t : p_->workload().inputs(v)) {
        if (row_of_[t] == none && !snapshot_.copies(t).empty()) {
          row_of_[t] = num_made();
          made_.push_back({.tensor = t});
        }
      }
    }
    const std::size_t k = p_->num_devices();
    facts_.arrival.assign(made_.size() * k, never);
    facts_.there.assign(made_.size() * k, 0);
    for (std::size_t r = 0; r < made_.size(); ++r) {
      find_arrivals(made_[r], facts_.arrival.data() + r * k, facts_.there.data() + r * k);
      if (made_[r].home != none) {
        is_held_[made_[r].home] = 1;
      }
    }
    facts_.arrival.insert(facts_.arrival.end(), free_from_.begin(), free_from_.end()); // what the clock tells
    for (std::size_t r = 0; r <= made_.size(); ++r) {
      const double* const first = facts_.arrival.data() + r * k;
      facts_.soonest.push_back(*std::min_element(first, first + k));
    }
  }

  /// When ops on each device can have the tensor, and that they can start at all. Where it would have to be sent, that
  /// is the earliest, and the send says when exactly. It is sent from where it was made, or, if that is gone, from
  /// where it was first.
  void find_arrivals(made_tensor& x, double* arrival, std::uint8_t* there) {
    const tensor_id t = x.tensor;
    const double now = snapshot_.now();
    const auto copies = snapshot_.copies(t);
    const device_id made_on = snapshot_.state().begun.ops[p_->workload().producer(t)].device;
    auto home = copies.front();
    for (const auto& c : copies) {
      there[c.device] = 1;
      arrival[c.device] = c.time;
      if (c.device == made_on || (home.device != made_on && c.time < home.time)) {
        home = c;
      }
    }
    x.at_home = home.time;
    x.from.assign(p_->num_devices(), none);
    for (const device_id d : ids(p_->num_devices())) {
      if (!facts_.usable(d)) {
        continue;
      }
      if (!there[d]) {
        if (const double send = p_->send_time(t, home.device, d); send > 0) {
          x.home = home.device;
          arrival[d] = std::max(home.time, free_from_[home.device]) + send + p_->transfer_time(t, home.device, d);
        } else {
          for (const auto& c : copies) {
            const double time = std::max(now, c.time) + p_->transfer_time(t, c.device, d);
            if (p_->send_time(t, c.device, d) == 0 && (x.from[d] == none || time < arrival[d])) {
              arrival[d] = time;
              x.from[d] = c.device;
            }
          }
        }
      }
      arrival[d] = std::max(arrival[d], free_from_[d]);
    }
  }

  /// Devices to which something is bound have kinds of their own, as far as there are 64; where there are no more,
  /// times that never end keep ops away.
  void choose_kinds() {
    const auto& q = p_->platform();
    kind_set used;
    for (const device_id d : ids(p_->num_devices())) {
      kind_.push_back(q.kind(d));
      used = used | q.kind(d);
    }
    kind_.push_back(device_kind{});
    unsigned next = 64;
    const auto own = [&](device_id d) {
      while (next > 0 && used.contains(static_cast<device_kind>(next - 1))) {
        --next;
      }
      if (next > 0) {
        kind_[d] = static_cast<device_kind>(--next);
        own_ = own_ | kind_[d];
      }
      return next > 0;
    };
    if (!own(past_device())) {
      throw value_error("run_state", "the platform uses all 64 kinds of devices; what ran before needs one");
    }
    std::vector<std::uint8_t> is_bound = is_held_;
    for (const device_id d : only_) {
      if (d != none) {
        is_bound[d] = 1;
      }
    }
    for (const device_id d : ids(p_->num_devices())) {
      if (!facts_.usable(d) || is_bound[d]) {
        own(d);
      }
    }
  }
  kind_set own_kinds(device_id d) const { return kind_[d]; }
  kind_set kinds_of(op_id v) const {
    if (only_[v] != none) {
      return own_kinds(only_[v]);
    }
    const kind_set of_whole = p_->workload().kinds(v);
    kind_set kinds = kind_set::from_bits(of_whole.bits() & ~own_.bits());
    kind_set nowhere;
    for (const device_id d : ids(p_->num_devices())) {
      if (facts_.usable(d) && of_whole.contains(p_->platform().kind(d))) {
        kinds = kinds | kind_[d];
      }
      nowhere = facts_.usable(d) ? nowhere : kind_set{kind_[d]};
    }
    return kinds.empty() ? nowhere : kinds;
  }

  /// True if v writes over an input, or what it makes is a part of what another op keeps.
  bool shares_memory(op_id v) const {
    const auto& w = p_->workload();
    const auto inputs = w.inputs(v);
    const auto outputs = w.outputs(v);
    return std::any_of(inputs.begin(), inputs.end(), [&](tensor_id t) { return is_overwritten(w, t); }) ||
           std::any_of(outputs.begin(), outputs.end(), [&](tensor_id t) { return is_resident(w, t); });
  }
  op_id add(weft::op o, op_facts of) {
    facts_.ops.push_back(of);
    outputs_.emplace_back();
    return builder_.add_op(std::move(o));
  }
  op_id add_first(device_id d, double seconds, const char* name) {
    first_.push_back(add({.kinds = own_kinds(d), .name = name}, {none, d, seconds}));
    return first_.back();
  }
  output_number add_tensor(op_id v, byte_count bytes, tensor_facts of) {
    outputs_[v].push_back(of);
    return {v, builder_.add_output(v, bytes)};
  }

  /// What lies on d and is sent, and what holds its slots.
  void hold(device_id d) {
    const auto send_from = [&](op_id sender, auto is_there) {
      for (std::uint32_t r = 0; r < made_.size(); ++r) {
        if (auto& x = made_[r]; x.home == d && x.sent.op == none && is_there(x)) {
          x.sent = add_tensor(sender, 0, {x.tensor, r, d});
        }
      }
    };
    send_from(add_first(d, 0, "what lies here"),
              [&](const made_tensor& x) { return x.at_home <= snapshot_.now(); });
    for (const auto& s : snapshot_.slots(d)) {
      const op_id holder = add_first(d, s.until, "what runs here");
      send_from(holder, [&](const made_tensor& x) {
        return s.op != none && static_cast<op_id>(p_->workload().producer(x.tensor)) == s.op;
      });
    }
  }

  void colocate() {
    const auto& w = p_->workload();
    std::vector<op_id> first(static_cast<std::size_t>(w.num_groups()), none);
    for (const op_id v : snapshot_.left()) {
      if (const group_id g = w.group(v); g != none) {
        if (first[g] == none) {
          first[g] = rest_of_[v];
        } else {
          builder_.colocate(first[g], rest_of_[v]);
        }
      }
    }
  }

  /// Who reads what. What was made is not told before the device is free; ops that need nothing of that, and could
  /// start too early, are told by the clock.
  void connect(op_id past, output_number clock) {
    const auto& w = p_->workload();
    double first_free = never;
    double last_free = 0;
    for (const device_id d : ids(p_->num_devices())) {
      if (facts_.usable(d)) {
        first_free = std::min(first_free, free_from_[d]);
        last_free = std::max(last_free, free_from_[d]);
      }
    }
    std::vector<double> finish(snapshot_.left().size(), 0.0); // no op ends sooner
    for (const op_id v : p_->topological_order()) {
      if (!snapshot_.is_left(v)) {
        continue;
      }
      double start = 0;
      bool is_told = false;
      for (const tensor_id t : w.inputs(v)) {
        if (const auto r = row_of_[t]; r != none) {
          is_told = true;
          builder_.add_edge(past, rest_of_[v], r);
          if (made_[r].sent.op != none) {
            builder_.add_edge(made_[r].sent.op, rest_of_[v], made_[r].sent.number);
          }
        } else {
          const auto [u, number] = output(t);
          builder_.add_edge(u, rest_of_[v], number);
          start = std::max(start, finish[u]);
        }
      }
      if (!is_told && start < last_free) {
        is_told = true;
        builder_.add_edge(past, rest_of_[v], clock.number);
      }
      double least = never;
      for (const device_id d : ids(p_->num_devices())) {
        if (facts_.usable(d)) {
          least = std::min(least, p_->compute_time(v, d));
        }
      }
      finish[rest_of_[v]] = std::max(start, is_told ? first_free : 0) + least;
    }
  }

  const Numbers* p_;
  run_snapshot<Numbers> snapshot_;
  facts_type facts_;
  std::vector<double> free_from_;      // per device: from when on an op may start there
  std::vector<std::uint8_t> is_held_;  // per device: whether ops of the rest hold its slots
  std::vector<device_id> only_;        // per op
  std::vector<made_tensor> made_;
  std::vector<std::uint32_t> row_of_;  // per tensor: its number in made_
  std::vector<device_kind> kind_;      // per device, and of the past
  kind_set own_;                       // kinds that only one device has
  workload_builder builder_;
  std::vector<std::vector<tensor_facts>> outputs_; // per op of the rest
  std::vector<op_id> rest_of_;         // per op
  std::vector<std::uint32_t> number_;  // per tensor: among its producer's
  std::vector<op_id> first_;
};

} // namespace weft::solve::detail
