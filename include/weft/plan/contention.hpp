// SPDX-License-Identifier: BSL-1.0
/// Contention models: how concurrent transfers share links.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>
#include <string_view>

namespace weft {

// g++ 12's -Wshadow takes the scoped enumerator for a rival of weft::none.
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/// The way in which links are shared. The same plan has different makespans under different models, so name it with
/// every result.
enum class contention_model : std::uint8_t {
  none, ///< every transfer runs at full rate, however many there are
  port, ///< each device sends at most one tensor and receives at most one tensor at a time
  fair, ///< all transfers that pass a link share it by max–min fairness
};

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

/// The weights of transfers where links are shared.
enum class flow_weights : std::uint8_t {
  equal,           ///< all alike
  inverse_latency, ///< 1 / latency of the route, as TCP's rates do; 1 for routes without latency
};

/// The name that command lines and files use.
constexpr std::string_view to_string(contention_model m) {
  return m == contention_model::port ? "port" : m == contention_model::fair ? "fair" : "none";
}

} // namespace weft
