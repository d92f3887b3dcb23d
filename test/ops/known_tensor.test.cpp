// SPDX-License-Identifier: BSL-1.0
#include "weft/ops/known_tensor.hpp"

#include "support/rounds.hpp"

#include "weft/core/random.hpp"
#include "weft/ops/known_numbers.hpp"
#include "weft/ops/call.hpp"
#include "weft/ops/value_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace workload_known_tensor_test {

using namespace weft;
using ops::known_tensor;
namespace known = ops::known;
using known::extents;
using known::maybe;
using integers = known_tensor::integers;
using enum known::combination;

/// A tensor as its definition says: an element for each position.
struct positions {
  extents dims = {};
  std::map<extents, double> at = {};
};

void each(const extents& dims, const std::function<void(const extents&)>& visit, extents at = {}) {
  if (at.size() == dims.size()) {
    visit(at);
    return;
  }
  for (std::int64_t i = 0; i < dims[at.size()]; ++i) {
    auto next = at;
    next.push_back(i);
    each(dims, visit, next);
  }
}

positions of(const known_tensor& x) {
  positions p{.dims = x.dims};
  std::size_t i = 0;
  const auto all = x.as_reals();
  each(x.dims, [&](const extents& at) { p.at[at] = all.at(i++); });
  REQUIRE(i == x.size());
  return p;
}

positions defined(const extents& dims, const std::function<double(const extents&)>& element) {
  positions p{.dims = dims};
  each(dims, [&](const extents& at) { p.at[at] = element(at); });
  return p;
}

void check(const maybe& made, const positions& wanted) {
  REQUIRE(made);
  CHECK(made->dims == wanted.dims);
  CHECK(of(*made).at == wanted.at);
}

std::int64_t below(rng& random, std::int64_t n) {
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
}

known_tensor random_tensor(rng& random, const extents& dims, bool real = false) {
  known_tensor x{.dims = dims};
  integers all;
  each(dims, [&](const extents&) { all.push_back(below(random, 21) - 10); });
  if (real) {
    x.is = known_tensor::format::double_precision;
    x.elements = known_tensor::reals(all.begin(), all.end());
  } else {
    x.elements = all;
  }
  return x;
}

extents random_extents(rng& random, std::int64_t most_axes = 3) {
  extents dims(static_cast<std::size_t>(below(random, most_axes + 1)));
  std::generate(dims.begin(), dims.end(), [&] { return below(random, 8) == 0 ? 0 : 1 + below(random, 4); });
  return dims;
}

TEST_CASE("known tensors: what moves elements, by the definition of each op") {
  rng random{1};
  for (int round = 0; round < test::rounds(3000); ++round) {
    auto dims = random_extents(random);
    dims.push_back(1 + below(random, 4));
    const auto x = random_tensor(random, dims, below(random, 2) == 0);
    const auto p = of(x);
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto axis = below(random, rank);
    const auto named = below(random, 2) == 0 ? axis : axis - rank; // from the front, or from the back
    const auto a = static_cast<std::size_t>(axis);

    extents order(dims.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<std::int64_t>(i);
      std::swap(order[i], order[static_cast<std::size_t>(below(random, static_cast<std::int64_t>(i) + 1))]);
    }
    extents turned;
    std::transform(order.begin(), order.end(), std::back_inserter(turned),
                   [&](std::int64_t i) { return dims[static_cast<std::size_t>(i)]; });
    check(known::transpose(x, order), defined(turned, [&](const extents& at) {
            extents from(at.size());
            for (std::size_t i = 0; i < at.size(); ++i) {
              from[static_cast<std::size_t>(order[i])] = at[i];
            }
            return p.at.at(from);
          }));

    const auto size = dims[a];
    const auto step = below(random, 2) == 0 ? 1 + below(random, 3) : -1 - below(random, 3);
    const auto start = below(random, 14) - 7, end = below(random, 14) - 7;
    extents kept; // positions, as ONNX's slices have them: Python's, but backwards they begin at the first or later
    const auto edge = [&](std::int64_t k, bool back) {
      k += k < 0 ? size : 0;
      return std::clamp<std::int64_t>(k, back ? -1 : 0, back ? size - 1 : size);
    };
    const auto first = std::max<std::int64_t>(edge(start, step < 0), 0), last = edge(end, step < 0);
    for (auto i = first; size > 0 && (step > 0 ? i < last : i > last); i += step) {
      kept.push_back(i);
    }
    auto sliced = dims;
    sliced[a] = static_cast<std::int64_t>(kept.size());
    check(known::slice(x, {start}, {end}, {named}, {step}), defined(sliced, [&](extents at) {
            at[a] = kept[static_cast<std::size_t>(at[a])];
            return p.at.at(at);
          }));

    if (size > 0) {
      auto places = random_tensor(random, random_extents(random, 2));
      std::get<integers>(places.elements) = [&] {
        integers all;
        each(places.dims, [&](const extents&) { all.push_back(below(random, 2 * size) - size); });
        return all;
      }();
      const auto q = of(places);
      extents gathered(dims.begin(), dims.begin() + axis);
      gathered.insert(gathered.end(), places.dims.begin(), places.dims.end());
      gathered.insert(gathered.end(), dims.begin() + axis + 1, dims.end());
      check(known::gather(x, places, named), defined(gathered, [&](const extents& at) {
              const auto middle = at.begin() + axis, behind = middle + static_cast<std::ptrdiff_t>(places.dims.size());
              auto k = static_cast<std::int64_t>(q.at.at(extents(middle, behind)));
              extents from(at.begin(), middle);
              from.push_back(k < 0 ? k + size : k);
              from.insert(from.end(), behind, at.end());
              return p.at.at(from);
            }));
    }

    auto other = dims;
    other[a] = below(random, 4);
    const auto y = random_tensor(random, other, x.has_reals());
    const auto r = of(y);
    auto joined = dims;
    joined[a] += other[a];
    const known_tensor* const both[] = {&x, &y};
    const auto all = known::concat(both, named);
    check(all, defined(joined, [&](extents at) {
            if (at[a] < size) {
              return p.at.at(at);
            }
            at[a] -= size;
            return r.at.at(at);
          }));
    const auto parts = known::split(*all, named, {size, other[a]});
    REQUIRE(parts.size() == 2);
    check(parts[0], p);
    check(parts[1], r);

    extents repeats(dims.size());
    std::generate(repeats.begin(), repeats.end(), [&] { return below(random, 3); });
    auto tiled = dims;
    std::transform(dims.begin(), dims.end(), repeats.begin(), tiled.begin(), std::multiplies<>{});
    check(known::tile(x, repeats), defined(tiled, [&](extents at) {
            for (std::size_t i = 0; i < at.size(); ++i) {
              at[i] %= dims[i];
            }
            return p.at.at(at);
          }));
  }
}

TEST_CASE("known tensors: arithmetic stretches tensors to each other, and reductions combine along axes") {
  rng random{2};
  for (int round = 0; round < test::rounds(3000); ++round) {
    const auto dims = random_extents(random);
    auto small = dims;
    small.erase(small.begin(), small.begin() + below(random, static_cast<std::int64_t>(small.size()) + 1));
    for (auto& d : small) {
      d = below(random, 3) == 0 ? 1 : d;
    }
    const bool real = below(random, 2) == 0;
    auto x = random_tensor(random, dims, real), y = random_tensor(random, small, real);
    const auto p = of(x), q = of(y);
    const auto of_small = [&](const extents& at) {
      extents from(at.end() - static_cast<std::ptrdiff_t>(small.size()), at.end());
      for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = small[i] == 1 ? 0 : from[i];
      }
      return q.at.at(from);
    };
    check(known::expand(y, dims), defined(dims, of_small));
    check(known::apply(add, x, y), defined(dims, [&](const extents& at) { return p.at.at(at) + of_small(at); }));
    check(known::apply(subtract, y, x), defined(dims, [&](const extents& at) { return of_small(at) - p.at.at(at); }));
    check(known::apply(multiply, x, y), defined(dims, [&](const extents& at) { return p.at.at(at) * of_small(at); }));
    check(known::apply(greatest, x, y),
          defined(dims, [&](const extents& at) { return std::max(p.at.at(at), of_small(at)); }));
    const auto less = known::apply(known::comparison::less, x, y);
    check(less, defined(dims, [&](const extents& at) { return p.at.at(at) < of_small(at) ? 1.0 : 0.0; }));
    CHECK(less->is == known_tensor::format::truth);
    check(known::where(*less, x, y),
          defined(dims, [&](const extents& at) { return std::min(p.at.at(at), of_small(at)); }));

    std::vector<bool> gone(dims.size());
    extents axes, left, ones = dims;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      gone[i] = below(random, 2) == 0 && dims[i] > 0;
      if (gone[i]) {
        const auto rank = below(random, 2) == 0 ? static_cast<std::int64_t>(dims.size()) : 0;
        axes.push_back(static_cast<std::int64_t>(i) - rank);
        ones[i] = 1;
      } else {
        left.push_back(dims[i]);
      }
    }
    const auto sum = [&](const extents& at) {
      double total = 0;
      each(dims, [&](const extents& from) {
        bool same = true;
        for (std::size_t i = 0, k = 0; i < dims.size(); ++i) {
          const auto there = at.size() == dims.size() ? at[i] : gone[i] ? 0 : at[k++];
          same = same && (gone[i] || from[i] == there);
        }
        total += same ? p.at.at(from) : 0;
      });
      return total;
    };
    check(known::reduce(add, x, axes, false), defined(left, sum));
    check(known::reduce(add, x, axes, true), defined(ones, sum));
  }
}

TEST_CASE("known tensors: whole numbers divide as ops say, and nothing is made of what is out of range") {
  const auto number = [](std::int64_t x) { return known_tensor::number(x); };
  const auto result = [&](known::combination what, std::int64_t a, std::int64_t b) -> std::optional<std::int64_t> {
    const auto made = known::apply(what, number(a), number(b));
    return made ? std::optional{made->whole()->front()} : std::nullopt;
  };
  for (std::int64_t a = -7; a <= 7; ++a) {
    for (std::int64_t b = -3; b <= 3; ++b) {
      if (b == 0) {
        CHECK(!result(divide, a, b));
        CHECK(!result(remainder, a, b));
        continue;
      }
      const double exact = static_cast<double>(a) / static_cast<double>(b);
      CHECK(result(divide, a, b) == static_cast<std::int64_t>(std::trunc(exact)));
      CHECK(result(divide_down, a, b) == static_cast<std::int64_t>(std::floor(exact)));
      CHECK(result(remainder, a, b) == a - b * static_cast<std::int64_t>(std::floor(exact)));
      CHECK(result(truncated_remainder, a, b) == a - b * static_cast<std::int64_t>(std::trunc(exact)));
    }
  }
  CHECK(result(power, 3, 4) == 81);
  CHECK(result(power, -2, 3) == -8);
  CHECK(result(power, 7, 0) == 1);
  CHECK(result(power, 2, 61) == std::int64_t{1} << 61);
  CHECK(!result(power, 2, 63));
  CHECK(!result(power, 2, -1));
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(!result(add, most, 1));
  CHECK(!result(multiply, std::int64_t{1} << 40, std::int64_t{1} << 40));
  CHECK(result(least, most, 5) == 5);
  // In single precision, as runtimes compute: 0.1 · 70 is 7 there, and 6.9999999 or 7.0000001 elsewhere.
  const auto scaled = known::apply(multiply, known_tensor::number(70.0), known_tensor::number(0.1));
  CHECK(scaled->as_reals().front() == static_cast<double>(70.0f * 0.1f));
  CHECK(!known::apply(add, number(1), known_tensor::number(1.0))); // of one format
  CHECK(known::apply(known::change::round, known_tensor::number(2.5))->as_reals().front() == 2);
  CHECK(*known::cast(known_tensor::number(-2.7), known_tensor::format::integer)->whole() == integers{-2});
  CHECK(!known::cast(known_tensor::number(1e30), known_tensor::format::integer));
  CHECK(!known::filled({100, 100}, number(1))); // too many to be kept
  CHECK(!known::filled({std::int64_t{1} << 40, std::int64_t{1} << 40, 0, -1}, number(1)));
  CHECK(!known::filled({std::int64_t{1} << 40, 0}, number(1)));
  CHECK(known::filled({40, 0}, number(1))->size() == 0);
}

TEST_CASE("known tensors: positions, ranges, and what is put in their places") {
  const auto list = [](integers x) { return known_tensor::of(std::move(x)); };
  const auto number = [](std::int64_t x) { return known_tensor::number(x); };
  CHECK(*known::range(number(2), number(11), number(3))->whole() == integers{2, 5, 8});
  CHECK(*known::range(number(3), number(-2), number(-2))->whole() == integers{3, 1, -1});
  CHECK(known::range(number(3), number(3), number(1))->size() == 0);
  CHECK(!known::range(number(0), number(1), number(0)));
  CHECK(known::range(known_tensor::number(0.0), known_tensor::number(1.0), known_tensor::number(0.3))->size() == 4);
  const auto mask = known::reshape(list({0, 2, 0, 1, 0, 3}), {2, 3});
  CHECK(*known::non_zero(*mask)->whole() == integers{0, 1, 1, 1, 0, 2});
  CHECK(known::non_zero(*mask)->dims == extents{2, 3});
  CHECK(*known::running_sum(*mask, 1)->whole() == integers{0, 2, 2, 1, 1, 4});
  CHECK(*known::running_sum(*mask, -2)->whole() == integers{0, 2, 0, 1, 2, 3});
  const auto zeros = known::filled({2, 3}, number(0));
  CHECK(*known::scatter(*zeros, *known::reshape(list({1, -2, 0, 0}), {2, 2}), list({7, 8}))->whole() ==
        integers{8, 0, 0, 0, 7, 0});
  const auto row = *known::reshape(list({1, 2, 3}), {1, 3});
  CHECK(*known::scatter(*zeros, *known::reshape(list({1}), {1, 1}), row)->whole() == integers{0, 0, 0, 1, 2, 3});
  CHECK(!known::scatter(*zeros, *known::reshape(list({2}), {1, 1}), row));
  CHECK(!known::reshape(list({1, 2, 3}), {2, -1}));
  CHECK(known::reshape(list({1, 2, 3, 4}), {2, -1})->dims == extents{2, 2});
  CHECK(!known::gather(list({1, 2}), list({2}), 0));
}

TEST_CASE("value rules: ops of a graph that makes the pads of a tensor") {
  // As torch.onnx writes F.pad(x, (1, 2)) for x of two axes: zeros for the other axis, pairs turned around.
  const auto run = [&](const char* type, std::vector<const known_tensor*> inputs,
                       std::map<std::string, integers, std::less<>> numbers = {}) {
    const ops::call call{.type = type, .numbers = std::move(numbers), .version = 17};
    const auto made = ops::known_outputs({.op = call, .inputs = inputs});
    REQUIRE(!made.empty());
    REQUIRE(made[0]);
    return *made[0];
  };
  const auto list = [](integers x) { return known_tensor::of(std::move(x)); };
  const auto pads = list({1, 2}), zeros_dims = list({2}), zero = known_tensor::number(std::int64_t{0});
  const auto zeros = run("ConstantOfShape", {&zeros_dims, &zero});
  const auto all = run("Concat", {&pads, &zeros}, {{"axis", {0}}});
  const auto two = list({-1, 2});
  const auto pairs = run("Reshape", {&all, &two});
  const auto minus = list({-1}), least = list({std::numeric_limits<std::int64_t>::min()}), axis = list({0});
  const auto turned = run("Slice", {&pairs, &minus, &least, &axis, &minus});
  const auto columns = run("Transpose", {&turned}, {{"perm", {1, 0}}});
  const auto flat = list({-1});
  CHECK(*run("Reshape", {&columns, &flat}).whole() == integers{0, 1, 0, 2});
  const auto six = list({0, 1, 2, 3, 4, 5});
  CHECK(run("Pack", {&pads, &two}, {{"axis", {-1}}}) == *known::reshape(list({1, -1, 2, 2}), {2, 2}));
  CHECK(run("Unpack", {&pairs}, {{"axis", {1}}}) == list({1, 0}));
  CHECK(*run("FloorDiv", {&minus, &two}).whole() == integers{1, -1});
  CHECK(*run("BroadcastGradientArgs", {&two, &flat}).whole() == integers{});
  const auto cut = [&](integers begin, integers end, integers step, integers masks) {
    const auto b = list(std::move(begin)), e = list(std::move(end)), s = list(std::move(step));
    return run("StridedSlice", {&six, &b, &e, &s},
               {{"begin_mask", {masks[0]}}, {"end_mask", {masks[1]}}, {"shrink_axis_mask", {masks[2]}},
                {"new_axis_mask", {masks[3]}}, {"ellipsis_mask", {masks[4]}}});
  };
  CHECK(cut({1}, {5}, {2}, {0, 0, 0, 0, 0}) == list({1, 3}));
  CHECK(cut({0}, {0}, {-2}, {1, 1, 0, 0, 0}) == list({5, 3, 1}));
  CHECK(cut({-1}, {0}, {1}, {0, 0, 1, 0, 0}) == known_tensor::number(std::int64_t{5}));
  CHECK(cut({0, 0, 4}, {0, 0, 9}, {1, 1, 1}, {0, 0, 0, 1, 2}).dims == extents{1, 2});
  const ops::call shape{.type = "Shape", .inputs = {extents{3, 4, 5}}, .numbers = {{"start", {-2}}}};
  CHECK(*ops::known_outputs({.op = shape, .inputs = {}})[0]->whole() == integers{4, 5});
  CHECK(ops::value_rule_of("Shape") == ops::value_rule::of_shapes);
  CHECK(ops::value_rule_of("Conv") == ops::value_rule::unknown);
  for (std::size_t i = 1; i < std::size(ops::detail::value_rules::rows); ++i) { // as their search needs them
    CHECK(ops::detail::value_rules::rows[i - 1].type < ops::detail::value_rules::rows[i].type);
  }
}

} // namespace workload_known_tensor_test
