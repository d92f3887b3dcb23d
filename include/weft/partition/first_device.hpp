// SPDX-License-Identifier: BSL-1.0
/// Everything on the first accelerator, as frameworks do unless told otherwise.
#pragma once

#include "weft/partition/concepts.hpp"
#include "weft/plan/plan.hpp"

#include <vector>

namespace weft::partition {

/// The devices that are no CPUs, ascending; all devices if there are none.
template <class Problem>
constexpr std::vector<device_id> accelerators(const Problem& p) {
  std::vector<device_id> found;
  for (const device_id d : ids(p.num_devices())) {
    if (hardware_kind(p.platform(), d) != device_kind::cpu) {
      found.push_back(d);
    }
  }
  if (found.empty()) {
    found.assign(ids(p.num_devices()).begin(), ids(p.num_devices()).end());
  }
  return found;
}

/// Each component on the first accelerator that is of an allowed kind, else on the first device that is. A baseline: it
/// respects kinds and groups, and does not look at memory. Complexity: O(n + components · devices).
struct first_device {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p) const {
    return place(p, accelerators(p), [](component_id) { return 0; });
  }

  /// Each component c on the preferred device of number `first(c)`, else on the next one that is of an allowed kind,
  /// wrapping around, else on the first device that is.
  template <class Problem, class First>
  static constexpr outcome<placement> place(const Problem& p, const std::vector<device_id>& preferred,
                                            const First& first) {
    placement where(p.num_ops(), none);
    for (component_id c = 0; c < p.num_components(); ++c) {
      const device_id d = choose(p, c, preferred, static_cast<std::size_t>(first(c)));
      if (d == none) {
        return p.why_unplaced(c, std::vector<byte_count>(p.num_devices(), 0));
      }
      for (const op_id v : p.members(c)) {
        where[v] = d;
      }
    }
    return where;
  }

private:
  /// The first device of a kind that c allows: of the preferred ones, starting with the one of number `first` and
  /// wrapping around, else of all; `none` if there is none.
  template <class Problem>
  static constexpr device_id choose(const Problem& p, component_id c, const std::vector<device_id>& preferred,
                                    std::size_t first) {
    for (std::size_t i = 0; i < preferred.size(); ++i) {
      const device_id d = preferred[(first + i) % preferred.size()];
      if (p.kinds(c).contains(p.platform().kind(d))) {
        return d;
      }
    }
    for (const device_id d : ids(p.num_devices())) {
      if (p.kinds(c).contains(p.platform().kind(d))) {
        return d;
      }
    }
    return none;
  }
};

} // namespace weft::partition
