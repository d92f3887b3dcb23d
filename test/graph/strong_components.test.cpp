// SPDX-License-Identifier: BSL-1.0
#include "weft/core/random.hpp"
#include "weft/graph/strong_components.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace strong_components_test {

using lists = std::vector<std::vector<std::uint32_t>>;
using weft::graph::strong_components;

TEST_CASE("strong components: in a topological order") {
  CHECK(strong_components(lists{}).empty());
  CHECK(strong_components(lists{{}, {0}}) == std::vector<std::uint32_t>{1, 0});
  CHECK(strong_components(lists{{1}, {2}, {0, 3}, {}}) == std::vector<std::uint32_t>{0, 0, 0, 1});
  CHECK(strong_components(lists{{0}}) == std::vector<std::uint32_t>{0}); // an edge to itself
  static_assert(strong_components(lists{{1}, {0}}) == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE("strong components: of random graphs, those who reach each other") {
  weft::rng random{3};
  for (int i = 0; i < 2000; ++i) {
    const auto n = 1 + random.below(9);
    lists after(n);
    std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
    for (std::uint32_t v = 0; v < n; ++v) {
      reach[v][v] = true;
      for (std::uint32_t s = 0; s < n; ++s) {
        if (random.below(5) == 0) {
          after[v].push_back(s);
          reach[v][s] = true;
        }
      }
    }
    for (std::uint32_t k = 0; k < n; ++k) {
      for (std::uint32_t a = 0; a < n; ++a) {
        for (std::uint32_t b = 0; b < n; ++b) {
          reach[a][b] = reach[a][b] || (reach[a][k] && reach[k][b]);
        }
      }
    }
    const auto component = strong_components(after);
    REQUIRE(component.size() == n);
    for (std::uint32_t a = 0; a < n; ++a) {
      CHECK(std::ranges::find(component, component[a] == 0 ? 0u : component[a] - 1) != component.end()); // no gaps
      for (std::uint32_t b = 0; b < n; ++b) {
        CHECK((component[a] == component[b]) == (reach[a][b] && reach[b][a]));
        CHECK((!reach[a][b] || component[a] <= component[b]));
      }
    }
  }
}

TEST_CASE("strong components: deep graphs need no stack") {
  lists chain(300'000);
  for (std::uint32_t v = 0; v + 1 < chain.size(); ++v) {
    chain[v].push_back(v + 1);
  }
  CHECK(strong_components(chain).back() == chain.size() - 1);
  chain.back().push_back(0);
  CHECK(strong_components(chain).back() == 0);
}

} // namespace strong_components_test
