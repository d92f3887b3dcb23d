// SPDX-License-Identifier: BSL-1.0
/// Expert parallelism: the experts of a mixture on one replica each, which all others send their rows to.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/parameter_holders.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weft::parallel {

/// The number of the expert in the name of one of its ops, as in `layer_1/moe/expert_3/MatMul` or `experts.3.w1`;
/// `none` if there is no such name.
constexpr std::uint32_t expert_in(std::string_view name) {
  constexpr std::string_view word = "expert";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (auto at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
    auto rest = name.substr(at + word.size());
    rest.remove_prefix(rest.starts_with('s') ? 1 : 0);
    if (rest.size() < 2 || std::string_view{"_./"}.find(rest.front()) == rest.npos || !is_digit(rest[1])) {
      continue;
    }
    std::uint32_t number = 0;
    for (std::size_t i = 1; i < rest.size() && is_digit(rest[i]) && number < 1'000'000; ++i) {
      number = number * 10 + static_cast<std::uint32_t>(rest[i] - '0');
    }
    return number;
  }
  return none;
}

/// The number of experts in each mixture of a step, by the names of its ops; 0 if there are none.
template <named_workload Workload>
std::uint32_t count_experts(const Workload& w) {
  std::uint32_t count = 0;
  for (const op_id v : ids(w.num_ops())) {
    if (const auto e = expert_in(w.name(v)); e != none) {
      count = std::max(count, e + 1);
    }
  }
  return count;
}

/// The replica that has each op's expert, for `data_parallel`: as many experts on each, or nearly; `none` for ops of no
/// expert. Updates are where the parameters are that they change, and state is where all are that read it.
/// Complexity: linear in names, ops and tensors.
/// Source: Lepikhin et al., *GShard: Scaling Giant Models with Conditional Computation and Automatic Sharding*, 2020.
template <named_workload Workload>
std::vector<std::uint32_t> expert_owners(const Workload& w, std::uint32_t replicas) {
  const std::uint64_t count = count_experts(w);
  std::vector<std::uint32_t> owner(w.num_ops(), none);
  for (const op_id v : ids(w.num_ops())) {
    if (const auto e = expert_in(w.name(v)); e != none) {
      owner[v] = static_cast<std::uint32_t>(e * std::uint64_t{replicas} / count);
    }
  }
  const parameter_holders<Workload> holders{w};
  for (const op_id v : ids(w.num_ops())) {
    if (owner[v] == none && is_update(w, v)) {
      for (const op_id held : holders.of(v)) {
        owner[v] = owner[held] != none ? owner[held] : owner[v];
      }
    }
  }
  for (const op_id v : ids(w.num_ops())) {
    if (owner[v] != none || w.resident_bytes(v) == 0 || !w.inputs(v).empty()) {
      continue;
    }
    std::uint32_t reader = none;
    bool same = true;
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id c : w.consumers(t)) {
        same = same && owner[c] != none && (reader == none || reader == owner[c]);
        reader = owner[c];
      }
    }
    owner[v] = same ? reader : owner[v];
  }
  return owner;
}

} // namespace weft::parallel
