// SPDX-License-Identifier: BSL-1.0
/// The layers of a model in their order, found by the names of its ops or else by its structure.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/numbering.hpp"
#include "weft/core/reversed.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/longest_path.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/detail/order_of_layers.hpp"
#include "weft/partition/first_device.hpp"
#include "weft/workload/op_name.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::partition {

/// A model as a sequence of **parts**: part 0 is what comes before the layers (embeddings), parts 1 … L are the layers
/// and part L + 1 is what follows (the head, the loss). Gradients and updates are in the part of their layer. Tensors
/// of the forward pass lead from earlier parts to later ones, those of the backward pass back.
struct model_layers {
  /// A scope that is in no layer, such as `model.norm`, and where most of it is.
  struct outer_scope {
    std::string scope;
    std::uint32_t part = 0;
    friend bool operator==(const outer_scope&, const outer_scope&) = default;
  };

  bool named = false;                    ///< whether names told the layers
  std::vector<std::string> scopes = {};  ///< of layers 1 … L, as in names of ops: `/model/layers.3`; empty if not named
  std::vector<outer_scope> outside = {}; ///< of the other parts, in the order of their first ops
  std::vector<std::uint32_t> part = {};  ///< of each component
  std::uint32_t num_layers = 0;

  std::uint32_t num_parts() const { return num_layers + 2; }
};

namespace detail {

/// Finds to which layer each component of a problem belongs.
template <class Problem>
class layer_finder {
public:
  struct layer {
    std::string_view scope = {};
    op_id first = none; ///< its op with the longest path to the end
  };

  explicit layer_finder(const Problem& p)
      : p_{p}, name_(p.num_ops()),
        height_{graph::longest_to_sink(p.workload(), p.topological_order(), [](op_id) { return 1.0; })},
        lead_(p.num_components(), none), entry_(p.num_components(), none), owner_(p.num_ops(), none) {
    for (const op_id v : ids(p.num_ops())) {
      if constexpr (requires { std::string_view{p.workload().name(v)}; }) {
        name_[v] = op_name{p.workload().name(v)};
        name_[v].add_firsts(firsts_);
        if (names_.insert(p.workload().name(v))) {
          op_of_.push_back(v);
        }
      }
      auto& lead = lead_[p.component(v)];
      if (!name_[v].is_gradient && (lead == none || height_[v] > height_[lead])) {
        lead = v;
      }
    }
    for (component_id c = 0; c < p.num_components(); ++c) {
      entry_[c] = entry_of(c);
    }
    for (const op_id v : ids(p.num_ops())) {
      owner_[v] = lead_[p.component(v)] == none ? owner_of(v) : op_id{none};
    }
  }

  const buffer<layer>& layers() const { return layers_; } ///< in order

  /// Layers are the outermost scopes of which there are several of a kind, or the innermost ones if that gives more.
  void by_scopes(std::size_t at_least) {
    const auto by = [&](bool outermost) {
      number_layers([&](op_id v) { return name_[v].layer(outermost, firsts_); });
    };
    by(true);
    if (layers_.size() < at_least) {
      const auto few = layers_.size();
      by(false);
      if (layers_.size() <= few) {
        by(true);
      }
    }
  }

  /// Layers are the outermost scopes of which there are several of a kind, but for
  /// - stages of layers: those of which there are few and of which nearly all is in scopes of another kind, in not
  ///   equally many of them or in one. So a layer is a block of a residual network, not a stage of it, and not an
  ///   expert, nor a step of a recurrence inside a layer;
  /// - kinds with less than 1 / 200 of the work and of the parameters, such as `Reshape_1` around the shape that it
  ///   reads.
  /// There are none if they have less than a fifth of the work or a twentieth of the parameters, as steps of a
  /// recurrence that read the same parameters.
  void by_blocks() {
    const auto& w = p_.workload();
    double work = 0;
    double bytes = 0;
    for (const op_id v : ids(p_.num_ops())) {
      work += name_[v].is_gradient ? 0 : w.work(v);
      bytes += static_cast<double>(w.resident_bytes(v));
    }
    const auto is_small = [&](const kind_use& use) { return use.work < work / 200 && use.bytes <= bytes / 200; };
    numbering<std::string> opened;
    const auto accepted = [&](const std::string& kind) { return !opened.contains(kind); };
    for (bool again = true; again;) { // at most once per kind
      again = false;
      kinds_in_use kinds;
      for (component_id c = 0; c < p_.num_components(); ++c) {
        if (lead_[c] != none) {
          count(name_[lead_[c]], c, accepted, kinds);
        }
      }
      for (std::size_t k = 0; k < kinds.use.size(); ++k) {
        if (kinds.use[k].is_stage() || is_small(kinds.use[k])) {
          again = opened.insert(kinds.kind[k]) || again;
        }
      }
      if (!again) {
        double work_named = 0;
        double bytes_named = 0;
        for (const kind_use& use : kinds.use) {
          work_named += use.work;
          bytes_named += use.bytes;
        }
        if (work_named < 0.2 * work || bytes_named < 0.05 * bytes) {
          number_layers([](op_id) { return std::string_view{}; });
          return;
        }
      }
    }
    number_layers([&](op_id v) { return name_[v].layer_of_kind(firsts_, accepted); });
  }

  /// The parts of all components, given those of some: 1 … `last`; others have `none`. Gradients go with what they are
  /// gradients of. Other ops go where their inputs come from: to the last of these parts, gradients to the first; what
  /// is made from nothing, such as parameters, to the first part that needs it. What so comes before all parts is in
  /// part 0, what follows all of them in `last` + 1.
  std::vector<std::uint32_t> fill_in(std::vector<std::uint32_t> part, std::uint32_t last) const {
    const auto& w = p_.workload();
    const auto leads_on = leading_to(part);
    const auto follow_owners = [&] {
      for (const op_id v : ids(p_.num_ops())) {
        auto& b = part[p_.component(v)];
        b = b == none && owner(v) != none ? part[owner(v)] : b;
      }
    };
    for (const op_id v : p_.topological_order()) {
      const component_id c = p_.component(v);
      if (part[c] != none) {
        continue;
      }
      if (const component_id from = owner(v); from != none) {
        part[c] = part[from]; // if it is known already
        continue;
      }
      if (lead_[c] != none && entry_[c] != v) {
        continue;
      }
      std::uint32_t found = none;
      graph::for_each_predecessor(w, v, [&](op_id u) {
        if (const auto b = part[p_.component(u)]; b != none) {
          found = found == none ? b : name_[v].is_gradient ? std::min(b, found) : std::max(b, found);
        }
      });
      part[c] = found == last && !name_[v].is_gradient && !leads_on[v] ? last + 1 : found;
    }
    follow_owners();
    const auto known = part;
    for (const op_id v : reversed(p_.topological_order())) {
      const component_id c = p_.component(v);
      if (known[c] != none || owner(v) != none) {
        continue;
      }
      graph::for_each_successor(w, v, [&](op_id u) {
        const auto b = part[p_.component(u)];
        part[c] = std::min(part[c], b == 1 && !name_[v].is_gradient ? 0u : b); // `none` is the largest number
      });
    }
    follow_owners();
    std::replace(part.begin(), part.end(), std::uint32_t{none}, 0u);
    return part;
  }

  /// The number, from 1, of the layer that names tell for each component; else `none`.
  std::vector<std::uint32_t> named_parts() const {
    numbering<std::string_view> scopes;
    for (const layer& l : layers_) {
      scopes.insert(l.scope);
    }
    std::vector<std::uint32_t> part(p_.num_components(), none);
    for (component_id c = 0; c < p_.num_components(); ++c) {
      if (const auto i = scopes.find(layer_[c]); i != none) {
        part[c] = i + 1;
      }
    }
    return part;
  }

  /// Parts 1 … `count` of about equal work on device d: every component with a forward op in the order of the longest
  /// paths to the end, with the time on d of all that belongs to it and may run there; others have `none`.
  std::vector<std::uint32_t> parts_of_equal_work(std::size_t count, device_id d) const {
    std::vector<double> time(p_.num_components(), 0.0);
    double all = 0;
    for (const op_id v : ids(p_.num_ops())) {
      const component_id c = lead_[p_.component(v)] != none ? p_.component(v) : owner(v);
      if (c != none && lead_[c] != none && p_.kinds(p_.component(v)).contains(p_.platform().kind(d))) {
        const double t = p_.compute_time(v, d);
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
    std::vector<std::uint32_t> part(p_.num_components(), none);
    const auto k = static_cast<double>(count);
    double before = 0;
    for (const op_id v : order) {
      const component_id c = p_.component(v);
      // time / 2 is exact, so it does not matter whether the sum is fused or not.
      const double share = all > 0 && all < std::numeric_limits<double>::infinity() ? (before + time[c] / 2) / all : 0;
      part[c] = static_cast<std::uint32_t>(std::min(k - 1, share * k)) + 1;
      before += time[c];
    }
    return part;
  }

  /// Parts 1 … of the forward ops that follow the op with the longest path to the end, cut where one op makes all that
  /// the rest reads of what is before it; as many as have about 1 / `most` of the work and parameters or more. None if
  /// there is no such place.
  std::pair<std::vector<std::uint32_t>, std::uint32_t> parts_between_cuts(std::size_t most) const {
    const auto& w = p_.workload();
    op_id source = none;
    for (const op_id v : ids(p_.num_ops())) {
      source = !name_[v].is_gradient && (source == none || height_[v] > height_[source]) ? v : source;
    }
    std::vector<std::uint32_t> place(p_.num_ops(), none); // among the ops that follow
    std::vector<op_id> chain;
    double work = 0;
    double bytes = 0;
    for (const op_id v : p_.topological_order()) {
      bool follows = v == source;
      graph::for_each_predecessor(w, v, [&](op_id u) { follows = follows || place[u] != none; });
      if (follows && !name_[v].is_gradient) {
        place[v] = static_cast<std::uint32_t>(chain.size());
        chain.push_back(v);
        work += w.work(v);
        bytes += static_cast<double>(w.resident_bytes(v));
      }
    }
    std::pair<std::vector<std::uint32_t>, std::uint32_t> found{std::vector<std::uint32_t>(p_.num_components(), none),
                                                               1};
    std::uint32_t reach = 0;
    double share = 0;
    for (std::uint32_t i = 0; i < chain.size(); ++i) {
      const op_id v = chain[i];
      found.first[p_.component(v)] = std::min(found.first[p_.component(v)], found.second);
      share += (work > 0 ? w.work(v) / work : 0) + (bytes > 0 ? static_cast<double>(w.resident_bytes(v)) / bytes : 0);
      const bool cut = reach <= i && i + 1 < chain.size();
      graph::for_each_successor(w, v, [&](op_id u) {
        reach = place[u] != none ? std::max(reach, place[u]) : reach;
      });
      if (cut && share * static_cast<double>(most) >= 2) { // of two shares, of work and of parameters
        ++found.second;
        share = 0;
      }
    }
    return found;
  }

  /// The scopes of what no layer has: their outermost parts that no layer is in.
  std::vector<model_layers::outer_scope> outside(const std::vector<std::uint32_t>& part) const {
    numbering<std::string_view> around; // scopes that layers are in
    for (const layer& l : layers_) {
      op_name{l.scope}.each_scope([&](std::string_view s) { around.insert(s); });
    }
    numbering<std::string_view> scopes;
    numbering<std::uint64_t> in_part; // scope, then part
    buffer<byte_count> bytes;         // of parameters, per scope and part
    for (const op_id v : p_.topological_order()) {
      const component_id c = p_.component(v);
      std::string_view outer;
      if (lead_[c] == v && layer_[c].empty()) {
        name_[v].each_scope([&](std::string_view s) { outer = outer.empty() && !around.contains(s) ? s : outer; });
      }
      if (!outer.empty()) {
        const auto i = in_part.number(std::uint64_t{scopes.number(outer)} << 32 | part[c]);
        bytes.resize(in_part.size());
        bytes[i] += p_.resident_bytes(c);
      }
    }
    std::vector<model_layers::outer_scope> found;
    buffer<std::uint32_t> most(scopes.size(), none); // in_part's number, ties by part
    for (std::uint32_t i = 0; i < in_part.size(); ++i) {
      auto& other = most[in_part[i] >> 32];
      if (other == none || bytes[i] > bytes[other] || (bytes[i] == bytes[other] && in_part[i] < in_part[other])) {
        other = i;
      }
    }
    for (std::uint32_t i = 0; i < scopes.size(); ++i) {
      found.push_back({std::string{scopes[i]}, static_cast<std::uint32_t>(in_part[most[i]])});
    }
    return found;
  }

private:
  /// The scopes of one kind.
  struct kind_use {
    numbering<std::string_view> scopes = {};
    buffer<std::uint32_t> inside = {}; ///< per scope: how many numbered ones are next inside
    double work = 0;
    double bytes = 0;
    double work_inside = 0;
    double bytes_inside = 0;

    bool is_stage() const {
      if (scopes.size() <= 1) {
        return true; // not one of several
      }
      const std::size_t few = *std::min_element(inside.begin(), inside.end());
      const std::size_t many = *std::max_element(inside.begin(), inside.end());
      return scopes.size() < 6 && many > 0 && (few != many || many == 1) && work_inside >= 0.8 * work &&
             bytes_inside >= 0.8 * bytes;
    }
  };
  struct kinds_in_use {
    numbering<std::string> kind = {};
    buffer<kind_use> use = {};
    numbering<std::string_view> inside = {}; ///< numbered scopes that are next inside one of a kind in use
  };

  /// Adds c, whose op has this name, to the kind of its outermost scope of an accepted kind.
  template <class Accepted>
  void count(const op_name& name, component_id c, const Accepted& accepted, kinds_in_use& kinds) const {
    double work = 0;
    for (const op_id v : p_.members(c)) {
      work += name_[v].is_gradient ? 0 : p_.workload().work(v);
    }
    const auto bytes = static_cast<double>(p_.resident_bytes(c));
    std::uint32_t outer = none;
    std::uint32_t scope = none; // until something is found inside
    name.each_numbered(firsts_, [&](std::string_view s, const std::string& kind) {
      if (outer == none) {
        if (accepted(kind)) {
          outer = kinds.kind.number(kind);
          kinds.use.resize(kinds.kind.size());
          auto& use = kinds.use[outer];
          scope = use.scopes.number(s);
          use.inside.resize(use.scopes.size());
          use.work += work;
          use.bytes += bytes;
        }
      } else if (scope != none) {
        auto& use = kinds.use[outer];
        if (kinds.inside.insert(s)) {
          ++use.inside[scope];
        }
        scope = none;
        use.work_inside += work;
        use.bytes_inside += bytes;
      }
    });
  }

  /// The component that holds the op of which v is a gradient, in the same replica or part; `none` if there is no such
  /// op, and where forward ops say where v belongs.
  component_id owner(op_id v) const { return owner_[v] == none ? component_id{none} : p_.component(owner_[v]); }

  /// The op of which v is a gradient, or which it makes again; `none` if there is no such op.
  op_id owner_of(op_id v) const {
    const auto& name = name_[v];
    if (!name.is_gradient) {
      return none;
    }
    if (const auto origin = name.origin(); !origin.empty()) {
      return op_called(name.copy, origin);
    }
    // TensorFlow numbers its sums as if there were no forward ops, so that the name alone does not tell.
    if (const op_id same = op_called(name.copy, name.scope); same != none && is_gradient_type(v, same)) {
      return same;
    }
    return op_called(name.copy, name.origin_of_part());
  }

  /// An op without a name is called `op_<id>` by its gradients.
  op_id op_called(std::string_view copy, std::string_view name) const {
    const auto i = name.empty() ? none : copy.empty() ? names_.find(name) : names_.find(std::string{copy} += name);
    if (i != none || !copy.empty() || !name.starts_with("op_")) {
      return i == none ? op_id{none} : op_of_[i];
    }
    std::size_t v = 0;
    for (const char c : name.substr(3)) {
      if (c < '0' || c > '9' || v >= name_.size()) {
        return none;
      }
      v = 10 * v + static_cast<std::size_t>(c - '0');
    }
    return name.size() > 3 && v < name_.size() && is_unnamed(static_cast<op_id>(v)) ? static_cast<op_id>(v) : none;
  }

  bool is_unnamed(op_id v) const {
    if constexpr (requires { std::string_view{p_.workload().name(v)}; }) {
      return std::string_view{p_.workload().name(v)}.empty();
    }
    return true;
  }

  bool is_gradient_type(op_id v, op_id of) const {
    if constexpr (requires { std::string_view{p_.workload().type(v)}; }) {
      const std::string_view type = p_.workload().type(v), forward = p_.workload().type(of);
      return type == forward ? forward.empty() || p_.workload().name(v).find("recompute/") != std::string_view::npos
                             : type.starts_with(forward) && type.substr(forward.size()) == "Grad";
    }
    return true;
  }

  /// Layers in order, and per component the name of its layer by `key`: that of the op that leads it or else of the one
  /// by which it reads, as updates may be called otherwise; of gradients that of the first one that tells a layer.
  template <class Key>
  void number_layers(const Key& scope_of) {
    const auto key = [&](op_id v) { return v == none ? std::string_view{} : scope_of(v); };
    numbering<std::string_view> scopes;
    layers_.clear();
    layer_.assign(p_.num_components(), {});
    for (component_id c = 0; c < p_.num_components(); ++c) {
      const op_id v = key(lead_[c]).empty() ? entry_[c] : lead_[c];
      layer_[c] = key(v);
      if (!layer_[c].empty()) {
        const auto i = scopes.number(layer_[c]);
        if (i == layers_.size()) {
          layers_.push_back({layer_[c], v});
        } else if (is_before(v, layers_[i].first)) {
          layers_[i].first = v;
        }
      }
    }
    for (const op_id v : ids(p_.num_ops())) {
      const component_id c = p_.component(v);
      if (lead_[c] == none && layer_[c].empty() && scopes.contains(key(v))) {
        layer_[c] = key(v);
      }
    }
    weft::sort(layers_, [&](const layer& a, const layer& b) { return is_before(a.first, b.first); });
    follow_graph();
  }

  /// Puts each layer after those that it reads in the forward pass: a branch with a long way to the end may read a
  /// short one. What follows gradients is of the backward pass.
  void follow_graph() {
    const auto count = static_cast<std::uint32_t>(layers_.size());
    numbering<std::string_view> number;
    for (std::uint32_t i = 0; i < count; ++i) {
      number.insert(layers_[i].scope);
    }
    const auto node_of = [&](op_id v) { // a layer, or else a component
      const auto c = p_.component(v);
      return layer_[c].empty() ? count + c : number.find(layer_[c]);
    };
    std::vector<bool> is_forward(p_.num_ops(), false);
    buffer<dependence> reads;
    for (const op_id v : p_.topological_order()) {
      const auto inputs = p_.workload().inputs(v);
      bool follows = name_[v].is_gradient;
      for (const tensor_id t : inputs) {
        follows = follows || !is_forward[p_.workload().producer(t)];
      }
      is_forward[v] = !follows;
      for (const tensor_id t : inputs) {
        const auto from = node_of(p_.workload().producer(t)), to = node_of(v);
        if (!follows && from != to) {
          reads.push_back({from, to});
        }
      }
    }
    buffer<layer> in_order;
    for (const auto i : order_of_layers(count, count + p_.num_components(), reads)) {
      in_order.push_back(layers_[i]);
    }
    layers_ = std::move(in_order);
  }

  bool is_before(op_id a, op_id b) const { return height_[a] != height_[b] ? height_[a] > height_[b] : a < b; }

  /// Whether a path of forward ops leads from an op to what has a part.
  std::vector<bool> leading_to(const std::vector<std::uint32_t>& part) const {
    std::vector<bool> leads(p_.num_ops(), false);
    for (const op_id v : reversed(p_.topological_order())) {
      graph::for_each_successor(p_.workload(), v, [&](op_id u) {
        if (!name_[u].is_gradient && (leads[u] || part[p_.component(u)] != none)) {
          leads[v] = true;
        }
      });
    }
    return leads;
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

  const Problem& p_;
  buffer<op_name> name_;
  numbering<std::string_view> firsts_; ///< scopes without a number of which there are numbered ones
  std::vector<double> height_; ///< ops on the longest path to the end: near the network's input it is largest, also for
                               ///< what nothing leads to, such as parameters
  std::vector<op_id> lead_;    ///< per component its highest forward op; `none` if it has gradients only
  std::vector<op_id> entry_;   ///< per component the op by which it reads what others make, see `entry_of`
  std::vector<op_id> owner_;   ///< per op of components of gradients only the op that it is a gradient of
  numbering<std::string_view> names_;
  buffer<op_id> op_of_; ///< per name: the first that has it
  buffer<layer> layers_;
  buffer<std::string_view> layer_; ///< per component; empty if its names tell none
};

} // namespace detail

/// The layers of a model. Names tell them (`detail::layer_finder::by_blocks`): scopes with a number, separated by `/`
/// or `.`, such as `encoder/layer_3`, `/model/layers.7` or `blk.0`, as frameworks and exporters write them; ordered by
/// their ops with the longest path to the end, but each after those that it reads. A colocation group is in one layer,
/// a gradient in that of the op which its name tells it to be of. Where fewer than two layers are named, the
/// model is cut into up to 64 parts where a single tensor leads from one to the next, and if there is no such place
/// into 32 of equal work on the first accelerator. Complexity: O(n log n + m), plus reading the names a few times.
template <class Problem>
model_layers find_layers(const Problem& p) {
  detail::layer_finder<Problem> finder{p};
  finder.by_blocks();
  model_layers found;
  std::vector<std::uint32_t> part;
  if (finder.layers().size() >= 2) {
    found.named = true;
    for (const auto& l : finder.layers()) {
      found.scopes.emplace_back(l.scope);
    }
    found.num_layers = static_cast<std::uint32_t>(found.scopes.size());
    part = finder.named_parts();
  } else {
    std::tie(part, found.num_layers) = finder.parts_between_cuts(64);
    if (found.num_layers < 2) {
      found.num_layers = 32;
      part = finder.parts_of_equal_work(found.num_layers, accelerators(p).front());
    }
  }
  found.part = finder.fill_in(std::move(part), found.num_layers);
  if (found.named) {
    found.outside = finder.outside(found.part);
  }
  return found;
}

} // namespace weft::partition
