// SPDX-License-Identifier: BSL-1.0
/// Tensor parallelism: each op in parts on several devices, along axes that are chosen for all ops at once.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/collective_ops.hpp"
#include "weft/parallel/parallel_workload.hpp"
#include "weft/parallel/resharding.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/shard/best.hpp"
#include "weft/workload/copy_ops.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

/// The times and the memory that a choice of splits rests on.
struct split_costs {
  /// Seconds of an op on one rank if it is split along `axis` (see `chosen_splits`): a part of a product along its rows
  /// reads all weights. `split_ops` has what ops are then.
  std::function<double(op_id v, std::uint32_t axis)> op;
  /// Seconds to send a tensor of so many bytes to another layout.
  std::function<double(resharding what, byte_count bytes)> transfer;
  byte_count capacity = std::numeric_limits<byte_count>::max(); ///< of a device's memory
  /// True for ops whose results are there all the time, such as gradients that are added up over micro-batches.
  std::function<bool(op_id v)> lasts = [](op_id) { return false; };
};

/// A split of each op: along which axis (`none`: each rank does the whole, `terms`: what it does to terms of a sum).
struct chosen_splits {
  static constexpr std::uint32_t terms = none - 1;
  /// Whether an op that is split along `axis` does a part of its work on each rank.
  static constexpr bool in_parts(std::uint32_t axis) { return axis != none && axis != terms; }
  std::vector<std::uint32_t> axis = {}; ///< by op
  bool found = false;                   ///< one that fits into memory
  double seconds = 0;                   ///< of a step, if nothing overlaps
  byte_count peak = 0;                  ///< of a rank at the worst moment
  double bound = 0; ///< no choice takes less, where a tensor is sent anew for each of its readers
};

namespace detail {

/// The variants of the ops of a split model over some ranks.
class split_variants {
public:
  split_variants(const split_model& m, std::uint32_t ranks) : m_{m}, ranks_{ranks}, variants_(m.axes.size()) {
    for (const op_id v : ids(m.axes.size())) {
      variants_[v].push_back(none);
      const auto& a = m.axes[v];
      for (const auto k : ids(a.extents.size())) {
        if (a.may_be_split(k, ranks)) {
          variants_[v].push_back(k);
        }
      }
      if (std::find(a.terms.begin(), a.terms.end(), true) != a.terms.end()) {
        variants_[v].push_back(chosen_splits::terms);
      }
    }
  }
  const std::vector<std::uint32_t>& of(op_id v) const { return variants_[v]; }

  bool has(op_id v, std::uint32_t axis) const {
    return std::find(variants_[v].begin(), variants_[v].end(), axis) != variants_[v].end();
  }

  /// The part of op v's work that a rank does.
  axis_part part(op_id v, std::uint32_t axis) const {
    return chosen_splits::in_parts(axis) ? m_.axes[v].part(axis, ranks_) : axis_part{};
  }

  /// The layout in which an op that is split along `axis` leaves its output number k.
  layout of_output(op_id v, std::size_t k, std::uint32_t axis) const {
    if (!chosen_splits::in_parts(axis)) {
      return axis == none ? layout{} : layout{layout::partial};
    }
    const auto& a = m_.axes[v];
    const bool repeats = k < a.repeated.size() && std::find(a.repeated[k].begin(), a.repeated[k].end(), axis) !=
                                                    a.repeated[k].end();
    return along(a.outputs[k], v, axis, repeats ? layout::whole : layout::partial);
  }
  /// … and the one in which it needs its input number k.
  layout of_input(op_id v, std::size_t k, std::uint32_t axis) const {
    const auto& a = m_.axes[v];
    return axis == none                   ? layout{}
           : axis == chosen_splits::terms ? layout{a.terms[k] ? layout::partial : layout::whole}
                                          : along(a.inputs[k], v, axis, layout::whole);
  }

  /// True if the user finds the parts that it needs of what another op holds, if they are split along these axes.
  bool is_met(const held_use& x, std::uint32_t of_holder, std::uint32_t of_user) const {
    const bool in_parts = of_holder < x.parts.size() && x.parts[of_holder] != none;
    return x.is_met(of_holder, of_user) &&
           (!in_parts || !chosen_splits::in_parts(of_user) || part(x.holder, of_holder) == part(x.user, of_user));
  }

private:
  layout along(const std::vector<std::uint32_t>& axes, op_id v, std::uint32_t axis, layout::kind without) const {
    const auto at = std::find(axes.begin(), axes.end(), axis);
    return at != axes.end() ? layout{layout::split, static_cast<std::uint32_t>(at - axes.begin()), part(v, axis)}
                            : layout{without};
  }

  const split_model& m_;
  std::uint32_t ranks_;
  std::vector<std::vector<std::uint32_t>> variants_;
};

} // namespace detail

/// The ops of a split model as a rank has them, an op for each axis: its part of the work, and of what is read and made
/// as much as the split leaves. A cost model is asked about these. Complexity: O(axes · inputs).
class split_ops {
public:
  split_ops(const split_model& m, std::uint32_t ranks) : variants_{m, ranks} {
    const auto& w = *m.ops;
    workload_builder b;
    std::vector<std::vector<std::pair<byte_count, op_id>>> sources(w.num_tensors()); // of each, as large as it is read
    const auto source = [&](tensor_id t, byte_count bytes) {
      auto& all = sources[t];
      auto at = std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.first == bytes; });
      if (at == all.end()) {
        const op_id made = b.add_op({.bytes = bytes});
        at = all.insert(at, {bytes, made});
      }
      return at->second;
    };
    for (const op_id v : ids(w.num_ops())) {
      std::vector<op_id> made;
      for (const auto axis : variants_.of(v)) {
        const bool split = chosen_splits::in_parts(axis);
        made.push_back(b.add_op({.work = w.work(v) * variants_.part(v, axis).share(),
                                 .resident_bytes = split ? resident_part(m.axes[v], w, v, axis, ranks)
                                                         : w.resident_bytes(v),
                                 .type = std::string{w.type(v)}}));
        for (std::size_t k = 0; k < w.outputs(v).size(); ++k) {
          const auto bytes = w.bytes(*w.outputs(v).begin() + static_cast<tensor_id>(k));
          b.add_output(made.back(), variants_.of_output(v, k, axis).part.of(bytes));
        }
      }
      first_.push_back(made.front());
      for (std::size_t i = 0; i < made.size(); ++i) {
        std::size_t k = 0;
        for (const tensor_id t : w.inputs(v)) {
          const auto need = variants_.of_input(v, k++, variants_.of(v)[i]);
          b.add_edge(source(t, need.part.of(w.bytes(t))), made[i], 0);
        }
      }
    }
    ops_ = std::move(b).build();
  }
  const workload& ops() const { return ops_; }
  /// The axes along which op v can be split, and what stands for not at all.
  const auto& axes(op_id v) const { return variants_.of(v); }
  /// Op v split along that axis. Precondition: it can be.
  op_id of(op_id v, std::uint32_t axis) const {
    const auto& all = variants_.of(v);
    return first_[v] + static_cast<op_id>(std::find(all.begin(), all.end(), axis) - all.begin());
  }

private:
  detail::split_variants variants_;
  std::vector<op_id> first_; ///< by op
  workload ops_;
};

namespace detail {

/// Poses the choice of splits as one of variants, an op for each op of the model, in units of a picosecond.
class split_choice {
public:
  static constexpr double unit = 1e-12; // seconds

  split_choice(const split_model& m, std::uint32_t ranks, const split_costs& costs)
      : m_{m}, w_{*m.ops}, ranks_{ranks}, costs_{costs}, variants_{m, ranks}, position_(w_.num_ops()) {
    const auto order = graph::topological_order(w_);
    for (std::size_t i = 0; i < order.size(); ++i) {
      position_[order[i]] = static_cast<std::int64_t>(i);
    }
    for (const op_id v : ids(w_.num_ops())) {
      add_op(v);
    }
    for (const op_id v : ids(w_.num_ops())) {
      add_resident_beside_results(v);
      add_reshardings(v);
    }
    for (const auto& x : m.uses) {
      tie(x.holder, x.user, [&](std::uint32_t a, std::uint32_t b) { return variants_.is_met(x, a, b); });
    }
    if (costs.capacity < static_cast<byte_count>(std::numeric_limits<std::int64_t>::max())) {
      problem_.set_limit(static_cast<std::int64_t>(costs.capacity));
    }
  }
  const shard::variant_problem& problem() const { return problem_; }
  const split_variants& variants() const { return variants_; }

private:
  static std::int64_t cost(double seconds) {
    return static_cast<std::int64_t>(std::llround(std::min(seconds / unit, 1e17)));
  }
  /// Bytes that stay on a rank.
  std::int64_t resident(op_id v, std::uint32_t axis) const {
    const bool split = chosen_splits::in_parts(axis);
    return static_cast<std::int64_t>(split ? resident_part(m_.axes[v], w_, v, axis, ranks_) : w_.resident_bytes(v));
  }
  /// … and what it makes there, but for views of variables, which keep it.
  std::int64_t made(op_id v, std::uint32_t axis) const {
    byte_count sum = 0;
    for (std::size_t k = 0; k < w_.outputs(v).size(); ++k) {
      const tensor_id t = *w_.outputs(v).begin() + static_cast<tensor_id>(k);
      sum += variants_.of_output(v, k, axis).part.of(is_resident(w_, t) ? 0 : w_.bytes(t));
    }
    return static_cast<std::int64_t>(sum);
  }
  bool makes_results(op_id v) const { return made(v, none) > 0; }

  void add_op(op_id v) {
    constexpr std::int64_t bytes_per_unit = 100'000; // of what takes as long, the one that holds less
    const bool lasts = costs_.lasts(v) || (w_.resident_bytes(v) > 0 && !makes_results(v));
    shard::live_range live{position_[v], position_[v] + 1};
    for (const tensor_id t : w_.outputs(v)) {
      for (const op_id reader : w_.bytes(t) > 0 ? w_.consumers(t) : std::span<const op_id>{}) {
        live.end = std::max(live.end, position_[reader] + 1);
      }
    }
    if (lasts) {
      live = {0, static_cast<std::int64_t>(w_.num_ops())};
    }
    std::vector<std::int64_t> times, bytes;
    for (const auto axis : variants_.of(v)) {
      const auto stays = resident(v, axis), results = made(v, axis);
      times.push_back(cost(costs_.op(v, axis)) + (stays + results) / bytes_per_unit);
      bytes.push_back(lasts ? stays + results : results);
    }
    problem_.add_op(times, bytes, live);
  }
  /// Parameters are there all the time, results only while they are needed: one more op holds the former.
  void add_resident_beside_results(op_id v) {
    if (w_.resident_bytes(v) == 0 || costs_.lasts(v) || !makes_results(v)) {
      return;
    }
    std::vector<std::int64_t> bytes;
    for (const auto axis : variants_.of(v)) {
      bytes.push_back(resident(v, axis));
    }
    const auto holder = static_cast<op_id>(problem_.num_ops());
    problem_.add_op(std::vector<std::int64_t>(bytes.size(), 0), bytes,
                    {0, static_cast<std::int64_t>(w_.num_ops())});
    std::vector<std::int64_t> matrix(bytes.size() * bytes.size(), shard::never);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      matrix[i * bytes.size() + i] = 0;
    }
    problem_.add_edge(v, holder, matrix);
  }
  void add_reshardings(op_id v) {
    std::size_t k = 0;
    for (const tensor_id t : w_.inputs(v)) {
      const std::size_t input = k++;
      const op_id from = w_.producer(t);
      const std::size_t output = t - *w_.outputs(from).begin();
      if (w_.bytes(t) == 0) {
        continue;
      }
      std::vector<std::int64_t> matrix;
      for (const auto a : variants_.of(from)) {
        for (const auto b : variants_.of(v)) {
          const auto is = variants_.of_output(from, output, a);
          const auto wanted = variants_.of_input(v, input, b);
          const auto what = between(is, wanted);
          const bool never = what == resharding::impossible || (m_.is_state[from] && is != wanted);
          matrix.push_back(never                         ? shard::never
                           : what == resharding::nothing ? 0
                                                         : cost(costs_.transfer(what, w_.bytes(t))));
        }
      }
      problem_.add_edge(from, v, matrix);
    }
  }
  /// Two ops whose axes go together if `fits` says so.
  template <class Fits>
  void tie(op_id a, op_id b, const Fits& fits) {
    std::vector<std::int64_t> matrix;
    for (const auto i : variants_.of(a)) {
      for (const auto j : variants_.of(b)) {
        matrix.push_back(fits(i, j) ? 0 : shard::never);
      }
    }
    problem_.add_edge(a, b, matrix);
  }

  const split_model& m_;
  const workload& w_;
  std::uint32_t ranks_;
  const split_costs& costs_;
  split_variants variants_;
  std::vector<std::int64_t> position_; // of ops in a topological order
  shard::variant_problem problem_;
};

} // namespace detail

/// The splits of all ops over some ranks that take least time in all, ops and what has to be sent between them, within
/// the memory of a device, where what is a view of a parameter (`is_resident`) takes none of its own.
/// Complexity: that of `shard::best` with a variant per axis.
/// Source: Zheng et al., *Alpa: Automating Inter- and Intra-Operator Parallelism for Distributed Deep Learning*, OSDI
/// 2022, section 4.
inline chosen_splits choose_splits(const split_model& m, std::uint32_t ranks, const split_costs& costs,
                                   const shard::options& how = {}) {
  if (ranks == 0) {
    throw value_error("choose_splits", "there are no ranks");
  }
  constexpr double unit = detail::split_choice::unit;
  const detail::split_choice posed{m, ranks, costs};
  const auto best = shard::best(posed.problem(), how);
  chosen_splits chosen{.found = best.status == shard::status::found,
                       .seconds = static_cast<double>(best.cost) * unit,
                       .peak = static_cast<byte_count>(best.peak),
                       .bound = static_cast<double>(best.bound) * unit};
  for (const op_id v : ids(std::min(best.choice.size(), m.axes.size()))) {
    chosen.axis.push_back(posed.variants().of(v)[best.choice[v]]);
  }
  return chosen;
}

/// A workload of ops in parts, and how often tensors were brought into other layouts in it.
struct split_workload : parallel_workload {
  std::map<resharding, std::size_t> reshardings = {};
  std::vector<resharded_tensor> resharded = {}; ///< what they were, one by one
};

namespace detail {

class tensor_parallel_builder {
public:
  tensor_parallel_builder(const split_model& m, const split_variants& variants, const std::vector<std::uint32_t>& axis,
                          const std::vector<placement>& ranks, double element_bytes,
                          const resharding_messages& messages)
      : m_{m}, w_{*m.ops}, variants_{variants}, axis_{axis}, where_{ranks},
        count_{static_cast<std::uint32_t>(ranks.size())}, element_bytes_{element_bytes}, messages_{messages} {}

  split_workload make() {
    for (std::uint32_t r = 0; r < count_; ++r) {
      std::vector<op_id> first(w_.num_groups(), none);
      for (const op_id v : ids(w_.num_ops())) {
        add_op(r, v, first);
      }
    }
    std::map<std::pair<tensor_id, layout>, std::vector<op_output>> made; // by rank
    for (const op_id v : ids(w_.num_ops())) {
      std::size_t k = 0;
      for (const tensor_id t : w_.inputs(v)) {
        const auto need = variants_.of_input(v, k++, axis_[v]);
        auto& sources = made[{t, w_.bytes(t) == 0 ? layout{} : need}];
        if (sources.empty()) {
          sources = w_.bytes(t) == 0 ? own(t) : brought(t, need);
        }
        for (std::uint32_t r = 0; r < count_; ++r) {
          b_.add_edge(sources[r].op, copy_of(r, v), sources[r].output);
        }
      }
    }
    made_.graph = std::move(b_).build();
    return std::move(made_);
  }

private:
  op_id copy_of(std::uint32_t r, op_id v) const { return static_cast<op_id>(r * w_.num_ops() + v); }
  /// The bytes that a rank has of a tensor.
  byte_count part(const layout& l, tensor_id t, std::uint32_t r) const {
    return l.what == layout::split ? l.part.of(w_.bytes(t), r) : w_.bytes(t);
  }
  layout there(tensor_id t) const {
    const op_id v = w_.producer(t);
    return variants_.of_output(v, t - *w_.outputs(v).begin(), axis_[v]);
  }
  static std::string name_of(std::uint32_t r, const std::string& what) {
    return "tensor_" + std::to_string(r) + "/" + what;
  }

  op_id add(std::uint32_t r, device_id d, op_id origin, op o) {
    made_.where.push_back(d);
    made_.origin.push_back(origin);
    made_.replica.push_back(r);
    return b_.add_op(std::move(o));
  }

  void add_op(std::uint32_t r, op_id v, std::vector<op_id>& first) {
    const bool split = chosen_splits::in_parts(axis_[v]);
    op o = op_of(w_, v);
    o.work *= split ? variants_.part(v, axis_[v]).share(r) : 1;
    o.resident_bytes = split ? resident_part(m_.axes[v], w_, v, axis_[v], count_, r) : o.resident_bytes;
    o.name = name_of(r, o.name);
    const op_id made = add(r, where_[r][v], v, std::move(o));
    for (const tensor_id t : w_.outputs(v)) {
      b_.add_output(made, part(there(t), t, r));
    }
    if (const auto g = w_.group(v); g != none) {
      first[g] == none ? void(first[g] = made) : b_.colocate(first[g], made);
    }
  }

  std::vector<op_output> own(tensor_id t) const {
    const op_id v = w_.producer(t);
    std::vector<op_output> all;
    for (std::uint32_t r = 0; r < count_; ++r) {
      all.push_back({copy_of(r, v), t - *w_.outputs(v).begin()});
    }
    return all;
  }

  /// The tensor in the layout that is needed, by rank.
  std::vector<op_output> brought(tensor_id t, const layout& need) {
    const auto have = there(t);
    const auto mine = own(t);
    if (have == need) {
      return mine;
    }
    const auto what = between(have, need);
    if (what == resharding::impossible || m_.is_state[w_.producer(t)]) {
      throw value_error("tensor_parallel", "'" + std::string{w_.name(w_.producer(t))} +
                                             "' cannot be brought from the layout in which it is made to the one that "
                                             "is needed; take splits of choose_splits");
    }
    ++made_.reshardings[what];
    made_.resharded.push_back({t, what});
    const auto name = std::string{w_.name(w_.producer(t))} + "/" + std::string{to_string(what)};
    if (what == resharding::nothing) {
      return views(t, need, mine, name);
    }
    const auto& parts = what == resharding::all_gather ? have : need;
    return what == resharding::all_to_all ? exchanged(t, have, need, mine, name)
                                          : collected(what, t, parts, mine, name);
  }

  /// The same by a collective of chunks: each rank's own, or the parts of all, as `parts` has them.
  std::vector<op_output> collected(resharding what, tensor_id t, const layout& parts,
                                   const std::vector<op_output>& mine, const std::string& name) {
    const auto c = messages_ ? messages_(what, w_.bytes(t)) : ring(what, count_);
    if (c.ranks != count_ || c.chunks == 0 || (what != resharding::all_reduce && c.chunks != count_)) {
      throw value_error("tensor_parallel", "the messages of an " + std::string{to_string(what)} + " are among " +
                                             std::to_string(c.ranks) + " ranks, in " + std::to_string(c.chunks) +
                                             " chunks; there are " + std::to_string(count_) + " ranks");
    }
    std::vector<byte_count> sizes(c.chunks, (w_.bytes(t) + c.chunks - 1) / c.chunks);
    for (std::uint32_t r = 0; r < count_ && parts.what == layout::split; ++r) {
      sizes[(r + 1) % count_] = part(parts, t, r);
    }
    std::vector<op_output> chunks(std::size_t{count_} * c.chunks);
    for (std::uint32_t r = 0; r < count_; ++r) {
      if (what == resharding::all_gather) {
        // Where a ring leaves what it reduced.
        chunks[r * count_ + (r + 1) % count_] = sent(r, t, part(parts, t, r), mine[r], name);
        continue;
      }
      const op_id cut =
        add(r, device_of(r, t), none, {.name = name_of(r, name + "/cut"), .type = collective_types::start});
      b_.add_edge(mine[r].op, cut, mine[r].output);
      for (std::uint32_t k = 0; k < c.chunks; ++k) {
        chunks[r * c.chunks + k] = {cut, b_.add_output(cut, sizes[k])};
      }
    }
    add_collective(b_, c, sizes, chunks, name, element_bytes_, [&](std::uint32_t r, op_id) {
      made_.where.push_back(device_of(r, t));
      made_.origin.push_back(none);
      made_.replica.push_back(r);
    });
    std::vector<op_output> all;
    for (std::uint32_t r = 0; r < count_; ++r) {
      if (what == resharding::reduce_scatter) {
        all.push_back(chunks[r * count_ + (r + 1) % count_]);
        continue;
      }
      const op_id join =
        add(r, device_of(r, t), none, {.name = name_of(r, name + "/join"), .type = collective_types::unpack});
      for (std::uint32_t k = 0; k < c.chunks; ++k) {
        b_.add_edge(chunks[r * c.chunks + k].op, join, chunks[r * c.chunks + k].output);
      }
      all.push_back({join, b_.add_output(join, w_.bytes(t))});
    }
    return all;
  }

  /// The part of a tensor that a rank has, as its first message.
  op_output sent(std::uint32_t r, tensor_id t, byte_count bytes, const op_output& own, const std::string& name) {
    const op_id v = add(r, device_of(r, t), none,
                        {.bytes = bytes,
                         .name = name_of(r, name + "/send"),
                         .type = collective_types::start,
                         .memory = output_memory::view});
    b_.add_edge(own.op, v, own.output);
    return {v, 0};
  }

  device_id device_of(std::uint32_t r, tensor_id t) const { return where_[r][w_.producer(t)]; }

  /// Parts of what is whole.
  std::vector<op_output> views(tensor_id t, const layout& need, const std::vector<op_output>& mine,
                               const std::string& name) {
    std::vector<op_output> all;
    for (std::uint32_t r = 0; r < count_; ++r) {
      const op_id v = add(r, device_of(r, t), none, {.name = name_of(r, name), .type = collective_types::unpack});
      b_.add_edge(mine[r].op, v, mine[r].output);
      all.push_back({v, b_.add_output(v, part(need, t, r))});
    }
    return all;
  }

  /// From parts along one dimension to other parts, or to those along another one: each rank sends a piece to each, if
  /// they have one in common.
  std::vector<op_output> exchanged(tensor_id t, const layout& have, const layout& need,
                                   const std::vector<op_output>& mine, const std::string& name) {
    const auto piece = [&](std::uint32_t from, std::uint32_t to) {
      return have.dimension == need.dimension ? overlap(have.part, from, need.part, to, w_.bytes(t))
                                              : need.part.of(have.part.of(w_.bytes(t), from), to);
    };
    std::vector<op_id> cut, all_of;
    for (std::uint32_t r = 0; r < count_; ++r) {
      cut.push_back(add(r, device_of(r, t), none, {.name = name_of(r, name + "/cut"), .type = collective_types::pack}));
      b_.add_edge(mine[r].op, cut[r], mine[r].output);
      for (std::uint32_t k = 0; k < count_; ++k) {
        b_.add_output(cut[r], piece(r, k));
      }
    }
    std::vector<op_output> all;
    for (std::uint32_t r = 0; r < count_; ++r) {
      const op_id join =
        add(r, device_of(r, t), none, {.name = name_of(r, name + "/join"), .type = collective_types::join});
      for (std::uint32_t k = 0; k < count_; ++k) {
        piece(k, r) > 0 ? b_.add_edge(cut[k], join, r) : void();
      }
      all.push_back({join, b_.add_output(join, part(need, t, r))});
    }
    return all;
  }

  const split_model& m_;
  const workload& w_;
  const split_variants& variants_;
  const std::vector<std::uint32_t>& axis_;
  const std::vector<placement>& where_;
  std::uint32_t count_;
  double element_bytes_;
  const resharding_messages& messages_;
  workload_builder b_;
  split_workload made_;
};

} // namespace detail

/// The ops of a model in parts, on as many ranks as there are placements, with what has to be sent between them as ops
/// and transfers: the messages that `messages` says, or else rings, for all-gathers, all-reduces and reduce-scatters,
/// direct ones for all-to-alls. A tensor is brought into a layout once; results that no op reads stay as they are made.
/// Rank r's ops are called `tensor_r/…`. Throws `value_error` for other numbers of ops, axes along which an op cannot
/// be split or does not find what it reads, and messages among other numbers of ranks.
/// Complexity: O(ranks (n + m) + messages).
/// Source: Shoeybi et al., *Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism*,
/// 2019.
inline split_workload tensor_parallel(const split_model& m, const std::vector<std::uint32_t>& axis,
                                      const std::vector<placement>& ranks, double element_bytes = 4,
                                      const resharding_messages& messages = {}) {
  const auto refuse = [](const std::string& problem) { return value_error("tensor_parallel", problem); };
  if (ranks.empty() || axis.size() != m.axes.size()) {
    throw refuse("the model has " + std::to_string(m.axes.size()) + " ops, and there are splits of " +
                 std::to_string(axis.size()) + " on " + std::to_string(ranks.size()) + " ranks");
  }
  const detail::split_variants variants{m, static_cast<std::uint32_t>(ranks.size())};
  for (const op_id v : ids(axis.size())) {
    if (!variants.has(v, axis[v])) {
      throw refuse("op " + std::to_string(v) + " cannot be split along axis " + std::to_string(axis[v]) + " among " +
                   std::to_string(ranks.size()) + " ranks");
    }
  }
  for (const auto& x : m.uses) {
    if (!variants.is_met(x, axis[x.holder], axis[x.user])) {
      throw refuse("op " + std::to_string(x.user) + " needs other parts of what op " + std::to_string(x.holder) +
                   " holds than there are; take splits of choose_splits");
    }
  }
  for (const auto& where : ranks) {
    if (where.size() != m.axes.size()) {
      throw refuse("the model has " + std::to_string(m.axes.size()) + " ops, a placement " +
                   std::to_string(where.size()));
    }
  }
  return detail::tensor_parallel_builder{m, variants, axis, ranks, element_bytes, messages}.make();
}

} // namespace weft::parallel
