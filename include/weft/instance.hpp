// SPDX-License-Identifier: BSL-1.0
/// A problem as numbers, in one type, whatever types it was made of: what searches work on.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/numbering.hpp"
#include "weft/core/sort.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/plan/memory_shortage.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/workload.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// A problem whose times are numbers, so that a search that is compiled for it is compiled for all problems.
using instance = problem<workload, platform<>, cost::lowered>;

namespace detail {

/// A workload of another type, as the library's. Its tensors are numbered op by op.
class workload_copy {
public:
  /// Checks nothing: that was done when a problem was made of it.
  template <dataflow_workload W>
  explicit workload_copy(const W& w) {
    const auto n = static_cast<std::size_t>(w.num_ops());
    std::vector<tensor_id> number(static_cast<std::size_t>(w.num_tensors()), none);
    auto& c = made_;
    numbering<std::string> types;
    c.num_groups_ = static_cast<std::size_t>(w.num_groups());
    bool same = true;
    bool named = false;
    for (const op_id v : ids(n)) {
      for (const tensor_id t : w.outputs(v)) {
        same = same && t == c.bytes_.size();
        number[t] = static_cast<tensor_id>(c.bytes_.size());
        original_.push_back(t);
        c.bytes_.push_back(static_cast<byte_count>(w.bytes(t)));
        if constexpr (requires { w.is_overwritten(t); } || requires { w.is_resident(t); }) {
          c.shared_.push_back(is_overwritten(w, t) ? workload::shared::with_result
                              : is_resident(w, t)  ? workload::shared::with_resident
                                                   : workload::shared::no);
        }
        if constexpr (requires { w.is_message(t); }) {
          c.messages_.push_back(w.is_message(t));
        }
        c.producer_.push_back(v);
        for (const op_id u : w.consumers(t)) {
          c.consumers_.push_back(u);
        }
        weft::sort(c.consumers_.data() + c.first_consumer_.back(), c.consumers_.data() + c.consumers_.size());
        c.first_consumer_.push_back(static_cast<std::uint32_t>(c.consumers_.size()));
      }
      c.first_output_.push_back(static_cast<tensor_id>(c.bytes_.size()));
      c.work_.push_back(static_cast<double>(w.work(v)));
      c.resident_bytes_.push_back(static_cast<byte_count>(w.resident_bytes(v)));
      c.kinds_.push_back(w.kinds(v));
      c.group_.push_back(w.group(v));
      if constexpr (requires { w.role(v); } || requires { role_by_name(w.type(v), w.name(v)); }) {
        c.roles_.push_back(static_cast<std::uint8_t>(role_of(w, v)));
      }
      if constexpr (requires { std::string_view{w.name(v)}; }) {
        named = named || !std::string_view{w.name(v)}.empty();
      }
    }
    for (const op_id v : ids(n)) {
      for (const tensor_id t : w.inputs(v)) {
        c.inputs_.push_back(number[t]);
      }
      weft::sort(c.inputs_.data() + c.first_input_.back(), c.inputs_.data() + c.inputs_.size());
      c.first_input_.push_back(static_cast<std::uint32_t>(c.inputs_.size()));
      if constexpr (requires { std::string_view{w.name(v)}; }) {
        if (named) {
          c.names_.emplace_back(std::string_view{w.name(v)});
        }
      }
      if constexpr (requires { std::string_view{w.type(v)}; }) {
        c.types_.push_back(types.number(std::string{w.type(v)}));
      }
    }
    for (std::uint32_t i = 0; i < types.size(); ++i) {
      c.type_names_.push_back(types[i]);
    }
    if (same) {
      original_.clear();
    }
  }

  workload take() { return std::move(made_); }
  /// The workload's number of each tensor; empty if it is the same.
  std::vector<tensor_id> take_original() { return std::move(original_); }

private:
  workload made_;
  std::vector<tensor_id> original_;
};

/// A platform of another type, as the library's: what problems ask of it beside times.
template <device_platform P>
platform<> platform_copy(const P& p) {
  const auto n = static_cast<std::size_t>(p.num_devices());
  std::vector<device> devices;
  std::vector<device_kind> kinds;
  std::vector<std::string> names;
  for (const device_id d : ids(n)) {
    devices.push_back({.kind = hardware_kind(p, d),
                       .memory_capacity = static_cast<byte_count>(p.memory_capacity(d)),
                       .slots = static_cast<std::uint32_t>(p.slots(d)),
                       .memory_of = memory_of(p, d) == d ? none : memory_of(p, d)});
    kinds.push_back(p.kind(d));
    if constexpr (requires { std::string_view{p.name(d)}; }) {
      names.emplace_back(std::string_view{p.name(d)});
    }
  }
  auto made = platform<>{std::move(devices), link_matrix{n}}.with_kinds(std::move(kinds));
  if (!names.empty()) {
    made.set_names(std::move(names));
  }
  return made;
}

} // namespace detail

/// The tensors of an instance and those of the problem that it was made of, where their numbers differ. Numbers that no
/// tensor has stay as they are, for whoever checks them.
class tensor_numbers {
public:
  tensor_numbers() = default;
  /// `original`: the problem's number of each of the instance's tensors; empty if they are the same.
  explicit tensor_numbers(std::vector<tensor_id> original)
      : original_{std::move(original)}, lowered_(original_.size()) {
    for (const tensor_id t : ids(original_.size())) {
      lowered_[original_[t]] = t;
    }
  }

  /// Whether the numbers are the same.
  bool same() const { return original_.empty(); }
  /// The problem's numbers by those of the instance, and the other way round; empty if they are the same.
  const std::vector<tensor_id>& originals() const { return original_; }
  const std::vector<tensor_id>& of_originals() const { return lowered_; }
  /// The problem's number of a tensor of the instance.
  tensor_id original(tensor_id t) const { return original_.empty() ? t : original_[t]; }
  /// A plan of the instance as one of the problem.
  plan original(plan x) const { return renumbered(std::move(x), original_); }
  /// The same of the record of a run.
  trace original(trace run) const { return renumbered(std::move(run), original_); }
  /// The same of what fills a device.
  memory_shortage original(memory_shortage s) const {
    for (auto& t : s.alive) {
      t.tensor = original(t.tensor);
    }
    weft::sort(s.alive, [](const auto& a, const auto& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.tensor < b.tensor;
    });
    return s;
  }
  /// A plan of the problem as one of the instance.
  plan lowered(plan x) const { return renumbered(std::move(x), lowered_); }
  /// The same of the record of a run.
  trace lowered(trace run) const { return renumbered(std::move(run), lowered_); }

private:
  static plan renumbered(plan x, const std::vector<tensor_id>& number) {
    if (!number.empty()) {
      for (step& s : x.order) {
        s.tensor = s.is_send() && s.tensor < number.size() ? number[s.tensor] : s.tensor;
      }
    }
    return x;
  }

  static trace renumbered(trace run, const std::vector<tensor_id>& number) {
    if (!number.empty()) {
      for (transfer_record& x : run.transfers) {
        x.tensor = x.tensor < number.size() ? number[x.tensor] : x.tensor;
      }
    }
    return run;
  }

  std::vector<tensor_id> original_;
  std::vector<tensor_id> lowered_;
};

/// A problem as an instance, and what that refers to. Ops, devices and components keep their numbers, and times are the
/// problem's to the last bit (`cost::lowered`), so that a plan of one is a plan of the other, with the same run, but
/// for the numbers of tensors. Refers to the problem's workload and platform; those of types that are not the library's
/// are copied, without what only their cost model or objective reads. Made by `lower`. Keep it as long as the instance,
/// which refers to it.
class lowered_problem {
public:
  template <class W, class P, class C>
  explicit lowered_problem(const problem<W, P, C>& p) : instance_{instance_of(p)} {}
  lowered_problem(const lowered_problem&) = delete;
  lowered_problem& operator=(const lowered_problem&) = delete;

  const instance& operator*() const { return instance_; }
  const instance* operator->() const { return &instance_; }
  const tensor_numbers& tensors() const { return tensors_; }

private:
  template <class W, class P, class C>
  instance instance_of(const problem<W, P, C>& p) {
    if constexpr (std::same_as<W, workload> && std::same_as<P, platform<>>) {
      return p.with_costs(cost::lower(p.cost(), p.workload(), p.platform()));
    } else {
      std::vector<byte_count> demand, capacity;
      for (component_id c = 0; c < p.num_components(); ++c) {
        demand.push_back(p.demand(c));
      }
      for (const device_id d : ids(p.num_devices())) {
        capacity.push_back(p.capacity(d));
      }
      const auto& w = kept(p.workload());
      const auto& q = kept(p.platform());
      return instance{w, q, cost::lower(p.cost(), p.workload(), p.platform(), tensors_.originals())}
        .with_demands(std::move(demand))
        .with_capacities(std::move(capacity));
    }
  }
  const workload& kept(const workload& w) { return w; }
  const platform<>& kept(const platform<>& q) { return q; }
  template <dataflow_workload W>
  const workload& kept(const W& w) {
    detail::workload_copy copy{w};
    tensors_ = tensor_numbers{copy.take_original()};
    return workload_ = copy.take();
  }
  template <device_platform P>
  const platform<>& kept(const P& q) {
    return platform_ = detail::platform_copy(q);
  }

  workload workload_;   // of other types; else empty
  platform<> platform_; // the same
  tensor_numbers tensors_;
  instance instance_;   // last, since it may refer to the others
};

/// A problem as numbers. Compute times are asked for once for each op and device, or class of devices where the costs
/// tell classes.
/// ```
/// const auto numbers = weft::lower(problem);
/// const auto r = weft::solve::best(*numbers, {.seconds = 10});
/// ```
/// Complexity: O(ops × devices + devices² + edges) time; 8 bytes for each op and class of devices of equal times, 24
/// for each pair of devices (1 where there are hundreds of them, with few kinds of links) unless transfers take as long
/// between all, and what is copied.
template <class W, class P, class C>
lowered_problem lower(const problem<W, P, C>& p) {
  return lowered_problem{p};
}

} // namespace weft
