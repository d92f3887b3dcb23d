// SPDX-License-Identifier: BSL-1.0
/// Placements that keep each layer of a model on one device and cut the layers in their order.
#pragma once

#include "weft/partition/first_device.hpp"
#include "weft/partition/layers.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::solve {

/// What a split into consecutive layers is to be like.
struct by_layers_options {
  bool period = false;                ///< make the time between steps small that follow each other, not that of one
  bool ends_with_layers = false;      ///< what is before the layers goes with the first, what follows with the last
  std::vector<device_id> devices = {}; ///< to be used in this order, each for one run of layers or none; if empty, see
                                       ///< `by_layers`
  double capacity_share = 1;          ///< of the memory of each device
};

struct by_layers_result {
  bool found = false;
  weft::placement placement = {};
  std::vector<device_id> devices = {}; ///< of each part of the model (partition/layers.hpp)
  double value = 0;                    ///< seconds: the period or the makespan
  byte_count resident = 0;             ///< parameters and state of all layers
  byte_count capacity = 0;             ///< of the devices that might be used
};

namespace detail {

/// Splits of one problem.
template <class Problem>
class layer_splitter {
public:
  layer_splitter(const Problem& p, const partition::model_layers& layers, const by_layers_options& o)
      : p_{p}, layers_{layers}, options_{o}, parts_{layers.num_parts()}, time_(p.num_devices()),
        resident_(p.num_devices()), made_(p.num_devices()), crossing_(parts_), density_(p.num_devices(), 0.0) {
    for (const device_id d : ids(p.num_devices())) {
      time_[d].assign(parts_ + 1, 0.0);
      resident_[d].assign(parts_ + 1, 0);
      made_[d].assign(parts_ + 1, 0.0);
      for (component_id c = 0; c < p.num_components(); ++c) {
        if (goes_to(c, d)) {
          const auto i = layers.part[c] + 1;
          time_[d][i] += p.component_time(c, d) / std::max<double>(1, options_.period ? p.platform().slots(d) : 1);
          resident_[d][i] += p.resident_bytes(c);
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
      }
    }
    collect_crossing();
  }

  by_layers_result operator()() {
    std::vector<std::vector<device_id>> orders{options_.devices};
    if (options_.devices.empty()) {
      orders = orders_of(partition::accelerators(p_));
    }
    auto r = best_of(orders);
    device_id host = 0;
    while (host < p_.num_devices() && p_.platform().kind(host) != device_kind::cpu) {
      ++host;
    }
    const bool host_is_left = options_.devices.empty() && host < p_.num_devices() &&
                              p_.platform().kind(orders.front().front()) != device_kind::cpu;
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
    }
    for (const device_id d : orders.front()) {
      r.capacity += limit(d);
    }
    r.resident = resident_[orders.front().front()].back();
    return r;
  }

private:
  using value = std::pair<double, double>; ///< what is to be small, and what decides among equals
  static constexpr double never = std::numeric_limits<double>::infinity();

  /// The best split of the first parts whose last ones are on a certain device.
  struct state {
    value cost{never, never};
    std::uint32_t begin = 0; ///< of those last ones
    std::size_t before = 0;  ///< the device of the parts before them
  };

  bool goes_to(component_id c, device_id d) const { return p_.kinds(c).contains(p_.platform().kind(d)); }
  byte_count limit(device_id d) const {
    return memory_limit{.capacity_share = options_.capacity_share}.of(
      static_cast<byte_count>(p_.platform().memory_capacity(d)));
  }

  /// All orders of devices that differ in more than the names of equal ones, at most 512; equal ones ascending.
  std::vector<std::vector<device_id>> orders_of(const std::vector<device_id>& devices) const {
    std::vector<device_id> class_of;
    std::map<device_id, std::vector<device_id>> members;
    for (const device_id d : devices) {
      const auto like = std::find_if(members.begin(), members.end(), [&](const auto& m) {
        const device_id e = m.first;
        return p_.platform().kind(d) == p_.platform().kind(e) && limit(d) == limit(e) && time_[d] == time_[e];
      });
      const device_id first = like == members.end() ? d : like->first;
      members[first].push_back(d);
      class_of.push_back(first);
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

  /// Seconds for what goes between the parts before `border` on d and those from there on e.
  double transfer(std::uint32_t border, device_id d, device_id e) {
    const auto [at, is_new] = transfer_.try_emplace({border, d, e}, 0.0);
    if (is_new) {
      for (const tensor_id t : crossing_[border - 1].forward) {
        at->second += p_.transfer_time(t, d, e);
      }
      double back = 0;
      for (const tensor_id t : crossing_[border - 1].backward) {
        back += p_.transfer_time(t, e, d);
      }
      at->second = options_.period ? std::max(at->second, back) : at->second + back; // each way has its link
    }
    return at->second;
  }

  bool fits(device_id d, std::uint32_t begin, std::uint32_t end) const {
    const auto resident = static_cast<double>(resident_[d][end] - resident_[d][begin]);
    return resident + density_[d] * (made_[d][end] - made_[d][begin]) <= static_cast<double>(limit(d));
  }

  /// The best split for devices in this order, by dynamic programming over the parts that are placed and the device that
  /// has the last of them; empty if none fits.
  std::pair<value, std::vector<device_id>> split(const std::vector<device_id>& order) {
    const std::size_t k = order.size();
    std::vector<state> best(k * (parts_ + 1));
    const auto is_border = [&](std::uint32_t i) {
      return !options_.ends_with_layers || (i != 1 && i + 1 != parts_);
    };
    for (std::size_t j = 0; j < k; ++j) {
      const device_id d = order[j];
      for (std::uint32_t end = 1; end <= parts_; ++end) {
        auto& s = best[j * (parts_ + 1) + end];
        if (end < parts_ && !is_border(end)) {
          continue;
        }
        for (std::uint32_t begin = end; begin-- > 0 && fits(d, begin, end);) {
          const double work = time_[d][end] - time_[d][begin];
          for (std::size_t i = begin == 0 ? j : 0; i < (begin == 0 ? j + 1 : j); ++i) {
            const auto before = begin == 0 ? value{0, 0} : best[i * (parts_ + 1) + begin].cost;
            if (!(before.first < never) || !(work < never)) {
              continue;
            }
            const double moved = begin == 0 ? 0 : transfer(begin, order[i], d);
            const value cost = options_.period
                                 ? value{std::max({before.first, work, moved}), before.second + work + moved}
                                 : value{before.first + work + moved, std::max(before.second, work)};
            if (cost < s.cost) {
              s = {cost, begin, i};
            }
          }
        }
      }
    }
    std::size_t last = 0;
    for (std::size_t j = 1; j < k; ++j) {
      last = best[j * (parts_ + 1) + parts_].cost < best[last * (parts_ + 1) + parts_].cost ? j : last;
    }
    std::pair<value, std::vector<device_id>> found{best[last * (parts_ + 1) + parts_].cost, {}};
    if (found.first.first < never) {
      found.second.resize(parts_);
      for (std::uint32_t end = parts_; end > 0;) {
        const auto& s = best[last * (parts_ + 1) + end];
        std::fill(found.second.begin() + s.begin, found.second.begin() + end, order[last]);
        end = s.begin;
        last = s.before;
      }
    }
    return found;
  }

  /// Splits until one keeps to the memory when it runs: what a run holds besides parameters, in proportion to what the
  /// layers of a device make, is what the next split reserves.
  by_layers_result best_of(const std::vector<std::vector<device_id>>& orders) {
    by_layers_result r;
    std::fill(density_.begin(), density_.end(), 0.0);
    for (int round = 0; round < 40; ++round) {
      std::pair<value, std::vector<device_id>> best;
      for (const auto& order : orders) {
        auto s = split(order);
        if (!s.second.empty() && (best.second.empty() || s.first < best.first)) {
          best = std::move(s);
        }
      }
      if (best.second.empty()) {
        return r;
      }
      auto where = partition::first_device::place(p_, ids_of_devices(), [&](component_id c) {
        return best.second[layers_.part[c]];
      });
      if (!where) {
        return r;
      }
      trace run;
      simulator{p_, schedule::path_completion_time{}}.run(plan{*where}, simulate::recorder{run});
      bool short_of_memory = false;
      for (const auto& s : memory_shortages(p_, *where, run, options_.capacity_share)) {
        double made = 0;
        for (std::uint32_t i = 0; i < parts_; ++i) {
          made += best.second[i] == s.device ? made_[s.device][i + 1] - made_[s.device][i] : 0;
        }
        const double density = made > 0 ? static_cast<double>(s.peak - s.resident) / made : 0;
        if (made > 0 && density > density_[s.device]) {
          density_[s.device] = density;
          short_of_memory = true;
        } else {
          return r; // ops that may run nowhere else
        }
      }
      if (!short_of_memory) {
        r.found = true;
        r.devices = std::move(best.second);
        r.value = options_.period ? throughput::period(p_, *where) : run.makespan;
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
  std::vector<crossing> crossing_;                // after each part
  std::vector<double> density_;                   // per device: bytes to reserve per byte that is made
  std::map<std::tuple<std::uint32_t, device_id, device_id>, double> transfer_;
};

} // namespace detail

/// Cuts a model between its layers into runs of consecutive ones, each on a device of its own, so that the makespan of
/// one step or the period of a pipelined run is small and a step keeps to the memory of the devices. Ops that a device
/// cannot run go to the first one that can.
///
/// Without devices in the options, accelerators are tried in all orders that matter (at most 512; those that cost the
/// same are one kind and come in the order of their ids), and with the first CPU before or after them if they do not
/// suffice. Which cut is best is found by dynamic programming, for a chain of layers exactly: a tensor that skips layers
/// is counted at each border that it crosses. Memory is that of a run; what it holds besides parameters is estimated
/// from run to run, so that a split that just fits may be missed. Without a split, `found` is false.
/// Complexity: O(orders · devices² · layers² + n + m · layers) per run, at most 40 runs.
template <must_be::problem Problem>
by_layers_result by_layers(const Problem& p, const partition::model_layers& layers,
                           const by_layers_options& options = {}) {
  return detail::layer_splitter<Problem>{p, layers, options}();
}

} // namespace weft::solve
