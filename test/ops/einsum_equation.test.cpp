// SPDX-License-Identifier: BSL-1.0
#include "weft/ops/einsum_equation.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace workload_einsum_equation_test {

using dims = std::vector<std::int64_t>;

std::optional<dims> result(std::string_view text, const std::vector<dims>& operands) {
  weft::ops::einsum_equation e{text};
  REQUIRE(e.num_operands() == operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    REQUIRE(e.add(i, operands[i]));
  }
  return e.result();
}

TEST_CASE("einsum: the extents of the result") {
  CHECK(result("bij, bjk -> bik", {{2, 3, 4}, {2, 4, 5}}) == dims{2, 3, 5});
  CHECK(result("...ij,...jk->...ik", {{7, 1, 3, 4}, {2, 4, 5}}) == dims{7, 2, 3, 5});
  CHECK(result("ji,jk", {{3, 4}, {3, 5}}) == dims{4, 5}); // what is used once, in order
  CHECK(result("b...a", {{2, 9, 3}}) == dims{9, 3, 2});
  CHECK(result("ii->i", {{3, 3}}) == dims{3});
  CHECK(result("->", {{}}) == dims{});
  CHECK_FALSE(result("i->j", {{3}}));
}

TEST_CASE("einsum: what operands cannot be is not learned") {
  weft::ops::einsum_equation e{"ij,...k->i"};
  CHECK_FALSE(e.add(0, {2}));
  CHECK_FALSE(e.add(0, {2, 3, 4}));
  CHECK_FALSE(e.add(1, {}));
  CHECK_FALSE(e.add(2, {2}));
  CHECK(e.combinations() == 1);
  CHECK(e.add(1, {4}));
  CHECK(e.add(0, {2, 3}));
  CHECK(e.combinations() == 2 * 3 * 4);
}

TEST_CASE("einsum: sums over indices that the result lacks") {
  CHECK(weft::ops::einsum_equation{"ij->i"}.sums());
  CHECK(weft::ops::einsum_equation{"...i->i"}.sums());
  CHECK(weft::ops::einsum_equation{"ii"}.sums());
  CHECK_FALSE(weft::ops::einsum_equation{"ij->ji"}.sums());
  CHECK_FALSE(weft::ops::einsum_equation{"ba"}.sums());
  CHECK_FALSE(weft::ops::einsum_equation{"ii->i"}.sums());
}

} // namespace workload_einsum_equation_test
