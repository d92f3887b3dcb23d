// SPDX-License-Identifier: BSL-1.0
/// A sharding in a few lines: the mesh, and layer by layer how parameters are split and what is sent.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/readable.hpp"
#include "weft/core/sort.hpp"
#include "weft/parallel/sharding.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/partition/layers.hpp"
#include "weft/report/placed_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::report {

namespace detail {

/// A parameter and its shape, such as `kernel [1600, 4800/8]` with columns in 8 parts.
inline std::string with_shape(std::string_view name, const parallel::sharded_parameter& x,
                              const parallel::device_mesh& mesh) {
  std::string shape;
  for (std::size_t d = 0; d < x.spec.size(); ++d) {
    shape += (d == 0 ? "" : ", ") + (x.shape ? std::to_string((*x.shape)[d]) : readable_bytes(x.bytes));
    shape += x.spec[d] == none ? "" : "/" + std::to_string(mesh.axes[x.spec[d]].size);
  }
  return std::string{name} + " [" + shape + "]";
}

/// The layers of these numbers, such as `layer_0, layer_2 to layer_47`, or `15 layers from layer_0 to layer_39` where
/// they are more than two ranges.
inline std::string ranges_of(const std::vector<std::uint32_t>& numbers, const std::vector<std::string>& names) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t first = 0; first < numbers.size(); ++ranges) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    text += (text.empty() ? "" : ", ") + names[numbers[first]];
    text += last == first ? "" : (last == first + 1 ? ", " : " to ") + names[numbers[last]];
    first = last + 1;
  }
  return ranges <= 2 ? text
                     : std::to_string(numbers.size()) + " layers from " + names[numbers.front()] + " to " +
                         names[numbers.back()];
}

/// The collectives of each part of a model, such as `2 all-reduces`, by their tensors.
template <class PartOf>
std::vector<std::string> sent_by_part(const std::vector<parallel::resharded_tensor>& resharded, std::uint32_t parts,
                                      const PartOf& part_of) {
  std::vector<std::map<parallel::resharding, std::size_t>> counts(parts);
  for (const auto& r : resharded) {
    if (r.what != parallel::resharding::nothing) {
      ++counts[part_of(r.tensor)][r.what];
    }
  }
  std::vector<std::string> sent(parts);
  for (std::uint32_t i = 0; i < parts; ++i) {
    for (const auto& [what, count] : counts[i]) {
      sent[i] += (sent[i].empty() ? "" : ", ") + std::to_string(count) + " " + std::string{to_string(what)} +
                 (count == 1 ? "" : "s");
    }
  }
  return sent;
}

/// Layers that are alike as one, those with most bytes first; without those that have nothing.
inline std::vector<layer_sharding> each_once(std::vector<layer_sharding> found, const std::vector<byte_count>& bytes,
                                             const std::vector<std::string>& names) {
  std::vector<std::pair<layer_sharding, std::vector<std::uint32_t>>> groups; // with the layers that are alike
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    if (found[i] == layer_sharding{}) {
      continue;
    }
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == found[i]; });
    if (same == groups.end()) {
      groups.emplace_back(std::move(found[i]), std::vector{i});
    } else {
      same->second.push_back(i);
    }
  }
  const auto bytes_of = [&](const auto& g) { return g.second.size() * bytes[g.second.front()]; };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const auto& a, const auto& b) { return bytes_of(a) > bytes_of(b); });
  std::vector<layer_sharding> result;
  for (auto& [l, numbers] : groups) {
    l.layers = ranges_of(numbers, names);
    result.push_back(std::move(l));
  }
  return result;
}

} // namespace detail

/// The mesh and what is whole on it, such as `2 × data, 4 × tensor on gpu0 to gpu7; 1.45 GiB of 5.80 GiB of parameters
/// on each device`.
inline std::string mesh_sentence(const parallel::sharding& s, const std::vector<std::string>& devices) {
  std::string text;
  for (const auto& a : s.mesh.axes) {
    text += (text.empty() ? "" : ", ") + std::to_string(a.size) + " × " + a.name;
  }
  if (!s.mesh.devices.empty()) {
    const auto [first, last] = std::minmax_element(s.mesh.devices.begin(), s.mesh.devices.end());
    text += *last - *first + 1 == s.mesh.devices.size() ? " on " + devices[*first] + " to " + devices[*last]
                                                        : " on " + std::to_string(s.mesh.devices.size()) + " devices";
  }
  byte_count all = 0, held = 0;
  std::vector<byte_count> owned(s.mesh.axes.empty() ? 1 : s.mesh.axes.front().size, 0);
  for (const auto& x : s.parameters) {
    all += x.bytes;
    (x.owner == none ? held : owned[x.owner]) += parallel::shard_bytes(x, s.mesh);
  }
  held += *std::max_element(owned.begin(), owned.end());
  text += held == all ? "; each device has all parameters (" + readable_bytes(all) + ")"
                      : std::string{s.has_owners() ? "; each device has at most " : "; each device has "} +
                          readable_bytes(held) + " of " + readable_bytes(all) + " of parameters";
  text += s.has_unequal_parts() ? ", some in unequal parts, which few runtimes take" : "";
  return text + (s.zero_stage > 0 ? " and updates a part of them (ZeRO " + std::to_string(s.zero_stage) + ")" : "");
}

/// The splits of the parameters of each layer of the model `p`, the largest ones first, and what is sent in each of
/// them; identical layers once, those with most bytes first. Without named layers all of the model is one.
/// Complexity: that of `partition::find_layers`.
template <class Problem>
std::vector<layer_sharding> sharding_by_layer(const Problem& p, const parallel::sharding& s,
                                              const std::vector<parallel::resharded_tensor>& resharded) {
  const auto layers = partition::find_layers(p);
  const std::uint32_t parts = layers.named ? layers.num_parts() : 1;
  std::vector<std::string> names(parts, "the model");
  if (layers.named) {
    names.front() = "before the layers";
    std::copy(layers.scopes.begin(), layers.scopes.end(), names.begin() + 1);
    names.back() = "after the layers";
  }
  const auto part_of = [&](op_id v) { return layers.named ? layers.part[p.component(v)] : 0; };
  std::vector<layer_sharding> found(parts);
  std::vector<byte_count> bytes(parts, 0);
  std::vector<const parallel::sharded_parameter*> largest_first;
  for (const auto& x : s.parameters) {
    bytes[part_of(x.op)] += x.bytes;
    largest_first.push_back(&x);
  }
  weft::sort(largest_first, [](const auto* a, const auto* b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->op < b->op;
  });
  for (const auto* parameter : largest_first) {
    const auto& x = *parameter;
    const auto part = part_of(x.op);
    auto& l = found[part];
    if (100 * x.bytes < bytes[part]) {
      ++l.small;
      continue;
    }
    std::string_view name = x.name;
    if (part > 0 && part + 1 < parts && name.starts_with(names[part])) {
      name.remove_prefix(std::min(names[part].size() + 1, name.size()));
    }
    if (x.is_split()) {
      l.split.push_back(detail::with_shape(name, x, s.mesh));
    } else {
      ++l.whole;
      l.whole_bytes += x.bytes;
    }
  }
  const auto sent = detail::sent_by_part(resharded, parts, [&](tensor_id t) {
    return part_of(p.workload().producer(t));
  });
  for (std::uint32_t i = 0; i < parts; ++i) {
    found[i].sent = sent[i];
  }
  return detail::each_once(std::move(found), bytes, names);
}

} // namespace weft::report
