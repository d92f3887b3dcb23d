// SPDX-License-Identifier: BSL-1.0
/// Placements that keep each layer of a model on one device and cut the layers in their order.
#pragma once

#include "weft/partition/first_device.hpp"
#include "weft/partition/layers.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/plan/memory_shortage.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/throughput/charges.hpp"
#include "weft/throughput/in_flight.hpp"
#include "weft/throughput/loads.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::solve {

/// Options of a split into consecutive layers.
struct by_layers_options {
  bool period = false;                ///< make the time between steps small that follow each other, not that of one
  bool ends_with_layers = false;      ///< what is before the layers goes with the first, what follows with the last
  std::vector<device_id> devices = {}; ///< to be used in this order, each for one run of layers, or none where that
                                       ///< makes it smaller; if empty, see `by_layers`
};

struct by_layers_result {
  bool found = false;
  weft::placement placement = {};
  std::vector<device_id> devices = {}; ///< of each part of the model (partition/layers.hpp)
  double value = 0;                    ///< seconds: the period or the makespan
  byte_count resident = 0;             ///< parameters and state of all layers
  byte_count capacity = 0;             ///< of the devices that might be used
  std::optional<infeasibility> reason = {};     ///< not found: an op that no device may have
  std::optional<memory_shortage> shortage = {}; ///< not found: what the last split that was run lacked
};

namespace detail {

/// Splits of one problem.
template <class Problem>
class layer_splitter {
public:
  layer_splitter(const Problem& p, const partition::model_layers& layers, const by_layers_options& o)
      : p_{p}, layers_{layers}, options_{o}, parts_{layers.num_parts()}, time_(p.num_devices()),
        resident_(p.num_devices()), made_(p.num_devices()), runs_(p.num_devices()), crossing_(parts_),
        density_(p.num_devices(), 0.0) {
    for (const device_id d : ids(p.num_devices())) {
      time_[d].assign(parts_ + 1, 0.0);
      resident_[d].assign(parts_ + 1, 0);
      made_[d].assign(parts_ + 1, 0.0);
      runs_[d].assign(parts_ + 1, 0);
      for (component_id c = 0; c < p.num_components(); ++c) {
        if (goes_to(c, d)) {
          const auto i = layers.part[c] + 1;
          time_[d][i] += p.component_time(c, d) / std::max<double>(1, options_.period ? p.platform().slots(d) : 1);
          resident_[d][i] += p.resident_bytes(c);
          runs_[d][i] = i > 1 && i < parts_ ? 1 : 0;
          for (const op_id v : p.members(c)) {
            for (const tensor_id t : p.workload().outputs(v)) {
              made_[d][i] += static_cast<double>(p.workload().bytes(t));
            }
          }
        }
      }
      for (std::uint32_t i = 1; i <= parts_; ++i) { // sums over all parts before
        time_[d][i] += time_[d][i - 1];
        resident_[d][i] += resident_[d][i - 1];
        made_[d][i] += made_[d][i - 1];
        runs_[d][i] += runs_[d][i - 1];
      }
    }
    collect_crossing();
  }

  by_layers_result operator()() {
    device_id host = 0;
    while (host < p_.num_devices() && hardware_kind(p_.platform(), host) != device_kind::cpu) {
      ++host;
    }
    auto devices = options_.devices.empty() ? partition::accelerators(p_) : options_.devices;
    std::vector<std::vector<device_id>> orders{devices};
    if (options_.devices.empty()) {
      orders = orders_of(devices, host);
    }
    auto r = best_of(orders);
    const bool host_is_left = !r.reason && options_.devices.empty() && host < p_.num_devices() &&
                              hardware_kind(p_.platform(), devices.front()) != device_kind::cpu;
    if (!r.found && host_is_left) {
      const auto without = std::move(orders);
      orders.clear();
      for (const auto& order : without) {
        orders.push_back(order);
        orders.back().push_back(host);
        orders.push_back(order);
        orders.back().insert(orders.back().begin(), host);
      }
      r = best_of(orders);
      devices.insert(devices.begin(), host);
    }
    for (const device_id d : p_.memories().of(devices)) {
      r.capacity += p_.capacity(d);
    }
    r.resident = resident_[orders.front().front()].back();
    return r;
  }

private:
  static constexpr double never = std::numeric_limits<double>::infinity();
  static constexpr double margin = 1 + 1e-9;         ///< what differs by less is the same time
  static constexpr double precision = 1.0 / 1024;    ///< of the share of memory

  /// The value to minimise, and the tie-break among equals.
  struct value {
    double seconds = never; ///< the period or the makespan
    double unused = 0;      ///< devices without a layer, less a constant; 0 where it does not matter how many there are
    double balance = 0;     ///< seconds: of all together for a period, of the busiest one for a makespan
    friend constexpr auto operator<=>(const value&, const value&) = default;
  };
  /// The comparison of splits of an order.
  struct comparison {
    double enough = 0;      ///< seconds: a shorter period is no better
    bool use_many = false;  ///< of devices, where that costs nothing
  };

  /// Seconds that a border between two devices takes of the one before it, of the one after it, and of neither.
  struct handover {
    double before = 0;
    double after = 0;
    double moving = 0;
    friend bool operator==(const handover&, const handover&) = default;
  };

  /// The best split of the first parts whose last ones are on a certain device, with what this then sends.
  struct state {
    double sending = 0; ///< seconds of the device, `handover::before`
    value cost{};
    std::uint32_t begin = 0; ///< of those last ones
    std::size_t before = 0;  ///< the device of the parts before them
    std::size_t at = 0;      ///< the state there
  };

  /// A split of the first parts, with what it takes to bring a certain device what it needs of them.
  struct arrival {
    double receiving = 0; ///< seconds of that device, `handover::after`
    value cost{.seconds = 0};
    std::size_t before = 0; ///< the device of the last of those parts
    std::size_t at = 0;     ///< the state there
  };

  bool goes_to(component_id c, device_id d) const { return p_.kinds(c).contains(p_.platform().kind(d)); }

  /// Whether a split costs the same when d and e change places, also with others.
  bool alike(device_id d, device_id e, const std::vector<device_id>& others) const {
    const auto same = [&](device_id a, device_id b, device_id c, device_id f) {
      for (std::uint32_t border = 1; border < parts_; ++border) {
        if (!(handover_at(border, a, b) == handover_at(border, c, f))) {
          return false;
        }
      }
      return true;
    };
    return p_.platform().kind(d) == p_.platform().kind(e) && p_.capacity(d) == p_.capacity(e) && time_[d] == time_[e] &&
           p_.memories().alike(d, e) && same(d, e, e, d) && std::all_of(others.begin(), others.end(), [&](device_id f) {
             return f == d || f == e || (same(d, f, e, f) && same(f, d, f, e));
           });
  }

  /// All orders of devices that differ in more than the places of devices alike, at most 512, by ids; those alike come
  /// ascending, no more of them than there are parts.
  std::vector<std::vector<device_id>> orders_of(const std::vector<device_id>& devices, device_id host) const {
    auto others = devices;
    if (host < p_.num_devices()) {
      others.push_back(host);
    }
    std::vector<device_id> class_of;
    std::map<device_id, std::vector<device_id>> members;
    for (const device_id d : devices) {
      const auto like = std::find_if(members.begin(), members.end(), [&](const auto& m) {
        return alike(d, m.first, others);
      });
      const device_id first = like == members.end() ? d : like->first;
      if (members[first].size() < parts_) {
        members[first].push_back(d);
        class_of.push_back(first);
      }
    }
    std::sort(class_of.begin(), class_of.end());
    std::vector<std::vector<device_id>> orders;
    do {
      std::map<device_id, std::size_t> used;
      auto& order = orders.emplace_back();
      for (const device_id first : class_of) {
        order.push_back(members[first][used[first]++]);
      }
    } while (orders.size() < 512 && std::next_permutation(class_of.begin(), class_of.end()));
    return orders;
  }

  /// The tensors that cross each border of parts, forwards and backwards.
  void collect_crossing() {
    const auto& w = p_.workload();
    for (const tensor_id t : ids(p_.num_tensors())) {
      const auto from = layers_.part[p_.component(w.producer(t))];
      auto first = from;
      auto last = from;
      for (const op_id v : w.consumers(t)) {
        first = std::min(first, layers_.part[p_.component(v)]);
        last = std::max(last, layers_.part[p_.component(v)]);
      }
      for (auto i = from; i < last; ++i) {
        crossing_[i].forward.push_back(t);
      }
      for (auto i = first; i < from; ++i) {
        crossing_[i].backward.push_back(t);
      }
    }
  }

  /// The tensors that go between the parts before `border` on d and those from there on e. The send time of a tensor is
  /// counted at the first border that it crosses: at others its producer may be on another device.
  handover handover_at(std::uint32_t border, device_id d, device_id e) const {
    handover h;
    double back = 0;
    const throughput::charges<Problem> c{p_};
    const auto move = [&](tensor_id t, device_id from, device_id to, double& on_link) {
      const bool first = layers_.part[p_.component(p_.workload().producer(t))] == (from == d ? border - 1 : border);
      if (!options_.period) {
        h.moving += (first ? p_.send_time(t, from, to) : 0) + p_.transfer_time(t, from, to);
        return;
      }
      const auto charge = [&](std::size_t r, double seconds) {
        if (r != from || first) {
          (r == d ? h.before : r == e ? h.after : on_link) += seconds;
        }
      };
      charge(from, c.leaving(t, from));
      c.moving(t, from, to, charge);
    };
    for (const tensor_id t : crossing_[border - 1].forward) {
      move(t, d, e, h.moving);
    }
    for (const tensor_id t : crossing_[border - 1].backward) {
      move(t, e, d, back);
    }
    h.moving = std::max(h.moving, back); // in a period each way has its link
    return h;
  }

  /// The same for all borders; entry 0 is of none.
  const std::vector<handover>& handovers(device_id d, device_id e) {
    auto& row = handovers_[{d, e}];
    if (row.empty()) {
      row.resize(parts_);
      for (std::uint32_t border = 1; border < parts_; ++border) {
        row[border] = handover_at(border, d, e);
      }
    }
    return row;
  }

  /// Where `density_` has what the j-th device of an order is to reserve. How many steps a stage has in flight depends
  /// on how many stages follow it.
  std::size_t density_of(const std::vector<device_id>& order, std::size_t j) const {
    return options_.period ? order.size() - 1 - j : order[j];
  }
  bool fits(const std::vector<device_id>& order, device_id d, double density, std::uint32_t begin,
            std::uint32_t end) const {
    return reserved(d, density, begin, end) <= share_ * room(order, d);
  }
  /// Bytes that a device of an order may fill: its memory, or an equal part for each of those that work in it.
  double room(const std::vector<device_id>& order, device_id d) const {
    const auto sharing = !evenly_ ? 1 : std::count_if(order.begin(), order.end(), [&](device_id e) {
      return p_.memory_of(e) == p_.memory_of(d);
    });
    return static_cast<double>(p_.capacity(d)) / static_cast<double>(sharing);
  }
  double reserved(device_id d, double density, std::uint32_t begin, std::uint32_t end) const {
    const auto resident = static_cast<double>(resident_[d][end] - resident_[d][begin]);
    return resident + density * (made_[d][end] - made_[d][begin]);
  }

  /// The best split for devices in this order, by dynamic programming over the parts that are placed, the device that
  /// has the last of them, and what it then does for the next device; empty if none fits.
  std::pair<value, std::vector<device_id>> split(const std::vector<device_id>& order, comparison by) {
    const std::size_t k = order.size();
    std::vector<std::vector<state>> best(k * (parts_ + 1));
    const auto cell = [&](std::size_t j, std::uint32_t end) -> auto& { return best[j * (parts_ + 1) + end]; };
    const auto is_border = [&](std::uint32_t i) {
      return !options_.ends_with_layers || (i != 1 && i + 1 != parts_);
    };
    std::vector<std::vector<arrival>> arrivals(parts_);
    for (std::size_t j = 0; j < k; ++j) {
      const device_id d = order[j];
      const double density = density_[density_of(order, j)];
      for (auto& a : arrivals) {
        a.clear();
      }
      arrivals[0].push_back({0, {.seconds = 0}, j, 0});
      for (std::size_t i = 0; i < j; ++i) {
        const auto& row = handovers(order[i], d);
        for (std::uint32_t begin = 1; begin < parts_; ++begin) {
          arrive(arrivals[begin], cell(i, begin), row[begin], i);
        }
      }
      cell(j, parts_).push_back({});
      for (std::size_t next = j + 1; next < k; ++next) {
        const auto& row = handovers(d, order[next]);
        for (std::uint32_t end = 1; end < parts_; ++end) {
          if (is_border(end) && find(cell(j, end), row[end].before) == cell(j, end).size()) {
            cell(j, end).push_back({.sending = row[end].before});
          }
        }
      }
      for (std::uint32_t end = 1; end <= parts_; ++end) {
        for (std::uint32_t begin = end; !cell(j, end).empty() && begin-- > 0 && fits(order, d, density, begin, end);) {
          for (const auto& a : arrivals[begin]) {
            for (auto& s : cell(j, end)) {
              const double busy = a.receiving + (time_[d][end] - time_[d][begin]) + s.sending;
              const double unused = a.cost.unused - (by.use_many && runs_[d][end] > runs_[d][begin] ? 1 : 0);
              const value cost =
                options_.period ? value{std::max({a.cost.seconds, busy, by.enough}), unused, a.cost.balance + busy}
                                : value{a.cost.seconds + busy, unused, std::max(a.cost.balance, busy)};
              if (busy < never && cost < s.cost) {
                s = {s.sending, cost, begin, a.before, a.at};
              }
            }
          }
        }
      }
    }
    std::size_t j = 0;
    for (std::size_t i = 1; i < k; ++i) {
      j = cell(i, parts_).front().cost < cell(j, parts_).front().cost ? i : j;
    }
    std::pair<value, std::vector<device_id>> found{cell(j, parts_).front().cost, {}};
    if (found.first.seconds < never) {
      found.second.resize(parts_);
      std::size_t at = 0;
      for (std::uint32_t end = parts_; end > 0;) {
        const auto& s = cell(j, end)[at];
        std::fill(found.second.begin() + s.begin, found.second.begin() + end, order[j]);
        end = s.begin;
        j = s.before;
        at = s.at;
      }
    }
    return found;
  }

  static std::size_t find(const std::vector<state>& states, double sending) {
    const auto at = std::find_if(states.begin(), states.end(), [&](const state& s) { return s.sending == sending; });
    return static_cast<std::size_t>(at - states.begin());
  }

  /// Adds the way from the i-th device over a border to those that are not worse than another in all respects.
  void arrive(std::vector<arrival>& ways, const std::vector<state>& states, const handover& h, std::size_t i) const {
    const auto at = find(states, h.before);
    if (at == states.size() || !(states[at].cost.seconds < never)) {
      return;
    }
    const auto [seconds, unused, balance] = states[at].cost;
    const arrival way{h.after,
                      options_.period ? value{std::max(seconds, h.moving), unused, balance + h.moving}
                                      : value{seconds + h.moving, unused, balance},
                      i, at};
    const auto covers = [](const arrival& a, const arrival& b) {
      return a.receiving <= b.receiving && a.cost <= b.cost;
    };
    if (std::none_of(ways.begin(), ways.end(), [&](const arrival& a) { return covers(a, way); })) {
      std::erase_if(ways, [&](const arrival& a) { return covers(way, a); });
      ways.push_back(way);
    }
  }

  /// A split of an order, null if none fits.
  struct choice {
    const std::vector<device_id>* order = nullptr;
    value cost{};
    std::vector<device_id> devices = {};
  };

  /// The first of these orders that has the best split, and that split. Where devices were named, no more of them than
  /// have to be are left without layers: of the splits with that period, rounding aside, it is one that uses most. Of
  /// the splits that are as good, it is one whose fullest device is the least full.
  choice best_split(const std::vector<std::vector<device_id>>& orders) {
    const bool named = !options_.devices.empty();
    choice best;
    for (const auto& order : orders) {
      auto [cost, devices] = split(order, {.use_many = named && !options_.period});
      if (!devices.empty() && (best.order == nullptr || cost < best.cost)) {
        best = {&order, cost, std::move(devices)};
      }
    }
    if (best.order == nullptr) {
      return best;
    }
    const comparison by{.enough = options_.period ? best.cost.seconds * margin : 0, .use_many = named};
    if (named && options_.period) {
      std::tie(best.cost, best.devices) = split(*best.order, by);
    }
    double too_little = 0;
    for (double enough = fullest(best); enough - too_little > precision;) {
      share_ = (too_little + enough) / 2;
      if (auto found = as_good_as(best.cost, orders, by); found.order != nullptr) {
        enough = fullest(found);
        best.order = found.order;
        best.devices = std::move(found.devices);
      } else {
        too_little = share_;
      }
    }
    share_ = 1;
    return best;
  }

  /// The first order that has a split which is no worse, rounding aside.
  choice as_good_as(const value& cost, const std::vector<std::vector<device_id>>& orders, comparison by) {
    for (const auto& order : orders) {
      auto [other, devices] = split(order, by);
      if (!devices.empty() && other.seconds <= cost.seconds * margin && other.unused <= cost.unused &&
          (!options_.period || other.balance <= cost.balance * margin)) {
        return {&order, other, std::move(devices)};
      }
    }
    return {};
  }

  /// The share of its memory that the fullest device reserves.
  double fullest(const choice& c) const {
    double share = 0;
    for (std::uint32_t begin = 0; begin < parts_;) {
      const device_id d = c.devices[begin];
      const auto last = std::find_if(c.devices.begin() + begin, c.devices.end(), [d](device_id e) { return e != d; });
      const auto end = static_cast<std::uint32_t>(last - c.devices.begin());
      const auto j = static_cast<std::size_t>(std::find(c.order->begin(), c.order->end(), d) - c.order->begin());
      const double bytes = reserved(d, density_[density_of(*c.order, j)], begin, end);
      share = bytes > 0 ? std::max(share, bytes / room(*c.order, d)) : share;
      begin = end;
    }
    return share;
  }

  /// The best split that keeps to the memory. Devices that work in one memory may fill all of it each, as their layers
  /// fit together or not; if no such split is found, an equal part of it each.
  by_layers_result best_of(const std::vector<std::vector<device_id>>& orders) {
    auto r = first_that_fits(orders);
    const auto& devices = orders.front();
    if (!r.found && !r.reason && p_.memories().of(devices).size() < devices.size()) {
      evenly_ = true;
      auto again = first_that_fits(orders);
      evenly_ = false;
      return again.found ? again : r;
    }
    return r;
  }

  /// Splits until one keeps to the memory when it runs, one step alone or, for a period, steps that follow each other:
  /// what devices hold then besides parameters, in proportion to what their layers make, is what the next split
  /// reserves.
  by_layers_result first_that_fits(const std::vector<std::vector<device_id>>& orders) {
    by_layers_result r;
    std::fill(density_.begin(), density_.end(), 0.0);
    for (int round = 0; round < 40; ++round) {
      auto [order, cost, devices] = best_split(orders);
      if (order == nullptr) {
        return r;
      }
      const auto& chosen = devices;
      auto where = partition::first_device::place(p_, ids_of_devices(), [&](component_id c) {
        return chosen[layers_.part[c]];
      });
      if (!where) {
        r.reason = where.error();
        return r;
      }
      trace run;
      simulator{p_, schedule::path_completion_time{}}.run(plan{*where}, simulate::recorder{run});
      const double period = options_.period ? throughput::period(p_, *where) : never;
      const auto peaks = throughput::peaks_in_flight(p_, *where, run, period);
      bool short_of_memory = false;
      for (const device_id d : ids(p_.num_devices())) {
        if (peaks[d] <= p_.capacity(d)) {
          continue;
        }
        double made = 0;
        for (std::uint32_t i = 0; i < parts_; ++i) {
          const auto& of_parts = made_[devices[i]];
          made += p_.memory_of(devices[i]) == d ? of_parts[i + 1] - of_parts[i] : 0;
        }
        byte_count resident = 0;
        for (const op_id v : ids(p_.num_ops())) {
          resident += p_.memory_of((*where)[v]) == d ? p_.workload().resident_bytes(v) : 0;
        }
        r.shortage = {.device = d, .peak = peaks[d], .capacity = p_.capacity(d), .resident = resident};
        const double density = made > 0 ? static_cast<double>(peaks[d] - resident) / made : 0;
        bool raised = false;
        for (std::size_t j = 0; j < order->size(); ++j) {
          auto& known = density_[density_of(*order, j)];
          if (p_.memory_of((*order)[j]) == d && density > known) {
            known = density;
            raised = true;
          }
        }
        if (!raised) {
          return r; // ops that may run nowhere else
        }
        short_of_memory = true;
      }
      if (!short_of_memory) {
        r.found = true;
        r.shortage.reset();
        r.devices = std::move(devices);
        r.value = options_.period ? period : run.makespan;
        r.placement = std::move(*where);
        return r;
      }
    }
    return r;
  }

  std::vector<device_id> ids_of_devices() const {
    std::vector<device_id> all;
    for (const device_id d : ids(p_.num_devices())) {
      all.push_back(d);
    }
    return all;
  }

  struct crossing {
    std::vector<tensor_id> forward = {};
    std::vector<tensor_id> backward = {};
  };

  const Problem& p_;
  const partition::model_layers& layers_;
  const by_layers_options& options_;
  std::uint32_t parts_;
  std::vector<std::vector<double>> time_;         // per device: of the parts before each
  std::vector<std::vector<byte_count>> resident_; // the same
  std::vector<std::vector<double>> made_;         // the same: bytes of all tensors
  std::vector<std::vector<std::uint32_t>> runs_;  // the same: layers that are not empty
  std::vector<crossing> crossing_;                // after each part
  std::vector<double> density_;                   // bytes to reserve per byte that is made, see `density_of`
  double share_ = 1;                              // of its memory that a device may reserve
  bool evenly_ = false;                           // each device of a memory may fill an equal part of it only
  std::map<std::pair<device_id, device_id>, std::vector<handover>> handovers_; // of the pairs that were asked for
};

} // namespace detail

/// Cuts a model between its layers into runs of consecutive ones, each on a device of its own, so that the makespan of
/// one step or the period of a pipelined run is small and keeps to the memory of the devices: that of one step, or for
/// a period that of the steps in flight at once (`throughput::peaks_in_flight`). Ops that a device cannot run go to the
/// first one that can. Of devices that are named, as many as possible are used where that makes nothing longer. Of
/// splits that take as long, the fullest device is the least full, to a thousandth of its memory.
///
/// Without devices in the options, accelerators are tried in all orders that matter, and with the first CPU before or
/// after them if they do not suffice. Devices that take as long for all layers and whose links and sends to and from
/// all others cost the same come in the order of their ids. If more than 512 orders are left, the first 512 are tried,
/// by ids. Which cut is best for an order is found by dynamic programming, for a chain of layers exactly, with sends
/// and transfers: a tensor that skips layers is transferred at each border that it crosses, and sent at the first.
/// Memory is that of a run; what it holds besides parameters is estimated from run to run, so that a split that just
/// fits may be missed. Devices that work in one memory are taken to have it to themselves; only if no split is found
/// with which they keep to it together, an equal part of it each. Without a split, `found` is false.
/// Complexity: O(orders · (devices · layers² + devices² · layers) + n + m · layers) per run, at most 40 runs, or 80 if
/// devices share memories, each with some ten such passes for the one that is least full, where sends cost the same to
/// all devices; and
/// O(devices³ · tensors between layers) for finding devices alike.
template <must_be::problem Problem>
by_layers_result by_layers(const Problem& p, const partition::model_layers& layers,
                           const by_layers_options& options = {}) {
  return detail::layer_splitter<Problem>{p, layers, options}();
}

} // namespace weft::solve
