// SPDX-License-Identifier: BSL-1.0
/// A memory of interference: the op types that slow each other down when they run at once.
#pragma once

#include "weft/concurrency/time_table.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::concurrency {

/// Options for keeping apart ops that harm each other when they run at once.
struct interference_options {
  double slowdown = 1.5;          ///< an op that took longer than this times its prediction was harmed …
  std::uint32_t strikes = 3;      ///< … and so often a pair of types must have been seen before it is parted
  std::uint32_t term = 1000;      ///< op ends until a parted pair may try again; doubles with each time it is parted
  double bandwidth_excess = 1.25; ///< ops that together draw more than this times the machine's bandwidth do not join
};

/// Pairs of op types whose co-run slowed either beyond a threshold, learned from what ops took. One spike does not part
/// a pair, and a pair that bad luck or a guilty bystander parted gets further chances: after a term it may run together
/// again; one more harm parts it for twice as long, a few runs without harm forgive everything. Survives the steps of a
/// training run.
/// Memory: 16 bytes per pair of types. Source: [CC].
class interference_memory {
public:
  interference_memory() = default;
  interference_memory(std::size_t num_types, interference_options o)
      : options_{o}, num_types_{num_types}, pairs_(num_types * num_types) {}

  /// An op of type `a` took `measured` instead of `predicted` seconds beside ops of the types `beside`. Blame goes to
  /// all of them: a harmless type is cleared by its next runs without harm.
  void observe(type_id a, std::span<const type_id> beside, double predicted, double measured) {
    ++num_ends_;
    const bool harmed = measured > predicted * options_.slowdown;
    for (const type_id b : beside) {
      pair& p = pairs_[index(a, b)];
      if (p.parted_until > num_ends_) {
        continue; // began before it was parted
      }
      p.strikes = harmed ? p.strikes + 1 : p.strikes - std::min(p.strikes, 1u);
      if (p.strikes == 0) {
        p.times_parted = 0; // it was bad luck
      }
      if (p.strikes >= options_.strikes) {
        p.parted_until = num_ends_ + (std::uint64_t{options_.term} << std::min(p.times_parted++, 32u));
        p.strikes = options_.strikes - 1;
      }
    }
  }

  bool parted(type_id a, type_id b) const { return pairs_[index(a, b)].parted_until > num_ends_; }
  const interference_options& options() const { return options_; }
  /// The number of pairs that are parted now.
  std::size_t num_parted() const {
    return static_cast<std::size_t>(
      std::count_if(pairs_.begin(), pairs_.end(), [this](const pair& p) { return p.parted_until > num_ends_; }));
  }

private:
  struct pair {
    std::uint32_t strikes = 0;
    std::uint32_t times_parted = 0;
    std::uint64_t parted_until = 0; ///< in ends of ops
  };

  std::size_t index(type_id a, type_id b) const { return std::size_t{std::min(a, b)} * num_types_ + std::max(a, b); }

  interference_options options_{};
  std::size_t num_types_ = 0;
  std::uint64_t num_ends_ = 0;
  std::vector<pair> pairs_;
};

} // namespace weft::concurrency
