// SPDX-License-Identifier: BSL-1.0
/// The share of a link's bandwidth that transfers reach.
#pragma once

#include "weft/platform/platform.hpp"

#include <algorithm>

namespace weft::cost {

/// The share of a link's peak bandwidth that collectives of large tensors reach, for want of measurements: 0.66, 0.74
/// and 0.76 of NVSwitch's 300 GB/s on 2, 4 and 8 A100 by NCCL (1 GiB). Source: measurements published with Bang et al.,
/// *vTrain*, MICRO 2024.
inline constexpr double typical_link_share = 0.75;

/// The share that transfers on a platform typically reach: 1 if some of its devices say that its rates are what is
/// reached, else `typical_link_share`.
template <link_model Links>
double typical_link_share_of(const platform<Links>& p) {
  const auto& all = p.devices();
  return std::any_of(all.begin(), all.end(), [](const device& d) { return d.reached_rates; }) ? 1 : typical_link_share;
}

/// The platform with that share. Complexity: a copy.
template <link_model Links>
platform<Links> with_typical_links(const platform<Links>& p) {
  return p.with_link_share(typical_link_share_of(p));
}

} // namespace weft::cost
