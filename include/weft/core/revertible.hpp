// SPDX-License-Identifier: BSL-1.0
/// An array whose changes can be taken back.
#pragma once

#include "weft/core/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

/// An array that remembers what `set` has changed since the last `commit`. A data structure of several of them takes a
/// change back by a `rollback` of each, in any order.
template <class T>
class revertible {
public:
  revertible() = default;
  explicit revertible(std::size_t n, T value = T{}) : values_(n, value) {}

  std::size_t size() const { return values_.size(); }
  const T& operator[](std::size_t i) const { return values_[i]; }
  const std::vector<T>& values() const { return values_; }

  void set(std::size_t i, T value) {
    changes_.push_back({values_[i], static_cast<std::uint32_t>(i)});
    values_[i] = value;
  }
  /// For good: no rollback brings the old value back.
  void settle(std::size_t i, T value) { values_[i] = value; }
  /// All of it for good; precondition: no change is pending.
  void settle(const std::vector<T>& values) { values_ = values; }
  void fill(T value) { values_.assign(values_.size(), value); }

  /// Calls f for each place that was set since the last commit, as often as it was.
  template <class F>
  void for_each_change(F f) const {
    for (const auto& x : changes_) {
      f(x.where);
    }
  }

  /// Calls f(place, value before) for what was set since the last commit, the last first.
  template <class F>
  void for_each_change_back(F f) const {
    for (auto k = changes_.size(); k-- > 0;) {
      f(changes_[k].where, changes_[k].before);
    }
  }

  bool is_settled() const { return changes_.empty(); }
  void commit() { changes_.clear(); }
  void rollback() {
    for_each_change_back([this](std::uint32_t i, const T& before) { values_[i] = before; });
    changes_.clear();
  }

private:
  struct change {
    T before;
    std::uint32_t where;
  };
  std::vector<T> values_;
  buffer<change> changes_;
};

/// The same for several parts of something, each of which has these members.
template <class... Parts>
void commit_all(Parts&... parts) {
  (parts.commit(), ...);
}
template <class... Parts>
void rollback_all(Parts&... parts) {
  (parts.rollback(), ...);
}
template <class... Parts>
bool all_settled(const Parts&... parts) {
  return (parts.is_settled() && ...);
}

} // namespace weft
