// SPDX-License-Identifier: BSL-1.0
#include "wide_numbers.hpp"

#include "weft/solve/narrower_numbers.hpp"

#include <fmt/format.h>

namespace place {

using namespace weft;

std::string about_wide_numbers(const options& o, const model& m, const problem& p, const placement& where) {
  const bool is_wide = o.modelling.numbers.value_or(number_format::fp32) == number_format::fp32;
  if (m.unit != work_unit::flop || number_bits(m) != 32 || !is_wide) {
    return {};
  }
  const auto found = solve::fits_in_narrower_numbers(p, where, {.tensor_bits = 16, .weight_bits = 16});
  if (!found) {
    return {};
  }
  return fmt::format("{} ops, which hold {}, are on CPUs because accelerators have no room for them: with numbers of "
                     "32 bits all would take {} of {}, with 16 bits {}, which fits; --dtype bf16 or fp16 asks for that",
                     found->ops_on_cpus, readable_bytes(found->resident_on_cpus), readable_bytes(found->needed),
                     readable_bytes(found->capacity), readable_bytes(found->needed_then));
}

} // namespace place
