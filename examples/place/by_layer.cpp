// SPDX-License-Identifier: BSL-1.0
#include "by_layer.hpp"

#include "weft/bound/best.hpp"
#include "weft/io/runtime_placement.hpp"
#include "weft/io/text.hpp"
#include "weft/report/names.hpp"
#include "weft/solve/by_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace place {
namespace {

using namespace weft;

/// The devices that were named, in their order.
std::vector<device_id> devices_of(const options& o, const problem& p) {
  std::vector<device_id> devices;
  if (o.by_layer.empty()) {
    return devices;
  }
  for (const auto name : io::split(o.by_layer, ',')) {
    device_id d = 0;
    while (d < p.num_devices() && p.platform().name(d) != name) {
      ++d;
    }
    if (d == p.num_devices() || std::find(devices.begin(), devices.end(), d) != devices.end()) {
      std::string known;
      for (const device_id e : ids(p.num_devices())) {
        known += (known.empty() ? "" : ", ") + std::string{p.platform().name(e)};
      }
      throw error(fmt::format("--by-layer: {} is {}; the devices of {} are {}", io::in_quotes(name),
                              d == p.num_devices() ? "no device" : "named twice", o.platform, known));
    }
    devices.push_back(d);
  }
  return devices;
}

/// The layers of a model with the device of each part.
io::layer_placement placement_of(const partition::model_layers& layers, const std::vector<device_id>& device,
                                 const problem& p) {
  io::layer_placement where{.embedding = device.front(), .head = device.back()};
  for (std::uint32_t i = 0; i < layers.num_layers; ++i) {
    where.layers.push_back({layers.named ? layers.scopes[i] : std::string{}, device[i + 1]});
  }
  for (const auto& s : layers.outside) {
    where.outside.push_back({s.scope, device[s.part]});
  }
  for (const device_id d : ids(p.num_devices())) {
    where.devices.push_back({std::string{p.platform().name(d)}, hardware_kind(p.platform(), d)});
  }
  return where;
}

/// `layers 0 to 11 with what is before them on gpu0`, a line for each device.
std::vector<std::string> about(const partition::model_layers& layers, const std::vector<device_id>& device,
                               const problem& p) {
  std::vector<std::string> lines;
  const auto name = [&](std::uint32_t layer) {
    return layers.named ? io::module_path(layers.scopes[layer - 1]) : fmt::format("cut {}", layer - 1);
  };
  for (std::uint32_t begin = 0; begin < device.size();) {
    const auto end = static_cast<std::uint32_t>(
      std::find_if(device.begin() + begin, device.end(), [&](device_id d) { return d != device[begin]; }) -
      device.begin());
    const auto first = std::max(begin, 1u);
    const auto last = std::min(end - 1, layers.num_layers);
    std::string text = begin == 0 ? "what is before the layers" : "";
    if (first <= last) {
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", name(first),
                          first == last ? "" : fmt::format(" to {}", name(last)));
    }
    if (end == device.size()) {
      text += text.empty() ? "what follows the layers" : ", what follows them";
    }
    lines.push_back(fmt::format("{}: {}", p.platform().name(device[begin]), text));
    begin = end;
  }
  return lines;
}

/// Why there is no split.
std::string explain_no_split(const options& o, const problem& p, const partition::model_layers& layers,
                             const solve::by_layers_result& found) {
  if (found.reason) {
    return to_string(*found.reason, p.workload().name(found.reason->op));
  }
  auto why = fmt::format("no split of its {} layers in their order was found that keeps to the memory; parameters and "
                         "state take {}, and the devices have {}",
                         layers.num_layers, readable_bytes(found.resident), readable_bytes(found.capacity));
  const bool period = o.objective == objective::period;
  if (found.shortage) {
    why += fmt::format("; the last one that was tried needs {} of {} {}{}", readable_bytes(found.shortage->peak),
                       readable_bytes(found.shortage->capacity),
                       report::in_memory_of(p.platform(), found.shortage->device),
                       period ? " for the steps that are in flight at once" : "");
  }
  const solve::by_layers_options alone{.devices = devices_of(o, p)};
  if (period && solve::by_layers(p, layers, alone).found) {
    why += "\n  with one step at a time: it fits with --objective makespan";
  }
  return why;
}

} // namespace

answer by_layer(const options& o, const problem& p) {
  const auto layers = partition::find_layers(p);
  const bool ends = std::any_of(o.exports.begin(), o.exports.end(), [](const auto& e) {
    return io::runtime_formats[e.format].ends_with_layers;
  });
  const auto found = solve::by_layers(p, layers,
                                      {.period = o.objective == objective::period,
                                       .ends_with_layers = ends,
                                       .devices = devices_of(o, p)});
  if (!found.found) {
    answer none{.why = explain_no_split(o, p, layers, found), .proven = found.reason.has_value()};
    return none;
  }
  answer a{.found = true, .bound = bound::best(p), .strategy = "best split between layers"};
  a.plan.placement = found.placement;
  follow(o, p, a);
  if (o.objective == objective::period) {
    a.result =
      fmt::format("period of {:.4g} ms when steps follow each other; below is one step alone", found.value * 1e3);
    if (auto note = tool::about_updates(p.workload()); !note.empty()) {
      a.notes.push_back(std::move(note));
    }
  } else {
    a.notes.emplace_back(
      "one step at a time is not faster on several devices, so only as many are used as memory needs; "
      "--objective period splits for steps that follow each other");
  }
  if (!layers.named) {
    a.notes.push_back(fmt::format("names of ops show no layers; the model was cut into {} parts by its structure",
                                  layers.num_layers));
  }
  for (auto& line : about(layers, found.devices, p)) {
    a.notes.push_back(std::move(line));
  }
  const auto where = placement_of(layers, found.devices, p);
  for (const auto& e : o.exports) {
    const auto& format = io::runtime_formats[e.format];
    auto written = format.write(where);
    for (const auto& note : written.notes) {
      auto line = fmt::format("{}: {}", format.name, note);
      if (std::find(a.notes.begin(), a.notes.end(), line) == a.notes.end()) {
        a.notes.push_back(std::move(line));
      }
    }
    a.exports.push_back(std::move(written.text));
  }
  a.baselines = baselines(o, p);
  return a;
}

} // namespace place
