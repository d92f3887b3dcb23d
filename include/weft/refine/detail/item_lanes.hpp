// SPDX-License-Identifier: BSL-1.0
/// The order of the items of an incremental schedule: labels, and the lanes of devices.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::refine::detail {

/// Each device has a lane per slot. What stands in a lane stands there in the order of its label; items that stand in
/// none have only a label.
class item_lanes {
public:
  struct entry {
    double label;
    item_id item;
  };
  using row = buffer<entry>;

  template <class Platform>
  item_lanes(const Platform& q, std::size_t num_devices, std::size_t num_items)
      : first_(num_devices + 1, 0), lane_(num_items, none), before_(num_items, none), after_(num_items, none),
        label_(num_items, 0) {
    for (const device_id d : ids(num_devices)) {
      const std::size_t at_once = q.slots(d); // no more are ever in use than there are items
      first_[d + 1] = first_[d] + static_cast<std::uint32_t>(std::min<std::size_t>(at_once, num_items + 1));
    }
    rows_.resize(first_.back());
  }

  std::size_t size() const { return rows_.size(); }
  /// The lanes of a device.
  id_range of(device_id d) const { return {first_[d], first_[d + 1]}; }
  const row& operator[](std::uint32_t lane) const { return rows_[lane]; }
  std::uint32_t lane(item_id i) const { return lane_[i]; }
  item_id before(item_id i) const { return before_[i]; }
  item_id after(item_id i) const { return after_[i]; }
  double label(item_id i) const { return label_[i]; }

  /// Puts i into a lane, or, with `none`, just labels it.
  void insert(item_id i, std::uint32_t lane, double label) {
    put(i, lane, label);
    changes_.push_back({i, none, 0, how::inserted});
  }
  void remove(item_id i) {
    changes_.push_back({i, lane_[i], label_[i], how::removed});
    take_out(i);
  }
  /// Another label for what stays where it stands. Precondition: it is still between the labels of its neighbours.
  void relabel(item_id i, double label) {
    changes_.push_back({i, lane_[i], label_[i], how::relabelled});
    set_label(i, label);
  }
  void commit() { changes_.clear(); }
  void rollback() {
    for (auto k = changes_.size(); k-- > 0;) {
      const auto& x = changes_[k];
      switch (x.what) {
      case how::inserted: take_out(x.item); break;
      case how::removed: put(x.item, x.lane, x.label); break;
      case how::relabelled: set_label(x.item, x.label); break;
      }
    }
    changes_.clear();
  }
  bool is_settled() const { return changes_.empty(); }

  /// Labels items by their place in `order`, which lanes have to agree with.
  void renumber(const std::vector<item_id>& order) {
    double label = 0;
    for (const item_id i : order) {
      label_[i] = label++;
    }
    for (auto& lane : rows_) {
      for (auto& x : lane) {
        x.label = label_[x.item];
      }
    }
  }
  /// Sets everything anew, with labels by the place in `order`.
  void settle(const std::vector<item_id>& order, const std::vector<std::uint32_t>& lane_of) {
    for (auto& x : rows_) {
      x.clear();
    }
    for (auto* x : {&lane_, &before_, &after_}) {
      std::fill(x->begin(), x->end(), none);
    }
    double label = 0;
    for (const item_id i : order) {
      put(i, lane_of[i], label++);
    }
  }
  const std::vector<double>& labels() const { return label_; }

private:
  enum class how : std::uint8_t { inserted, removed, relabelled };
  struct change {
    item_id item;
    std::uint32_t lane; // that it was in
    double label;
    how what;
  };

  void set_label(item_id i, double label) {
    if (lane_[i] != none) {
      auto& x = rows_[lane_[i]];
      std::partition_point(x.begin(), x.end(), [&](const entry& y) { return y.label < label_[i]; })->label = label;
    }
    label_[i] = label;
  }

  void put(item_id i, std::uint32_t lane, double label) {
    label_[i] = label;
    lane_[i] = lane;
    before_[i] = after_[i] = none;
    if (lane == none) {
      return;
    }
    auto& x = rows_[lane];
    const auto at = std::partition_point(x.begin(), x.end(), [&](const entry& y) { return y.label < label; });
    if (at != x.begin()) {
      before_[i] = (at - 1)->item;
      after_[before_[i]] = i;
    }
    if (at != x.end()) {
      after_[i] = at->item;
      before_[after_[i]] = i;
    }
    x.insert(at, {label, i});
  }
  void take_out(item_id i) {
    if (lane_[i] == none) {
      return;
    }
    auto& x = rows_[lane_[i]];
    x.erase(std::partition_point(x.begin(), x.end(), [&](const entry& y) { return y.label < label_[i]; }));
    if (before_[i] != none) {
      after_[before_[i]] = after_[i];
    }
    if (after_[i] != none) {
      before_[after_[i]] = before_[i];
    }
    lane_[i] = before_[i] = after_[i] = none;
  }

  std::vector<std::uint32_t> first_; // lane of each device, and the end
  buffer<row> rows_;
  std::vector<std::uint32_t> lane_; // per item, as all that follow
  std::vector<item_id> before_, after_;
  std::vector<double> label_;
  buffer<change> changes_;
};

} // namespace weft::refine::detail
