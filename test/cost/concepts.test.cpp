// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/concepts.hpp"

#include "weft/bound/best.hpp"
#include "weft/bound/cheapest_transfer.hpp"
#include "weft/cost/compose.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/cost/measured.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/cost/staged.hpp"
#include "weft/cost/table.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/list/mean_costs.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/copy_ops.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace cost_concepts_test {

using namespace weft;
using W = workload;
using P = platform<>;

/// Which facts a model states.
struct facts {
  bool rates = false;
  bool lines = false;
  bool overheads = false;
  bool classes = false;
  bool table = false;
  friend constexpr bool operator==(const facts&, const facts&) = default;
};
template <class C>
constexpr facts of = {cost_parts::has_rates<C, W, P>, cost_parts::has_transfer_lines<C, W, P>,
                      cost_parts::has_send_overheads<C, W, P>, cost_parts::has_device_classes<C, W, P>,
                      cost_parts::has_class_times<C, W, P>};
constexpr facts all{true, true, true, true};
constexpr facts links{.lines = true, .overheads = true};
constexpr facts links_and_classes{.lines = true, .overheads = true, .classes = true};
constexpr facts links_and_table{.lines = true, .overheads = true, .classes = true, .table = true};
constexpr facts all_and_table{true, true, true, true, true};

static_assert(of<cost::linear> == all);
static_assert(of<cost::link_transfers> == links);
static_assert(of<cost::roofline> == links_and_classes);
static_assert(of<cost::table> == links);
static_assert(of<cost::tabulated> == links_and_table);
static_assert(of<cost::staged> == facts{.classes = true});

// What wraps passes on what still holds.
static_assert(of<cost::scaled<cost::linear>> == all);
static_assert(of<cost::scaled<cost::roofline>> == links_and_classes);
static_assert(of<cost::scaled<cost::staged>> == facts{.classes = true});
static_assert(of<cost::perturbed<cost::linear>> == links);
static_assert(of<cost::measured<cost::linear>> == links_and_classes);
static_assert(of<cost::cached<cost::linear>> == all_and_table);
static_assert(of<cost::cached<cost::measured<cost::roofline>>> == links_and_table);
static_assert(of<cost::scaled<cost::cached<cost::scaled<cost::linear>>>> == all);

/// Inherits what `linear` states, but computes at times of its own: each device faster than the one before.
struct other_computing : cost::linear {
  template <class Workload, class Platform>
  constexpr double compute_time(const Workload& w, op_id v, const Platform& p, device_id d) const {
    return cost::linear::compute_time(w, v, p, d) / (d + 1);
  }
};
struct other_transfers : cost::linear {
  template <class Workload, class Platform>
  constexpr double transfer_time(const Workload& w, tensor_id t, const Platform& p, device_id from,
                                 device_id to) const {
    return 0.5 * cost::linear::transfer_time(w, t, p, from, to);
  }
};
struct other_sends : cost::linear {
  template <class Workload, class Platform>
  constexpr double send_time(const Workload&, tensor_id t, const Platform&, device_id, device_id) const {
    return t;
  }
};
/// The same without templates.
struct for_one_type : cost::linear {
  constexpr double compute_time(const W&, op_id v, const P&, device_id) const { return v; }
  constexpr double transfer_time(const W&, tensor_id, const P&, device_id, device_id) const { return 3; }
};
static_assert(of<other_computing> == links);
static_assert(of<other_transfers> == facts{.rates = true, .overheads = true, .classes = true});
static_assert(of<other_sends> == facts{.rates = true, .lines = true, .classes = true});
static_assert(!cost_parts::sends_by_bytes<other_sends, W, P>);
static_assert(of<for_one_type> == facts{.overheads = true});

// Nor does what wraps them.
static_assert(of<cost::scaled<other_computing>> == links);
static_assert(of<cost::cached<other_computing>> == links_and_table); // classes of its own table
static_assert(of<cost::cached<cost::scaled<other_transfers>>> ==
              facts{.rates = true, .overheads = true, .classes = true, .table = true});

/// States anew, without templates, what holds for its own times.
struct said_anew : for_one_type {
  constexpr double compute_time(const W& w, op_id v, const P&, device_id d) const { return amount(w, v) / (1 + d); }
  constexpr double amount(const W&, op_id v) const { return 5 * v; }
  constexpr double rate(const W&, const P&, device_id d) const { return 1 + d; }
};
static_assert(of<said_anew> == facts{.rates = true, .overheads = true});

/// States something of what it inherits.
struct said_later : other_transfers {
  template <class Workload, class Platform>
  constexpr auto transfer_line(const Workload& w, const Platform& p, device_id from, device_id to) const {
    return cost::detail::scaled_line{cost::linear::transfer_line(w, p, from, to), 0.5};
  }
};
static_assert(of<said_later> == all);

/// No sends at all depend on nothing but the sender.
struct without_sends {
  template <class Workload, class Platform>
  constexpr double compute_time(const Workload&, op_id, const Platform&, device_id) const {
    return 1;
  }
  template <class Workload, class Platform>
  constexpr double transfer_time(const Workload& w, tensor_id t, const Platform& p, device_id from,
                                 device_id to) const {
    return cost::link_transfers{}.transfer_time(w, t, p, from, to);
  }
  template <class Workload, class Platform>
  constexpr auto transfer_line(const Workload& w, const Platform& p, device_id from, device_id to) const {
    return cost::link_transfers{}.transfer_line(w, p, from, to);
  }
};
static_assert(cost_parts::sends_by_bytes<without_sends, W, P> && of<without_sends> == facts{.lines = true});

TEST_CASE("cost facts: who overrides compute times does not keep the classes of what it derives from") {
  workload_builder b;
  b.add_op({.work = 10});
  const workload w = std::move(b).build();
  const platform<uniform_links> two{{{.speed = 1}, {.speed = 1}}, {}};
  const problem p{w, two, other_computing{}};
  const double makespan = pipeline(partition::heft{}, schedule::static_order{})(p).makespan;
  CHECK(makespan == 5);
  CHECK(bound::best(p).value == 5); // by the class of linear, which takes both devices for the slower, it was 10
}

/// The diamond, whose op b sends messages of a collective.
workload diamond_with_messages() {
  const W w = test::diamond();
  workload_builder b;
  for (const op_id v : ids(w.num_ops())) {
    op o = op_of(w, v);
    o.type = v == 1 ? "AddChunk" : "Add";
    b.add_op(std::move(o));
    for (const tensor_id t : w.outputs(v)) {
      b.add_output(v, w.bytes(t));
    }
  }
  for (const tensor_id t : ids(w.num_tensors())) {
    for (const op_id reader : w.consumers(t)) {
      b.add_edge(w.producer(t), reader, t - *w.outputs(w.producer(t)).begin());
    }
  }
  return std::move(b).build();
}

/// Checks what a model states against what it says, for everything.
template <class C>
void check(const C& c, const W& w = diamond_with_messages()) {
  const P q = test::three_devices();
  for (const device_id d : ids(q.num_devices())) {
    for (const op_id v : ids(w.num_ops())) {
      if constexpr (cost_parts::has_rates<C, W, P>) {
        CHECK(c.amount(w, v) / c.rate(w, q, d) == doctest::Approx(c.compute_time(w, v, q, d)).epsilon(1e-14));
      }
      if constexpr (cost_parts::has_device_classes<C, W, P>) {
        CHECK(c.compute_time(w, v, q, d) == c.compute_time(w, v, q, c.device_class(w, q, d)));
      }
      if constexpr (cost_parts::has_class_times<C, W, P>) {
        CHECK(c.class_times(w, v, q)[c.class_number(w, q, d)] == c.compute_time(w, v, q, d));
      }
    }
    for (const device_id to : ids(q.num_devices())) {
      for (const tensor_id t : ids(w.num_tensors())) {
        if (to != d) {
          const auto bytes = static_cast<double>(w.bytes(t));
          if constexpr (cost_parts::has_transfer_lines<C, W, P>) {
            const auto line = c.transfer_line(w, q, d, to);
            CHECK(line(bytes) == c.transfer_time(w, t, q, d, to)); // exactly
            CHECK(line.latency() + bytes / line.bandwidth() == doctest::Approx(line(bytes)).epsilon(1e-14));
          }
          if constexpr (cost_parts::has_send_overheads<C, W, P>) {
            CHECK(cost_parts::send_overhead(c, w, q, d, is_message(w, t)) == c.send_time(w, t, q, d, to));
          }
        }
      }
    }
  }
}

TEST_CASE("cost facts: every model's are true of it") {
  const W w = diamond_with_messages();
  const P q = test::three_devices();
  const cost::linear linear;
  const std::vector<double> seconds{1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8};
  cost::measured measured{linear, q};
  measured.add(device_kind::cpu, {0.25, 0.5, 1, 2});
  check(linear);
  check(cost::roofline{});
  check(cost::table{seconds, 4, 3});
  check(cost::tabulated{linear, w, q});
  check(cost::from_function{[](op_id v, device_id d) { return 1.0 + v * d; }});
  check(cost::staged{{{1, 2, 3, 4}, {5, 6, 7, 8}, {1, 2, 3, 4}}});
  check(cost::scaled{linear, 3, 0.7});
  check(cost::scaled{cost::scaled{linear, 3, 0.7}, 1.1, 1.3});
  check(cost::perturbed{cost::scaled{linear, 3, 0.7}, 0.2, 1});
  check(measured);
  check(cost::cached{cost::scaled{measured, 3, 0.7}, w, q});
  check(cost::cached{cost::scaled{linear, 3, 0.7}, w, q});
  check(other_computing{});
  check(said_later{});
  check(cost::lower(cost::scaled{linear, 3, 0.7}, w, q));
}

TEST_CASE("sends: messages of a collective are launched by nobody, but on CPUs and where rates are what ops reach") {
  const W w = diamond_with_messages();
  P q = test::three_devices();
  const cost::linear linear;
  const auto lowered = cost::lower(linear, w, q);
  CHECK(is_message(w, 1));
  CHECK(is_message(w, 2));
  CHECK_FALSE(is_message(w, 0));
  CHECK_FALSE(is_message(test::diamond(), 1));
  CHECK(linear.send_time(w, 1, q, 0, 1) == 0.5); // a CPU
  CHECK(linear.send_time(w, 0, q, 1, 2) == 0.25);
  CHECK(linear.send_time(w, 1, q, 1, 2) == 0);
  CHECK(cost::scaled{linear, 3, 2}.send_time(w, 1, q, 1, 2) == 0);
  CHECK(lowered.send_time(w, 0, q, 1, 2) == 0.25);
  CHECK(lowered.send_time(w, 1, q, 1, 2) == 0);
  CHECK(lowered.send_time(w, 1, q, 0, 2) == 0.5);
  q = q.changed([](device& d) { d.reached_rates = true; });
  CHECK(linear.send_time(w, 1, q, 1, 2) == 0.25);
}

TEST_CASE("sends: bounds and mean costs know messages of a collective") {
  const W w = diamond_with_messages();
  const P q = test::three_devices();
  const problem p{w, q};
  const auto least = bound::cheapest_transfers(p);
  const partition::list::mean_costs means{p};
  for (const tensor_id t : ids(w.num_tensors())) {
    double smallest = std::numeric_limits<double>::infinity(), sum = 0;
    for (const device_id from : ids(3)) {
      for (const device_id to : ids(3)) {
        if (from != to) {
          const double seconds = p.send_time(t, from, to) + p.transfer_time(t, from, to);
          smallest = std::min(smallest, seconds);
          sum += seconds;
        }
      }
    }
    CHECK(least[t] == doctest::Approx(smallest));
    CHECK(means.transfer(t) == doctest::Approx(sum / 6));
  }
  CHECK(pipeline(partition::heft{}, schedule::static_order{})(p).makespan > 0);
}

} // namespace cost_concepts_test
