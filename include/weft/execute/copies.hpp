// SPDX-License-Identifier: BSL-1.0
/// Messages between devices of one process: the later of sender and receiver copies.
#pragma once

#include "weft/execute/memory.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

namespace weft::execute {

/// The state of each message of a program. Reused from run to run.
class copies {
public:
  explicit copies(std::size_t num_messages)
      : size_{num_messages}, state_{std::make_unique<std::atomic<std::uint8_t>[]>(num_messages)} {}

  void reset() {
    for (std::size_t m = 0; m < size_; ++m) {
      state_[m].store(0, std::memory_order_relaxed);
    }
  }

  /// The receiver is ready, or the sender has it; true for the second of them, who has to copy and say `finish`.
  bool post(std::uint32_t m) { return (state_[m].fetch_or(posted, std::memory_order_acq_rel) & sent) != 0; }
  bool send(std::uint32_t m) { return (state_[m].fetch_or(sent, std::memory_order_acq_rel) & posted) != 0; }
  void finish(std::uint32_t m) { state_[m].fetch_or(done, std::memory_order_release); }
  bool is_done(std::uint32_t m) const { return (state_[m].load(std::memory_order_acquire) & done) != 0; }

  static void copy(const memory& memory, const message& m) {
    if (m.bytes > 0) {
      std::memcpy(memory.bytes(m.target).data(), memory.bytes(m.source).data(), m.bytes);
    }
  }

private:
  static constexpr std::uint8_t posted = 1, sent = 2, done = 4;

  std::size_t size_;
  std::unique_ptr<std::atomic<std::uint8_t>[]> state_; // by message
};

} // namespace weft::execute
