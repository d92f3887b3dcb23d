// SPDX-License-Identifier: BSL-1.0
#include "networks.hpp"

#include "help_text.hpp"

#include "weft/workload/nn/frozen.hpp"
#include "weft/workload/zoo.hpp"

#include <fmt/format.h>

#include <utility>

namespace tool {

std::string list_networks() {
  std::string text;
  for (const auto& e : weft::zoo::entries) {
    text += help_entry(fmt::format("zoo:{}", e.name), e.description);
  }
  for (const auto& e : weft::zoo::families) {
    std::string keys;
    for (const auto& key : e.sizes) {
      keys += fmt::format("{}{}", keys.empty() ? "" : ", ", key.name);
    }
    text += help_entry(fmt::format("zoo:{}+SIZE=N", e.name), fmt::format("{}; sizes: {}", e.description, keys));
  }
  return text;
}

bool is_network(std::string_view spec) {
  const auto name = spec.substr(0, spec.find_first_of("+@:"));
  return weft::zoo::lookup(name) != nullptr;
}

network make_network_with_origins(std::string_view spec, const model_options& o) {
  const auto wanted = weft::zoo::parse(spec);
  const auto kernels = o.kernels.value_or(weft::zoo::usual_kernels(*wanted.network));
  if (o.attention == weft::nn::attention_kernels::fused && kernels == weft::nn::kernel_set::separate) {
    throw weft::error("--attention fused: kernels are separate, and those of an attention, too; give --kernels "
                      "framework or compiled");
  }
  const auto net = std::make_shared<weft::nn::network>(weft::nn::network_options{
    .training = wanted.training,
    .kernels = kernels,
    .attention = o.attention.value_or(weft::nn::attention_kernels::fused)});
  network made{.net = net};
  auto task = weft::zoo::define(*net, wanted);
  if (wanted.training && o.freeze) {
    auto frozen = frozen_by_option(fmt::format("zoo:{}", spec), [&] { return weft::nn::frozen(*net, *o.freeze); });
    task.options.frozen = std::move(frozen.values);
    made.frozen = std::move(frozen.parameters);
  }
  std::vector<weft::op_id> roots;
  for (const auto& t : net->outputs()) {
    roots.push_back(t.op());
  }
  auto built = wanted.training ? weft::training_step_with_origins(*net, task.objectives, task.options)
                               : net->build_with_origins(roots);
  made.batch = wanted.size.batch;
  made.ops = std::move(built.graph);
  made.origin = std::move(built.origin);
  return made;
}

} // namespace tool
