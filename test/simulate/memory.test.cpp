// SPDX-License-Identifier: BSL-1.0
#include "simulate/random_problem.hpp"
#include "validate/scene.hpp"

#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

namespace simulate_memory_test {

using namespace weft;
using test::drawn;
using weft_test::scene;

bool same(const simulate::memory_sample& a, double time, device_id d, byte_count bytes) {
  return a.time == time && a.device == d && a.bytes == bytes;
}

TEST_CASE("memory_tracker: the documented example") {
  // Device 0 keeps 100 bytes; x (8) lives there in [0, 11), z (2) in [3, 10).
  // Device 1 keeps 10; x lives there in [3, 8), y (4) in [6, 12.5), z in [10, 12.5).
  const scene s;
  simulate::memory_tracker memory{s.p};
  memory.follow(s.where, s.run);
  CHECK(memory.peaks() == std::vector<byte_count>{110, 22});
  CHECK(memory.largest_peak() == 110);
  CHECK_FALSE(memory.overflow());
  const auto samples = memory.samples(s.where);
  REQUIRE(samples.size() == 10);
  CHECK(same(samples[0], 0, 0, 108));
  CHECK(same(samples[1], 0, 1, 10));
  CHECK(same(samples[2], 3, 0, 110));
  CHECK(same(samples[3], 3, 1, 18));
  CHECK(same(samples[4], 6, 1, 22));
  CHECK(same(samples[5], 8, 1, 14));
  CHECK(same(samples[6], 10, 0, 108));
  CHECK(same(samples[7], 10, 1, 16));
  CHECK(same(samples[8], 11, 0, 100));
  CHECK(same(samples[9], 12.5, 1, 10));
}

/// The scene with other capacities.
struct limited {
  limited(byte_count first, byte_count second)
      : q{{{.kind = device_kind::cpu, .speed = 1, .memory_capacity = first},
           {.kind = device_kind::gpu, .speed = 2, .memory_capacity = second}},
          {{.latency = 1, .bandwidth = 4}},
          1} {}
  scene s;
  platform<uniform_links> q;
  problem<workload, platform<uniform_links>> p{s.w, q};

  std::optional<simulate::out_of_memory> overflow() const {
    simulate::memory_tracker memory{p};
    memory.follow(s.where, s.run);
    return memory.overflow();
  }
};

void check(const std::optional<simulate::out_of_memory>& o, device_id d, double time, byte_count bytes,
           byte_count capacity) {
  REQUIRE(o);
  CHECK(o->device == d);
  CHECK(o->time == time);
  CHECK(o->bytes == bytes);
  CHECK(o->capacity == capacity);
}

TEST_CASE("memory_tracker: out of memory at the first moment and on the right device") {
  CHECK_FALSE(limited{110, 22}.overflow());
  check(limited{109, 22}.overflow(), 0, 3, 110, 109);
  check(limited{110, 21}.overflow(), 1, 6, 22, 21);
  check(limited{109, 21}.overflow(), 0, 3, 110, 109);
  check(limited{109, 17}.overflow(), 0, 3, 110, 109); // both at 3
  check(limited{110, 17}.overflow(), 1, 3, 18, 17);
  check(limited{107, 22}.overflow(), 0, 0, 108, 107);
  check(limited{99, 9}.overflow(), 0, 0, 108, 99);
  check(limited{110, 9}.overflow(), 1, 0, 10, 9); // resident bytes alone
}

template <class Contention>
void compare_with_oracle(std::uint64_t seed) {
  rng random{seed};
  int overflows = 0;
  for (int round = 0; round < 1500; ++round) {
    CAPTURE(round);
    const drawn s{random, {.capacity = 15 + random.below(60)}};
    const auto where = test::random_placement(random, s.p);
    trace run;
    simulator<test::drawn_problem, schedule::fifo, Contention> sim{s.p};
    sim.run(plan{where}, simulate::recorder{run});
    simulate::memory_tracker memory{s.p};
    memory.follow(where, run);
    const auto peaks = peak_memory_of(s.p, where, run);
    CHECK(memory.peaks() == peaks);
    CHECK(memory.largest_peak() == *std::max_element(peaks.begin(), peaks.end()));

    const auto samples = memory.samples(where);
    std::vector<byte_count> highest(s.p.num_devices(), 0);
    std::vector<byte_count> last(s.p.num_devices(), 0);
    std::vector<byte_count> resident(s.p.num_devices(), 0);
    for (const op_id v : ids(s.p.num_ops())) {
      resident[where[v]] += s.w.resident_bytes(v);
    }
    const simulate::memory_sample* first_above = nullptr;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto& x = samples[i];
      CHECK((i == 0 || samples[i - 1].time < x.time ||
             (samples[i - 1].time == x.time && samples[i - 1].device < x.device)));
      highest[x.device] = std::max(highest[x.device], x.bytes);
      last[x.device] = x.bytes;
      if (first_above == nullptr && x.bytes > s.q.memory_capacity(x.device)) {
        first_above = &x;
      }
    }
    CHECK(highest == peaks);
    CHECK(last == resident);
    REQUIRE(memory.overflow().has_value() == (first_above != nullptr));
    if (first_above != nullptr) {
      ++overflows;
      check(memory.overflow(), first_above->device, first_above->time, first_above->bytes,
            s.q.memory_capacity(first_above->device));
    }
    const bool found =
      !validate(s.p, where, run,
                {.contention = std::is_same_v<Contention, simulate::no_contention>  ? contention_model::none
                               : std::is_same_v<Contention, simulate::fair_sharing> ? contention_model::fair
                                                                                    : contention_model::port,
                 .check_memory = true})
         .empty();
    CHECK((memory.overflow().has_value() ? found : true));
  }
  CHECK(overflows > 100);
  CHECK(overflows < 1400);
}

TEST_CASE("memory_tracker: peaks, levels and the first overflow of random runs, as the validator computes them") {
  compare_with_oracle<simulate::no_contention>(1);
  compare_with_oracle<simulate::port_contention>(2);
  compare_with_oracle<simulate::fair_sharing>(3);
}

TEST_CASE("memory_tracker: kept between runs, it forgets the run before") {
  const scene s;
  const placement all_on_gpu(5, 1);
  simulate::memory_tracker memory{s.p};
  memory.follow(s.where, s.run);
  // a [0, 1), b [1, 3), c [3, 6), d [6, 7), e [7, 7.5): x in [0, 7.5), y in [1, 7), z in [3, 7); 110 resident.
  trace run;
  simulator sim{s.p, schedule::static_order{}};
  order steps;
  for (op_id v = 0; v < 5; ++v) {
    steps.push_back(step::run(v));
  }
  sim.run(plan{all_on_gpu, steps}, simulate::recorder{run});
  memory.follow(all_on_gpu, run);
  CHECK(memory.peaks() == std::vector<byte_count>{0, 110 + 8 + 4 + 2});
  check(memory.overflow(), 1, 0, 118, 100);
  memory.follow(s.where, s.run);
  CHECK(memory.peaks() == std::vector<byte_count>{110, 22});
  CHECK_FALSE(memory.overflow());
}

} // namespace simulate_memory_test
