// SPDX-License-Identifier: BSL-1.0
/// The costs of steps that the planner makes: of ops, whatever model tells them, and of those who launch them.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/cost/concepts.hpp"
#include "weft/cost/launches.hpp"
#include "weft/cost/linear.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/workload.hpp"

#include <memory>
#include <utility>

namespace weft::planner {

/// The compute times of any cost model as one type, and transfers over links. Ops are asked for one by one, so that a
/// problem should be made of it once (`cost::lowered`). Copies share the model.
class any_cost : public cost::link_transfers {
public:
  /// Of a model with `compute_time(w, v, p, d)`, and `device_class(w, p, d)` if it has that, of which a copy is kept.
  template <class Cost>
    requires cost_parts::has_compute_time<Cost, workload, platform<>>
  explicit any_cost(Cost of) : model_{std::make_shared<const model_of<Cost>>(std::move(of))} {}

  double compute_time(const workload& w, op_id v, const platform<>& p, device_id d) const {
    return model_->compute_time(w, v, p, d);
  }
  device_id device_class(const workload& w, const platform<>& p, device_id d) const {
    return model_->device_class(w, p, d);
  }

private:
  struct model {
    virtual ~model() = default;
    virtual double compute_time(const workload& w, op_id v, const platform<>& p, device_id d) const = 0;
    virtual device_id device_class(const workload& w, const platform<>& p, device_id d) const = 0;
  };
  template <class Cost>
  struct model_of final : model {
    explicit model_of(Cost c) : of{std::move(c)} {}
    double compute_time(const workload& w, op_id v, const platform<>& p, device_id d) const override {
      return of.compute_time(w, v, p, d);
    }
    device_id device_class([[maybe_unused]] const workload& w, [[maybe_unused]] const platform<>& p,
                           device_id d) const override {
      if constexpr (cost_parts::has_device_classes<Cost, workload, platform<>>) {
        return static_cast<device_id>(of.device_class(w, p, d));
      } else {
        return d;
      }
    }
    Cost of;
  };

  std::shared_ptr<const model> model_;
};

/// The seconds that a step's ops take.
struct step_costs {
  any_cost ops; ///< of ops that a device does one after the other, which takes no less than to launch them
  /// In micro-batches, hosts launch passes while devices work: of an op without that, and with it.
  any_cost kernels, launched;
  cost::launches how = cost::launches::single; ///< … the way in which they do
  bool hosts_take_time = true;                 ///< … false: launches are free

  /// The same for all, and nothing for those who launch.
  explicit step_costs(const any_cost& all) : ops{all}, kernels{all}, launched{all}, hosts_take_time{false} {}
  step_costs(any_cost of_ops, any_cost of_kernels, any_cost with_launches, cost::launches by)
      : ops{std::move(of_ops)}, kernels{std::move(of_kernels)}, launched{std::move(with_launches)}, how{by} {}
};

/// True if ops on the device are launched by a host whose time is not in theirs.
inline bool is_launched(const step_costs& c, const platform<>& p, device_id d) {
  return c.hosts_take_time && p.kind(d) != device_kind::cpu && !p.reached_rates(d);
}

} // namespace weft::planner
