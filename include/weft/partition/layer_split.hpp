// SPDX-License-Identifier: BSL-1.0
/// Contiguous blocks of equally many layers per device, as frameworks split models that are too large for one.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/first_device.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::partition {

namespace detail {

/// What the name of an op says, without copying it.
struct op_name {
  std::string_view scope = {}; ///< the name without a leading `gradients/` or `gradients_1/`
  bool is_gradient = false;

  explicit op_name(std::string_view name) : scope{name} {
    if (name.starts_with("gradients")) {
      const auto slash = name.find('/');
      const auto suffix = name.substr(9, slash == name.npos ? slash : slash - 9);
      if (slash != name.npos && suffix.find_first_not_of("_0123456789") == suffix.npos) {
        scope = name.substr(slash + 1);
        is_gradient = true;
      }
    }
  }

  /// The name of the op of which this is a gradient: what stands before the first `_grad`; empty if nothing does.
  std::string_view origin() const {
    const auto at = scope.find("_grad/");
    return is_gradient && at != scope.npos ? scope.substr(0, at) : std::string_view{};
  }

  /// The scope up to and including the outermost (or the innermost) one that bears a number, such as
  /// `encoder/layer_3`, `h12` or `model.layers.7`; empty if none does. The last part, the op's own name, does not count.
  std::string_view layer(bool outermost) const {
    std::string_view found;
    std::size_t begin = 0;
    for (auto end = scope.find_first_of("/."); end != scope.npos; end = scope.find_first_of("/.", begin)) {
      if (end > begin && scope[end - 1] >= '0' && scope[end - 1] <= '9') {
        found = scope.substr(0, end);
        if (outermost) {
          break;
        }
      }
      begin = end + 1;
    }
    return found;
  }
};

} // namespace detail

/// Cuts a network into blocks of consecutive layers, equally many per accelerator (the first ones get one more if they
/// do not divide evenly): the usual model parallelism. Layers come from the names of ops, see `detail::op_name::layer`:
/// the outermost numbered scopes if there are as many as accelerators, else the innermost ones; in the order in which a
/// longest path reaches them. Then
/// - gradient ops go with the op of which they are a gradient, and colocation groups with their first member, so that
///   updates follow their variables;
/// - other ops go where their inputs come from: to the last of these blocks, gradients to the first; ops without inputs
///   to the first block that needs them. So embeddings come first, the head and the loss last.
///
/// Without such names (fewer than two layers) ops in topological order are cut into blocks of equal work. A baseline: it
/// respects kinds and groups, not memory; a component that does not allow its block's device goes to the next
/// accelerator that it allows, else to the first device.
/// Complexity: O(n + m + layers log layers + components · devices), plus reading the names.
struct layer_split {
  template <class Problem>
  outcome<placement> operator()(const Problem& p) const {
    const auto devices = accelerators(p);
    auto block = blocks_by_name(p, devices.size());
    if (block.empty()) {
      block = blocks_by_work(p, devices);
    }
    placement where(p.num_ops(), none);
    for (component_id c = 0; c < p.num_components(); ++c) {
      const device_id d = first_device::choose(p, c, devices, block[p.members(c).front()]);
      if (d == none) {
        return p.why_unplaced(c, std::vector<byte_count>(p.num_devices(), 0));
      }
      for (const op_id v : p.members(c)) {
        where[v] = d;
      }
    }
    return where;
  }

private:
  using layer_numbers = std::unordered_map<std::string_view, std::uint32_t>;
  struct layer_begin {
    std::uint32_t depth;
    op_id op;
  };

  template <class Problem>
  static std::vector<std::string_view> names(const Problem& p) {
    std::vector<std::string_view> found(p.num_ops());
    if constexpr (requires { std::string_view{p.workload().name(op_id{})}; }) {
      for (const op_id v : ids(p.num_ops())) {
        found[v] = p.workload().name(v);
      }
    }
    return found;
  }

  /// Numbers the layers of forward ops that lead their component, in order; returns how many there are.
  template <class Problem>
  static std::size_t number_layers(const Problem& p, const std::vector<std::string_view>& name, bool outermost,
                                   std::vector<std::uint32_t>& layer) {
    const auto depth = depths(p);
    layer_numbers number;
    buffer<layer_begin> begin;
    layer.assign(p.num_ops(), none);
    for (component_id c = 0; c < p.num_components(); ++c) {
      const op_id v = p.members(c).front();
      const detail::op_name n{name[v]};
      const auto key = n.layer(outermost);
      if (key.empty() || n.is_gradient) {
        continue;
      }
      const auto [at, is_new] = number.try_emplace(key, static_cast<std::uint32_t>(begin.size()));
      if (is_new) {
        begin.push_back({none, v});
      }
      if (depth[v] > 0) { // sources have no place in the sequence
        begin[at->second].depth = std::min(begin[at->second].depth, depth[v]);
      }
    }
    std::vector<std::uint32_t> order(begin.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) {
      order[k] = k;
    }
    weft::sort(order, [&](std::uint32_t a, std::uint32_t b) {
      return begin[a].depth != begin[b].depth ? begin[a].depth < begin[b].depth : begin[a].op < begin[b].op;
    });
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) {
      rank[order[k]] = k;
    }
    for (const op_id v : ids(p.num_ops())) {
      if (const auto at = number.find(detail::op_name{name[v]}.layer(outermost)); at != number.end()) {
        layer[v] = rank[at->second];
      }
    }
    return begin.size();
  }

  /// Per op the number of ops on the longest path that leads to it.
  template <class Problem>
  static std::vector<std::uint32_t> depths(const Problem& p) {
    std::vector<std::uint32_t> depth(p.num_ops(), 0);
    for (const op_id v : p.topological_order()) {
      for (const tensor_id t : p.workload().inputs(v)) {
        depth[v] = std::max(depth[v], depth[p.workload().producer(t)] + 1);
      }
    }
    return depth;
  }

  /// Per op its block, for components that of their first op counts; empty if names tell nothing.
  template <class Problem>
  static std::vector<std::uint32_t> blocks_by_name(const Problem& p, std::size_t devices) {
    const auto name = names(p);
    std::vector<std::uint32_t> block;
    std::size_t layers = number_layers(p, name, true, block);
    if (layers < devices) {
      std::vector<std::uint32_t> inner;
      if (const auto more = number_layers(p, name, false, inner); more > layers) {
        layers = more;
        block = std::move(inner);
      }
    }
    if (layers < 2) {
      return {};
    }
    for (auto& b : block) {
      if (b != none) {
        b = block_of(b, layers, devices);
      }
    }
    fill_in(p, name, block);
    return block;
  }

  /// The block of part i of `parts`, of which the first blocks get one more if they do not divide evenly.
  static std::uint32_t block_of(std::size_t i, std::size_t parts, std::size_t blocks) {
    const std::size_t each = parts / blocks;
    const std::size_t more = parts % blocks; // blocks with one more
    const std::size_t in_larger = more * (each + 1);
    return static_cast<std::uint32_t>(i < in_larger ? i / (each + 1) : more + (i - in_larger) / each);
  }

  template <class Problem>
  static void fill_in(const Problem& p, const std::vector<std::string_view>& name, std::vector<std::uint32_t>& block) {
    const auto& w = p.workload();
    std::unordered_map<std::string_view, op_id> op_of;
    for (const op_id v : ids(p.num_ops())) {
      op_of.try_emplace(name[v], v);
    }
    const auto lead = [&](op_id v) { return p.members(p.component(v)).front(); };
    for (const op_id v : p.topological_order()) {
      if (lead(v) != v) {
        block[v] = block[lead(v)];
      }
      if (block[v] != none) {
        continue;
      }
      const detail::op_name n{name[v]};
      if (const auto at = op_of.find(n.origin()); !n.origin().empty() && at != op_of.end()) {
        block[v] = block[at->second];
        continue;
      }
      for (const tensor_id t : w.inputs(v)) {
        if (const auto b = block[w.producer(t)]; b != none) {
          block[v] = block[v] == none ? b : n.is_gradient ? std::min(b, block[v]) : std::max(b, block[v]);
        }
      }
    }
    const auto known = block;
    for (std::size_t i = p.num_ops(); i-- > 0;) {
      const op_id v = p.topological_order()[i];
      if (known[v] != none) {
        continue;
      }
      for (const tensor_id t : w.outputs(v)) {
        for (const op_id c : w.consumers(t)) {
          block[v] = std::min(block[v], block[c]); // `none` is the largest number
        }
      }
    }
    for (auto& b : block) {
      b = b == none ? 0 : b;
    }
  }

  /// Per op its block of about equal time on the first device.
  template <class Problem>
  static std::vector<std::uint32_t> blocks_by_work(const Problem& p, const std::vector<device_id>& devices) {
    double all = 0;
    for (const op_id v : ids(p.num_ops())) {
      all += p.compute_time(v, devices.front());
    }
    std::vector<std::uint32_t> block(p.num_ops(), 0);
    const auto k = static_cast<double>(devices.size());
    double before = 0;
    for (const op_id v : p.topological_order()) {
      const double time = p.compute_time(v, devices.front());
      // time / 2 is exact, so it does not matter whether the sum is fused or not.
      const double share = all > 0 && all < std::numeric_limits<double>::infinity() ? (before + time / 2) / all : 0;
      block[v] = static_cast<std::uint32_t>(std::min(k - 1, share * k));
      before += time;
    }
    return block;
  }
};

} // namespace weft::partition
