// SPDX-License-Identifier: BSL-1.0
/// Ops pinned to devices by their types and names.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/pattern.hpp"
#include "weft/workload/op_name.hpp"
#include "weft/platform/platform.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::partition {

/// A constraint that some ops run on some devices only.
struct pin {
  /// A type of ops, with or without domain and version; the name of an op; or a pattern of names, in which `*` stands
  /// for any characters, `/` too, and `?` for one. Names of gradients and of what is computed again match without
  /// `gradients/` and `recompute/` as well.
  std::string ops;
  std::vector<std::string> devices; ///< names of devices, or of kinds; on any of these
};

/// A workload whose kinds keep to pins, and the platform that has these kinds.
template <link_model Links>
struct pinned {
  workload ops;
  platform<Links> devices;
  std::vector<std::string> notes = {}; ///< a line for each pin

  /// A text about the problem, with names of devices where it has kinds that pins made.
  std::string named(std::string text) const {
    for (const device_id d : ids(devices.num_devices())) {
      const auto kind = to_string(devices.kind(d));
      std::string names;
      for (const device_id e : ids(devices.num_devices())) {
        names += devices.kind(e) == devices.kind(d) ? (names.empty() ? "" : "|") + std::string{devices.name(e)} : "";
      }
      for (auto at = text.find(kind); devices.kind(d) != devices.hardware(d) && at != text.npos;
           at = text.find(kind, at + names.size())) {
        text.replace(at, kind.size(), names);
      }
    }
    return text;
  }
};

using weft::matches;

namespace detail {

/// Turns pins into kinds.
template <link_model Links>
class pinner {
public:
  pinner(const workload& w, const platform<Links>& q, std::span<const pin> pins) : w_{w}, q_{q}, pins_{pins} {
    for (const pin& x : pins_) {
      targets_.push_back(devices_of(x));
    }
    make_kinds();
    for (const op_id v : ids(w_.num_ops())) {
      if (w_.group(v) != none) {
        of_groups_.resize(w_.num_groups(), {kind_set::all(), none, none});
        of_groups_[w_.group(v)].kinds = of_groups_[w_.group(v)].kinds & w_.kinds(v);
      }
    }
    for (auto& g : of_groups_) {
      g.kinds = translated(g.kinds);
    }
  }

  pinned<Links> operator()() {
    std::vector<constraint> of_ops(w_.num_ops());
    for (const op_id v : ids(w_.num_ops())) {
      of_ops[v].kinds = translated(w_.kinds(v));
    }
    std::vector<std::string> notes;
    for (std::uint32_t i = 0; i < pins_.size(); ++i) {
      notes.push_back(apply(i, of_ops));
    }
    std::vector<kind_set> kinds;
    for (const op_id v : ids(w_.num_ops())) {
      kinds.push_back(w_.group(v) != none ? of_groups_[w_.group(v)].kinds : of_ops[v].kinds);
    }
    return {w_.with_kinds(kinds), q_.with_kinds(kinds_), std::move(notes)};
  }

private:
  /// The devices that an op or a group may run on, and the pin and the op that this comes from.
  struct constraint {
    kind_set kinds = kind_set::all();
    std::uint32_t by = none;
    op_id op = none;
  };

  std::vector<bool> devices_of(const pin& x) const {
    std::vector<bool> found(q_.num_devices(), false);
    for (const auto& name : x.devices) {
      const auto kind = parse_device_kind(name);
      const auto add_if = [&](const auto& wanted) {
        bool any = false;
        for (const device_id d : ids(q_.num_devices())) {
          if (wanted(d)) {
            found[d] = any = true;
          }
        }
        return any;
      };
      if (!add_if([&](device_id d) { return q_.name(d) == name; }) &&
          !add_if([&](device_id d) { return q_.hardware(d) == kind; })) {
        std::string known;
        for (const device_id d : ids(q_.num_devices())) {
          known += (known.empty() ? "" : ", ") + std::string{q_.name(d)};
        }
        throw value_error(where(x), "'" + name + "' is neither a device of the platform nor a kind of device; it has " +
                                        known);
      }
    }
    if (x.devices.empty() || x.ops.empty()) {
      throw value_error(where(x), "needs ops and devices");
    }
    return found;
  }

  /// Devices of one kind that not the same pins name have kinds of their own.
  void make_kinds() {
    kind_set used;
    for (const device_id d : ids(q_.num_devices())) {
      kinds_.push_back(q_.kind(d));
      used = used | q_.kind(d);
    }
    const auto alike = [&](device_id d, device_id e) {
      return q_.kind(d) == q_.kind(e) &&
             std::all_of(targets_.begin(), targets_.end(), [&](const auto& t) { return t[d] == t[e]; });
    };
    unsigned next = 8; // kinds of one's own begin there
    for (const device_id d : ids(q_.num_devices())) {
      const auto is_named = std::any_of(targets_.begin(), targets_.end(), [&](const auto& t) { return bool{t[d]}; });
      device_id first = 0;
      bool whole_kind = true;
      for (const device_id e : ids(q_.num_devices())) {
        whole_kind = whole_kind && (q_.kind(d) != q_.kind(e) || alike(d, e));
        first = e < d && first == e && !alike(d, e) ? e + 1 : first;
      }
      if (!is_named || whole_kind) {
        continue;
      }
      if (first != d) {
        kinds_[d] = kinds_[first];
        continue;
      }
      while (next < 64 && used.contains(static_cast<device_kind>(next))) {
        ++next;
      }
      if (next == 64) {
        throw value_error("pins", "tell more than 56 devices apart, and there are no more kinds of devices than that");
      }
      kinds_[d] = static_cast<device_kind>(next++);
      own_ = own_ | kinds_[d];
    }
  }

  /// Kinds of the platform as it was, as kinds of the one that it becomes.
  kind_set translated(kind_set kinds) const {
    kind_set made = kind_set::from_bits(kinds.bits() & ~own_.bits());
    for (const device_id d : ids(q_.num_devices())) {
      made = kinds.contains(q_.kind(d)) ? made | kinds_[d] : made;
    }
    return made;
  }

  bool matches_op(const pin& x, op_id v) const {
    const auto name = w_.name(v);
    return x.ops == w_.type(v) || x.ops == weft::ops::plain_type(w_.type(v)) || matches(x.ops, name) ||
           matches(x.ops, op_name{name}.scope);
  }

  /// Pins the ops; what to say of it.
  std::string apply(std::uint32_t i, std::vector<constraint>& of_ops) {
    const pin& x = pins_[i];
    kind_set on;
    for (const device_id d : ids(q_.num_devices())) {
      on = targets_[i][d] ? on | kinds_[d] : on;
    }
    std::size_t count = 0;
    std::vector<op_id> elsewhere; // they may not run there, whatever pins say
    for (const op_id v : ids(w_.num_ops())) {
      if (!matches_op(x, v)) {
        continue;
      }
      constraint& c = w_.group(v) != none ? of_groups_[w_.group(v)] : of_ops[v];
      if (!(c.kinds & on).empty()) {
        c = {c.kinds & on, c.by == none || !c.kinds.is_subset_of(on) ? i : c.by,
             c.by == none || !c.kinds.is_subset_of(on) ? v : c.op};
        ++count;
      } else if (c.by == none) {
        elsewhere.push_back(v);
      } else {
        throw constraint_error({c.op, v}, where(x) + ": " + op(v) + " is pinned to " + text(x) + ", and " +
                                            (c.op == v ? "" : op(c.op) + ", with which it has to be, ") + "to " +
                                            text(pins_[c.by]) + " by '" + pins_[c.by].ops + "'; leave one of them out");
      }
    }
    if (count + elsewhere.size() == 0) {
      throw value_error(where(x), "matches no op: it is neither the type nor the name of one, nor a pattern of names; "
                                  "types are " + some_types());
    }
    if (count == 0 || (!elsewhere.empty() && w_.name(elsewhere.front()) == x.ops)) {
      const op_id v = elsewhere.front();
      const bool grouped = w_.group(v) != none;
      throw constraint_error({v}, where(x) + ": " + op(v) + " cannot be pinned to " + text(x) + ": it" +
                                    (grouped ? ", or an op with which it has to be," : "") + " runs on " +
                                    to_string(grouped ? kinds_of_group(w_.group(v)) : w_.kinds(v)) + " only");
    }
    return std::to_string(count) + (count == 1 ? " op is" : " ops are") + " pinned to " + text(x) + " by '" + x.ops +
           "'" +
           (elsewhere.empty() ? ""
                              : "; " + std::to_string(elsewhere.size()) + " of its ops cannot run there, such as " +
                                  op(elsewhere.front()));
  }

  kind_set kinds_of_group(group_id g) const {
    auto kinds = kind_set::all();
    for (const op_id v : ids(w_.num_ops())) {
      kinds = w_.group(v) == g ? kinds & w_.kinds(v) : kinds;
    }
    return kinds;
  }

  std::string some_types() const {
    std::vector<std::string_view> types;
    for (const op_id v : ids(w_.num_ops())) {
      if (types.size() <= 8 && std::find(types.begin(), types.end(), w_.type(v)) == types.end()) {
        types.push_back(w_.type(v));
      }
    }
    std::string list;
    for (std::size_t i = 0; i < types.size(); ++i) {
      list += (i == 0 ? "" : ", ") + (i == 8 ? "…" : std::string{types[i]});
    }
    return list;
  }

  static std::string text(const pin& x) {
    std::string list;
    for (const auto& d : x.devices) {
      list += (list.empty() ? "" : "|") + d;
    }
    return list;
  }
  static std::string where(const pin& x) { return "pin '" + x.ops + "=" + text(x) + "'"; }
  std::string op(op_id v) const {
    return "op " + std::to_string(v) + (w_.name(v).empty() ? "" : " '" + std::string{w_.name(v)} + "'");
  }

  const workload& w_;
  const platform<Links>& q_;
  std::span<const pin> pins_;
  std::vector<std::vector<bool>> targets_; // of each pin: the devices
  std::vector<device_kind> kinds_;         // of the devices, as they become
  kind_set own_;                           // those of them that no device had
  std::vector<constraint> of_groups_;      // where groups may run
};

} // namespace detail

/// Pins ops to devices. Devices that pins tell apart from others of their kind get kinds of their own (`kind8` …); ops
/// that were allowed on all devices of a kind are allowed on these kinds as well, and pinned ops on those of their pins
/// alone. A colocation group goes with its members, and what several pins say of an op holds all at once. So whatever
/// keeps to kinds keeps to pins. Costs are to be made for the platform as it was: a cost model may ask for kinds.
///
/// Of ops that a type or a pattern matches, those that may not run there at all are left alone, which the notes say.
/// Throws `value_error` for a pin that names no device and no kind of the platform, or that matches no op, and for more
/// than 56 devices that are told apart; `constraint_error` for pins that contradict each other, and for one whose ops
/// may not run there. Complexity: O(pins · (n + devices²)) comparisons of names.
template <link_model Links>
pinned<Links> pin_ops(const workload& w, const platform<Links>& q, std::span<const pin> pins) {
  return detail::pinner<Links>{w, q, pins}();
}

} // namespace weft::partition
