// SPDX-License-Identifier: BSL-1.0
/// Hosts with fewer cores than ranks, which then share cores: times that are measured there say little.
#pragma once

#include "weft/interop/mpi/communicator.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

namespace weft::mpi {

/// The cores that the calling thread may run on, by its affinity (of the launcher, `taskset` or a container),
/// ascending; hardware threads of one core count as one. A limit of processor time, such as `docker --cpus`, is not
/// seen. If the system does not say: 0, 1, … up to the number of threads.
inline std::vector<int> allowed_cores() {
  std::vector<int> cores;
#ifdef __linux__
  constexpr std::size_t max_cpus = 1 << 14;
  std::vector<cpu_set_t> allowed(max_cpus / CPU_SETSIZE);
  const std::size_t bytes = allowed.size() * sizeof(cpu_set_t);
  if (sched_getaffinity(0, bytes, allowed.data()) == 0) {
    for (std::size_t cpu = 0; cpu < max_cpus; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, allowed.data())) {
        int core = static_cast<int>(cpu);
        std::ifstream{"/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list"} >> core;
        cores.push_back(core); // the first of its threads
      }
    }
  }
#endif
  if (cores.empty()) {
    cores.resize(std::max(std::thread::hardware_concurrency(), 1u));
    std::iota(cores.begin(), cores.end(), 0);
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

/// A host that cannot give each of its ranks a core.
struct crowded_host {
  std::string name;
  std::size_t ranks = 0;
  std::size_t cores = 0; ///< how many of the ranks can have a core of their own
  friend bool operator==(const crowded_host&, const crowded_host&) = default;
};

namespace detail {

/// A matching of ranks and the cores that they may run on, as large as possible (Kuhn 1955).
class core_matching {
public:
  explicit core_matching(std::vector<const std::vector<int>*> allowed) : allowed_{std::move(allowed)} {
    for (const auto* cores : allowed_) {
      for (const int core : *cores) {
        rank_of_.resize(std::max(rank_of_.size(), static_cast<std::size_t>(core) + 1), no_rank);
      }
    }
    for (std::size_t r = 0; r < allowed_.size(); ++r) {
      seen_.assign(rank_of_.size(), false);
      size_ += assign(r) ? 1u : 0u;
    }
  }
  std::size_t size() const { return size_; }

private:
  static constexpr auto no_rank = static_cast<std::size_t>(-1);

  bool assign(std::size_t r) { // a core for this rank, for which others may take other ones
    return std::any_of(allowed_[r]->begin(), allowed_[r]->end(), [&](int c) {
      const auto core = static_cast<std::size_t>(c);
      if (seen_[core]) {
        return false;
      }
      seen_[core] = true;
      if (rank_of_[core] != no_rank && !assign(rank_of_[core])) {
        return false;
      }
      rank_of_[core] = r;
      return true;
    });
  }

  std::vector<const std::vector<int>*> allowed_; // by rank
  std::vector<std::size_t> rank_of_;             // by core
  std::vector<bool> seen_;                       // by core
  std::size_t size_ = 0;
};

} // namespace detail

/// The hosts whose ranks cannot run all at once, ordered by their first rank. Rank r is on `hosts[r]` and may run on
/// `cores[r]`; a host that is left out has a core for each. Complexity: O(ranks² · cores) per host.
inline std::vector<crowded_host> crowded_hosts(std::span<const std::string> hosts,
                                               std::span<const std::vector<int>> cores) {
  std::vector<crowded_host> found;
  for (std::size_t first = 0; first < hosts.size(); ++first) {
    if (std::find(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(first), hosts[first]) !=
        hosts.begin() + static_cast<std::ptrdiff_t>(first)) {
      continue;
    }
    std::vector<const std::vector<int>*> here;
    for (std::size_t r = first; r < hosts.size(); ++r) {
      if (hosts[r] == hosts[first]) {
        here.push_back(&cores[r]);
      }
    }
    const auto ranks = here.size();
    if (const auto at_once = detail::core_matching{std::move(here)}.size(); at_once < ranks) {
      found.push_back({hosts[first], ranks, at_once});
    }
  }
  return found;
}

/// The same of the ranks of a communicator. Collective.
inline std::vector<crowded_host> crowded_hosts(const communicator& all) {
  const auto mine = allowed_cores();
  const auto cores = all.all_gather(std::span<const int>{mine});
  return crowded_hosts(host_names(all), cores);
}

} // namespace weft::mpi
