// SPDX-License-Identifier: BSL-1.0
/// Notices that another process of the same host has ended.
#pragma once

#include "weft/core/config.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#endif

namespace weft::mpi::detail {

/// The processes of the other ranks on this host, as far as this one can see them. MPI itself says nothing when a
/// process that it reaches through shared memory is killed: whoever waits for its messages waits for good. The kernel
/// of the system knows at once, and is asked here: no heartbeat, no thread. What happens to other hosts is for MPI's
/// network and its launcher to notice.
class peer_watch {
public:
  /// What a rank tells the others of itself.
  struct process_id {
    std::int64_t pid = ::getpid();
    std::uint64_t namespace_id = ids_of_processes(); ///< processes of different containers have ids of their own
  };
  struct process {
    process_id id;
    std::string host;
  };

  peer_watch(std::vector<process> all, int me) : all_{std::move(all)} {
    const process& mine = all_[static_cast<std::size_t>(me)];
    for (int r = 0; const process& other : all_) {
      // Not those that cannot be seen from here, nor a thread of this process, as ranks are in simulators of MPI.
      if (other.id.pid != mine.id.pid && other.id.namespace_id == mine.id.namespace_id && other.host == mine.host) {
        watched_.push_back({r, other.id.pid, -1});
#if defined(__linux__) && defined(SYS_pidfd_open)
        watched_.back().file = static_cast<int>(::syscall(SYS_pidfd_open, other.id.pid, 0));
#endif
      }
      ++r;
    }
  }
  ~peer_watch() {
    for (const peer& p : watched_) {
      if (p.file >= 0) {
        ::close(p.file);
      }
    }
  }
  peer_watch(peer_watch&&) = default; // the vector that is left behind is empty
  peer_watch& operator=(peer_watch&&) = delete;

  /// A rank whose process has ended, or -1.
  int ended() const {
    for (const peer& p : watched_) {
      if (has_ended(p)) {
        return p.rank;
      }
    }
    return -1;
  }

  /// "rank 2 (process 812 on node7)"
  std::string name(int rank) const {
    const process& p = all_[static_cast<std::size_t>(rank)];
    return "rank " + std::to_string(rank) + " (process " + std::to_string(p.id.pid) + " on " + p.host + ")";
  }

private:
  struct peer {
    int rank;
    std::int64_t pid;
    int file; ///< becomes readable when the process ends; -1 where the system has no such thing
  };

  static std::uint64_t ids_of_processes() {
#ifdef __linux__
    struct ::stat s {};
    return ::stat("/proc/self/ns/pid", &s) == 0 ? s.st_ino : 0;
#else
    return 0;
#endif
  }

  static bool has_ended(const peer& p) {
#ifdef __linux__
    if (p.file >= 0) {
      ::pollfd ask{p.file, POLLIN, 0};
      return ::poll(&ask, 1, 0) > 0;
    }
#endif
    return ::kill(static_cast<::pid_t>(p.pid), 0) != 0 && errno == ESRCH;
  }

  std::vector<process> all_; // by rank
  std::vector<peer> watched_;
};

} // namespace weft::mpi::detail
