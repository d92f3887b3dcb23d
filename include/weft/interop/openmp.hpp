// SPDX-License-Identifier: BSL-1.0
/// Teams of OpenMP threads for kernels that use OpenMP, such as oneDNN's.
#pragma once

#include "weft/execute/teams.hpp"

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <omp.h>

namespace weft::execute {

/// Parallel regions inside the kernel have as many threads as the op's team: the number is set for the calling thread
/// only, so ops side by side have teams of their own, and set back afterwards. Component `weft::openmp`.
struct openmp_teams {
  template <class Call>
  void operator()(const seat& s, Call&& call) {
    struct restore {
      int threads;
      ~restore() { omp_set_num_threads(threads); }
    } const at_end{omp_get_max_threads()};
    omp_set_num_threads(static_cast<int>(s.team.threads));
    std::forward<Call>(call)();
  }
};

/// Workers that are the threads of OpenMP: those of the parallel regions that the calling thread begins. Ops that they
/// run have one thread each. Where OpenMP gives fewer, such as inside a parallel region, new threads do the rest;
/// the program ends if the system has no more.
class openmp_crew {
public:
  explicit openmp_crew(std::uint32_t) {}

  /// Runs `f(i)` for i from 0 to `count`, 0 on this thread. f must not throw. Not reentrant.
  template <class F>
  void run(std::uint32_t count, F&& f) {
    const int wanted = static_cast<int>(count + 1);
#pragma omp parallel num_threads(wanted)
    {
      std::vector<std::jthread> others;
      const auto add = [&](int i) noexcept { // those that run would wait for one that could not be made
        others.emplace_back([&f, i] { f(static_cast<std::uint32_t>(i)); });
      };
      for (int i = omp_get_thread_num() == 0 ? omp_get_num_threads() : wanted; i < wanted; ++i) {
        add(i);
      }
      f(static_cast<std::uint32_t>(omp_get_thread_num()));
    }
  }
};

} // namespace weft::execute
