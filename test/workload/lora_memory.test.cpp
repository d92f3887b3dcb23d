// SPDX-License-Identifier: BSL-1.0
// What low-rank adaptation takes in memory, against published measurements.
#include "weft/solve/recomputation.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/nn/frozen.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/zoo/gpt2.hpp"
#include "weft/workload/zoo/llama.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace workload_lora_memory_test {

using namespace weft;

/// A training step in 16 bits that changes the low-rank matrices, or all parameters.
template <class Task, class Options>
workload step_of(Task task_of, std::uint64_t batch, const Options& sizes, std::string_view patterns = "*,!lora_*") {
  nn::network net{{.kernels = nn::kernel_set::framework, .attention = nn::attention_kernels::fused}};
  auto task = task_of(net, batch, sizes);
  std::vector<byte_count> frozen_of_net(net.num_ops(), 0);
  if (!patterns.empty()) {
    auto kept = nn::frozen(net, patterns);
    task.options.frozen = kept.values;
    frozen_of_net = kept.parameters.bytes;
  }
  const auto made = training_step_with_origins(net, task.objectives, task.options);
  std::vector<byte_count> frozen;
  for (const op_id v : made.origin) {
    frozen.push_back(v < frozen_of_net.size() ? frozen_of_net[v] : 0);
  }
  return with_shared_memory(stored_as(made.graph, {.tensor_bits = 16, .weight_bits = 16}, frozen), false);
}

double gigabytes_held(const workload& w) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += static_cast<double>(w.resident_bytes(v));
  }
  return sum / 1e9;
}
double peak_gigabytes(const workload& w) { return static_cast<double>(solve::order_within(w, 0).peak) / 1e9; }

// Lightning AI, LitGPT, tutorials/resource-tables.md, LoRA on one A100: rank 8 beside queries and values, bf16,
// sequences of up to 1304 tokens: 21.30 GB for one, 29.07 GB for two, which leaves 13.53 GB for none.
TEST_CASE("memory of LoRA: Llama 2 as LitGPT measured it") {
  zoo::llama_options sizes = zoo::llama2_7b_sizes;
  sizes.length = 1304;
  sizes.lora = 8;
  const auto one = step_of(zoo::llama_task, 1, sizes), two = step_of(zoo::llama_task, 2, sizes);
  const double first = peak_gigabytes(one), second = peak_gigabytes(two);
  MESSAGE("holds " << gigabytes_held(one) << " GB, peak " << first << " GB, of two sequences " << second << " GB");
  CHECK(gigabytes_held(one) == doctest::Approx(2 * 21.30 - 29.07).epsilon(0.01));
  CHECK(first == doctest::Approx(0.87 * 21.30).epsilon(0.02)); // which runs a layer as more kernels, that keep more
  CHECK(second == doctest::Approx(0.81 * 29.07).epsilon(0.02));
  sizes = zoo::llama2_13b_sizes;
  sizes.length = 1304;
  sizes.lora = 8;
  const auto larger = step_of(zoo::llama_task, 1, sizes);
  MESSAGE("13B: peak " << peak_gigabytes(larger) << " GB");
  CHECK(peak_gigabytes(larger) == doctest::Approx(0.88 * 38.12).epsilon(0.02));
}

// Hu et al., *LoRA: Low-Rank Adaptation of Large Language Models*, arXiv 2106.09685, section 4.2: 350 GB.
TEST_CASE("memory of LoRA: GPT-3 as its authors have it") {
  zoo::gpt2_options sizes = zoo::gpt3_175b_sizes;
  sizes.lora = 4;
  CHECK(gigabytes_held(step_of(zoo::gpt2_task, 1, sizes)) == doctest::Approx(350).epsilon(0.05));
}

} // namespace workload_lora_memory_test
