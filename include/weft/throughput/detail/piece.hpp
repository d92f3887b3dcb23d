// SPDX-License-Identifier: BSL-1.0
/// The cost of a set of blocks on one device of each class, while blocks are added and removed again.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/throughput/detail/blocks.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::throughput::detail {

/// Devices that a split need not tell apart, and which they are.
struct device_class {
  std::vector<device_id> devices; ///< ascending
  byte_count capacity = 0;
};

/// Groups devices with equal costs, kind, capacity and slots, ordered by their first device. Costs are compared by
/// the model's classes if it has them; without, every device is a class of its own.
template <class Problem>
std::vector<device_class> device_classes(const Problem& p) {
  const auto& platform = p.platform();
  const auto alike = [&](device_id a, device_id b) {
    return p.device_class(a) == p.device_class(b) && platform.kind(a) == platform.kind(b) &&
           p.capacity(a) == p.capacity(b) && p.memories().alike(a, b) && platform.slots(a) == platform.slots(b);
  };
  std::vector<device_class> classes;
  for (const device_id d : ids(p.num_devices())) {
    const auto same = std::ranges::find_if(classes, [&](const auto& c) { return alike(c.devices.front(), d); });
    if (same != classes.end()) {
      same->devices.push_back(d);
    } else {
      classes.push_back({{d}, p.capacity(d)});
    }
  }
  return classes;
}

/// With staged costs `load` is exact. With others, what goes over links depends on where the neighbours are; it is
/// estimated by one send per tensor that leaves, and by all that comes in sharing one link.
/// Adding a block costs O(its parcels · classes), or the parcels of the whole piece where what goes over links has
/// fallen to a small part of what it was, so that a difference would be rounding errors.
template <class Problem>
class piece {
public:
  piece(const flow<Problem>& f, const blocks<Problem>& b, const std::vector<device_class>& classes)
      : classes_{&classes}, inputs_(b.size()), outputs_(b.size()), demand_(b.size(), 0),
        time_(b.size() * classes.size(), 0.0), allowed_(b.size() * classes.size(), 1), totals_(classes.size()),
        members_(b.size()) {
    for (std::uint32_t i = 0; i < b.size(); ++i) {
      for (const component_id c : b.members(i)) {
        demand_[i] += f.problem().demand(c);
        for (std::size_t x = 0; x < classes.size(); ++x) {
          const device_id d = classes[x].devices.front();
          time_[i * classes.size() + x] += f.time(c, d);
          if (!f.problem().allows(c, d)) {
            allowed_[i * classes.size() + x] = 0;
          }
        }
      }
    }
    collect(f, b);
    rounding_matters_ = !(1e-4 * all_moves() <= least_period(f.num_devices()));
  }

  /// The load of the piece on a device of class x, infinite where it may not go.
  double load(std::size_t x) const {
    const auto& t = totals_[x];
    if (t.forbidden > 0 || total_demand_ > (*classes_)[x].capacity) {
      return std::numeric_limits<double>::infinity();
    }
    return charges<Problem>::staged ? t.time + t.in + t.out : std::max(t.time + t.out, t.in);
  }
  /// No piece with more blocks has a smaller load, on any device.
  double least() const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t x = 0; x < totals_.size(); ++x) {
      if (totals_[x].forbidden == 0 && total_demand_ <= (*classes_)[x].capacity) {
        least = std::min(least, totals_[x].time);
      }
    }
    return least;
  }

  void add(std::uint32_t b) {
    undo_.insert(undo_.end(), totals_.begin(), totals_.end());
    members_[num_members_++] = b;
    const std::size_t n = totals_.size();
    total_demand_ += demand_[b];
    for (std::size_t x = 0; x < n; ++x) {
      totals_[x].time += time_[b * n + x];
      totals_[x].forbidden += allowed_[b * n + x] ? 0u : 1u;
    }
    for (const std::uint32_t q : outputs_[b]) {
      auto& y = parcels_[q];
      y.producer_inside = true;
      for (std::size_t x = 0; x < n; ++x) {
        totals_[x].in -= y.inside > 0 ? arriving_[q * n + x] : 0;
        totals_[x].out += y.inside < y.consumers ? leaving_[q * n + x] : 0;
      }
    }
    for (const std::uint32_t q : inputs_[b]) {
      auto& y = parcels_[q];
      ++y.inside;
      for (std::size_t x = 0; x < n; ++x) {
        if (!y.producer_inside) {
          totals_[x].in += y.inside == 1 ? arriving_[q * n + x] : 0;
        } else {
          totals_[x].out -= y.inside == y.consumers ? leaving_[q * n + x] : 0;
        }
      }
    }
    for (std::size_t x = 0; x < n && rounding_matters_; ++x) {
      auto& t = totals_[x];
      t.peak = std::max(t.peak, t.in + t.out);
      if (!(t.peak <= 1e3 * (t.time + t.in + t.out)) || t.peak == std::numeric_limits<double>::infinity()) {
        sum_again(x);
      }
    }
  }

  /// Removes the block that was added last; sums are restored exactly.
  void remove(std::uint32_t b) {
    std::copy(undo_.end() - static_cast<std::ptrdiff_t>(totals_.size()), undo_.end(), totals_.begin());
    undo_.resize(undo_.size() - totals_.size());
    --num_members_;
    total_demand_ -= demand_[b];
    for (const std::uint32_t q : inputs_[b]) {
      --parcels_[q].inside;
    }
    for (const std::uint32_t q : outputs_[b]) {
      parcels_[q].producer_inside = false;
    }
  }

private:
  struct parcel {
    std::uint32_t consumers = 0; ///< blocks other than the producer
    std::uint32_t inside = 0;    ///< of these, in the piece
    bool producer_inside = false;
  };
  struct total {
    double time = 0;
    double in = 0;
    double out = 0;
    double peak = 0;             ///< the most that `in` and `out` together were since they were sums of what they are
    std::uint32_t forbidden = 0; ///< blocks that may not go to this class
  };

  /// No sum of what goes in or out is larger.
  double all_moves() const {
    double sum = 0;
    for (std::size_t i = 0; i < arriving_.size(); ++i) {
      sum += arriving_[i] + leaving_[i];
    }
    return sum;
  }

  /// No split has a smaller largest load.
  double least_period(std::size_t num_devices) const {
    double longest = 0;
    double sum = 0;
    for (auto times = time_.begin(); times != time_.end(); times += static_cast<std::ptrdiff_t>(classes_->size())) {
      const double least = *std::min_element(times, times + static_cast<std::ptrdiff_t>(classes_->size()));
      longest = std::max(longest, least);
      sum += least;
    }
    return std::max(longest, sum / static_cast<double>(num_devices));
  }

  /// What goes in and out on class x as a sum of what does, without differences.
  void sum_again(std::size_t x) {
    const std::size_t n = totals_.size();
    auto& t = totals_[x];
    t.in = t.out = 0;
    counted_.assign(parcels_.size(), 0);
    for (const std::uint32_t b : std::span{members_}.first(num_members_)) {
      for (const std::uint32_t q : outputs_[b]) {
        t.out += parcels_[q].inside < parcels_[q].consumers ? leaving_[q * n + x] : 0;
      }
      for (const std::uint32_t q : inputs_[b]) {
        if (!parcels_[q].producer_inside && !std::exchange(counted_[q], std::uint8_t{1})) {
          t.in += arriving_[q * n + x];
        }
      }
    }
    t.peak = t.in + t.out;
  }

  void collect(const flow<Problem>& f, const blocks<Problem>& b) {
    std::vector<std::uint32_t> to;
    for (std::uint32_t q = 0; q < f.num_parcels(); ++q) {
      const std::uint32_t from = b.block(f.producer(q));
      to.clear();
      for (const component_id c : f.consumers(q)) {
        if (b.block(c) != from) {
          to.push_back(b.block(c));
        }
      }
      weft::sort(to);
      to.erase(std::unique(to.begin(), to.end()), to.end());
      if (to.empty()) {
        continue;
      }
      const auto id = static_cast<std::uint32_t>(parcels_.size());
      parcels_.push_back({.consumers = static_cast<std::uint32_t>(to.size())});
      outputs_[from].push_back(id);
      for (const std::uint32_t i : to) {
        inputs_[i].push_back(id);
      }
      for (const auto& x : *classes_) {
        const device_id here = x.devices.front();
        const device_id there = f.num_devices() < 2 ? here : here == 0 ? 1 : 0;
        double leaving = f.leaving(q, here);
        double arriving = 0;
        if (there != here) {
          f.moving(q, there, here, [&](std::size_t r, double s) { arriving += r == there ? 0 : s; });
          if constexpr (!charges<Problem>::staged) {
            f.moving(q, here, there, [&](std::size_t r, double s) { leaving += r == here ? s : 0; });
          }
        }
        leaving_.push_back(leaving);
        arriving_.push_back(arriving);
      }
    }
  }

  const std::vector<device_class>* classes_;
  buffer<parcel> parcels_;
  std::vector<std::vector<std::uint32_t>> inputs_;  // per block
  std::vector<std::vector<std::uint32_t>> outputs_; // per block
  std::vector<byte_count> demand_;
  std::vector<double> time_;          // blocks x classes
  std::vector<std::uint8_t> allowed_; // blocks x classes
  std::vector<double> leaving_;       // parcels x classes
  std::vector<double> arriving_;      // parcels x classes
  std::vector<total> totals_;         // per class
  std::vector<total> undo_;
  std::vector<std::uint32_t> members_; // in the order of their adding; the first `num_members_`
  std::size_t num_members_ = 0;
  std::vector<std::uint8_t> counted_;  // per parcel
  bool rounding_matters_ = false; // what is rounded away of the largest sums could count for a period
  byte_count total_demand_ = 0;
};

} // namespace weft::throughput::detail
