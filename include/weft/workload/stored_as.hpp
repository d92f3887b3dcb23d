// SPDX-License-Identifier: BSL-1.0
/// Memory of a model with other number formats, with a cache of keys and values, and with recomputation.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/parameter_holders.hpp"
#include "weft/workload/recomputation.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// A storage format: the bits that a number takes.
struct storage_format {
  double tensor_bits = 32; ///< in tensors: activations and gradients
  double weight_bits = 32; ///< in what ops hold, and in what variables hand on: parameters; caches are as tensors
  friend constexpr bool operator==(const storage_format&, const storage_format&) = default;
};

/// The ops of an attention of a model.
struct attention_ops {
  op_id softmax = none;     ///< or the op that is all of it
  std::vector<op_id> ops = {}; ///< from the product of queries and keys to that with the values, ascending
};

namespace detail {

/// Finds the attentions of a model around their softmaxes.
template <class Workload>
class attention_finder {
public:
  attention_finder(const Workload& w, const std::vector<bool>& is_backward) : w_{w}, is_backward_{is_backward} {
    for (const op_id v : ids(w.num_ops())) {
      const auto inputs = w.inputs(v);
      reads_.push_back(static_cast<std::size_t>(
        std::count_if(inputs.begin(), inputs.end(), [&](tensor_id t) { return w.bytes(t) > 0; })));
    }
  }

  std::vector<attention_ops> operator()() const {
    std::vector<attention_ops> all;
    for (const op_id v : ids(w_.num_ops())) {
      const auto part = ops::facts_of(w_.type(v)).attends;
      if (is_backward(v)) {
        continue;
      }
      if (part == ops::attention_part::whole) {
        all.push_back({v, {v}});
      }
      if (part != ops::attention_part::softmax) {
        continue;
      }
      if (auto found = around(v); !found.empty()) {
        all.push_back({v, std::move(found)});
      }
    }
    return all;
  }

private:
  static constexpr std::size_t max_between = 8; // scale, mask, cast, dropout
  static constexpr std::size_t max_seen = 64;   // neighbours of those: what has more is read by all layers

  bool is_backward(op_id v) const { return !is_backward_.empty() && is_backward_[v]; }
  bool is_product(op_id v) const { return ops::facts_of(w_.type(v)).gradient.product; }

  /// The ops from a product before a softmax to one after it; none if there are no such products.
  std::vector<op_id> around(op_id softmax) const {
    std::vector<op_id> after{softmax};
    std::vector<op_id> before{softmax};
    const bool is_factor = walk(after, [&](op_id u, const auto& go) {
      for (const tensor_id t : w_.outputs(u)) {
        for (const op_id reader : w_.consumers(t)) {
          if (!go(reader)) {
            return;
          }
        }
      }
    });
    const bool of_product = walk(before, [&](op_id u, const auto& go) {
      for (const tensor_id t : w_.inputs(u)) {
        if (!go(w_.bytes(t) > 0 ? w_.producer(t) : none)) {
          return;
        }
      }
    });
    if (!is_factor || !of_product) {
      return {};
    }
    after.insert(after.end(), before.begin() + 1, before.end());
    std::sort(after.begin(), after.end());
    return after;
  }

  /// Goes on from ops to their neighbours, `none` for those that do not count; true if that leads to a product of two
  /// tensors, which is the last to be added.
  template <class EachNeighbour>
  bool walk(std::vector<op_id>& list, const EachNeighbour& each_neighbour) const {
    bool found = false;
    std::size_t seen = 0;
    for (std::size_t i = 0; i < list.size() && list.size() <= max_between && seen < max_seen; ++i) {
      if (i > 0 && is_product(list[i])) {
        continue;
      }
      each_neighbour(list[i], [&](op_id v) {
        if (v != none && is_backward(v)) {
          return true;
        }
        const bool inner = v != none && reads_[v] > (is_product(v) ? 1u : 0u) && w_.resident_bytes(v) == 0;
        if (inner && std::find(list.begin(), list.end(), v) == list.end()) {
          list.push_back(v);
          found = found || is_product(v);
        }
        return ++seen < max_seen;
      });
    }
    return found;
  }

  const Workload& w_;
  const std::vector<bool>& is_backward_;
  std::vector<std::size_t> reads_; // by op, inputs with bytes
};

} // namespace detail

/// The attentions, one per layer of a transformer: a softmax whose result is a factor of a product of two tensors, with
/// what lies between that and the product before it; few ops without parameters each. And ops that are an attention as
/// a whole. Which ops those are, the catalogue says (`ops::facts::attends`). In the order of the softmaxes. Of a
/// training step, `is_backward` has the ops of the backward pass, per op, which are no part of one; empty: none are.
/// Complexity: O(n + m).
template <named_workload Workload>
std::vector<attention_ops> attentions(const Workload& w, const std::vector<bool>& is_backward = {}) {
  return detail::attention_finder{w, is_backward}();
}

namespace detail {

/// Whether what ops of a type make are numbers whose format may be chosen: not indices, shapes, comparisons, or what is
/// fed. Those are what gradients pass, and numbers that are random or rounded.
inline bool makes_numbers(std::string_view type) {
  constexpr std::string_view without_gradient[]{"Ceil", "Floor", "OnesLike", "RandomStandardNormal", "RandomUniform",
                                                "Rint", "Round", "Sign",     "TruncatedNormal",      "ZerosLike"};
  return ops::facts_of(type).gradient.differentiable ||
         std::find(std::begin(without_gradient), std::end(without_gradient), type) != std::end(without_gradient);
}

} // namespace detail

/// True per op for variables and what is made of variables alone, such as their reads. Complexity: O(n + m).
template <named_workload Workload>
std::vector<bool> made_of_parameters(const Workload& w) {
  std::vector<bool> made(w.num_ops(), false);
  for (const op_id v : graph::topological_order(w)) {
    const auto inputs = w.inputs(v);
    made[v] = inputs.empty() ? is_variable(w, v)
                             : std::all_of(inputs.begin(), inputs.end(),
                                           [&](tensor_id t) { return bool{made[w.producer(t)]}; });
  }
  return made;
}

namespace detail {

/// True per op for state of the optimiser: what updates hold, and variables that only updates read.
template <named_workload Workload>
std::vector<bool> optimizer_state(const Workload& w) {
  std::vector<bool> state(w.num_ops(), false);
  for (const op_id v : ids(w.num_ops())) {
    bool only = w.inputs(v).empty() && w.resident_bytes(v) > 0, any = false;
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id c : w.consumers(t)) {
        only = only && is_update(w, c);
        any = true;
      }
    }
    state[v] = is_update(w, v) || (only && any);
  }
  return state;
}

/// By op with parameters the update that changes them, first of all one that reads them; the op itself if none is
/// known to, and for all other ops.
template <named_workload Workload>
std::vector<op_id> changed_by(const Workload& w, const std::vector<bool>& is_state) {
  std::vector<op_id> update_of(w.num_ops(), none);
  const parameter_holders<Workload> holders{w};
  for (const bool reads : {true, false}) {
    for (const op_id update : ids(w.num_ops())) {
      for (const op_id v : is_update(w, update) ? holders.of(update) : std::vector<op_id>{}) {
        const auto outputs = w.outputs(v);
        const bool is_read = std::any_of(outputs.begin(), outputs.end(), [&](tensor_id t) {
          const auto readers = w.consumers(t);
          return std::find(readers.begin(), readers.end(), update) != readers.end();
        });
        update_of[v] = update_of[v] == none && !is_state[v] && is_read == reads ? update : update_of[v];
      }
    }
  }
  for (const op_id v : ids(w.num_ops())) {
    update_of[v] = update_of[v] == none ? v : update_of[v];
  }
  return update_of;
}

} // namespace detail

/// The same model with numbers of other sizes; what is given is taken to be in single precision. Indices, shapes,
/// comparisons and what is fed stay as large as they are; `number_bits` says whether a file had others. In a training
/// step, parameters are there twice, in single precision and in their format, unless that is single precision too, and
/// the state of the optimiser stays in single precision: with Adam and 16 bits, 2 + 4 + 8 bytes per parameter, and 2
/// more for its gradient. The copy in single precision is state of the optimiser, too: the update that changes it holds
/// it, or the op that holds the parameter where no update is known to. Sizes are rounded up to bytes.
/// Parameters that are not trained are there once: `frozen` says how many bytes of the parameters of the first ops are
/// (see `frozen_parameters`).
/// Source: Micikevicius et al., *Mixed Precision Training*, ICLR 2018; Rajbhandari, Rasley, Ruwase, He, *ZeRO: Memory
/// Optimizations Toward Training Trillion Parameter Models*, SC 2020, section 3.1 (16 bytes per parameter).
/// Throws `value_error` for a number of bits that is not from 1 to 64. Complexity: O(n + m), and of a training step
/// O(k²) for each colocation group with k updates.
template <named_workload Workload>
workload stored_as(const Workload& w, const storage_format& f, std::span<const byte_count> frozen = {}) {
  for (const double bits : {f.tensor_bits, f.weight_bits}) {
    if (!(bits >= 1 && bits <= 64)) {
      throw value_error("stored_as", "numbers have 1 to 64 bits");
    }
  }
  const auto all = ids(w.num_ops());
  const bool trains = is_training_step(w);
  const auto scaled = [](byte_count bytes, double bits) {
    return bits == 32 ? bytes : static_cast<byte_count>(std::ceil(static_cast<double>(bytes) * (bits / 32)));
  };
  const auto is_weight = made_of_parameters(w);
  const auto is_state = detail::optimizer_state(w);
  const auto update_of = detail::changed_by(w, is_state);
  std::vector<byte_count> resident(w.num_ops(), 0);
  for (const op_id v : all) {
    const auto bytes = w.resident_bytes(v);
    const double bits = is_state[v] ? 32 : ops::facts_of(w.type(v)).gradient.parameters ? f.weight_bits : f.tensor_bits;
    resident[v] += scaled(bytes, bits);
    const auto trained = bytes - (v < frozen.size() ? std::min(frozen[v], bytes) : 0);
    resident[update_of[v]] += trains && bits != 32 ? trained : 0;
  }
  workload_builder b;
  copy_ops(
    b, w, [&](op_id v) { return resident[v]; },
    [&](tensor_id t) {
      const op_id v = w.producer(t);
      const bool is_number =
        detail::makes_numbers(w.type(v)) && t - *w.outputs(v).begin() < ops::facts_of(w.type(v)).numbers;
      return is_number ? scaled(w.bytes(t), is_weight[v] ? f.weight_bits : f.tensor_bits) : w.bytes(t);
    });
  return std::move(b).build();
}

/// Keys and values that a decoder keeps of the tokens that it has seen.
struct kv_cache {
  std::uint64_t context = 0;   ///< tokens of a sequence
  std::uint64_t batch = 1;     ///< sequences
  std::uint64_t heads = 0;     ///< of keys and values, which may be fewer than those of queries
  std::uint64_t head_size = 0;
  double bits = 16;            ///< of a number
  /// Bytes in one layer: 2 · batch · context · heads · size · bits / 8.
  double bytes_per_layer() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(context) * static_cast<double>(heads) *
           static_cast<double>(head_size) * bits / 8;
  }

  friend bool operator==(const kv_cache&, const kv_cache&) = default;
};

/// The same model, each attention of which (`attentions`) holds its layer's cache beside what it held. Throws
/// `value_error` if the model has no attention, or if the cache is larger than can be counted. Complexity: O(n + m).
template <named_workload Workload>
workload with_kv_cache(const Workload& w, const kv_cache& cache) {
  std::vector<op_id> layers;
  for (const auto& a : attentions(w)) {
    layers.push_back(a.softmax);
  }
  if (layers.empty()) {
    throw value_error("KV cache", "no attention was found: a softmax between two products, or an op that is one");
  }
  const double bytes = std::ceil(cache.bytes_per_layer());
  if (!(bytes >= 0 && bytes < 1e18)) {
    throw value_error("KV cache", "its size must be positive and below 1e18 bytes");
  }
  workload_builder b;
  copy_ops(
    b, w,
    [&](op_id v) {
      const bool caches = std::binary_search(layers.begin(), layers.end(), v);
      return w.resident_bytes(v) + (caches ? static_cast<byte_count>(bytes) : 0);
    },
    [&](tensor_id t) { return w.bytes(t); });
  return std::move(b).build();
}

/// The ops for `step_options::recompute`, or, with what is the backward pass of a training step (`backward_ops`), for
/// `recomputed_step`. `block_of(v)` is the block of op v, or `none`. Ops without inputs, such as variables and fed
/// tensors, are always kept. Complexity: O(n + m).
/// Source: Korthikanti et al., *Reducing Activation Recomputation in Large Transformer Models*, MLSys 2023, sections 5
/// and 6: selective and full recomputation.
template <named_workload Workload, class BlockOf>
std::vector<op_id> recomputed_ops(const Workload& w, recomputation what, const BlockOf& block_of,
                                  const std::vector<bool>& is_backward = {}) {
  std::vector<op_id> made_again;
  if (what == recomputation::attention) {
    for (const auto& a : attentions(w, is_backward)) {
      made_again.insert(made_again.end(), a.ops.begin(), a.ops.end());
    }
    sort_unique(made_again);
    return made_again;
  }
  for (const op_id v : ids(w.num_ops())) {
    const auto inputs = w.inputs(v);
    const op_id block = block_of(v);
    bool inside =
      block != none && std::any_of(inputs.begin(), inputs.end(), [&](tensor_id t) { return w.bytes(t) > 0; });
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id reader : w.consumers(t)) {
        inside = inside && block_of(reader) == block;
      }
    }
    if (inside) {
      made_again.push_back(v);
    }
  }
  return made_again;
}

} // namespace weft
