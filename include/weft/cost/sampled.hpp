// SPDX-License-Identifier: BSL-1.0
/// Samples of uncertain times, and the cost model that has the times of one of them.
#pragma once

#include "weft/core/random.hpp"
#include "weft/cost/compose.hpp"
#include "weft/cost/uncertainty.hpp"
#include "weft/workload/concepts.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::cost {

/// The number of samples, and the seed.
struct sampling {
  std::uint32_t samples = 200; ///< at least 1
  std::uint64_t seed = 0;
};

/// Samples of uncertain times: a factor per op, the same on all devices, and one per tensor,
/// the same on all ways. They follow from the seed, the sample, and the id of the op or tensor alone. So all plans meet
/// the same luck (common random numbers), and what differs between them is not chance; and the first samples of many
/// are those of few.
///
/// One sample is selected at a time, which is what cost models `sampled` with these draws go by: one problem, and one
/// simulator of it, run all samples. At first it is the estimate itself, `size()`, in which all factors are 1.
/// Memory: 8 bytes per sample and op, and, where transfers are uncertain, tensor. Construction draws each once.
class draws {
public:
  template <dataflow_workload W>
  draws(const W& w, const uncertainty& times, sampling how = {}) : size_{how.samples}, selected_{how.samples} {
    if (how.samples == 0) {
      throw value_error("sampling", "no samples; draw at least one");
    }
    const auto seed_of_ops = how.seed, seed_of_tensors = rng::mix(how.seed + 0x9e3779b97f4a7c15u);
    const auto num_ops = static_cast<std::size_t>(w.num_ops());
    ops_.reserve(num_ops * (size_ + std::size_t{1}));
    for (const op_id v : ids(num_ops)) {
      append(ops_, spread_of(w, v, times), seed_of_ops, v);
    }
    const bool moving = !times.of_transfers().is_exact();
    const auto num_tensors = moving ? static_cast<std::size_t>(w.num_tensors()) : 1;
    tensors_.reserve(num_tensors * (size_ + std::size_t{1}));
    for (const tensor_id t : ids(num_tensors)) {
      append(tensors_, times.of_transfers(), seed_of_tensors, t);
    }
    tensor_stride_ = moving ? size_ + std::size_t{1} : 0;
  }

  std::uint32_t size() const { return size_; }

  /// The factors of an op by sample; after the last one, that of the estimate, 1.
  std::span<const double> of_op(op_id v) const { return {&ops_[v * (size_ + std::size_t{1})], size_}; }
  /// The same of what it takes to move a tensor.
  std::span<const double> of_tensor(tensor_id t) const { return {&tensors_[t * tensor_stride_], size_}; }

  void select(std::uint32_t sample) {
    WEFT_ASSERT(sample <= size_);
    selected_ = sample;
  }
  void select_estimate() { selected_ = size_; }
  std::uint32_t selected() const { return selected_; }

  double selected_of_op(op_id v) const { return ops_[v * (size_ + std::size_t{1}) + selected_]; }
  double selected_of_tensor(tensor_id t) const { return tensors_[t * tensor_stride_ + selected_]; }

private:
  template <class W>
  static const spread& spread_of(const W& w, op_id v, const uncertainty& times) {
    if constexpr (requires { std::string_view{w.type(v)}; }) {
      return times.of_type(w.type(v));
    } else {
      return times.of_type({});
    }
  }

  void append(std::vector<double>& all, const spread& s, std::uint64_t seed, std::uint32_t id) const {
    for (std::uint64_t sample = 0; sample < size_; ++sample) {
      rng random{rng::mix(seed ^ rng::mix((sample << 32) | id))};
      all.push_back(s(random));
    }
    all.push_back(1);
  }

  std::uint32_t size_;
  std::uint32_t selected_;
  std::size_t tensor_stride_ = 0;
  std::vector<double> ops_; // of each op those of all samples, since that is how sweeps ask for them
  std::vector<double> tensors_;
};

/// Times of `base` times the factors of the sample that is selected in `drawn`, which must outlive the model.
/// ```
/// cost::draws draws{w, cost::lognormal{0.2}, {.samples = 100, .seed = 1}};
/// const auto actual = p.with_costs(cost::sampled{p.cost(), draws}); // copies neither order nor components
/// ```
template <class Base>
struct sampled : detail::wrapper_of<Base> {
  const draws* drawn;

  explicit sampled(Base wrapped, const draws& from) : detail::wrapper_of<Base>{std::move(wrapped)}, drawn{&from} {}
  sampled(Base, const draws&&) = delete;

  template <class W, class P>
    requires cost_parts::has_compute_time<Base, W, P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return drawn->selected_of_op(v) * this->base.compute_time(w, v, p, d);
  }
  template <class W>
    requires requires(const Base& b, const W& w, op_id v) { b.amount(w, v); }
  double amount(const W& w, op_id v) const {
    return drawn->selected_of_op(v) * this->base.amount(w, v);
  }
  template <class W, class P>
    requires cost_parts::has_rates<Base, W, P>
  double rate(const W& w, const P& p, device_id d) const {
    return this->base.rate(w, p, d);
  }
  template <class W, class P>
    requires cost_parts::has_device_classes<Base, W, P>
  device_id device_class(const W& w, const P& p, device_id d) const {
    return this->base.device_class(w, p, d);
  }
  template <class W, class P>
    requires cost_parts::has_transfer_time<Base, W, P>
  double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return drawn->selected_of_tensor(t) * this->base.transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
    requires cost_parts::has_send_time<Base, W, P>
  double send_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return drawn->selected_of_tensor(t) * this->base.send_time(w, t, p, from, to);
  }
  template <class W, class P>
    requires cost_parts::has_staging_times<Base, W, P>
  double import_time(const W& w, tensor_id t, const P& p, device_id d) const {
    return drawn->selected_of_tensor(t) * this->base.import_time(w, t, p, d);
  }
  template <class W, class P>
    requires cost_parts::has_staging_times<Base, W, P>
  double export_time(const W& w, tensor_id t, const P& p, device_id d) const {
    return drawn->selected_of_tensor(t) * this->base.export_time(w, t, p, d);
  }
};

} // namespace weft::cost
