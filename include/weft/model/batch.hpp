// SPDX-License-Identifier: BSL-1.0
/// The batch of a model's graph: the dimensions that grow with it, and the same graph with another one.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/components.hpp"
#include "weft/model/graph.hpp"
#include "weft/ops/axes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// A thing that keeps a graph from another batch.
enum class batch_obstacle : std::uint8_t {
  nothing,
  no_input,  ///< it has no input with dimensions
  parameter, ///< a parameter would have other extents, too
  unknown_op ///< it is not known how the extents of what an op makes follow from those of what it reads
};

/// The batch of a graph, and the dimensions that grow with it.
struct graph_batch {
  std::uint64_t size = 0; ///< the outermost extent of inputs; 0: not known
  std::vector<std::uint64_t> grows = {}; ///< by tensor, a bit per dimension
  op_id summed_by = none; ///< an op that adds up over it more than one number, as those do that make gradients
  batch_obstacle why = batch_obstacle::nothing; ///< … if it is not known
  std::string where = {};                       ///< the op or the parameter

  bool does_grow(tensor_id t, std::size_t d) const { return (grows[t] >> d & 1) != 0; }
};

namespace detail {

/// The dimensions that grow with a batch. One that a reshape merged may have other numbers outside of the batch: tokens
/// and examples in one, the tokens first.
class grown_dimensions {
public:
  /// `first` is the number of each tensor's first dimension.
  grown_dimensions(const model_graph& g, const std::vector<std::uint32_t>& first, graph::disjoint_sets sets,
                   std::uint64_t batch)
      : g_{g}, first_{first}, sets_{std::move(sets)}, outer_(first.back(), 0), batch_{batch} {}

  /// The product of what is outside of the batch in a dimension, so 1 of the batch itself; 0 if it does not grow.
  std::uint64_t outer(tensor_id t, std::size_t d) const { return outer_[set_of(t, d)]; }
  /// A reshape for which it is not known how what it makes grows, or `none`.
  op_id lost() const { return lost_; }

  /// True if nobody knew that it grows.
  bool add(tensor_id t, std::size_t d, std::uint64_t outer) {
    auto& known = outer_[set_of(t, d)];
    return known == 0 && (known = outer) != 0;
  }

  /// Goes on through an op that keeps the order of numbers, in both directions. True if a dimension is new.
  bool reshape(op_id v) {
    if (g_[v].inputs.empty() || g_[v].inputs.front() == none || g_.outputs(v).empty()) {
      return false;
    }
    const tensor_id from = g_[v].inputs.front(), to = *g_.outputs(v).begin();
    const auto there = pass(from, to), back = pass(to, from);
    lost_ = there == passing::lost || back == passing::lost ? v : lost_;
    return there == passing::added || back == passing::added;
  }

private:
  enum class passing : std::uint8_t { nothing, added, lost };

  std::uint32_t set_of(tensor_id t, std::size_t d) const {
    return sets_.find(first_[t] + static_cast<std::uint32_t>(d));
  }
  static std::uint64_t extent(const model_graph::extents& dims, std::size_t d) {
    return static_cast<std::uint64_t>(dims[d]);
  }

  /// Finds where the batch of one tensor is in the same numbers with other dimensions.
  passing pass(tensor_id from, tensor_id to) {
    const auto &dims = g_.dims(from), &made = g_.dims(to);
    double before = 1; // the numbers outside of a dimension
    for (std::size_t d = 0; d < dims.size(); before *= static_cast<double>(dims[d++])) {
      const auto inside = outer(from, d);
      if (inside == 0) {
        continue;
      }
      if (before * static_cast<double>(inside) > 1e15) {
        return passing::lost;
      }
      const auto outside = static_cast<std::uint64_t>(before) * inside;
      std::size_t best = made.size(); // of those that may be, the one with the least outside of the batch
      std::uint64_t least = 0, passed = 1;
      for (std::size_t k = 0; k < made.size() && passed != 0 && passed <= outside; passed *= extent(made, k++)) {
        const auto in_k = outside / passed;
        const bool is_clear = batch_ > 1 || extent(made, k) == 1; // one example may be anywhere
        const bool is_within = extent(made, k) / batch_ >= in_k && extent(made, k) % (in_k * batch_) == 0;
        if (is_clear && is_within && outside % passed == 0 && (best == made.size() || in_k < least)) {
          best = k;
          least = in_k;
        }
      }
      if (best == made.size()) {
        return passing::lost;
      }
      return add(to, best, least) ? passing::added : outer(to, best) == least ? passing::nothing : passing::lost;
    }
    return passing::nothing;
  }

  const model_graph& g_;
  const std::vector<std::uint32_t>& first_;
  mutable graph::disjoint_sets sets_; // of dimensions
  std::vector<std::uint64_t> outer_;  // by set
  std::uint64_t batch_;
  op_id lost_ = none;
};

/// Finds the dimensions that go together, through all ops.
class dimension_classes {
public:
  explicit dimension_classes(const model_graph& g) : g_{g}, first_(first_dims(g)), sets_{first_.back()} {
    for (const op_id v : ids(g.num_ops())) {
      axes_.push_back(ops::axes_of(call_of(g, v)));
      if (axes_[v].keeps_order) { // where the batch is among dimensions that it merges is to be seen
        continue;
      }
      std::vector<std::uint32_t> of_axis(axes_[v].extents.size(), none);
      each_operand(v, [&](tensor_id t, const std::vector<std::uint32_t>& axes, bool) {
        for (std::uint32_t d = 0; d < std::min(axes.size(), g.dims(t).size()); ++d) {
          if (axes[d] == none || is_repeated(t, d)) {
            continue;
          }
          auto& other = of_axis[axes[d]];
          other == none ? void(other = first_[t] + d) : sets_.unite(other, first_[t] + d);
        }
      });
    }
  }

  /// The batch of the first input, of a few, that may have one; else what is in the way of that.
  graph_batch find() const {
    constexpr std::size_t most = 4; // of several inputs, the first ones have the batch
    graph_batch first{.why = batch_obstacle::no_input};
    std::vector<std::int64_t> tried;
    for (const tensor_id t : ids(g_.num_tensors())) {
      if (!is_input(t) || std::ranges::find(tried, g_.dims(t)[0]) != tried.end() || tried.size() == most) {
        continue;
      }
      auto found = of(t);
      if (found.size != 0) {
        return found;
      }
      first = tried.empty() ? std::move(found) : std::move(first);
      tried.push_back(g_.dims(t)[0]);
    }
    return first;
  }

  /// The axes of an op that grow, as a factor of its work.
  double growth_of_work(op_id v, const graph_batch& b, double factor) const {
    std::vector<bool> grows(axes_[v].extents.size(), false);
    bool any = false, some = false;
    each_operand(v, [&](tensor_id t, const std::vector<std::uint32_t>& axes, bool) {
      for (std::size_t d = 0; d < std::min(axes.size(), g_.dims(t).size()); ++d) {
        some = some || b.does_grow(t, d);
        if (axes[d] != none && b.does_grow(t, d)) {
          grows[axes[d]] = any = true;
        }
      }
    });
    double growth = some && !any ? factor : 1;
    for (const bool x : grows) {
      growth *= x ? factor : 1;
    }
    return growth;
  }

private:
  bool is_input(tensor_id t) const {
    return g_.producer(t) == none && g_.role(t) == tensor_role::input && !g_.dims(t).empty() && g_.dims(t)[0] > 0;
  }
  /// The class of the outermost dimensions of inputs like that of one of them.
  graph_batch of(tensor_id input) const {
    graph_batch found{.size = static_cast<std::uint64_t>(g_.dims(input)[0])};
    grown_dimensions grown{g_, first_, sets_, found.size};
    for (const tensor_id t : ids(g_.num_tensors())) {
      if (t == input || (is_input(t) && found.size > 1 && g_.dims(t)[0] == g_.dims(input)[0])) {
        grown.add(t, 0, 1);
      }
    }
    constexpr int most = 16; // rounds, of which a graph in order needs two
    op_id last = none;
    for (int round = 0; round < most && (round == 0 || last != none); ++round) {
      last = follow(grown);
    }
    for (const tensor_id t : ids(g_.num_tensors())) {
      std::uint64_t bits = 0;
      for (std::uint32_t d = 0; d < g_.dims(t).size(); ++d) {
        bits |= grown.outer(t, d) != 0 ? std::uint64_t{1} << d : 0;
      }
      found.grows.push_back(bits);
    }
    find_obstacle(found);
    if (last = grown.lost() != none ? grown.lost() : last; last != none && found.size != 0) {
      refuse(batch_obstacle::unknown_op, g_[last].name, found);
    }
    return found;
  }

  static std::vector<std::uint32_t> first_dims(const model_graph& g) {
    std::vector<std::uint32_t> first{0};
    for (const tensor_id t : ids(g.num_tensors())) {
      first.push_back(static_cast<std::uint32_t>(checked_count(first.back() + g.dims(t).size(), "model graph",
                                                               "dimensions")));
    }
    return first;
  }
  /// True for a dimension of 1 of what no op makes: it does not grow with what it is repeated along.
  bool is_repeated(tensor_id t, std::size_t d) const {
    return g_.dims(t)[d] == 1 && g_.producer(t) == none && g_.role(t) != tensor_role::input;
  }

  /// `visit(tensor, axes, is_made)` for the inputs and outputs of an op.
  template <class Visit>
  void each_operand(op_id v, Visit visit) const {
    static const std::vector<std::uint32_t> nothing;
    const auto& in = g_[v].inputs;
    for (std::size_t k = 0; k < in.size(); ++k) {
      if (in[k] != none) {
        visit(in[k], k < axes_[v].inputs.size() ? axes_[v].inputs[k] : nothing, false);
      }
    }
    std::size_t k = 0;
    for (const tensor_id t : g_.outputs(v)) {
      visit(t, k < axes_[v].outputs.size() ? axes_[v].outputs[k] : nothing, true);
      ++k;
    }
  }

  /// Goes on with dimensions that no axis tells of: an output of as many dimensions as what is read grows at the same
  /// place, if it is as long there. The last op for which there were any, or `none`.
  op_id follow(grown_dimensions& grown) const {
    op_id last = none;
    for (const op_id v : ids(g_.num_ops())) {
      if (axes_[v].keeps_order) {
        last = grown.reshape(v) ? v : last;
        continue;
      }
      std::vector<std::array<std::size_t, 4>> open; // rank, place, extent and what is outside of the batch in it
      each_operand(v, [&](tensor_id t, const std::vector<std::uint32_t>& axes, bool is_made) {
        for (std::size_t d = 0; !is_made && d < axes.size(); ++d) {
          if (axes[d] == none && grown.outer(t, d) != 0) {
            open.push_back({axes.size(), d, static_cast<std::size_t>(g_.dims(t)[d]), grown.outer(t, d)});
          }
        }
      });
      sort_unique(open);
      if (open.empty()) {
        continue;
      }
      each_operand(v, [&](tensor_id t, const std::vector<std::uint32_t>& axes, bool is_made) {
        for (std::size_t d = 0; is_made && d < axes.size(); ++d) {
          const auto same = std::ranges::find_if(open, [&](const auto& o) {
            return o[0] == axes.size() && o[1] == d && o[2] == static_cast<std::size_t>(g_.dims(t)[d]);
          });
          if (axes[d] == none && same != open.end() && grown.outer(t, d) == 0) {
            grown.add(t, d, (*same)[3]);
            last = v;
          }
        }
      });
    }
    return last;
  }

  static void refuse(batch_obstacle why, const std::string& where, graph_batch& found) {
    found.size = 0;
    found.why = why;
    found.where = where;
  }
  bool makes_numbers(tensor_id t) const { // more than one
    const auto& dims = g_.dims(t);
    return std::any_of(dims.begin(), dims.end(), [](std::int64_t d) { return d > 1; });
  }
  void find_obstacle(graph_batch& found) const {
    for (const tensor_id t : ids(g_.num_tensors())) {
      if (found.grows[t] != 0 && g_.role(t) == tensor_role::parameter) {
        return refuse(batch_obstacle::parameter, g_.name(t), found);
      }
    }
    for (const op_id v : ids(g_.num_ops())) {
      const auto& captured = g_[v].captured;
      bool is_lost = std::any_of(captured.begin(), captured.end(),
                                 [&](tensor_id t) { return t != none && found.grows[t] != 0; });
      bool some = false, sums = false; // what is read grows, along no axis or along one
      bool makes = false, grows = false; // an output has several numbers, or grows
      each_operand(v, [&](tensor_id t, const std::vector<std::uint32_t>& axes, bool is_made) {
        makes = makes || (is_made && makes_numbers(t));
        grows = grows || (is_made && found.grows[t] != 0);
        for (std::size_t d = 0; !is_made && d < axes.size(); ++d) {
          some = some || (found.does_grow(t, d) && axes[d] == none);
          sums = sums || (found.does_grow(t, d) && axes[d] != none);
        }
      });
      is_lost = is_lost || (some && !grows && makes);
      if (is_lost) {
        return refuse(batch_obstacle::unknown_op, g_[v].name, found);
      }
      if (sums && found.summed_by == none) {
        each_operand(v, [&](tensor_id t, const std::vector<std::uint32_t>&, bool is_made) {
          found.summed_by = is_made && found.grows[t] == 0 && makes_numbers(t) ? v : found.summed_by;
        });
      }
    }
  }

  const model_graph& g_;
  std::vector<std::uint32_t> first_; // the number of a tensor's first dimension
  graph::disjoint_sets sets_;        // of dimensions
  std::vector<ops::axes> axes_;      // by op
};

} // namespace detail

/// The batch of a graph: the outermost dimension of an input, the first that may grow without any parameter, and all
/// dimensions that go with it by the axes of ops. Complexity: O(d log d) in all dimensions, a few times over.
inline graph_batch batch_of(const model_graph& g) { return detail::dimension_classes{g}.find(); }

/// The graph with another batch: extents, bytes and work of all that grows with it, as `batch_of` says. Ops that mix
/// examples, such as a normalisation over the batch, do so among those that there are then. Throws `value_error` if the
/// batch of the graph is not known, or if extents would not be whole numbers. Complexity: that of `batch_of`.
/// ```
/// const auto one_of_eight = weft::with_batch(*m.graph, weft::batch_of(*m.graph).size / 8);
/// const weft::workload w = weft::lower(one_of_eight).graph;
/// ```
inline model_graph with_batch(model_graph g, std::uint64_t batch) {
  const detail::dimension_classes classes{g};
  const auto found = classes.find();
  if (found.size == 0 || batch == 0 || batch > 1'000'000'000) {
    throw value_error("batch", batch == 0 || found.size != 0 ? "there is none of " + std::to_string(batch) + " examples"
                               : found.why == batch_obstacle::no_input ? "no input has one"
                               : found.why == batch_obstacle::parameter
                                 ? "parameter '" + found.where + "' is as large as it"
                                 : "it is not known what op '" + found.where + "' makes of another batch");
  }
  if (batch == found.size) {
    return g;
  }
  const double factor = static_cast<double>(batch) / static_cast<double>(found.size);
  std::vector<double> work;
  for (const op_id v : ids(g.num_ops())) {
    work.push_back(g[v].work == model_graph::by_type ? g[v].work
                                                     : g[v].work * classes.growth_of_work(v, found, factor));
  }
  for (const tensor_id t : ids(g.num_tensors())) {
    auto dims = g.dims(t);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!found.does_grow(t, d)) {
        continue;
      }
      const auto whole = static_cast<std::uint64_t>(dims[d]);
      const bool is_huge = static_cast<double>(whole) * static_cast<double>(std::max(batch, found.size)) > 1e18;
      if (is_huge || (whole % found.size != 0 && whole * batch % found.size != 0)) {
        throw value_error("batch", "extents of " + std::to_string(whole) + " cannot go with one of " +
                                     std::to_string(batch) + " instead of " + std::to_string(found.size));
      }
      dims[d] = static_cast<std::int64_t>(whole % found.size == 0 ? whole / found.size * batch
                                                                  : whole * batch / found.size);
    }
    g.set_dims(t, std::move(dims));
  }
  for (const op_id v : ids(g.num_ops())) {
    g.set_work(v, work[v]);
  }
  return g;
}

} // namespace weft
