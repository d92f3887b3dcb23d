// SPDX-License-Identifier: BSL-1.0
/// The parameters that ops of a training step read, in units that are gathered together, and when each unit is needed.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/op_blocks.hpp"
#include "weft/workload/parameter_holders.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/step_origins.hpp"
#include "weft/workload/stored_as.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::parallel {

/// Parameters that ops read: a tensor that is made of variables alone, or what an op holds itself.
struct read_parameter {
  tensor_id tensor = none;
  op_id holder = none; ///< of what is no variable's
  byte_count bytes = 0;
};

/// Parameters that are gathered together: those of a block of layers, or of several small ones, or others that are read
/// one after the other.
struct parameter_unit {
  std::vector<read_parameter> parameters = {};
  byte_count bytes = 0;
};

/// An op that reads a parameter of a unit.
struct parameter_reader {
  op_id op = none;
  std::size_t parameter = 0; ///< of the unit
};

/// Once that a unit is there as a whole, for the ops that read it then.
struct parameter_gather {
  std::size_t unit = 0;
  std::vector<parameter_reader> readers = {};
  std::vector<std::size_t> in_place_of = {}; ///< the gathers whose readers are done before this one begins
};

/// The units of a step and their gathers, in the order in which its ops want them.
struct parameter_gathers {
  std::vector<parameter_unit> units = {};
  std::vector<parameter_gather> gathers = {};
  std::vector<op_id> order = {};           ///< of the step's ops, in which they want the units
  std::vector<bool> in_parts = {};         ///< by op: a variable, or one in another form, of which a part is made
  std::vector<std::uint32_t> unit_of = {}; ///< by op: of those, and of ops that hold parameters; `none` of others

  byte_count largest_unit() const {
    byte_count most = 0;
    for (const auto& u : units) {
      most = std::max(most, u.bytes);
    }
    return most;
  }
};

struct gather_options {
  /// By op: the device of several that do the step together, of which each has units of its own; empty: one does it.
  std::vector<std::uint32_t> rank = {};
  std::size_t most_units = 2; ///< that are there at a time: the one in use and the next one
  byte_count bytes = 100'000'000; ///< of a unit of parameters outside blocks, from which on others begin another one
  byte_count block_bytes = 16'000'000; ///< … of blocks
};

namespace detail {

template <class Workload>
class gathers_finder {
public:
  gathers_finder(const Workload& step, const step_origins* from, const gather_options& o)
      : step_{step}, from_{from}, o_{o}, block_of_{blocks_of_ops(step, step.num_ops())},
        of_tensor_(step.num_tensors()), of_holder_(step.num_ops()) {
    const auto num_ranks = o.rank.empty() ? 1 : 1 + *std::max_element(o.rank.begin(), o.rank.end());
    ranks_.resize(num_ranks, {.of_block = std::vector(count_blocks(block_of_), nothing)});
    const auto state = weft::detail::optimizer_state(step);
    made_.order = graph::program_order(step);
    made_.in_parts.assign(step.num_ops(), false);
    made_.unit_of.assign(step.num_ops(), none);
    for (const op_id v : made_.order) {
      made_.in_parts[v] = !state[v] && (step.inputs(v).empty()
                                          ? is_variable(step, v) && step.resident_bytes(v) > largest_constant
                                          : is_form_of_parts(v));
    }
  }

  parameter_gathers find() {
    for (const op_id v : made_.order) {
      read_.clear();
      if (!made_.in_parts[v] && !is_update(step_, v)) {
        read_tensors(v);
        read_held(v);
      }
      for (const auto& [unit, parameter] : read_) {
        made_.gathers[gather_of(unit)].readers.push_back({v, parameter});
      }
    }
    return std::move(made_);
  }

private:
  static constexpr auto nothing = static_cast<std::size_t>(-1);
  struct place {
    std::size_t unit = nothing, parameter = 0;
  };
  struct units_of_rank {
    std::vector<std::size_t> of_block = {}; ///< the unit of each block
    std::size_t other = nothing;            ///< the unit of parameters outside blocks that was begun last
    std::size_t blocks = nothing;           ///< … of blocks; one of them, as others come in between
    std::vector<std::size_t> open = {};     ///< the gathers that are there, the one that was used last at the end
  };

  std::uint32_t rank_of(op_id v) const { return o_.rank.empty() ? 0 : o_.rank[v]; }

  /// True for what only converts or shows what is in parts, element by element, such as the read of a variable.
  bool is_form_of_parts(op_id v) const {
    const auto inputs = step_.inputs(v);
    const auto facts = ops::facts_of(step_.type(v));
    return !is_update(step_, v) && (facts.use == ops::device_use::view || facts.in_place) &&
           std::all_of(inputs.begin(), inputs.end(),
                       [&](tensor_id t) { return bool{made_.in_parts[step_.producer(t)]}; });
  }

  void read_tensors(op_id v) {
    for (const tensor_id t : step_.inputs(v)) {
      const op_id made_by = step_.producer(t);
      if (made_.in_parts[made_by] && step_.bytes(t) > largest_constant) {
        read(of_tensor_[t], made_by, {.tensor = t, .bytes = step_.bytes(t)});
      }
    }
  }

  /// The parameters that the op holds, or the op whose gradient it makes: gradients of parameters need only their size.
  void read_held(op_id v) {
    using enum step_role;
    const op_id h = from_ == nullptr ? op_id{none} : from_->holder[v];
    if (h == none || made_.in_parts[h] || is_variable(step_, h) || step_.resident_bytes(h) <= largest_constant) {
      return;
    }
    const auto role = from_->role[v];
    if (role == forward || role == again || role == gradient) {
      read(of_holder_[h], h, {.holder = h, .bytes = step_.resident_bytes(h)});
    }
  }

  void read(place& at, op_id of, const read_parameter& x) {
    if (at.unit == nothing) {
      at.unit = unit_of(of);
      auto& unit = made_.units[at.unit];
      at.parameter = unit.parameters.size();
      unit.parameters.push_back(x);
      unit.bytes += x.bytes;
      note_unit(of, static_cast<std::uint32_t>(at.unit));
    }
    read_.push_back(at);
  }

  /// The op is of that unit, and so is what it is made of.
  void note_unit(op_id of, std::uint32_t unit) {
    std::vector<op_id> open{of};
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      if (made_.unit_of[v] != none) {
        continue;
      }
      made_.unit_of[v] = unit;
      for (const tensor_id t : step_.inputs(v)) {
        made_.in_parts[step_.producer(t)] ? open.push_back(step_.producer(t)) : void();
      }
    }
  }

  /// The unit of parameters that are read for the first time.
  std::size_t unit_of(op_id v) {
    const op_id block = block_of_[v];
    auto& at = ranks_[rank_of(v)];
    auto& unit = block == none ? at.other : at.of_block[block];
    if (unit == nothing && block != none && at.blocks != nothing && made_.units[at.blocks].bytes < o_.block_bytes) {
      unit = at.blocks;
    }
    if (unit == nothing || (block == none && made_.units[unit].bytes >= o_.bytes)) {
      unit = made_.units.size();
      made_.units.emplace_back();
      last_.push_back(nothing);
      rank_of_.push_back(rank_of(v));
    }
    (block == none ? at.blocks : at.other) = nothing;
    at.blocks = block == none ? nothing : unit;
    return unit;
  }

  /// The gather that brings a unit to the op that is looked at, which keeps what it reads already.
  std::size_t gather_of(std::size_t unit) {
    auto& open = ranks_[rank_of_[unit]].open;
    if (last_[unit] != nothing) {
      const auto at = std::find(open.begin(), open.end(), last_[unit]);
      if (at != open.end()) {
        std::rotate(at, at + 1, open.end()); // the one that was used last is the last one
        return open.back();
      }
    }
    parameter_gather next{.unit = unit};
    const auto is_read = [&](std::size_t gather) {
      const auto& u = made_.gathers[gather].unit;
      return std::any_of(read_.begin(), read_.end(), [&](const place& x) { return x.unit == u; });
    };
    const auto others = std::max<std::size_t>(o_.most_units, 1) - 1;
    for (auto done = open.begin(); done != open.end() && open.size() > others;) {
      if (is_read(*done)) {
        ++done;
        continue;
      }
      next.in_place_of.push_back(*done);
      done = open.erase(done);
    }
    last_[unit] = made_.gathers.size();
    open.push_back(last_[unit]);
    made_.gathers.push_back(std::move(next));
    return last_[unit];
  }

  const Workload& step_;
  const step_origins* from_;
  const gather_options& o_;
  std::vector<op_id> block_of_;
  parameter_gathers made_;
  std::vector<units_of_rank> ranks_;
  std::vector<place> of_tensor_, of_holder_;
  std::vector<place> read_;            ///< by the op that is looked at
  std::vector<std::size_t> last_;      ///< by unit: its last gather
  std::vector<std::uint32_t> rank_of_; ///< by unit
};

} // namespace detail

/// The units of a step's parameters, and the gathers that bring them to the ops which read them, as in their order
/// (that of a program, `graph::program_order`) no more than `most_units` are there at a time, or as many as an op
/// reads, if these are more: the unit whose last use is longest ago goes first, and is gathered again for its next one.
/// So the unit that the backward pass begins with is there already. `from` tells which ops read what others hold that
/// are no variables (`expanded_step`); without it these are in no unit.
/// Complexity: O(n log n + m) and, for each op that reads parameters, O(most_units · what it reads).
/// Source: Zhao et al., *PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel*, VLDB 16(12), 2023.
template <named_workload Workload>
parameter_gathers find_parameter_gathers(const Workload& step, const step_origins* from = nullptr,
                                         const gather_options& o = {}) {
  return detail::gathers_finder<Workload>{step, from, o}.find();
}

/// The units of the parameters that gradients are of, by tensor (`data_parallel_options::bucket_of`); the number of
/// units for other tensors. Complexity: O(n + m), and that of `parameter_holders` for each update.
template <named_workload Workload>
std::vector<std::uint32_t> units_of_gradients(const Workload& step, const parameter_gathers& gathers) {
  std::vector<std::uint32_t> found(step.num_tensors(), static_cast<std::uint32_t>(gathers.units.size()));
  const parameter_holders<Workload> holders{step};
  for (const op_id update : ids(step.num_ops())) {
    if (!is_update(step, update)) {
      continue;
    }
    for (const op_id v : holders.of(update)) {
      if (const auto unit = gathers.unit_of[v]; unit != none) {
        for (const tensor_id t : step.inputs(update)) {
          found[t] = unit;
        }
      }
    }
  }
  return found;
}

} // namespace weft::parallel
