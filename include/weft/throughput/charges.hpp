// SPDX-License-Identifier: BSL-1.0
/// The load that each op and tensor puts on each resource per iteration of a pipelined run, for every cost model.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/cost/staged.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <type_traits>

namespace weft::throughput {

/// A problem with the costs of devices that meet in host memory (cost/staged.hpp).
template <class Problem>
concept staged_problem = cost_parts::has_staging_times<typename Problem::cost_type, typename Problem::workload_type,
                                                       typename Problem::platform_type>;

/// The **resources** of a problem are its devices, 0 … k - 1, and, unless costs are staged, the directed link from
/// device a to b, k + a · k + b. The events of an iteration charge them seconds:
/// | what                                    | staged costs               | other costs                           |
/// |-----------------------------------------|----------------------------|---------------------------------------|
/// | op v runs on d                          | d: compute                 | d: compute                            |
/// | tensor t leaves d, for any other device | d: export                  |                                       |
/// | tensor t goes from a to b               | b: import                  | a: send; the link from a to b: transfer |
/// Times on a device are divided by its slots.
template <class Problem>
class charges {
public:
  static constexpr bool staged = staged_problem<Problem>;

  constexpr explicit charges(const Problem& p) : problem_{&p} {}

  constexpr std::size_t num_resources() const {
    const std::size_t k = problem_->num_devices();
    return staged ? k : k + k * k;
  }
  constexpr std::size_t link(device_id from, device_id to) const {
    const std::size_t k = problem_->num_devices();
    return k + from * k + to;
  }
  constexpr double share(device_id d) const {
    return 1 / static_cast<double>(std::max<std::uint32_t>(1, problem_->platform().slots(d)));
  }
  constexpr double compute(op_id v, device_id d) const { return rounded(problem_->compute_time(v, d) * share(d)); }
  constexpr double leaving(tensor_id t, device_id from) const {
    if constexpr (staged) {
      return rounded(problem_->export_time(t, from) * share(from));
    } else {
      return 0;
    }
  }
  /// Calls `f(resource, seconds)` for what it costs to bring t from one device to another one.
  template <class F>
  constexpr void moving(tensor_id t, device_id from, device_id to, F f) const {
    if constexpr (staged) {
      f(std::size_t{to}, rounded(problem_->import_time(t, to) * share(to)));
    } else {
      f(std::size_t{from}, rounded(problem_->send_time(t, from, to) * share(from)));
      f(link(from, to), problem_->transfer_time(t, from, to));
    }
  }

private:
  const Problem* problem_;
};

} // namespace weft::throughput
