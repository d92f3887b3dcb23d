// SPDX-License-Identifier: BSL-1.0
#include "weft/shard/variant_problem.hpp"

#include "support/variants.hpp"
#include "weft/shard/archetype.hpp"
#include "weft/shard/variant_model.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace shard_variant_problem_test {

using namespace weft;
using shard::never;
using numbers = std::vector<std::int64_t>;

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("variant_problem: what is added is there, and equal matrices are kept once") {
  shard::variant_problem p;
  CHECK(p.limit() == shard::variant_problem::no_limit);
  CHECK(p.add_op(numbers{1, never + 5}, numbers{10, 20}, {3, 7}) == 0);
  CHECK(p.add_op(numbers{4}, numbers{0}) == 1);
  CHECK(p.add_op(numbers{6}, numbers{0}) == 2);
  CHECK(p.add_edge(0, 1, numbers{2, 3}) == 0);
  CHECK(p.add_edge(2, 0, numbers{2, 3}) == 1);
  CHECK(p.add_edge(1, 1, numbers{7}) == 2);
  p.set_limit(15);
  CHECK(p.num_ops() == 3);
  CHECK(p.num_variants() == 4);
  CHECK(p.costs(0)[1] == never);
  CHECK(p.bytes(0)[1] == 20);
  CHECK(p.live(0) == shard::live_range{3, 7});
  CHECK(p.num_edges() == 3);
  CHECK(p.num_matrices() == 2);
  CHECK(p.num_matrix_entries() == 3);
  CHECK(p.edge(0).matrix == p.edge(1).matrix);
  CHECK(p.edge_costs(1)[1] == 3);
  CHECK(p.limit() == 15);
}

TEST_CASE("variant_problem: bad data is refused in one line, and nothing of it is kept") {
  shard::variant_problem p;
  p.add_op(numbers{1, 2}, numbers{3, 4});
  p.add_op(numbers{1}, numbers{3});
  const std::vector<std::string> lines{
    refusal([&] { p.add_op(numbers{}, numbers{}); }),
    refusal([&] { p.add_op(numbers{1, 2}, numbers{1}); }),
    refusal([&] { p.add_op(numbers{1}, numbers{1}, {5, 4}); }),
    refusal([&] { p.add_op(numbers{-1}, numbers{1}); }),
    refusal([&] { p.add_op(numbers{1}, numbers{-1}); }),
    refusal([&] { p.add_op(numbers{1}, numbers{std::int64_t{1} << 62}); }),
    refusal([&] { p.add_edge(0, 2, numbers{1}); }),
    refusal([&] { p.add_edge(0, 1, numbers{1, 2, 3}); }),
    refusal([&] { p.add_edge(0, 1, numbers{1, -2}); }),
    refusal([&] { p.set_limit(-1); }),
  };
  CHECK(lines[0] == "op 2: it has no variants; give at least one");
  CHECK(lines[1] == "op 2: it has 2 costs but 1 numbers of bytes; give one of each per variant");
  CHECK(lines[2] == "op 2: its live range ends at 4, before it begins at 5");
  CHECK(lines[3] == "op 2: variant 0 has a cost of -1; they must not be negative");
  CHECK(lines[4] == "op 2: variant 0 has bytes of -1; they must not be negative");
  CHECK(lines[5] == "op 2: the bytes of the largest variants of the ops add up to more than 2^62");
  CHECK(lines[6] == "edge 0: there is no op 2, only the ops 0 to 1");
  CHECK(lines[7] == "edge 0: has 3 costs; ops 0 and 1 have 2 and 1 variants, so 2 are needed");
  CHECK(lines[8] == "edge 0: has a cost of -2; costs must not be negative");
  CHECK(lines[9] == "the limit: is -1; it must not be negative");
  for (const auto& line : lines) {
    CHECK(line.find('\n') == std::string::npos);
  }
  CHECK(p.num_ops() == 2);
  CHECK(p.num_variants() == 3);
  CHECK(p.num_edges() == 0);
}

TEST_CASE("value_of: as a judge that tries every moment says") {
  rng random{3};
  for (int repeat = 0; repeat < 300; ++repeat) {
    const auto plain = weft_test::draw_variants(random, 6, 3);
    const auto p = shard::lower(plain);
    std::vector<std::uint32_t> x;
    for (const op_id v : ids(p.num_ops())) {
      x.push_back(random.below(p.num_variants(v)));
    }
    const auto value = shard::value_of(p, x);
    const auto judged = weft_test::cost_of(plain, x);
    REQUIRE(value.feasible(p.limit()) == judged.has_value());
    REQUIRE((!judged || value.cost == *judged));
  }
  const auto p = shard::lower(weft_test::draw_band(random, 3, 2, 100));
  CHECK(refusal([&] { shard::value_of(p, std::vector<std::uint32_t>{0, 0}); }) ==
        "the choice: has 2 variants for 3 ops");
  CHECK(refusal([&] { shard::value_of(p, std::vector<std::uint32_t>{0, 2, 0}); }) ==
        "the choice: op 1 has no variant 2");
}

struct lacks_limit : weft_test::plain_variants {
  void limit() const {}
};
struct edges_of_lists : weft_test::plain_variants {
  std::vector<op_id> ends(std::uint32_t) const { return {}; }
};

TEST_CASE("variant_model: holds for the archetype and plain lists, not where a part is missing") {
  static_assert(shard::variant_model<shard::variant_model_archetype>);
  static_assert(shard::variant_model<weft_test::plain_variants>);
  static_assert(!shard::variant_model<lacks_limit>);
  static_assert(!shard::variant_model<edges_of_lists>);
  static_assert(!shard::variant_model<int>);
  CHECK(shard::lower(shard::variant_model_archetype{}).num_ops() == 0);
}

TEST_CASE("shard::variant_problem: an op like another, given by the problem's own numbers") {
  shard::variant_problem p;
  p.add_op(std::vector<std::int64_t>{1, 2, shard::never + 5}, std::vector<std::int64_t>{3, 4, 5}, {0, 2});
  for (op_id v = 0; v < 50; ++v) {
    p.add_op(p.costs(v), p.bytes(v), p.live(v));
  }
  for (op_id v = 0; v < 51; ++v) {
    CHECK(p.costs(v)[1] == 2);
    CHECK(p.costs(v)[2] == shard::never);
    CHECK(p.bytes(v)[2] == 5);
  }
}

} // namespace shard_variant_problem_test
