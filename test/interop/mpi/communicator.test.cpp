// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/communicator.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace interop_mpi_communicator_test {

namespace mpi = weft::mpi;

std::vector<std::byte> numbered(std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) {
    bytes[i] = static_cast<std::byte>(i * 31 % 251);
  }
  return bytes;
}

TEST_CASE("communicator: a copy of the caller's, whose messages meet no others") {
  const mpi::communicator a, b;
  int size = 0, rank = -1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(a.size() == size);
  CHECK(a.rank() == rank);
  CHECK(a.max_tag() >= 32767);
  REQUIRE(size >= 2);
  if (rank == 0) { // the same tag on both: what is sent first on a must not be received from b
    a.send(numbered(3), 1, 7);
    b.send(numbered(5), 1, 7);
  } else if (rank == 1) {
    std::vector<std::byte> of_b(5), of_a(3);
    b.receive(of_b, 0, 7);
    a.receive(of_a, 0, 7);
    CHECK(of_b == numbered(5));
    CHECK(of_a == numbered(3));
  }
}

TEST_CASE("communicator: each rank passes a message to the next") {
  const mpi::communicator all;
  const int next = (all.rank() + 1) % all.size(), before = (all.rank() + all.size() - 1) % all.size();
  for (const std::size_t n : {0u, 1u, 1000u, 1'000'000u}) {
    const auto out = numbered(n);
    std::vector<std::byte> in(n, std::byte{255});
    MPI_Request both[] = {all.begin_receive(in, before, 1), all.begin_send(out, next, 1)};
    CHECK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(in == out);
  }
}

TEST_CASE("communicator: what is wrong is one line that names the call, and the ranks go on") {
  const mpi::communicator all;
  const auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const mpi::call_error& e) {
      CHECK(e.error_class != MPI_SUCCESS);
      return e.what();
    }
    return "nothing was thrown";
  };
  const auto text = message([&] { all.send(numbered(1), all.size(), 0); });
  INFO(text);
  CHECK(text.starts_with("MPI_Send to rank " + std::to_string(all.size()) + ": "));
  CHECK(text.size() > 24);
  CHECK(text.find('\n') == text.npos);
  if (all.rank() == 0) {
    all.send(numbered(10), 1, 0);
  } else if (all.rank() == 1) {
    std::vector<std::byte> small(9);
    const auto truncated = message([&] { all.receive(small, 0, 0); });
    INFO(truncated);
    CHECK(truncated.starts_with("MPI_Recv from rank 0: "));
    CHECK(truncated.find('\n') == text.npos);
  }
  all.barrier();
}

TEST_CASE("communicator: every rank learns what every other one gives") {
  const mpi::communicator all;
  const auto rank = static_cast<std::uint32_t>(all.rank());
  std::vector<std::uint32_t> mine(rank); // none of rank 0
  std::iota(mine.begin(), mine.end(), rank);
  const auto lists = all.all_gather(std::span<const std::uint32_t>{mine});
  const auto numbers = all.all_gather(rank * 10);
  const auto texts = all.all_gather("rank" + std::string(rank, '!'));
  REQUIRE(lists.size() == static_cast<std::size_t>(all.size()));
  REQUIRE(numbers.size() == lists.size());
  REQUIRE(texts.size() == lists.size());
  for (std::uint32_t r = 0; r < lists.size(); ++r) {
    std::vector<std::uint32_t> its(r);
    std::iota(its.begin(), its.end(), r);
    CHECK(lists[r] == its);
    CHECK(numbers[r] == r * 10);
    CHECK(texts[r] == "rank" + std::string(r, '!'));
  }
  std::vector<double> values;
  if (rank == 1) {
    values = {1, 2, 0.5};
  } else if (rank == 0) {
    values.resize(7);
  }
  all.broadcast(values, 1);
  CHECK(values == std::vector<double>{1, 2, 0.5});
  const auto hosts = mpi::host_names(all);
  CHECK(hosts.size() == lists.size());
  CHECK_FALSE(hosts.front().empty());
}

TEST_CASE("communicator: moved, it stays what it was") {
  mpi::communicator a;
  const auto handle = a.handle();
  mpi::communicator b{std::move(a)};
  CHECK(b.handle() == handle);
  a = std::move(b);
  CHECK(a.handle() == handle);
  a.barrier();
}

TEST_CASE("message_type: blocks and a rest are as many bytes, and arrive") {
  for (const std::size_t n : {1u, 15u, 16u, 17u, 31u, 32u, 33u, 1000u}) {
    CAPTURE(n);
    const mpi::message_type whole{n}, blocks{n, 16};
    CHECK(whole.type() == MPI_BYTE);
    CHECK(whole.count() == static_cast<int>(n));
    CHECK((blocks.type() == MPI_BYTE) == (n <= 16));
    MPI_Count size = 0;
    CHECK(MPI_Type_size_x(blocks.type(), &size) == MPI_SUCCESS);
    CHECK(static_cast<std::size_t>(size * blocks.count()) == n);
  }
  const mpi::communicator all;
  const std::size_t n = 1003;
  if (all.rank() == 0) {
    const auto out = numbered(n);
    const mpi::message_type m{n, 100};
    CHECK(MPI_Send(out.data(), m.count(), m.type(), 1, 0, all.handle()) == MPI_SUCCESS);
  } else if (all.rank() == 1) {
    std::vector<std::byte> in(2 * n, std::byte{255});
    const mpi::message_type m{in.size(), 64};
    MPI_Status status;
    CHECK(MPI_Recv(in.data(), m.count(), m.type(), 0, 0, all.handle(), &status) == MPI_SUCCESS);
    CHECK(std::vector(in.begin(), in.begin() + n) == numbered(n));
    CHECK(in[n] == std::byte{255});
  }
}

} // namespace interop_mpi_communicator_test
