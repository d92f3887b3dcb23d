// SPDX-License-Identifier: BSL-1.0
#include "weft/validate/validate.hpp"

#include "weft/graph/csr.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <doctest/doctest.h>

#include <array>

namespace validate_validate_test {

/// Two ops in a row on two devices: the whole validator at compile time.
constexpr std::size_t violations_of(double start_of_second) {
  constexpr std::array arcs{weft::graph::arc{0, 1}};
  constexpr std::array work{2.0, 3.0};
  constexpr std::array<weft::byte_count, 2> bytes{4, 0};
  const weft::csr_graph g{2, arcs};
  const weft::annotated_graph w{g, {.work = work, .bytes = bytes}};
  const weft::platform<weft::uniform_links> two{{{}, {}}, {{.latency = 0, .bandwidth = 4}}, 1};
  const weft::problem p{w, two};
  const weft::plan decided{{0, 1}, {weft::step::run(0), weft::step::run(1)}};
  const weft::trace run{{{0, 0, 2}, {1, start_of_second, start_of_second + 3}},
                        {{0, 0, 1, 2, 3, 3, 4}},
                        start_of_second + 3};
  return validate(p, decided).size() + validate(p, decided.placement, run, {.check_memory = true}).size();
}

static_assert(violations_of(4) == 0);
static_assert(violations_of(3.5) == 1);

TEST_CASE("validate: gives the same in a run as in a constant expression") {
  CHECK(violations_of(4) == 0);
  CHECK(violations_of(3.5) == 1);
}

} // namespace validate_validate_test
