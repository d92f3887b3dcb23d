// SPDX-License-Identifier: BSL-1.0
/// Contiguous blocks of equally many layers per device, as frameworks split models that are too large for one.
#pragma once

#include "weft/core/reversed.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/longest_path.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/first_device.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weft::partition {

namespace detail {

/// What the name of an op says, without copying it.
struct op_name {
  std::string_view scope = {}; ///< the name without a leading `gradients/` or `gradients_1/`
  bool is_gradient = false;

  op_name() = default;
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

  /// The scope up to and including the outermost (or the innermost) one that is one of several of its kind: that bears
  /// a number, such as `encoder/layer_3`, `h12` or `model.layers.7`, or is among `firsts`, as `conv2d` is where there is
  /// a `conv2d_1`. Empty if none is. The last part, the op's own name, does not count.
  std::string_view layer(bool outermost, const std::unordered_set<std::string_view>& firsts = {}) const {
    std::string_view found;
    each_scope([&](std::string_view s) {
      if ((found.empty() || !outermost) && (is_digit(s.back()) || firsts.contains(s))) {
        found = s;
      }
    });
    return found;
  }

  /// Adds what its numbered scopes are called where a framework gives the first of a kind no number.
  void add_firsts(std::unordered_set<std::string_view>& firsts) const {
    each_scope([&](std::string_view s) {
      const auto last = s.find_last_not_of("0123456789");
      if (is_digit(s.back()) && last != s.npos && last > 0 && s[last] == '_') {
        firsts.insert(s.substr(0, last));
      }
    });
  }

private:
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

  /// The scopes around the op, each with those around it, from the outermost inwards.
  template <class Found>
  void each_scope(const Found& found) const {
    std::size_t begin = 0;
    for (auto end = scope.find_first_of("/."); end != scope.npos; end = scope.find_first_of("/.", begin)) {
      if (end > begin) {
        found(scope.substr(0, end));
      }
      begin = end + 1;
    }
  }
};

/// Finds the block of each component of a problem.
template <class Problem>
class layer_blocks {
public:
  layer_blocks(const Problem& p, const std::vector<device_id>& devices)
      : p_{p}, devices_{devices}, name_(p.num_ops()),
        height_{graph::longest_to_sink(p.workload(), p.topological_order(), [](op_id) { return 1.0; })},
        lead_(p.num_components(), none), entry_(p.num_components(), none), block_(p.num_components(), none) {
    for (const op_id v : ids(p.num_ops())) {
      if constexpr (requires { std::string_view{p.workload().name(v)}; }) {
        name_[v] = op_name{p.workload().name(v)};
        name_[v].add_firsts(firsts_);
        op_of_.try_emplace(p.workload().name(v), v);
      }
      auto& lead = lead_[p.component(v)];
      if (!name_[v].is_gradient && (lead == none || height_[v] > height_[lead])) {
        lead = v;
      }
    }
    for (component_id c = 0; c < p.num_components(); ++c) {
      entry_[c] = entry_of(c);
    }
    number_layers(true);
    if (layers_.size() < devices.size()) {
      auto outer = layers_;
      auto outer_of = layer_;
      number_layers(false);
      if (layers_.size() <= outer.size()) {
        layers_ = std::move(outer);
        layer_ = std::move(outer_of);
      }
    }
  }

  bool have_layers() const { return layers_.size() >= 2; }

  std::vector<std::uint32_t> find() && {
    if (have_layers()) {
      cut_by_count();
    } else {
      cut_by_work();
    }
    fill_in();
    return std::move(block_);
  }

private:
  /// The component that holds the op of which v is a gradient; `none` if there is no such op, and where forward ops say
  /// where v belongs.
  component_id owner(op_id v) const {
    const auto name = lead_[p_.component(v)] == none ? name_[v].origin() : std::string_view{};
    const auto at = name.empty() ? op_of_.end() : op_of_.find(name);
    return at == op_of_.end() ? none : p_.component(at->second);
  }

  /// Layers in order, and per component the name of its layer: that of the op that leads it or else of the one by which
  /// it reads, as updates may be called otherwise; of gradients that of the first one that tells a layer.
  void number_layers(bool outermost) {
    const auto key = [&](op_id v) { return v == none ? std::string_view{} : name_[v].layer(outermost, firsts_); };
    std::unordered_map<std::string_view, op_id> first;
    layer_.assign(p_.num_components(), {});
    for (component_id c = 0; c < p_.num_components(); ++c) {
      const op_id v = key(lead_[c]).empty() ? entry_[c] : lead_[c];
      layer_[c] = key(v);
      if (!layer_[c].empty()) {
        auto& begin = first.try_emplace(layer_[c], v).first->second;
        begin = is_before(v, begin) ? v : begin;
      }
    }
    for (const op_id v : ids(p_.num_ops())) {
      const component_id c = p_.component(v);
      if (lead_[c] == none && layer_[c].empty() && first.contains(key(v))) {
        layer_[c] = key(v);
      }
    }
    layers_.assign(first.begin(), first.end());
    weft::sort(layers_, [&](const auto& a, const auto& b) { return is_before(a.second, b.second); });
  }

  bool is_before(op_id a, op_id b) const { return height_[a] != height_[b] ? height_[a] > height_[b] : a < b; }

  void cut_by_count() {
    std::unordered_map<std::string_view, std::uint32_t> block_of_layer;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      block_of_layer.emplace(layers_[i].first, block_of(i, layers_.size(), devices_.size()));
    }
    for (component_id c = 0; c < p_.num_components(); ++c) {
      if (const auto at = block_of_layer.find(layer_[c]); at != block_of_layer.end()) {
        block_[c] = at->second;
      }
    }
  }

  /// The block of part i of `parts`, of which the first blocks get one more if they do not divide evenly.
  static std::uint32_t block_of(std::size_t i, std::size_t parts, std::size_t blocks) {
    const std::size_t each = parts / blocks;
    const std::size_t more = parts % blocks; // blocks with one more
    const std::size_t in_larger = more * (each + 1);
    return static_cast<std::uint32_t>(i < in_larger ? i / (each + 1) : more + (i - in_larger) / each);
  }

  /// Every component with a forward op counts as a layer, with the time on the first device of all that belongs to it
  /// and may run there.
  void cut_by_work() {
    std::vector<double> time(p_.num_components(), 0.0);
    double all = 0;
    for (const op_id v : ids(p_.num_ops())) {
      const component_id c = lead_[p_.component(v)] != none ? p_.component(v) : owner(v);
      if (c != none && lead_[c] != none && p_.kinds(p_.component(v)).contains(p_.platform().kind(devices_.front()))) {
        const double t = p_.compute_time(v, devices_.front());
        time[c] += t;
        all += t;
      }
    }
    std::vector<op_id> order; // the op that says where its component is
    for (component_id c = 0; c < p_.num_components(); ++c) {
      if (lead_[c] != none) {
        order.push_back(entry_[c] != none ? entry_[c] : lead_[c]);
      }
    }
    weft::sort(order, [&](op_id a, op_id b) { return is_before(a, b); });
    const auto k = static_cast<double>(devices_.size());
    double before = 0;
    for (const op_id v : order) {
      const component_id c = p_.component(v);
      // time / 2 is exact, so it does not matter whether the sum is fused or not.
      const double share = all > 0 && all < std::numeric_limits<double>::infinity() ? (before + time[c] / 2) / all : 0;
      block_[c] = static_cast<std::uint32_t>(std::min(k - 1, share * k));
      before += time[c];
    }
  }

  /// The op by which a component reads what others make: its highest one, or what follows that on the longest path as
  /// long as all is made inside, as parameters are. `none` if the path leaves the component first: then it is made from
  /// nothing, and belongs to what reads it.
  op_id entry_of(component_id c) const {
    const auto& w = p_.workload();
    op_id v = lead_[c];
    while (v != none && p_.component(v) == c) {
      for (const tensor_id t : w.inputs(v)) {
        if (p_.component(w.producer(t)) != c) {
          return v;
        }
      }
      op_id next = none;
      graph::for_each_successor(w, v, [&](op_id u) { next = next == none || is_before(u, next) ? u : next; });
      v = next;
    }
    return none;
  }

  void fill_in() {
    const auto& w = p_.workload();
    for (const op_id v : p_.topological_order()) {
      const component_id c = p_.component(v);
      if (block_[c] != none) {
        continue;
      }
      if (const component_id from = owner(v); from != none) {
        block_[c] = block_[from]; // if it is known already
        continue;
      }
      if (lead_[c] != none && entry_[c] != v) {
        continue;
      }
      std::uint32_t found = none;
      graph::for_each_predecessor(w, v, [&](op_id u) {
        if (const auto b = block_[p_.component(u)]; b != none) {
          found = found == none ? b : name_[v].is_gradient ? std::min(b, found) : std::max(b, found);
        }
      });
      block_[c] = found;
    }
    follow_owners();
    const auto known = block_;
    for (const op_id v : reversed(p_.topological_order())) {
      const component_id c = p_.component(v);
      if (known[c] != none || owner(v) != none) {
        continue;
      }
      graph::for_each_successor(w, v, [&](op_id u) {
        block_[c] = std::min(block_[c], block_[p_.component(u)]); // `none` is the largest number
      });
    }
    follow_owners();
    std::replace(block_.begin(), block_.end(), std::uint32_t{none}, 0u);
  }

  void follow_owners() {
    for (const op_id v : ids(p_.num_ops())) {
      auto& b = block_[p_.component(v)];
      b = b == none && owner(v) != none ? block_[owner(v)] : b;
    }
  }

  const Problem& p_;
  const std::vector<device_id>& devices_;
  std::vector<op_name> name_;
  std::unordered_set<std::string_view> firsts_; ///< scopes without a number of which there are numbered ones
  std::vector<double> height_; ///< ops on the longest path to the end: near the network's input it is largest, also for
                               ///< what nothing leads to, such as parameters
  std::vector<op_id> lead_;    ///< per component its highest forward op; `none` if it has gradients only
  std::vector<op_id> entry_;   ///< per component the op by which it reads what others make, see `entry_of`
  std::unordered_map<std::string_view, op_id> op_of_;
  std::vector<std::pair<std::string_view, op_id>> layers_; ///< in order, with their first ops
  std::vector<std::string_view> layer_;                    ///< per component; empty if its names tell none
  std::vector<std::uint32_t> block_;                       ///< per component
};

} // namespace detail

/// Cuts a network into blocks of consecutive layers, equally many per accelerator (the first ones get one more if they
/// do not divide evenly): the usual model parallelism. Layers come from the names of ops, see `detail::op_name::layer`:
/// the outermost scopes of which there are several of a kind, if there are as many as accelerators, else the innermost
/// ones; ordered by their ops with the longest path to the end, so that parameters are where they are read. A colocation
/// group has one block: of the layer that its op with the longest path to the end names, or the op by which it reads from
/// outside. Then
/// - gradient ops go with the op of which they are a gradient;
/// - other ops go where their inputs come from: to the last of these blocks, gradients to the first; what is made from
///   nothing, such as parameters with their updates, to the first block that needs it. So embeddings come first, the
///   head and the loss last.
///
/// Without such names (fewer than two layers) groups and ops in the order of their longest paths to the end are cut
/// into blocks of equal work, gradients counted with their ops. A baseline: it respects kinds and groups, not memory; a
/// component that does not allow its block's device goes to the next accelerator that it allows, else to the first
/// device. Complexity: O(n log n + m + components · devices), plus reading the names.
struct layer_split {
  template <class Problem>
  outcome<placement> operator()(const Problem& p) const {
    const auto devices = accelerators(p);
    const auto block = detail::layer_blocks<Problem>{p, devices}.find();
    return first_device::place(p, devices, [&](component_id c) { return block[c]; });
  }

  /// Whether names tell layers, so that blocks have equally many of them and not equal work.
  template <class Problem>
  static bool finds_layers(const Problem& p) {
    const auto devices = accelerators(p);
    return detail::layer_blocks<Problem>{p, devices}.have_layers();
  }
};

} // namespace weft::partition
