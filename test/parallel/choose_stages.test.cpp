// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/choose_stages.hpp"

#include "weft/core/random.hpp"

#include "parallel/staged.hpp"
#include "support/rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace parallel_choose_stages_test {

using namespace weft;
using namespace weft::parallel;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The least time of all plans: layers get stages, stages get degrees, and then layers get variants.
class every_plan {
public:
  explicit every_plan(const stage_problem& p) : p_{&p}, stage_of_(p.layers.size(), 0), variant_(p.layers.size(), 0) {
    assign(0);
  }
  double best() const { return best_; }

private:
  void assign(std::size_t v) {
    if (v == p_->layers.size()) {
      plan_.assign(*std::max_element(stage_of_.begin(), stage_of_.end()) + 1, {});
      for (std::uint32_t s = 0; s < plan_.size(); ++s) {
        if (std::find(stage_of_.begin(), stage_of_.end(), s) == stage_of_.end()) {
          return; // as good as with a stage less
        }
      }
      choose_degrees(0, p_->num_devices);
      return;
    }
    for (std::uint32_t s = 0; s < p_->layers.size(); ++s) {
      stage_of_[v] = s;
      assign(v + 1);
    }
  }
  void choose_degrees(std::size_t s, std::uint32_t left) {
    if (s == plan_.size()) {
      choose_variants(0);
      return;
    }
    for (std::uint32_t d = 1; d <= left; ++d) {
      for (std::uint32_t t = 1; t * d <= left; ++t) {
        plan_[s].replicas = d;
        plan_[s].tensor_degree = t;
        choose_degrees(s + 1, left - t * d);
      }
    }
  }
  void choose_variants(std::size_t v) {
    if (v == p_->layers.size()) {
      for (auto& s : plan_) {
        s.layers.clear();
        s.variants.clear();
      }
      for (std::uint32_t u = 0; u < v; ++u) {
        plan_[stage_of_[u]].layers.push_back(u);
        plan_[stage_of_[u]].variants.push_back(variant_[u]);
      }
      best_ = std::min(best_, test::seconds_by_definition(*p_, plan_));
      return;
    }
    const auto& variants = p_->layers[v].variants;
    for (variant_[v] = 0; variant_[v] < variants.size(); ++variant_[v]) {
      if (variants[variant_[v]].tensor_degree == plan_[stage_of_[v]].tensor_degree) {
        choose_variants(v + 1);
      }
    }
  }

  const stage_problem* p_;
  std::vector<std::uint32_t> stage_of_, variant_;
  std::vector<stage> plan_;
  double best_ = infinite;
};

/// A chain, or layers with edges at random, all numbers small and whole; layers in no order.
stage_problem random_problem(rng& random, std::size_t num_layers, std::uint32_t most_devices, bool is_chain) {
  const auto whole = [&](int low, int high) { return static_cast<double>(random.between(low, high)); };
  stage_problem p{.num_devices = 1 + random.below(most_devices),
                  .memory_bytes = random.below(5) == 0 ? infinite : whole(5, 60),
                  .bandwidth = random.below(5) == 0 ? infinite : whole(1, 10),
                  .micro_batches = std::array{1u, 2u, 3u, 4u, 6u, 12u}[random.below(6)]};
  std::vector<std::uint32_t> order(num_layers);
  for (std::uint32_t v = 0; v < num_layers; ++v) {
    order[v] = v;
  }
  random.shuffle(order);
  for (std::size_t i = 0; i < num_layers; ++i) {
    for (std::size_t j = i + 1; j < num_layers; ++j) {
      if (is_chain ? j == i + 1 : random.below(2) == 0) {
        p.edges.push_back({order[i], order[j], whole(0, 8)});
      }
    }
  }
  p.layers.resize(num_layers);
  std::vector<std::size_t> in(num_layers, 0), out(num_layers, 0);
  for (const auto& e : p.edges) {
    ++in[e.to];
    ++out[e.from];
  }
  for (std::size_t v = 0; v < num_layers; ++v) {
    const bool is_plain = random.below(2) == 0; // all variants have the same parameters
    for (std::uint32_t i = 0, n = 1 + random.below(5); i < n; ++i) {
      stage_variant x{.tensor_degree = 1 + random.below(2),
                      .seconds = whole(0, 20),
                      .parameter_bytes = is_plain ? 7 : whole(0, 9),
                      .bytes_per_micro_batch = whole(0, 12),
                      .fixed_bytes = whole(0, 12)};
      if (random.below(2) == 0) {
        for (std::size_t e = 0; e < in[v]; ++e) {
          x.input_bytes.push_back(whole(0, 5));
        }
        for (std::size_t e = 0; e < out[v]; ++e) {
          x.output_bytes.push_back(whole(0, 5));
        }
      }
      p.layers[v].variants.push_back(x);
    }
  }
  return p;
}

TEST_CASE("choose_stages: as good as the best of all plans") {
  rng random{1};
  int plans = 0, without = 0, several_stages = 0;
  for (int round = 0; round < test::rounds(8000); ++round) {
    const std::size_t num_layers = 1 + random.below(4);
    const auto p = random_problem(random, num_layers, num_layers < 4 ? 6 : 4, round % 2 == 0);
    const double best = every_plan{p}.best();
    const auto r = choose_stages(p);
    CAPTURE(round);
    CHECK(r.optimal);
    REQUIRE(r.has_plan() == (best < infinite));
    if (r.has_plan()) {
      ++plans;
      several_stages += r.plan.size() > 1;
      CHECK(r.value.seconds == doctest::Approx(best).epsilon(1e-8));
      CHECK(test::seconds_by_definition(p, r.plan) == doctest::Approx(r.value.seconds));
      CHECK(r.bound <= best * (1 + 1e-12));
    } else {
      ++without;
      CHECK(r.plan.empty());
      CHECK(r.bound == infinite);
    }
  }
  CHECK(plans > test::rounds(2000)); // the instances show something
  CHECK(without > test::rounds(1000));
  CHECK(several_stages > test::rounds(1000));
}

TEST_CASE("choose_stages: sums of bytes fit where evaluate_stages says so, whatever their order") {
  stage_problem three{.num_devices = 1, .memory_bytes = 0.6, .micro_batches = 1};
  for (const double fixed : {0.1, 0.2, 0.3}) {
    three.layers.push_back({"", {{.seconds = 1, .fixed_bytes = fixed}}});
  }
  CHECK(choose_stages(three).has_plan());

  rng random{6};
  int limits = 0;
  for (int round = 0; round < test::rounds(300); ++round) {
    CAPTURE(round);
    const auto whole = [&](std::uint32_t below) { return static_cast<double>(random.below(below)); };
    stage_problem p{.num_devices = 2, .bandwidth = 1, .micro_batches = 4};
    for (std::uint32_t v = 0; v < 5; ++v) {
      p.layers.push_back({"", {}});
      for (int k = 0; k < 2; ++k) {
        p.layers.back().variants.push_back({.seconds = 1 + whole(20),
                                            .bytes_per_micro_batch = (1 + whole(1000)) / 3,
                                            .fixed_bytes = whole(1000) / 7});
      }
      if (v > 0) {
        p.edges.push_back({v - 1, v, 1 + whole(3)});
      }
    }
    const auto first = choose_stages(p);
    double need = 0;
    for (const auto& s : first.value.stages) {
      need = std::max(need, s.bytes);
    }
    for (int k = -6; k <= 6; ++k) { // the plan's own need, and around what is just too little
      p.memory_bytes = k == 0 ? need : need * (1 - 1e-12) * (1 + k * 0x1p-52);
      if (!evaluate_stages(p, first.plan).fits()) {
        CHECK(k != 0);
        continue;
      }
      ++limits;
      const auto again = choose_stages(p);
      REQUIRE(again.has_plan());
      CHECK(again.value.seconds <= first.value.seconds * (1 + 1e-9));
    }
  }
  CHECK(limits > test::rounds(300));
}

TEST_CASE("choose_stages: more devices, memory or bandwidth is never slower") {
  rng random{2};
  for (int round = 0; round < test::rounds(100); ++round) {
    auto p = random_problem(random, 6 + random.below(8), 16, round % 2 == 0);
    p.micro_batches = 60;
    p.memory_bytes *= 3;
    double before = infinite;
    for (int i = 0; i < 4; ++i) {
      const auto r = choose_stages(p);
      CHECK(r.optimal);
      CHECK(r.value.seconds <= before * (1 + 1e-8));
      if (r.has_plan()) {
        CHECK(test::seconds_by_definition(p, r.plan) == doctest::Approx(r.value.seconds));
        before = r.value.seconds;
      }
      i == 0 ? void(p.num_devices += 3) : i == 1 ? void(p.memory_bytes *= 1.5) : void(p.bandwidth *= 2);
    }
  }
}

TEST_CASE("choose_stages: one order of a chain is all there is, which nobody proves") {
  rng random{3};
  for (int round = 0; round < test::rounds(100); ++round) {
    const auto p = random_problem(random, 5, 6, true);
    const auto all = choose_stages(p);
    const auto one = choose_stages(p, {.max_downsets = 1});
    CHECK(one.has_plan() == all.has_plan());
    CHECK((!one.has_plan() || one.value.seconds == doctest::Approx(all.value.seconds)));
    CHECK(one.bound <= all.value.seconds);
  }
}

TEST_CASE("choose_stages: a graph of too many downsets is cut along an order") {
  stage_problem p{.num_devices = 4, .micro_batches = 8};
  for (int i = 0; i < 30; ++i) {
    p.layers.push_back({"", {{.seconds = 1}}});
  }
  const auto r = choose_stages(p);
  REQUIRE(r.has_plan());
  CHECK(r.value.seconds == doctest::Approx(7.5)); // one stage on all devices
  CHECK(r.optimal); // by the bound of the work
}

TEST_CASE("choose_stages: no layers, a layer that cannot run, and a budget of nothing") {
  CHECK(choose_stages({}).has_plan());
  CHECK(choose_stages({}).value.seconds == 0);
  const stage_problem none_can{.layers = {{"a", {}}}};
  CHECK(choose_stages(none_can).optimal);
  CHECK(!choose_stages(none_can).has_plan());
  const stage_problem wide{.layers = {{"a", {{.tensor_degree = 2, .seconds = 1}}}}};
  const auto refused = choose_stages(wide);
  CHECK(refused.optimal);
  CHECK(refused.value.problem == "no plan fits in 4.00 EiB on each of 1 devices");
  stage_problem p{.layers = {{"a", {{.seconds = 1}}}}};
  const auto unfinished = choose_stages(p, {.budget = {.moves = 0}});
  CHECK(!unfinished.has_plan());
  CHECK(!unfinished.optimal);
  CHECK(unfinished.value.problem == "no plan was found, and there may be one");
  CHECK(unfinished.bound == 1);
  p.layers[0].variants[0].seconds = 0;
  CHECK(choose_stages(p).value.seconds == 0);
}

TEST_CASE("choose_stages: tells of each better plan, and ends with one that is good enough") {
  rng random{5};
  auto p = random_problem(random, 12, 16, true);
  p.memory_bytes = 120;
  p.bandwidth = 3;
  p.num_devices = 16;
  p.micro_batches = 60;
  std::vector<double> told;
  const auto best = choose_stages(p, {.budget = {.on_progress = [&](const progress& x) { told.push_back(x.best); }}});
  CHECK(best.optimal);
  REQUIRE(told.size() > 1);
  CHECK(std::is_sorted(told.rbegin(), told.rend()));
  CHECK(told.back() == doctest::Approx(best.value.seconds));
  const auto first = choose_stages(p, {.budget = {.target = told.front()}});
  CHECK(first.value.seconds == doctest::Approx(told.front()));
  CHECK(!first.optimal);
}

TEST_CASE("choose_stages: recomputation where memory is short, in as few layers as it takes") {
  const std::vector<chain_layer> layers(8, {.forward_seconds = 1, .backward_seconds = 2, .parameter_bytes = 10,
                                            .state_bytes = 40, .activation_bytes = 100, .output_bytes = 20});
  auto p = chain_of_stages(layers, true, 20);
  p.num_devices = 1;
  p.memory_bytes = 8 * 140;
  CHECK(choose_stages(p).value.seconds == 24);
  p.num_devices = 2;
  p.micro_batches = 4;
  p.memory_bytes = 900; // four layers in two micro-batches need 960, and 880 if one of them is recomputed
  const auto r = choose_stages(p);
  CHECK(r.value.seconds == 13);
  REQUIRE(r.plan.size() == 2);
  CHECK(std::count(r.plan[0].variants.begin(), r.plan[0].variants.end(), 1u) == 1);
  CHECK(std::count(r.plan[1].variants.begin(), r.plan[1].variants.end(), 1u) == 0);
}

TEST_CASE("variant_choice: bound and search against all choices") {
  rng random{4};
  int searched = 0;
  for (int round = 0; round < test::rounds(5000); ++round) {
    parallel::detail::variant_choice choice;
    std::vector<std::vector<std::array<double, 2>>> classes(1 + random.below(6));
    for (auto& c : classes) {
      for (std::uint32_t i = 0, n = 1 + random.below(4); i < n; ++i) {
        c.push_back({random.uniform(0, 10), static_cast<double>(random.below(20))});
      }
    }
    const double limit = random.below(60);
    double best = infinite;
    const auto go = [&](const auto& self, std::size_t c, double price, double bytes) -> void {
      if (c == classes.size()) {
        best = bytes <= limit ? std::min(best, price) : best;
        return;
      }
      for (const auto& [p, b] : classes[c]) {
        self(self, c + 1, price + p, bytes + b);
      }
    };
    go(go, 0, 0, 0);
    choice.clear();
    for (const auto& c : classes) {
      for (std::uint32_t i = 0; i < c.size(); ++i) {
        choice.add_offer(c[i][0], c[i][1], i);
      }
      choice.end_class();
    }
    choice.bound(limit);
    CAPTURE(round);
    REQUIRE((choice.price() < infinite) == (best < infinite));
    if (best == infinite) {
      continue;
    }
    CHECK(choice.at_least() <= best + 1e-9);
    CHECK(choice.price() >= best - 1e-9);
    searched += choice.price() > best + 1e-9;
    REQUIRE(choice.search(limit, infinite));
    CHECK(choice.price() == doctest::Approx(best));
    CHECK(choice.at_least() == doctest::Approx(best));
    double price = 0, bytes = 0;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      price += classes[c][choice.variants()[c]][0];
      bytes += classes[c][choice.variants()[c]][1];
    }
    CHECK(bytes <= limit);
    CHECK(price == doctest::Approx(best));
  }
  CHECK(searched > test::rounds(50));
}

TEST_CASE("variant_choice: more choices than it keeps leave a bound, and a choice that fits") {
  rng random{6};
  parallel::detail::variant_choice choice;
  choice.clear();
  double total = 0;
  std::vector<double> bytes;
  for (int c = 0; c < 40; ++c) { // each byte that is saved costs the same
    bytes.push_back(random.uniform(1, 10));
    total += bytes.back();
    choice.add_offer(0, bytes.back(), 0);
    choice.add_offer(bytes.back(), 0, 1);
    choice.end_class();
  }
  choice.bound(total / 2);
  const double before = choice.price();
  CHECK(choice.at_least() == doctest::Approx(total / 2));
  CHECK(!choice.search(total / 2, infinite));
  CHECK(choice.price() <= before);
  CHECK(choice.at_least() <= choice.price());
  double kept = 0;
  for (std::size_t c = 0; c < bytes.size(); ++c) {
    kept += choice.variants()[c] == 0 ? bytes[c] : 0;
  }
  CHECK(kept <= total / 2);
  CHECK(total - kept == doctest::Approx(choice.price()));
}

} // namespace parallel_choose_stages_test
