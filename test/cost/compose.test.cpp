// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/compose.hpp"

#include "weft/cost/measured.hpp"
#include "weft/cost/roofline.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace cost_compose_test {

using namespace weft;

/// Offers exactly what a cost model must, and counts how often it is asked for compute times.
struct counting {
  int* asked = nullptr;
  template <class W, class P>
  double compute_time(const W& w, op_id v, const P&, device_id d) const {
    ++*asked;
    return w.work(v) + d;
  }
  template <class W, class P>
  double transfer_time(const W&, tensor_id t, const P&, device_id, device_id) const {
    return t;
  }
};
static_assert(cost_model_for<counting, workload, platform<>>);
static_assert(!cost_parts::has_send_time<counting, workload, platform<>>);

/// Has every part that a cost model can have, each with times of its own.
struct complete : counting {
  template <class W, class P>
  double send_time(const W&, tensor_id t, const P&, device_id from, device_id to) const {
    return 100 + t + 10.0 * from + 20.0 * to;
  }
  template <class W, class P>
  double import_time(const W&, tensor_id t, const P&, device_id d) const {
    return 200 + t + 10.0 * d;
  }
  template <class W, class P>
  double export_time(const W&, tensor_id t, const P&, device_id d) const {
    return 300 + t + 10.0 * d;
  }
  template <class W, class P>
  device_id device_class(const W&, const P&, device_id d) const {
    return d;
  }
};

/// Checks that a model is `complete` with all compute times times `compute` and all others times `communication`.
/// Returns the concepts that it looked at.
template <class C>
std::set<std::string> check_all_parts(const C& c, const complete& base, double compute, double communication) {
  using namespace cost_parts;
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  for (const op_id v : ids(w.num_ops())) {
    CHECK(c.compute_time(w, v, p, 1) == compute * base.compute_time(w, v, p, 1));
  }
  CHECK(c.transfer_time(w, 3, p, 0, 2) == communication * base.transfer_time(w, 3, p, 0, 2));
  REQUIRE(has_send_time<C, workload, platform<>>);
  if constexpr (has_send_time<C, workload, platform<>>) {
    CHECK(c.send_time(w, 3, p, 1, 2) == communication * base.send_time(w, 3, p, 1, 2));
  }
  REQUIRE(has_staging_times<C, workload, platform<>>);
  if constexpr (has_staging_times<C, workload, platform<>>) {
    CHECK(c.import_time(w, 3, p, 2) == communication * base.import_time(w, 3, p, 2));
    CHECK(c.export_time(w, 3, p, 2) == communication * base.export_time(w, 3, p, 2));
  }
  return {"has_compute_time", "has_transfer_time", "has_send_time", "has_staging_times"};
}

TEST_CASE("wrapped costs have every part that what they wrap has") {
  int asked = 0;
  const complete base{&asked};
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  auto checked = check_all_parts(base, base, 1, 1);
  check_all_parts(cost::scaled{base, 1, 1}, base, 1, 1);
  check_all_parts(cost::scaled{base, 2, 3}, base, 2, 3);
  check_all_parts(cost::perturbed{base, 0, 7}, base, 1, 1);
  check_all_parts(cost::cached{base, w, p}, base, 1, 1);
  check_all_parts(cost::measured{base, p}, base, 1, 1);
  check_all_parts(cost::cached{cost::scaled{cost::perturbed{cost::measured{base, p}, 0, 7}, 2, 3}, w, p}, base, 2, 3);

  // Facts are promises that wrappers keep, drop or make by themselves (concepts.test.cpp); all else is checked above.
  checked.insert({"has_device_classes", "has_rates", "has_class_times", "has_transfer_lines", "has_send_overheads",
                  "has_message_overheads"});
  std::set<std::string> all;
  std::ifstream file{"../include/weft/cost/concepts.hpp"};
  const std::regex concept_name{"concept (has_[a-z_]+)"};
  for (std::string line; std::getline(file, line);) {
    if (std::smatch found; std::regex_search(line, found, concept_name)) {
      all.insert(found[1]);
    }
  }
  CHECK(all == checked);
}

TEST_CASE("wrapped costs have no part that what they wrap has not") {
  CHECK_FALSE(cost_parts::has_send_time<cost::scaled<counting>, workload, platform<>>);
  CHECK_FALSE(cost_parts::has_staging_times<cost::scaled<cost::linear>, workload, platform<>>);
  CHECK_FALSE(cost_parts::has_staging_times<cost::cached<cost::linear>, workload, platform<>>);
}

TEST_CASE("scaled cost: compute and communication apart") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const cost::linear base;
  const cost::scaled c{base, 2, 3};
  CHECK(c.compute_time(w, 2, p, 1) == 2 * base.compute_time(w, 2, p, 1));
  CHECK(c.transfer_time(w, 1, p, 0, 2) == 3 * base.transfer_time(w, 1, p, 0, 2));
  CHECK(c.send_time(w, 1, p, 0, 2) == 3 * base.send_time(w, 1, p, 0, 2));
  CHECK(c.device_class(w, p, 2) == 1);
  CHECK(cost_parts::has_device_classes<cost::scaled<cost::roofline>, workload, platform<>>);
  CHECK_FALSE(cost_parts::has_device_classes<cost::scaled<cost::link_transfers>, workload, platform<>>);
}

TEST_CASE("perturbed cost: within the spread, the same for a seed, different for each op, device and seed") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const cost::linear base;
  const cost::perturbed c{base, 0.2, 7};
  const cost::perturbed again{base, 0.2, 7};
  const cost::perturbed other{base, 0.2, 8};
  for (const op_id v : ids(w.num_ops())) {
    for (const device_id d : ids(p.num_devices())) {
      const double factor = c.compute_time(w, v, p, d) / base.compute_time(w, v, p, d);
      CHECK(factor >= 0.8);
      CHECK(factor <= 1.2);
      CHECK(c.compute_time(w, v, p, d) == again.compute_time(w, v, p, d));
      CHECK(c.compute_time(w, v, p, d) != other.compute_time(w, v, p, d));
    }
  }
  CHECK(c.compute_time(w, 0, p, 1) != c.compute_time(w, 0, p, 2));
  CHECK(c.compute_time(w, 0, p, 1) / base.compute_time(w, 0, p, 1) !=
        doctest::Approx(c.compute_time(w, 1, p, 1) / base.compute_time(w, 1, p, 1)));
  CHECK(c.transfer_time(w, 1, p, 0, 2) == base.transfer_time(w, 1, p, 0, 2));
  CHECK(c.send_time(w, 1, p, 0, 2) == base.send_time(w, 1, p, 0, 2));
  CHECK_FALSE(cost_parts::has_device_classes<decltype(c), workload, platform<>>);
}

TEST_CASE("cached cost: asks once per op and class and then never again") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  int asked = 0;
  const cost::cached c{counting{&asked}, w, p};
  CHECK(asked == 12);
  for (const op_id v : ids(w.num_ops())) {
    for (const device_id d : ids(p.num_devices())) {
      CHECK(c.compute_time(w, v, p, d) == w.work(v) + d);
    }
  }
  CHECK(asked == 12);
  CHECK(c.transfer_time(w, 3, p, 0, 1) == 3);

  const cost::linear base;
  const cost::cached shared{base, w, p}; // devices 1 and 2 are one class
  for (const op_id v : ids(w.num_ops())) {
    for (const device_id d : ids(p.num_devices())) {
      CHECK(shared.compute_time(w, v, p, d) == base.compute_time(w, v, p, d));
    }
  }
  CHECK(shared.send_time(w, 3, p, 0, 1) == base.send_time(w, 3, p, 0, 1));
  for (const device_id d : ids(p.num_devices())) {
    CHECK(shared.device_class(w, p, d) == base.device_class(w, p, d));
  }
}

TEST_CASE("cached cost: devices with the same times are one class, whatever the base says") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const cost::from_function by_parity{[&](op_id v, device_id d) { return w.work(v) + (d % 2); }};
  const cost::cached c{by_parity, w, p};
  CHECK(c.device_class(w, p, 0) == 0);
  CHECK(c.device_class(w, p, 1) == 1);
  CHECK(c.device_class(w, p, 2) == 0);
  CHECK(c.compute_time(w, 3, p, 2) == w.work(3));
  CHECK(c.compute_time(w, 3, p, 1) == w.work(3) + 1);
  const workload empty;
  CHECK(cost::cached{by_parity, empty, p}.device_class(empty, p, 2) == 0);
}

TEST_CASE("cost from a function: a lambda with captures is a cost model") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const double rate[] = {1, 2, 4};
  const cost::from_function c{[&](op_id v, device_id d) { return w.work(v) / rate[d]; }};
  static_assert(cost_model_for<decltype(c), workload, platform<>>);
  CHECK(c.compute_time(w, 3, p, 2) == 10);
  CHECK(c.transfer_time(w, 1, p, 1, 0) == 2.5);
  CHECK(c.send_time(w, 1, p, 0, 1) == 0.5);
}

} // namespace cost_compose_test
