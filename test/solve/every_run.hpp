// SPDX-License-Identifier: BSL-1.0
/// The least memory that any plan of a small problem runs in, found by trying every placement and every order.
#pragma once

#include "weft/plan/contention.hpp"
#include "weft/plan/plan.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weft::test {

/// Every plan of a problem of up to 8 ops: each placement that kinds and groups allow, and for each every order of the
/// ops and sends of each device. Orders of different devices are interleaved in one way only, the lexicographic normal
/// form of Cartier and Foata. A run under `schedule::static_order`, judged by the validator's count of peaks, decides.
/// No part of the library's searches is used.
///
/// Two things are left out that cannot change the result. A placement whose devices need more than the best plan so
/// far in whatever order their own ops start: when an op starts that takes time, what it makes and reads is there, but
/// for what it writes over, and what was there before and is read later. And beginnings of orders of which the same is
/// true.
template <class Problem>
class every_run {
public:
  /// Device d may hold `base[d]` bytes and as many more as every other device.
  every_run(const Problem& p, contention_model network, std::vector<byte_count> base)
      : p_{p}, base_{std::move(base)}, alone_{p}, needs_(p.num_devices()) {
    WEFT_ASSERT(p.num_ops() <= max_ops);
    if (network != contention_model::none) {
      shared_.emplace(p, schedule::static_order{}, simulate::any_network{network});
    }
    for (auto& row : needs_) {
      row.fill(unknown);
    }
    for (const tensor_id t : ids(p.num_tensors())) {
      const auto& w = p.workload();
      tensor x{w.bytes(t), mask{1} << w.producer(t), 0, is_overwritten(w, t), is_resident(w, t)};
      for (const op_id c : w.consumers(t)) {
        x.readers |= mask{1} << c;
      }
      tensors_.push_back(x);
    }
    where_.assign(p.num_ops(), none);
    place(0);
    std::sort(places_.begin(), places_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [least, where] : places_) {
      if (least >= best_) {
        break;
      }
      plan_.placement = where;
      least_ = least;
      try_orders();
    }
  }

  /// Bytes beyond the base, negative if less are enough; the largest number if there is no plan.
  std::int64_t least() const { return best_; }
  const plan& best_plan() const { return best_plan_; } ///< one that needs no more
  std::size_t num_runs() const { return num_runs_; }

private:
  static constexpr std::size_t max_ops = 8;
  static constexpr std::int64_t infinity = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t unknown = -1;
  using mask = std::uint32_t; // of ops
  struct tensor {
    byte_count bytes;
    mask producer;
    mask readers;
    bool overwritten;
    bool resident;
  };
  struct item {
    step what;
    device_id device;
    std::vector<std::size_t> after; // items
    bool done = false;
  };

  void place(component_id c) {
    if (c == p_.num_components()) {
      std::int64_t least = std::numeric_limits<std::int64_t>::min();
      for (const device_id d : ids(p_.num_devices())) {
        mask here = 0;
        for (const op_id v : ids(p_.num_ops())) {
          here |= where_[v] == d ? mask{1} << v : 0;
        }
        least = std::max(least, need(d, here) - static_cast<std::int64_t>(base_[d]));
      }
      places_.emplace_back(least, where_);
      return;
    }
    for (const device_id d : ids(p_.num_devices())) {
      if (p_.kinds(c).contains(p_.platform().kind(d))) {
        for (const op_id v : p_.members(c)) {
          where_[v] = d;
        }
        place(c + 1);
      }
    }
  }

  /// Bytes that d holds at least at some moment if these ops are there, in the best order of their starts.
  std::int64_t need(device_id d, mask here) {
    std::int64_t& known = needs_[d][here];
    if (known == unknown) {
      std::array<std::int64_t, 1 << max_ops> least;
      least[0] = 0;
      for (mask begun = 1; begun <= here; ++begun) {
        least[begun] = infinity;
        for (op_id v = 0; v < p_.num_ops() && (begun & here) == begun; ++v) {
          const mask before = begun & ~(mask{1} << v);
          if (before != begun && least[before] < infinity && can_start(before, v, here)) {
            least[begun] = std::min(least[begun], std::max(least[before], held(d, before, v, here)));
          }
        }
      }
      known = resident(here) + least[here];
    }
    return known;
  }
  std::int64_t resident(mask here) const {
    byte_count bytes = 0;
    for (const op_id v : ids(p_.num_ops())) {
      bytes += (here >> v & 1) != 0 ? p_.workload().resident_bytes(v) : 0;
    }
    return static_cast<std::int64_t>(bytes);
  }
  bool can_start(mask begun, op_id v, mask here) const {
    return std::all_of(tensors_.begin(), tensors_.end(), [&](const tensor& t) {
      return (t.readers >> v & 1) == 0 || (t.producer & here & ~begun) == 0;
    });
  }
  /// Bytes of tensors on d once v has started there, after the ops that have begun.
  std::int64_t held(device_id d, mask begun, op_id v, mask here) const {
    if (p_.compute_time(v, d) == 0) {
      return 0;
    }
    const mask self = mask{1} << v;
    mask later = self; // and those that take time
    for (const op_id u : ids(p_.num_ops())) {
      const mask x = mask{1} << u;
      later |= (here & ~begun & x) != 0 && p_.compute_time(u, d) > 0 ? x : 0;
    }
    byte_count bytes = 0;
    for (const tensor& t : tensors_) {
      const bool was_there = (((t.producer & here) != 0 ? t.producer : t.readers) & begun) != 0;
      const bool is_there = ((t.producer | t.readers) & self) != 0 || (was_there && (t.readers & later) != 0);
      const bool is_own = !(t.overwritten && t.readers == self) && !(t.resident && (t.producer & here) != 0);
      bytes += is_there && is_own ? t.bytes : 0;
    }
    return static_cast<std::int64_t>(bytes);
  }

  void try_orders() {
    const auto& w = p_.workload();
    const placement& where = plan_.placement;
    items_.clear();
    begun_.assign(p_.num_devices(), 0);
    here_.assign(p_.num_devices(), 0);
    for (const op_id v : ids(p_.num_ops())) {
      items_.push_back({step::run(v), where[v], {}});
      here_[where[v]] |= mask{1} << v;
    }
    for (const tensor_id t : ids(p_.num_tensors())) {
      const op_id u = w.producer(t);
      std::vector<std::size_t> sends(p_.num_devices(), none);
      for (const op_id c : w.consumers(t)) {
        const device_id d = where[c];
        if (d == where[u] || p_.send_time(t, where[u], d) == 0) {
          items_[c].after.push_back(u);
          continue;
        }
        if (sends[d] == none) {
          sends[d] = items_.size();
          items_.push_back({step::send(u, t, d), where[u], {u}});
        }
        items_[c].after.push_back(sends[d]);
      }
    }
    sequence_.clear();
    extend();
  }
  bool is_before(std::size_t a, std::size_t b) const {
    return items_[a].device == items_[b].device ||
           std::find(items_[b].after.begin(), items_[b].after.end(), a) != items_[b].after.end();
  }
  /// True if the sequence with i at its end is the first of those with the same order on each device.
  bool is_normal(std::size_t i) const {
    for (std::size_t k = sequence_.size(); k-- > 0 && !is_before(sequence_[k], i);) {
      if (i < sequence_[k]) {
        return false;
      }
    }
    return true;
  }
  void extend() {
    if (sequence_.size() == items_.size()) {
      judge();
      return;
    }
    for (std::size_t i = 0; i < items_.size() && least_ < best_; ++i) {
      const auto ended = [&](std::size_t k) { return items_[k].done; };
      if (items_[i].done || !std::all_of(items_[i].after.begin(), items_[i].after.end(), ended) || !is_normal(i)) {
        continue;
      }
      const device_id d = items_[i].device;
      const mask before = begun_[d];
      if (!items_[i].what.is_send()) {
        const op_id v = items_[i].what.op;
        if (resident(here_[d]) + held(d, before, v, here_[d]) - static_cast<std::int64_t>(base_[d]) >= best_) {
          continue;
        }
        begun_[d] |= mask{1} << v;
      }
      items_[i].done = true;
      sequence_.push_back(i);
      extend();
      sequence_.pop_back();
      items_[i].done = false;
      begun_[d] = before;
    }
  }
  void judge() {
    plan_.order.clear();
    for (const std::size_t i : sequence_) {
      plan_.order.push_back(items_[i].what);
    }
    ++num_runs_;
    const auto run = shared_ ? shared_->run(plan_, simulate::recorder{run_})
                             : alone_.run(plan_, simulate::recorder{run_});
    if (!run.complete) {
      return;
    }
    const auto peaks = peak_memory_of(p_, plan_.placement, run_);
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    for (const device_id d : ids(p_.num_devices())) {
      most = std::max(most, static_cast<std::int64_t>(peaks[d]) - static_cast<std::int64_t>(base_[d]));
    }
    if (most < best_) {
      best_ = most;
      best_plan_ = plan_;
    }
  }

  const Problem& p_;
  std::vector<byte_count> base_;
  simulator<Problem, schedule::static_order> alone_;
  std::optional<simulator<Problem, schedule::static_order, simulate::any_network>> shared_; // on a network only
  std::vector<std::array<std::int64_t, 1 << max_ops>> needs_; // per device and set of ops there
  std::vector<tensor> tensors_;
  placement where_;
  std::vector<std::pair<std::int64_t, placement>> places_; // with what they need at least
  plan plan_, best_plan_;
  std::vector<item> items_;
  std::vector<std::size_t> sequence_;
  std::vector<mask> begun_, here_; // per device
  trace run_;
  std::int64_t least_ = 0; // of the placement
  std::int64_t best_ = infinity;
  std::size_t num_runs_ = 0;
};

} // namespace weft::test
