// SPDX-License-Identifier: BSL-1.0
#include "weft/shard/best.hpp"

#include "support/rounds.hpp"
#include "support/variants.hpp"
#include "weft/core/random.hpp"
#include "weft/shard/archetype.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace shard_best_test {

using namespace weft;
using shard::status;

TEST_CASE("shard::best: equals brute force on small problems, and tells those without a choice") {
  rng random{11};
  int infeasible = 0, enumerated = 0;
  for (int repeat = 0; repeat < test::rounds(100'000); ++repeat) {
    const auto plain = weft_test::draw_variants(random, repeat % 100 == 0 ? 8 : 5, 3);
    const auto least = weft_test::least_cost(plain);
    const auto found = shard::best(plain);
    CAPTURE(repeat);
    if (least) {
      REQUIRE(found.status == status::found);
      REQUIRE(found.cost == *least);
      REQUIRE(found.is_optimal());
      REQUIRE(found.gap() == 0);
      REQUIRE(weft_test::cost_of(plain, found.choice) == least);
    } else {
      REQUIRE(found.status == status::infeasible);
      REQUIRE(found.choice.empty());
      REQUIRE(found.bound == shard::never);
    }
    infeasible += !least;
    enumerated += !found.tried.empty();
  }
  if (test::are_all_rounds) {
    CHECK(infeasible > 10'000);
    CHECK(enumerated > 10'000);
  }
}

TEST_CASE("shard::best: without enumeration, bounds are never above the least cost, and mostly meet it") {
  rng random{12};
  int proven = 0, best = 0, feasible = 0;
  for (int repeat = 0; repeat < test::rounds(2000); ++repeat) {
    const auto plain = weft_test::draw_variants(random, 7, 4);
    const auto least = weft_test::least_cost(plain);
    const auto found = shard::best(plain, {.enumerated = -1, .patience = 6});
    CAPTURE(repeat);
    if (!least) {
      REQUIRE(found.status != status::found);
      continue;
    }
    REQUIRE(found.status != status::infeasible);
    REQUIRE(found.bound <= *least);
    if (found.has_choice()) {
      REQUIRE(found.cost >= *least);
      REQUIRE(weft_test::cost_of(plain, found.choice) == found.cost);
    }
    ++feasible;
    best += found.cost == *least;
    proven += found.is_optimal();
  }
  CHECK(best > feasible * 95 / 100);
  CHECK(proven > feasible * 85 / 100);
}

TEST_CASE("shard::best: no ops, and a user's own types") {
  const auto none_at_all = shard::best(shard::variant_problem{});
  CHECK(none_at_all.is_optimal());
  CHECK(none_at_all.cost == 0);
  CHECK(none_at_all.choice.empty());
  CHECK(shard::best(shard::variant_model_archetype{}).is_optimal());
}

TEST_CASE("shard::best: huge costs below never") {
  weft_test::plain_variants p;
  p.ops = {{{700'000'000'000'000'000, 600'000'000'000'000'001}, {0, 0}}, {{300'000'000'000'000'000, 5}, {0, 0}}};
  p.edges = {{0, 1, {{0, 400'000'000'000'000'000}, {7, 399'999'999'999'999'990}}}};
  for (const double enumerated : {26.0, -1.0}) {
    const auto found = shard::best(p, {.enumerated = enumerated});
    CHECK(found.cost == 900'000'000'000'000'008);
    CHECK(found.bound <= found.cost);
  }
}

TEST_CASE("shard::best: a cost far beyond the others, which the first choice may have") {
  rng random{13};
  for (int repeat = 0; repeat < (test::are_all_rounds ? 4 : 1); ++repeat) {
    CAPTURE(repeat);
    auto p = weft_test::draw_band(random, 40, 3, 85);
    const auto without = shard::best(p, {.budget = {.moves = 1500}});
    REQUIRE(without.has_choice());
    p.ops[17].costs.push_back(1'000'000'000'000'000); // with no bytes: it fits best, and is best in no other way
    p.ops[17].bytes.push_back(0);
    for (auto& e : p.edges) {
      if (e.from == 17) {
        e.costs.emplace_back(e.costs.front().size(), 0);
      } else if (e.to == 17) {
        for (auto& row : e.costs) {
          row.push_back(0);
        }
      }
    }
    const auto found = shard::best(p, {.budget = {.moves = 1500}});
    CHECK(found.bound <= without.cost); // which is still a choice
    CHECK(without.bound <= found.cost);
  }
}

TEST_CASE("shard::best: costs that add up to never may not be chosen, whatever they add up to") {
  for (const std::size_t n : {2u, 19u, 40u}) {
    CAPTURE(n);
    weft_test::plain_variants p;
    for (std::size_t v = 0; v < n; ++v) {
      p.ops.push_back({{500'000'000'000'000'000, static_cast<std::int64_t>(100 + v)}, {0, 1}, 0, 1});
    }
    for (op_id v = 1; v < n; ++v) {
      p.edges.push_back({v - 1, v, {{0, 1}, {1, 0}}});
    }
    for (const double enumerated : {26.0, -1.0}) {
      p.most = static_cast<std::int64_t>(n) - 2; // two have to take what is dear
      const auto none_at_all = shard::best(p, {.enumerated = enumerated, .patience = 20});
      CHECK(none_at_all.status != status::found);
      p.most = static_cast<std::int64_t>(n) - 1;
      const auto one = shard::best(p, {.enumerated = enumerated, .patience = 20});
      CHECK(one.bound <= 500'000'000'000'000'000 + static_cast<std::int64_t>(200 * n));
      CHECK((!one.has_choice() || weft_test::cost_of(p, one.choice) == one.cost));
    }
  }
}

TEST_CASE("shard::best: a bound of never is a proof that there is no choice, and ends the search") {
  rng random{15};
  int proven = 0;
  for (int repeat = 0; repeat < 50; ++repeat) {
    CAPTURE(repeat);
    const auto cost = [&] { return static_cast<std::int64_t>(random.uniform() * 1e18 / (1 + random.below(8))); };
    weft_test::plain_variants p;
    for (auto n = 4 + random.below(4); n > 0; --n) {
      auto& op = p.ops.emplace_back();
      for (auto i = 2 + random.below(4); i > 0; --i) {
        op.costs.push_back(cost());
        op.bytes.push_back(random.below(1000));
      }
      op.begin = random.below(3);
      op.end = op.begin + 1 + random.below(3);
    }
    for (op_id v = 1; v < p.ops.size(); ++v) {
      auto& e = p.edges.emplace_back();
      e.from = random.below(v);
      e.to = v;
      e.costs.resize(p.ops[e.from].costs.size());
      for (auto& row : e.costs) {
        std::generate_n(std::back_inserter(row), p.ops[v].costs.size(), cost);
      }
    }
    p.most = 200 * static_cast<std::int64_t>(p.ops.size());
    const auto found = shard::best(p, {.budget = {.moves = 100'000}, .enumerated = -1, .patience = 30});
    REQUIRE(found.moves < 100'000);
    REQUIRE((found.bound == shard::never) == (found.status == status::infeasible));
    REQUIRE((!weft_test::least_cost(p) || found.status != status::infeasible));
    proven += found.status == status::infeasible;
  }
  CHECK(proven > 10);
}

TEST_CASE("shard::best: a bound that creeps does not keep the search alive") {
  using i64 = std::int64_t;
  constexpr auto least = std::numeric_limits<i64>::min(), most = std::numeric_limits<i64>::max();
  weft_test::plain_variants p; // each choice costs more than may be
  p.ops = {{{222'940'578'121'672'218, 97'713'222'103'698'406}, {809, 152}, most - 2, most},
           {{649'201'802'028'933'143, 4'708'483'711'133'016, 651'533'426'122'483'143},
            {772, 339, 679}, least, least + 2},
           {{451'569'295'393'439'846, 843'372'523'636'251'219, 73'799'502'725'502'005}, {449, 501, 96}, most, most},
           {{988'907'289'776'026'515, 782'664'498'178'762'270}, {542, 959}, least, most - 2},
           {{773'826'268'341'030'350, 456'317'257'452'912'198, 546'416'168'204'241'665, 914'041'310'535'435'284,
             746'262'314'353'874'184},
            {552, 479, 995, 578, 232}, least + 1, most - 2}};
  p.edges = {{2, 3, {{171'611'326'173'364'460, 325'826'832'757'117'008},
                     {313'599'225'526'699'429, 785'307'317'255'781'743},
                     {289'890'750'220'893'558, 163'801'257'119'293'062}}},
             {2, 4, {{547'980'406'968'765'099, 192'557'114'756'235'142, 927'280'086'581'606'966,
                      635'424'661'780'366'018, 694'597'503'843'316'045},
                     {675'852'652'493'901'798, 178'677'594'656'934'945, 183'515'442'623'824'870,
                      843'356'724'858'309'532, 198'474'065'077'583'770},
                     {924'414'059'399'085'553, 372'505'969'685'216'220, 263'359'485'955'161'070,
                      354'619'925'436'678'403, 833'054'468'810'434'609}}}};
  p.most = 1772;
  const auto found = shard::best(p, {.budget = {.moves = 100'000}, .enumerated = -1});
  CHECK(found.moves < 100'000);
  CHECK(found.status == status::infeasible);
}

TEST_CASE("shard::best: reductions of which each makes another possible, more than there are rounds") {
  for (const std::int64_t pairs : {5, 13, 20}) {
    CAPTURE(pairs);
    constexpr auto never = shard::never;
    weft_test::plain_variants p;
    p.most = 100;
    for (std::int64_t k = 0; k < pairs; ++k) {
      p.ops.push_back({{10, 1}, {0, 102 - k}, 0, 1});
      p.ops.push_back({{1, 10}, {0, 1}, 0, 1});
      p.edges.push_back({static_cast<op_id>(2 * k), static_cast<op_id>(2 * k + 1), {{never, 7}, {3, 5}}});
    }
    for (const double enumerated : {26.0, -1.0}) {
      const auto found = shard::best(p, {.enumerated = enumerated, .patience = 20});
      REQUIRE(found.has_choice());
      CHECK(weft_test::cost_of(p, found.choice) == found.cost);
      CHECK(found.cost == 27 * pairs);
      CHECK(found.bound <= found.cost);
    }
  }
}

TEST_CASE("shard::best: a budget of nothing, and one that ends an enumeration") {
  const auto p = weft_test::plain_variants{{{{3, 2}, {1, 2}, 0, 1}, {{4, 1}, {1, 2}, 0, 1}},
                                           {{0, 1, {{0, 9}, {9, 1}}}}, 4};
  int states = 0;
  const auto found = shard::best(p, {.on_state = [&](const shard::state& s) {
                                       CHECK(s.cost == s.bound);
                                       CHECK(s.peak == 4);
                                       ++states;
                                     }});
  CHECK(states == 1);
  CHECK(found.cost == 4);
  const auto at_once = shard::best(p, {.budget = {.seconds = 0}});
  CHECK(at_once.bound <= 4);
  CHECK(shard::best(p, {.budget = {.moves = 0}}).bound <= 4);
}

shard::variant_problem band(std::int64_t percent = 60) {
  rng random{5};
  return shard::lower(weft_test::draw_band(random, 80, 6, percent));
}

TEST_SUITE("threads") {
  TEST_CASE("shard::best: the same on any number of threads, for a budget in moves") {
    const auto p = band();
    for (const std::uint64_t moves : {1u, 20u, 333u}) {
      const auto one = shard::best(p, {.budget = {.moves = moves}, .jobs = 1});
      const auto three = shard::best(p, {.budget = {.moves = moves}, .jobs = 3});
      CHECK(one.moves <= moves);
      CHECK(one.choice == three.choice);
      CHECK(one.cost == three.cost);
      CHECK(one.bound == three.bound);
      CHECK(one.moves == three.moves);
      CHECK(one.tried == three.tried);
    }
  }
}

TEST_CASE("shard::best: more moves are no worse, and costs and bounds hold") {
  const auto p = band();
  std::int64_t cost = shard::never, bound = 0;
  for (const std::uint64_t moves : {100u, 400u, test::are_all_rounds ? 1600u : 500u}) {
    const auto found = shard::best(p, {.budget = {.moves = moves}});
    REQUIRE(found.has_choice());
    const auto value = shard::value_of(p, found.choice);
    CHECK(value.cost == found.cost);
    CHECK(value.peak == found.peak);
    CHECK(found.peak <= p.limit());
    CHECK(found.cost <= cost);
    CHECK(found.bound >= bound);
    CHECK(found.bound <= found.cost);
    cost = found.cost;
    bound = found.bound;
  }
}

TEST_CASE("shard::best: stops when asked, and when the target is met") {
  const auto p = band();
  std::stop_source source;
  source.request_stop();
  const auto token = source.get_token();
  const auto stopped = shard::best(p, {.budget = {.stop = &token}});
  CHECK(stopped.moves == 0);
  CHECK(stopped.status == status::unknown);
  CHECK(stopped.bound <= shard::best(p, {.budget = {.moves = 100}}).cost);

  const auto met = shard::best(p, {.budget = {.target = 1e17}});
  CHECK(met.has_choice());
  CHECK(met.moves <= 100);

  std::stop_source later;
  const auto from_within = later.get_token();
  const auto ended = shard::best(p, {.budget = {.stop = &from_within, .on_progress = [&](const progress&) {
                                                  later.request_stop();
                                                }}});
  CHECK(ended.has_choice());
}

TEST_CASE("shard::best: states on the way are better and better, and true") {
  const auto p = band();
  std::vector<shard::state> states;
  const auto found = shard::best(p, {.budget = {.moves = 500}, .on_state = [&](const shard::state& s) {
                                       states.push_back(s);
                                     }});
  REQUIRE(states.size() > 1);
  for (std::size_t k = 1; k < states.size(); ++k) {
    CHECK(states[k].moves >= states[k - 1].moves);
    CHECK(states[k].cost <= states[k - 1].cost);
    CHECK(states[k].bound >= states[k - 1].bound);
    CHECK(states[k].peak <= p.limit());
  }
  CHECK(states.back().cost == found.cost);
  CHECK(states.back().bound == found.bound);
}

TEST_CASE("shard::best: tells of better choices, and lets exceptions of the listener through") {
  const auto p = band();
  std::vector<double> costs;
  std::uint64_t moves = 0;
  const auto found = shard::best(p, {.budget = {.moves = 500, .on_progress = [&](const progress& x) {
                                                  costs.push_back(x.best);
                                                  CHECK(x.moves >= moves);
                                                  moves = x.moves;
                                                }}});
  REQUIRE(!costs.empty());
  for (std::size_t k = 1; k < costs.size(); ++k) {
    CHECK(costs[k] < costs[k - 1]);
  }
  CHECK(costs.back() == static_cast<double>(found.cost));
  CHECK_THROWS_AS(shard::best(p, {.budget = {.moves = 500, .on_progress = [](const progress&) {
                                               throw std::runtime_error("enough");
                                             }}}),
                  std::runtime_error);
}

} // namespace shard_best_test
