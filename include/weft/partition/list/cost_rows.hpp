// SPDX-License-Identifier: BSL-1.0
/// Arrival times of an op's inputs and its compute times, a row over all devices at once.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/partition/list/reservation.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/timeline.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace weft::partition::list {

namespace detail {
#if defined(__GNUC__)
[[gnu::always_inline]] inline void prefetch(const void* address) { __builtin_prefetch(address); }
/// Two numbers in one register, which every processor has: compilers make none of them from a block that they keep in
/// registers.
using lanes [[gnu::vector_size(16)]] = double;
#else
inline void prefetch(const void*) {}
using lanes = double;
#endif

template <class Lanes>
constexpr Lanes load(const double* from) {
  if constexpr (std::is_same_v<Lanes, double>) {
    return *from;
  } else {
    Lanes x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
}
template <class Lanes>
constexpr void store(const Lanes& x, double* to) {
  if constexpr (std::is_same_v<Lanes, double>) {
    *to = x;
  } else {
    std::memcpy(to, &x, sizeof x);
  }
}

} // namespace detail

/// Rows over devices are padded to whole blocks, so that what looks for the least number can do so block by block.
inline constexpr std::size_t row_block = 8;
constexpr std::size_t padded(std::size_t num_devices) { return (num_devices + row_block - 1) / row_block * row_block; }

/// Whether no number of a padded row is negative or not a number; -0 is taken for negative. As whole numbers, the bits
/// of times are 0 to those of infinity, and such arithmetic becomes vector instructions.
constexpr bool holds_times(std::span<const double> row) {
  constexpr auto infinite = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  std::uint64_t signs = 0;
  for (std::size_t first = 0; first < row.size(); first += row_block) {
    for (std::size_t i = 0; i < row_block; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(row[first + i]);
      signs |= bits | (infinite - bits);
    }
  }
  return signs >> 63 == 0;
}

/// The code path that fills rows. The plans are the same; a test compares them.
enum class row_path : std::uint8_t {
  automatic, ///< from reciprocals where the cost model allows it
  plain,     ///< by asking the cost model about each device
};

/// Fills rows over devices for one op after another, and keeps what it needs for that: when each op runs.
///
/// If transfers are lines, or compute times amounts over rates, rows come from reciprocals that are made once: a
/// product instead of a division. Such a row is an **estimate**, off by a few roundings, and `least` of it is a lower
/// bound of what the model says. For a decision, `arrival` and the problem give the exact number.
/// Where the model has the times of classes in memory, rows are copied from there.
/// Memory: 16 bytes per pair of devices and 16 per tensor for estimates, and 16 bytes per op.
template <class Problem, row_path Path = row_path::automatic>
class cost_rows {
  static constexpr bool by_lines = Path == row_path::automatic && Problem::sends_by_bytes;
  static constexpr bool by_rates = Path == row_path::automatic && Problem::has_rates;
  static constexpr bool by_classes = Path == row_path::automatic && Problem::has_class_times && !Problem::has_rates;
  static constexpr std::size_t max_devices = 1024; // for which pairs are stored

public:
  constexpr cost_rows(const Problem& p, const reservation<Problem>& placed)
      : p_{&p}, placed_{&placed}, stride_{padded(p.num_devices())}, times_(p.num_ops(), schedule::interval{-1, -1}) {
    if constexpr (by_lines) {
      knows_lines_ =
        p.has_lines() && p.num_tensors() > 0 && p.num_devices() <= max_devices && prepare_lines();
    }
    if constexpr (by_rates) {
      knows_rates_ = prepare_rates();
    }
    if constexpr (by_classes) {
      class_.assign(stride_, 0);
      for (const device_id d : ids(p.num_devices())) {
        class_[d] = p.class_number(d);
        num_classes_ = std::max<std::size_t>(num_classes_, class_[d] + 1);
      }
    }
  }

  /// The length of a row.
  constexpr std::size_t stride() const { return stride_; }
  /// Whether rows hold exact times.
  constexpr bool exact() const { return !knows_lines_ && !knows_rates_; }
  /// A lower bound of a time that was computed from rows that are not exact: some sums and products,
  /// fused or not.
  static constexpr double least(double time) { return time * (1 - 0x1p-44) - 1e-300; }

  /// When v runs; below 0 if that is not known.
  constexpr const schedule::interval& times(op_id v) const { return times_[v]; }
  constexpr const buffer<schedule::interval>& times() const { return times_; }
  /// v runs on d then.
  constexpr void set_times(op_id v, device_id d, const schedule::interval& when) {
    times_[v] = when;
    if constexpr (by_lines) {
      if (knows_lines_) {
        const auto& w = p_->workload();
        for (const tensor_id t : w.outputs(v)) {
          tensors_[t].finish = when.finish;
          tensors_[t].bytes_and_device += d;
        }
      }
    }
  }

  /// Prepares rows of v. Precondition: the producers of its inputs have finished.
  constexpr void begin(op_id v) {
    op_ = v;
    if constexpr (by_rates) {
      amount_ = p_->amount(v);
      if (!(amount_ >= 0)) [[unlikely]] {
        p_->check_compute_times(v);
      }
    }
    if constexpr (by_lines) {
      if (knows_lines_) {
        const auto& tensors = p_->workload().inputs(v);
        if (inputs_.size() < std::ranges::size(tensors)) {
          inputs_.resize(2 * std::ranges::size(tensors));
        }
        num_inputs_ = 0;
        for (const tensor_id t : tensors) {
          const made_tensor made = tensors_[t];
          const auto from = static_cast<device_id>(made.bytes_and_device % max_devices);
          inputs_[num_inputs_++] = {made.finish, static_cast<double>(made.bytes_and_device / max_devices), from};
        }
      }
    }
  }

  /// Compute times on all devices, checked; times behind the last one, too.
  constexpr void durations(std::span<double> row) const {
    if constexpr (by_rates) {
      if (knows_rates_) {
        const double* __restrict const slowness = slowness_.data();
        double* __restrict const times = row.data();
        for (std::size_t d = 0; d < stride_; ++d) {
          times[d] = amount_ * slowness[d];
        }
        return;
      }
    }
    if constexpr (by_classes) {
      const double* const of_class = p_->class_times(op_);
      const std::uint32_t* const number = class_.data();
      double* __restrict const times = row.data();
      for (std::size_t d = 0; d < stride_; ++d) {
        times[d] = of_class[number[d]];
      }
    } else {
      for (const device_id d : ids(p_->num_devices())) {
        row[d] = p_->unchecked_compute_time(op_, d);
      }
    }
    if (!holds_times(row)) [[unlikely]] {
      p_->check_compute_times(op_);
    }
  }

  /// When the last input is on each device; whatever behind the last one.
  constexpr void arrivals(std::span<double> row) const {
    if constexpr (by_lines) {
      if (knows_lines_) {
        has_fixed_ ? latest<true>(row.data()) : latest<false>(row.data());
        return;
      }
    }
    for (const device_id d : ids(p_->num_devices())) {
      row[d] = arrival(op_, d);
    }
  }

  /// Adds `weight` times the compute times of the others in the component of the op in hand to a row of lower bounds,
  /// which it stays.
  constexpr void add_others(double weight, std::span<double> row) {
    const component_id c = p_->component(op_);
    if constexpr (by_rates) {
      if (knows_rates_ && weight >= 0) {
        double others = 0;
        for (const op_id u : p_->members(c)) {
          others += u == op_ ? 0 : p_->amount(u);
        }
        // Less than the difference of two sums, whatever their roundings.
        others -= (others + amount_) * static_cast<double>(p_->members(c).size() + 8) * 0x1p-51; // fused or not
        for (std::size_t d = 0; d < stride_; ++d) {
          row[d] = least(row[d] + weight * (others * slowness_[d])); // a bound, fused or not
        }
        return;
      }
    }
    if constexpr (by_classes) {
      others_.assign(num_classes_, 0.0);
      for (const op_id u : p_->members(c)) { // in the order of problem::others_time
        const double* const of_class = p_->class_times(u);
        for (std::size_t i = 0; u != op_ && i < num_classes_; ++i) {
          others_[i] += of_class[i];
        }
      }
      if (!std::all_of(others_.begin(), others_.end(), [](double time) { return time >= 0; })) [[unlikely]] {
        for (const op_id u : p_->members(c)) {
          p_->check_compute_times(u);
        }
      }
      for (const device_id d : ids(p_->num_devices())) {
        row[d] += rounded(weight * others_[class_[d]]);
      }
      return;
    }
    for (const device_id d : ids(p_->num_devices())) {
      row[d] += rounded(weight * p_->others_time(op_, d));
    }
  }

  /// Has the processor fetch what `begin` and `set_times` will touch: the lists of inputs of ops that come a good deal
  /// later, the inputs of those that come soon. Several ops at once, since then no access waits for the one before.
#ifdef __GNUC__ // g++ 12 takes a function that only prefetches for one without effect and drops its calls
  [[gnu::always_inline]]
#endif
  constexpr void prefetch(std::span<const op_id> later, std::span<const op_id> soon) {
    if (std::is_constant_evaluated()) {
      return;
    }
    if constexpr (by_lines) {
      if (knows_lines_) {
        const auto& w = p_->workload();
        using inputs = decltype(w.inputs(op_id{}));
        if constexpr (std::ranges::contiguous_range<inputs> && std::ranges::borrowed_range<inputs>) {
          for (const op_id v : later) {
            detail::prefetch(std::ranges::data(w.inputs(v)));
          }
        }
        for (const op_id v : soon) {
          for (const tensor_id t : w.inputs(v)) {
            detail::prefetch(&tensors_[t]);
          }
          if (const auto& outputs = w.outputs(v); !std::ranges::empty(outputs)) {
            detail::prefetch(&tensors_[*std::ranges::begin(outputs)]);
          }
          detail::prefetch(&times_[v]);
        }
      }
    }
    if constexpr (by_rates) { // has no address that were known, so they are read
      for (const op_id v : soon) {
        read_ahead_ += p_->amount(v);
      }
    }
    if constexpr (by_classes) {
      constexpr std::size_t line = 64 / sizeof(double);
      for (const op_id v : soon) {
        for (std::size_t c = 0; c < num_classes_; c += line) {
          detail::prefetch(p_->class_times(v) + c);
        }
      }
    }
  }

  /// When the last input of the op in hand is on d, exactly.
  constexpr double arrival(device_id d) const {
    if constexpr (by_lines) {
      if (knows_lines_) { // what the problem would say, from numbers that are at hand
        double ready = 0;
        for (std::size_t i = 0; i < num_inputs_; ++i) {
          const input& t = inputs_[i];
          ready = std::max(
            ready, t.from == d ? t.finish : t.finish + send_[t.from] + rounded(p_->transfer_line(t.from, d)(t.bytes)));
        }
        return ready;
      }
    }
    return arrival(op_, d);
  }

  /// The time when the last input of v is on d, exactly. A tensor arrives a send and a transfer after its producer
  /// finished.
  constexpr double arrival(op_id v, device_id d) const {
    double ready = 0;
    for (const tensor_id t : p_->workload().inputs(v)) {
      ready = std::max(ready, arrival_of(t, d));
    }
    return ready;
  }

  /// When t is on d, exactly.
  constexpr double arrival_of(tensor_id t, device_id d) const {
    const op_id u = p_->workload().producer(t);
    const device_id from = placed_->device(u);
    const double made = times_[u].finish;
    return from == d ? made : made + p_->send_time(t, from, d) + p_->transfer_time(t, from, d);
  }

private:
  struct made_tensor { // small, since inputs are all over memory
    double finish = 0; // of its producer
    std::uint64_t bytes_and_device = 0; // bytes · max_devices + device
  };
  struct input {
    double finish = 0;
    double bytes = 0;
    device_id from = 0;
  };

  static constexpr bool is_moderate(double x) { return x == 0 || (x > 1e-280 && x < 1e280); }

  constexpr bool prepare_lines() {
    const std::size_t k = p_->num_devices();
    const auto& w = p_->workload();
    for (const tensor_id t : ids(p_->num_tensors())) {
      if (static_cast<byte_count>(w.bytes(t)) >= (byte_count{1} << 53) || // takes part in no exact number
          is_message(w, t)) {                                             // whose sends take other times
        return false;
      }
    }
    send_.assign(k, 0.0);
    fixed_.assign(k * stride_, 0.0);
    inverse_.assign(k * stride_, 0.0);
    for (const device_id from : ids(k)) {
      send_[from] = p_->send_overhead(from);
      for (const device_id to : ids(k)) {
        if (from != to) {
          const auto line = p_->transfer_line(from, to);
          const double fixed = send_[from] + line.latency();
          const double inverse = 1 / static_cast<double>(line.bandwidth());
          if (!(send_[from] >= 0) || !(line.latency() >= 0) || !is_moderate(fixed) || !is_moderate(inverse)) {
            return false; // the slow way says what is wrong
          }
          has_fixed_ = has_fixed_ || fixed != 0;
          fixed_[from * stride_ + to] = fixed;
          inverse_[from * stride_ + to] = inverse;
        }
      }
    }
    tensors_.resize(p_->num_tensors());
    for (const tensor_id t : ids(p_->num_tensors())) {
      tensors_[t].bytes_and_device = static_cast<byte_count>(w.bytes(t)) * max_devices;
    }
    return true;
  }

  constexpr bool prepare_rates() {
    slowness_.assign(stride_, 0.0);
    for (const device_id d : ids(p_->num_devices())) {
      slowness_[d] = 1 / static_cast<double>(p_->rate(d));
      if (!is_moderate(slowness_[d])) {
        return false;
      }
    }
    return true;
  }

  /// `arrivals`, block by block, each of which stays in registers while it goes through the inputs.
  template <bool HasFixed>
  constexpr void latest(double* row) const {
    for (std::size_t first = 0; first < stride_; first += row_block) {
      if (std::is_constant_evaluated()) {
        latest_of_block<HasFixed, double>(first, row);
      } else {
        latest_of_block<HasFixed, detail::lanes>(first, row);
      }
    }
  }
  template <bool HasFixed, class Lanes>
  constexpr void latest_of_block(std::size_t first, double* row) const {
    constexpr std::size_t width = sizeof(Lanes) / sizeof(double);
    constexpr std::size_t count = row_block / width;
    Lanes latest[count] = {};
    for (std::size_t k = 0; k < num_inputs_; ++k) {
      const input& t = inputs_[k];
      const double* const inverse = inverse_.data() + t.from * stride_ + first;
      const double* const fixed = fixed_.data() + t.from * stride_ + first;
      for (std::size_t i = 0; i < count; ++i) {
        Lanes time = t.bytes * detail::load<Lanes>(inverse + i * width);
        if constexpr (HasFixed) {
          time += detail::load<Lanes>(fixed + i * width); // fused or not
        }
        time += t.finish;
        latest[i] = latest[i] < time ? time : latest[i];
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      detail::store(latest[i], row + first + i * width);
    }
  }

  const Problem* p_;
  const reservation<Problem>* placed_;
  std::size_t stride_;
  bool knows_lines_ = false;
  bool knows_rates_ = false;
  bool has_fixed_ = false;           // some send or latency takes time
  buffer<schedule::interval> times_; // per op
  buffer<made_tensor> tensors_; // per tensor, once its producer has finished
  buffer<input> inputs_;        // of the op in hand, next to each other
  std::size_t num_inputs_ = 0;
  op_id op_ = none;                  // the op in hand
  double amount_ = 0;                // of it
  double read_ahead_ = 0;            // for nothing but that compilers keep what `prefetch` reads
  std::vector<double> send_;         // per device
  std::vector<double> fixed_;        // per pair: send + latency
  std::vector<double> inverse_;      // per pair: 1 / bandwidth
  std::vector<std::uint32_t> class_; // per device
  std::size_t num_classes_ = 0;
  std::vector<double> others_;       // per class: times of the others in the component of the op in hand
  std::vector<double> slowness_;     // per device: 1 / rate
};

} // namespace weft::partition::list
