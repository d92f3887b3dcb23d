// SPDX-License-Identifier: BSL-1.0
#include "weft/simulate/max_min_rates.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace simulate_max_min_rates_test {

using weft::simulate::max_min_rates;

TEST_CASE("max_min_rates: the textbook's example") { // Bertsekas and Gallager, figure 6.11
  max_min_rates r;
  r.clear();
  for (int l = 0; l < 3; ++l) {
    r.add_link(1);
  }
  const std::vector<std::vector<std::uint32_t>> routes{{0, 1, 2}, {0}, {0}, {2}};
  for (const auto& route : routes) {
    r.add_class(route, 1);
  }
  r.ready();
  for (std::uint32_t c = 0; c < 4; ++c) {
    r.join(c);
  }
  int changes = 0;
  r.settle([&](std::uint32_t, double) { ++changes; });
  CHECK(changes == 4);
  CHECK(r.rate(0) == doctest::Approx(1.0 / 3));
  CHECK(r.rate(1) == doctest::Approx(1.0 / 3));
  CHECK(r.rate(3) == doctest::Approx(2.0 / 3));
  r.leave(1);
  r.leave(2);
  r.settle([](std::uint32_t, double) {});
  CHECK(r.rate(0) == doctest::Approx(0.5));
  CHECK(r.rate(3) == doctest::Approx(0.5));
}

TEST_CASE("max_min_rates: small weights are not lost beside large ones") {
  max_min_rates r;
  r.clear();
  r.add_link(1);
  r.add_link(0.25);
  const std::vector<std::uint32_t> both{0, 1}, one{0};
  r.add_class(both, 1e17);
  r.add_class(one, 1);
  r.ready();
  r.join(0);
  r.join(1);
  r.settle([](std::uint32_t, double) {});
  CHECK(r.rate(0) == doctest::Approx(0.25));
  CHECK(r.rate(1) == doctest::Approx(0.75));
}

struct network {
  std::vector<double> capacity;
  std::vector<std::vector<std::uint32_t>> routes;
  std::vector<double> weights;
  std::vector<int> flows;
};

/// No link carries more than it can, and every class has a link that is full on which nobody has a higher level.
void check_fair(const network& n, const max_min_rates& r) {
  std::vector<double> used(n.capacity.size(), 0), highest(n.capacity.size(), 0);
  for (std::uint32_t c = 0; c < n.routes.size(); ++c) {
    for (const auto l : n.flows[c] > 0 ? n.routes[c] : std::vector<std::uint32_t>{}) {
      used[l] += n.flows[c] * r.rate(c);
      highest[l] = std::max(highest[l], r.rate(c) / n.weights[c]);
    }
  }
  for (std::size_t l = 0; l < used.size(); ++l) {
    REQUIRE(used[l] <= n.capacity[l] * (1 + 1e-9));
  }
  for (std::uint32_t c = 0; c < n.routes.size(); ++c) {
    if (n.flows[c] == 0) {
      REQUIRE(r.rate(c) == 0);
      continue;
    }
    REQUIRE(std::any_of(n.routes[c].begin(), n.routes[c].end(), [&](std::uint32_t l) {
      return used[l] >= n.capacity[l] * (1 - 1e-9) && r.rate(c) / n.weights[c] >= highest[l] * (1 - 1e-9);
    }));
  }
}

TEST_CASE("max_min_rates: always fair, while flows come and go") {
  weft::rng random{8};
  for (int round = 0; round < 300; ++round) {
    network n;
    const std::uint32_t links = 1 + random.below(12), classes = 1 + random.below(25);
    for (std::uint32_t l = 0; l < links; ++l) {
      n.capacity.push_back(round % 2 == 0 ? 1 + random.below(4) : random.uniform(1, 100));
    }
    for (std::uint32_t c = 0; c < classes; ++c) {
      std::vector<std::uint32_t> route;
      for (std::uint32_t l = 0; l < links; ++l) {
        route.push_back(l);
      }
      random.shuffle(route);
      route.resize(1 + random.below(std::min(links, 4u)));
      n.routes.push_back(route);
      n.weights.push_back(round % 3 == 0 ? std::exp(random.uniform(-15, 15)) : 1);
    }
    n.flows.assign(classes, 0);
    max_min_rates r;
    r.clear();
    for (const double x : n.capacity) {
      r.add_link(x);
    }
    for (std::uint32_t c = 0; c < classes; ++c) {
      r.add_class(n.routes[c], n.weights[c]);
    }
    r.ready();
    std::vector<double> told(classes, 0);
    for (int step = 0; step < 150; ++step) {
      for (auto k = 1 + random.below(3); k > 0; --k) {
        const auto c = random.below(classes);
        if (n.flows[c] > 0 && random.below(2) == 0) {
          --n.flows[c];
          r.leave(c);
        } else {
          ++n.flows[c];
          r.join(c);
        }
      }
      r.settle([&](std::uint32_t c, double rate) {
        REQUIRE(rate != r.rate(c));
        told[c] = rate;
      });
      check_fair(n, r);
      for (std::uint32_t c = 0; c < classes; ++c) {
        REQUIRE((n.flows[c] == 0 || told[c] == r.rate(c)));
      }
    }
  }
}

} // namespace simulate_max_min_rates_test
