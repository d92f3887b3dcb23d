// SPDX-License-Identifier: BSL-1.0
/// Routes between some of a platform's devices, for a platform that has others besides.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/platform/interconnect.hpp"
#include "weft/platform/links.hpp"

#include <cstddef>
#include <vector>

namespace weft::solve::detail {

/// Those of some routes that are between the first `kept` of other devices, which were `origin`; the rest is empty.
struct kept_routes {
  const interconnect& all;
  const std::vector<device_id>& origin;
  std::size_t kept;

  std::size_t num_devices() const { return origin.size(); }
  std::size_t num_links() const { return all.num_links(); }
  const link& link_at(link_id l) const { return all.link_at(l); }
  template <class F>
  void visit_route(device_id from, device_id to, F&& f) const {
    if (from < kept && to < kept) {
      all.visit_route(origin[from], origin[to], f);
    }
  }
  link operator()(device_id from, device_id to) const { return along_route(*this, from, to); }
};

} // namespace weft::solve::detail
