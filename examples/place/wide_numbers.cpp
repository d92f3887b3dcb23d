// SPDX-License-Identifier: BSL-1.0
#include "wide_numbers.hpp"

#include "weft/solve/narrower_numbers.hpp"

#include <fmt/format.h>

namespace place {

using namespace weft;

bool has_wide_numbers(const options& o, const model& m) {
  return number_bits(m) == 32 && o.modelling.numbers.value_or(number_format::fp32) == number_format::fp32;
}

std::string about_wide_numbers(const options& o, const tool::input& in, const problem& p, const placement& where) {
  const auto& m = in.model;
  if (m.unit != work_unit::flop || !has_wide_numbers(o, m)) {
    return {};
  }
  const auto found = solve::fits_in_narrower_numbers(p, where, {.tensor_bits = 16, .weight_bits = 16}, in.frozen);
  if (!found) {
    return {};
  }
  return fmt::format("{} ops ({}) run on CPUs because accelerators have no room for them: all ops need {} of {} in 32 "
                     "bits and {} in 16 bits, which fits; try --dtype bf16 or fp16",
                     found->ops_on_cpus, readable_bytes(found->resident_on_cpus), readable_bytes(found->needed),
                     readable_bytes(found->capacity), readable_bytes(found->needed_then));
}

} // namespace place
