// SPDX-License-Identifier: BSL-1.0
/// Sets of ops on a machine against the time between their least head and their least tail.
#pragma once

#include "weft/bound/exact/device_facts.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::bound::exact {

/// Sets of ops that are on a machine, between any head and any tail: they must fit; what else may be there must fit,
/// too, or is elsewhere; and an op that cannot be last, or first, unless the set is late is before, or after, all of
/// it.
/// Source: Carlier, Pinson, An algorithm for solving the job-shop problem, Management Science 35, 1989.
class crowd_rule {
public:
  using amount = device_facts::amount;
  using literal = device_facts::literal;

  explicit crowd_rule(device_facts& f) : f_{f} {}

  /// Of the machine d; false at a dead end.
  bool operator()(std::size_t d) {
    const auto& ops = f_.fixed[d];
    if (ops.empty()) {
      return true;
    }
    by_tail_.assign(ops.begin(), ops.end());
    weft::sort(by_tail_, [&](op_id a, op_id b) {
      return f_.tail(a, d) != f_.tail(b, d) ? f_.tail(a, d) > f_.tail(b, d) : a < b;
    });
    longest_ = 0;
    for (op_id v = 0; v < f_.n; ++v) {
      if (f_.may_be(v, d)) {
        longest_ = std::max(longest_, f_.time(v, d));
      }
    }
    for (const op_id earliest : ops) {
      const amount from = f_.head(earliest, d);
      amount sum = 0;
      for (std::size_t i = 0; i < by_tail_.size(); ++i) {
        const op_id last = by_tail_[i];
        if (f_.head(last, d) < from) {
          continue;
        }
        sum += f_.time(last, d);
        const amount to = f_.tail(last, d);
        const amount room = f_.limit - from - to - sum;
        if (room < 0) {
          crowd_reason(d, from, to, i, -room - 1);
          return f_.known.contradict();
        }
        if (room < longest_ && !exclude_others(d, from, to, i, room)) {
          return false;
        }
      }
    }
    return true;
  }

private:
  /// The first i + 1 ops by tail whose heads are at least `from` are on d, have at least such heads and tails, less
  /// what can be spared.
  void crowd_reason(std::size_t d, amount from, amount to, std::size_t i, amount spare) {
    const amount less = std::min(from, spare);
    for (std::size_t j = 0; j <= i; ++j) {
      const op_id v = by_tail_[j];
      if (f_.head(v, d) >= from) {
        f_.known.because(f_.place_of(v, d));
        f_.known.because(f_.id(0, v, d), from - less);
        f_.known.because(f_.id(1, v, d), to - (spare - less));
      }
    }
  }

  /// What else may be on the device, and does not fit between a set of ops; or must be before or after all of them.
  bool exclude_others(std::size_t d, amount from, amount to, std::size_t i, amount room) {
    for (op_id u = 0; u < f_.n; ++u) {
      if (!f_.may_be(u, d) || f_.time(u, d) <= room) {
        continue;
      }
      const amount early = std::min(from, f_.head(u, d));
      const amount late = std::min(to, f_.tail(u, d));
      const bool on = f_.is_on(u, d);
      if (on && f_.head(u, d) >= from && f_.tail(u, d) >= to) {
        continue; // one of them, or about to be
      }
      const amount over = f_.time(u, d) - room;
      const amount over_all = over - (from - early) - (to - late);
      if (!on && over_all > 0) {
        crowd_reason(d, early, late, i, from, over_all - 1, u);
        if (!f_.known.imply(conflict_learning::negation(f_.place_of(u, d)))) {
          return false;
        }
      } else if (on) {
        const amount over_last = over - (from - early); // unless u is last
        const amount over_first = over - (to - late);
        if (over_last > 0 && !order_set(d, early, to, i, from, over_last - 1, u, true)) {
          return false;
        }
        if (over_first > 0 && !order_set(d, from, late, i, from, over_first - 1, u, false)) {
          return false;
        }
      }
    }
    return true;
  }

  /// The same reason for the set of ops with heads of at least `from_set`, for `head` and `tail` that hold for u, too.
  void crowd_reason(std::size_t d, amount from, amount to, std::size_t i, amount from_set, amount spare, op_id u) {
    const amount less = std::min(from, spare);
    for (std::size_t j = 0; j <= i; ++j) {
      const op_id v = by_tail_[j];
      if (v != u && f_.head(v, d) >= from_set) {
        f_.known.because(f_.place_of(v, d));
        f_.known.because(f_.id(0, v, d), from - less);
        f_.known.because(f_.id(1, v, d), to - (spare - less));
      }
    }
    f_.known.because(f_.id(0, u, d), from - less);
    f_.known.because(f_.id(1, u, d), to - (spare - less));
  }

  bool order_set(std::size_t d, amount from, amount to, std::size_t i, amount from_set, amount spare, op_id u,
                 bool last) {
    for (std::size_t j = 0; j <= i; ++j) {
      const op_id w = by_tail_[j];
      if (w == u || f_.head(w, d) < from_set) {
        continue;
      }
      const literal l = last ? f_.before(w, u) : f_.before(u, w);
      if (l == device_facts::always_before || (l != device_facts::never_before && f_.known.holds(l))) {
        continue;
      }
      const amount less = std::min(from, spare);
      for (std::size_t m = 0; m <= i; ++m) {
        const op_id v = by_tail_[m];
        if (v != u && f_.head(v, d) >= from_set) {
          f_.known.because(f_.place_of(v, d));
          f_.known.because(f_.id(0, v, d), from - less);
          f_.known.because(f_.id(1, v, d), to - (spare - less));
        }
      }
      f_.known.because(f_.place_of(u, d));
      f_.known.because(f_.id(last ? 0 : 1, u, d), last ? from - less : to - (spare - less));
      if (l == device_facts::never_before) {
        return f_.known.contradict();
      }
      if (!f_.known.imply(l)) {
        return false;
      }
    }
    return true;
  }

  device_facts& f_;
  std::vector<op_id> by_tail_;
  amount longest_ = 0;
};

} // namespace weft::bound::exact
