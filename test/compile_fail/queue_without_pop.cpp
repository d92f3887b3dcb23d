// SPDX-License-Identifier: BSL-1.0
// expect: weft: the queue of this ready policy lacks
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

struct policy {
  template <class Problem>
  struct queue {
    explicit queue(const Problem&) {}
    void reset(const policy&, const weft::schedule::context<Problem>&) {}
    void push(weft::item_id, double) {}
#ifdef WEFT_COMPILE_FAIL
    void pop(weft::device_id, double) {} // returns no item
#else
    weft::item_id pop(weft::device_id, double) { return weft::schedule::nothing; }
#endif
  };
};

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, policy{})(p).makespan;
}
