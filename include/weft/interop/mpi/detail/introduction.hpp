// SPDX-License-Identifier: BSL-1.0
/// The handshake of ranks before they run anything together.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/random.hpp"
#include "weft/interop/mpi/communicator.hpp"
#include "weft/interop/mpi/detail/peer_watch.hpp"
#include "weft/interop/mpi/waiting.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace weft::mpi::detail {

/// Of one rank. A text follows: the host that it runs on, and what is wrong.
struct introduction {
  std::uint64_t fingerprint = 0; ///< of its program
  std::uint64_t map = 0;         ///< the same for the ranks of devices
  std::uint64_t how = 0;         ///< it waits
  peer_watch::process_id process = {};
  std::uint64_t host_length = 0;
};

/// Throws `value_error` unless a value is the same on all ranks.
inline void must_be_equal(std::span<const introduction> all, std::uint64_t introduction::*value, const char* what,
                          const char* remedy) {
  constexpr std::size_t most = 8;
  std::string others;
  std::size_t count = 0;
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r].*value != all[0].*value && ++count <= most) {
      others += (count == 1 ? "" : ", ") + std::to_string(r);
    }
  }
  if (count > most) {
    others += " and " + std::to_string(count - most) + " more";
  }
  if (count > 0) {
    throw value_error("mpi::executor", (count == 1 ? "rank " + others + " has " : "ranks " + others + " have ") + what +
                                         " than rank 0; " + remedy);
  }
}

/// Throws on all ranks if something is wrong on any, or if they do not mean the same; else says what processes they
/// are, by rank. Collective.
inline std::vector<peer_watch::process> introduce(const communicator& ranks, std::uint64_t fingerprint,
                                                  std::span<const int> rank_of, waiting how,
                                                  const std::string& wrong) {
  const auto host = host_name();
  introduction mine{.fingerprint = fingerprint, .how = static_cast<std::uint64_t>(how), .host_length = host.size()};
  for (const int r : rank_of) {
    mine.map = rng::mix(mine.map ^ (static_cast<std::uint64_t>(r) + 0x9e3779b97f4a7c15u));
  }
  std::string bytes(sizeof mine, '\0');
  std::memcpy(bytes.data(), &mine, sizeof mine);
  std::vector<introduction> all;
  std::vector<peer_watch::process> processes;
  for (const std::string& theirs : ranks.all_gather(bytes + host + wrong)) {
    introduction& i = all.emplace_back();
    std::memcpy(&i, theirs.data(), sizeof i);
    const auto text = theirs.substr(sizeof i);
    if (text.size() > i.host_length) {
      throw value_error("mpi::executor: rank " + std::to_string(all.size() - 1), text.substr(i.host_length));
    }
    processes.push_back({i.process, text});
  }
  must_be_equal(all, &introduction::fingerprint, "another program",
                "make it from the same workload, plan and options on all of them");
  must_be_equal(all, &introduction::map, "other ranks for the devices", "give the same on all of them");
  must_be_equal(all, &introduction::how, "another way to wait", "give the same on all of them");
  return processes;
}

} // namespace weft::mpi::detail
