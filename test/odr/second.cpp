// SPDX-License-Identifier: BSL-1.0
// Two translation units with the whole library link, and a value made in one is understood in the other.
#include "weft/all.hpp"
#include "weft/networks.hpp"
#include "weft/shard.hpp"
#include "weft/all.hpp" // a second time: every header guards itself

weft::workload first_workload();

int main() {
  const weft::workload w = first_workload();
  const weft::platform<> p{{{}, {}}, weft::link_matrix{2}};
  const weft::problem problem{w, p};
  return problem.num_edges() == 1 && problem.topological_order().back() == 1 ? 0 : 1;
}
