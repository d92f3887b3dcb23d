// SPDX-License-Identifier: BSL-1.0
/// The times of any cost model as numbers, in one type.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/config.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/shared.hpp"
#include "weft/cost/compose.hpp"
#include "weft/cost/concepts.hpp"
#include "weft/cost/linear.hpp"
#include "weft/cost/tabulated.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::cost {

/// A latency and a bandwidth, and a factor on the seconds that they make.
class lowered_line {
public:
  constexpr lowered_line() = default;
  constexpr lowered_line(const link_line& l) : latency_{l.latency()}, bandwidth_{l.bandwidth()} {}
  template <std::convertible_to<lowered_line> Line>
  constexpr lowered_line(const detail::scaled_line<Line>& l)
      : lowered_line{lowered_line{l.base()}.scaled(l.factor())} {}

  constexpr double operator()(double bytes) const { return factor_ * (latency_ + bytes / bandwidth_); }
  constexpr double latency() const { return rounded(factor_ * latency_); }
  constexpr double bandwidth() const { return bandwidth_ / factor_; }
  constexpr lowered_line scaled(double factor) const {
    auto made = *this;
    made.factor_ *= factor;
    return made;
  }
  friend constexpr bool operator==(const lowered_line&, const lowered_line&) = default;

private:
  double latency_ = 0;
  double bandwidth_ = std::numeric_limits<double>::infinity();
  double factor_ = 1;
};

/// The times of any cost model, for one workload and one platform, so that what searches is compiled for one type of
/// costs. Compute times are those of a `tabulated`. Transfers are a line per pair of devices where the model's are
/// lines over links, scaled or not; else the model, of which a copy is kept, is asked for each. Refers to the workload
/// and the platform in the latter case alone. The times are the model's to the last bit, but for lines that were scaled
/// more than once. `original`, if it is not empty, has the model's number of each tensor.
/// Complexity: that of `tabulated`, and O(devices²) time and memory for lines, of which one is kept where all pairs
/// have the same, and of few kinds between hundreds of devices one each, with a byte per pair; copies share everything.
class lowered {
public:
  template <class Cost, class W, class P>
    requires cost_model_for<Cost, W, P>
  lowered(const Cost& cost, const W& w, const P& p, std::vector<tensor_id> original = {})
      : times_{times_of(cost, w, p)}, ways_{ways_of(cost, w, p, std::move(original))},
        num_devices_{static_cast<std::size_t>(p.num_devices())} {}

  template <class W, class P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return times_.compute_time(w, v, p, d);
  }
  template <class W, class P>
  device_id device_class(const W& w, const P& p, device_id d) const {
    return times_.device_class(w, p, d);
  }
  template <class W, class P>
  const double* class_times(const W& w, op_id v, const P& p) const {
    return times_.class_times(w, v, p);
  }
  template <class W, class P>
  std::uint32_t class_number(const W& w, const P& p, device_id d) const {
    return times_.class_number(w, p, d);
  }

  /// True if transfers are lines and sends depend on the sender alone; else `transfer_line`, `send_overhead` and
  /// `message_overhead` must not be called.
  bool has_lines() const { return ways_->model == nullptr; }

  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P&, device_id from, device_id to) const {
    if (has_lines()) [[likely]] {
      return line(from, to)(static_cast<double>(w.bytes(t)));
    }
    const double factor = ways_->factors.empty() ? 1 : ways_->factors[from * num_devices_ + to];
    return factor * ways_->model->transfer_time(t, from, to);
  }
  template <class W, class P>
  const lowered_line& transfer_line(const W&, const P&, device_id from, device_id to) const {
    return line(from, to);
  }
  template <class W, class P>
  double send_time(const W& w, tensor_id t, const P&, device_id from, device_id to) const {
    return !has_lines()       ? ways_->model->send_time(t, from, to)
           : is_message(w, t) ? ways_->message_sends[from]
                              : ways_->sends[from];
  }
  template <class W, class P>
  double send_overhead(const W&, const P&, device_id from) const {
    return ways_->sends[from];
  }
  template <class W, class P>
  double message_overhead(const W&, const P&, device_id from) const {
    return ways_->message_sends[from];
  }

  /// The same with transfer times multiplied by `factors[from * num_devices + to]`, positive and finite, such as by how
  /// much longer than alone transfers take where links are congested. O(devices²).
  lowered with_transfer_factors(std::vector<double> factors) const {
    WEFT_ASSERT(factors.size() == num_devices_ * num_devices_);
    ways changed = *ways_;
    if (has_lines()) {
      changed.lines.clear();
      changed.kind_of.clear();
      changed.alike = false;
      for (std::size_t i = 0; i < factors.size(); ++i) {
        const auto from = static_cast<device_id>(i / num_devices_), to = static_cast<device_id>(i % num_devices_);
        changed.lines.push_back(line(from, to).scaled(factors[i]));
      }
    }
    if (!has_lines()) {
      for (std::size_t i = 0; i < changed.factors.size(); ++i) {
        factors[i] *= changed.factors[i];
      }
      changed.factors = std::move(factors);
    }
    auto made = *this;
    made.ways_ = shared{std::move(changed)};
    return made;
  }

private:
  /// The transfers of a model that are no lines.
  class asked_model {
  public:
    virtual double transfer_time(tensor_id t, device_id from, device_id to) const = 0;
    virtual double send_time(tensor_id t, device_id from, device_id to) const = 0;
    virtual ~asked_model() = default;
  };
  template <class Cost, class W, class P>
  class asked final : public asked_model {
  public:
    asked(const Cost& cost, const W& w, const P& p, std::vector<tensor_id> original)
        : cost_{cost}, w_{&w}, p_{&p}, original_{std::move(original)} {}
    double transfer_time(tensor_id t, device_id from, device_id to) const override {
      return cost_.transfer_time(*w_, number(t), *p_, from, to);
    }
    double send_time(tensor_id t, device_id from, device_id to) const override {
      if constexpr (cost_parts::has_send_time<Cost, W, P>) {
        return cost_.send_time(*w_, number(t), *p_, from, to);
      } else {
        return 0;
      }
    }

  private:
    tensor_id number(tensor_id t) const { return original_.empty() ? t : original_[t]; }

    Cost cost_;
    const W* w_;
    const P* p_;
    std::vector<tensor_id> original_;
  };

  struct ways {
    buffer<lowered_line> lines = {}; // per pair of devices, or of each kind; empty if the model is asked
    buffer<std::uint8_t> kind_of = {}; // per pair of devices; empty: lines are per pair
    bool alike = false;              // lines are that of a device to itself and that of all pairs
    std::vector<double> sends = {};   // per sender; empty if the model is asked
    std::vector<double> message_sends = {}; // the same of messages of collectives
    std::shared_ptr<const asked_model> model = nullptr;
    std::vector<double> factors = {}; // per pair of devices on what the model says; empty: 1
  };

  template <class Cost, class W, class P>
  static tabulated times_of(const Cost& cost, const W& w, const P& p) {
    if constexpr (std::same_as<Cost, tabulated>) {
      return cost;
    } else if constexpr (std::same_as<Cost, lowered>) {
      return cost.times_;
    } else {
      return {cost, w, p};
    }
  }

  template <class Cost, class W, class P>
  static ways ways_of(const Cost& cost, const W& w, const P& p, std::vector<tensor_id> original) {
    ways made;
    if constexpr (cost_parts::sends_by_bytes<Cost, W, P>) {
      using line = std::remove_cvref_t<decltype(cost.transfer_line(w, p, 0, 0))>;
      if (std::convertible_to<line, lowered_line> && cost_parts::states_lines(cost)) {
        if constexpr (std::convertible_to<line, lowered_line>) {
          add_lines(cost, w, p, made);
        }
        return made;
      }
    }
    made.model = std::make_shared<asked<Cost, W, P>>(cost, w, p, std::move(original));
    return made;
  }
  template <class Cost, class W, class P>
  static void add_lines(const Cost& cost, const W& w, const P& p, ways& to_all) {
    const auto n = static_cast<device_id>(p.num_devices());
    const auto between = [&](device_id from, device_id to) {
      return from == to ? lowered_line{} : lowered_line{cost.transfer_line(w, p, from, to)};
    };
    for (const device_id from : ids(n)) {
      if constexpr (cost_parts::has_send_time<Cost, W, P>) {
        to_all.sends.push_back(cost_parts::send_overhead(cost, w, p, from, false));
        to_all.message_sends.push_back(cost_parts::send_overhead(cost, w, p, from, true));
      } else {
        to_all.sends.push_back(0);
        to_all.message_sends.push_back(0);
      }
    }
    to_all.lines.push_back({});
    to_all.lines.push_back(n > 1 ? between(0, 1) : lowered_line{});
    to_all.alike = true;
    for (device_id from = 0; from < n && to_all.alike; ++from) {
      for (device_id to = 0; to < n && to_all.alike; ++to) {
        to_all.alike = from == to || between(from, to) == to_all.lines[1];
      }
    }
    if (to_all.alike || (n > many && number_lines(n, between, to_all))) {
      return;
    }
    to_all.lines.clear();
    to_all.lines.reserve(std::size_t{n} * n);
    for (const device_id from : ids(n)) {
      for (const device_id to : ids(n)) {
        to_all.lines.push_back(between(from, to));
      }
    }
  }

  static constexpr device_id many = 256; // devices, from which on lines of each pair would not fit into caches

  /// Keeps a line of each kind; false if there are too many of them for a byte.
  template <class Between>
  static bool number_lines(device_id n, Between between, ways& to_all) {
    auto& lines = to_all.lines;
    lines.clear();
    to_all.kind_of.reserve(std::size_t{n} * n);
    std::size_t kind = 0; // of the last pair, which the next one often has
    for (const device_id from : ids(n)) {
      for (const device_id to : ids(n)) {
        const auto l = between(from, to);
        const auto is_that = [&](std::size_t k) { return k < lines.size() && lines[k] == l; };
        if (!is_that(kind) && from > 0) {
          kind = to_all.kind_of[std::size_t{from - 1} * n + to]; // devices of a node have the same links
        }
        if (!is_that(kind)) {
          kind = static_cast<std::size_t>(std::find(lines.begin(), lines.end(), l) - lines.begin());
        }
        if (kind == lines.size()) {
          if (kind > std::numeric_limits<std::uint8_t>::max()) {
            buffer<std::uint8_t>{}.swap(to_all.kind_of); // clang 16 does not destroy what `= {}` makes
            return false;
          }
          lines.push_back(l);
        }
        to_all.kind_of.push_back(static_cast<std::uint8_t>(kind));
      }
    }
    return true;
  }

  const lowered_line& line(device_id from, device_id to) const {
    const auto pair = std::size_t{from} * num_devices_ + to;
    return ways_->lines[ways_->alike             ? std::size_t{from != to}
                        : ways_->kind_of.empty() ? pair
                                                 : ways_->kind_of[pair]];
  }

  tabulated times_;
  shared<ways> ways_;
  std::size_t num_devices_;
};

/// `lowered` of the costs; what is lowered already is shared, unless it asks a model for tensors of other numbers.
template <class Cost, class W, class P>
  requires cost_model_for<Cost, W, P>
lowered lower(const Cost& cost, const W& w, const P& p, std::vector<tensor_id> original = {}) {
  if constexpr (std::same_as<Cost, lowered>) {
    if (original.empty() || cost.has_lines()) {
      return cost;
    }
  }
  return {cost, w, p, std::move(original)};
}

} // namespace weft::cost
