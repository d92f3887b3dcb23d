// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/memory.hpp"

#include "simulate/random_problem.hpp"
#include "support/random_plans.hpp"
#include "support/small_problem.hpp"

#include "weft/execute/static_executor.hpp"
#include "weft/validate/program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory_resource>
#include <new>
#include <numeric>
#include <vector>

namespace execute_memory_test {

using namespace weft;

/// a = 0, b = 1, c = 2, d = 3; a -> {b, c} -> d.
const workload diamond = test::diamond();

/// Counts what it gives and gets back.
class counting_resource : public std::pmr::memory_resource {
public:
  std::size_t blocks = 0, bytes = 0, max_alignment = 0;

private:
  void* do_allocate(std::size_t n, std::size_t alignment) override {
    if (n > 10'000) {
      throw std::bad_alloc{};
    }
    ++blocks;
    bytes += n;
    max_alignment = std::max(max_alignment, alignment);
    return std::pmr::new_delete_resource()->allocate(n, alignment);
  }
  void do_deallocate(void* p, std::size_t n, std::size_t alignment) override {
    --blocks;
    bytes -= n;
    std::pmr::new_delete_resource()->deallocate(p, n, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST_CASE("memory: one block per device, from whom the user likes") {
  counting_resource resource;
  const execute::program p{diamond, {{0, 1, 0, 1}}};
  {
    const execute::memory memory{p, {.alignment = 256, .resource = &resource}};
    CHECK(resource.blocks == 2);
    CHECK(resource.max_alignment == 256);
    CHECK(resource.bytes == memory.arena_bytes(0) + memory.arena_bytes(1));
    CHECK(memory.arena_bytes(0) == 256 + 512 + 1024 + 3072); // a's and c's tensors, what a and c keep
    CHECK(memory.live_bytes(0) == memory.arena_bytes(0));
    CHECK(memory.resident(2).size() == 3000);
    CHECK(memory.tensor(0).size() == 100);
    CHECK(std::ranges::all_of(memory.resident(2), [](std::byte x) { return x == std::byte{0}; }));
  }
  CHECK(resource.blocks == 0);
  CHECK(resource.bytes == 0);
  const execute::program one{diamond, {{0, 0, 0, 0}}};
  CHECK(execute::memory{one, {.alignment = 16, .resource = &resource}}.arena_bytes(0) < 10'000);
  workload_builder large;
  large.add_op({.work = 1, .bytes = 100});
  large.add_op({.work = 1, .bytes = 20'000});
  const workload w = std::move(large).build();
  const execute::program two{w, {{0, 1}}};
  CHECK_THROWS_AS(execute::memory(two, {.resource = &resource}), std::bad_alloc);
  CHECK(resource.blocks == 0); // the first device's is given back
}

TEST_CASE("memory: of some devices only") {
  const execute::program p{diamond, {{0, 1, 0, 1}}};
  const execute::memory memory{p, std::vector<device_id>{1}};
  CHECK(!memory.has(0));
  CHECK(memory.has(1));
  CHECK(memory.arena_bytes(0) == 0);
  CHECK(memory.tensor(0).empty());
  CHECK(memory.of(3).inputs.size() == 3);
  CHECK(memory.of(3).inputs[2].size() == 300);
  CHECK(memory.of(3).resident.size() == 4000);
  CHECK_THROWS_WITH_AS(execute::memory(p, std::vector<device_id>{2}), "device 2: is not one of the program's 2",
                       value_error);
  static_executor run{p};
  CHECK_THROWS_WITH_AS(run([](op_id, const execute::op_buffers&) {}, memory),
                       "the memory: lacks device 0; make it for all devices", value_error);
  const execute::program other{diamond, {{0, 0, 0, 1}}};
  const execute::memory of_another{other};
  CHECK_THROWS_WITH_AS(run([](op_id, const execute::op_buffers&) {}, of_another),
                       "the memory: was made for another program than the executor", value_error);
}

TEST_CASE("memory: what ops keep stays, and tensors that are kept can be read") {
  const execute::program p{diamond, {{0, 1, 0, 1}}, {.keep = {1}}};
  static_executor run{p};
  const execute::memory memory{p};
  for (int step = 1; step <= 3; ++step) {
    run(
      [](op_id v, const execute::op_buffers& b) {
        if (v == 0) {
          b.resident[0] = static_cast<std::byte>(std::to_integer<int>(b.resident[0]) + 1);
          std::ranges::fill(b.outputs[0], b.resident[0]);
        } else if (v == 1) {
          std::ranges::copy(b.inputs[0], b.outputs[0].begin());
        }
      },
      memory);
    CHECK(memory.tensor(1)[99] == static_cast<std::byte>(step));
  }
}

/// The bytes that the kernels of a random graph leave in the tensors that no op reads.
std::vector<std::byte> results(const workload& w, const placement& where, bool in_place, byte_count& peak) {
  std::vector<tensor_id> sinks;
  for (const tensor_id t : ids(w.num_tensors())) {
    if (w.consumers(t).empty()) {
      sinks.push_back(t);
    }
  }
  const execute::program p{w, {where}, {.keep = sinks, .in_place = in_place}};
  CHECK(validate(w, where, p).empty());
  static_executor run{p};
  const execute::memory memory{p};
  run(
    [](op_id v, const execute::op_buffers& b) { // may find an output where an input is
      unsigned sum = v;
      for (const auto& input : b.inputs) {
        sum = std::accumulate(input.begin(), input.end(), 31 * sum,
                              [](unsigned s, std::byte x) { return 7 * s + std::to_integer<unsigned>(x); });
      }
      for (const auto& output : b.outputs) {
        for (auto& x : output) {
          x = static_cast<std::byte>(sum++);
        }
      }
    },
    memory);
  std::vector<std::byte> all;
  for (const tensor_id t : sinks) {
    all.insert(all.end(), memory.tensor(t).begin(), memory.tensor(t).end());
  }
  peak = 0;
  for (device_id d = 0; d < p.num_devices(); ++d) {
    peak += p.peak_bytes(d);
  }
  return all;
}

TEST_CASE("memory: results are the same whether ops write over inputs or not") {
  rng random{5};
  byte_count plain = 0, in_place = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.kinds = false}};
    const auto where = test::random_placement(random, s.p);
    byte_count a = 0, b = 0;
    CHECK(results(s.w, where, false, a) == results(s.w, where, true, b));
    CHECK(b <= a);
    plain += a;
    in_place += b;
  }
  CHECK(in_place < plain);
}

} // namespace execute_memory_test
