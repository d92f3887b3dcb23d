// SPDX-License-Identifier: BSL-1.0
/// The longest path, with the ops between two of its ops treated as a subproblem of their own.
#pragma once

#include "weft/bound/cheapest_transfer.hpp"
#include "weft/bound/communication_path.hpp"
#include "weft/bound/detail/relaxation.hpp"
#include "weft/bound/exact/conflict_search.hpp"
#include "weft/bound/exact/excerpt.hpp"
#include "weft/bound/exact/refute.hpp"
#include "weft/bound/exact/twin_devices.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/edges.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::bound::exact {

/// Cuts a longest path where so many ops lie on the ways between its ops. How much later than the first the last of a
/// piece begins is what a search refutes of the piece alone (bound/exact/refute.hpp), and from then on counts like an
/// edge of the graph.
///
/// If devices are many, the slower ones count as one that does all at once, as fast as the best of them.
/// Complexity, beside the searches: finding a longest path, and looking for pieces, O(size · (n + m)) at worst. Memory:
/// O(n + tensors), and that of the search of a piece. Precondition: each component is allowed somewhere.
template <class Problem>
class path_pieces {
public:
  explicit path_pieces(const detail::relaxation<Problem>& r)
      : r_{r}, cheapest_{cheapest_transfers(r.problem(), r.usable_devices())},
        around_{detail::communication_paths(r, cheapest_)}, part_{all_devices()}, last_at_(num_ops(), none),
        position_(num_ops(), 0), below_(num_ops(), 0), above_(num_ops(), 0) {
    for (std::uint32_t i = 0; i < num_ops(); ++i) {
      position_[order()[i]] = i;
    }
  }

  /// Cuts into pieces of up to `size` ops, and shares the budget among them, but not into shares that are too small to
  /// refute anything: rather the last pieces get none. The longest path then; seconds. `budget`: then has the moves
  /// that are left.
  double raise(std::size_t size, weft::budget& budget) {
    const stopwatch clock;
    auto pieces = cut(size, budget);
    double seconds = 0; // that were spent on as many moves
    double moves = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::uint64_t enough = 1000 * (pieces[i].size() * pieces[i].size() / 2 + 1);
      const double left = budget.seconds - clock.seconds();
      if (!(left > 0)) {
        break;
      }
      const std::size_t waiting = pieces.size() - i;
      auto mine = budget;
      mine.seconds = left;
      if (left < detail::infinity && moves > 0) {
        mine.moves = std::min(mine.moves, static_cast<std::uint64_t>(std::min(1e18, left * moves / seconds)));
      } else if (left < detail::infinity) { // how fast it goes is not known yet
        mine.seconds /= static_cast<double>(waiting);
      }
      mine.moves = std::min(budget.moves, std::max(enough, mine.moves / waiting));
      const std::uint64_t given = mine.moves;
      const stopwatch watch;
      add(std::move(pieces[i]), mine);
      seconds += watch.seconds();
      moves += static_cast<double>(given - mine.moves);
      budget.moves -= given - mine.moves;
    }
    around_.head = detail::join_bound{r_, cheapest_, true}(
      [&](op_id v, const std::vector<double>& head) { return known_start(v, head); });
    return detail::longest(r_, around_);
  }

private:
  static constexpr std::size_t max_devices = 12; ///< that count one by one

  struct distance {
    op_id from;
    double seconds; ///< from start to start
    std::uint32_t other; ///< one that ends at the same op, or `none`
  };

  std::size_t num_ops() const { return r_.problem().num_ops(); }
  auto order() const { return r_.problem().topological_order(); }
  template <class F>
  void for_each_before(op_id v, F f) const {
    graph::for_each_predecessor(r_.problem().workload(), v, [&](op_id u, const flow_edge&) { f(u); });
  }
  template <class F>
  void for_each_after(op_id v, F f) const {
    graph::for_each_successor(r_.problem().workload(), v, [&](op_id u, const flow_edge&) { f(u); });
  }

  /// No ops yet, on all devices, of which the slower ones are a crowd if there are many. Says which are twins.
  excerpt<Problem> all_devices() {
    const Problem& p = r_.problem();
    std::vector<device_id> devices = r_.usable_devices();
    if (devices.size() <= max_devices + 1) {
      twin_ = twin_devices(p, devices);
      return {p, devices, {}};
    }
    std::vector<double> speed(p.num_devices(), 0); // seconds of best devices that it does in a second, op by op
    for (const device_id d : devices) {
      for (const op_id v : ids(p.num_ops())) {
        const double time = p.allows(p.component(v), d) ? p.compute_time(v, d) : detail::infinity;
        speed[d] += time > 0 ? r_.best(v) / time : 1;
      }
    }
    weft::stable_sort(devices, [&](device_id a, device_id b) { return speed[a] > speed[b]; });
    const std::vector<device_id> crowd(devices.begin() + max_devices, devices.end());
    devices.resize(max_devices);
    twin_ = twin_devices(p, devices, r_.usable_devices());
    twin_.push_back(max_devices); // the crowd has none
    return {p, devices, crowd};
  }

  /// Ops each of which waits for the one before it, by what must pass before and after them.
  std::vector<op_id> longest_path() const {
    const auto length = [&](op_id v) { return around_.head[v] + r_.best(v) + around_.tail[v]; };
    op_id most = 0;
    for (const op_id v : ids(num_ops())) {
      most = length(v) > length(most) ? v : most;
    }
    std::vector<op_id> ops{most};
    const auto follow = [&](const std::vector<double>& rest, auto for_each_next) {
      for (op_id next = most; next != none;) {
        const op_id v = next;
        next = none;
        for_each_next(v, [&](op_id u) {
          next = next == none || r_.best(u) + rest[u] > r_.best(next) + rest[next] ? u : next;
        });
        if (next != none) {
          ops.push_back(next);
        }
      }
    };
    follow(around_.head, [&](op_id v, auto f) { for_each_before(v, f); });
    std::reverse(ops.begin(), ops.end());
    follow(around_.tail, [&](op_id v, auto f) { for_each_after(v, f); });
    return ops;
  }

  /// The ops of each piece, in a topological order, as far as there are moves to look for them: one for each op that is
  /// passed. Pieces that have been there are left out.
  std::vector<std::vector<op_id>> cut(std::size_t size, weft::budget& budget) {
    std::vector<std::vector<op_id>> pieces;
    const std::vector<op_id> path = longest_path();
    for (std::size_t i = 0; i + 1 < path.size();) {
      std::vector<op_id> piece;
      std::size_t end = i;
      begin_at(path[i]);
      while (end + 1 < path.size()) {
        if (const auto passed = position_[path[end + 1]] - passed_; budget.moves >= passed) {
          budget.moves -= passed;
        } else {
          return pieces;
        }
        auto longer = ops_until(path[end + 1], size);
        if (longer.empty()) {
          break;
        }
        piece = std::move(longer);
        ++end;
      }
      bool is_new = piece.size() > 2;
      for_each_distance_to(path[end], [&](const distance& x) { is_new = is_new && x.from != path[i]; });
      if (is_new) {
        pieces.push_back(std::move(piece));
      }
      i = std::max(end, i + 1);
    }
    return pieces;
  }
  void begin_at(op_id u) {
    ++round_;
    below_[u] = round_;
    passed_ = position_[u];
  }
  /// The ops on ways from where it began to v, both included; none if they are more than `most`.
  std::vector<op_id> ops_until(op_id v, std::size_t most) {
    while (passed_ < position_[v]) {
      const op_id x = order()[++passed_];
      for_each_before(x, [&](op_id u) { below_[x] = below_[u] == round_ ? round_ : below_[x]; });
    }
    ++search_;
    above_[v] = search_;
    std::vector<op_id> ops{v};
    for (std::size_t i = 0; i < ops.size() && ops.size() <= most; ++i) {
      for_each_before(ops[i], [&](op_id u) {
        if (below_[u] == round_ && above_[u] != search_) {
          above_[u] = search_;
          ops.push_back(u);
        }
      });
    }
    if (ops.size() > most) {
      return {};
    }
    weft::sort(ops, [&](op_id a, op_id b) { return position_[a] < position_[b]; });
    return ops;
  }

  /// Measures the way through a piece.
  void add(std::vector<op_id> ops, weft::budget& budget) {
    part_.take(ops);
    std::vector<double> head(ops.size(), 0);
    for (op_id v = 0; v < head.size(); ++v) {
      part_.for_each_before(v, [&](op_id u, std::uint32_t) { head[v] = std::max(head[v], head[u] + r_.best(ops[u])); });
      for_each_distance_to(ops[v], [&](const distance& x) {
        const auto from = std::find(ops.begin(), ops.begin() + v, x.from);
        if (*from == x.from) {
          head[v] = std::max(head[v], head[static_cast<std::size_t>(from - ops.begin())] + x.seconds);
        }
      });
    }
    const std::size_t count = std::max(part_.num_ops(), part_.num_tensors());
    if (head.back() > 0 && conflict_search::is_affordable(count, part_.devices().size())) {
      const double seconds = refute(part_, twin_, head.back(), detail::infinity, budget);
      auto& last = last_at_[ops.back()];
      distances_.push_back({ops.front(), seconds, last});
      last = static_cast<std::uint32_t>(distances_.size() - 1);
    }
  }

  template <class F>
  void for_each_distance_to(op_id v, F f) const {
    for (auto i = last_at_[v]; i != none; i = distances_[i].other) {
      f(distances_[i]);
    }
  }
  double known_start(op_id v, const std::vector<double>& head) const {
    double start = 0;
    for_each_distance_to(v, [&](const distance& x) { start = std::max(start, head[x.from] + x.seconds); });
    return start;
  }

  const detail::relaxation<Problem>& r_;
  std::vector<double> cheapest_; // per tensor
  detail::head_and_tail around_;
  std::vector<std::size_t> twin_; // of the devices of the excerpt
  excerpt<Problem> part_;
  buffer<distance> distances_;
  std::vector<std::uint32_t> last_at_;  // per op: the place of a distance that ends there
  std::vector<std::uint32_t> position_; // per op, in the topological order
  std::vector<std::uint32_t> below_;    // per op: the last round in which it was met on a way
  std::vector<std::uint32_t> above_;    // per op: the last search in which it was met
  std::uint32_t round_ = 0;
  std::uint32_t search_ = 0;
  std::uint32_t passed_ = 0; // the position up to which `below_` is of this round
};

} // namespace weft::bound::exact
