// SPDX-License-Identifier: BSL-1.0
/// The machine that the program runs on, and pinning of threads to its cores.
#pragma once

#include "weft/core/error.hpp"
#include "weft/execute/teams.hpp"
#include "weft/platform/machine.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hwloc.h>

namespace weft {

/// The topology of this machine, as far as the process may use it. Component `weft::hwloc`.
class local_topology {
public:
  /// Throws `error` if hwloc cannot read it.
  local_topology() {
    hwloc_topology_t t = nullptr;
    const bool made = hwloc_topology_init(&t) == 0;
    topology_.reset(made ? t : nullptr);
    // Only what the process may use: it may have been bound to some cores by whoever started it.
    const auto flags = HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING;
    if (!made || hwloc_topology_set_flags(t, flags) != 0 || hwloc_topology_load(t) != 0) {
      throw error("hwloc: cannot read the topology of this machine");
    }
    for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_CORE, core)) != nullptr;) {
      cores_.push_back(core);
    }
    if (cores_.empty()) { // some virtual machines show no cores
      for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu)) != nullptr;) {
        cores_.push_back(pu);
      }
    }
  }

  /// Cores, hardware threads, sockets and the cores that share a cache below the socket's. Speeds and bandwidths keep
  /// their defaults: execute/calibrate.hpp measures them.
  machine describe() const {
    const auto count = [this](hwloc_obj_type_t type) {
      return static_cast<std::uint32_t>(std::max(hwloc_get_nbobjs_by_type(topology_.get(), type), 0));
    };
    machine m;
    const auto cores = std::max<std::uint32_t>(static_cast<std::uint32_t>(cores_.size()), 1);
    const auto sockets = std::max(count(HWLOC_OBJ_PACKAGE), 1u);
    m.sockets = cores % sockets == 0 ? sockets : 1;
    m.cores_per_socket = cores / m.sockets;
    m.threads_per_core = std::max(count(HWLOC_OBJ_PU) / cores, 1u);
    m.smt_gain = 1;
    for (const auto level : {HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE}) {
      const auto caches = count(level);
      if (caches > m.sockets && cores % caches == 0 && m.cores_per_socket % (cores / caches) == 0) {
        m.cores_per_tile = cores / caches;
      }
    }
    const hwloc_obj_t package = hwloc_get_obj_by_type(topology_.get(), HWLOC_OBJ_PACKAGE, 0);
    const char* model = package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
    m.name = (model == nullptr ? std::string{"this machine"} : std::string{model}) + ", " + std::to_string(cores) +
             (cores == 1 ? " core" : " cores");
    return m;
  }

  std::size_t num_cores() const { return cores_.size(); }

  /// A set of processors, as hwloc has it.
  using processors = std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)>;

  /// The processors that the calling thread may run on now; empty if the system does not say.
  processors binding() const {
    processors set{hwloc_bitmap_alloc(), hwloc_bitmap_free};
    if (hwloc_get_cpubind(topology_.get(), set.get(), HWLOC_CPUBIND_THREAD) != 0) {
      set.reset();
    }
    return set;
  }
  bool bind(const processors& set) const {
    return set && hwloc_set_cpubind(topology_.get(), set.get(), HWLOC_CPUBIND_THREAD) == 0;
  }

  /// Binds the calling thread to some cores (all of them if `cores` is empty). False where the system does not allow
  /// it.
  bool bind(std::span<const std::uint32_t> cores) const {
    const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> set{hwloc_bitmap_alloc(), hwloc_bitmap_free};
    for (const auto core : cores) {
      hwloc_bitmap_or(set.get(), set.get(), cores_[core]->cpuset);
    }
    const auto wanted = cores.empty() ? hwloc_topology_get_allowed_cpuset(topology_.get()) : set.get();
    return hwloc_set_cpubind(topology_.get(), wanted, HWLOC_CPUBIND_THREAD) == 0;
  }

private:
  struct destroy {
    void operator()(hwloc_topology_t t) const { hwloc_topology_destroy(t); }
  };
  std::unique_ptr<hwloc_topology, destroy> topology_;
  std::vector<hwloc_obj_t> cores_;
};

namespace execute {

/// Binds each runner to the cores of its op before `Base` runs it; the calling thread, runner 0, is let go afterwards.
/// Threads that a runtime makes for the runner inherit the binding when they are made; those of OpenMP's pools keep the
/// one of their first team, so pin these with OMP_PLACES instead. Where the system does not allow binding, and in runs
/// that have no cores to themselves (nested ones), it does nothing.
template <team_runner Base>
class pinned {
public:
  explicit pinned(Base base = {}) : base_{std::move(base)}, topology_{std::make_unique<local_topology>()} {}

  template <class Call>
  void operator()(const seat& s, Call&& call) {
    const bool known = !s.cores.empty() && std::ranges::all_of(s.cores, [this](auto core) {
      return core < topology_->num_cores();
    });
    if (!known) {
      base_(s, std::forward<Call>(call));
      return;
    }
    struct restore {
      const local_topology& topology;
      local_topology::processors before;
      ~restore() { topology.bind(before); }
    } const at_end{*topology_,
                   s.runner == 0 ? topology_->binding() : local_topology::processors{nullptr, hwloc_bitmap_free}};
    topology_->bind(s.cores);
    base_(s, std::forward<Call>(call));
  }

private:
  Base base_;
  std::unique_ptr<local_topology> topology_;
};

} // namespace execute
} // namespace weft
