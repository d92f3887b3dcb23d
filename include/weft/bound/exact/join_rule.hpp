// SPDX-License-Identifier: BSL-1.0
/// Joins: results that are made on one machine, one after the other, or elsewhere, so that they have to travel.
#pragma once

#include "weft/bound/exact/device_facts.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::bound::exact {

/// Of a set of ops before v, all are on its machine, one after the other, or one is elsewhere and its result has to
/// travel: v starts when the earlier of both is possible. The sets are of the nearest ops before v, with how long
/// their results are under way at least.
/// Source: the argument of bound/communication_path.hpp, per machine and with reasons.
class join_rule {
public:
  using amount = device_facts::amount;

  explicit join_rule(device_facts& f) : f_{f} {}

  /// Once, when it is known where ops can never be. Calls wakes(direction, u, v) if what v waits for depends on u.
  template <class Wakes>
  void begin(Wakes wakes) {
    for (int direction = 0; direction < 2; ++direction) {
      auto& j = joins_[direction];
      std::vector<std::size_t> position(f_.n);
      for (std::size_t i = 0; i < f_.n; ++i) {
        position[f_.q.order[i]] = direction == 0 ? i : f_.n - 1 - i;
      }
      std::vector<std::uint8_t> met(f_.n, 0);
      std::vector<amount> after(f_.n * f_.k, 0); // per op and place, to the start of v
      for (op_id v = 0; v < f_.n; ++v) {
        j.first.push_back(static_cast<std::uint32_t>(j.ops.size()));
        std::vector<op_id> chosen;
        std::vector<op_id> open;
        const auto meet = [&](op_id u) {
          for (std::uint32_t i = f_.q.first_input[direction][u]; i < f_.q.first_input[direction][u + 1]; ++i) {
            if (const op_id w = f_.q.inputs[direction][i].op; !met[w]) {
              met[w] = 1;
              open.push_back(w);
            }
          }
        };
        meet(v);
        while (chosen.size() < max_joined && !open.empty()) {
          const auto last =
            std::max_element(open.begin(), open.end(), [&](op_id a, op_id b) { return position[a] < position[b]; });
          chosen.push_back(*last);
          open.erase(last);
          meet(chosen.back());
        }
        for (const op_id u : open) {
          met[u] = 0;
        }
        for (std::size_t d = 0; d < f_.k; ++d) {
          std::fill(after.begin(), after.end(), 0);
          const auto pass = [&](op_id s, auto there) { // to the ops before s
            for (std::uint32_t i = f_.q.first_input[direction][s]; i < f_.q.first_input[direction][s + 1]; ++i) {
              const auto [u, tensor] = f_.q.inputs[direction][i];
              for (std::size_t e = 0; e < f_.k; ++e) {
                after[u * f_.k + e] = std::max(after[u * f_.k + e], there(tensor, e));
              }
            }
          };
          pass(v, [&](std::uint32_t tensor, std::size_t e) { return f_.delay(direction, tensor, e, d); });
          for (const op_id u : chosen) {
            pass(u, [&](std::uint32_t tensor, std::size_t e) {
              amount least = whole_times::never;
              for (std::size_t f = 0; f < f_.k; ++f) {
                if (f_.may_be(u, f)) {
                  least = std::min(least, f_.delay(direction, tensor, e, f) + f_.time(u, f) + after[u * f_.k + f]);
                }
              }
              return least;
            });
          }
          for (const op_id u : chosen) {
            j.after.insert(j.after.end(), after.begin() + static_cast<std::ptrdiff_t>(u * f_.k),
                           after.begin() + static_cast<std::ptrdiff_t>((u + 1) * f_.k));
          }
        }
        for (const op_id u : chosen) {
          met[u] = 0;
          wakes(direction, u, v);
        }
        j.ops.insert(j.ops.end(), chosen.begin(), chosen.end());
      }
      j.first.push_back(static_cast<std::uint32_t>(j.ops.size()));
    }
  }

  /// Of a set of ops before v, all are on its machine, one after the other, or one is elsewhere and its result has to
  /// travel. Both take until some moment.
  void operator()(int direction, op_id v, std::size_t d) {
    if (!f_.q.machines[d].in_order) {
      return;
    }
    const auto& j = joins_[direction];
    const std::uint32_t first = j.first[v];
    const std::uint32_t count = j.first[v + 1] - first;
    const amount known = f_.bound(direction, v, d);
    const amount* const after = j.after.data() + (first * f_.k + d * count) * f_.k;
    joined_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      const op_id u = j.ops[first + i];
      amount away = whole_times::never;
      for (std::size_t e = 0; e < f_.k; ++e) {
        if (e != d && f_.may_be(u, e)) {
          away = std::min(away, f_.bound(direction, u, e) + f_.time(u, e) + after[i * f_.k + e]);
        }
      }
      if (away > known) {
        const bool here = f_.may_be(u, d);
        joined_.push_back({i, u, away, here ? f_.bound(direction, u, d) : whole_times::never, here ? f_.time(u, d) : 0,
                           here ? after[i * f_.k + d] : 0});
      }
    }
    if (joined_.empty()) {
      return;
    }
    weft::sort(joined_,
               [](const joined& a, const joined& b) { return a.head != b.head ? a.head > b.head : a.op < b.op; });
    amount best = known;
    amount best_head = 0;
    amount best_after = 0;
    amount best_away = 0;
    amount best_local = 0;
    for (const joined& x : joined_) {   // the least path behind
      for (const joined& z : joined_) { // the least time by which one that is elsewhere is there
        if (std::min(z.away, x.away) <= best) {
          continue;
        }
        amount sum = 0;
        for (const joined& y : joined_) {
          if (y.after < x.after || y.away < z.away) {
            continue;
          }
          sum += y.time;
          const amount local = y.head + sum + x.after;
          if (std::min(local, z.away) > best) {
            best = std::min(local, z.away);
            best_local = local;
            best_head = y.head;
            best_after = x.after;
            best_away = z.away;
          }
        }
      }
    }
    if (best <= known) {
      return;
    }
    for (const joined& y : joined_) {
      if (y.after < best_after || y.away < best_away || y.head < best_head) {
        continue;
      }
      if (f_.may_be(y.op, d)) {
        f_.known.because(f_.id(direction, y.op, d), best_head - (best_local - best));
      } else {
        f_.known.because(conflict_learning::negation(f_.place_of(y.op, d)));
      }
      f_.because_of_places(direction, y.op, d, [&](std::size_t e) { return best - after[y.index * f_.k + e]; });
    }
    f_.known.raise(f_.id(direction, v, d), best);
  }

private:
  /// An op before v that would have to be on its machine, too, for v to start as early as is known.
  struct joined {
    std::uint32_t index;
    op_id op;
    amount away;
    amount head;
    amount time;
    amount after;
  };
  struct joins {
    std::vector<std::uint32_t> first; // per op
    std::vector<op_id> ops;
    std::vector<amount> after; // per op, machine of the op, op before it and machine of that
  };
  static constexpr std::size_t max_joined = 8;

  device_facts& f_;
  joins joins_[2];
  buffer<joined> joined_;
};

} // namespace weft::bound::exact
