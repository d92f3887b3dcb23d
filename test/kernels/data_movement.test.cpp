// SPDX-License-Identifier: BSL-1.0
#include "kernels/data_movement.hpp"

#include "kernels/slice.hpp"

#include "trial.hpp"

namespace kernels_data_movement_test {

using namespace test;

numbers counting(std::size_t n) {
  return table(n, [](auto i) { return i; });
}

TEST_CASE("data movement: concatenation along any axis, and slices that take its gradient apart") {
  for (const std::size_t axis : {0u, 1u, 2u}) {
    for (const unsigned threads : {1u, 2u}) {
      trial t;
      extents first{4, 3, 5}, second{4, 3, 5}, third{4, 3, 5};
      second[axis] = 2;
      third[axis] = 7;
      const std::vector<tensor> parts{t.feed(first), t.feed(second), t.feed(third)};
      const auto whole = weft::nn::concat(parts, axis);
      const auto gradients = t.gradients(whole, parts);
      t.run(gradients, threads);
      const auto joined = t(whole), cut = t(t.input("Slice", 0));
      std::size_t offset = 0;
      for (std::size_t p = 0; p < 3; ++p) {
        const auto& dims = parts[p].dims();
        const auto place = [&](std::size_t i) { // of the part's element in the whole
          const std::size_t index[] = {i / dims[2] / dims[1] + (axis == 0 ? offset : 0),
                                       i / dims[2] % dims[1] + (axis == 1 ? offset : 0),
                                       i % dims[2] + (axis == 2 ? offset : 0)};
          return (index[0] * whole.dims()[1] + index[1]) * whole.dims()[2] + index[2];
        };
        const auto n = parts[p].elements();
        CHECK(t(parts[p]) == table(n, [&](auto i) { return joined[place(i)]; }));
        CHECK(t(gradients[p]) == table(n, [&](auto i) { return cut[place(i)]; }));
        offset += dims[axis];
      }
    }
  }
}

TEST_CASE("data movement: only the parts that need a gradient have slices") {
  trial t;
  const auto fed = t.feed({2, 3}), weights = t.net.make_variable("w", {2, 3});
  const auto whole = weft::nn::concat({fed, weights}, 1);
  const auto gradient = t.gradients(whole, {weights})[0];
  t.run(gradient);
  const auto cut = t(t.input("Slice", 0));
  CHECK(t(gradient) == numbers{cut[3], cut[4], cut[5], cut[9], cut[10], cut[11]});
}

TEST_CASE("data movement: a slice outside of a gradient is refused") {
  trial t;
  const auto part = weft::nn::detail::data_op("Slice", {t.feed({4, 6})}, {4, 2});
  CHECK_THROWS_AS(t.run(part), kernels::unsupported_op);
}

TEST_CASE("data movement: split, stack and unstack") {
  for (const unsigned threads : {1u, 2u}) {
    trial t;
    const auto x = t.feed({2, 6}, counting(12));
    const auto parts = weft::nn::split(x, 3, 1);
    const auto stacked = weft::nn::stack(parts, 1);
    const auto slices = weft::nn::unstack(stacked, 1);
    t.run({slices[0]}, threads);
    CHECK(t(parts[0]) == numbers{0, 1, 6, 7});
    CHECK(t(parts[2]) == numbers{4, 5, 10, 11});
    CHECK(stacked.dims() == extents{2, 3, 2});
    CHECK(t(stacked) == counting(12));
    CHECK(t(slices[1]) == numbers{2, 3, 8, 9});
  }
}

TEST_CASE("data movement: transpose, also of equal extents") {
  trial t;
  const auto x = t.feed({2, 2, 3}, counting(12)), y = t.feed({2, 3}, counting(6));
  const auto swapped = weft::nn::transpose(x, {1, 0, 2}), flipped = weft::nn::transpose(y, {1, 0});
  t.run({swapped, flipped});
  CHECK(t(swapped) == numbers{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11});
  CHECK(t(flipped) == numbers{0, 3, 1, 4, 2, 5});
}

TEST_CASE("data movement: gathered rows, and their gradient") {
  for (const unsigned threads : {1u, 2u}) {
    trial t;
    const auto x = t.feed({4, 2}, counting(8)), indices = t.feed({3}, {3, 0, 3});
    const auto rows = weft::nn::gather(x, indices);
    const auto dx = t.gradients(rows, {x})[0];
    t.run(dx, threads);
    CHECK(t(rows) == numbers{6, 7, 0, 1, 6, 7});
    const auto g = t(t.input("UnsortedSegmentSum", 0));
    CHECK(t(dx) == numbers{g[2], g[3], 0, 0, 0, 0, g[0] + g[4], g[1] + g[5]});
  }
}

TEST_CASE("data movement: another shape is the same memory") {
  trial t;
  const auto x = t.feed({2, 6}, counting(12));
  const auto y = weft::nn::reshape(x, {3, 4});
  t.run(y);
  CHECK(t(y) == counting(12));
  CHECK(t.step().values(y).data() == t.step().values(x).data());
}

} // namespace kernels_data_movement_test
