// SPDX-License-Identifier: BSL-1.0
/// A problem: a workload, a platform and a cost model, with the facts that every solver derives from them.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/error.hpp"
#include "weft/core/readable.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/shared.hpp"
#include "weft/cost/concepts.hpp"
#include "weft/cost/facts.hpp"
#include "weft/cost/linear.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/platform/concepts.hpp"
#include "weft/platform/device_memories.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

using component_id = std::uint32_t;

namespace detail {
/// T owns numbers that were checked when it was built, or, of cost models, adds none of its own to those.
template <class T>
concept checks_amounts = std::same_as<typename T::checked_type, T>;

/// The class that computes C's times checks amounts.
template <class C, class W, class P>
concept computes_checked_amounts = requires {
  requires checks_amounts<typename decltype(cost_parts::declaring_class(&C::template compute_time<W, P>))::type>;
};
template <class C, class W, class P>
concept transfers_checked_amounts = requires {
  requires checks_amounts<typename decltype(cost_parts::declaring_class(&C::template transfer_time<W, P>))::type>;
  requires checks_amounts<typename decltype(cost_parts::declaring_class(&C::template send_time<W, P>))::type>;
};

struct workload_must_outlive_the_problem {};
struct platform_must_outlive_the_problem {};
struct problem_must_outlive_it {};

[[noreturn]] inline void refuse_time(std::string where, double seconds) {
  throw value_error(std::move(where),
                    readable_number(seconds) + " is not a time: a cost model returns seconds, at least 0");
}
/// `op 3 'conv'`, `device 1 'gpu0'`.
template <class T>
std::string describe(const T& of, const char* what, std::uint32_t id) {
  std::string text = what + std::to_string(id);
  if constexpr (requires { std::string_view{of.name(id)}; }) {
    const auto& kept = of.name(id); // may be a string made for this call
    if (const std::string_view name{kept}; !name.empty()) {
      text.append(" '").append(name).append("'");
    }
  }
  return text;
}

[[noreturn]] inline void refuse_slots(const std::string& op, std::uint32_t takes, const std::string& device,
                                      std::uint32_t slots) {
  throw value_error(op, "takes " + std::to_string(takes) + " slots at once, and " + device + " has " +
                          std::to_string(slots) + ", each of which runs an op of its own: describe a node as one "
                          "device of one slot, or give both to with_slots_of (workload/slots.hpp)");
}

/// Throws `value_error` where an op takes several slots and a device that it allows has several, which are taken by an
/// op each. A device of one slot is meant as a whole.
template <class W, class P>
constexpr void check_slots(const W& w, const P& p) {
  if constexpr (requires(op_id v) { { w.slots(v) } -> std::same_as<std::uint32_t>; }) {
    for (const device_id d : ids(static_cast<std::size_t>(p.num_devices()))) {
      for (op_id v = 0; p.slots(d) > 1 && v < w.num_ops(); ++v) {
        if (w.slots(v) > 1 && w.kinds(v).contains(p.kind(d))) {
          refuse_slots(describe(w, "op ", v), w.slots(v), describe(p, "device ", d), p.slots(d));
        }
      }
    }
  }
}

/// The structure of a workload alone: an order and its components. Copies of a problem share it.
template <class Workload>
class problem_structure {
public:
  constexpr explicit problem_structure(const Workload& w) : workload_{&w} {
    sort_topologically();
    collect_components();
  }

  constexpr std::size_t num_edges() const { return num_edges_; }
  constexpr std::size_t num_components() const { return first_member_.size() - 1; }
  constexpr std::span<const op_id> topological_order() const { return topological_order_; }
  constexpr component_id component(op_id v) const { return component_[v]; }
  constexpr std::span<const op_id> members(component_id c) const {
    return std::span{members_}.subspan(first_member_[c], first_member_[c + 1] - first_member_[c]);
  }
  constexpr kind_set kinds(component_id c) const { return kinds_[c]; }
  constexpr std::vector<byte_count> take_demand() { return std::move(demand_); }

private:
  constexpr std::size_t num_ops() const { return static_cast<std::size_t>(workload_->num_ops()); }

  constexpr void sort_topologically() {
    for (const op_id v : ids(num_ops())) {
      num_edges_ += static_cast<std::size_t>(std::ranges::size(workload_->inputs(v)));
    }
    (void)checked_count(num_ops() + num_edges_, "workload", "ops and edges"); // what compute queues may hold
    topological_order_ = graph::topological_order(*workload_);
  }

  constexpr void collect_components() {
    component_.assign(num_ops(), none);
    std::vector<component_id> of_group(static_cast<std::size_t>(workload_->num_groups()), none);
    component_id count = 0;
    for (const op_id v : ids(num_ops())) { // groups first, as [CP]'s partitioners visit them
      if (const group_id g = workload_->group(v); g != none) {
        if (of_group[g] == none) {
          of_group[g] = count++;
        }
        component_[v] = of_group[g];
      }
    }
    for (const op_id v : ids(num_ops())) {
      if (component_[v] == none) {
        component_[v] = count++;
      }
    }
    first_member_.assign(count + 1, 0);
    kinds_.assign(count, kind_set::all());
    demand_.assign(count, 0);
    byte_count total = 0;
    for (const op_id v : ids(num_ops())) {
      const component_id c = component_[v];
      ++first_member_[c + 1];
      kinds_[c] = kinds_[c] & workload_->kinds(v);
      const auto add = [&](byte_count bytes) {
        if (bytes > max_total_bytes - total) [[unlikely]] {
          throw value_error(describe(*workload_, "op ", v),
                            "with its bytes, those of all ops and tensors together overflow 2^62");
        }
        total += bytes;
        demand_[c] += bytes;
      };
      add(workload_->resident_bytes(v));
      for (const tensor_id t : workload_->outputs(v)) {
        add(workload_->bytes(t));
      }
      for (const tensor_id t : workload_->inputs(v)) {
        add(workload_->bytes(t));
      }
    }
    for (component_id c = 0; c < count; ++c) {
      first_member_[c + 1] += first_member_[c];
    }
    members_.assign(num_ops(), 0);
    auto next = first_member_;
    for (const op_id v : ids(num_ops())) {
      members_[next[component_[v]]++] = v;
    }
  }

  const Workload* workload_;
  std::size_t num_edges_ = 0;
  std::vector<op_id> topological_order_;
  std::vector<component_id> component_;
  std::vector<std::uint32_t> first_member_;
  std::vector<op_id> members_;
  buffer<kind_set> kinds_;
  std::vector<byte_count> demand_; // until a problem takes it
};
} // namespace detail

/// This one is for what cannot be a problem: the compiler says in a sentence what is missing, and nothing else.
template <class Workload, class Platform, class Cost = cost::linear>
class problem : why_not::dataflow_workload<Workload>,
                why_not::device_platform<Platform>,
                why_not::cost_model_for<Cost, Workload, Platform> {
public:
  constexpr problem(const Workload&, const Platform&, Cost = {}) {}
};

/// A workload to place, a platform to place it on, and the costs. Refers to the workload and the platform, which must
/// outlive it (`owning_problem` keeps them); keeps the cost model by value. Derives, once: a topological order, the
/// capacities of the devices, and the **components**, the units of placement: each colocation group, then each op
/// without a group, ordered by smallest op. Copies share what was derived. Construction: O(n + m). Memory: about 20
/// bytes per op and 40 per component. Copy: O(1), and the cost model's.
template <dataflow_workload Workload, device_platform Platform, class Cost>
  requires cost_model_for<Cost, Workload, Platform>
class problem<Workload, Platform, Cost> {
public:
  using workload_type = Workload;
  using platform_type = Platform;
  using cost_type = Cost;

  /// Throws `value_error` if the platform has no device, if something has too many parts to have ids, or if ops take
  /// several slots of devices that have several; `cycle_error`.
  constexpr problem(const Workload& w, const Platform& p, Cost cost = {})
      : problem{w, p, std::move(cost), structure_of(w, p)} {}
  // It refers to both, so that neither can be a temporary; the names of the last parameters are for the compiler's
  // message.
  problem(const Workload&&, const Platform&, Cost = {}, detail::workload_must_outlive_the_problem = {}) = delete;
  problem(const Workload&, const Platform&&, Cost = {}, detail::platform_must_outlive_the_problem = {}) = delete;
  problem(const Workload&&, const Platform&&, Cost = {}, detail::workload_must_outlive_the_problem = {},
          detail::platform_must_outlive_the_problem = {}) = delete;

  constexpr const Workload& workload() const { return *workload_; }
  constexpr const Platform& platform() const { return *platform_; }
  constexpr const Cost& cost() const { return cost_; }

  constexpr std::size_t num_ops() const { return static_cast<std::size_t>(workload_->num_ops()); }
  constexpr std::size_t num_tensors() const { return static_cast<std::size_t>(workload_->num_tensors()); }
  constexpr std::size_t num_devices() const { return static_cast<std::size_t>(platform_->num_devices()); }
  constexpr std::size_t num_components() const { return structure_->num_components(); }
  /// The number of (tensor, consumer) pairs; no placement causes more transfers.
  constexpr std::size_t num_edges() const { return structure_->num_edges(); }

  /// The ops, each after its inputs' producers; ties by ascending id among those that become free together.
  constexpr std::span<const op_id> topological_order() const { return structure_->topological_order(); }

  /// Whether times need no check: those of the library's linear models, of amounts and rates that were checked when
  /// workload and platform were built and that nobody can have changed since.
  static constexpr bool trusts_compute_times = detail::checks_amounts<Workload> && detail::checks_amounts<Platform> &&
                                               detail::computes_checked_amounts<Cost, Workload, Platform>;
  static constexpr bool trusts_transfer_times = detail::checks_amounts<Platform> &&
                                                detail::transfers_checked_amounts<Cost, Workload, Platform>;

  /// Times in seconds, at least 0; infinite where an op cannot run or a tensor cannot go. The cost model's answers are
  /// checked here, where they come in: these throw `value_error` if it is negative or not a number. Whatever products a
  /// cost model makes, they round before they go into a sum of the library.
  constexpr double compute_time(op_id v, device_id d) const {
    const double seconds = unchecked_compute_time(v, d);
    if constexpr (!trusts_compute_times) {
      if (!(seconds >= 0)) [[unlikely]] {
        refuse_compute_time(v, d, seconds);
      }
    }
    return seconds;
  }
  /// The same for what was asked for before, and for inner loops that check a whole row at its end.
  constexpr double unchecked_compute_time(op_id v, device_id d) const {
    return rounded(cost_.compute_time(*workload_, v, *platform_, d));
  }
  constexpr double transfer_time(tensor_id t, device_id from, device_id to) const {
    const double seconds = unchecked_transfer_time(t, from, to);
    if constexpr (!trusts_transfer_times) {
      if (!(seconds >= 0)) [[unlikely]] {
        refuse_tensor_time("transfer_time", t, from, to, seconds);
      }
    }
    return seconds;
  }
  constexpr double unchecked_transfer_time(tensor_id t, device_id from, device_id to) const {
    return rounded(cost_.transfer_time(*workload_, t, *platform_, from, to));
  }
  constexpr double send_time(tensor_id t, device_id from, device_id to) const {
    if constexpr (cost_parts::has_send_time<Cost, Workload, Platform>) {
      const double seconds = rounded(cost_.send_time(*workload_, t, *platform_, from, to));
      if constexpr (!trusts_transfer_times) {
        if (!(seconds >= 0)) [[unlikely]] {
          refuse_tensor_time("send_time", t, from, to, seconds);
        }
      }
      return seconds;
    } else {
      return 0;
    }
  }

  /// Seconds to bring a tensor in and to put an own one out, where costs are staged (cost/staged.hpp); checked as
  /// above.
  constexpr double import_time(tensor_id t, device_id d) const {
    return checked_staging_time("import_time", t, d, cost_.import_time(*workload_, t, *platform_, d));
  }
  constexpr double export_time(tensor_id t, device_id d) const {
    return checked_staging_time("export_time", t, d, cost_.export_time(*workload_, t, *platform_, d));
  }

  /// The facts that the cost model states about its times (cost/concepts.hpp), so that algorithms can compute once for
  /// all ops what others compute for each. The functions are there where the fact holds.
  static constexpr bool has_rates = cost_parts::has_rates<Cost, Workload, Platform>;
  constexpr double amount(op_id v) const
    requires has_rates
  {
    return cost_.amount(*workload_, v);
  }
  constexpr double rate(device_id d) const
    requires has_rates
  {
    return cost_.rate(*workload_, *platform_, d);
  }
  static constexpr bool has_class_times = cost_parts::has_class_times<Cost, Workload, Platform>;
  constexpr const double* class_times(op_id v) const
    requires has_class_times
  {
    return cost_.class_times(*workload_, v, *platform_);
  }
  constexpr std::uint32_t class_number(device_id d) const
    requires has_class_times
  {
    return cost_.class_number(*workload_, *platform_, d);
  }
  static constexpr bool sends_by_bytes = cost_parts::sends_by_bytes<Cost, Workload, Platform>;
  /// True if `transfer_line` and `send_overhead` may be called: for most models, wherever they are there.
  constexpr bool has_lines() const { return sends_by_bytes && cost_parts::states_lines(cost_); }
  constexpr auto transfer_line(device_id from, device_id to) const
    requires sends_by_bytes
  {
    return cost_.transfer_line(*workload_, *platform_, from, to);
  }
  /// The `send_time` of any message of a collective, or else of any other tensor; not checked.
  constexpr double send_overhead(device_id from, bool of_message = false) const
    requires sends_by_bytes
  {
    if constexpr (cost_parts::has_send_time<Cost, Workload, Platform>) {
      return rounded(cost_parts::send_overhead(cost_, *workload_, *platform_, from, of_message));
    } else {
      return 0;
    }
  }
  /// A device with the same compute times as d, not larger than d: d itself where the model does not tell.
  constexpr device_id device_class(device_id d) const {
    if constexpr (cost_parts::has_device_classes<Cost, Workload, Platform>) {
      return cost_.device_class(*workload_, *platform_, d);
    } else {
      return d;
    }
  }

  constexpr component_id component(op_id v) const { return structure_->component(v); }
  /// The ops of a component, ascending.
  constexpr std::span<const op_id> members(component_id c) const { return structure_->members(c); }
  constexpr bool is_group(component_id c) const { return workload_->group(members(c).front()) != none; }
  /// The kinds that all members allow.
  constexpr kind_set kinds(component_id c) const { return structure_->kinds(c); }
  /// Bytes to reserve on a device: Σ over the members of resident bytes + outputs + inputs. [CP] §2
  constexpr byte_count demand(component_id c) const { return (*demand_)[c]; }
  /// Σ over the members of resident bytes: what a component holds all the time, wherever it is.
  constexpr byte_count resident_bytes(component_id c) const {
    byte_count sum = 0;
    for (const op_id v : members(c)) {
      sum += workload_->resident_bytes(v);
    }
    return sum;
  }

  /// The bytes that the memory which d works in may hold: the platform's, or those of `with_capacities`.
  constexpr byte_count capacity(device_id d) const { return (*capacity_)[d]; }
  /// The device whose memory d works in: d, unless devices share one. What a device holds counts there.
  constexpr device_id memory_of(device_id d) const { return weft::memory_of(*platform_, d); }
  /// The devices that share a memory.
  constexpr const device_memories<Platform>& memories() const { return memories_; }

  /// The same problem with other costs, such as a sample of uncertain ones. O(1), and the model's own copy.
  template <class OtherCost>
  constexpr weft::problem<Workload, Platform, OtherCost> with_costs(OtherCost cost) const {
    return {*workload_, *platform_, std::move(cost), demand_, capacity_, structure_};
  }
  /// The same problem where devices may hold other amounts, one per device, in bytes; of devices that share a memory,
  /// what is given for its owner counts. O(devices), and the model's copy.
  constexpr problem with_capacities(std::vector<byte_count> capacity) const {
    WEFT_ASSERT(capacity.size() == num_devices());
    for (const device_id d : ids(num_devices())) {
      capacity[d] = capacity[memory_of(d)];
    }
    return {*workload_, *platform_, cost_, demand_, shared{std::move(capacity)}, structure_};
  }
  /// The same problem where each device that has a limit may hold that share of what it may hold now, in whole bytes;
  /// above 0, at most 1; else throws `value_error`. O(devices), and the model's copy.
  constexpr problem with_memory_share(double share) const {
    if (!(share > 0 && share <= 1)) [[unlikely]] {
      throw value_error("memory share", readable_number(share) + " is not above 0 and at most 1: give 0.9 to leave a "
                                        "tenth of each device's memory free");
    }
    auto capacity = *capacity_;
    for (byte_count& bytes : capacity) {
      const bool unchanged = share == 1 || bytes == std::numeric_limits<byte_count>::max();
      bytes = unchanged ? bytes : static_cast<byte_count>(static_cast<double>(bytes) * share);
    }
    return with_capacities(std::move(capacity));
  }
  /// The same problem with other demands, one per component, in bytes. A run never exceeds what the default demands
  /// reserve; others are for solvers that check by running. With `resident_bytes` as demands, every plan that keeps to
  /// the capacity in a run keeps to the reservation, too, so that what is proven of all plans holds for these. O(1),
  /// and the model's copy.
  constexpr problem with_demands(std::vector<byte_count> demand) const {
    WEFT_ASSERT(demand.size() == num_components());
    return {*workload_, *platform_, cost_, shared{std::move(demand)}, capacity_, structure_};
  }
  /// The same problem with `resident_bytes` as demands. O(n), and the model's copy.
  constexpr problem with_resident_demands() const {
    std::vector<byte_count> demand;
    demand.reserve(num_components());
    for (component_id c = 0; c < num_components(); ++c) {
      demand.push_back(resident_bytes(c));
    }
    return with_demands(std::move(demand));
  }

  /// Σ of the members' compute times on d.
  constexpr double component_time(component_id c, device_id d) const {
    double sum = 0;
    for (const op_id v : members(c)) {
      sum += compute_time(v, d);
    }
    return sum;
  }

  /// The same of the members other than v.
  constexpr double others_time(op_id v, device_id d) const {
    double sum = 0;
    for (const op_id u : members(component(v))) {
      sum += u == v ? 0.0 : compute_time(u, d);
    }
    return sum;
  }

  /// Whether d is of a kind that c allows and large enough for c alone.
  constexpr bool allows(component_id c, device_id d) const {
    return kinds(c).contains(platform_->kind(d)) && capacity(d) >= demand(c);
  }

  /// Throws `value_error` for the first device of a kind that v's component allows on which `compute_time` throws.
  [[gnu::cold, gnu::noinline]] constexpr void check_compute_times(op_id v) const {
    for (const device_id d : ids(num_devices())) {
      if (kinds(component(v)).contains(platform_->kind(d))) {
        (void)compute_time(v, d);
      }
    }
  }

  /// To be asked where a time of an op turned out to be infinite; nowhere else does the question cost anything. Throws
  /// `value_error` if the op's component takes for ever on every device that it allows: it has to run somewhere.
  [[gnu::cold, gnu::noinline]] constexpr void check_runs_somewhere(op_id v) const {
    const component_id c = component(v);
    device_id allowed = none;
    for (const device_id d : ids(num_devices())) {
      if (kinds(c).contains(platform_->kind(d))) {
        if (component_time(c, d) < std::numeric_limits<double>::infinity()) {
          return;
        }
        allowed = allowed == none ? d : allowed;
      }
    }
    if (allowed != none) {
      refuse_everywhere(c, allowed);
    }
  }

  /// Describes why c fits nowhere, given the memory that is left on each device.
  constexpr infeasibility why_unplaced(component_id c, std::span<const byte_count> free) const {
    check_runs_somewhere(members(c).front());
    infeasibility i{.cause = infeasibility::kind::no_device_of_kind,
                    .op = members(c).front(),
                    .num_members = members(c).size(),
                    .kinds = kinds(c),
                    .demand = demand(c)};
    bool has_room = false;
    bool ends = false;
    for (const device_id d : ids(num_devices())) {
      if (kinds(c).contains(platform_->kind(d))) {
        i.cause = infeasibility::kind::out_of_memory;
        const bool finite = component_time(c, d) < std::numeric_limits<double>::infinity();
        if (finite) {
          i.largest_free = std::max(i.largest_free, free[d]);
        }
        if (free[d] >= demand(c)) {
          has_room = true;
          ends = ends || finite;
        }
      }
    }
    if (has_room && !ends) {
      i.cause = infeasibility::kind::never_ends;
    }
    return i;
  }

  /// `op 3 'conv'`, `device 1 'gpu0'`: how messages call them.
  std::string describe_op(op_id v) const { return detail::describe(*workload_, "op ", v); }
  std::string describe_device(device_id d) const { return detail::describe(*platform_, "device ", d); }

private:
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_compute_time(op_id v, device_id d, double seconds) const {
    detail::refuse_time("compute_time of " + describe_op(v) + " on " + describe_device(d), seconds);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_tensor_time(const char* what, tensor_id t, device_id from,
                                                                 device_id to, double seconds) const {
    detail::refuse_time(what + (" of tensor " + std::to_string(t)) + " of " + describe_op(workload_->producer(t)) +
                          " from " + describe_device(from) + " to " + describe_device(to),
                        seconds);
  }
  constexpr double checked_staging_time(const char* what, tensor_id t, device_id d, double seconds) const {
    if (!(seconds >= 0)) [[unlikely]] {
      detail::refuse_time(what + (" of tensor " + std::to_string(t)) + " of " + describe_op(workload_->producer(t)) +
                            " on " + describe_device(d),
                          seconds);
    }
    return seconds;
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_everywhere(component_id c, device_id d) const {
    op_id slowest = members(c).front();
    for (const op_id v : members(c)) {
      slowest = compute_time(v, d) > compute_time(slowest, d) ? v : slowest;
    }
    throw value_error("compute_time of " + describe_op(slowest) + " on " + describe_device(d),
                      readable_number(component_time(c, d)) + (is_group(c) ? " with its group" : "") +
                        ", as on every device of the kinds that it allows (" + to_string(kinds(c)) +
                        "): an op has to run somewhere; give it a finite time there, or other kinds");
  }

  template <class, class, class>
  friend class weft::problem;

  using structure = detail::problem_structure<Workload>;

  static constexpr structure structure_of(const Workload& w, const Platform& p) {
    if (checked_count(static_cast<std::size_t>(p.num_devices()), "platform", "devices") == 0) {
      throw value_error("platform", "has no device; add at least one");
    }
    (void)checked_count(static_cast<std::size_t>(w.num_ops()), "workload", "ops");
    (void)checked_count(static_cast<std::size_t>(w.num_tensors()), "workload", "tensors");
    (void)checked_count(static_cast<std::size_t>(w.num_groups()), "workload", "colocation groups");
    detail::check_slots(w, p);
    return structure{w};
  }

  static constexpr std::vector<byte_count> capacities_of(const Platform& p) {
    std::vector<byte_count> capacity;
    capacity.reserve(static_cast<std::size_t>(p.num_devices()));
    for (const device_id d : ids(static_cast<std::size_t>(p.num_devices()))) {
      capacity.push_back(static_cast<byte_count>(p.memory_capacity(weft::memory_of(p, d))));
    }
    return capacity;
  }

  constexpr problem(const Workload& w, const Platform& p, Cost cost, structure s)
      : problem{w, p, std::move(cost), shared{s.take_demand()}, shared{capacities_of(p)}, shared{std::move(s)}} {}
  constexpr problem(const Workload& w, const Platform& p, Cost cost, shared<std::vector<byte_count>> demand,
                    shared<std::vector<byte_count>> capacity, shared<structure> s)
      : workload_{&w}, platform_{&p}, cost_{std::move(cost)}, demand_{std::move(demand)},
        capacity_{std::move(capacity)}, structure_{std::move(s)}, memories_{p} {
    WEFT_ASSERT(cost::facts_agree(cost_, w, p)); // what the model states of its times is so
  }

  const Workload* workload_;
  const Platform* platform_;
  [[no_unique_address]] Cost cost_;
  shared<std::vector<byte_count>> demand_;   // per component
  shared<std::vector<byte_count>> capacity_; // per device
  shared<structure> structure_;
  device_memories<Platform> memories_;
};

template <class W, class P>
problem(const W&, const P&) -> problem<W, P, cost::linear>;
template <class W, class P, class C>
problem(const W&, const P&, C) -> problem<W, P, C>;

/// Whether T is a problem of some workload, platform and cost model.
template <class T>
inline constexpr bool is_problem = false;
template <class T>
inline constexpr bool is_problem<const T> = is_problem<T>;
template <class W, class P, class C>
inline constexpr bool is_problem<problem<W, P, C>> = requires { typename problem<W, P, C>::cost_type; };

namespace why_not {
template <class T>
struct problem {
  static_assert(is_problem<T>, "weft: this is not a problem; make one with weft::problem{workload, platform} or "
                               "weft::problem{workload, platform, cost}");
};
template <class W, class P, class C>
struct problem<weft::problem<W, P, C>> {}; // which has said what it lacks
} // namespace why_not

namespace must_be {
template <class T>
concept problem = is_problem<T> || explained<why_not::problem<T>>;
} // namespace must_be

} // namespace weft
