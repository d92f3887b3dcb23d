// SPDX-License-Identifier: BSL-1.0
// expect: weft: this link model, which has a visit_route, lacks link_at\(link_id\) const, a weft::link
#include "weft/platform/platform.hpp"

struct ring {
  std::size_t num_devices() const { return 4; }
  std::size_t num_links() const { return 4; }
#ifndef WEFT_COMPILE_FAIL
  weft::link link_at(weft::link_id) const { return {1e-6, 1e9}; }
#endif
  template <class F>
  void visit_route(weft::device_id a, weft::device_id b, F&& f) const {
    for (; a != b; a = (a + 1) % 4) {
      f(a);
    }
  }
  weft::link operator()(weft::device_id, weft::device_id) const { return {1e-6, 1e9}; }
};

auto connect(const std::vector<weft::device>& devices) {
  return weft::platform<ring>{devices, ring{}}.num_links();
}
