// SPDX-License-Identifier: BSL-1.0
/// Memory-constrained earliest task first: ETF where memory is left.
#pragma once

#include "weft/partition/etf.hpp"

namespace weft::partition {

/// m-ETF: ETF that skips devices without enough memory left for the op's component. In weft every list scheduler does
/// that, so it is `etf`; this name is for those who know it from Baechi.
/// Source: Jeon, Cai, Srivastava, Jiang, Ke, Meng, Xie, Gupta, "Baechi", SoCC 2020, §3.
/// Complexity: that of `etf`, O(devices · (n log n + m)).
/// Choose it to compare with Baechi, under the name that it has there.
using m_etf = etf;

} // namespace weft::partition
