// SPDX-License-Identifier: BSL-1.0
// Heuristics of your own in the tables of compare, in a project of its own.
// [own_heuristic]
#include "earliest_end.hpp"

#include <weft/tool/compare.hpp>

// Each component (a colocation group, or an op without one) goes to the device that would finish it first.
struct least_loaded {
  weft::outcome<weft::placement> operator()(const auto& p) const {
    weft::partition::assignment a{p};
    for (const weft::component_id c : weft::ids(p.num_components())) {
      const auto done = [&](weft::device_id d) { return a.load(d) + p.component_time(c, d); };
      const weft::device_id d = a.best_fit(c, done);
      if (d == weft::none) {
        return a.why_unplaced(c);
      }
      a.place(c, d);
    }
    return std::move(a).take();
  }
};

int main(int argc, char** argv) {
  return weft::tool::compare(argc, argv, [](auto& all) {
    all.add_partitioner("least_loaded", least_loaded{});
    all.add_partitioner("earliest_end", earliest_end{}); // see below
  });
}
// [own_heuristic]
