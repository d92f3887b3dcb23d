// SPDX-License-Identifier: BSL-1.0
// A tensor with more bytes than an int can count.
#include "weft/interop/mpi/executor.hpp"

#include "interop/mpi/watchdog.hpp"

#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include <unistd.h>

namespace interop_mpi_executor_large_test {

using namespace weft;

TEST_CASE("mpi::executor: a tensor of 2.2 GiB goes from one rank to the other") {
  const test::watchdog limit;
  const mpi::communicator all;
  constexpr byte_count bytes = (byte_count{22} << 30) / 10 + 3;
  const auto asked = [](int what) { return static_cast<byte_count>(::sysconf(what)); };
  const auto free_of_all = all.all_gather(asked(_SC_AVPHYS_PAGES) * asked(_SC_PAGESIZE));
  if (all.size() != 2 || free_of_all[0] < byte_count{8} << 30) { // as rank 0 sees it, so that both go the same way
    MESSAGE("skipped: it takes 2 ranks and 8 GiB of free memory, of which there are " << (free_of_all[0] >> 30));
    return;
  }
  workload_builder b;
  b.add_op({.work = 1, .bytes = bytes});
  b.add_op({.work = 1, .bytes = 8});
  b.add_edge(0, 1);
  const workload w = std::move(b).build();
  const execute::program program{w, {{0, 1}}};
  mpi::executor run{all, program};
  execute::memory memory{program, run.devices()};
  constexpr std::size_t step = 1'000'003; // an odd number of bytes apart, to the last one
  const auto report = run(
    [&](op_id v, const execute::op_buffers& x) {
      if (v == 0) {
        for (std::size_t i = 0; i < bytes; i += step) {
          x.outputs[0][i] = static_cast<std::byte>(1 + i / step % 251);
        }
        x.outputs[0][bytes - 1] = std::byte{77};
        return;
      }
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < bytes; i += step) {
        wrong += x.inputs[0][i] != static_cast<std::byte>(1 + i / step % 251) && i != bytes - 1;
        wrong += i > 0 && x.inputs[0][i - 1] != std::byte{0} && i - 1 != bytes - 1;
      }
      CHECK(wrong == 0);
      CHECK(x.inputs[0].size() == bytes);
      CHECK(x.inputs[0][bytes - 1] == std::byte{77});
    },
    memory);
  CHECK(report.status == execute::run_status::finished);
  INFO(report.message);
  CHECK(report.num_finished == 2);
}

} // namespace interop_mpi_executor_large_test
