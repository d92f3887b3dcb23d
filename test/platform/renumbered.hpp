// SPDX-License-Identifier: BSL-1.0
/// The same machine with other numbers, for tests of what should not depend on them.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/random.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace weft_test {

/// The links of `base` between devices that were called `old[d]` there.
struct renumbered_links {
  const weft::link_matrix* base;
  std::vector<weft::device_id> old;

  std::size_t num_devices() const { return old.size(); }
  std::size_t num_links() const { return base->num_links(); }
  weft::link link_at(weft::link_id l) const { return base->link_at(l); }
  template <class F>
  void visit_route(weft::device_id from, weft::device_id to, F&& f) const {
    base->visit_route(old[from], old[to], f);
  }
  weft::link operator()(weft::device_id from, weft::device_id to) const { return (*base)(old[from], old[to]); }
};

inline weft::platform<> renumbered(const weft::platform<>& p, const std::vector<weft::device_id>& old) {
  return {weft::chosen_devices(p.devices(), old),
          weft::link_matrix{p.num_devices(), renumbered_links{&p.links(), old}}, p.send_work()};
}

/// The numbers 0 … n − 1 in another order.
inline std::vector<weft::device_id> shuffled(std::size_t n, weft::rng& random) {
  std::vector<weft::device_id> all(n);
  std::iota(all.begin(), all.end(), weft::device_id{0});
  random.shuffle(all);
  return all;
}

} // namespace weft_test
