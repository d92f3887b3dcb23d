// SPDX-License-Identifier: BSL-1.0
// Cost models that say what is no time: one error that names op, device and value, whatever asks them.
#include "support/small_problem.hpp"

#include "weft/bound/best.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/solve/registry.hpp"
#include "weft/throughput/best.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/validate/trace.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <string_view>

namespace solve_wrong_costs_test {

using namespace weft;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Linear costs, but for one op or tensor.
struct faulty {
  enum class part : std::uint8_t { compute, transfer, send };
  part of = part::compute;
  std::uint32_t id = 0;
  double value = 0;
  device_id only = none; ///< the device, or the one that sends; `none`: any

  double compute_time(const workload& w, op_id v, const platform<>& q, device_id d) const {
    return wrong(part::compute, v, d) ? value : cost::linear{}.compute_time(w, v, q, d);
  }
  double transfer_time(const workload& w, tensor_id t, const platform<>& q, device_id from, device_id to) const {
    return wrong(part::transfer, t, from) ? value : cost::linear{}.transfer_time(w, t, q, from, to);
  }
  double send_time(const workload& w, tensor_id t, const platform<>& q, device_id from, device_id to) const {
    return wrong(part::send, t, from) ? value : cost::linear{}.send_time(w, t, q, from, to);
  }

private:
  bool wrong(part p, std::uint32_t x, device_id d) const { return of == p && id == x && (only == none || only == d); }
};

using problem_type = problem<workload, platform<>, faulty>;

struct fixture {
  workload w = test::diamond();
  platform<> q = [] {
    auto three = test::three_devices();
    three.set_names({"host", "fast", "other"});
    return three;
  }();
  problem_type with(faulty cost) const { return {w, q, cost}; }
  fixture() = default;
  fixture(const fixture&) = delete;
};

/// What `act` throws as `value_error`; empty if nothing.
template <class Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const value_error& e) {
    return e.what();
  }
  return {};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

TEST_CASE("wrong costs: a problem names op, device and value") {
  const fixture f;
  CHECK(error_of([&] { f.with({.id = 2, .value = -1}).compute_time(2, 1); }) ==
        "compute_time of op 2 'c' on device 1 'fast': -1 is not a time: a cost model returns seconds, at least 0");
  CHECK(contains(error_of([&] { f.with({.id = 2, .value = nan}).component_time(2, 0); }),
                 "op 2 'c' on device 0 'host': nan"));
  CHECK(error_of([&] { f.with({faulty::part::transfer, 1, nan}).transfer_time(1, 0, 2); }) ==
        "transfer_time of tensor 1 of op 1 'b' from device 0 'host' to device 2 'other': nan is not a time: a cost "
        "model returns seconds, at least 0");
  CHECK(contains(error_of([&] { f.with({faulty::part::send, 1, -0.5}).send_time(1, 0, 2); }),
                 "send_time of tensor 1 of op 1 'b' from device 0 'host' to device 2 'other': -0.5 is not a time"));
  CHECK(f.with({.id = 2, .value = infinity}).compute_time(2, 1) == infinity);
  CHECK(f.with({.id = 2, .value = -0.0}).compute_time(2, 1) == 0);
}

TEST_CASE("wrong costs: an op that takes for ever everywhere") {
  const fixture f;
  CHECK(error_of([&] { bound::best(f.with({.id = 2, .value = infinity})); }) ==
        "compute_time of op 2 'c' on device 0 'host': inf, as on every device of the kinds that it allows (any): an op "
        "has to run somewhere; give it a finite time there, or other kinds");
}

TEST_CASE("wrong costs: partitioners refuse them, or never see them") {
  const fixture f;
  const auto registered = registry<problem_type>::standard();
  for (const auto& name : registered.partitioner_names()) {
    CAPTURE(name);
    for (const double value : {-1.0, nan, -infinity, infinity}) {
      CAPTURE(value);
      for (const op_id v : {0u, 2u, 3u}) {
        for (const device_id only : {device_id{none}, 0u, 1u, 2u}) {
          CAPTURE(v);
          CAPTURE(only);
          const auto p = f.with({.id = v, .value = value, .only = only});
          workspace scratch;
          rng random{1};
          double makespan = 0;
          const auto message = error_of([&] {
            const auto found = (*registered.find_partitioner(name))(p, random, scratch);
            REQUIRE(found);
            makespan = simulator<problem_type, schedule::path_completion_time>{p}.run(found->plan).makespan;
          });
          if (!message.empty()) {
            CHECK(contains(message, "compute_time of " + p.describe_op(v)));
            CHECK(!(value == infinity && only != none));
          } else { // the plan does without the value
            CHECK(only != none);
            CHECK(makespan > 0);
          }
        }
      }
      if (value == infinity) {
        continue;
      }
      for (const auto part : {faulty::part::transfer, faulty::part::send}) {
        const auto p = f.with({part, 0, value});
        workspace scratch;
        rng random{1};
        double makespan = 0;
        const auto message = error_of([&] {
          const auto found = (*registered.find_partitioner(name))(p, random, scratch);
          REQUIRE(found);
          makespan = simulator<problem_type, schedule::path_completion_time>{p}.run(found->plan).makespan;
        });
        CHECK(
          (contains(message, "_time of tensor 0 of op 0 'a' from device ") || (makespan > 0 && makespan < infinity)));
      }
    }
  }
}

TEST_CASE("wrong costs: refiners, bounds, throughput, best and pipelines refuse them") {
  const fixture f;
  const auto registered = registry<problem_type>::standard();
  for (const double value : {-1.0, nan, infinity}) {
    CAPTURE(value);
    const auto p = f.with({.id = 1, .value = value});
    const auto refused = [](const std::string& message) {
      return contains(message, "compute_time of op 1 'b' on device ");
    };
    const plan start{{0, 1, 1, 0}, {}};
    rng random{1};
    for (const auto& name : registered.refiner_names()) {
      CAPTURE(name);
      CHECK(refused(error_of([&] {
        any_evaluator judge{p};
        (*registered.find_refiner(name))(judge, start, {.moves = 10}, random);
      })));
    }
    for (const auto& name : registered.policy_names()) {
      CAPTURE(name);
      CHECK(refused(error_of([&] {
        trace run;
        const auto sim = (*registered.find_policy(name))(p, contention_model::port);
        sim->prepare(start);
        sim->run_prepared(run);
      })));
    }
    CHECK(refused(error_of([&] { bound::best(p); })));
    CHECK(refused(error_of([&] { bound::critical_path(p); })));
    CHECK(refused(error_of([&] { bound::communication_path(p); })));
    CHECK(refused(error_of([&] { bound::area(p); })));
    CHECK(refused(error_of([&] { bound::windows(p); })));
    CHECK(refused(error_of([&] { throughput::best{}(p, random); })));
    CHECK(refused(error_of([&] { solve::best(p, {.moves = 100}); })));
    CHECK(refused(error_of([&] { solve::best(p, {.moves = 100, .memory = memory_rule::over_time}); })));
    CHECK(refused(error_of([&] { pipeline(partition::hash{}, schedule::path_completion_time{})(p); })));
  }
  const auto p = f.with({faulty::part::transfer, 0, -1});
  CHECK(contains(error_of([&] { solve::best(p, {.moves = 100}); }), "transfer_time of tensor 0 of op 0 'a'"));
  CHECK(contains(error_of([&] { throughput::loads(p, {0, 1, 1, 0}); }), "transfer_time of tensor 0 of op 0 'a'"));
}

TEST_CASE("wrong costs: infinite on one device only, the op goes to another") {
  const fixture f;
  const auto p = f.with({.id = 2, .value = infinity, .only = 1});
  const auto r = solve::best(p, {.moves = 100});
  CHECK(r.has_plan());
  CHECK(r.makespan < infinity);
  CHECK(r.plan.placement[2] != 1);
}

} // namespace solve_wrong_costs_test
