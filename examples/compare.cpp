// SPDX-License-Identifier: BSL-1.0
// The tool compare: partitioning and scheduling strategies on workloads and platforms. own_heuristic/ has one with a
// strategy more.
#include "weft/tool/compare.hpp"

int main(int argc, char** argv) {
  return weft::tool::compare(argc, argv);
}
