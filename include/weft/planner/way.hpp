// SPDX-License-Identifier: BSL-1.0
/// A way in which devices share a step, as a value, and the ways that are asked for.
#pragma once

#include "weft/core/error.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/workload/recomputation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::planner {

/// The kinds of ways to share a step.
enum class way_kind : std::uint8_t {
  batch, ///< replicas with a part of the batch each
  ops,    ///< each op in parts, among all devices or among those of each replica
  stages, ///< layers in stages, which work on different micro-batches; or one after the other on one device
  placed  ///< nothing is shared: each op is on one device
};

/// A way in which devices share a step: `replicas` × `stages` × `ranks` of them.
struct way {
  way_kind kind = way_kind::batch;
  std::uint32_t replicas = 1; ///< each with a part of the batch
  std::uint32_t stages = 1;   ///< of devices, or groups of them, one behind the other
  std::uint32_t ranks = 1;    ///< devices that split the ops of a replica, or of a stage
  std::uint32_t turns = 1;    ///< stages of each device
  std::uint64_t micro_batches = 1;  ///< of each replica; 0: as many as suit
  bool shards_updates = false;      ///< each replica updates a part of the parameters
  bool shards_parameters = false;   ///< … and holds no more than that part of them, so `shards_updates` as well
  std::uint32_t shard_ranks = 0;    ///< … together with so many, as within a node, which hold all; 0: with all
  bool splits_experts = false;      ///< each expert of a mixture is on one replica
  bool splits_sequence = false;     ///< of ops: `ranks` devices do parts of one sequence, with whole weights
  /// Of replicas with parts of several sizes, such as by speed: the examples of each device that counts, 0 of those
  /// that get none; empty: as many for each.
  std::vector<std::uint64_t> examples = {};
  std::optional<recomputation> recomputes = {}; ///< what runs again for the backward pass, if that was compared

  constexpr std::size_t num_devices() const { return std::size_t{replicas} * stages * ranks; }
  bool is_by_speed() const { return !examples.empty(); }
  /// Passes of stages in a step, forward and backward ones of all replicas.
  constexpr std::uint64_t passes() const { return 2 * micro_batches * stages * turns * replicas; }

  friend bool operator==(const way&, const way&) = default;
};

/// The way in the numbers that say how complicated it is (`parallel::simplest_within`). `recomputes`: ops of its model
/// run again, whoever asked for it.
inline parallel::configuration features_of(const way& w, bool recomputes) {
  return {.devices = static_cast<std::uint32_t>(w.num_devices()),
          .replicas = w.replicas,
          .ranks = w.splits_sequence ? 1 : w.ranks,
          .context_ranks = w.splits_sequence ? w.ranks : 1,
          .stages = w.stages,
          .turns = w.turns,
          .micro_batches = w.micro_batches,
          .shards_updates = w.shards_updates,
          .shards_parameters = w.shards_parameters,
          .splits_experts = w.splits_experts,
          .on_unlike_devices = w.is_by_speed(),
          .recomputes = recomputes || w.recomputes.has_value()};
}

/// A short text that names the way, such as `data=8,sharded`, `tensor=4`, `pipeline=2,data=2,micro-batches=8,whole`,
/// `accumulate=4` or `none`, but for what runs again.
inline std::string to_string(const way& w) {
  const auto with = [](const char* name, std::uint64_t x) { return name + std::to_string(x); };
  const auto updates = w.shard_ranks > 0     ? with(",fully-sharded=", w.shard_ranks)
                       : w.shards_parameters ? std::string{",fully-sharded"}
                       : w.shards_updates    ? std::string{",sharded"}
                                             : std::string{",whole"};
  if (w.kind == way_kind::placed) {
    return "none";
  }
  if (w.kind == way_kind::ops) {
    return (w.replicas > 1 ? with("data=", w.replicas) + "," : "") +
           with(w.splits_sequence ? "context=" : "tensor=", w.ranks) + (w.shards_updates ? updates : "");
  }
  if (w.kind == way_kind::stages) {
    const bool is_one = w.num_devices() == 1 && w.turns == 1;
    std::string text = is_one ? "accumulate" : with("pipeline=", w.stages);
    text += w.replicas > 1 ? with(",data=", w.replicas) : "";
    text += w.ranks > 1 ? with(",tensor=", w.ranks) : "";
    text += w.micro_batches > 0 ? with(is_one ? "=" : ",micro-batches=", w.micro_batches) : "";
    text += w.turns > 1 ? with(",turns=", w.turns) : "";
    return text + (w.replicas > 1 ? updates : "");
  }
  auto text = with("data=", w.is_by_speed() ? w.examples.size() : w.replicas) + updates;
  text += w.splits_experts ? ",experts" : "";
  for (std::size_t i = 0; i < w.examples.size(); ++i) {
    text += with(i == 0 ? ",by-speed=" : "+", w.examples[i]);
  }
  return text;
}

/// The ways that are asked for; what is left open, the planner chooses.
struct wanted_ways {
  enum class which : std::uint8_t {
    all,
    data,    ///< replicas, or with `ranks` replicas of several devices each, which split its ops
    tensor,  ///< ops among `ranks` devices
    context, ///< sequences among `ranks` devices each
    pipeline ///< `stages` of layers, or micro-batches one after the other
  };
  which of = which::all;
  std::uint32_t replicas = 0; ///< 0: as many as are fastest; of pipelines 1; of `context` one for each sequence
  std::uint32_t ranks = 0;    ///< … of `data` and pipelines 1
  std::uint32_t stages = 0;
  std::uint32_t turns = 0;         ///< 0: 1
  std::uint64_t micro_batches = 0; ///< 0: as many as suit
  std::optional<bool> shards_updates = {}; ///< none: what is fastest
  std::optional<bool> shards_parameters = {}; ///< the same
  std::optional<std::uint32_t> shard_ranks = {}; ///< the same
  std::optional<bool> splits_experts = {};    ///< the same
  std::optional<bool> by_speed = {};       ///< the same
  std::vector<std::uint64_t> examples = {}; ///< of each device, if they are given

  bool asks_for(which kind) const { return of == kind; }
  /// Only ops of replicas are to be split.
  bool is_data_and_tensor() const { return of == which::data && ranks > 1; }
};

/// The request for that way alone; what runs again, `options::recomputations` asks for. Throws `value_error` for what
/// is no way to share a step.
inline wanted_ways only(const way& w) {
  using which = wanted_ways::which;
  const bool is_none = w.kind == way_kind::placed || (w.kind == way_kind::batch && w.num_devices() < 2) ||
                       (w.kind == way_kind::ops && w.ranks < 2) || w.num_devices() == 0;
  if (is_none) {
    throw value_error("way '" + to_string(w) + "'", "shares nothing; give it several devices, or micro-batches");
  }
  wanted_ways x{.of = w.kind == way_kind::batch    ? which::data
                      : w.kind == way_kind::stages ? which::pipeline
                      : w.splits_sequence          ? which::context
                      : w.replicas > 1             ? which::data
                                                   : which::tensor,
                .replicas = w.is_by_speed() ? static_cast<std::uint32_t>(w.examples.size()) : w.replicas,
                .ranks = w.ranks,
                .examples = w.examples};
  if (w.kind == way_kind::stages) {
    x.stages = w.stages;
    x.turns = w.turns;
    x.micro_batches = w.micro_batches;
    x.shards_updates = w.replicas > 1 ? std::optional{w.shards_updates} : std::nullopt;
  } else if (w.kind == way_kind::ops && w.shards_updates) {
    x.shards_updates = true;
    x.shards_parameters = w.shards_parameters;
  } else if (w.kind == way_kind::batch) {
    x.shards_updates = w.shards_updates;
    x.shards_parameters = w.shards_parameters;
    x.shard_ranks = w.shards_parameters ? std::optional{w.shard_ranks} : std::nullopt;
    x.splits_experts = w.splits_experts;
    x.by_speed = w.is_by_speed();
  }
  return x;
}

} // namespace weft::planner
