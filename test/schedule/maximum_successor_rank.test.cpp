// SPDX-License-Identifier: BSL-1.0
/// Each clause of the definition by itself; simulate/equivalence.test.cpp compares whole runs with it.
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

namespace schedule_maximum_successor_rank_test {

using namespace weft;

/// At time 10, op a on device 0 has finished, and its send to r on device 1 competes with x, which has `rank` local
/// consumers. What is added to device 1 (and 2) decides what the send is worth. Speeds are 1, a send takes 1, and the
/// tensors of device 2 take `latency` to device 1.
class choice {
public:
  explicit choice(int rank, double latency = 1, std::uint32_t slots = 1) : latency_{latency}, slots_{slots} {
    a = add(0, 10);
    x = add(0, 1);
    r = add(1, 1);
    b_.add_edge(a, x);
    b_.add_edge(a, r);
    for (int i = 0; i < rank; ++i) {
      b_.add_edge(x, add(0, 1));
    }
  }

  op_id add(device_id d, double work) {
    where_.push_back(d);
    return b_.add_op({.work = work, .bytes = 0});
  }
  void edge(op_id u, op_id v) { b_.add_edge(u, v); }

  bool send_goes_first() {
    const workload w = std::move(b_).build();
    link_matrix links{3, {.latency = 1}};
    links.set(2, 1, {.latency = latency_});
    const platform<> q{{{}, {.slots = slots_}, {}}, links, 1};
    const problem p{w, q};
    struct {
      double op = -1;
      double send = -1;
      op_id x = none;
      void on_op_start(op_id v, device_id, double now) { op = v == x ? now : op; }
      void on_send_start(std::uint32_t, const transfer& t, double now) { send = t.tensor == 0 ? now : send; }
    } starts{.x = x};
    simulator sim{p, schedule::maximum_successor_rank{}};
    CHECK(sim.run(plan{where_}, starts).complete);
    CHECK(std::min(starts.op, starts.send) == 10);
    return starts.send < starts.op;
  }

  op_id a, x, r;

private:
  workload_builder b_;
  placement where_;
  double latency_;
  std::uint32_t slots_;
};

TEST_CASE("maximum_successor_rank: a send counts 8 to an idle receiver") {
  CHECK(choice{7}.send_goes_first());
  CHECK_FALSE(choice{9}.send_goes_first());
}

TEST_CASE("maximum_successor_rank: a send counts 3 if the receiver's queue is not empty") {
  for (const int rank : {2, 4}) {
    choice c{rank};
    c.add(1, 100); // runs
    c.add(1, 100); // waits
    CHECK(c.send_goes_first() == (rank == 2));
  }
}

TEST_CASE("maximum_successor_rank: 8 if the receiver is busy and has nothing after that") {
  choice c{7};
  c.add(1, 100);
  CHECK(c.send_goes_first());
}

TEST_CASE("maximum_successor_rank: 3 if the receiver's running op causes a send") {
  for (const int rank : {2, 4}) {
    choice c{rank};
    c.edge(c.add(1, 100), c.add(2, 1));
    CHECK(c.send_goes_first() == (rank == 2));
  }
}

TEST_CASE("maximum_successor_rank: 3 if the receiver's running op makes an op there ready") {
  for (const int rank : {2, 4}) {
    choice c{rank};
    c.edge(c.add(1, 100), c.add(1, 1));
    CHECK(c.send_goes_first() == (rank == 2));
  }
}

TEST_CASE("maximum_successor_rank: 8 if that op waits for another one, too") {
  choice c{7};
  const auto next = c.add(1, 1);
  c.edge(c.add(1, 100), next);
  c.edge(c.add(2, 100), next); // ends as late, and then its tensor must be sent
  CHECK(c.send_goes_first());
}

TEST_CASE(
  "maximum_successor_rank: 3 if a transfer under way arrives before the receiver is free, and makes an op ready") {
  // Device 2 runs its op until 1 and sends until 2; the tensor arrives at 2 + latency. Device 1 is busy until 20.
  for (const double latency : {17.0, 18.0, 18.5}) {
    choice c{5, latency};
    c.add(1, 20);
    c.edge(c.add(2, 1), c.add(1, 1));
    CHECK(c.send_goes_first() == (latency > 18));
  }
}

TEST_CASE("maximum_successor_rank: to an idle receiver, a transfer under way comes too late") {
  choice c{5, 18};
  c.edge(c.add(2, 1), c.add(1, 1));
  CHECK(c.send_goes_first());
}

TEST_CASE("maximum_successor_rank: a transfer is under way when its send begins") {
  choice c{5};
  c.add(1, 20);
  c.edge(c.add(2, 9.5), c.add(1, 1)); // sends from 9.5 to 10.5
  CHECK_FALSE(c.send_goes_first());
  choice later{5};
  later.add(1, 20);
  later.edge(later.add(2, 10.5), later.add(1, 1)); // nothing is under way at 10
  CHECK(later.send_goes_first());
}

TEST_CASE("maximum_successor_rank: 8 if what arrives is not all that its consumer waits for") {
  choice c{5};
  c.add(1, 20);
  const auto next = c.add(1, 1);
  c.edge(c.add(2, 1), next);
  c.edge(c.x, next);
  CHECK(c.send_goes_first()); // before x, which counts 5 consumers and 1 send
}

TEST_CASE("maximum_successor_rank: 3 if an arrival and the running op make an op ready together") {
  choice c{5, 17};
  const auto next = c.add(1, 1);
  c.edge(c.add(1, 20), next);
  c.edge(c.add(2, 1), next);
  CHECK_FALSE(c.send_goes_first());
}

TEST_CASE("maximum_successor_rank: with several slots, the receiver is free when the first of them is") {
  // Device 1 runs one op until 5 and then, in the same slot, another until 30; the other slot is busy until 20. What
  // arrives at 15 makes an op ready by then.
  for (const double latency : {13.0, 19.0}) {
    choice c{5, latency, 2};
    const auto first = c.add(1, 5);
    c.edge(first, c.add(1, 25));
    c.add(1, 20);
    c.edge(c.add(2, 1), c.add(1, 1));
    CHECK(c.send_goes_first() == (latency > 18));
  }
}

TEST_CASE("maximum_successor_rank: ties go to the longer path, then to the first in the queue") {
  // The send's path: 1 to send, 1 on the link, 1 to receive, 1 for r. x's: 1, and the work of its third consumer.
  for (const double work : {1.0, 3.0, 4.0}) {
    choice c{2};
    c.add(1, 100);
    c.add(1, 100);
    c.edge(c.x, c.add(0, work));
    CHECK(c.send_goes_first() == (work <= 3)); // sends come before local consumers
  }
}

TEST_CASE("maximum_successor_rank: an op counts each send that it causes") {
  for (const bool both : {false, true}) {
    choice c{2};
    c.add(1, 100);
    c.add(1, 100);
    c.edge(c.x, c.add(2, 0)); // 3, and a path that is as long as the send's
    if (both) {
      c.edge(c.x, c.add(1, 0)); // 4
    }
    CHECK(c.send_goes_first() == !both);
  }
}

TEST_CASE("maximum_successor_rank: a transfer without a send counts nothing") {
  // u has one remote consumer, v one local one; both are ready at 0.
  workload_builder b;
  for (int i = 0; i < 4; ++i) {
    b.add_op({.work = 1, .bytes = 0});
  }
  b.add_edge(0, 2);
  b.add_edge(1, 3);
  const workload w = std::move(b).build();
  for (const double send_work : {0.0, 1.0}) {
    const platform<uniform_links> q{{{}, {}}, {{.latency = 5}}, send_work};
    const problem p{w, q};
    simulator sim{p, schedule::maximum_successor_rank{}};
    trace run;
    sim.run(plan{{0, 0, 1, 0}}, simulate::recorder{run});
    CHECK(run.ops[0].start == (send_work > 0 ? 0 : 1)); // with sends they tie, and u's path is longer
  }
}

} // namespace schedule_maximum_successor_rank_test
