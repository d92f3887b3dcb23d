// SPDX-License-Identifier: BSL-1.0
/// Makes the workload of a program that names every tensor it makes, and keeps parameters with the ops that read them.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::io {

/// A tensor of a traced program: an output of an op, a parameter, or a view of one that an op makes. Without both it is
/// an input of the program, which whoever reads it has.
struct traced_value {
  op_id op = none;
  std::uint32_t output = 0;
  std::uint32_t parameter = none; ///< whose storage it shows
};

/// Collects the ops of a traced program in an order in which tensors are made before they are read.
///
/// A parameter is resident where it is read, and is not transferred: one of up to 4 KiB is kept by each of its readers,
/// a larger one by the first, with all readers in one colocation group. An op that only shows a parameter in another
/// way (a transposed one, a reshaped one) makes the parameter: it has no work, its outputs have 0 bytes, and it is
/// colocated with the op that reads them if that is one. A parameter that no other op reads is resident with the op
/// that replaces it, else with the first that shows it, else nowhere (`num_unread`).
class traced_workload {
public:
  static constexpr byte_count copied = 4096; ///< up to that size each reader of a parameter keeps it

  /// Throws `value_error` for more than 2^62 bytes.
  traced_value add_parameter(byte_count bytes) {
    if (bytes > workload_builder::max_total_bytes) {
      throw value_error("parameter " + std::to_string(parameters_.size()), "has more than 2^62 bytes");
    }
    parameters_.push_back({bytes});
    return {.parameter = static_cast<std::uint32_t>(checked_count(parameters_.size(), "program", "parameters") - 1)};
  }

  /// An op that reads these tensors, each once however often it is there.
  op_id add_op(op o, std::span<const traced_value> reads) {
    std::vector<std::uint32_t> held;
    for (const auto& x : reads) {
      if (x.parameter != none) {
        held.push_back(x.parameter);
      }
    }
    sort_unique(held);
    for (const auto number : held) {
      auto& p = parameters_[number];
      if (p.bytes <= copied || !p.is_held) {
        if (o.resident_bytes > workload_builder::max_total_bytes - p.bytes) {
          throw value_error("op '" + o.name + "'", "reads more than 2^62 bytes of parameters");
        }
        o.resident_bytes += p.bytes;
        p.is_held = true;
      }
    }
    const op_id v = add(std::move(o), reads);
    for (const auto p : held) {
      keep(p, v);
    }
    return v;
  }

  /// An op that shows `of`, a parameter, in another way; its work does not count.
  op_id add_view(op o, const traced_value& of) {
    o.work = 0;
    const op_id v = add(std::move(o), {&of, 1});
    if (of.parameter != none && parameters_[of.parameter].view == none) {
      parameters_[of.parameter].view = v;
    }
    views_.push_back({v, none, false});
    return v;
  }

  traced_value add_output(op_id v, byte_count bytes) { return {v, builder_.add_output(v, bytes), none}; }
  /// An output that shows a parameter: of an op that `add_view` made, or of one that passes it on.
  traced_value add_output_of(op_id v, std::uint32_t parameter) { return {v, builder_.add_output(v, 0), parameter}; }

  /// v is where the parameter is: it reads or replaces it.
  void keep(std::uint32_t parameter, op_id v) {
    auto& p = parameters_[parameter];
    if (p.bytes > copied && p.reader != none && p.reader != v) {
      builder_.colocate(p.reader, v);
    }
    p.reader = p.reader == none ? v : p.reader;
  }

  /// `after` must not start before `before` is done.
  void add_order(op_id before, op_id after) { builder_.add_control_edge(before, after); }

  std::size_t num_ops() const { return builder_.num_ops(); }

  /// The number of parameters with bytes that no op reads, replaces or shows.
  std::size_t num_unread() const {
    return static_cast<std::size_t>(std::ranges::count_if(
      parameters_, [](const auto& p) { return p.bytes > 0 && p.reader == none && p.view == none; }));
  }

  /// Throws `value_error` if an op would keep more than 2^62 bytes.
  workload build() && {
    for (const auto& p : parameters_) {
      if (const op_id home = p.reader != none ? p.reader : p.view; !p.is_held && home != none) {
        builder_.add_resident(home, p.bytes);
      }
    }
    for (const auto& view : views_) {
      if (view.reader != none && !view.several) {
        builder_.colocate(view.op, view.reader);
      }
    }
    return std::move(builder_).build();
  }

private:
  struct held_parameter {
    byte_count bytes = 0;
    op_id reader = none; // the first, or what replaces it
    op_id view = none;   // the first
    bool is_held = false; // by an op that reads it
  };
  struct shown_parameter {
    op_id op;
    op_id reader;
    bool several;
  };

  op_id add(op o, std::span<const traced_value> reads) {
    const op_id v = builder_.add_op(std::move(o));
    std::vector<std::pair<op_id, std::uint32_t>> made;
    for (const auto& x : reads) {
      if (x.op != none) {
        made.emplace_back(x.op, x.output);
      }
    }
    sort_unique(made);
    for (const auto& [from, output] : made) {
      builder_.add_edge(from, v, output);
      const auto at = std::ranges::lower_bound(views_, from, {}, &shown_parameter::op); // ids ascend
      if (at != views_.end() && at->op == from) {
        at->several = at->several || (at->reader != none && at->reader != v);
        at->reader = v;
      }
    }
    return v;
  }

  workload_builder builder_;
  std::vector<held_parameter> parameters_;
  std::vector<shown_parameter> views_;
};

} // namespace weft::io
