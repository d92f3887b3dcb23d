// SPDX-License-Identifier: BSL-1.0
/// Concurrency strategies: a thread policy, a co-run policy and an order of ready ops, and the named compositions.
#pragma once

#include "weft/concurrency/corun.hpp"
#include "weft/concurrency/interference.hpp"
#include "weft/concurrency/threads.hpp"

#include <cstdint>
#include <utility>

namespace weft {
namespace simulate {
struct shared_cores;
}

namespace concurrency {

/// The order of ready ops: the most urgent first.
enum class urgency : std::uint8_t {
  critical_path, ///< the longest way to the end of the graph, by predicted times
  fifo,          ///< the one that became ready first
};

/// Decides, op by op, what runs with how many threads: `threads` once, before the run, `corun` whenever something
/// changes. The same value drives the simulator (simulate/manycore.hpp) and the executor (execute/).
/// ```
/// constexpr weft::concurrency::strategy mine{best_threads{.tolerance = 0.05}, fill_idle{}};
/// ```
template <must_be::thread_policy Threads, must_be::corun_policy Corun>
struct strategy {
  using devices = simulate::shared_cores; ///< what a simulator runs it on

  Threads threads = {};
  Corun corun = {};
  concurrency::urgency urgency = concurrency::urgency::critical_path;
  interference_options interference = {};
};
template <class Threads, class Corun>
strategy(Threads, Corun) -> strategy<Threads, Corun>;
template <class Threads, class Corun>
strategy(Threads, Corun, urgency) -> strategy<Threads, Corun>;
template <class Threads, class Corun>
strategy(Threads, Corun, urgency, interference_options) -> strategy<Threads, Corun>;

/// [CC]'s strategies, added up.
inline constexpr strategy s1{best_threads{}, one_at_a_time{}};
inline constexpr strategy s1_s2{one_team_per_type<>{}, one_at_a_time{}};
inline constexpr strategy s1_s2_s3{one_team_per_type<>{}, fill_idle{}};
inline constexpr strategy s1_s2_s3_s4{one_team_per_type<>{}, with_hyper_threads<>{}};

/// The setting that frameworks recommend: one op at a time on all physical cores. Source: TensorFlow's performance
/// guide, *Tuning MKL* (intra-op: the number of physical cores, inter-op: the number of sockets); with more sockets see
/// `per_socket`.
inline constexpr strategy recommended{uniform_threads{}, one_at_a_time{}, urgency::fifo};

/// As many ops at a time as there are sockets, each on the cores of one.
inline auto per_socket(const machine& m) { return strategy{socket_threads{}, executors{m.sockets}, urgency::fifo}; }

/// All ready ops at once, the cores split equally between them.
inline constexpr strategy equally_split{uniform_threads{}, equal_split{}, urgency::fifo};

/// `inter` ops at a time with `intra` threads each, first come, first served: what a user of a framework sets by hand.
constexpr auto uniform(std::uint32_t inter, std::uint32_t intra) {
  return strategy{uniform_threads{intra}, executors{inter}, urgency::fifo};
}

/// `inter` executors of `intra` threads each that take ops in critical-path order. Source: Tang, Wang, Willke, Li,
/// *Scheduling Computation Graphs of Deep Learning Models on Manycore CPUs*, arXiv 1807.09667, §4.
constexpr auto symmetric(std::uint32_t inter, std::uint32_t intra) {
  return strategy{uniform_threads{intra}, executors{inter}, urgency::critical_path};
}

namespace detail {
template <class S>
inline constexpr bool is_strategy = false;
template <class T, class C>
inline constexpr bool is_strategy<strategy<T, C>> = true;
} // namespace detail

} // namespace concurrency

/// A value that says how ops share the cores of a machine.
template <class S>
concept concurrency_strategy = concurrency::detail::is_strategy<S>;

namespace why_not {
template <class S>
struct concurrency_strategy {
  static_assert(weft::concurrency_strategy<S>,
                "weft: this is not a concurrency strategy, such as concurrency::s1_s2_s3 or "
                "concurrency::strategy{thread policy, co-run policy}; see docs/concurrency.md");
};
} // namespace why_not

namespace must_be {
template <class S>
concept concurrency_strategy = weft::concurrency_strategy<S> || explained<why_not::concurrency_strategy<S>>;
} // namespace must_be

} // namespace weft
