// SPDX-License-Identifier: BSL-1.0
/// An interpreter for the program of one device, over any message channel.
#pragma once

#include "weft/execute/memory.hpp"

#include <concepts>
#include <cstdint>
#include <span>

namespace weft::execute {

/// A channel for messages: `post` and `send` begin and return at once; `wait` returns when the message has come, or
/// has been sent, and is false if the run has ended before.
template <class C>
concept message_channel = requires(C& c, std::uint32_t m, std::span<std::byte> in, std::span<const std::byte> out) {
  c.post(m, in);
  c.send(m, out);
  { c.wait(m) } -> std::same_as<bool>;
};

/// Runs the instructions of device d in its memory, from number `next` on, which is where it goes on when called again.
/// `run_op(v)` computes an op and is false if the run must end. Returns whether the program came to its end; if not,
/// either an op or a wait was false. Complexity: O(1) per instruction, no allocation.
template <message_channel Channel, class RunOp>
bool interpret(const program& p, device_id d, const memory& m, Channel& channel, RunOp&& run_op, std::size_t& next) {
  for (const auto code = p.of(d); next < code.size(); ++next) {
    const instruction i = code[next];
    switch (i.what) {
    case instruction::kind::run:
      for (const auto b : p.outputs(i.id)) {
        m.take(b);
      }
      if (!run_op(i.id)) {
        return false;
      }
      break;
    case instruction::kind::send: channel.send(i.id, m.bytes(p.messages()[i.id].source)); break;
    case instruction::kind::receive:
      m.take(p.messages()[i.id].target);
      channel.post(i.id, m.bytes(p.messages()[i.id].target));
      break;
    case instruction::kind::wait:
      if (!channel.wait(i.id)) {
        return false;
      }
      break;
    case instruction::kind::free: m.release(i.id); break;
    }
  }
  return true;
}

} // namespace weft::execute
