// SPDX-License-Identifier: BSL-1.0
// expect: weft: this is not C\+\+20
// flags of the failure: -std=c++17
#include "weft/all.hpp"

auto ops(const weft::workload& w) { return w.num_ops(); }
