// SPDX-License-Identifier: BSL-1.0
/// The two programs that are compared. They lie in translation units of their own, so that neither sees the other's
/// caller or input.
#pragma once

#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

#include <cstdint>
#include <vector>

namespace penalty {

using problem = weft::problem<weft::workload, weft::platform<>>;

/// What both return; equal to the last bit.
struct outcome {
  bool feasible = false;
  double makespan = 0;
  std::uint64_t transfer_bytes = 0;
  std::uint64_t num_events = 0;
  friend bool operator==(const outcome&, const outcome&) = default;
};

/// What the hand-written program works on: the same columns as a `weft::workload`, a `weft::platform` and a
/// `weft::problem` hold, in plain arrays. Making them is not counted, as making the problem is not.
struct input {
  // per op
  std::vector<double> work;
  std::vector<std::uint32_t> num_inputs;
  std::vector<std::uint32_t> first_output; // the tensors of op v are first_output[v] … first_output[v + 1] - 1
  std::vector<std::uint32_t> component;
  std::vector<std::uint32_t> topological_order;
  // per tensor
  std::vector<std::uint32_t> producer;
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint32_t> first_consumer; // the consumers of tensor t are consumers[first_consumer[t]] …
  std::vector<std::uint32_t> consumers;
  // per component
  std::vector<std::uint32_t> first_member;
  std::vector<std::uint32_t> members;
  std::vector<std::uint64_t> kinds; // the set of allowed device kinds, one bit each
  std::vector<std::uint64_t> demand;
  // per device
  std::vector<double> speed;
  std::vector<std::uint64_t> kind; // its bit
  std::vector<std::uint64_t> capacity;
  std::vector<std::uint32_t> slots;
  // per pair of devices: from * devices + to
  std::vector<double> latency;
  std::vector<double> bandwidth;
  double send_work = 0;
};

input plain(const problem& p);

} // namespace penalty

// C linkage, so that callgrind finds them by these names.
extern "C" {
void solve_hand_written(const penalty::input& in, std::uint64_t seed, penalty::outcome& out);
void solve_composed(const penalty::problem& p, std::uint64_t seed, penalty::outcome& out);
}
