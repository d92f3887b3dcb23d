// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/starpu/executor.hpp"

#include "interop/starpu/environment.hpp"
#include "interop/starpu/random_step.hpp"

#include "weft/execute/static_executor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace interop_starpu_executor_test {

using namespace weft;
using namespace interop_starpu_test;
using execute::run_status;

/// The ops of each device in the order in which they begin, and whether its worker ran them.
class order_recorder {
public:
  order_recorder(const random_step& s, std::span<const int> workers)
      : placement_{s.plan.placement}, workers_{workers.begin(), workers.end()}, ops_(16) {
    for (auto& of_device : ops_) {
      of_device.reserve(placement_.size());
    }
  }
  void operator()(op_id v) {
    const device_id d = placement_[v];
    strangers_ += starpu_worker_get_id() != workers_[d] ? 1 : 0;
    ops_[d].push_back(v); // by one worker only
  }
  bool follows(const random_step& s) const { return strangers_ == 0 && ops_ == ops_by_device(s); }

private:
  placement placement_;
  std::vector<int> workers_; // by device
  std::vector<std::vector<op_id>> ops_;
  std::atomic<int> strangers_{0};
};

/// Random plans on so many workers: what they compute, and in which order.
void check_random_steps(int num_workers, std::uint64_t num_steps) {
  quiet_session s{num_workers};
  REQUIRE(s.starpu.cpu_workers().size() == static_cast<std::size_t>(num_workers));
  for (std::uint64_t seed = 0; seed < num_steps; ++seed) {
    CAPTURE(seed);
    const auto drawn = draw_step(seed, static_cast<std::uint32_t>(num_workers));
    const auto program = drawn.program();
    starpu::executor run{s.starpu, program};
    const execute::memory memory{program}, same{program};
    static_executor run_on_threads{program};
    for (int step = 1; step <= 2; ++step) { // the second one reads what the first one kept
      order_recorder order{drawn, run.workers()};
      const auto report = run([&](op_id v, const execute::op_buffers& b) {
        order(v);
        test::hashing_kernel{}(v, b);
      }, memory);
      REQUIRE(report.status == run_status::finished);
      REQUIRE(report.num_finished == program.num_ops());
      REQUIRE(order.follows(drawn));
      REQUIRE(holds_results(drawn, memory, step));
      REQUIRE(run_on_threads(test::hashing_kernel{}, same).status == run_status::finished);
      for (const tensor_id t : drawn.kept) {
        REQUIRE(std::ranges::equal(memory.tensor(t), same.tensor(t)));
      }
      for (const op_id v : ids(program.num_ops())) {
        REQUIRE(std::ranges::equal(memory.resident(v), same.resident(v)));
      }
    }
  }
}

TEST_CASE("starpu: random plans compute what static_executor computes, each worker in the plan's order") {
  check_random_steps(1, 50);
  check_random_steps(2, 100);
  check_random_steps(4, 10); // the most in Debian; they may be more than there are cores, and all of them spin
}

TEST_CASE("starpu: kernels without data run after those of their inputs") {
  quiet_session s;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const auto drawn = draw_step(seed, 2);
    const auto& w = drawn.workload;
    starpu::executor run{s.starpu, w, drawn.plan};
    std::vector<std::uint64_t> value(w.num_ops(), 0), expected(w.num_ops(), 0);
    const auto compute = [&](std::vector<std::uint64_t>& to, op_id v) {
      std::uint64_t x = rng::mix(v + 1);
      for (const tensor_id t : w.inputs(v)) {
        x = rng::mix(x * 31 + to[w.producer(t)]);
      }
      to[v] = x;
    };
    for (const op_id v : ids(w.num_ops())) {
      compute(expected, v);
    }
    order_recorder order{drawn, run.workers()};
    const auto report = run([&](op_id v) {
      order(v);
      compute(value, v);
    });
    REQUIRE(report.num_finished == w.num_ops());
    REQUIRE(value == expected);
    REQUIRE(order.follows(drawn));
  }
}

TEST_CASE("starpu: an op that throws ends the run") {
  quiet_session s;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const auto drawn = draw_step(seed, 2);
    const auto& w = drawn.workload;
    if (w.num_ops() == 0) {
      continue;
    }
    starpu::executor run{s.starpu, w, drawn.plan};
    rng random{seed};
    const op_id bad = random.below(w.num_ops());
    std::vector<std::uint8_t> ran(w.num_ops(), 0);
    const auto report = run([&](op_id v) {
      if (v == bad) {
        throw std::runtime_error("op " + std::to_string(v));
      }
      ran[v] = 1;
    });
    REQUIRE(report.status == run_status::failed);
    REQUIRE(report.failed == bad);
    REQUIRE_THROWS_WITH_AS(report.rethrow(), ("op " + std::to_string(bad)).c_str(), std::runtime_error);
    REQUIRE(report.num_finished == static_cast<std::size_t>(std::count(ran.begin(), ran.end(), 1)));
    for (const tensor_id t : w.outputs(bad)) {
      for (const op_id u : w.consumers(t)) {
        REQUIRE_FALSE(ran[u]);
      }
    }
    REQUIRE(run([](op_id) {}).status == run_status::finished); // and nothing is left of it
  }
}

TEST_CASE("starpu: an op that throws ends a run with data, and the next one is as if nothing had been") {
  quiet_session s;
  auto drawn = draw_step(7, 2);
  const auto program = drawn.program();
  REQUIRE(program.num_ops() > 4);
  starpu::executor run{s.starpu, program};
  const execute::memory memory{program};
  for (op_id bad = 0; bad < program.num_ops(); ++bad) {
    const auto report = run([&](op_id v, const execute::op_buffers&) {
      if (v == bad) {
        throw bad;
      }
    }, memory);
    CHECK(report.status == run_status::failed);
    CHECK(report.failed == bad);
  }
  CHECK(run(test::hashing_kernel{}, memory).status == run_status::finished);
  CHECK(holds_results(drawn, memory, 1));
}

TEST_CASE("starpu: a cancel and a deadline let no further op start") {
  quiet_session s;
  const auto drawn = draw_step(7, 2);
  starpu::executor run{s.starpu, drawn.workload, drawn.plan};
  std::stop_source stop;
  std::atomic<int> started{0};
  auto report = run([&](op_id) {
    if (++started == 2) {
      stop.request_stop();
    }
  }, {.stop = stop.get_token(), .record = true});
  CHECK(report.status == run_status::cancelled);
  CHECK(report.num_finished == static_cast<std::size_t>(started));
  CHECK(started <= 3); // the other worker may have been about to start one
  CHECK_FALSE(report.exception);
  CHECK(std::ranges::count_if(report.trace.ops, [](const op_record& r) { return r.device != none; }) == started);

  report = run([](op_id) {}, {.seconds = 0});
  CHECK(report.status == run_status::timed_out);
  CHECK(report.num_finished == 0);
}

TEST_CASE("starpu: a recorded run is a trace of the plan") {
  quiet_session s;
  const auto drawn = draw_step(7, 2);
  const auto& w = drawn.workload;
  starpu::executor run{s.starpu, w, drawn.plan};
  const auto report = run([](op_id) {}, {.record = true});
  REQUIRE(report.trace.ops.size() == w.num_ops());
  for (const auto& ops : ops_by_device(drawn)) {
    double free_at = 0;
    for (const op_id v : ops) {
      const auto& r = report.trace.ops[v];
      CHECK(r.device == drawn.plan.placement[v]);
      CHECK(free_at <= r.start);
      for (const tensor_id t : w.inputs(v)) {
        CHECK(report.trace.ops[w.producer(t)].finish <= r.start);
      }
      CHECK(r.start <= r.finish);
      free_at = r.finish;
    }
    CHECK(free_at <= report.trace.makespan);
  }
  CHECK(report.trace.makespan <= report.seconds);
}

TEST_CASE("starpu: devices may share a worker, which runs an op of them at a time") {
  quiet_session s;
  const auto cpus = s.starpu.cpu_workers();
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const auto drawn = draw_step(seed, 6);
    const auto program = drawn.program();
    starpu::executor run{s.starpu, program, {.workers = {cpus[1], cpus[0], cpus[1], cpus[1], cpus[0], cpus[1]}}};
    const execute::memory memory{program};
    order_recorder order{drawn, run.workers()};
    const auto report = run([&](op_id v, const execute::op_buffers& b) {
      order(v);
      test::hashing_kernel{}(v, b);
    }, memory);
    CHECK(report.status == run_status::finished);
    CHECK(holds_results(drawn, memory, 1));
    CHECK(order.follows(drawn));
  }
}

TEST_CASE("starpu: places are those of the memory, and an op may read and write more than a task has room for") {
  quiet_session s;
  workload_builder b;
  const op_id sum = b.add_op({.bytes = 8});
  for (std::uint32_t i = 0; i < 3 * STARPU_NMAXBUFS; ++i) {
    b.add_edge(b.add_op({.bytes = 8 + i}), sum);
    b.add_output(sum, i);
    b.add_edge(sum, b.add_op({.bytes = 1}), i + 1);
  }
  const workload w = std::move(b).build();
  plan p{placement(w.num_ops(), 1)};
  p.placement[sum] = 0;
  const execute::program program{w, p};
  REQUIRE(program.messages().size() == 6 * STARPU_NMAXBUFS);
  starpu::executor run{s.starpu, program};
  const execute::memory memory{program};
  std::atomic<int> wrong{0};
  const auto report = run([&](op_id v, const execute::op_buffers& x) {
    wrong += &x != &memory.of(v);
    auto in = x.inputs.begin();
    for (const tensor_id t : w.inputs(v)) {
      wrong += in->size() != w.bytes(t) || (!in->empty() && in->back() != std::byte(t));
      ++in;
    }
    auto out = x.outputs.begin();
    for (const tensor_id t : w.outputs(v)) {
      std::ranges::fill(*out++, std::byte(t));
    }
  }, memory);
  CHECK(report.num_finished == w.num_ops());
  CHECK(wrong == 0);
}

TEST_CASE("starpu: several runs at a time") {
  quiet_session s;
  const auto drawn = draw_step(7, 2);
  starpu::executor first{s.starpu, drawn.workload, drawn.plan}, second{s.starpu, drawn.workload, drawn.plan};
  std::atomic<int> finished{0};
  const auto many = [&](starpu::executor& run) {
    for (int i = 0; i < 50; ++i) {
      finished += run([](op_id) {}).status == run_status::finished ? 1 : 0;
    }
  };
  auto in_thread = [&] { many(second); };
  starpu_pthread_t other{};
  starpu_pthread_create(&other, nullptr, [](void* f) -> void* {
    (*static_cast<decltype(in_thread)*>(f))();
    return nullptr;
  }, &in_thread);
  many(first);
  starpu_pthread_join(other, nullptr);
  CHECK(finished == 100);
}

TEST_CASE("starpu: nothing to run") {
  quiet_session s;
  starpu::executor run{s.starpu, workload_builder{}.build(), {}};
  const auto report = run([](op_id) {});
  CHECK(report.status == run_status::finished);
  CHECK(report.num_finished == 0);
}

TEST_CASE("starpu: what cannot be run is told in one line") {
  quiet_session s;
  const auto drawn = draw_step(7, 1);
  const auto n = drawn.workload.num_ops();
  REQUIRE(n > 0);
  CHECK_THROWS_WITH_AS((starpu::executor{s.starpu, drawn.workload, {placement(n, 70)}}),
                       "the plan: has 71 devices, and StarPU 2 CPU workers; set STARPU_NCPU, or say which devices "
                       "share a worker", value_error);
  CHECK_THROWS_WITH_AS((starpu::executor{s.starpu, drawn.workload, {placement(n, 1)}, {.workers = {0}}}),
                       "executor_options.workers: has 1 workers for 2 devices", value_error);
  CHECK_THROWS_WITH_AS((starpu::executor{s.starpu, drawn.workload, drawn.plan, {.workers = {99}}}),
                       "executor_options.workers: names worker 99, which is not one of the 2 CPU workers; see "
                       "session::cpu_workers()", value_error);
  const auto program = drawn.program(), other = draw_step(8, 1).program();
  starpu::executor run{s.starpu, program};
  const auto kernel = [](op_id, const execute::op_buffers&) {};
  const execute::memory wrong{other};
  CHECK_THROWS_WITH_AS(run(kernel, wrong), "the memory: was made for another program than the executor", value_error);
  const execute::memory empty{program, std::vector<device_id>{}};
  CHECK_THROWS_WITH_AS(run(kernel, empty), "the memory: lacks device 0, which runs ops here", value_error);
  const auto report = run([&](op_id) { run([](op_id) {}); });
  CHECK_THROWS_WITH_AS(report.rethrow(),
                       "starpu::executor: called from inside a task, whose worker would wait for itself", error);
}

} // namespace interop_starpu_executor_test
