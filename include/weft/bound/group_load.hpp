// SPDX-License-Identifier: BSL-1.0
/// A lower bound from colocation groups: the load of the one device that gets a whole group.
#pragma once

#include "weft/bound/communication_path.hpp"
#include "weft/bound/detail/one_machine.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace weft::bound {

namespace detail {

/// The load of one group after the other. Keeps its buffers.
template <class Problem>
class group_bound {
public:
  constexpr group_bound(const relaxation<Problem>& r, const head_and_tail& around)
      : r_{r}, around_{around}, position_(r.problem().num_ops(), 0), index_(r.problem().num_ops(), 0) {
    std::uint32_t next = 0;
    for (const op_id v : r.problem().topological_order()) {
      position_[v] = next++;
    }
  }

  /// The greatest load of any group with several members, but at least `known`.
  constexpr double operator()(double known) {
    const auto& p = r_.problem();
    for (component_id c = 0; c < p.num_components(); ++c) {
      if (p.members(c).size() > 1) {
        known = std::max(known, load(c, known));
      }
    }
    return known;
  }

private:
  /// The least load of c on any device type, or something not above `known` once one type is found to be that good.
  constexpr double load(component_id c, double known) {
    const auto& p = r_.problem();
    members_.assign(p.members(c).begin(), p.members(c).end());
    weft::sort(members_, [&](op_id u, op_id v) { return position_[u] < position_[v]; });
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      index_[members_[i]] = i;
    }
    const auto& types = r_.choice(members_.front()).types;
    double least = infinity;
    for (std::size_t k = 0; k < types.size() && least > known; ++k) {
      const auto at = (k + last_good_) % types.size(); // what was good for one group is likely good for the next
      if (const double here = load_on(c, types[at]); here < least) {
        least = here;
        if (here <= known) {
          last_good_ = at;
        }
      }
    }
    return least;
  }

  constexpr double load_on(component_id c, std::uint32_t type) {
    const auto& p = r_.problem();
    const auto& w = p.workload();
    jobs_.clear();
    for (const op_id v : members_) {
      jobs_.push_back({around_.head[v], r_.time(v, type), around_.tail[v]});
    }
    // Members that wait for other members, all with their times on this device.
    double longest = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].head = graph::max_over_predecessors(w, members_[i], jobs_[i].head, [&](op_id u) {
        return p.component(u) == c ? jobs_[index_[u]].head + jobs_[index_[u]].time : 0;
      });
    }
    for (std::size_t i = jobs_.size(); i-- > 0;) {
      jobs_[i].tail = graph::max_over_successors(w, members_[i], jobs_[i].tail, [&](op_id u) {
        return p.component(u) == c ? jobs_[index_[u]].time + jobs_[index_[u]].tail : 0;
      });
      longest = std::max(longest, jobs_[i].head + jobs_[i].time + jobs_[i].tail);
    }
    const double slots = r_.slots(type);
    for (auto& j : jobs_) {
      j.time /= slots;
    }
    return std::max(longest, machine_(jobs_));
  }

  const relaxation<Problem>& r_;
  const head_and_tail& around_;
  std::vector<std::uint32_t> position_; // in topological order
  std::vector<std::uint32_t> index_;    // of the members of the group at hand
  std::vector<op_id> members_;
  buffer<job> jobs_;
  one_machine machine_;
  std::size_t last_good_ = 0;
};

} // namespace detail

/// The greatest load of any colocation group, on the device where that is least; seconds. 0 without groups.
///
/// Valid because on whatever device the group is, any set S of its members starts no earlier than its smallest head
/// (what must pass before that member can start), takes Σ time / slots there at least, and leaves its smallest tail to
/// follow: no plan ends before min head + Σ time / slots + min tail. Jackson's preemptive schedule maximises this over
/// all S at once (bound/detail/one_machine.hpp). Heads and tails are those of bound/communication_path.hpp, longer
/// where a member waits for another one, since both run on this device; a path through the group that is longer than
/// the load counts, too.
///
/// Complexity: O(n · device types + m) for the relaxation, then O(k log k) per group of k members, and per device type
/// for those few groups that raise the bound.
template <class Problem>
constexpr double group_load(const Problem& p) {
  const detail::relaxation<Problem> r{p};
  return r.feasible() ? detail::group_bound{r, detail::communication_paths(r)}(0) : detail::infinity;
}

} // namespace weft::bound
