// SPDX-License-Identifier: BSL-1.0
// What mpi::executor costs above a loop of MPI_Irecv, MPI_Isend and MPI_Wait that is written by hand for the same
// program: empty kernels on two ranks, with tensors of 1 KiB and 1 MiB, in alternating runs of one mpirun. Prints
// microseconds per message and the ratio: of medians, and, for machines that others use too, of 10 % quantiles.
//
//   mpirun -n 2 mpi_overhead_openmpi [seconds per row]
#include "weft/interop/mpi.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace mpi = weft::mpi;

struct task {
  weft::workload workload;
  weft::plan plan;
};

/// Each op on the other device than the one before: messages one after the other.
task there_and_back(std::uint32_t messages, weft::byte_count bytes) {
  weft::workload_builder b;
  weft::plan p;
  for (weft::op_id v = 0; v <= messages; ++v) {
    b.add_op({.work = 1, .bytes = bytes});
    p.placement.push_back(v % 2);
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
  }
  return {std::move(b).build(), p};
}

/// Both devices compute, level after level, and each op reads what both have computed: messages both ways at a time.
task exchange(std::uint32_t messages, weft::byte_count bytes) {
  weft::workload_builder b;
  weft::plan p;
  for (weft::op_id v = 0; v < messages + 2; ++v) {
    b.add_op({.work = 1, .bytes = bytes});
    p.placement.push_back(v % 2);
    if (v > 1) {
      b.add_edge(v - v % 2 - 2, v);
      b.add_edge(v - v % 2 - 1, v);
    }
  }
  return {std::move(b).build(), p};
}

/// Tensors that are there at once, and none of which is waited for before all are sent.
task stream(std::uint32_t messages, weft::byte_count bytes) {
  weft::workload_builder b;
  weft::plan p;
  for (weft::op_id v = 0; v < messages; ++v) {
    b.add_op({.work = 1, .bytes = bytes});
    p.placement.push_back(0);
  }
  for (weft::op_id v = 0; v < messages; ++v) {
    b.add_op({.work = 1, .bytes = 0});
    p.placement.push_back(1);
    b.add_edge(v, messages + v);
  }
  return {std::move(b).build(), p};
}

/// What somebody would write who knows the program, and that nothing goes wrong.
class by_hand {
public:
  by_hand(const weft::execute::program& p, const weft::execute::memory& memory, const mpi::communicator& all)
      : all_{all.handle()}, requests_(p.messages().size()) {
    const auto me = static_cast<weft::device_id>(all.rank());
    for (const auto& i : p.of(me)) {
      if (i.what == weft::instruction::kind::free) {
        continue;
      }
      step s{i.what, i.id, nullptr, 0, 0, 0};
      if (i.what != weft::instruction::kind::run) {
        const auto& m = p.messages()[i.id];
        s.data = memory.bytes(i.what == weft::instruction::kind::send ? m.source : m.target).data();
        s.bytes = static_cast<int>(m.bytes);
        s.peer = static_cast<int>(m.from == me ? m.to : m.from);
        s.tag = static_cast<int>(m.tag);
      }
      steps_.push_back(s);
    }
  }
  template <class Kernel>
  void operator()(Kernel&& kernel, const weft::execute::memory& memory) {
    for (const step& s : steps_) {
      switch (s.what) {
      case weft::instruction::kind::run: kernel(s.id, memory.of(s.id)); break;
      case weft::instruction::kind::send:
        MPI_Isend(s.data, s.bytes, MPI_BYTE, s.peer, s.tag, all_.handle(), &requests_[s.id]);
        break;
      case weft::instruction::kind::receive:
        MPI_Irecv(s.data, s.bytes, MPI_BYTE, s.peer, s.tag, all_.handle(), &requests_[s.id]);
        break;
      case weft::instruction::kind::wait: MPI_Wait(&requests_[s.id], MPI_STATUS_IGNORE); break;
      case weft::instruction::kind::free: break;
      }
    }
  }

private:
  struct step {
    weft::instruction::kind what;
    std::uint32_t id;
    void* data;
    int bytes, peer, tag;
  };
  mpi::communicator all_;
  std::vector<MPI_Request> requests_;
  std::vector<step> steps_;
};

double quantile(std::vector<double> x, std::size_t percent) {
  const auto i = (x.size() - 1) * percent / 100;
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(i), x.end());
  return x[i];
}

void compare(const std::string& name, const task& t, const mpi::communicator& world, double seconds) {
  const weft::execute::program program{t.workload, t.plan};
  mpi::executor run{world, program};
  weft::execute::memory memory{program, run.devices()};
  by_hand loop{program, memory, world};
  std::uint64_t ops = 0;
  const auto kernel = [&](weft::op_id, const weft::execute::op_buffers&) { ++ops; };
  std::vector<double> of_executor, of_loop;
  const auto timed = [&](auto&& f) {
    world.barrier();
    const double begin = MPI_Wtime();
    f();
    world.barrier(); // so that neither is over before both ranks are done
    return (MPI_Wtime() - begin) * 1e6 / static_cast<double>(program.messages().size());
  };
  const double begin = MPI_Wtime();
  for (std::uint8_t again = 1; again != 0;) {
    of_executor.push_back(timed([&] { run(kernel, memory); }));
    of_loop.push_back(timed([&] { loop(kernel, memory); }));
    again = of_loop.size() < 5 || MPI_Wtime() - begin < seconds;
    MPI_Bcast(&again, 1, MPI_UINT8_T, 0, world.handle());
  }
  if (world.rank() == 0) {
    std::printf("%-22s", name.c_str());
    for (const std::size_t q : {50u, 10u}) {
      const double a = quantile(of_executor, q), b = quantile(of_loop, q);
      std::printf(" %9.3f %9.3f  x %.2f ", a, b, a / b);
    }
    std::printf(" (%zu runs)\n", of_loop.size());
  }
}

} // namespace

int main(int argc, char** argv) {
  mpi::session session{argc, argv};
  const mpi::communicator world;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.01;
  if (world.size() != 2) {
    throw weft::error("mpi_overhead: compares on two ranks: mpirun -n 2");
  }
  if (world.rank() == 0) {
    std::printf("us per message         median: executor, by hand       10 %% quantile\n");
  }
  for (const weft::byte_count bytes : {1u << 10, 1u << 20}) {
    const auto size = bytes == 1u << 10 ? std::string{"1 KiB "} : std::string{"1 MiB "};
    const std::uint32_t messages = bytes == 1u << 10 ? 1000 : 50;
    compare(size + "there and back", there_and_back(messages, bytes), world, seconds);
    compare(size + "exchange", exchange(messages, bytes), world, seconds);
    compare(size + "stream", stream(messages, bytes), world, seconds);
  }
}
