// SPDX-License-Identifier: BSL-1.0
/// The memory in which a program runs: an arena per device, laid out in advance.
#pragma once

#include "weft/allocate/lay_out.hpp"
#include "weft/core/poison.hpp"
#include "weft/execute/data_kernel.hpp"
#include "weft/execute/program.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

namespace weft::execute {

/// Options of the memory of a run: its source and its layout.
struct memory_options {
  /// Of every buffer, in bytes; a power of two. The default is a cache line and what vector instructions like best.
  std::size_t alignment = 64;
  /// Gives one block per device, when the memory is made; must outlive it.
  std::pmr::memory_resource* resource = std::pmr::new_delete_resource();
};

/// Memory for a program's buffers and for what ops keep: one block per device, with places that buffers share which do
/// not live at the same time. So an arena is as large as the device's `peak_bytes`, plus what rounding to the alignment
/// adds and what is lost between buffers (`allocate::lay_out`). All bytes are zero at first; those of buffers are what
/// was there before when an op starts, and tensors that a program keeps can be read after a run.
///
/// Under the address sanitizer, memory that belongs to no live buffer is poisoned: a kernel that reads a tensor too
/// late or writes past its end is found at once.
/// ```
/// weft::execute::memory memory{program};
/// std::ranges::copy(weights, memory.resident(v).begin());
/// auto report = run(kernel, memory);
/// ```
class memory {
public:
  /// For all devices. Throws `std::bad_alloc` or what the resource throws.
  explicit memory(const program& p, const memory_options& options = {}) : memory(p, ids(p.num_devices()), options) {}

  /// For some devices, such as those of one process; asking for what lies on others is an error.
  template <class Devices>
  memory(const program& p, const Devices& devices, const memory_options& options = {})
      : program_{&p}, resource_{options.resource}, alignment_{options.alignment}, arenas_(p.num_devices()),
        places_(p.buffers().size(), nullptr), residents_(p.num_ops(), nullptr) {
    try {
      for (const device_id d : devices) {
        if (d >= p.num_devices()) {
          throw value_error("device " + std::to_string(d), "is not one of the program's " +
                                                             std::to_string(p.num_devices()));
        }
        if (!has(d)) {
          add_arena(d);
        }
      }
    } catch (...) {
      close();
      throw;
    }
    bind_ops();
  }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  ~memory() { close(); }

  const execute::program& program() const { return *program_; }
  /// Whether this memory has the device.
  bool has(device_id d) const { return d < arenas_.size() && arenas_[d].is_here; }
  /// The size of a device's block, and the bytes of it that buffers and residents need at once, each rounded up to the
  /// alignment: `arena_bytes` exceeds it by what lies unused between buffers.
  byte_count arena_bytes(device_id d) const { return arenas_[d].bytes; }
  byte_count live_bytes(device_id d) const { return arenas_[d].live_bytes; }

  /// A tensor where it is made; empty if that device is not here. It holds something from when its op begins to its
  /// last use, or for good if the program keeps it.
  std::span<std::byte> tensor(tensor_id t) const { return bytes(t); }
  /// The memory that an op keeps from run to run.
  std::span<std::byte> resident(op_id v) const {
    return {residents_[v], residents_[v] == nullptr ? 0 : program_->resident_bytes(v)};
  }
  /// The buffers that an op's kernel is given. Precondition: its device is here.
  const op_buffers& of(op_id v) const { return ops_[v]; }
  /// A buffer of the program, live or not.
  std::span<std::byte> bytes(std::uint32_t b) const {
    return {places_[b], places_[b] == nullptr ? 0 : program_->buffers()[b].bytes};
  }

  /// For who interprets the program: a buffer's memory is taken, is free again, and that of a whole device is, before a
  /// run. They do nothing but tell the address sanitizer.
  void take(std::uint32_t b) const { unpoison(places_[b], program_->buffers()[b].bytes); }
  void release(std::uint32_t b) const { poison(places_[b], program_->buffers()[b].bytes); }
  void release_all(device_id d) const { poison(arenas_[d].data, arenas_[d].buffer_bytes); }

private:
  struct arena {
    bool is_here = false;
    std::byte* data = nullptr;
    byte_count bytes = 0;
    byte_count buffer_bytes = 0; ///< of it, what buffers share; residents follow
    byte_count live_bytes = 0;
  };

  void add_arena(device_id d) {
    const auto rounded = [this](byte_count n) { return allocate::aligned(n, alignment_); };
    const auto& buffers = program_->buffers();
    std::vector<allocate::lifetime> lifetimes;
    std::vector<std::uint32_t> mine, below, number(buffers.size(), none);
    for (const auto b : ids(buffers.size())) {
      if (const tensor_buffer& x = buffers[b]; x.device == d) {
        number[b] = static_cast<std::uint32_t>(mine.size());
        lifetimes.push_back({x.begin, x.end, rounded(x.bytes), alignment_});
        mine.push_back(b);
      }
    }
    for (const auto b : mine) {
      below.push_back(buffers[b].over == none ? none : number[buffers[b].over]);
    }
    const auto first = allocate::join_in_place(below, lifetimes);
    const auto layout = allocate::lay_out(lifetimes);
    auto& a = arenas_[d];
    a.is_here = true;
    byte_count total = layout.bytes;
    for (const op_id v : program_->sequence()) {
      total += program_->device(v) == d ? rounded(program_->resident_bytes(v)) : 0;
    }
    a.buffer_bytes = layout.bytes;
    a.bytes = total;
    a.live_bytes = layout.bound + (total - layout.bytes);
    if (total == 0) {
      return;
    }
    a.data = static_cast<std::byte*>(resource_->allocate(total, alignment_));
    std::memset(a.data, 0, total);
    for (const auto i : ids(mine.size())) {
      places_[mine[i]] = lifetimes[first[i]].bytes == 0 ? nullptr : a.data + layout.offsets[first[i]];
    }
    byte_count next = layout.bytes;
    for (const op_id v : program_->sequence()) {
      if (program_->device(v) == d && program_->resident_bytes(v) > 0) {
        residents_[v] = a.data + next;
        next += rounded(program_->resident_bytes(v));
      }
    }
    release_all(d);
  }

  void bind_ops() {
    const auto n = program_->num_ops();
    std::size_t num_inputs = 0, num_outputs = 0;
    for (const op_id v : ids(n)) {
      num_inputs += program_->inputs(v).size();
      num_outputs += program_->outputs(v).size();
    }
    inputs_.reserve(num_inputs);
    outputs_.reserve(num_outputs);
    ops_.resize(n);
    for (const op_id v : ids(n)) {
      if (!has(program_->device(v))) {
        continue;
      }
      const auto in = inputs_.size(), out = outputs_.size();
      for (const auto b : program_->inputs(v)) {
        inputs_.push_back(bytes(b));
      }
      for (const auto b : program_->outputs(v)) {
        outputs_.push_back(bytes(b));
      }
      ops_[v] = {std::span{inputs_}.subspan(in), std::span{outputs_}.subspan(out), resident(v)};
    }
  }

  void close() {
    for (arena& a : arenas_) {
      if (a.data != nullptr) {
        unpoison(a.data, a.bytes);
        resource_->deallocate(a.data, a.bytes, alignment_);
      }
    }
  }

  const execute::program* program_;
  std::pmr::memory_resource* resource_;
  std::size_t alignment_;
  std::vector<arena> arenas_;       // by device
  std::vector<std::byte*> places_;  // by buffer
  std::vector<std::byte*> residents_; // by op
  std::vector<op_buffers> ops_;
  std::vector<std::span<const std::byte>> inputs_; // of all ops
  std::vector<std::span<std::byte>> outputs_;
};

} // namespace weft::execute
