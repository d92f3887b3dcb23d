// SPDX-License-Identifier: BSL-1.0
/// Makes the workload of a program that names every tensor it makes, and keeps parameters with the ops that read them.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/model.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// A tensor of a traced program: an output of an op, a parameter, or a view of one that an op makes. Without both it is
/// an input of the program, which whoever reads it has.
struct traced_value {
  op_id op = none;
  std::uint32_t output = 0;
  std::uint32_t parameter = none; ///< whose storage it shows
};

/// Collects the ops of a traced program. What an op reads may be made by one that is added later.
///
/// A parameter is resident where it is read, and is not transferred: one of up to 4 KiB is kept by each of its readers,
/// a larger one by the first, with all readers in one colocation group; by the first of each group of readers that may
/// run on the same kinds of devices. An op that only shows parameters in another way (a transposed one, a reshaped one)
/// makes parameters: it has no work, its outputs have 0 bytes, and it is colocated with the op that reads them if that
/// is one, and may run where it may. A parameter that no other op reads is resident with the op that replaces it, else
/// with the first that shows it, else nowhere (`num_unread`).
class traced_workload {
public:
  static constexpr byte_count copied = 4096; ///< up to that size each reader of a parameter keeps it

  /// A parameter, and what the program calls it, if it does. Throws `value_error` for more than 2^62 bytes.
  traced_value add_parameter(byte_count bytes, std::string name = {}) {
    if (bytes > workload_builder::max_total_bytes) {
      throw value_error("parameter " + std::to_string(parameters_.size()), "has more than 2^62 bytes");
    }
    parameters_.push_back({.name = std::move(name), .bytes = bytes});
    return {.parameter = static_cast<std::uint32_t>(checked_count(parameters_.size(), "program", "parameters") - 1)};
  }

  /// An op that reads these tensors, each once however often it is there.
  op_id add_op(op o, std::span<const traced_value> reads) {
    std::vector<std::uint32_t> held, own;
    for (const auto& x : reads) {
      if (x.parameter != none) {
        held.push_back(x.parameter);
      }
    }
    sort_unique(held);
    const auto kinds = o.kinds;
    for (const auto number : held) {
      const auto& p = parameters_[number];
      if (p.bytes <= copied || !is_held(p, kinds)) {
        if (o.resident_bytes > workload_builder::max_total_bytes - p.bytes) {
          throw value_error("op '" + o.name + "'", "reads more than 2^62 bytes of parameters");
        }
        o.resident_bytes += p.bytes;
        own.push_back(number);
      }
    }
    const op_id v = add(std::move(o), reads);
    for (const auto p : own) {
      held_.push_back({v, p});
    }
    for (const auto p : held) {
      keep(p, v, true);
    }
    return v;
  }

  /// An op that shows parameters, or makes some of these tensors, in another way; its work does not count.
  op_id add_view(op o, std::span<const traced_value> of) {
    o.work = 0;
    const op_id v = add(std::move(o), of);
    for (const auto& x : of) {
      if (x.parameter != none && parameters_[x.parameter].view == none) {
        parameters_[x.parameter].view = v;
      }
    }
    views_.push_back(v);
    return v;
  }
  op_id add_view(op o, const traced_value& of) { return add_view(std::move(o), {&of, 1}); }

  traced_value add_output(op_id v, byte_count bytes) { return {v, builder_.add_output(v, bytes), none}; }
  /// An output that shows a parameter: of an op that `add_view` made, or of one that passes it on.
  traced_value add_output_of(op_id v, std::uint32_t parameter) { return {v, builder_.add_output(v, 0), parameter}; }

  /// v is where the parameter is: it replaces it.
  void keep(std::uint32_t parameter, op_id v) { keep(parameter, v, false); }
  /// a and b run on one device.
  void colocate(op_id a, op_id b) { builder_.colocate(a, b); }

  /// `after` must not start before `before` is done.
  void add_order(op_id before, op_id after) { builder_.add_control_edge(before, after); }

  std::size_t num_ops() const { return builder_.num_ops(); }

  /// The number of parameters with bytes that no op reads, replaces or shows.
  std::size_t num_unread() const {
    return static_cast<std::size_t>(std::ranges::count_if(
      parameters_, [](const auto& p) { return p.bytes > 0 && p.keepers.empty() && p.view == none; }));
  }

  /// The parameters that have names, with the ops that hold them.
  std::vector<named_parameter> named_parameters() const {
    std::vector<named_parameter> found;
    for (const auto& list : {held_, held_later()}) {
      for (const auto& [op, parameter] : list) {
        if (const auto& p = parameters_[parameter]; !p.name.empty() && p.bytes > 0) {
          found.push_back({p.name, op, p.bytes});
        }
      }
    }
    return found;
  }

  /// Throws as `workload_builder::build`, and `value_error` if an op would keep more than 2^62 bytes.
  workload build() && {
    for (const auto& e : edges_) {
      builder_.add_edge(e.from, e.to, e.output);
    }
    for (const auto& [op, parameter] : held_later()) {
      builder_.add_resident(op, parameters_[parameter].bytes);
    }
    colocate_views();
    return std::move(builder_).build();
  }

private:
  struct keeper {
    op_id op; // the first reader on its kinds of devices, or what replaces the parameter
    bool is_held; // by an op that reads it
  };
  struct held_parameter {
    std::string name = {};
    byte_count bytes = 0;
    op_id view = none; // the first
    std::vector<keeper> keepers = {};
  };
  struct holding {
    op_id op;
    std::uint32_t parameter;
  };
  struct edge {
    op_id from;
    std::uint32_t output;
    op_id to;
  };

  bool is_held(const held_parameter& p, kind_set kinds) const {
    return std::ranges::any_of(p.keepers, [&](const keeper& k) { return k.is_held && kinds_[k.op] == kinds; });
  }

  /// Parameters that none of their readers holds, with the ops that do.
  std::vector<holding> held_later() const {
    std::vector<holding> found;
    for (std::uint32_t number = 0; number < parameters_.size(); ++number) {
      const auto& p = parameters_[number];
      if (p.keepers.empty() && p.view != none) {
        found.push_back({p.view, number});
      }
      for (const auto& k : p.keepers) {
        if (!k.is_held) {
          found.push_back({k.op, number});
        }
      }
    }
    return found;
  }

  void keep(std::uint32_t number, op_id v, bool reads) {
    auto& p = parameters_[number];
    const auto found = std::ranges::find_if(p.keepers, [&](const keeper& k) { return kinds_[k.op] == kinds_[v]; });
    if (found == p.keepers.end()) {
      p.keepers.push_back({v, reads});
      return;
    }
    found->is_held = found->is_held || reads;
    if (p.bytes > copied && found->op != v) {
      builder_.colocate(found->op, v);
    }
  }

  op_id add(op o, std::span<const traced_value> reads) {
    kinds_.push_back(o.kinds);
    const op_id v = builder_.add_op(std::move(o));
    std::vector<std::pair<op_id, std::uint32_t>> made;
    for (const auto& x : reads) {
      if (x.op != none) {
        made.emplace_back(x.op, x.output);
      }
    }
    sort_unique(made);
    for (const auto& [from, output] : made) {
      edges_.push_back({from, output, v});
    }
    return v;
  }

  void colocate_views() {
    constexpr op_id several = none - 1;
    std::vector<op_id> reader(views_.empty() ? 0 : kinds_.size(), none);
    for (const auto& e : edges_) {
      if (!reader.empty()) {
        reader[e.from] = reader[e.from] == none || reader[e.from] == e.to ? e.to : several;
      }
    }
    for (const op_id v : views_) {
      if (const op_id by = reader[v]; by < several && by != v && kinds_[by].is_subset_of(kinds_[v])) {
        builder_.colocate(v, by);
      }
    }
  }

  workload_builder builder_;
  std::vector<held_parameter> parameters_;
  std::vector<holding> held_; // by their readers
  std::vector<op_id> views_;
  std::vector<edge> edges_;
  std::vector<kind_set> kinds_; // of each op
};

} // namespace weft
