// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/axis_part.hpp"
#include "weft/parallel/split_model.hpp"

#include "parallel/built_net.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace axis_part_test {

using namespace weft;
using parallel::axis_part;
using parallel::part_of_axis;

TEST_CASE("axis_part: parts make up the whole, also where they overlap with others") {
  for (std::uint64_t extent = 1; extent < 40; ++extent) {
    for (std::uint32_t ranks = 1; ranks < 10; ++ranks) {
      const auto part = part_of_axis(extent, ranks);
      CHECK(std::gcd(part.numerator, part.denominator) == 1);
      const byte_count bytes = 12 * extent;
      byte_count sum = 0;
      double share = 0;
      for (std::uint32_t r = 0; r < ranks; ++r) {
        CHECK(part.of(extent, r) <= (extent + ranks - 1) / ranks);
        CHECK(part.of(bytes, r) == 12 * part.of(extent, r));
        sum += part.of(bytes, r);
        share += part.share(r);
        byte_count both = 0;
        for (std::uint32_t to = 0; to < ranks; ++to) {
          both += parallel::overlap(part, r, part_of_axis(2 * extent, ranks), to, bytes);
        }
        CHECK(both >= part.of(bytes, r));
        CHECK(both <= part.of(bytes, r) + ranks); // each rounded up
      }
      CHECK(sum == bytes);
      CHECK(share == doctest::Approx(1));
      const bool some_idle = part.of(extent, ranks - 1) == 0;
      CHECK((parallel::excess_of_parts(extent, ranks) == std::numeric_limits<double>::infinity()) == some_idle);
    }
  }
  CHECK(part_of_axis(12, 4) == axis_part{1, 4});
  CHECK(part_of_axis(32, 3) == axis_part{11, 32});
  CHECK(part_of_axis(32, 3).of(4096) == 11 * 128);
  CHECK(part_of_axis(32, 3).of(4096, 2) == 10 * 128);
  CHECK(axis_part{2, 3}.of(std::uint64_t{1} << 62) == (std::uint64_t{1} << 63) / 3 + 1); // without overflow
}

TEST_CASE("find_units: columns are in units of heads, and vocabularies are known") {
  const test::built_net n{"gpt2_small@1x16:inference"};
  const auto m = n.model();
  const auto& w = n.built.graph;
  int products = 0, tables = 0;
  for (const op_id v : ids(w.num_ops())) {
    const auto& a = m.axes[v];
    REQUIRE(a.units.size() == a.extents.size());
    for (std::uint32_t k = 0; k < a.extents.size(); ++k) {
      CHECK((a.extents[k] == 0 || a.extents[k] % a.units[k] == 0));
      CHECK((!a.padded[k] || a.extents[k] == 50257 || a.extents[k] == 1024)); // words and positions
    }
    if (w.name(v) == "layer_0/attention/output/MatMul") {
      products += a.units[2] == 12 || a.units[1] == 12;
      CHECK(a.may_be_split(0, 2));
    }
    if (w.name(v) == "embeddings/token") {
      ++tables;
      CHECK(a.padded[0]);
      CHECK(!a.padded[1]);
      CHECK(a.may_be_split(0, 4));
      CHECK(a.part(0, 4) == axis_part{12565, 50257});
      CHECK(a.part(1, 5) == axis_part{77, 384}); // of 12 heads 3 each would leave one rank without any
    }
  }
  CHECK(products == 1);
  CHECK(tables == 1);
}

} // namespace axis_part_test
