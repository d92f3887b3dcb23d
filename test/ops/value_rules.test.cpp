// SPDX-License-Identifier: BSL-1.0
#include "weft/ops/value_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace workload_value_rules_test {

using namespace weft;

const std::vector<ops::known_tensor> tensors{ops::known_tensor::number(std::int64_t{1}), ops::known_tensor::of({0}),
                                        ops::known_tensor::of({1, 1}), ops::known_tensor::of({1, 0, 2}),
                                        {.dims = {1, 2}, .elements = ops::known_tensor::integers{1, 2}}};

/// What an op makes of these inputs, of which a null one is left out.
std::vector<ops::known::maybe> outputs_of(std::string_view type, const std::vector<const ops::known_tensor*>& inputs) {
  ops::call o{.type = type, .numbers = {{"axis", {0}}}, .version = 13};
  for (const auto* x : inputs) {
    o.inputs.push_back(x != nullptr ? std::optional{x->dims} : std::nullopt);
    o.values.push_back(x != nullptr && x->whole() != nullptr ? std::optional{*x->whole()} : std::nullopt);
  }
  return ops::known_outputs({.op = o, .inputs = inputs, .num_outputs = 2});
}

bool is_known(const std::vector<ops::known::maybe>& made) {
  return std::any_of(made.begin(), made.end(), [](const auto& x) { return x.has_value(); });
}

TEST_CASE("value rules: with any of its inputs left out, every op makes something or nothing is known of it") {
  std::set<std::string_view> made;
  for (const auto& row : ops::detail::value_rules::rows) {
    CAPTURE(row.type);
    for (std::size_t which = 0; which < tensors.size() * tensors.size(); ++which) {
      for (std::size_t count = 0; count < 6; ++count) {
        for (unsigned left_out = 0; left_out < 1u << count; ++left_out) {
          std::vector<const ops::known_tensor*> inputs;
          for (std::size_t i = 0; i < count; ++i) {
            const auto& x = tensors[i == 0 ? which % tensors.size() : which / tensors.size()];
            inputs.push_back((left_out >> i & 1) != 0 ? nullptr : &x);
          }
          const bool known = is_known(outputs_of(row.type, inputs));
          const bool lacks_needed = left_out % (1u << std::min<std::size_t>(row.needs, count)) != 0;
          CHECK_FALSE((known && (lacks_needed || (count < row.needs && row.needs <= 4))));
          if (known) {
            made.insert(row.type);
          }
        }
      }
    }
  }
  CHECK(std::size(ops::detail::value_rules::rows) - made.size() < 8); // of the others, inputs are of other forms
}

TEST_CASE("value rules: what ops move are elements of the inputs that they are said to move, whatever these are") {
  std::set<std::string_view> moving;
  const auto x = ops::known_tensor{.dims = {2, 3}, .elements = ops::known_tensor::integers{1, 2, 3, 4, 5, 6}};
  const auto zeros = ops::known_tensor{.dims = {2, 3}, .elements = ops::known_tensor::integers(6, 0)};
  const std::vector<ops::known_tensor> others{ops::known_tensor::of({1, 0}), ops::known_tensor::of({0}),
                                              ops::known_tensor::of({2, 2, 3}), ops::known_tensor::of({3, 2}),
                                              ops::known_tensor::of({2}), x};
  for (const auto& row : ops::detail::value_rules::rows) {
    for (std::size_t which = 0; row.moves != 0 && which < others.size() * 2; ++which) { // alone, or with another
      const auto& other = others[which / 2];
      const bool has_two = which % 2 != 0, moves_two = has_two && ops::num_moved(row.type) > 1;
      const auto made_of = [&](const ops::known_tensor& first, const ops::known_tensor& second) {
        return has_two ? outputs_of(row.type, {&first, &second}) : outputs_of(row.type, {&first});
      };
      for (std::size_t k = 0; k < x.size(); ++k) {
        auto changed = x, hole = zeros;
        std::get<0>(changed.elements)[k] += 100;
        std::get<0>(hole.elements)[k] = 1;
        const auto a = made_of(x, other), b = made_of(changed, other);
        const auto at = made_of(hole, moves_two ? zeros : other);
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < std::min(a.size(), at.size()); ++i) {
          REQUIRE(a[i].has_value() == b[i].has_value());
          for (std::size_t e = 0; a[i] && at[i] && e < a[i]->size(); ++e) {
            CAPTURE(row.type);
            CHECK(((*a[i]->whole())[e] != (*b[i]->whole())[e]) == ((*at[i]->whole())[e] != 0));
            moving.insert(row.type);
          }
        }
      }
    }
  }
  CHECK(moving.size() >= 11);
}

TEST_CASE("value rules: inputs that may be left out are, and others may not") {
  const auto one = ops::known_tensor::of({3, 4}), two = ops::known_tensor::of({5});
  CHECK(outputs_of("Concat", {&one, &two}).at(0)->dims == std::vector<std::int64_t>{3});
  CHECK(outputs_of("Concat", {&one, nullptr}).empty());
  CHECK(outputs_of("Concat", {nullptr, &two}).empty());
  CHECK(outputs_of("Concat", {}).empty());
  CHECK(outputs_of("Pack", {&one, &one}).at(0)->dims == std::vector<std::int64_t>{2, 2});
  CHECK(outputs_of("Pack", {&one, nullptr}).empty());
  CHECK(outputs_of("Max", {&one, nullptr}).empty());
  CHECK(*outputs_of("Clip", {&one, nullptr, nullptr}).at(0)->whole() == std::vector<std::int64_t>{3, 4});
  const auto least = ops::known_tensor::number(std::int64_t{4});
  CHECK(*outputs_of("Clip", {&one, &least, nullptr}).at(0)->whole() == std::vector<std::int64_t>{4, 4});
}

} // namespace workload_value_rules_test
