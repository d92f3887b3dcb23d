// SPDX-License-Identifier: BSL-1.0
/// Cost models made from other cost models: scaled, perturbed, cached, and from a function.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/cost/concepts.hpp"
#include "weft/cost/linear.hpp"
#include "weft/cost/tabulated.hpp"

#include <utility>

namespace weft::cost {

namespace detail {

/// A cost model inside another, which derives from this and says what it changes: every other part that `base` has
/// (compute times apart, and what follows from them) is passed on here, once for all wrappers, and what `base` states
/// of these parts with them.
template <class Base>
struct wrapper_of {
  Base base{};

  template <class W, class P>
    requires cost_parts::has_transfer_time<Base, W, P>
  constexpr double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return base.transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
    requires cost_parts::has_transfer_lines<Base, W, P>
  constexpr auto transfer_line(const W& w, const P& p, device_id from, device_id to) const {
    return base.transfer_line(w, p, from, to);
  }
  constexpr bool has_lines() const { return cost_parts::states_lines(base); }
  template <class W, class P>
    requires cost_parts::has_send_time<Base, W, P>
  constexpr double send_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return base.send_time(w, t, p, from, to);
  }
  template <class W, class P>
    requires cost_parts::has_send_overheads<Base, W, P>
  constexpr double send_overhead(const W& w, const P& p, device_id from) const {
    return base.send_overhead(w, p, from);
  }
  template <class W, class P>
    requires cost_parts::has_message_overheads<Base, W, P>
  constexpr double message_overhead(const W& w, const P& p, device_id from) const {
    return base.message_overhead(w, p, from);
  }
  template <class W, class P>
    requires cost_parts::has_staging_times<Base, W, P>
  constexpr double import_time(const W& w, tensor_id t, const P& p, device_id d) const {
    return base.import_time(w, t, p, d);
  }
  template <class W, class P>
    requires cost_parts::has_staging_times<Base, W, P>
  constexpr double export_time(const W& w, tensor_id t, const P& p, device_id d) const {
    return base.export_time(w, t, p, d);
  }
};

/// A line whose seconds are multiplied.
template <cost_parts::transfer_line Line>
class scaled_line {
public:
  constexpr scaled_line(const Line& base, double factor) : base_{base}, factor_{factor} {}
  constexpr double operator()(double bytes) const { return factor_ * base_(bytes); }
  constexpr double latency() const { return rounded(factor_ * base_.latency()); }
  constexpr double bandwidth() const { return base_.bandwidth() / factor_; }
  constexpr const Line& base() const { return base_; }
  constexpr double factor() const { return factor_; }

private:
  Line base_;
  double factor_;
};

} // namespace detail

/// Every compute time of `base` times `compute`, every other time (sends, transfers, staging) times `communication`.
template <class Base>
struct scaled : detail::wrapper_of<Base> {
  double compute;
  double communication;

  constexpr explicit scaled(Base wrapped, double compute_factor = 1, double communication_factor = 1)
      : detail::wrapper_of<Base>{std::move(wrapped)}, compute{compute_factor}, communication{communication_factor} {}

  template <class W, class P>
    requires cost_parts::has_compute_time<Base, W, P>
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return compute * this->base.compute_time(w, v, p, d);
  }
  template <class W>
    requires requires(const Base& b, const W& w, op_id v) { b.amount(w, v); }
  constexpr double amount(const W& w, op_id v) const {
    return compute * this->base.amount(w, v);
  }
  template <class W, class P>
    requires cost_parts::has_rates<Base, W, P>
  constexpr double rate(const W& w, const P& p, device_id d) const {
    return this->base.rate(w, p, d);
  }
  template <class W, class P>
    requires cost_parts::has_device_classes<Base, W, P>
  constexpr device_id device_class(const W& w, const P& p, device_id d) const {
    return this->base.device_class(w, p, d);
  }
  template <class W, class P>
    requires cost_parts::has_transfer_time<Base, W, P>
  constexpr double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return communication * this->base.transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
    requires cost_parts::has_transfer_lines<Base, W, P>
  constexpr auto transfer_line(const W& w, const P& p, device_id from, device_id to) const {
    return detail::scaled_line{this->base.transfer_line(w, p, from, to), communication};
  }
  template <class W, class P>
    requires cost_parts::has_send_time<Base, W, P>
  constexpr double send_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return communication * this->base.send_time(w, t, p, from, to);
  }
  template <class W, class P>
    requires cost_parts::has_send_overheads<Base, W, P>
  constexpr double send_overhead(const W& w, const P& p, device_id from) const {
    return communication * this->base.send_overhead(w, p, from);
  }
  template <class W, class P>
    requires cost_parts::has_message_overheads<Base, W, P>
  constexpr double message_overhead(const W& w, const P& p, device_id from) const {
    return communication * this->base.message_overhead(w, p, from);
  }
  template <class W, class P>
    requires cost_parts::has_staging_times<Base, W, P>
  constexpr double import_time(const W& w, tensor_id t, const P& p, device_id d) const {
    return communication * this->base.import_time(w, t, p, d);
  }
  template <class W, class P>
    requires cost_parts::has_staging_times<Base, W, P>
  constexpr double export_time(const W& w, tensor_id t, const P& p, device_id d) const {
    return communication * this->base.export_time(w, t, p, d);
  }
};

/// Compute times of `base` times a factor drawn uniformly from `[1 - spread, 1 + spread]` per op and device: what
/// happens when an estimate is wrong. The same seed gives the same factors, in whatever order they are asked for.
template <class Base>
struct perturbed : detail::wrapper_of<Base> {
  double spread; ///< at least 0, below 1
  std::uint64_t seed;

  constexpr explicit perturbed(Base wrapped, double relative_spread = 0.1, std::uint64_t with_seed = 0)
      : detail::wrapper_of<Base>{std::move(wrapped)}, spread{relative_spread}, seed{with_seed} {}

  template <class W, class P>
    requires cost_parts::has_compute_time<Base, W, P>
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    rng random{rng::mix(seed ^ rng::mix((std::uint64_t{v} << 32) | d))};
    return random.uniform(1 - spread, 1 + spread) * this->base.compute_time(w, v, p, d);
  }
};

/// Compute times of `base`, asked for once per op and device class and then read from memory, as `tabulated` does, for
/// models that are expensive to ask; all else is `base`'s. Made for one workload and one platform.
template <class Base>
class cached : public detail::wrapper_of<Base> {
public:
  template <class W, class P>
    requires cost_model_for<Base, W, P>
  constexpr cached(const Base& wrapped, const W& w, const P& p)
      : detail::wrapper_of<Base>{wrapped}, times_{wrapped, w, p} {}

  template <class W, class P>
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return times_.compute_time(w, v, p, d);
  }
  template <class W>
    requires requires(const Base& b, const W& w, op_id v) { b.amount(w, v); }
  constexpr double amount(const W& w, op_id v) const {
    return this->base.amount(w, v);
  }
  template <class W, class P>
    requires cost_parts::has_rates<Base, W, P>
  constexpr double rate(const W& w, const P& p, device_id d) const {
    return this->base.rate(w, p, d);
  }
  template <class W, class P>
  constexpr device_id device_class(const W& w, const P& p, device_id d) const {
    return times_.device_class(w, p, d);
  }
  template <class W, class P>
  constexpr const double* class_times(const W& w, op_id v, const P& p) const {
    return times_.class_times(w, v, p);
  }
  template <class W, class P>
  constexpr std::uint32_t class_number(const W& w, const P& p, device_id d) const {
    return times_.class_number(w, p, d);
  }

private:
  tabulated times_;
};

/// Compute times from a function `(op_id, device_id) -> seconds`, transfers over the platform's links.
/// ```
/// cost::from_function model{[&](op_id v, device_id d) { return flops[v] / rate[d] + 5e-6; }};
/// ```
template <class Function>
struct from_function : link_transfers {
  Function function;
  constexpr explicit from_function(Function f) : function{std::move(f)} {}

  template <class W, class P>
  constexpr double compute_time(const W&, op_id v, const P&, device_id d) const {
    return function(v, d);
  }
};

} // namespace weft::cost
