// SPDX-License-Identifier: BSL-1.0
/// The dynamic program over a family of downsets that the contiguous splits share.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/graph/downsets.hpp"
#include "weft/throughput/detail/piece.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::throughput::detail {

using graph::downsets;

/// Cuts the blocks into pieces, one per device, so that the largest load is smallest among all ways in which the
/// blocks of the first pieces form a downset of the family.
///
/// A state is a downset and how many devices of each class its pieces take: no more than there are blocks. Where that
/// would be more than 1024 per downset, devices are used in the order of their ids instead, some possibly not at all,
/// and `exact()` is false: pieces in another order of devices may be better.
/// Complexity: O(D² · (parcels of a block + states · classes)) for D downsets, less what `below` cuts off: a piece
/// whose compute time alone is not below it is not enlarged.
template <class Problem>
class splitting {
public:
  splitting(const flow<Problem>& f, const blocks<Problem>& b) : flow_{&f}, blocks_{&b} {
    classes_ = device_classes(f.problem());
    std::size_t states = 1;
    for (const auto& c : classes_) {
      states = std::min(max_states + 1, states * (countable(c) + 1));
    }
    if (states <= max_states) {
      count_devices(states);
    } else {
      line_up_devices();
    }
  }

  /// Devices by component, or nothing if no split has a largest load below `below` or the budget ended first.
  std::optional<std::vector<device_id>> operator()(const downsets& family, double below, const budget& spend) {
    const std::size_t n = family.size();
    reached_.assign(n * num_states_, {});
    reached_[0].load = 0;
    piece<Problem> s{*flow_, *blocks_, classes_};
    std::vector<std::uint32_t> seen(n, none);
    struct frame {
      downsets::step step;
      std::span<const downsets::step> rest;
    };
    std::vector<frame> path;
    budget_meter meter{{.seconds = spend.seconds, .stop = spend.stop}};
    for (std::uint32_t i = 0; i < n && meter.spend(); ++i) {
      skip_devices(i);
      const auto states = std::span{reached_}.subspan(i * num_states_, num_states_);
      if (std::ranges::none_of(states, [&](const reached& r) { return r.load < below; })) {
        continue;
      }
      path.push_back({{}, family.from(i)});
      while (!path.empty()) {
        auto& top = path.back();
        if (top.rest.empty()) {
          for (std::uint32_t a = top.step.count; a-- > 0;) {
            s.remove(family.added[top.step.first + a]);
          }
          path.pop_back();
          continue;
        }
        const auto step = top.rest.front();
        top.rest = top.rest.subspan(1);
        if (seen[step.to] == i) {
          continue;
        }
        seen[step.to] = i;
        for (std::uint32_t a = 0; a < step.count; ++a) {
          s.add(family.added[step.first + a]);
        }
        const bool may_grow = s.least() < below;
        if (may_grow) {
          extend(i, step.to, s, below);
          if (step.to + 1 == n) {
            for (std::size_t state = 0; state < num_states_; ++state) {
              below = std::min(below, reached_[step.to * num_states_ + state].load);
            }
          }
        }
        path.push_back({step, may_grow ? family.from(step.to) : std::span<const downsets::step>{}});
      }
    }
    complete_ = !meter.exhausted();
    auto where = read_back(family);
    too_much_together_ = where && !fits_together(*where);
    return too_much_together_ ? std::nullopt : std::move(where);
  }

  /// Of the last split, as the program saw it.
  double largest_load() const { return largest_load_; }
  /// Whether the last program came to its end.
  bool complete() const { return complete_; }
  /// Whether a complete program leaves out no split along its downsets.
  bool exact() const { return !in_line_ && !too_much_together_; }

private:
  static constexpr std::size_t max_states = 1024;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct reached {
    double load = infinity;
    std::uint32_t from = none;       ///< the downset before the last piece
    std::uint32_t from_state = none;
    device_id device = none;         ///< of the last piece; `none` if there is no such piece
  };
  struct transition {
    std::uint32_t from;
    std::uint32_t to;
    device_id device;
  };

  /// True if each memory has room for what all devices hold that share it; pieces are only looked at alone.
  bool fits_together(const std::vector<device_id>& where) const {
    const auto& p = flow_->problem();
    std::vector<byte_count> held(p.num_devices(), 0);
    for (component_id c = 0; c < where.size(); ++c) {
      held[p.memory_of(where[c])] += p.demand(c);
    }
    return std::ranges::all_of(ids(held.size()), [&](device_id d) { return held[d] <= p.capacity(d); });
  }
  /// How many devices of a class pieces can take: none of them is empty.
  std::size_t countable(const device_class& c) const { return std::min(c.devices.size(), blocks_->size()); }

  void count_devices(std::size_t states) {
    num_states_ = states;
    transitions_.resize(classes_.size());
    std::size_t weight = 1;
    for (std::size_t x = 0; x < classes_.size(); ++x) {
      const auto& devices = classes_[x].devices;
      const std::size_t most = countable(classes_[x]);
      for (std::size_t state = 0; state < states; ++state) {
        if (const std::size_t used = state / weight % (most + 1); used < most) {
          transitions_[x].push_back({static_cast<std::uint32_t>(state), static_cast<std::uint32_t>(state + weight),
                                     devices[used]});
        }
      }
      weight *= most + 1;
    }
  }

  void line_up_devices() {
    in_line_ = true;
    num_states_ = flow_->num_devices() + 1;
    transitions_.resize(classes_.size());
    for (std::size_t x = 0; x < classes_.size(); ++x) {
      for (const device_id d : classes_[x].devices) {
        transitions_[x].push_back({d, d + 1, d});
      }
    }
  }

  void skip_devices(std::uint32_t i) {
    for (std::uint32_t s = 0; in_line_ && s + 1 < num_states_; ++s) {
      if (const auto& here = reached_[i * num_states_ + s]; here.load < reached_[i * num_states_ + s + 1].load) {
        reached_[i * num_states_ + s + 1] = {here.load, i, s, none};
      }
    }
  }

  void extend(std::uint32_t from, std::uint32_t to, const piece<Problem>& s, double below) {
    for (std::size_t x = 0; x < classes_.size(); ++x) {
      const double load = s.load(x);
      if (!(load < below)) {
        continue;
      }
      for (const transition& t : transitions_[x]) {
        const double most = std::max(load, reached_[from * num_states_ + t.from].load);
        if (auto& there = reached_[to * num_states_ + t.to]; most < below && most < there.load) {
          there = {most, from, t.from, t.device};
        }
      }
    }
  }

  std::optional<std::vector<device_id>> read_back(const downsets& family) {
    const std::size_t last = family.size() - 1;
    std::uint32_t state = 0;
    for (std::uint32_t s = 1; s < num_states_; ++s) {
      if (reached_[last * num_states_ + s].load < reached_[last * num_states_ + state].load) {
        state = s;
      }
    }
    largest_load_ = reached_[last * num_states_ + state].load;
    if (largest_load_ == infinity) {
      return std::nullopt;
    }
    std::vector<device_id> where(flow_->num_components(), none);
    for (auto i = static_cast<std::uint32_t>(last); i != 0 || state != 0;) {
      const reached& r = reached_[i * num_states_ + state];
      if (r.device != none) {
        place(family, r.from, i, r.device, where);
      }
      i = r.from;
      state = r.from_state;
    }
    return where;
  }

  /// Places what is in downset `to` and not in `from`: any way from one to the other adds exactly that.
  void place(const downsets& family, std::uint32_t from, std::uint32_t to, device_id d, std::vector<device_id>& where) {
    std::vector<std::uint32_t> open{from};
    std::vector<std::pair<std::uint32_t, downsets::step>> came(family.size(), {none, {}});
    while (came[to].first == none) {
      const std::uint32_t i = open.back();
      open.pop_back();
      for (const auto& step : family.from(i)) {
        if (step.to <= to && came[step.to].first == none) {
          came[step.to] = {i, step};
          open.push_back(step.to);
        }
      }
    }
    for (std::uint32_t i = to; i != from; i = came[i].first) {
      const auto& step = came[i].second;
      for (std::uint32_t a = 0; a < step.count; ++a) {
        for (const component_id c : blocks_->members(family.added[step.first + a])) {
          where[c] = d;
        }
      }
    }
  }

  const flow<Problem>* flow_;
  const blocks<Problem>* blocks_;
  std::vector<device_class> classes_;
  bool in_line_ = false;
  bool too_much_together_ = false; // the best split is more than a memory holds that devices share
  bool complete_ = false;
  double largest_load_ = infinity;
  std::size_t num_states_ = 1;
  std::vector<std::vector<transition>> transitions_; // per class
  buffer<reached> reached_;                     // downsets x states
};

} // namespace weft::throughput::detail
