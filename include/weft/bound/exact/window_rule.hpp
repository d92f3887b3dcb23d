// SPDX-License-Identifier: BSL-1.0
/// Energetic reasoning over all ops and devices: the work that must run within time windows, weighted so that the rule
/// is tightest.
#pragma once

#include "weft/bound/exact/device_facts.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weft::bound::exact {

/// Windows between heads and tails that occur, each with weights of devices: whatever an op must do there counts with
/// the weight of the device where that is least, and all together is no more than the weighted time of all devices.
/// Weights are those that make it hardest, by subgradients. An op whose place would make it too much is elsewhere.
class window_rule {
public:
  using amount = device_facts::amount;

  explicit window_rule(device_facts& f) : f_{f} {}

  /// Once, when it is known where ops can never be.
  void begin() {
    const auto edges_of = [&](int direction) {
      std::vector<amount> least;
      for (op_id v = 0; v < f_.n; ++v) {
        amount x = whole_times::never;
        for (std::size_t d = 0; d < f_.k; ++d) {
          x = f_.may_be(v, d) ? std::min(x, f_.bound(direction, v, d)) : x;
        }
        least.push_back(x);
      }
      weft::sort(least);
      std::vector<amount> some{0};
      for (std::size_t i = 1; i < num_edges; ++i) {
        const amount x = least[i * (f_.n - 1) / num_edges];
        if (x > some.back()) {
          some.push_back(x);
        }
      }
      return some;
    };
    for (const amount from : edges_of(0)) {
      for (const amount to : edges_of(1)) {
        if (from + to < f_.limit) {
          add_window(from, to);
        }
      }
    }
  }

  /// False at a dead end.
  bool operator()() {
    for (const window& w : windows_) {
      if (!crowded(w)) {
        return false;
      }
    }
    return true;
  }

private:
  struct window {
    amount head;
    amount tail;
    std::vector<amount> weight; // per device
    amount total = 0;           // of weights times slots
  };

  static constexpr std::size_t num_edges = 5;
  static constexpr int num_steps = 60;
  static constexpr int max_in_vain = 15;

  /// Weights by subgradients: a device whose ops would take longer than the others' counts more.
  void add_window(amount from, amount to) {
    struct option {
      std::size_t device;
      double energy;
    };
    buffer<option> options; // of all ops, one after the other
    std::vector<std::size_t> ends;
    for (op_id v = 0; v < f_.n; ++v) {
      for (std::size_t d = 0; d < f_.k; ++d) {
        if (f_.may_be(v, d)) {
          options.push_back({d, static_cast<double>(energy(v, d, from, to))});
        }
      }
      ends.push_back(options.size());
    }
    std::vector<double> weight(f_.k, 1.0);
    std::vector<double> best(f_.k, 1.0);
    double most = -1;
    std::vector<double> load(f_.k, 0.0);
    for (int step = 0, best_step = 0; step < num_steps && step - best_step <= max_in_vain; ++step) {
      std::fill(load.begin(), load.end(), 0.0);
      double value = 0;
      for (std::size_t i = 0; const std::size_t end : ends) {
        const option* where = nullptr;
        double least = 0;
        for (; i < end; ++i) {
          const option& o = options[i];
          const double x = rounded(weight[o.device] * o.energy);
          if (where == nullptr || x < least) {
            where = &o;
            least = x;
          }
        }
        if (where != nullptr) {
          value += least;
          load[where->device] += where->energy;
        }
      }
      double capacity = 0;
      double total = 0;
      for (std::size_t d = 0; d < f_.k; ++d) {
        capacity += rounded(weight[d] * f_.q.machines[d].slots);
        total += load[d];
      }
      if (value / capacity > most) {
        most = value / capacity;
        best = weight;
        best_step = step;
      }
      if (total <= 0) {
        break;
      }
      double sum = 0;
      for (std::size_t d = 0; d < f_.k; ++d) {
        const double share = rounded(load[d] * static_cast<double>(f_.k)) / rounded(total * f_.q.machines[d].slots);
        weight[d] = rounded(weight[d] * (1 + rounded((share - 1) / (3 + rounded(0.2 * step)))));
        weight[d] = std::max(weight[d], 1e-3);
        sum += weight[d];
      }
      for (double& x : weight) {
        x = rounded(x * static_cast<double>(f_.k)) / sum;
      }
    }
    if (most < 0.6 * static_cast<double>(f_.limit - from - to)) {
      return; // far from full
    }
    window w{from, to, {}, 0};
    for (std::size_t d = 0; d < f_.k; ++d) {
      w.weight.push_back(static_cast<amount>(best[d] * 64));
      w.total += w.weight.back() * static_cast<amount>(f_.q.machines[d].slots);
    }
    windows_.push_back(std::move(w));
  }

  /// How long v must run within a window, if it is on d.
  amount energy(op_id v, std::size_t d, amount from, amount to) const {
    const amount t = f_.time(v, d);
    const amount outside = std::max<amount>({0, from - f_.head(v, d), to - f_.tail(v, d)});
    return std::clamp<amount>(t - outside, 0, std::max<amount>(0, f_.limit - from - to));
  }

  bool crowded(const window& w) {
    if (w.head + w.tail >= f_.limit) {
      return true;
    }
    const amount room = w.total * (f_.limit - w.head - w.tail);
    amount load = 0;
    amount largest = 0;
    share_.assign(f_.n * f_.k, 0);
    least_.assign(f_.n, 0);
    for (op_id v = 0; v < f_.n; ++v) {
      amount least = std::numeric_limits<amount>::max();
      amount most = 0;
      for (std::size_t d = 0; d < f_.k; ++d) {
        if (f_.may_be(v, d)) {
          const amount x = w.weight[d] * energy(v, d, w.head, w.tail);
          share_[v * f_.k + d] = x;
          least = std::min(least, x);
          most = std::max(most, x);
        }
      }
      // An op that has just lost its last place is a dead end that its own rule tells.
      least_[v] = std::min(least, most);
      load += least_[v];
      largest = std::max(largest, most - least_[v]);
    }
    if (load > room) {
      window_reason(w, load - room - 1, none);
      return f_.known.contradict();
    }
    if (load + largest <= room) {
      return true;
    }
    for (op_id v = 0; v < f_.n; ++v) {
      for (std::size_t d = 0; d < f_.k; ++d) {
        if (f_.may_be(v, d) && load - least_[v] + share_[v * f_.k + d] > room) {
          const amount spare = load - least_[v] + share_[v * f_.k + d] - room - 1;
          const amount kept = std::min(spare, share_[v * f_.k + d] - 1); // of what v adds, this is not needed
          need_energy(w, v, d, share_[v * f_.k + d] - kept);
          window_reason(w, spare - kept, v);
          if (!f_.known.imply(conflict_learning::negation(f_.place_of(v, d)))) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /// Why v takes at least so much of a window on d.
  void need_energy(const window& w, op_id v, std::size_t d, amount needed) {
    const amount seconds = (needed + w.weight[d] - 1) / w.weight[d];
    f_.known.because(f_.id(0, v, d), w.head - f_.time(v, d) + seconds);
    f_.known.because(f_.id(1, v, d), w.tail - f_.time(v, d) + seconds);
  }

  /// Why all ops but one take so much of a window.
  void window_reason(const window& w, amount spare, op_id except) {
    for (op_id v = 0; v < f_.n; ++v) {
      if (v == except || least_[v] == 0) {
        continue;
      }
      if (least_[v] <= spare) {
        spare -= least_[v];
        continue;
      }
      for (std::size_t d = 0; d < f_.k; ++d) {
        if (f_.time(v, d) == whole_times::nowhere) {
          continue;
        }
        if (f_.may_be(v, d)) {
          need_energy(w, v, d, least_[v]);
        } else if (w.weight[d] * always_energy(w, v, d) < least_[v]) {
          f_.known.because(conflict_learning::negation(f_.place_of(v, d)));
        }
      }
    }
  }
  amount always_energy(const window& w, op_id v, std::size_t d) const {
    const amount outside = std::max<amount>(
      {0, w.head - f_.known.at_least_always(f_.id(0, v, d)), w.tail - f_.known.at_least_always(f_.id(1, v, d))});
    return std::clamp<amount>(f_.time(v, d) - outside, 0, f_.limit - w.head - w.tail);
  }

  device_facts& f_;
  buffer<window> windows_;
  std::vector<amount> share_; // ops x machines, of the window at hand
  std::vector<amount> least_; // per op
};

} // namespace weft::bound::exact
