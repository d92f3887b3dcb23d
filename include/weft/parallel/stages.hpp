// SPDX-License-Identifier: BSL-1.0
/// Stages of a training pipeline with replicas, tensor parallelism and recomputation: problems, plans and their value.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/readable.hpp"
#include "weft/core/rounding.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/graph/topological_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

/// One way to run a layer, on so many devices at once. All numbers are those of each of these devices.
struct stage_variant {
  std::string name = {};
  std::uint32_t tensor_degree = 1;
  double seconds = 0;               ///< of a micro-batch, forward and backward
  double parameter_bytes = 0;       ///< whose gradients replicas add up once per batch
  double bytes_per_micro_batch = 0; ///< kept for each micro-batch that is in flight
  double fixed_bytes = 0;           ///< kept however many there are
  /// Bytes exchanged between the `tensor_degree` devices when the tensor of an edge comes from, or goes to, another
  /// stage: by the layer's incoming and outgoing edges, in the order of `stage_problem::edges`. Empty: none.
  std::vector<double> input_bytes = {};
  std::vector<double> output_bytes = {};
};

struct stage_layer {
  std::string name = {};
  std::vector<stage_variant> variants = {};
};

/// A tensor from one layer to another one; its gradient is as large.
struct stage_edge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bytes = 0; ///< per micro-batch
};

/// Layers, without a cycle, to be cut into stages on equal devices.
///
/// A plan has stages in order. No edge leads from a later stage to an earlier one. A stage has d replicas (d divides
/// `micro_batches`) of t devices each, and runs each of its layers in a variant of tensor degree t; every d-th
/// micro-batch is its own. All stages together take at most `num_devices`, and have at most `micro_batches` replicas.
/// A stage takes, per micro-batch of the batch,
///
///     seconds / d + (edge_passes · edges / d + gradient_passes · (d − 1) / d · parameters / micro_batches) / bandwidth
///
/// where `edges` are the bytes of the edges to and from other stages and what each end's variant adds to them (a tensor
/// that two layers read counts twice), and seconds and parameters are sums over layers. The time of the plan is that of
/// its slowest stage. Each device of a stage holds y · bytes_per_micro_batch + fixed_bytes of its layers, where
/// y = ⌈(d + replicas of all later stages) / d⌉ micro-batches are in flight, as one forward and one backward pass in
/// turns have it.
/// Source: Tarnawski, Narayanan and Phanishayee, *Piper: Multidimensional Planner for DNN Parallelization*, NeurIPS
/// 2021, section 3.
struct stage_problem {
  std::vector<stage_layer> layers = {};
  std::vector<stage_edge> edges = {};
  std::uint32_t num_devices = 1;
  double memory_bytes = std::numeric_limits<double>::infinity(); ///< of each device
  double bandwidth = std::numeric_limits<double>::infinity();    ///< of each device, in bytes per second
  std::uint32_t micro_batches = 1;                               ///< of a batch
  double edge_passes = 2;     ///< a tensor, and its gradient
  double gradient_passes = 4; ///< as with parameter servers on all replicas; 2 for a ring
};

/// A stage of a plan.
struct stage {
  std::vector<std::uint32_t> layers = {};
  std::vector<std::uint32_t> variants = {}; ///< of each of these layers: the place in its list
  std::uint32_t replicas = 1;
  std::uint32_t tensor_degree = 1;
  std::uint32_t num_devices() const { return replicas * tensor_degree; }
};

/// The cost of a stage. Seconds are per micro-batch of the batch, bytes those of each device.
struct stage_cost {
  double compute_seconds = 0;
  double edge_seconds = 0;
  double gradient_seconds = 0;
  double bytes = 0;
  std::uint32_t in_flight = 0; ///< micro-batches
  double seconds() const { return compute_seconds + edge_seconds + gradient_seconds; }
};

/// The value of a plan.
struct stages_value {
  double seconds = std::numeric_limits<double>::infinity(); ///< per micro-batch; infinite for a plan that is not one
  std::vector<stage_cost> stages = {};                      ///< of those up to the first one that is none
  std::string problem = {};                                 ///< one line on why this is no plan; empty for a plan
  bool fits() const { return problem.empty(); }
};

namespace detail {

/// Edges by layer: places in `stage_problem::edges`, ascending, and so the order of `input_bytes` and `output_bytes`.
struct stage_edges {
  explicit stage_edges(const stage_problem& p) : in(p.layers.size()), out(p.layers.size()) {
    for (std::uint32_t e = 0; e < p.edges.size(); ++e) {
      in[p.edges[e].to].push_back(e);
      out[p.edges[e].from].push_back(e);
    }
  }
  std::vector<std::vector<std::uint32_t>> in, out;

  /// Bytes that layer v in variant x exchanges over the edges for whose other end `is_outside(layer)`.
  template <class IsOutside>
  double bytes(const stage_problem& p, std::uint32_t v, const stage_variant& x, IsOutside is_outside) const {
    double sum = 0;
    const auto add = [&](const std::vector<std::uint32_t>& edges, const std::vector<double>& more, auto other_end) {
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const auto& e = p.edges[edges[i]];
        if (is_outside(other_end(e))) {
          sum += e.bytes + (more.empty() ? 0 : more[i]);
        }
      }
    };
    add(in[v], x.input_bytes, [](const stage_edge& e) { return e.from; });
    add(out[v], x.output_bytes, [](const stage_edge& e) { return e.to; });
    return sum;
  }
};

/// Successors by layer.
inline std::vector<std::vector<std::uint32_t>> layers_after(const stage_problem& p) {
  std::vector<std::vector<std::uint32_t>> after(p.layers.size());
  for (const auto& e : p.edges) {
    after[e.from].push_back(e.to);
  }
  return after;
}

inline std::string layer_label(const stage_problem& p, std::size_t v) {
  return "layer " + std::to_string(v) + (p.layers[v].name.empty() ? "" : " '" + p.layers[v].name + "'");
}

/// The memory of a device in whole units, of which it has some 2^52: their sums are exact, and the same in any order.
/// What is too much by no more than what rounding to units adds up to fits.
class memory_units {
public:
  explicit memory_units(double memory_bytes) {
    if (memory_bytes > 0 && memory_bytes < std::numeric_limits<double>::infinity()) {
      factor_ = std::ldexp(1.0, std::clamp(51 - std::ilogb(memory_bytes), -1000, 1000));
    }
    most_ = memory_bytes * factor_ * (1 + 1e-12);
  }
  /// What the device has, with that margin.
  double most() const { return most_; }
  /// What a layer takes with so many micro-batches in flight; what is far too much is not told apart.
  double of(double bytes_per_micro_batch, double fixed_bytes, double in_flight) const {
    return std::round(std::min((rounded(bytes_per_micro_batch * in_flight) + fixed_bytes) * factor_, 0x1p60));
  }

private:
  double factor_ = 1; // units in a byte, a power of two
  double most_ = 0;
};

inline std::string readable_size(double bytes) {
  return readable_bytes(static_cast<byte_count>(std::min(bytes, 0x1p62)));
}

} // namespace detail

/// Checks a problem. Throws `value_error` for a number that is negative or not finite (memory and bandwidth may be
/// infinite), for no devices or micro-batches, and for lists of bytes of another length than that of the edges;
/// `dangling_id_error` for an edge without a layer; `cycle_error`. Complexity: O(variants + edges).
inline void check_stages(const stage_problem& p) {
  const auto refuse = [](const std::string& where, const std::string& problem) { throw value_error(where, problem); };
  const auto check = [&](double x, const std::string& where, const char* what) {
    if (!(x >= 0 && x < std::numeric_limits<double>::infinity())) {
      refuse(where, std::string{what} + " must be finite and not negative, but is " + readable_number(x));
    }
  };
  if (p.num_devices == 0 || p.micro_batches == 0) {
    refuse("stages", "there must be a device and a micro-batch at least");
  }
  if (!(p.memory_bytes >= 0) || !(p.bandwidth > 0)) {
    refuse("stages", "memory must not be negative, and bandwidth must be positive");
  }
  check(p.edge_passes, "stages", "edge_passes");
  check(p.gradient_passes, "stages", "gradient_passes");
  for (std::size_t e = 0; e < p.edges.size(); ++e) {
    const auto where = "edge " + std::to_string(e);
    if (std::max(p.edges[e].from, p.edges[e].to) >= p.layers.size()) {
      throw dangling_id_error(where, "leads from layer " + std::to_string(p.edges[e].from) + " to layer " +
                                       std::to_string(p.edges[e].to) + ", and there are " +
                                       std::to_string(p.layers.size()) + " layers, counted from 0");
    }
    check(p.edges[e].bytes, where, "bytes");
  }
  static_cast<void>(graph::topological_order(detail::layers_after(p)));
  const detail::stage_edges edges{p};
  for (std::size_t v = 0; v < p.layers.size(); ++v) {
    for (const auto& x : p.layers[v].variants) {
      const auto where = detail::layer_label(p, v) + ", variant '" + x.name + "'";
      if (x.tensor_degree == 0) {
        refuse(where, "the tensor degree must be 1 at least");
      }
      check(x.seconds, where, "seconds");
      check(x.parameter_bytes, where, "parameter_bytes");
      check(x.bytes_per_micro_batch, where, "bytes_per_micro_batch");
      check(x.fixed_bytes, where, "fixed_bytes");
      const auto check_list = [&](const std::vector<double>& list, std::size_t size, const char* what) {
        if (!list.empty() && list.size() != size) {
          refuse(where, std::string{what} + " has " + std::to_string(list.size()) + " numbers for " +
                          std::to_string(size) + " edges");
        }
        for (const double bytes : list) {
          check(bytes, where, what);
        }
      };
      check_list(x.input_bytes, edges.in[v].size(), "input_bytes");
      check_list(x.output_bytes, edges.out[v].size(), "output_bytes");
    }
  }
}

/// The time of a plan and of each of its stages, and the memory that each needs; or why this is no plan of the problem.
/// Throws as `check_stages` does. Complexity: O(variants + stages · layers + edges).
inline stages_value evaluate_stages(const stage_problem& p, std::span<const stage> plan) {
  check_stages(p);
  stages_value value;
  const auto refuse = [&value](const std::string& problem) {
    value.problem = problem;
    return value;
  };
  std::vector<std::size_t> stage_of(p.layers.size(), none);
  std::uint64_t devices = 0, replicas = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto& s = plan[i];
    const auto where = "stage " + std::to_string(i);
    if (s.replicas == 0 || s.tensor_degree == 0 || p.micro_batches % s.replicas != 0) {
      return refuse(where + " has " + std::to_string(s.replicas) + " replicas of " + std::to_string(s.tensor_degree) +
                    " devices; replicas must divide the " + std::to_string(p.micro_batches) + " micro-batches");
    }
    if (s.variants.size() != s.layers.size()) {
      return refuse(where + " names " + std::to_string(s.variants.size()) + " variants for " +
                    std::to_string(s.layers.size()) + " layers");
    }
    for (std::size_t j = 0; j < s.layers.size(); ++j) {
      const auto v = s.layers[j];
      if (v >= p.layers.size() || stage_of[v] != none) {
        return refuse(where + " has layer " + std::to_string(v) +
                      (v >= p.layers.size() ? ", which does not exist" : " that has a stage already"));
      }
      stage_of[v] = i;
      const auto& variants = p.layers[v].variants;
      if (s.variants[j] >= variants.size() || variants[s.variants[j]].tensor_degree != s.tensor_degree) {
        return refuse(where + " runs " + detail::layer_label(p, v) + " in variant " + std::to_string(s.variants[j]) +
                      ", which is none of tensor degree " + std::to_string(s.tensor_degree));
      }
    }
    devices += std::uint64_t{s.replicas} * s.tensor_degree;
    replicas += s.replicas;
  }
  for (std::size_t v = 0; v < p.layers.size(); ++v) {
    if (stage_of[v] == none) {
      return refuse(detail::layer_label(p, v) + " is in no stage");
    }
  }
  for (const auto& e : p.edges) {
    if (stage_of[e.from] > stage_of[e.to]) {
      return refuse("an edge leads from " + detail::layer_label(p, e.from) + " in stage " +
                    std::to_string(stage_of[e.from]) + " back to " + detail::layer_label(p, e.to) + " in stage " +
                    std::to_string(stage_of[e.to]));
    }
  }
  if (devices > p.num_devices || replicas > p.micro_batches) {
    return refuse("the stages take " + std::to_string(devices) + " of " + std::to_string(p.num_devices) +
                  " devices, and have " + std::to_string(replicas) + " replicas for " +
                  std::to_string(p.micro_batches) + " micro-batches");
  }

  const detail::stage_edges edges{p};
  const detail::memory_units memory{p.memory_bytes};
  double slowest = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto& s = plan[i];
    const double d = s.replicas;
    stage_cost cost{.in_flight = static_cast<std::uint32_t>((replicas + s.replicas - 1) / s.replicas)};
    replicas -= s.replicas;
    double exchanged = 0, parameters = 0, units = 0;
    for (std::size_t j = 0; j < s.layers.size(); ++j) {
      const auto v = s.layers[j];
      const auto& x = p.layers[v].variants[s.variants[j]];
      cost.compute_seconds += x.seconds / d;
      exchanged += edges.bytes(p, v, x, [&](std::uint32_t other) { return stage_of[other] != i; });
      parameters += x.parameter_bytes;
      cost.bytes += cost.in_flight * x.bytes_per_micro_batch + x.fixed_bytes;
      units += memory.of(x.bytes_per_micro_batch, x.fixed_bytes, cost.in_flight);
    }
    cost.edge_seconds = p.edge_passes * exchanged / d / p.bandwidth;
    cost.gradient_seconds = p.gradient_passes * (d - 1) / d * parameters / p.micro_batches / p.bandwidth;
    value.stages.push_back(cost);
    slowest = std::max(slowest, cost.seconds());
    if (units > memory.most()) {
      return refuse("stage " + std::to_string(i) + " needs " + detail::readable_size(cost.bytes) +
                    " on each device, which has " + detail::readable_size(p.memory_bytes));
    }
  }
  value.seconds = slowest;
  return value;
}

/// A layer of a chain, such as a block of a network, as one device runs it.
struct chain_layer {
  std::string name = {};
  double forward_seconds = 0;  ///< of a micro-batch
  double backward_seconds = 0; ///< of a micro-batch
  double parameter_bytes = 0;
  double state_bytes = 0;      ///< parameters, gradients and the optimiser's state, together
  double activation_bytes = 0; ///< kept for the backward pass of a micro-batch
  double output_bytes = 0;     ///< of a micro-batch, to the next layer
};

/// A chain of layers as a problem, each in the variant "stored" and, if `recompute`, in the variant "recomputed", which
/// keeps the layer's input of each micro-batch and the rest of the activations of one, and runs the forward pass again.
/// `input_bytes` are those of the first layer's input. Devices, memory, bandwidth and micro-batches are for the caller
/// to set. Complexity: O(layers).
/// Source of recomputation: Chen et al., *Training Deep Nets with Sublinear Memory Cost*, 2016.
inline stage_problem chain_of_stages(std::span<const chain_layer> layers, bool recompute = true,
                                     double input_bytes = 0) {
  stage_problem p;
  double input = input_bytes;
  for (const auto& l : layers) {
    const double kept = std::min(input, l.activation_bytes);
    p.layers.push_back({l.name, {}});
    auto& variants = p.layers.back().variants;
    variants.push_back({.name = "stored",
                        .seconds = l.forward_seconds + l.backward_seconds,
                        .parameter_bytes = l.parameter_bytes,
                        .bytes_per_micro_batch = l.activation_bytes,
                        .fixed_bytes = l.state_bytes});
    if (recompute) {
      auto again = variants.front();
      again.name = "recomputed";
      again.seconds += l.forward_seconds;
      again.bytes_per_micro_batch = kept;
      again.fixed_bytes += l.activation_bytes - kept;
      variants.push_back(std::move(again));
    }
    if (p.layers.size() > 1) {
      const auto v = static_cast<std::uint32_t>(p.layers.size() - 1);
      p.edges.push_back({v - 1, v, input});
    }
    input = l.output_bytes;
  }
  return p;
}

} // namespace weft::parallel
