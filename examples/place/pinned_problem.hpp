// SPDX-License-Identifier: BSL-1.0
/// The problem of a model on a platform, with ops where `--pin` has them.
#pragma once

#include "options.hpp"
#include "tool/costs.hpp"

#include "weft/partition/on_accelerators.hpp"
#include "weft/partition/pin.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace place {

/// A problem and, if there are pins, or if only the memory of accelerators counts, what it refers to; else it refers to
/// what it was made of.
class pinned_problem {
public:
  /// `costs` are those of the devices as they are. Throws as `weft::partition::pin_ops`.
  pinned_problem(const options& o, const weft::workload& ops, const weft::platform<>& devices, tool::costs costs)
      : pinned_{o.pins.empty() ? std::nullopt : std::optional{weft::partition::pin_ops(ops, devices, o.pins)}},
        accelerated_{o.max_batch == options::batch_memory::accelerators
                       ? std::optional{weft::partition::on_accelerators(pinned_ ? pinned_->ops : ops,
                                                                        pinned_ ? pinned_->devices : devices)}
                       : std::nullopt},
        problem_{accelerated_ ? *accelerated_ : pinned_ ? pinned_->ops : ops, pinned_ ? pinned_->devices : devices,
                 std::move(costs)} {}
  pinned_problem(const pinned_problem&) = delete;

  const tool::problem& problem() const { return problem_; }
  std::vector<std::string> notes() const { return pinned_ ? pinned_->notes : std::vector<std::string>{}; }
  /// A text about the problem, with the names of devices.
  std::string named(std::string text) const { return pinned_ ? pinned_->named(std::move(text)) : text; }

private:
  std::optional<weft::partition::pinned<weft::link_matrix>> pinned_;
  std::optional<weft::workload> accelerated_;
  tool::problem problem_;
};

} // namespace place
