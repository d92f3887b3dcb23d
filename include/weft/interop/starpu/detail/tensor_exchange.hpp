// SPDX-License-Identifier: BSL-1.0
/// Transfers of tensors between devices by way of StarPU's data handles.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/error.hpp"
#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::starpu::detail {

/// Which tensors of a program need a handle: those that devices send each other. Every other tensor stays in the memory
/// of its device, whose ops run one after another anyhow. The op that makes a tensor copies it to its handle, and on
/// each device that reads it, the first op that does copies it from there. So what StarPU moves is memory of its own,
/// and the places of a device's memory can be used again as its program says.
class tensor_exchange {
public:
  explicit tensor_exchange(const execute::program& p)
      : producer_(p.num_tensors(), none), is_sent_(p.num_tensors(), 0), last_user_(p.num_tensors(), none),
        incoming_(p.num_ops()), outgoing_(p.num_ops()) {
    for (const message& m : p.messages()) {
      is_sent_[m.tensor] = 1;
    }
    for (device_id d = 0; d < p.num_devices(); ++d) {
      std::vector<std::uint32_t> arrived;
      for (const instruction& i : p.of(d)) {
        if (i.what == instruction::kind::wait && p.messages()[i.id].to == d) {
          arrived.push_back(i.id);
        } else if (i.what == instruction::kind::run) {
          incoming_[i.id] = std::exchange(arrived, {});
        }
      }
    }
    for (const op_id v : p.sequence()) {
      for (const auto m : incoming_[v]) {
        last_user_[p.messages()[m].tensor] = v;
      }
      for (const tensor_id t : p.outputs(v)) {
        producer_[t] = last_user_[t] = v;
        if (is_sent_[t]) {
          outgoing_[v].push_back(t);
        }
      }
    }
  }

  op_id producer(tensor_id t) const { return producer_[t]; }
  bool is_sent(tensor_id t) const { return is_sent_[t] != 0; }
  /// The last op of the sequence that has to do with the handle.
  op_id last_user(tensor_id t) const { return last_user_[t]; }
  /// The messages that op v is the first to read on its device, and its outputs that are sent.
  std::span<const std::uint32_t> incoming(op_id v) const { return incoming_[v]; }
  std::span<const tensor_id> outgoing(op_id v) const { return outgoing_[v]; }

private:
  std::vector<op_id> producer_;        // by tensor
  std::vector<std::uint8_t> is_sent_;  // by tensor
  std::vector<op_id> last_user_;       // by tensor
  std::vector<std::vector<std::uint32_t>> incoming_; // by op
  std::vector<std::vector<tensor_id>> outgoing_;     // by op
};

/// The devices of a program in a run, each as far as it has come: says to the memory what is taken and released.
class memory_cursors {
public:
  /// For the program's devices among `devices`. Throws `value_error` if the memory is of another program or lacks one.
  template <class Devices>
  memory_cursors(const execute::memory& m, const execute::program& p, const Devices& devices)
      : memory_{&m}, next_(p.num_devices(), 0) {
    if (m.program().fingerprint() != p.fingerprint()) {
      throw value_error("the memory", "was made for another program than the executor");
    }
    for (const device_id d : devices) {
      if (!p.of(d).empty() && !m.has(d)) {
        throw value_error("the memory", "lacks device " + std::to_string(d) + ", which runs ops here");
      }
      if (m.has(d)) {
        m.release_all(d);
      }
    }
  }

  /// Everything up to op v, which is the next one of its device, and its outputs. To be called by one thread at a time
  /// per device.
  void advance_to(op_id v) {
    const execute::program& p = memory_->program();
    const device_id d = p.device(v);
    for (auto& i = next_[d];; ++i) {
      const instruction& x = p.of(d)[i];
      if (x.what == instruction::kind::receive) {
        memory_->take(p.messages()[x.id].target);
      } else if (x.what == instruction::kind::free) {
        memory_->release(x.id);
      } else if (x.what == instruction::kind::run) {
        WEFT_ASSERT(x.id == v);
        for (const tensor_id t : p.outputs(v)) {
          memory_->take(t);
        }
        ++i;
        return;
      }
    }
  }

private:
  const execute::memory* memory_;
  std::vector<std::size_t> next_; // by device
};

} // namespace weft::starpu::detail
