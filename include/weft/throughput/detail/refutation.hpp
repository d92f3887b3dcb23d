// SPDX-License-Identifier: BSL-1.0
/// Proves that no placement has a period of at most some value.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/components.hpp"
#include "weft/throughput/detail/piece.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft::throughput::detail {

/// Tries to refute that there is a placement of period T. Components that cannot be parted without a load above T, or
/// without more load than all devices together have room for, are merged into clusters; a device class on which a
/// cluster and what it must exchange would exceed T is closed to it; then, no cluster may be without a class, no two of
/// the largest clusters may have to share a device, and the clusters' times may not exceed what the devices can do.
template <class Problem>
class refutation {
public:
  explicit refutation(const flow<Problem>& f) : flow_{&f}, classes_{device_classes(f.problem())} {}

  /// True if there is certainly no placement whose period is at most `limit`.
  bool operator()(double limit) {
    // Rounding must not refute what is possible.
    limit_ = rounded(limit * (1 + 1e-12)) + std::numeric_limits<double>::min();
    const std::size_t n = flow_->num_components();
    sets_ = graph::disjoint_sets{n};
    open_.assign(n * classes_.size(), 1);
    time_.assign(n * classes_.size(), 0);
    demand_.assign(n, 0);
    for (component_id c = 0; c < n; ++c) {
      demand_[c] = flow_->problem().demand(c);
      for (std::size_t x = 0; x < classes_.size(); ++x) {
        time(c, x) = flow_->time(c, classes_[x].devices.front());
        if (!flow_->problem().allows(c, classes_[x].devices.front())) {
          open(c, x) = 0;
        }
      }
    }
    for (bool changed = true; changed;) {
      if (close_classes()) {
        return true;
      }
      changed = false;
      if constexpr (charges<Problem>::staged) {
        collect_ties();
        changed = close_by_ties() || merge_what_exceeds_a_device();
      }
      if (!changed) {
        if (too_many_large() || too_much()) {
          return true;
        }
        if constexpr (charges<Problem>::staged) {
          changed = merge_what_exceeds_the_slack();
        }
      }
    }
    return false;
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// A parcel that cluster a produces and b consumes; whether no third cluster consumes it.
  struct tie {
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t parcel;
    bool alone;
  };

  /// A cluster on a device class, and what it pays there for being parted from another one.
  struct side {
    std::uint32_t cluster;
    std::size_t type;
    double price;
  };

  double& time(std::uint32_t s, std::size_t x) { return time_[s * classes_.size() + x]; }
  std::uint8_t& open(std::uint32_t s, std::size_t x) { return open_[s * classes_.size() + x]; }
  bool is_root(std::uint32_t s) { return sets_.find(s) == s; }

  /// True if some cluster has no class left.
  bool close_classes() {
    for (std::uint32_t s = 0; s < flow_->num_components(); ++s) {
      if (!is_root(s)) {
        continue;
      }
      bool any = false;
      for (std::size_t x = 0; x < classes_.size(); ++x) {
        if (time(s, x) > limit_ || demand_[s] > classes_[x].capacity) {
          open(s, x) = 0;
        }
        any = any || open(s, x);
      }
      if (!any) {
        return true;
      }
    }
    return false;
  }

  void collect_ties() {
    ties_.clear();
    std::vector<std::uint32_t> others;
    for (std::uint32_t q = 0; q < flow_->num_parcels(); ++q) {
      const auto a = sets_.find(flow_->producer(q));
      others.clear();
      for (const component_id c : flow_->consumers(q)) {
        if (const auto b = sets_.find(c); b != a) {
          others.push_back(b);
        }
      }
      weft::sort(others);
      others.erase(std::unique(others.begin(), others.end()), others.end());
      for (const std::uint32_t b : others) {
        ties_.push_back({a, b, q, others.size() == 1});
      }
    }
    weft::sort(ties_, [](const tie& x, const tie& y) {
      return std::minmax(x.a, x.b) != std::minmax(y.a, y.b) ? std::minmax(x.a, x.b) < std::minmax(y.a, y.b)
                                                            : x.parcel < y.parcel;
    });
  }

  /// Calls `f(low, high, first, last)` for the ties between each two clusters.
  template <class F>
  void each_pair(F f) {
    for (std::size_t i = 0; i < ties_.size();) {
      const auto [low, high] = std::minmax(ties_[i].a, ties_[i].b);
      const std::uint32_t l = low;
      const std::uint32_t h = high;
      std::size_t j = i;
      while (j < ties_.size() && std::min(ties_[j].a, ties_[j].b) == l && std::max(ties_[j].a, ties_[j].b) == h) {
        ++j;
      }
      f(l, h, i, j);
      i = j;
    }
  }

  /// What s pays on class x for the ties i … j - 1 when the other cluster is elsewhere; `alone`: without what it may
  /// pay for another cluster's sake, too.
  double price(std::uint32_t s, std::size_t x, std::size_t i, std::size_t j, bool alone) {
    const device_id d = classes_[x].devices.front();
    double sum = 0;
    for (; i < j; ++i) {
      if (ties_[i].a != s) {
        flow_->moving(ties_[i].parcel, none, d, [&sum](std::size_t, double seconds) { sum += seconds; });
      } else if (!alone || ties_[i].alone) {
        sum += flow_->leaving(ties_[i].parcel, d);
      }
    }
    return sum;
  }

  /// A cluster either pays for its tie with another one or takes it in.
  bool close_by_ties() {
    std::vector<double> least = time_;
    each_pair([&](std::uint32_t l, std::uint32_t h, std::size_t i, std::size_t j) {
      for (std::size_t x = 0; x < classes_.size(); ++x) {
        const auto add = [&](std::uint32_t s, std::uint32_t other) {
          const double joined = open(other, x) ? time(other, x) : infinity;
          least[s * classes_.size() + x] += std::min(joined, price(s, x, i, j, true));
        };
        add(l, h);
        add(h, l);
      }
    });
    bool closed = false;
    for (std::uint32_t s = 0; s < flow_->num_components(); ++s) {
      for (std::size_t x = 0; is_root(s) && x < classes_.size(); ++x) {
        if (open(s, x) && least[s * classes_.size() + x] > limit_) {
          open(s, x) = 0;
          closed = true;
        }
      }
    }
    return closed;
  }

  /// Clusters that would exceed the limit on any two devices are merged.
  bool merge_what_exceeds_a_device() {
    return merge([this](const side& a, const side& b) {
      return time(a.cluster, a.type) + a.price <= limit_ && time(b.cluster, b.type) + b.price <= limit_;
    });
  }

  /// Clusters are merged if parting them would cost more than all devices together have left, by the weights that
  /// `too_much` found.
  bool merge_what_exceeds_the_slack() {
    const auto extra = [this](const side& s) {
      return weight_[s.type] * (time(s.cluster, s.type) + s.price) - least_weighted(s.cluster);
    };
    return merge([&](const side& a, const side& b) { return extra(a) + extra(b) <= slack_; });
  }

  /// Merges each two clusters with a tie between them for which no two open classes are `possible`.
  template <class Possible>
  bool merge(Possible possible) {
    buffer<std::pair<std::uint32_t, std::uint32_t>> found;
    each_pair([&](std::uint32_t l, std::uint32_t h, std::size_t i, std::size_t j) {
      for (std::size_t x = 0; x < classes_.size(); ++x) {
        for (std::size_t y = 0; y < classes_.size(); ++y) {
          if (open(l, x) && open(h, y) && (x != y || classes_[x].devices.size() > 1) &&
              possible(side{l, x, price(l, x, i, j, false)}, side{h, y, price(h, y, i, j, false)})) {
            return;
          }
        }
      }
      found.emplace_back(l, h);
    });
    for (const auto& [l, h] : found) {
      const auto a = sets_.find(l);
      const auto b = sets_.find(h);
      if (a == b) {
        continue;
      }
      sets_.unite(a, b);
      const auto root = sets_.find(a);
      const std::uint32_t gone = root == a ? b : a;
      demand_[root] += demand_[gone];
      for (std::size_t x = 0; x < classes_.size(); ++x) {
        time(root, x) += time(gone, x);
        open(root, x) = open(root, x) && open(gone, x) ? 1 : 0;
      }
    }
    return !found.empty();
  }

  double least_weighted(std::uint32_t s) {
    double least = infinity;
    for (std::size_t x = 0; x < classes_.size(); ++x) {
      least = open(s, x) ? std::min(least, weight_[x] * time(s, x)) : least;
    }
    return least;
  }

  double least_time(std::uint32_t s) {
    double least = infinity;
    for (std::size_t x = 0; x < classes_.size(); ++x) {
      least = open(s, x) ? std::min(least, time(s, x)) : least;
    }
    return least;
  }

  /// Of k + 1 clusters, two share one of k devices.
  bool too_many_large() {
    std::vector<double> times;
    for (std::uint32_t s = 0; s < flow_->num_components(); ++s) {
      if (is_root(s)) {
        times.push_back(least_time(s));
      }
    }
    weft::sort(times, descending);
    const std::size_t k = flow_->num_devices();
    return times.size() > k && times[k - 1] + times[k] > limit_;
  }

  /// For any weights of the classes, Σ over the clusters of the least weighted time is at most Σ over the devices of
  /// weight · T (the dual of the fractional assignment; see bound/area.hpp). A few multiplicative steps look for good
  /// weights; the best ones are kept, with what they leave.
  bool too_much() {
    double fullest = 0;
    std::vector<double> weight(classes_.size(), 1.0);
    std::vector<double> load(classes_.size());
    for (int step = 0; step < 60; ++step) {
      double least = 0;
      double room = 0;
      load.assign(classes_.size(), 0.0);
      for (std::size_t x = 0; x < classes_.size(); ++x) {
        room += rounded(weight[x] * limit_ * static_cast<double>(classes_[x].devices.size()));
      }
      for (std::uint32_t s = 0; s < flow_->num_components(); ++s) {
        if (!is_root(s)) {
          continue;
        }
        double best = infinity;
        std::size_t at = 0;
        for (std::size_t x = 0; x < classes_.size(); ++x) {
          if (open(s, x) && weight[x] * time(s, x) < best) {
            best = weight[x] * time(s, x);
            at = x;
          }
        }
        least += best;
        load[at] += time(s, at);
      }
      if (least > room) {
        return true;
      }
      if (step == 0 || least > fullest * room) {
        fullest = least / room;
        weight_ = weight;
        slack_ = (room - least) + rounded(1e-9 * room);
      }
      const double rate = 1 / (1 + static_cast<double>(step) / 4); // exact, fused or not
      for (std::size_t x = 0; x < classes_.size() && classes_.size() > 1; ++x) {
        const double relative = load[x] / (limit_ * static_cast<double>(classes_[x].devices.size()));
        weight[x] *= 1 + rate * (std::min(relative, 3.0) - 1) / 1.5;
      }
    }
    return false;
  }

  const flow<Problem>* flow_;
  std::vector<device_class> classes_;
  double limit_ = 0;
  graph::disjoint_sets sets_{0};
  std::vector<std::uint8_t> open_; // clusters (by their root) x classes
  std::vector<double> time_;       // clusters x classes
  std::vector<byte_count> demand_;
  buffer<tie> ties_;
  std::vector<double> weight_; // per class
  double slack_ = 0;           // what the devices can do within the limit, less what they must, by these weights
};

} // namespace weft::throughput::detail
