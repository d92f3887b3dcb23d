// SPDX-License-Identifier: BSL-1.0
// What the layers of a GPT keep for the backward pass with the kernels of today's frameworks, against formulas.
#include "weft/solve/recomputation.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/recomputed.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/zoo/gpt2.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace workload_activation_memory_test {

using namespace weft;

constexpr std::uint64_t length = 256, hidden = 256, heads = 8;

op_id layer_of(const workload& w, op_id v) {
  const auto name = w.name(v);
  const auto at = name.find("layer_");
  return at == name.npos ? none : static_cast<op_id>(std::stoul(std::string{name.substr(at + 6)}));
}

/// A training step in 16 bits, with results where runtimes put them.
workload step_of(std::uint64_t batch, std::uint64_t layers, nn::attention_kernels attention,
                 std::optional<recomputation> again) {
  const zoo::gpt2_options sizes{
    .layers = layers, .hidden = hidden, .heads = heads, .length = length, .vocabulary = 64};
  auto w = zoo::gpt2(batch, sizes, {.kernels = nn::kernel_set::framework, .attention = attention});
  if (again) {
    const auto ops = recomputed_ops(w, *again, [&](op_id v) { return layer_of(w, v); }, backward_ops(w));
    w = recomputed_step(w, ops).graph;
  }
  return with_shared_memory(stored_as(w, {.tensor_bits = 16, .weight_bits = 16}), false);
}

/// Bytes of s b h that each layer adds to the peak of a step on one device, by the difference of two batches, so that
/// parameters, their gradients and the optimiser's state do not count.
double added_by_layer(nn::attention_kernels attention, std::optional<recomputation> again) {
  double total = 0;
  for (const std::uint64_t layers : {6u, 12u}) {
    for (const std::uint64_t batch : {32u, 64u}) {
      const auto peak =
        static_cast<double>(solve::order_within(step_of(batch, layers, attention, again), 0).peak);
      total += (layers == 12) == (batch == 64) ? peak : -peak;
    }
  }
  return total / 6 / (32.0 * length * hidden);
}

// Korthikanti et al., *Reducing Activation Recomputation in Large Transformer Models*, MLSys 2023, sections 4 and 5. A
// fused attention keeps its results, which the formula has, and a number per query and head instead of scores.
TEST_CASE("activation memory: a layer of a GPT keeps what is published") {
  const double scores = static_cast<double>(heads * length) / hidden; // a s / h
  SUBCASE("attention in separate kernels") {
    const auto added = [](std::optional<recomputation> again) {
      return added_by_layer(nn::attention_kernels::separate, again);
    };
    const double all = added({}), selective = added(recomputation::attention), full = added(recomputation::blocks);
    MESSAGE("s b h times " << all << ", attentions run again " << selective << ", blocks " << full);
    CHECK(all == doctest::Approx(34 + 5 * scores).epsilon(0.01));
    CHECK(selective == doctest::Approx(34).epsilon(0.01));
    CHECK(full == doctest::Approx(2).epsilon(0.01));
  }
  SUBCASE("fused attention") {
    const double all = added_by_layer(nn::attention_kernels::fused, {});
    const double full = added_by_layer(nn::attention_kernels::fused, recomputation::blocks);
    MESSAGE("s b h times " << all << ", blocks run again " << full);
    CHECK(all == doctest::Approx(34 + 4.0 * heads / hidden).epsilon(0.01));
    CHECK(full == doctest::Approx(2).epsilon(0.01));
  }
}

} // namespace workload_activation_memory_test
