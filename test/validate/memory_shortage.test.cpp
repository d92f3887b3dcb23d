// SPDX-License-Identifier: BSL-1.0
#include "weft/validate/memory_shortage.hpp"

#include "simulate/random_problem.hpp"
#include "validate/scene.hpp"

#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace validate_memory_shortage_test {

using namespace weft;
using test::drawn;
using weft_test::scene;

/// What is alive on d at an instant, word for word by the definition: a sum over all tensors and devices.
template <class Problem>
byte_count held_at(const Problem& p, const placement& where, const trace& run, device_id d, double now) {
  const auto& w = p.workload();
  byte_count sum = 0;
  for (const op_id v : ids(p.num_ops())) {
    sum += where[v] == d ? w.resident_bytes(v) : 0;
  }
  for (const tensor_id t : ids(p.num_tensors())) {
    const op_id u = w.producer(t);
    const auto last_use = [&](op_id c) { return is_overwritten(w, t) ? run.ops[c].start : run.ops[c].finish; };
    double from = 0;
    double until = -1;
    if (where[u] == d) {
      from = run.ops[u].start;
      until = run.ops[u].finish;
      for (const op_id c : w.consumers(t)) {
        until = where[c] == d ? std::max(until, last_use(c)) : until;
      }
      for (const auto& x : run.transfers) {
        until = x.tensor == t ? std::max(until, x.send_finish) : until;
      }
    } else {
      for (const auto& x : run.transfers) {
        if (x.tensor == t && x.to == d) {
          from = x.start;
          until = x.arrival;
          for (const op_id c : w.consumers(t)) {
            until = where[c] == d ? std::max(until, last_use(c)) : until;
          }
        }
      }
    }
    const bool is_kept = where[u] == d && is_resident(w, t);
    sum += from <= now && now < until && !is_kept ? w.bytes(t) : 0;
  }
  return sum;
}

template <class Problem>
std::set<double> instants(const Problem& p, const trace& run) {
  std::set<double> times{0};
  for (const op_id v : ids(p.num_ops())) {
    times.insert({run.ops[v].start, run.ops[v].finish});
  }
  for (const auto& x : run.transfers) {
    times.insert({x.send_start, x.send_finish, x.start, x.arrival});
  }
  return times;
}

TEST_CASE("memory_shortages: tracker, validator and the definition agree on thousands of random runs") {
  rng random{17};
  int short_ones = 0;
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const drawn s{random, {.capacity = random.below(60)}};
    const auto where = test::random_placement(random, s.p);
    trace run;
    if (round % 2 == 0) {
      simulator<test::drawn_problem, schedule::fifo>{s.p}.run({where, {}}, simulate::recorder{run});
    } else {
      simulator<test::drawn_problem, schedule::static_order>{s.p}.run({where, {}}, simulate::recorder{run});
    }
    std::vector<byte_count> peak(s.p.num_devices(), 0);
    std::vector<double> first(s.p.num_devices(), 0);
    for (const double now : instants(s.p, run)) {
      for (const device_id d : ids(s.p.num_devices())) {
        const auto held = held_at(s.p, where, run, d, now);
        if (held > peak[d]) {
          peak[d] = held;
          first[d] = now;
        }
      }
    }
    REQUIRE(peak_memory_of(s.p, where, run) == peak);
    simulate::memory_tracker memory{s.p};
    memory.follow(where, run);
    REQUIRE(memory.peaks() == peak);

    const auto found = memory_shortages(s.p, where, run);
    auto next = found.begin();
    for (const device_id d : ids(s.p.num_devices())) {
      if (peak[d] <= s.p.platform().memory_capacity(d)) {
        continue;
      }
      ++short_ones;
      REQUIRE(next != found.end());
      CHECK(next->device == d);
      CHECK(next->peak == peak[d]);
      CHECK(next->time == first[d]);
      CHECK(next->capacity == s.p.platform().memory_capacity(d));
      byte_count sum = next->resident;
      for (std::size_t i = 0; i < next->alive.size(); ++i) {
        const auto& t = next->alive[i];
        sum += t.bytes;
        CHECK(t.bytes == s.w.bytes(t.tensor));
        CHECK(t.producer == s.w.producer(t.tensor));
        CHECK(t.received == (where[t.producer] != d));
        CHECK((t.keeper == none || where[t.keeper] == d));
        CHECK((i == 0 || next->alive[i - 1].bytes >= t.bytes));
      }
      CHECK(sum == next->peak);
      ++next;
    }
    CHECK(next == found.end());
    CHECK(found.empty() == !memory.overflow());
  }
  CHECK(short_ones > 1000);
}

TEST_CASE("memory_shortages: what fills the devices of the scene, in words") {
  const scene s;
  CHECK(memory_shortages(s.p, s.where, s.run).empty());
  // Half of the memory: device 0 has 100 for 110, device 1 enough.
  const auto found = memory_shortages(s.p.with_memory_share(0.5), s.where, s.run);
  REQUIRE(found.size() == 1);
  CHECK(found[0].device == 0);
  CHECK(found[0].time == 3);
  CHECK(found[0].peak == 110);
  CHECK(found[0].capacity == 100);
  CHECK(found[0].excess() == 10);
  CHECK(found[0].resident == 100);
  REQUIRE(found[0].alive.size() == 2);
  CHECK(found[0].alive[0] == memory_shortage::live_tensor{scene::x, scene::a, 8, scene::e, false});
  CHECK(found[0].alive[1] == memory_shortage::live_tensor{scene::z, scene::c, 2, none, false}); // its send needs it
  const auto name = [&](op_id v) { return s.w.name(v); };
  const auto device = [](device_id d) { return d == 0 ? std::string{"host"} : std::string{}; };
  CHECK(to_string(found[0], name, device) ==
        "device 0 'host' lacks 10 B at 3 s: it needs 110 B and has 100 B; 100 B are resident and 10 B are 2 tensors\n"
        "  8 B  made by op 0 'a', kept for op 4 'e'\n"
        "  2 B  made by op 2 'c'");
  CHECK(about_shortage(found[0], "the memory that host and gpu share", name, 0) ==
        "the memory that host and gpu share lacks 10 B at 3 s: it needs 110 B and has 100 B; 100 B are resident and "
        "10 B are 2 tensors\n  and 2 smaller ones");
  CHECK(to_string(found[0], 1) ==
        "device 0 lacks 10 B at 3 s: it needs 110 B and has 100 B; 100 B are resident and 10 B are 2 tensors\n"
        "  8 B  made by op 0, kept for op 4\n"
        "  and 1 smaller ones");
  // With nothing to hold, every device is listed with its worst moment.
  const auto all = memory_shortages(s.p.with_capacities({0, 0}), s.where, s.run);
  REQUIRE(all.size() == 2);
  CHECK(all[1].peak == 22);
  CHECK(all[1].time == 6);
  CHECK(all[1].alive.front() == memory_shortage::live_tensor{scene::x, scene::a, 8, scene::b, true});
  CHECK(to_string(all[1]).find("a copy of what op 0 made, kept for op 1") != std::string::npos);
}

} // namespace validate_memory_shortage_test
