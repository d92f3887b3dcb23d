// SPDX-License-Identifier: BSL-1.0
/// Labels for an item that comes earlier or later than those of other items say.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/refine/detail/item_lanes.hpp"
#include "weft/schedule/changing_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft::refine::detail {

/// Makes room for an item where none is: of the items with labels in between, those that must come before it get the
/// lowest of their labels, and those that must come after it the highest, both in their order.
/// Source: Pearce, Kelly, A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs, JEA 11, 2006.
/// Complexity: O(k² + edges) for k such items, which are few: they start between the two that cross.
class label_exchange {
public:
  /// An item that stands nowhere is to come after `left` and before `right` in a lane, each of which may be `none`, but
  /// what must come before it has labels up to `low`, and what must come after it from `high`, where high <= low.
  struct crossing {
    item_id item, left, right;
    double low, high;
  };
  enum class result : std::uint8_t {
    made,
    contradiction, ///< something would come before and after
    crowded,       ///< two of the labels are the same
  };

  result operator()(const changing_flow& flow, item_lanes& lanes, const crossing& x) {
    if (!collect(flow, lanes, x)) {
      return result::contradiction;
    }
    const auto by_label = [&](item_id a, item_id b) { return lanes.label(a) < lanes.label(b); };
    pool_.clear();
    for (auto* list : {&earlier_, &later_}) {
      weft::sort(*list, by_label);
      for (const item_id i : *list) {
        pool_.push_back(lanes.label(i));
      }
    }
    weft::sort(pool_);
    if (std::adjacent_find(pool_.begin(), pool_.end()) != pool_.end()) {
      return result::crowded; // what nothing orders may share a label, but could not any more
    }
    // What stands in a lane stays between its neighbours meanwhile: down goes the lowest first, up the highest.
    for (std::size_t k = 0; k < earlier_.size(); ++k) {
      lanes.relabel(earlier_[k], pool_[k]);
    }
    for (std::size_t k = later_.size(); k-- > 0;) {
      lanes.relabel(later_[k], pool_[earlier_.size() + k]);
    }
    return result::made;
  }

  /// The highest label that was given last.
  double highest() const { return pool_.back(); }

private:
  /// False if something comes before and after.
  bool collect(const changing_flow& flow, const item_lanes& lanes, const crossing& x) {
    const auto is_in = [](const buffer<item_id>& list, item_id i) {
      return std::find(list.begin(), list.end(), i) != list.end();
    };
    const auto take_earlier = [&](item_id i) {
      if (i != none && lanes.label(i) >= x.high && !is_in(earlier_, i)) {
        earlier_.push_back(i);
      }
    };
    const auto take_later = [&](item_id i) {
      if (i != none && lanes.label(i) <= x.low && !is_in(later_, i)) {
        later_.push_back(i);
      }
    };
    earlier_.clear();
    take_earlier(x.left);
    flow.for_each_source(x.item, take_earlier);
    for (std::size_t k = 0; k < earlier_.size(); ++k) {
      take_earlier(lanes.before(earlier_[k]));
      flow.for_each_source(earlier_[k], take_earlier);
    }
    later_.clear();
    take_later(x.right);
    flow.for_each_consumer(x.item, take_later);
    for (std::size_t k = 0; k < later_.size(); ++k) {
      if (is_in(earlier_, later_[k])) {
        return false;
      }
      take_later(lanes.after(later_[k]));
      flow.for_each_consumer(later_[k], take_later);
    }
    return true;
  }

  buffer<item_id> earlier_, later_; // what has to come before the item, and after it
  buffer<double> pool_;             // their labels
};

} // namespace weft::refine::detail
