// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/executor.hpp"

#include "interop/mpi/watchdog.hpp"
#include "support/random_plans.hpp"

#include "weft/execute/static_executor.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace interop_mpi_executor_test {

using namespace weft;
using execute::run_status;

/// `count` ops, each the input of the next, dealt out to the devices.
struct chain {
  chain(std::uint32_t count, std::uint32_t devices, byte_count bytes = 8) {
    workload_builder b;
    for (op_id v = 0; v < count; ++v) {
      b.add_op({.work = 1, .bytes = bytes});
      where.placement.push_back(v % devices);
      if (v > 0) {
        b.add_edge(v - 1, v);
      }
    }
    graph = std::move(b).build();
  }
  workload graph;
  plan where;
};

std::uint32_t num_ranks(const mpi::communicator& all) { return static_cast<std::uint32_t>(all.size()); }

/// Whether all ranks have the same.
bool same(const mpi::communicator& all, const mpi::run_report& r) {
  const auto texts = all.all_gather(std::string{to_string(r.status)} + " " + std::to_string(r.num_finished) + " " +
                                    std::to_string(r.failed) + " " + std::to_string(r.rank) + " " + r.message);
  return std::count(texts.begin(), texts.end(), texts.front()) == all.size();
}

TEST_CASE("mpi::executor: tensors are what one device alone computes, and what threads compute, run after run") {
  const test::watchdog limit;
  const mpi::communicator all;
  rng random{5};
  const workload w = test::random_graph(random, 60, 1000);
  const plan p = test::random_plan(w, random, num_ranks(all));
  execute::program_options keep;
  for (const tensor_id t : ids(w.num_tensors())) {
    keep.keep.push_back(t);
  }
  const execute::program program{w, p, keep};
  execute::memory of_threads{program};
  static_executor threads{program};
  mpi::executor run{all, program};
  execute::memory memory{program, run.devices()};
  for (int i = 1; i <= 3; ++i) {
    const auto report = run(test::hashing_kernel{}, memory);
    CHECK(report.status == run_status::finished);
    CHECK(report.num_finished == w.num_ops());
    CHECK(report.rank == -1);
    CHECK(report.message.empty());
    CHECK(report.trace.ops.empty());
    CHECK_NOTHROW(report.rethrow());
    CHECK(same(all, report));
    threads(test::hashing_kernel{}, of_threads);
    const auto alone = test::tensors_after(w, i, test::hashing_kernel{});
    for (const tensor_id t : ids(w.num_tensors())) {
      if (memory.has(program.buffers()[t].device)) {
        CHECK(std::ranges::equal(memory.tensor(t), alone[t]));
        CHECK(std::ranges::equal(memory.tensor(t), of_threads.tensor(t)));
      }
    }
  }
}

TEST_CASE("mpi::executor: several devices on a rank, as docs/cluster.md shows it") {
  const test::watchdog limit;
  const mpi::communicator some;
  const chain c{12, num_ranks(some)};
  const workload& workload = c.graph;
  const plan& plan = c.where;
  const auto kernel = [](op_id, const execute::op_buffers&) {};
  const weft::mpi::communicator world;
  const weft::execute::program program{workload, plan}; // the same on every rank
  weft::mpi::executor run{world, program};              // device d is rank d
  weft::execute::memory memory{program, run.devices()}; // what this rank needs

  const weft::mpi::run_report report = run(kernel, memory, {.seconds = 60, .record = true});
  report.rethrow(); // if an op threw, on this rank or another
  CHECK(report.status == run_status::finished);
  std::vector<int> by_node;
  // [rank_map]
  for (weft::device_id d = 0; d < program.num_devices(); ++d) {
    by_node.push_back(static_cast<int>(d / 4)); // four devices, and so four threads, on each rank
  }
  weft::mpi::executor nodes{world, program, by_node};
  // [rank_map]
  weft::execute::memory of_nodes{program, nodes.devices()};
  CHECK(nodes(kernel, of_nodes).num_finished == 12);
}

TEST_CASE("mpi::executor: devices are ranks as they are, or as a map says") {
  const test::watchdog limit;
  const mpi::communicator all;
  const chain c{12, num_ranks(all)};
  const execute::program program{c.graph, c.where};
  mpi::executor identity{all, program};
  CHECK(std::ranges::equal(identity.devices(), std::vector{static_cast<device_id>(all.rank())}));
  CHECK(identity.rank_of(1) == 1);

  std::vector<int> last(program.num_devices(), all.size() - 1); // a node of several devices, and ranks without any
  mpi::executor node{all, program, last};
  CHECK(node.devices().size() == (all.rank() == all.size() - 1 ? program.num_devices() : 0u));
  execute::memory memory{program, node.devices()};
  std::atomic<std::size_t> calls = 0;
  const auto report = node([&](op_id, const execute::op_buffers&) { ++calls; }, memory);
  CHECK(report.status == run_status::finished);
  CHECK(report.num_finished == 12);
  CHECK(calls == (all.rank() == all.size() - 1 ? 12u : 0u));

  const workload nothing = workload_builder{}.build();
  const execute::program empty{nothing, {}};
  mpi::executor idle{all, empty};
  execute::memory none_of_it{empty, idle.devices()};
  CHECK(idle([](op_id, const execute::op_buffers&) {}, none_of_it).status == run_status::finished);
}

TEST_CASE("mpi::executor: what does not fit is told on all ranks, by one line") {
  const test::watchdog limit;
  const mpi::communicator all;
  const auto message = [&](const execute::program& p, std::vector<int> ranks) -> std::string {
    try {
      mpi::executor{all, p, std::move(ranks)};
    } catch (const value_error& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  const auto n = std::to_string(all.size());
  const chain many{20, num_ranks(all) + 1}, fits{20, 2}, other{21, 2};
  const execute::program program{fits.graph, fits.where}, different{other.graph, other.where};
  CHECK(message({many.graph, many.where}, {}) ==
        "mpi::executor: rank 0: has no rank " + n + " for device " + n + ", only " + n +
          " ranks; start more of them, or say the rank of each device");
  CHECK(message(program, {0}) == "mpi::executor: rank 0: gives the ranks of 1 devices; the program has 2");
  CHECK(message(program, {0, -1}).starts_with("mpi::executor: rank 0: has no rank -1 for device 1, only"));
  const bool last = all.rank() == all.size() - 1;
  CHECK(message(last ? different : program, {}) ==
        "mpi::executor: rank " + std::to_string(all.size() - 1) +
          " has another program than rank 0; make it from the same workload, plan and options on all of them");
  CHECK(message(program, {0, last ? 0 : 1}) == "mpi::executor: rank " + std::to_string(all.size() - 1) +
                                                 " has other ranks for the devices than rank 0; give the same on all "
                                                 "of them");
  if (all.size() == 4) {
    CHECK(message(all.rank() == 0 ? different : program, {}).starts_with("mpi::executor: ranks 1, 2, 3 have another"));
  }
}

TEST_CASE("mpi::executor: another program's memory, or too little, is a run that failed on all ranks") {
  const test::watchdog limit;
  const mpi::communicator all;
  const chain c{20, num_ranks(all)}, other{21, num_ranks(all)};
  const execute::program program{c.graph, c.where}, different{other.graph, other.where};
  mpi::executor run{all, program};
  execute::memory memory{program, run.devices()}, wrong{different, run.devices()};
  execute::memory small{program, std::vector<device_id>{}};
  const auto kernel = [](op_id, const execute::op_buffers&) {};
  const auto report = run(kernel, all.rank() == 1 ? wrong : memory);
  CHECK(report.status == run_status::failed);
  CHECK(report.message == "rank 1: mpi::executor: the memory belongs to another program");
  CHECK(same(all, report));
  CHECK(run(kernel, all.rank() == 1 ? small : memory).message ==
        "rank 1: mpi::executor: the memory lacks device 1; make it for executor.devices()");
  CHECK(run(kernel, memory).status == run_status::finished);

  const chain alone{20, 1}; // also on a rank that has nothing to do
  const execute::program on_first{alone.graph, alone.where};
  mpi::executor run_alone{all, on_first};
  execute::memory memory_of_first{on_first, run_alone.devices()};
  const auto idle = run_alone(kernel, all.rank() == 1 ? wrong : memory_of_first);
  CHECK(idle.status == run_status::failed);
  CHECK(idle.message == "rank 1: mpi::executor: the memory belongs to another program");
  CHECK(same(all, idle));
  CHECK(run_alone(kernel, memory_of_first).num_finished == 20);
}

TEST_CASE("mpi::executor: ranks that wait inside of MPI hear of faults, too") {
  const test::watchdog limit;
  const mpi::communicator all;
  const chain c{40, num_ranks(all)};
  const execute::program program{c.graph, c.where};
  mpi::executor run{all, program, {}, mpi::waiting::in_mpi};
  execute::memory memory{program, run.devices()};
  const std::string long_text(200'000, 'x'); // takes its time, so that ranks come to the next run one after the other
  for (op_id i = 0; i < 100; ++i) {
    const op_id bad = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 + i % 7 : none;
    const auto report = run(
      [&](op_id v, const execute::op_buffers& b) {
        if (v == bad) {
          throw std::runtime_error(long_text);
        }
        test::hashing_kernel{}(v, b);
      },
      memory);
    REQUIRE(report.status == (bad == none ? run_status::finished : run_status::failed));
    REQUIRE(report.failed == bad);
    REQUIRE((bad != none || report.num_finished == 40));
  }
  CHECK_THROWS_WITH_AS(mpi::executor(all, program, {}, all.rank() == 1 ? mpi::waiting::polling : mpi::waiting::in_mpi),
                       "mpi::executor: rank 1 has another way to wait than rank 0; give the same on all of them",
                       value_error);
}

TEST_CASE("mpi::executor: an exception is told on all ranks, with its op") {
  const test::watchdog limit;
  const mpi::communicator all;
  const chain c{40, num_ranks(all)};
  const execute::program program{c.graph, c.where};
  mpi::executor run{all, program};
  execute::memory memory{program, run.devices()};
  const auto where = run.rank_of(program.device(21));
  const auto report = run(
    [](op_id v, const execute::op_buffers&) {
      if (v == 21) {
        throw std::domain_error("divided by nothing");
      }
    },
    memory);
  CHECK(report.status == run_status::failed);
  CHECK(report.failed == 21);
  CHECK(report.rank == where);
  CHECK(report.num_finished == 21);
  CHECK(report.message == "op 21 on rank " + std::to_string(where) + ": divided by nothing");
  CHECK(same(all, report));
  if (all.rank() == where) {
    CHECK_THROWS_AS(report.rethrow(), std::domain_error);
  } else {
    try {
      report.rethrow();
      FAIL("the others must not go on as if nothing had happened");
    } catch (const mpi::remote_error& e) {
      CHECK(e.what() == report.message);
      CHECK(e.rank == where);
      CHECK(e.op == 21);
    }
  }
  CHECK(run([](op_id, const execute::op_buffers&) { throw 7; }, memory).message ==
        "op 0 on rank 0: an exception that is not a std::exception");
  CHECK(run([](op_id, const execute::op_buffers&) {}, memory).num_finished == 40);
}

TEST_CASE("mpi::executor: a kernel cannot run the executor that runs it") {
  const test::watchdog limit;
  const mpi::communicator all;
  const chain c{4, num_ranks(all)};
  const execute::program program{c.graph, c.where};
  mpi::executor run{all, program};
  execute::memory memory{program, run.devices()};
  const auto report = run(
    [&](op_id v, const execute::op_buffers&) {
      if (v == 1) {
        run([](op_id, const execute::op_buffers&) {}, memory);
      }
    },
    memory);
  CHECK(report.failed == 1);
  CHECK(report.message.ends_with("it is running already; a kernel cannot run the executor that runs it"));
}

TEST_CASE("mpi::executor: a stop token or a deadline of any rank ends all, also when that one waits or is done") {
  const test::watchdog limit;
  const mpi::communicator all;
  const chain c{40, num_ranks(all)};
  const execute::program program{c.graph, c.where};
  mpi::executor run{all, program};
  execute::memory memory{program, run.devices()};
  std::stop_source source;
  // Rank 1 stops it in its first op, after which the chain goes on elsewhere.
  auto report = run(
    [&](op_id v, const execute::op_buffers&) {
      if (v == 1) {
        source.request_stop();
      }
    },
    memory, {.stop = all.rank() == 1 ? source.get_token() : std::stop_token{}});
  CHECK(report.status == run_status::cancelled);
  CHECK(report.message == "cancelled by rank 1");
  CHECK(report.exception == nullptr);
  CHECK(report.num_finished < 40);
  CHECK(same(all, report));

  workload_builder b;
  b.add_op({.work = 1, .bytes = 1});
  b.add_op({.work = 1, .bytes = 1});
  b.add_op({.work = 1, .bytes = 1});
  const workload apart = std::move(b).build();
  const execute::program two{apart, {{0, 1, 1}}};
  mpi::executor run_two{all, two};
  execute::memory memory_of_two{two, run_two.devices()};
  // Rank 0 has a deadline, and op `slow` of rank 1 takes three times as long. On a busy machine rank 0 may not have run
  // its op by then, nor rank 1 have begun op `slow`: then again with more time.
  const auto run_until_deadline = [&](op_id slow, std::size_t finished) {
    mpi::run_report r;
    for (int seconds = 1; seconds <= 16 && r.num_finished != finished; seconds *= 4) {
      r = run_two(
        [&](op_id v, const execute::op_buffers&) {
          if (v == slow) {
            std::this_thread::sleep_for(std::chrono::seconds(3 * seconds));
          }
        },
        memory_of_two, {.seconds = all.rank() == 0 ? seconds : 1e6});
    }
    return r;
  };
  // Rank 0 has come to its end when its deadline passes, and rank 1 is in the first of two ops.
  report = run_until_deadline(1, 2);
  CHECK(report.status == run_status::timed_out);
  CHECK(report.message == "the deadline has passed on rank 0");
  CHECK(report.num_finished == 2);
  CHECK(same(all, report));
  // Now it passes when the last op runs.
  report = run_until_deadline(2, 3);
  CHECK(report.status == run_status::finished);
  CHECK(report.message.empty());
  CHECK(same(all, report));
  report = run_two([](op_id, const execute::op_buffers&) {}, memory_of_two); // nothing is left of the call
  CHECK(report.num_finished == 3);
}

TEST_CASE("mpi::executor: the record of all ranks is one trace") {
  const test::watchdog limit;
  const mpi::communicator all;
  rng random{8};
  const workload w = test::random_graph(random, 60, 3000);
  const plan p = test::random_plan(w, random, 4);
  const execute::program program{w, p};
  std::vector<int> ranks;
  for (device_id d = 0; d < program.num_devices(); ++d) {
    ranks.push_back(static_cast<int>(d) % all.size());
  }
  mpi::executor run{all, program, ranks};
  execute::memory memory{program, run.devices()};
  for (int i = 0; i < 3; ++i) { // only one of them asks for it
    const auto slow = [](op_id, const execute::op_buffers&) {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    };
    const auto report = run(slow, memory, {.record = i == 2 || all.rank() == i});
    CHECK(report.status == run_status::finished);
    const trace& t = report.trace;
    REQUIRE(t.ops.size() == w.num_ops());
    CHECK(report.clock_bound > 0);
    CHECK(report.clock_bound < 10);
    std::size_t recorded = 0;
    for (const op_id v : ids(w.num_ops())) {
      if (t.ops[v].device != none) {
        ++recorded;
        CHECK(t.ops[v].device == program.device(v));
        CHECK(t.ops[v].start >= 0);
        CHECK(t.ops[v].finish > t.ops[v].start);
        CHECK(t.ops[v].finish <= t.makespan);
      }
    }
    if (all.rank() > 0 || i < 2) {
      CHECK(recorded <= w.num_ops());
      continue;
    }
    CHECK(recorded == w.num_ops());
    CHECK(t.transfers.size() == program.messages().size());
    const double slack = 2 * report.clock_bound;
    for (const message& m : program.messages()) {
      const auto x = std::find_if(t.transfers.begin(), t.transfers.end(),
                                  [&](const transfer_record& r) { return r.tensor == m.tensor && r.to == m.to; });
      REQUIRE(x != t.transfers.end());
      CHECK(x->from == m.from);
      CHECK(x->start >= t.ops[w.producer(m.tensor)].finish);
      CHECK(x->arrival >= x->start);
      CHECK(x->arrival <= t.makespan);
      for (const op_id u : w.consumers(m.tensor)) {
        CHECK((program.device(u) != m.to || x->arrival <= t.ops[u].start + slack));
      }
    }
  }
}

TEST_CASE("mpi::executor: messages of zero bytes, and of more than is sent at once") {
  const test::watchdog limit;
  const mpi::communicator all;
  for (const byte_count bytes : {0u, 1u, 3'000'000u}) {
    const chain c{10, num_ranks(all), bytes};
    execute::program_options keep;
    keep.keep = {9};
    const execute::program program{c.graph, c.where, keep};
    mpi::executor run{all, program};
    execute::memory memory{program, run.devices()};
    for (int i = 0; i < 2; ++i) {
      CHECK(run(test::hashing_kernel{}, memory).status == run_status::finished);
    }
    if (memory.has(program.device(9))) {
      CHECK(std::ranges::equal(memory.tensor(9), test::tensors_after(c.graph, 1, test::hashing_kernel{})[9]));
    }
  }
}

} // namespace interop_mpi_executor_test
