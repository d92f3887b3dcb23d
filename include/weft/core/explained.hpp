// SPDX-License-Identifier: BSL-1.0
/// Errors of concepts as a sentence that comes before all else that a compiler has to say.
#pragma once

#include "weft/core/config.hpp"

#include <concepts>

namespace weft {

/// Never satisfied. Asking makes the compiler look into `Reasons`, a struct of static assertions; the one that fails is
/// the first thing that is printed, and what was tried comes after. So a concept may have two forms:
/// ```
/// concept dataflow_graph = …;                 // a question: for overloads, `if constexpr` and other concepts
/// concept must_be::dataflow_graph =           // a demand: for what users call, if it has no overloads
///   weft::dataflow_graph<G> || explained<why_not::dataflow_graph<G>>;
/// ```
/// Where the answer is yes, `Reasons` is never instantiated. A body that asks before it does anything demands in its
/// other branch, so that nothing but the sentence is instantiated; a demand is no condition (clang 16).
template <class Reasons>
concept explained = sizeof(Reasons) == 0;

namespace why_not {
/// True if `S` lacks nothing but a `const` behind its operator(): it can be called as a variable, not as a constant.
template <class S, class... Arguments>
inline constexpr bool called_only_if_mutable =
  !std::invocable<const S&, Arguments...> && std::invocable<S&, Arguments...>;
} // namespace why_not

} // namespace weft
